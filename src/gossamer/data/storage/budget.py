"""`Budget`: how much memory a data set and its training may take, and what for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gossamer import _native
from gossamer.data.storage import row_files
from gossamer.errors import ParameterError
from gossamer.params import Params
from gossamer.params.memory import write_memory

# Reading and binning pieces of a table.
_READING: Final = 48 * 10**6
# A row's label as it is read; and after that, while it is checked.
_READ_LABEL, _CHECKED_LABEL = 8, 14
# A Parquet file has a page of each column in memory.
_COLUMN_PAGE: Final = 1_200_000
# Small things in training.
_OVERHEAD: Final = 12 * 10**6
# Pages begin at multiples of this many rows.
PAGE_STEP: Final = 8192
_SMALL_PAGE, _LARGE_PAGE = 4 * 2**20, 16 * 2**20
_LARGE_LIMIT: Final = 300 * 10**6  # from here on pages are large
_MOST_PAGE_ROWS: Final = 2**18  # gradients of these rows are in memory, too
# A histogram of a large leaf has two 64-bit sums and a 32-bit count in each cell.
_CELL_BYTES: Final = 20
_FEWEST_HISTOGRAMS: Final = 6
# The parts of files that are in memory at a time: of scores, and of gradients.
_SCORE_PARTS, _GRADIENT_PARTS = 8 * 10**6, 8 * 10**6
# With so many histograms, few batches of leaves take more than one pass over the data.
_MANY_HISTOGRAMS: Final = 128
# Where rows are, best first: whether scores are in files, and gradients in memory all the same.
WAYS: Final[tuple[tuple[bool, bool], ...]] = ((False, True), (True, True), (True, False))
# Bytes of a row's label; of its number in its leaf, twice; of its rounded gradient.
_LABEL, _IN_LEAF, _ROUNDED = 4, 8, 4


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

    def require(self, what: str, needs: Mapping[str, int], hint: str = "") -> None:
        """Raise where something needs more memory than there may be.

        Args:
            what: What the memory is too small for, such as "to train on 100 rows".
            needs: Bytes by what they are for.
            hint: What to do other than to raise the limit.

        Raises:
            ParameterError: With the smallest limit that works, and what takes the most.

        Example:
            >>> Budget(10**7).require("to train", {"scores": 8 * 10**6, "labels": 4 * 10**6})
            Traceback (most recent call last):
            ...
            gossamer.errors.ParameterError: max_memory is too small to train: got '10MB', \
