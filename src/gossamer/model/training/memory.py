"""What trainings, predictions and folds need of `max_memory`, by what it is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from gossamer.data.built import BuiltData
from gossamer.data.folds import Fold
from gossamer.data.storage.budget import Budget, row_needs, table_needs
from gossamer.objectives import Objective
from gossamer.params import Params

# What sorting rows by category takes: numbers of rows, and keys before and after.
_SORTED_BYTES: Final = 40


def training_needs(
    params: Params,
    objective: Objective,
    train: BuiltData,
    valid: Iterable[BuiltData] = (),
    *,
    continues: bool = False,
) -> dict[str, int]:
    """Return the bytes that a training needs, by what they are for.

    Args:
        params: Checked parameters.
        objective: The loss.
        train: The training data.
        valid: The validation data.
        continues: Whether training continues from a model.

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
    fractions = (params.bagging_fraction, params.pos_bagging_fraction, params.neg_bagging_fraction)
    samples = params.data_sample_strategy != "bagging" or min(fractions) < 1
    needs = Counter(table_needs(train.table.bins, trains=True))
    needs.update(
        row_needs(
            train.n_rows,
            k,
            n_targets=targets.n_targets,
            has_hessian=objective.has_hessian(targets) or samples,
            has_weight=targets.weight is not None,
            has_start=continues or train.rows.init_score is not None,
            samples=samples,
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
    row_bytes = 4 * n_codes + 5 * n_derived
    if n_derived:  # rows are sorted by category, and the table with derived columns is a copy
        row_bytes += _SORTED_BYTES + data.table.bins.row_bytes
    needs = training_needs(params, objective, data) | {"statistics": data.n_rows * row_bytes}
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


def held_bytes(
    params: Params,
    objective: Objective,
    train: BuiltData,
    valid: Iterable[BuiltData],
    base: object | None,
) -> int:
    """Return the bytes of `max_memory` that are not for histograms and samples; 0: no limit.

    Args:
        params: Checked parameters.
        objective: The loss.
        train: The training data.
        valid: The validation data.
        base: The model that training continues from; None: there is none.

    Raises:
        ParameterError: If the limit is too small.
    """
    if params.max_memory == 0:
        return 0
    needs = training_needs(params, objective, train, valid, continues=base is not None)
    return check_training_memory(params, train, needs)
