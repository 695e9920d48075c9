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
    WAYS,
    Budget,
    files_fit,
    resident_bytes,
    row_needs,
    sample_bytes,
    sampled_share,
    table_needs,
    training_buffers,
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
    holds_gradients: bool = False,
) -> dict[str, int]:
    """Return the bytes that a training needs, by what they are for.

    Args:
        params: Checked parameters.
        objective: The loss.
        train: The training data.
        valid: The validation data.
        continues: Whether training continues from a model.
        in_files: Whether scores and gradients of the training data are in files.
        holds_gradients: Whether its gradients are in memory all the same.

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
            holds_gradients=holds_gradients,
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


def fold_memory(
    params: Params,
    data: BuiltData,
    folds: Sequence[Fold],
    n_together: int,
    *,
    continues: bool = False,
) -> int:
    """Return the `max_memory` of each fold, whose rows are copied; 0: no limit.

    Args:
        params: Checked parameters.
        data: All rows.
        folds: The folds.
        n_together: How many of them are in memory at a time.
        continues: Whether their trainings continue from a model.

    Raises:
        ParameterError: With the smallest limit that works.
    """
    limit, too_much = params.max_memory, None
    while limit > 0:  # with more memory more rows are copied into it, instead of to disk
        needs = _needs_of_folds(params, data, folds, n_together, limit, continues)
        if sum(needs.values()) <= limit:
            break
        too_much, limit = needs, sum(needs.values())
    if too_much is not None:
        what = f"for {n_together} folds, which are in memory together"
        Budget.of(params).require(what, too_much)
    return _memory_of_fold(data, n_together, limit)


def _memory_of_fold(data: BuiltData, n_together: int, limit: int) -> int:
    left = limit - sum(table_needs(data.table.bins, trains=False).values())
    return max(left // n_together, 1) if limit > 0 else 0


def _needs_of_folds(
    params: Params,
    data: BuiltData,
    folds: Sequence[Fold],
    n_together: int,
    limit: int,
    continues: bool,
) -> dict[str, int]:
    share = _memory_of_fold(data, n_together, limit)
    each = [_fold_needs(params, data, fold, share, continues) for fold in folds]
    largest = max(each, key=lambda needs: sum(needs.values()))
    needs = Counter(table_needs(data.table.bins, trains=False))
    needs.update({name: n_together * n_bytes for name, n_bytes in largest.items()})
    return dict(needs)


def _fold_needs(
    params: Params, data: BuiltData, fold: Fold, share: int, continues: bool
) -> dict[str, int]:
    """Return what the training of a fold needs; see `training_needs` and `copy_rows`."""
    bins, k = data.table.bins, max(params.num_class, data.targets.n_targets, 1)
    is_on_disk, budget = _native.on_disk(bins) is not None, Budget(share)
    page_bytes = 2 * budget.page_rows(data.n_rows, bins.row_bytes) * bins.row_bytes
    needs = Counter(training_buffers(bins))
    for rows, trains in ((fold.train, True), (fold.test, False)):
        n_rows = len(rows)
        on_pages = is_on_disk and not budget.holds_table(n_rows, bins.row_bytes, k)
        if on_pages:
            needs["pages"] += page_bytes
        else:
            needs["rows of the folds"] += n_rows * resident_bytes(bins.row_bytes)
        state = row_needs(
            n_rows,
            k,
            n_targets=data.targets.n_targets,
            has_start=continues or data.rows.init_score is not None,
            sample_bytes=sample_bytes(params) if trains else 0,
            share=sampled_share(params),
            in_files=trains and on_pages and files_fit(params),
        )
        needs.update({name: n for name, n in state.items() if trains or name != "rows of leaves"})
    if params.boosting != "gbdt":
        needs["scores"] += 16 * k * len(fold.train)
    return dict(needs)


@dataclass(frozen=True)
class Placement:
    """Where the rows of a training are.

    Attributes:
        held: Bytes of `max_memory` that are not for histograms and samples; 0: no limit.
        in_files: Whether scores and gradients are in files, because memory is too small for them.
        holds_gradients: Whether gradients are in memory all the same. A training reads them in
            every pass, and scores twice in a round.
    """

    held: int
    in_files: bool
    holds_gradients: bool = False


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
    ways = WAYS[1:] if in_files else WAYS
    if not in_files and not may_be_in_files(params, objective, train):
        ways = WAYS[:1]
    needs = {
        way: training_needs(
            params,
            objective,
            train,
            valid,
            continues=base is not None,
            in_files=way[0],
            holds_gradients=way[1],
        )
        for way in ways
    }
    budget, bins, k = Budget.of(params), train.table.bins, objective.n_outputs
    total = {way: sum(needs[way].values()) for way in ways}
    good = [way for way in ways if budget.has_room(bins, params, k, needs[way])]
    # With little room, files gain nothing over memory.
    good += [way for way in WAYS[:1] if total.get(way, budget.cap + 1) <= budget.cap]
    way = good[0] if good else min(ways, key=lambda way: total[way])
    return Placement(check_training_memory(params, train, needs[way]), *way)


def may_be_in_files(params: Params, objective: Objective, train: BuiltData) -> bool:
    """Whether a training can do with a part of its scores and gradients in memory at a time.

    Not so where something looks at the rows in another order than the table's: losses that compare
    rows, leaf values that are found from residuals, and boosting modes with scores of their own.
    """
    is_on_disk = _native.on_disk(train.table.bins) is not None and train.table.window is None
    refits = any(objective.leaf_refit_of(k) is not None for k in range(objective.n_outputs))
    return is_on_disk and files_fit(params) and objective.by_row and not refits