expected at least 12MB. It is for scores (8MB) and labels (4MB).
        """
        need = sum(needs.values())
        if self.cap == 0 or need <= self.cap:
            return
        largest = sorted(needs.items(), key=lambda item: -item[1])
        listed = [f"{name} ({write_memory(n)})" for name, n in largest if n > 10**6]
        terms = " and ".join([", ".join(listed[:-1]), listed[-1]] if listed[1:] else listed)
        raise ParameterError.because(
            f"max_memory is too small {what}",
            got=write_memory(self.cap),
            expected=f"at least {write_memory(need)}",
            hint=f"It is for {terms}. {hint}".strip(),
        )

    def holds_table(self, n_rows: int, row_bytes: int, n_outputs: int = 1) -> bool:
        """Whether training data can be in memory: its bins by row and by column, and scores."""
        need = _READING + n_rows * (resident_bytes(row_bytes) + state_bytes(n_outputs))
        return self.cap == 0 or need <= self.cap

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

    @property
    def page_bytes(self) -> int:
        """The size of a page, about: two of them are in memory, and large ones are faster."""
        return _SMALL_PAGE if self.cap < _LARGE_LIMIT else _LARGE_PAGE

    def page_rows(self, n_rows: int, row_bytes: int) -> int:
        """Return the rows of a page."""
        most = min(self.page_bytes // max(row_bytes, 1), _MOST_PAGE_ROWS)
        steps = max(most // PAGE_STEP, 1)
        return int(min(steps * PAGE_STEP, -(-max(n_rows, 1) // PAGE_STEP) * PAGE_STEP))

    def check_reading(self, n_rows: int, n_file_columns: int) -> None:
        """Raise where a table cannot be read within the limit, wherever its bins go.

        Args:
            n_rows: Rows of the table.
            n_file_columns: Columns, where each has a buffer of its own while a file is read.

        Raises:
            ParameterError: With the smallest limit that works.
        """
        what = f"to read {n_rows:,} rows"
        self.require(what, reading_needs(n_file_columns) | {"labels": n_rows * _READ_LABEL})
        self.require(what, {"small buffers": _OVERHEAD, "labels": n_rows * _CHECKED_LABEL})

    def check_before_training(self, n_rows: int, params: Params) -> None:
        """Raise where no training with these parameters would fit the limit.

        Args:
            n_rows: Rows of the training data.
            params: Checked parameters.

        Raises:
            ParameterError: With a limit that is too small for every training.
        """
        k = max(params.num_class, 1)
        every = [
            {"small buffers": _OVERHEAD}
            | row_needs(
                n_rows,
                k,
                has_hessian=False,
                has_weight=False,
                in_files=in_files,
                holds_gradients=holds_gradients,
            )
            for in_files, holds_gradients in WAYS[: len(WAYS) if files_fit(params) else 1]
        ]
        least = min(every, key=lambda needs: sum(needs.values()))
        self.require(f"to train on {n_rows:,} rows", least)

    def check_prediction(
        self, n_rows: int | None, n_file_columns: int, row_bytes: int, held: int
    ) -> None:
        """Raise where the predictions of a file do not fit the limit.

        Args:
            n_rows: Rows of the file; None: not known before it is read.
            n_file_columns: Columns, where each has a buffer of its own while a file is read.
            row_bytes: Bytes of a row's predictions.
            held: Bytes of a training that may go on later.

        Raises:
            ParameterError: With the smallest limit that works.
        """
        if n_rows is not None:
            needs = reading_needs(n_file_columns) | {"predictions": n_rows * row_bytes}
            hint = "Or predict the rows in parts."
            if held > 0:
                needs["the training"] = held
                hint = "Or end the training with free_dataset(), or predict the rows in parts."
            self.require(f"to predict {n_rows:,} rows", needs, hint)

    def histogram_bytes(
        self, bins: _native.BinMatrix, params: Params, held: int, most: int, num_leaves: int
    ) -> int:
        """Return how much histograms may take; with less, more of them are built again.

        Args:
            bins: The training data.
            params: Checked parameters.
            held: Bytes that everything else takes, see `training_needs`.
            most: As much as they would take without a limit.
            num_leaves: Leaves of a tree at most.
        """
        if self.cap == 0:
            return most
        fewest = fewest_histograms(bins)
        left = self.cap - held
        share = left // 6 if samples_rows(params) else left * 3 // 4
        return min(max(share, fewest), (num_leaves + 1) // 2 * fewest, most)

    def kept_bytes(self, held: int, histograms: int, sample: int) -> int:
        """Return how much of the pages may stay in memory: most of what nothing else needs.

        Args:
            held: Bytes that everything but histograms and samples takes.
            histograms: Bytes of these.
            sample: Bytes of the sample of a tree.
        """
        kept = max(self.cap - held - histograms - sample, 0) * 3 // 4
        return min(kept, 2**62)  # the limit may be any number

    def loaded_bytes(self, bins: _native.BinMatrix, held: int) -> int:
        """Return what bins on disk take in memory, by row and by column; 0: they do not fit.

        Whether they fit is known when the training is: before, every row is counted with weights
        and hessians.

        Args:
            bins: The training data.
            held: Bytes that everything but bins, histograms and samples takes.
        """
        need = bins.n_rows * resident_bytes(bins.row_bytes)
        fits = held + need + fewest_histograms(bins) <= self.cap
        return need if fits and _native.on_disk(bins) is not None else 0

    def most_for_sample(self, held: int) -> int:
        """Return how much a sample of the rows may take."""
        return max(self.cap - held, 0) * 3 // 4

    def reserved_for_sample(
        self, bins: _native.BinMatrix, params: Params, n_outputs: int, held: int
    ) -> int:
        """Return the bytes that are left to samples; 0: there are none, or they do not fit.

        Args:
            bins: The training data.
            params: Checked parameters.
            n_outputs: Scores of a row.
            held: Bytes that everything but histograms and samples takes.
        """
        if not samples_rows(params):
            return 0
        most = self.most_for_sample(held)
        if sampled_share(params) == 1:  # known when a sample has been drawn
            return most
        need = expected_sample(bins, params, n_outputs)
        return need if need <= most else 0

    def has_room(
        self, bins: _native.BinMatrix, params: Params, n_outputs: int, needs: Mapping[str, int]
    ) -> bool:
        """Whether a training takes few passes with the memory that is left to it.

        Args:
            bins: The training data.
            params: Checked parameters.
            n_outputs: Scores of a row.
            needs: What everything takes at least, see `training_needs`.
        """
        left = self.cap - sum(needs.values()) + needs["histograms"]
        if not samples_rows(params):
            n_histograms = min(params.num_leaves, _MANY_HISTOGRAMS)
            return left >= max(n_histograms * _CELL_BYTES * int(bins.n_cells), needs["histograms"])
        if sampled_share(params) == 1:  # the sample may be of any size
            return False
        return expected_sample(bins, params, n_outputs) <= left * 3 // 4


def sample_need(bins: _native.BinMatrix, n_sampled: int, n_outputs: int) -> int:
    """Return what a sample of rows takes while a tree grows, but for the rows of leaves."""
    # Bins, the row's number, its rounded gradient; score, gradient and hessian of each output.
    return n_sampled * (bins.row_bytes + 4 + _ROUNDED + 16 * n_outputs)


def expected_sample(bins: _native.BinMatrix, params: Params, n_outputs: int) -> int:
    """Return what the sample of a tree takes, where parameters tell its size."""
    # Each row is drawn by itself: the number varies by at most half of the square root.
    n_sampled = int(sampled_share(params) * bins.n_rows + 8 * bins.n_rows**0.5) + 1
    return sample_need(bins, n_sampled, n_outputs)


def resident_bytes(row_bytes: int) -> int:
    """Return the bytes of a row of training data that is in memory.

    Besides the bins by row and by column, these are four bytes of a third list of rows. Leaves that
    are bits instead have up to two bytes per row, and write less of the lists.

    Example:
        >>> resident_bytes(32)
        68
    """
    return 2 * row_bytes + 4


def leaf_bytes(n_rows: int, params: Params) -> int:
    """Return the bytes of the numbers of rows in leaves, while a tree grows.

    Example:
        >>> from gossamer.params import resolve
        >>> leaf_bytes(1000, resolve({"bagging_fraction": 0.5, "bagging_freq": 1}))
        4000
    """
    return int(_IN_LEAF * n_rows * sampled_share(params))


def reading_needs(n_file_columns: int) -> dict[str, int]:
    """Return what reading a table in pieces takes."""
    return {"reading rows": _READING, "columns of the file": n_file_columns * _COLUMN_PAGE}


def table_needs(bins: _native.BinMatrix, *, trains: bool) -> dict[str, int]:
    """Return what the bins of a data set take in memory, and histograms if it is trained on."""
    on_disk = _native.on_disk(bins)
    if on_disk is not None:
        needs = {"pages": int(on_disk["buffer_bytes"])}
    elif trains:
        needs = {"bins by row and by column": bins.n_rows * resident_bytes(bins.row_bytes)}
    else:
        needs = {"bins": bins.n_rows * bins.row_bytes}
    return needs | training_buffers(bins) if trains else needs


def training_buffers(bins: _native.BinMatrix) -> dict[str, int]:
    """Return what every training takes, however many rows it has."""
    return {"histograms": fewest_histograms(bins), "small buffers": _OVERHEAD}


def fewest_histograms(bins: _native.BinMatrix) -> int:
    """Return the bytes of as many histograms as a tree cannot do without."""
    return _FEWEST_HISTOGRAMS * _CELL_BYTES * int(bins.n_cells)


def row_needs(
    n_rows: int,
    n_outputs: int,
    *,
    n_targets: int = 1,
    has_hessian: bool = True,
    has_weight: bool = True,
    has_start: bool = False,
    sample_bytes: int = 0,
    share: float = 1.0,
    in_files: bool = False,
    holds_gradients: bool = False,
) -> dict[str, int]:
    """Return what the rows of a training take, without their bins.

    Args:
        n_rows: Number of rows.
        n_outputs: Scores of a row.
        n_targets: Labels of a row.
        has_hessian: Whether there are hessians.
        has_weight: Whether there are weights.
        has_start: Whether there are scores to start from.
        sample_bytes: What drawing a sample takes, see `sample_bytes`.
        share: Of the rows that a tree grows on, at most.
        in_files: Whether scores and gradients are in files (see `RowFiles`).
        holds_gradients: Whether gradients are in memory all the same.

    Example:
        >>> row_needs(1000, 1, has_hessian=False, has_weight=False)
        {'scores': 8000, 'gradients': 4000, 'labels': 4000, 'rows of leaves': 12000}
        >>> row_needs(1000, 1, has_weight=False, in_files=True)
        {'labels': 4000, 'rows of leaves': 8000, 'parts of files': 16000000}
    """
    n_files = 1 if in_files else 0
    n_gradients = 1 if holds_gradients or not in_files else 0
    needs = {
        "scores": 8 * n_outputs * (has_start + 1 - n_files),
        "gradients": 4 * n_outputs * (has_hessian + 1) * n_gradients,
        "labels": _LABEL * n_targets,
        "weights": 4 if has_weight else 0,
        "rows of leaves": _IN_LEAF + _ROUNDED * (1 - n_files),
        "sampled rows": sample_bytes,
    }
    found = {name: n_rows * size for name, size in needs.items() if size}
    found["rows of leaves"] -= int(_IN_LEAF * n_rows * (1 - share))
    if not in_files:
        return found
    return found | {"parts of files": _SCORE_PARTS + _GRADIENT_PARTS * (1 - n_gradients)}


def samples_rows(params: Params) -> bool:
    """Whether trees are grown on samples of the rows.

    Example:
        >>> from gossamer.params import resolve
        >>> samples_rows(resolve({"bagging_fraction": 0.5, "bagging_freq": 1}))
        True
    """
    fractions = (params.bagging_fraction, params.pos_bagging_fraction, params.neg_bagging_fraction)
    is_bagged = params.bagging_freq > 0 and min(fractions) < 1
    return params.data_sample_strategy != "bagging" or is_bagged


def sample_bytes(params: Params) -> int:
    """Return what drawing a sample takes for each row: its number, and what it is chosen by.

    Example:
        >>> from gossamer.params import resolve
        >>> sample_bytes(resolve({"bagging_fraction": 0.5, "bagging_freq": 1}))
        5
    """
    if not samples_rows(params):
        return 0
    is_plain = params.data_sample_strategy == "bagging" and not params.bagging_by_query
    return 5 if is_plain and params.num_parallel_tree == 1 else 12


def sampled_share(params: Params) -> float:
    """Return the share of the rows that a tree grows on; at most, as far as parameters tell.

    Example:
        >>> from gossamer.params import resolve
        >>> sampled_share(resolve({"bagging_fraction": 0.5, "bagging_freq": 1}))
        0.5
    """
    is_bagged = samples_rows(params) and params.data_sample_strategy == "bagging"
    if not is_bagged or params.bagging_by_query:
        return 1.0
    by_class = params.pos_bagging_fraction, params.neg_bagging_fraction
    return max(by_class) if min(by_class) < 1 else params.bagging_fraction


def files_fit(params: Params) -> bool:
    """Whether scores and gradients may be in files, as far as parameters tell.

    Example:
        >>> from gossamer.params import resolve
        >>> files_fit(resolve({"boosting": "dart"}))
        False
    """
    is_plain = params.boosting == "gbdt" and params.num_parallel_tree == 1
    return row_files.AVAILABLE and is_plain


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
    """Return what a row takes at most in training without sampling, besides its bins."""
    return sum(row_needs(1, n_outputs).values())
