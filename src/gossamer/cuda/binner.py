"""Bins of arrays in the memory of a device, made there."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.binning import Binning
from gossamer.cuda.arrays import DeviceArray
from gossamer.cuda.bin_records import BIN_ARGS, BINNED_FEATURE, GATHER_ARGS
from gossamer.cuda.device import Buffer, Device, Launch
from gossamer.cuda.packed_trees import round_down
from gossamer.cuda.predict_records import AS_FLOATS


@dataclass(frozen=True, eq=False)
class DeviceBins:
    """Bins row by row: features of up to 256 bins as bytes, the others as two bytes.

    Attributes:
        lanes8: The feature of each lane of a byte.
        lanes16: The feature of each lane of two bytes.
        stride8: Bytes of a row.
        stride16: Numbers of two bytes of a row.
        rows8: The bytes.
        rows16: The numbers of two bytes.
    """

    lanes8: npt.NDArray[np.int32]
    lanes16: npt.NDArray[np.int32]
    stride8: int
    stride16: int
    rows8: Buffer
    rows16: Buffer


# Tables that were binned on a device: a training there need not copy them again.
_known: weakref.WeakKeyDictionary[_native.BinMatrix, DeviceBins] = weakref.WeakKeyDictionary()


def known_bins(bins: _native.BinMatrix) -> DeviceBins | None:
    """Return the bins of a table where they are on a device already."""
    return _known.get(bins)


def stride_of(n_lanes: int) -> int:
    """Return the bytes of a row with so many lanes of a byte."""
    return -(-n_lanes // 16) * 16


def bin_array(
    device: Device,
    array: DeviceArray,
    binning: Binning,
    may_miss: npt.NDArray[np.int8] | None,
    n_threads: int,
) -> _native.BinMatrix:
    """Put an array into bins on its device; the host gets a copy of the bins.

    Args:
        device: The device that the array is on.
        array: Rows x columns.
        binning: The bins.
        may_miss: Features of which some row may be missing; None: all.
        n_threads: Threads of the host.
    """
    found = _bin_rows(device, array, binning)
    bins = _native.BinMatrix(
        binning.columns,
        binning.upper,
        binning.offsets,
        int(binning.missing_kind),
        array.n_rows,
        may_miss,
        binning.category,
    )
    _read_lanes(device, bins, found.lanes8, found.stride8, found.rows8, np.uint8, n_threads)
    _read_lanes(device, bins, found.lanes16, found.stride16, found.rows16, np.uint16, n_threads)
    bins.find_missing()
    _known[bins] = found
    return bins


def _bin_rows(device: Device, array: DeviceArray, binning: Binning) -> DeviceBins:
    n_bounds = binning.n_value_bins - 1
    is_byte = n_bounds + 2 <= 256
    by_size = np.argsort(-n_bounds, kind="stable").astype(np.int32)
    lanes8, lanes16 = by_size[is_byte[by_size]], by_size[~is_byte[by_size]]
    features = np.zeros(binning.n_features, BINNED_FEATURE)
    features["column"], features["n_bounds"] = binning.columns, n_bounds
    features["first_bound"] = binning.offsets[:-1]
    features["lane"][lanes8], features["lane"][lanes16] = range(len(lanes8)), range(len(lanes16))
    features["two_bytes"][lanes16] = 1
    is_double = array.dtype.str[1:] not in AS_FLOATS
    bounds = binning.upper if is_double else round_down(binning.upper)
    stride8, n_rows = stride_of(len(lanes8)), array.n_rows
    rows8 = Buffer.zeros(device, n_rows * stride8)
    rows16 = Buffer(device, n_rows * len(lanes16) * 2)
    held = {
        "features": Buffer.holding(device, features),
        "bounds": Buffer.holding(device, bounds),
        "rows8": rows8,
        "rows16": rows16,
        "is_missing": Buffer.zeros(device, 4 * binning.n_features),
    }
    args = np.zeros((), BIN_ARGS)
    args["matrix"] = array.as_record()
    for name, buffer in held.items():
        args[name] = buffer.address
    args["stride8"], args["stride16"] = stride8, len(lanes16)
    args["n_features"] = binning.n_features
    args["missing_kind"], args["is_double"] = int(binning.missing_kind), is_double
    device.settle()
    if binning.n_features and n_rows:
        n_blocks = min(-(-n_rows // 256), 32 * device.n_processors)
        device.run([Launch("bin_rows", n_blocks, 256, args)])
    device.wait()
    return DeviceBins(lanes8, lanes16, stride8, len(lanes16), rows8, rows16)


def _read_lanes(
    device: Device,
    bins: _native.BinMatrix,
    lanes: npt.NDArray[np.int32],
    stride: int,
    rows: Buffer,
    kind: type[np.uint8 | np.uint16],
    n_threads: int,
) -> None:
    if not len(lanes) or not bins.n_rows:
        return
    host: Any = np.empty(bins.n_rows * stride, kind)
    rows.read(host)
    _native.set_rows(bins, lanes, stride, host, n_threads)


def gather(
    device: Device,
    array: DeviceArray,
    rows: npt.NDArray[np.int64] | slice,
    columns: npt.NDArray[np.int32] | None = None,
) -> npt.NDArray[Any]:
    """Copy some rows and columns to the host.

    Args:
        device: The device that the array is on.
        array: Rows x columns.
        rows: The rows, or a range of them.
        columns: The columns; None: all.
    """
    n_rows = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
    n_columns = array.shape[1] if columns is None else len(columns)
    out = np.empty((n_rows, n_columns), array.dtype)
    if not out.size:
        return out
    found = Buffer(device, out.nbytes)
    args = np.zeros((), GATHER_ARGS)
    args["matrix"] = array.as_record()
    held = []
    for name, chosen in (("rows", rows), ("columns", columns)):
        if isinstance(chosen, np.ndarray):
            held.append(Buffer.holding(device, np.ascontiguousarray(chosen)))
            args[name] = held[-1].address
    args["out"] = found.address
    args["first_row"] = rows.start if isinstance(rows, slice) else 0
    args["n_rows"], args["n_columns"] = n_rows, n_columns
    args["item_bytes"] = array.dtype.itemsize
    device.settle()
    n_blocks = min(-(-out.size // 256), 32 * device.n_processors)
    device.run([Launch("gather_rows", n_blocks, 256, args)])
    found.read(out)
    return out
