"""Arrays of other libraries in the memory of a GPU: CuPy, torch, numba and the like.

They are read where they are, through `__cuda_array_interface__` or DLPack.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import DataError, DataTypeError

if (
    TYPE_CHECKING
):  # every import of the package imports this file: what only a GPU needs comes later
    from gossamer.cuda.device import Buffer, Device

_CUDA: Final = (2, 13)  # of DLDeviceType: memory of a GPU, and memory that it shares with the host


@dataclass(frozen=True, eq=False)
class DeviceArray:
    """An array in the memory of a GPU.

    Attributes:
        address: Where its first element is.
        shape: Rows, and columns if it has two dimensions.
        strides: Elements from row to row, and from column to column.
        dtype: Type of its elements.
        owner: What keeps the memory.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: Any

    @property
    def n_rows(self) -> int:
        """Length of the first dimension."""
        return self.shape[0]

    def as_record(self) -> npt.NDArray[np.void]:
        """Return a matrix as the kernels read it.

        Raises:
            DataError: If it does not have two dimensions.
            DataTypeError: If its elements are not numbers.
        """
        from gossamer.cuda.predict_records import MATRIX, VALUE_KINDS

        if len(self.shape) != 2:
            raise DataError.because(
                "an array on the GPU must have rows and columns",
                found=f"shape {self.shape}",
                expected="two dimensions",
            )
        kind = VALUE_KINDS.get(self.dtype.str[1:])
        if kind is None:
            raise DataTypeError.because(
                "this type cannot be read on the GPU",
                got=str(self.dtype),
                expected="floats of 16 to 64 bits, integers or booleans",
            )
        record = np.zeros((), MATRIX)
        record["values"] = self.address
        record["n_rows"], record["n_columns"] = self.shape
        record["row_stride"], record["column_stride"] = self.strides
        record["kind"] = kind
        return record

    def rows(self, first: int, last: int) -> DeviceArray:
        """Return the rows from `first` to before `last`."""
        address = self.address + first * self.strides[0] * self.dtype.itemsize
        shape = (last - first, *self.shape[1:])
        return DeviceArray(address, shape, self.strides, self.dtype, self.owner)

    def to_host(self, device: Device) -> npt.NDArray[Any]:
        """Return a copy in the memory of the host."""
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        # The whole stretch of memory that the array lies in, and its elements in that.
        reach = [(n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)]
        before = -sum(step for step in reach if step < 0)
        n_elements = before + sum(step for step in reach if step > 0) + 1
        memory = np.empty(n_elements, self.dtype)
        device.settle()
        device.read(self.address - before * self.dtype.itemsize, memory)
        strides = [step * self.dtype.itemsize for step in self.strides]
        view = np.lib.stride_tricks.as_strided(memory[before:], self.shape, strides)
        return np.ascontiguousarray(view)


class OwnArray:
    """Results in the memory of a GPU, for libraries that know `__cuda_array_interface__`."""

    def __init__(
        self, device: Device, buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        """Keep the memory."""
        self._device, self._buffer = device, buffer
        self.shape, self.dtype = shape, dtype
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": dtype.str,
            "data": (buffer.address, False),
            "strides": None,
            "version": 3,
            "stream": None,
        }

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        """Return a copy in the memory of the host."""
        out = np.empty(self.shape, self.dtype)
        if out.size:
            self._buffer.read(out)
        return out if dtype is None else out.astype(dtype)


def in_kind_of(given: Any, result: OwnArray) -> Any:
    """Return a result as an array of the library of the user's array; others: as it is."""
    name = type(given).__module__.split(".")[0]
    library = sys.modules.get(name)  # its arrays are here, so it has been imported
    if library is None:
        return result
    if name == "cupy":
        return library.asarray(result)
    if name == "torch":
        return library.as_tensor(result, device=given.device)
    if name == "numba":
        return library.cuda.as_cuda_array(result)
    return result


def find_device_array(data: Any) -> DeviceArray | None:
    """Return the user's array if it is in the memory of a GPU, else None.

    Raises:
        DataError: If its memory cannot be described by shape and strides.

    Example:
        >>> find_device_array(np.zeros((2, 3))) is None
        True
    """
    if isinstance(data, DeviceArray):
        return data
    if isinstance(data, np.ndarray):
        return None
    library = type(data).__module__.split(".")[0]
    if library == "cudf":
        data = data.to_cupy()
    elif library == "torch":
        data = data.detach()  # a tensor with gradients does not show its memory
    interface = getattr(data, "__cuda_array_interface__", None)
    if interface is not None:
        return _from_interface(interface, data)
    device = getattr(data, "__dlpack_device__", None)
    if callable(device) and int(device()[0]) in _CUDA:
        from gossamer.cuda.dlpack import from_dlpack

        return from_dlpack(data)
    return None


def open_device_of(array: DeviceArray) -> Device:
    """Return the GPU that an array is on."""
    from gossamer.cuda import driver

    return driver.open_device(driver.number_of_gpu(array.address))


def to_host(data: Any) -> Any:
    """Return a copy in the memory of the host of an array on a GPU; anything else as it is.

    Example:
        >>> to_host([1, 2])
        [1, 2]
    """
    array = None if data is None else find_device_array(data)
    return data if array is None else array.to_host(open_device_of(array))


def _from_interface(interface: dict[str, Any], owner: Any) -> DeviceArray:
    dtype = np.dtype(interface["typestr"])
    shape = tuple(int(n) for n in interface["shape"])
    if interface.get("mask") is not None:
        raise DataError.because(
            "a masked array on the GPU cannot be read", hint="Set missing values to NaN."
        )
    strides = interface.get("strides")
    if strides is None:
        strides = [dtype.itemsize * int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    if any(step % dtype.itemsize for step in strides):
        raise DataError.because("elements of an array on the GPU overlap", got=tuple(strides))
    steps = tuple(int(step) // dtype.itemsize for step in strides)
    return DeviceArray(int(interface["data"][0]), shape, steps, dtype, owner)
