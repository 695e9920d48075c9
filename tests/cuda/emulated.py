"""A device that runs its kernels on the host, see native/tests/emulator.h."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.cuda.device import Launch

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "native"


def emulated_library() -> Path:
    """Return the kernels as a library of the host; made once for all processes that test."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    assert compiler, "the tests need a C++ compiler, as the package does"
    sources = [NATIVE / "tests" / name for name in ("emulated_kernels.cpp", "emulator.cpp")]
    command = [
        *(compiler, "-std=c++20", "-O2", "-fPIC", "-shared", "-ffp-contract=off"),
        *("-fno-strict-aliasing", "-U_FORTIFY_SOURCE", "-Wno-unknown-pragmas", f"-I{NATIVE}"),
        *map(str, sources),
    ]
    found = hashlib.sha256(" ".join(command).encode())
    used = [*NATIVE.glob("cuda/*"), *NATIVE.glob("kernels/*.inl"), *NATIVE.glob("*/*.h"), *sources]
    for path in sorted(used):
        found.update(path.read_bytes())
    library = ROOT / "build" / f"emulated-{found.hexdigest()[:16]}.so"
    if not library.exists():
        library.parent.mkdir(exist_ok=True)
        own = library.with_suffix(f".{os.getpid()}")
        subprocess.run([*command, "-o", str(own)], check=True)
        own.rename(library)
    return library


class EmulatedDevice:
    """Does everything at once; memory is that of the host."""

    n_processors = 1
    shared_bytes = 227 * 1024

    def __init__(self, library: str) -> None:
        self._call = ctypes.CDLL(library).gossamer_emulate
        self._memory: dict[int, npt.NDArray[np.uint8]] = {}
        self.n_launched = 0
        self.room = 2**40

    def allocate(self, n_bytes: int) -> int:
        memory = np.full(n_bytes + 16, 0xA5, np.uint8)  # nobody may count on zeros
        address = int(-(-memory.ctypes.data // 16) * 16)
        self._memory[address] = memory
        return address

    def free(self, address: int) -> None:
        del self._memory[address]

    def write(self, address: int, values: npt.NDArray[Any]) -> None:
        ctypes.memmove(address, values.ctypes.data, values.nbytes)

    def read(self, address: int, out: npt.NDArray[Any]) -> None:
        ctypes.memmove(out.ctypes.data, address, out.nbytes)

    def read_later(self, address: int, out: npt.NDArray[Any]) -> None:
        self.read(address, out)

    def host_memory(self, n_bytes: int) -> npt.NDArray[np.uint8]:
        return np.zeros(n_bytes, np.uint8)

    def copy(self, to: int, address: int, n_bytes: int) -> None:
        ctypes.memmove(to, address, n_bytes)

    def clear(self, address: int, n_bytes: int) -> None:
        ctypes.memset(address, 0, n_bytes)

    def fill_ones(self, address: int, n_numbers: int) -> None:
        self.write(address, np.ones(n_numbers, np.float32))

    def run(self, launches: Sequence[Launch]) -> None:
        for launch in launches:
            args = launch.args.copy()
            done = self._call(
                launch.name.encode(),
                launch.n_blocks,
                launch.n_threads,
                launch.shared_bytes,
                ctypes.c_void_p(args.ctypes.data),
            )
            assert done, launch.name
            self.n_launched += 1

    def record(self, launches: Sequence[Launch]) -> Sequence[Launch]:
        return [
            Launch(x.name, x.n_blocks, x.n_threads, x.args.copy(), x.shared_bytes) for x in launches
        ]

    def replay(self, recorded: Sequence[Launch]) -> None:
        self.run(recorded)

    def wait(self) -> None:
        pass

    def settle(self) -> None:
        pass

    def free_bytes(self) -> int:
        return self.room


class FakeArray:
    """An array of another library in the memory of the emulated device."""

    def __init__(self, device: EmulatedDevice, values: npt.NDArray[Any], order: str = "C") -> None:
        self.values = values = np.array(values, order=order)
        self.address = device.allocate(max(values.nbytes, 1))
        stored = values.ravel(order="K")
        ctypes.memmove(self.address, stored.ctypes.data, stored.nbytes)
        self.__cuda_array_interface__ = {
            "shape": values.shape,
            "typestr": values.dtype.str,
            "data": (self.address, False),
            "strides": values.strides,
            "version": 3,
        }

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        raise TypeError("this array is on the GPU")
