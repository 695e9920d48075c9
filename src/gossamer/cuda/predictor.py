"""`DevicePredictor`: trees in the memory of a device, which predict matrices there."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.cuda.arrays import DeviceArray
from gossamer.cuda.device import Buffer, Device, Launch
from gossamer.cuda.packed_trees import PackedTrees, Packer, PlainTrees, Trees, parts_of, round_down
from gossamer.cuda.predict_records import AS_FLOATS, FINISH_ARGS, LINKS, PREDICT_ARGS

# Shared memory of a block for trees, or for the thresholds of columns.
_STAGE_BYTES: Final = 32 * 1024
_THREADS: Final = (256, 128, 64, 32)
_ROWS_OF_THREAD: Final = 4
_BYTES_AT_ONCE: Final = 2**26


class DevicePredictor:
    """Some trees of a model on a device.

    Attributes:
        device: The device.
        n_trees: Trees that are predicted with.
    """

    def __init__(self, device: Device, trees: Trees, first: int, last: int) -> None:
        """Copy trees to the device.

        Args:
            device: The device.
            trees: The trees of a model.
            first: The first of them to use.
            last: The one after the last.
        """
        self.device = device
        self.n_trees = last - first
        self._n_outputs, self._n_values = trees.n_outputs, trees.n_values
        packer = Packer(trees, first, last)
        self._whole: dict[str, Buffer] = {}
        # A warp's rows are the fewest that a block can have.
        room = device.shared_bytes - _STAGE_BYTES
        most_operands = min(256, room // (_ROWS_OF_THREAD * _THREADS[-1]))
        parts = list(packer.parts(most_operands, _STAGE_BYTES))
        self._parts = [
            _Packed(device, part) if isinstance(part, PackedTrees) else _Plain(device, part)
            for part in parts
        ]
        if len(packer.categories):
            self._whole["categories"] = Buffer.holding(device, packer.categories)
        if any(isinstance(part, PlainTrees) for part in parts):
            self._whole["nodes"] = Buffer.holding(device, packer.nodes)
            self._whole["leaf_values"] = Buffer.holding(device, packer.leaf_values)

    def add_scores(self, matrix: DeviceArray, score: int) -> None:
        """Add the values of all trees to scores, row by row, at an address of the device."""
        self._run(matrix, "score", score)

    def find_leaves(self, matrix: DeviceArray, leaves: int) -> None:
        """Write the leaf of each row in each tree to an address of the device."""
        self._run(matrix, "leaves", leaves)

    def _run(self, matrix: DeviceArray, result: str, address: int) -> None:
        args = np.zeros((), PREDICT_ARGS)
        args["matrix"] = matrix.as_record()
        args[result] = address
        args["n_trees"] = self.n_trees
        args["n_outputs"], args["n_values"] = self._n_outputs, self._n_values
        for name, buffer in self._whole.items():
            args[name] = buffer.address
        if matrix.n_rows:
            self.device.run([part.launch(args.copy(), matrix) for part in self._parts])

    # ---- tables of the host ----

    def add_host_scores(self, values: npt.NDArray[Any], score: npt.NDArray[np.float64]) -> None:
        """Add the values of all trees to scores of the host."""
        self._run_host(values, "score", score.reshape(len(values), self._n_outputs))

    def find_host_leaves(self, values: npt.NDArray[Any], leaves: npt.NDArray[np.int32]) -> None:
        """Write the leaf of each row in each tree to an array of the host."""
        self._run_host(values, "leaves", leaves.reshape(len(values), self.n_trees))

    def _run_host(self, values: npt.NDArray[Any], result: str, out: npt.NDArray[Any]) -> None:
        n_columns = values.shape[1]
        row_bytes = max(n_columns * values.itemsize + out.itemsize * out.shape[1], 1)
        n_at_once = min(max(_BYTES_AT_ONCE // row_bytes, 1), max(len(values), 1))
        matrix = Buffer(self.device, n_at_once * n_columns * values.itemsize)
        found = Buffer(self.device, n_at_once * out.itemsize * out.shape[1])
        for first in range(0, len(values), n_at_once):
            rows = slice(first, min(first + n_at_once, len(values)))
            part = np.ascontiguousarray(values[rows])
            matrix.write(part)
            if result == "score":
                found.write(out[rows])
            array = DeviceArray(matrix.address, part.shape, (n_columns, 1), part.dtype, matrix)
            self._run(array, result, found.address)
            self.device.read(found.address, out[rows])


class _Packed:
    """Trees whose operands and entries are in shared memory while they are walked."""

    def __init__(self, device: Device, trees: PackedTrees) -> None:
        self._device, self._trees = device, trees
        self._fields: dict[str, int] = {
            "n_stages": len(trees.arrays["stage_begin"]) - 1,
            "n_sets": trees.n_sets,
            "first_set_operand": trees.n_operands - trees.n_sets,
            "n_operands": trees.n_operands,
        }
        self._buffers = {
            name: Buffer.holding(device, values) for name, values in trees.arrays.items()
        }
        self._n_threads = self._find_threads()
        # Of floats and of doubles: the bounds, and which columns come together.
        self._bounds = [self._put_bounds(kind) for kind in (np.float32, np.float64)]

    def _put_bounds(self, kind: type[np.float32 | np.float64]) -> tuple[Buffer, Buffer, int]:
        bounds = self._trees.bounds
        values = round_down(bounds) if kind is np.float32 else bounds
        n_bounds = self._trees.arrays["columns"]["n_bounds"][:-1]
        begin = parts_of(n_bounds * values.itemsize, _STAGE_BYTES)
        device = self._device
        return Buffer.holding(device, values), Buffer.holding(device, begin), len(begin) - 1

    def _shared_bytes(self, n_threads: int) -> int:
        return self._trees.n_operands * _ROWS_OF_THREAD * n_threads + _STAGE_BYTES

    def _find_threads(self) -> int:
        """As many as let two blocks share a processor; if there are none, one."""
        for room in (self._device.shared_bytes // 2, self._device.shared_bytes):
            for n_threads in _THREADS:
                if self._shared_bytes(n_threads) <= room:
                    return n_threads
        return _THREADS[-1]

    def launch(self, args: npt.NDArray[np.void], matrix: DeviceArray) -> Launch:
        is_double = matrix.dtype.str[1:] not in AS_FLOATS
        bounds, begin, n_parts = self._bounds[is_double]
        for name, buffer in self._buffers.items():
            args[name] = buffer.address
        for name, value in self._fields.items():
            args[name] = value
        args["is_double"] = is_double
        args["bounds"], args["columns_begin"] = bounds.address, begin.address
        args["n_column_parts"] = n_parts
        n_tiles = -(-matrix.n_rows // (_ROWS_OF_THREAD * self._n_threads))
        n_blocks = min(n_tiles, 32 * self._device.n_processors)
        shared = self._shared_bytes(self._n_threads)
        return Launch("predict_packed", n_blocks, self._n_threads, args, shared)


class _Plain:
    """Trees that are too large, or have leaves of several values."""

    def __init__(self, device: Device, trees: PlainTrees) -> None:
        self._device = device
        self._n_trees = len(trees.arrays["trees"])
        self._buffer = Buffer.holding(device, trees.arrays["trees"])

    def launch(self, args: npt.NDArray[np.void], matrix: DeviceArray) -> Launch:
        args["trees"] = self._buffer.address
        args["n_plain_trees"] = self._n_trees
        n_blocks = min(-(-matrix.n_rows // 256), 32 * self._device.n_processors)
        return Launch("predict_plain", n_blocks, 256, args)


class DeviceScoring:
    """Raw scores of a matrix of a device, which become predictions there."""

    def __init__(self, device: Device, n_rows: int, start: npt.NDArray[np.float64]) -> None:
        """Allocate scores.

        Args:
            device: The device.
            n_rows: Rows of the matrix.
            start: A score for each output.
        """
        self._device = device
        self._n_rows, self._n_outputs = n_rows, len(start)
        self._start = Buffer.holding(device, start)
        self.buffer = Buffer(device, 8 * n_rows * len(start))

    def begin(self) -> None:
        """Set all scores to the start."""
        self._finish(is_first=1)

    def begin_at_zero(self) -> None:
        """Set all scores to zero."""
        self._device.clear(self.buffer.address, self.buffer.n_bytes)

    def average(self, n_rounds: int) -> None:
        """Divide by a number of rounds, then add the start."""
        self._finish(divisor=n_rounds)

    def apply_link(self, link: str, steepness: float) -> None:
        """Turn scores into predictions; `link` is a name of `LINKS`."""
        self._finish(link=LINKS[link], steepness=steepness)

    def _finish(self, **fields: float) -> None:
        if not self._n_rows:
            return
        args = np.zeros((), FINISH_ARGS)
        args["n_rows"], args["n_outputs"] = self._n_rows, self._n_outputs
        args["score"], args["start"] = self.buffer.address, self._start.address
        for name, value in fields.items():
            args[name] = value
        n_blocks = min(-(-self._n_rows // 256), 32 * self._device.n_processors)
        self._device.run([Launch("finish_scores", n_blocks, 256, args)])
