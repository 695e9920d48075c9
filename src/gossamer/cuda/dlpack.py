"""Arrays on a GPU that other libraries describe by DLPack."""

from __future__ import annotations

import ctypes
from typing import Any, Final, cast

import numpy as np

from gossamer.cuda.arrays import DeviceArray
from gossamer.errors import DataTypeError

_KINDS: Final = {0: "i", 1: "u", 2: "f", 6: "b"}


class _DlTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def from_dlpack(data: Any) -> DeviceArray:
    """Read what a capsule of DLPack describes; the capsule itself keeps the memory.

    Raises:
        DataTypeError: If its elements are not numbers.
    """
    capsule = data.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DlTensor.from_address(cast(int, get(capsule, b"dltensor")))
    kind = _KINDS.get(tensor.code)
    if kind is None or tensor.lanes != 1:
        raise DataTypeError.because(
            "this type of DLPack cannot be read",
            found=f"code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes",
            expected="floats, integers or booleans",
        )
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        steps = tuple(tensor.strides[i] for i in range(tensor.ndim))
    else:
        steps = tuple(int(np.prod(shape[i + 1 :])) for i in range(tensor.ndim))
    address = int(tensor.data or 0) + tensor.byte_offset
    return DeviceArray(
        address, shape, steps, np.dtype(f"{kind}{tensor.bits // 8}"), _Kept(data, capsule)
    )


class _Kept:
    """An array and the capsule through which its memory is seen."""

    def __init__(self, data: Any, capsule: Any) -> None:
        self.data, self.capsule = data, capsule
