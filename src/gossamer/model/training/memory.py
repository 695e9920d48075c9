"""What trainings, predictions and folds need of `max_memory`, by what it is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gossamer import _native
from gossamer.data.built import BuiltData
from gossamer.data.folds import Fold
from gossamer.data.storage.budget import (
    Budget,
    files_fit,
    row_needs,
    sample_bytes,
    sampled_share,
    table_needs,
)
from gossamer.objectives import Objective
from gossamer.params import Params

# What sorting rows by category takes: numbers of rows, and keys before and after.
_SORTED_BYTES: Final = 40
_AFTER_STATISTICS: Final = ("rows of leaves", "parts of files", "sampled rows", "histograms")
# Pages that are written again: as read, as a table, with more columns, and as written.
_PAGES_BESIDE: Final = 4


def training_needs(
    params: Params,
    objective: Objective,
    train: BuiltData,
    valid: Iterable[BuiltData] = (),
    *,
    continues: bool = False,
    in_files: bool = False,
) -> dict[str, int]:
    """Return the bytes that a training needs, by what they are for.

    Args:
        params: Checked parameters.
        objective: The loss.
        train: The training data.
        valid: The validation data.
        continues: Whether training continues from a model.
        in_files: Whether scores and gradients of the training data are in files.

    Example:
        >>> import numpy as np
        >>> from gossamer.data.dataset import Dataset, built_data
        >>> from gossamer.objectives import make_objective
        >>> from gossamer.params import resolve
        >>> data = built_data(Dataset(np.arange(1000.0).reshape(-1, 1), label=np.arange(1000)))
        >>> objective = make_objective(resolve({}), data.targets)
        >>> training_needs(resolve({}), objective, data)["scores"]
        8000
    """
    targets, k = train.targets, objective.n_outputs
    sampled = sample_bytes(params)
    needs = Counter(table_needs(train.table.bins, trains=True))
    needs.update(
        row_needs(
            train.n_rows,
            k,
            n_targets=targets.n_targets,
            has_hessian=objective.has_hessian(targets) or sampled > 0,
            has_weight=targets.weight is not None,
            has_start=continues or train.rows.init_score is not None,
            sample_bytes=sampled,
            share=sampled_share(params),
            in_files=in_files,
        )
    )
    if params.boosting != "gbdt":  # scores of some trees, and of all of them
        needs["scores"] += 16 * k * train.n_rows
    for data in valid:
        rows = row_needs(
            data.n_rows,
            k,
            n_targets=targets.n_targets,
            has_weight=data.targets.weight is not None,
            has_start=continues or data.rows.init_score is not None,
        )
        # While a metric is evaluated, rows are sorted or predictions copied.
        of_valid = sum(rows[name] for name in ("scores", "labels", "gradients"))
        bins = table_needs(data.table.bins, trains=False)
        needs["validation data"] += of_valid + rows.get("weights", 0) + bins.get("bins", 0)
        needs["pages"] += bins.get("pages", 0)
    return dict(needs)


def check_training_memory(params: Params, train: BuiltData, needs: dict[str, int]) -> int:
    """Return the bytes that are not for histograms and samples.

    Raises:
        ParameterError: If all of it is more than `max_memory`; with the smallest that works.
    """
    is_in_memory = "bins by row and by column" in needs
    hint = "Pass max_memory to Dataset before it is constructed: its bins are in memory."
    what = f"to train on {train.n_rows:,} rows"
    Budget.of(params).require(what, needs, hint if is_in_memory else "")
    return sum(needs.values()) - needs["histograms"]


def check_statistics(
    params: Params, data: BuiltData, objective: Objective, n_codes: int, n_derived: int
) -> None:
    """Raise where target statistics do not fit `max_memory` while they are made.

    Args:
        params: Checked parameters.
        data: The training data.
        objective: The loss.
        n_codes: Columns whose codes are in memory, 4 bytes each.
        n_derived: Derived columns: 4 bytes, and 1 as a bin.

    Raises:
        ParameterError: With the smallest limit that works.
    """
    if params.max_memory == 0:
        return
    is_on_disk = _native.on_disk(data.table.bins) is not None
    row_bytes = 4 * n_codes + 5 * n_derived
    if n_derived:  # rows are sorted by category, and the table with derived columns is a copy
        row_bytes += _SORTED_BYTES + (0 if is_on_disk else data.table.bins.row_bytes)
    needs = training_needs(params, objective, data, in_files=is_on_disk)
    if is_on_disk:  # what follows is allocated when the statistics have been made
        needs = {name: n for name, n in needs.items() if name not in _AFTER_STATISTICS}
        needs["pages"] *= _PAGES_BESIDE
    needs["statistics"] = data.n_rows * row_bytes
    hint = "Or use cat_target_statistics=off."
    Budget.of(params).require("for target statistics of categorical columns", needs, hint)


def check_folds(params: Params, data: BuiltData, folds: Sequence[Fold]) -> None:
    """Raise where the rows of all folds, which are copied, do not fit `max_memory`.

    Raises:
        ParameterError: With the smallest limit that works.
    """
    k, row_bytes = max(params.num_class, 1), data.table.bins.row_bytes
    needs = Counter(table_needs(data.table.bins, trains=True))
    for fold in folds:
        n_rows = len(fold.train) + len(fold.test)
        needs["rows of the folds"] += n_rows * (2 * row_bytes + 4)
        needs.update(row_needs(n_rows, k))
    Budget.of(params).require(f"for {len(folds)} folds", needs, "All folds are in memory.")


@dataclass(frozen=True)
class Placement:
    """Where the rows of a training are.

    Attributes:
        held: Bytes of `max_memory` that are not for histograms and samples; 0: no limit.
        in_files: Whether scores and gradients are in files, because memory is too small for them.
    """

    held: int
    in_files: bool


def place_rows(
    params: Params,
    objective: Objective,
    train: BuiltData,
    valid: Sequence[BuiltData],
    base: object | None,
    *,
    in_files: bool = False,
) -> Placement:
    """Choose where scores and gradients of the training data are.

    Args:
        params: Checked parameters.
        objective: The loss.
        train: The training data.
        valid: The validation data.
        base: The model that training continues from; None: there is none.
        in_files: Whether they are in files already, and stay there.

    Raises:
        ParameterError: If the limit is too small in either case.
    """
    if params.max_memory == 0:
        return Placement(0, in_files)
    continues = base is not None
    needs = training_needs(params, objective, train, valid, continues=continues, in_files=in_files)
    if sum(needs.values()) > params.max_memory and not in_files:
        in_files = may_be_in_files(params, objective, train)
        if in_files:
            needs = training_needs(
                params, objective, train, valid, continues=continues, in_files=True
            )
    return Placement(check_training_memory(params, train, needs), in_files)


def may_be_in_files(params: Params, objective: Objective, train: BuiltData) -> bool:
    """Whether a training can do with a part of its scores and gradients in memory at a time.

    Not so where something looks at the rows in another order than the table's: losses that compare
    rows, leaf values that are found from residuals, and boosting modes with scores of their own.
    """
    is_on_disk = _native.on_disk(train.table.bins) is not None and train.table.window is None
    refits = any(objective.leaf_refit_of(k) is not None for k in range(objective.n_outputs))
    return is_on_disk and files_fit(params) and objective.by_row and not refits
