"""`DeviceTable`: the bins of a table in the memory of a device."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.cuda.binner import known_bins, stride_of
from gossamer.cuda.device import Buffer, Device, Launch
from gossamer.cuda.records import ARGS, FEATURE, GROUP

# Threads of a block that builds histograms; see native/cuda/histograms.inl.
BUILD_THREADS: Final = 512

_LANES_OF_GROUP: Final = 32
_BYTES_AT_ONCE: Final = 2**26
# Blocks of rows, and the rows of each, that tell how even the bins of a lane are.
_SAMPLES: Final = 32
_SAMPLED_ROWS: Final = 1024
# Threads that add to the same one of 32 banks if bins are even; and what it costs to avoid that
# others do, in the same unit.
_WAITS_BY_CHANCE: Final = 3.4
_WAITS_IN_TURN: Final = 4.8
# Shared memory of `copy_lanes` in native/cuda/rows.inl.
_COPY_BYTES: Final = 256 * 36


def _rounded(n: int, to: int) -> int:
    return -(-n // to) * to


def _largest_shares(
    bins: _native.BinMatrix, lanes: npt.NDArray[np.int32], n_threads: int
) -> npt.NDArray[np.float64]:
    """Return the share of the rows that each lane's most frequent bin has, in a sample of rows."""
    n_rows, n_lanes = bins.n_rows, len(lanes)
    size = min(_SAMPLED_ROWS, n_rows)
    if not size or not n_lanes:
        return np.zeros(n_lanes)
    step = max(n_rows // _SAMPLES, size)
    counts = np.zeros((n_lanes, 256), np.int64)
    rows = np.empty(size * n_lanes, np.uint8)
    for first in range(0, n_rows - size + 1, step):
        _native.copy_rows(bins, lanes, first, size, n_lanes, rows, n_threads)
        for k, lane in enumerate(rows.reshape(size, n_lanes).T):
            counts[k] += np.bincount(lane, minlength=256)
    found: npt.NDArray[np.float64] = counts.max(1) / counts.sum(1)
    return found


def _waits(shares: npt.NDArray[np.float64]) -> float:
    """Return how many threads of a warp add to the same bank of memory, on average over lanes."""
    return float(np.maximum(32 * shares + 2, _WAITS_BY_CHANCE).mean())


class DeviceTable:
    """Bins row by row: features of up to 256 bins as bytes, the others as two bytes.

    Bytes are there twice: histograms need all bins of a row, splits the bins of one feature.

    Attributes:
        args: The fields of the kernels' arguments that belong to the table.
        build_bytes: Shared memory that histograms need.
        lanes: Lane of each feature; ~lane for lanes of two bytes.
        is_searched: By feature: whether it may be split on.
        n_searched: Number of these.
        n_features: Features.
        n_rows: Rows.
    """

    def __init__(
        self, device: Device, bins: _native.BinMatrix, n_threads: int, *, grows_trees: bool = True
    ) -> None:
        """Copy the bins to the device.

        Args:
            device: The device.
            bins: The table.
            n_threads: Threads that copy.
            grows_trees: Whether trees grow on these rows; otherwise they are only added to scores.
        """
        self.n_rows = bins.n_rows
        found = _native.describe_features(bins)
        n_bins = found["n_value_bins"] + found["has_missing"]
        self.n_features = len(n_bins)
        is_byte = n_bins <= 256
        # Every lane of a group takes as many bins as the largest one: similar lanes go together.
        by_size = np.argsort(-n_bins, kind="stable").astype(np.int32)
        lanes8 = by_size[is_byte[by_size]]
        lanes16 = np.flatnonzero(~is_byte).astype(np.int32)
        known = known_bins(bins)
        if known is not None:
            lanes8, lanes16 = known.lanes8, known.lanes16
        self._device = device
        self._features = self._describe(found, lanes8, lanes16)
        shares = np.zeros(len(lanes8))
        if grows_trees:
            shares = _largest_shares(bins, lanes8, n_threads)
        self._make_groups(n_bins, lanes8, shares)
        lane, wide = self._features["lane"], self._features["two_bytes"] != 0
        self.lanes = np.where(wide, ~lane, lane).astype(np.int32)
        self.is_searched = self._features["searched"] != 0
        self.n_searched = int(self.is_searched.sum())
        self._buffers = {
            "features": Buffer.holding(device, self._features),
            "groups": Buffer.holding(device, self._groups),
            "lane_features": Buffer.holding(device, np.concatenate([lanes8, lanes16])),
            "known_bins": Buffer.holding(device, found["known"]),
        }
        stride8, stride16 = stride_of(len(lanes8)), len(lanes16)
        if known is not None:
            self._buffers["rows8"], self._buffers["rows16"] = known.rows8, known.rows16
        else:
            self._buffers["rows8"] = self._copy(bins, lanes8, stride8, np.uint8, n_threads)
            self._buffers["rows16"] = self._copy(bins, lanes16, stride16, np.uint16, n_threads)
        self._buffers["lanes8"] = Buffer(device, self.n_rows * len(lanes8) * grows_trees)
        largest = int(n_bins[found["n_categories"] >= 0].max(initial=0))
        self.args = np.zeros((), ARGS)
        for name, buffer in self._buffers.items():
            self.args[name] = buffer.address
        self.args["n_rows"] = self.n_rows
        self.args["n_cells"] = int(n_bins.sum())
        self.args["stride8"] = stride8
        self.args["stride16"] = stride16
        self.args["n_features"] = self.n_features
        self.args["n_lanes8"] = len(lanes8)
        self.args["n_lanes16"] = len(lanes16)
        self.args["n_groups"] = len(self._groups)
        # Bins of the largest set, and one more for missing values.
        self.args["category_words"] = _rounded(largest + 1, 32) // 32 if largest else 0
        if stride8 and grows_trees:
            n_blocks = 8 * device.n_processors
            device.run([Launch("copy_lanes", n_blocks, 256, self.args, _COPY_BYTES)])

    @staticmethod
    def bytes_per_row(bins: _native.BinMatrix) -> int:
        """Return what a row takes."""
        found = _native.describe_features(bins)
        n_bins = found["n_value_bins"] + found["has_missing"]
        n_bytes = int((n_bins <= 256).sum())
        return stride_of(n_bytes) + n_bytes + 2 * (len(n_bins) - n_bytes)

    def _describe(
        self,
        found: dict[str, npt.NDArray[np.int32]],
        lanes8: npt.NDArray[np.int32],
        lanes16: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.void]:
        features = np.zeros(self.n_features, FEATURE)
        n_bins = found["n_value_bins"] + found["has_missing"]
        features["first_cell"] = np.cumsum(n_bins, dtype=np.int64) - n_bins
        for name in ("l2", "n_value_bins", "has_missing", "n_categories"):
            features[name] = found[name]
        features["searched"] = found["is_hidden"] == 0
        features["lane"][lanes8] = np.arange(len(lanes8))
        features["lane"][lanes16] = np.arange(len(lanes16))
        features["two_bytes"][lanes16] = 1
        n_known = np.where(found["n_categories"] >= 0, found["n_value_bins"], 0)
        features["known"] = np.cumsum(n_known, dtype=np.int64) - n_known
        return features

    def _make_groups(
        self,
        n_bins: npt.NDArray[np.int32],
        lanes8: npt.NDArray[np.int32],
        shares: npt.NDArray[np.float64],
    ) -> None:
        # An odd number of cells: neighbouring lanes then use different banks of shared memory.
        cells = n_bins[lanes8] | 1
        most = _LANES_OF_GROUP
        while most > 16 and self._bytes_of(cells[:most]) > self._device.shared_bytes:
            most -= 16
        parts = [cells[first : first + most] for first in range(0, len(lanes8), most)]
        first = range(0, len(lanes8), most)
        is_even = [_waits(shares[i : i + most]) < _WAITS_IN_TURN for i in first]
        groups = [
            (i, len(own), int(own.max()), even)
            for i, own, even in zip(first, parts, is_even, strict=True)
        ]
        self._groups = np.array(groups, GROUP)
        self.build_bytes = max((self._bytes_of(own) for own in parts), default=0)

    @staticmethod
    def _bytes_of(cells: npt.NDArray[np.int32]) -> int:
        """Shared memory of a group: its cells, or half of them if they are wide, and its rows."""
        n_lanes, stride = len(cells), int(cells.max(initial=0))
        n_cells = max(8 * n_lanes, 16 * ((n_lanes + 1) // 2)) * stride
        row_words = ((n_lanes + 3) // 4) | 1
        return n_cells + 16 + BUILD_THREADS * row_words * 4

    def _copy(
        self,
        bins: _native.BinMatrix,
        lanes: npt.NDArray[np.int32],
        stride: int,
        kind: type[np.uint8 | np.uint16],
        n_threads: int,
    ) -> Buffer:
        width = np.dtype(kind).itemsize
        buffer = Buffer(self._device, self.n_rows * stride * width)
        if not stride:
            return buffer
        n_at_once = max(_BYTES_AT_ONCE // (stride * width), 1)
        # Two pieces of memory take turns: one is filled while the other travels.
        pieces = [
            self._device.host_memory(min(n_at_once, self.n_rows) * stride * width) for _ in "ab"
        ]
        for piece in pieces:
            piece[:] = 0  # lanes that fill up a row
        for i, first in enumerate(range(0, self.n_rows, n_at_once)):
            n = min(n_at_once, self.n_rows - first)
            piece = pieces[i % 2][: n * stride * width].view(kind)
            if i > 1:
                self._device.wait()
            _native.copy_rows(bins, lanes, first, n, stride, piece, n_threads)
            buffer.write(piece, first * stride * width)
        self._device.wait()
        return buffer
