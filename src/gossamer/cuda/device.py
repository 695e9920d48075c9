"""What the rest of the package needs from a device: memory, copies, kernels."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Launch:
    """A kernel with its grid and its arguments.

    Attributes:
        name: Name of the kernel.
        n_blocks: Blocks of the grid.
        n_threads: Threads of a block.
        args: A record, which is copied when the kernel is launched.
        shared_bytes: Shared memory of a block.
    """

    name: str
    n_blocks: int
    n_threads: int
    args: npt.NDArray[Any]
    shared_bytes: int = 0


class Device(Protocol):
    """A GPU, or something that behaves like one.

    Work is done in the order in which it is asked for. Only `read` and `wait` wait for it.

    Attributes:
        n_processors: Multiprocessors.
        shared_bytes: The most shared memory that a block can have.
    """

    n_processors: int
    shared_bytes: int

    def allocate(self, n_bytes: int) -> int:
        """Return the address of new memory.

        Raises:
            MemoryError: If there is not enough.
        """

    def free(self, address: int) -> None:
        """Give memory back."""

    def write(self, address: int, values: npt.NDArray[Any]) -> None:
        """Copy an array to the device."""

    def read(self, address: int, out: npt.NDArray[Any]) -> None:
        """Copy from the device, when all work before is done."""

    def read_later(self, address: int, out: npt.NDArray[Any]) -> None:
        """Copy from the device; `out` may be read after `wait`."""

    def host_memory(self, n_bytes: int) -> npt.NDArray[np.uint8]:
        """Return memory of the host that is quick to copy to and from."""

    def copy(self, to: int, address: int, n_bytes: int) -> None:
        """Copy within the device."""

    def clear(self, address: int, n_bytes: int) -> None:
        """Set memory to zero."""

    def fill_ones(self, address: int, n_numbers: int) -> None:
        """Set float32 numbers to 1."""

    def run(self, launches: Sequence[Launch]) -> None:
        """Launch kernels one after another."""

    def record(self, launches: Sequence[Launch]) -> Any:
        """Return kernels that can be launched together, again and again, with `replay`."""

    def replay(self, recorded: Any) -> None:
        """Launch what was recorded."""

    def wait(self) -> None:
        """Wait until all work is done."""

    def settle(self) -> None:
        """Wait for all work on the GPU, other libraries' work too: their arrays are then ready."""

    def free_bytes(self) -> int:
        """Return how much memory is left."""


class Buffer:
    """Memory of a device that is given back when the object goes away."""

    def __init__(self, device: Device, n_bytes: int) -> None:
        """Allocate, at least one byte."""
        self.device = device
        self.n_bytes = max(int(n_bytes), 1)
        self.address = device.allocate(self.n_bytes)
        weakref.finalize(self, device.free, self.address)

    @classmethod
    def holding(cls, device: Device, values: npt.NDArray[Any]) -> Buffer:
        """Return memory with a copy of an array."""
        buffer = cls(device, values.nbytes)
        if values.nbytes:
            buffer.write(values)
        return buffer

    @classmethod
    def zeros(cls, device: Device, n_bytes: int) -> Buffer:
        """Return memory that is all zero."""
        buffer = cls(device, n_bytes)
        device.clear(buffer.address, buffer.n_bytes)
        return buffer

    def write(self, values: npt.NDArray[Any], offset: int = 0) -> None:
        """Copy an array to the memory, `offset` bytes from its start."""
        if offset + values.nbytes > self.n_bytes:
            raise ValueError(f"{values.nbytes} bytes do not fit {self.n_bytes} - {offset}")
        self.device.write(self.address + offset, np.ascontiguousarray(values))

    def read(self, out: npt.NDArray[Any]) -> None:
        """Copy the memory to an array."""
        self.device.read(self.address, out)
