"""`Budget`: how much memory a data set and its training may take, and what for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gossamer import _native
from gossamer.errors import ParameterError, message
from gossamer.params import Params
from gossamer.params.memory import write_memory

# What reading and binning pieces of a table takes; and for each row, its label as it is read.
_READING: Final = 48 * 10**6
_READ_BYTES: Final = 20
# Small things in training.
_OVERHEAD: Final = 12 * 10**6
# Pages begin at multiples of this many rows.
PAGE_STEP: Final = 8192
_LARGEST_PAGE: Final = 16 * 2**20
_PAGE_BUFFERS: Final = 2
# A histogram of a large leaf has two 64-bit sums and a 32-bit count in each cell.
_CELL_BYTES: Final = 20
_FEWEST_HISTOGRAMS: Final = 6


@dataclass(frozen=True)
class Budget:
    """A limit of memory, and the sizes that follow from it.

    Attributes:
        cap: Bytes; 0: there is no limit.

    Example:
        >>> from gossamer.params import resolve
        >>> budget = Budget.of(resolve({"max_memory": "200MB"}))
        >>> budget.holds_table(1_000_000, 32), budget.holds_table(4_000_000, 32)
        (True, False)
    """

    cap: int

    @classmethod
    def of(cls, params: Params) -> Budget:
        """Return the limit that parameters ask for."""
        return cls(params.max_memory)

    def holds_table(self, n_rows: int, row_bytes: int, n_outputs: int = 1) -> bool:
        """Whether training data can be in memory: its bins by row and by column, and scores."""
        if self.cap == 0:
            return True
        return self.table_need(n_rows, row_bytes, n_outputs) <= self.cap

    def table_need(self, n_rows: int, row_bytes: int, n_outputs: int) -> int:
        """Return the bytes that training with all bins in memory takes, without histograms."""
        return _READING + n_rows * (2 * row_bytes + 4 + state_bytes(n_outputs))

    def may_need_pages(self, n_rows: int, n_columns: int, params: Params) -> bool:
        """Whether bins may be too large for memory, as far as is known before any is found.

        Each column is counted with a lane of its own; columns that share lanes take less.
        """
        is_wide = params.max_bin > 255 or len(params.max_bin_by_feature) > 0
        row_bytes = widest_row(n_columns) * (2 if is_wide else 1)
        return not self.holds_table(n_rows, row_bytes, max(params.num_class, 1))

    def holds_validation(self, n_rows: int, row_bytes: int) -> bool:
        """Whether validation data can be in memory: an eighth of the limit is for its bins."""
        return self.cap == 0 or n_rows * row_bytes <= self.cap // 8

    def page_rows(self, n_rows: int, row_bytes: int) -> int:
        """Return the rows of a page."""
        size = min(_LARGEST_PAGE, self.cap // 32)
        steps = max(size // max(row_bytes * PAGE_STEP, 1), 1)
        return int(min(steps * PAGE_STEP, -(-max(n_rows, 1) // PAGE_STEP) * PAGE_STEP))

    def check_training(self, bins: _native.BinMatrix, n_outputs: int) -> None:
        """Raise where a training cannot stay within the limit.

        Raises:
            ParameterError: With the smallest limit that works.
        """
        if self.cap == 0:
            return
        on_disk = _native.on_disk(bins)
        need = _FEWEST_HISTOGRAMS * _CELL_BYTES * bins.n_cells
        if on_disk is None:
            need += self.table_need(bins.n_rows, bins.row_bytes, n_outputs)
        else:
            need += _OVERHEAD + bins.n_rows * state_bytes(n_outputs)
            need += _PAGE_BUFFERS * PAGE_STEP * bins.row_bytes
            need = max(need, _READING + bins.n_rows * _READ_BYTES)
        if need <= self.cap:
            return
        hint = "Scores, labels and gradients of all rows are in memory."
        if on_disk is None:
            hint = "The bins are in memory: pass max_memory to Dataset before it is constructed."
        raise ParameterError(
            message(
                f"max_memory is too small to train on {bins.n_rows} rows with {n_outputs} outputs",
                got=write_memory(self.cap),
                expected=f"at least {write_memory(need)}",
                hint=hint,
            )
        )

    def _rest(self, bins: _native.BinMatrix, n_outputs: int) -> int:
        """Bytes that are left for histograms and samples when bins are on disk."""
        pages = _native.on_disk(bins)
        held = 2 * bins.n_rows * bins.row_bytes if pages is None else pages["buffer_bytes"]
        return max(self.cap - _OVERHEAD - bins.n_rows * state_bytes(n_outputs) - held, 0)

    def histogram_bytes(self, bins: _native.BinMatrix, n_outputs: int, most: int) -> int:
        """Return how much histograms may take; with less, more of them are built again."""
        if self.cap == 0:
            return most
        least = _FEWEST_HISTOGRAMS * _CELL_BYTES * bins.n_cells
        return min(max(self._rest(bins, n_outputs) // 2, least), most)

    def holds_sample(self, bins: _native.BinMatrix, n_sampled: int, n_outputs: int) -> bool:
        """Whether the bins of a sample of rows can be in memory while a tree grows."""
        need = n_sampled * (2 * bins.row_bytes + 4 + state_bytes(n_outputs))
        return need <= self._rest(bins, n_outputs) // 3


def widest_row(n_columns: int) -> int:
    """Return the lanes of a row whose columns share none.

    Groups have 32 lanes, and the last one as many as the next power of two.

    Example:
        >>> widest_row(28), widest_row(33), widest_row(3)
        (32, 33, 4)
    """
    full, left = divmod(n_columns, 32)
    return 32 * full + (1 << (left - 1).bit_length() if left else 0)


def state_bytes(n_outputs: int) -> int:
    """Return what a row takes in training, without its bins.

    Scores of 8 bytes, gradients and hessians of 4 for each output; the label, the weight and the
    row's number in its leaf (twice), each 4; the quantised gradient 4.
    """
    return 16 * n_outputs + 20
