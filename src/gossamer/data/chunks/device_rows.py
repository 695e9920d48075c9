"""`DeviceRows`: an array in the memory of a GPU as a table, which is binned there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from gossamer.binning import Binning
from gossamer.cuda.arrays import DeviceArray, open_device_of
from gossamer.cuda.binner import bin_array, gather
from gossamer.data.categories.levels import NO_LEVELS
from gossamer.data.chunks.chunked_table import NamedChunkedTable
from gossamer.data.storage.binned import BinnedTable
from gossamer.data.table.matrix import Values, as_table
from gossamer.params import Params

# Values that are copied to the host at a time.
_VALUES_AT_ONCE: Final = 2**24


class DeviceRows(NamedChunkedTable):
    """Numbers that stay on a GPU: only a sample of the rows, and columns of categories, are copied.

    Attributes:
        n_rows: Rows of the table.
        n_columns: Columns of the table.
    """

    def __init__(self, array: DeviceArray) -> None:
        """Look at an array of two dimensions.

        Raises:
            DataError: If it has another number of dimensions.
        """
        array.as_record()
        self._array, self._device = array, open_device_of(array)
        self.n_rows, self.n_columns = array.shape
        self.names, self.levels, self.kinds = None, NO_LEVELS, {}

    def read(self) -> Iterator[Values]:
        """Copy all rows, piece by piece."""
        for piece, _ in self.read_columns(range(self.n_columns)):
            yield piece

    def take(self, rows: npt.NDArray[np.int64]) -> Values:
        """Copy some rows."""
        return as_table(gather(self._device, self._array, rows)).values

    def read_columns(self, columns: Sequence[int]) -> Iterator[tuple[Values, Sequence[int]]]:
        """Copy some columns of all rows, piece by piece; see `ChunkedTable`."""
        chosen, places = np.asarray(columns, np.int32), range(len(columns))
        step = max(_VALUES_AT_ONCE // max(len(chosen), 1), 1)
        for first in range(0, self.n_rows, step):
            rows = slice(first, min(first + step, self.n_rows))
            yield as_table(gather(self._device, self._array, rows, chosen)).values, places

    def fill(self, binning: Binning, example: Values, params: Params) -> BinnedTable:
        """Put all rows of training data into its bins, on the GPU."""
        n_threads = self.n_threads(params)
        bins = bin_array(self._device, self._array, binning, binning.may_miss, n_threads)
        return BinnedTable(binning, bins)

    def bin_like(self, training: BinnedTable, params: Params) -> BinnedTable:
        """Put the table into the bins of training data, on the GPU."""
        n_threads = self.n_threads(params)
        bins = bin_array(self._device, self._array, training.binning, None, n_threads)
        return BinnedTable(training.binning, bins)
