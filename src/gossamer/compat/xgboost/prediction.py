"""Scores, leaves and predictions of the rows of a `DMatrix`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.sources import BatchSource
from gossamer.compat.xgboost.table import names_of, to_dense
from gossamer.data import as_table
from gossamer.data.categories.levels import NO_LEVELS
from gossamer.data.table.sparse import is_sparse
from gossamer.errors import DataError
from gossamer.model import Booster as CoreBooster
from gossamer.threads import resolve_threads

# Values of sparse rows that are made dense at a time, for models that know zeros as values.
_DENSE_VALUES: Final = 2**22


def raw_scores(core: CoreBooster, data: DMatrix, first: int, last: int) -> npt.NDArray[np.float64]:
    """Return the scores that some rounds add up to; unlike ours, they always have the start.

    Args:
        core: The model.
        data: The rows; their `base_margin` takes the place of the start.
        first: First round to use.
        last: One after the last.

    Returns:
        (rows,) or (rows, outputs).
    """
    model = core.model
    if first == last:
        score = np.tile(model.start_from(first), (data.num_row(), 1))
        score = score if score.shape[1] > 1 else score[:, 0]
    else:
        parts = parts_of(core, data.user_table())
        found = [core.predict(part, first, last - first, raw_score=True) for part in parts]
        score = np.concatenate(found)
    start: Any = model.start if score.ndim == 2 else model.start[0]
    if first > 0 and not model.average_output:
        score = score + start
    margin = fit_margin(data, score.shape)
    return score if margin is None else score - start + margin


def fit_margin(data: DMatrix, shape: tuple[int, ...]) -> npt.NDArray[np.float64] | None:
    """Return the scores that rows start from, in the shape of the model's; None: the model's own.

    Raises:
        DataError: If they do not fit.
    """
    margin = data.fields.get("base_margin")
    if margin is None:
        return None
    if margin.size != np.prod(shape):
        raise DataError.because(
            "base_margin does not fit the model",
            found=f"shape {margin.shape}",
            expected=f"{shape}",
        )
    return margin.reshape(shape).astype(np.float64)


def check_names(expected: list[str] | None, names: list[str] | None) -> None:
    """Check that rows have the names of the training data's columns, if these had names.

    Raises:
        DataError: If they differ, or have none.
    """
    if expected is not None and names != expected:
        raise DataError.because(
            "feature names differ from the training data's",
            got="no names" if names is None else names,
            expected=f"{expected}",
            hint="Put the columns into that order, or pass validate_features=False.",
        )


def leaf_numbers(
    core: CoreBooster, data: DMatrix, first: int, last: int
) -> npt.NDArray[np.float32]:
    """Return leaves of each row: (rows, rounds, outputs, parallel trees)."""
    parts = parts_of(core, data.user_table())
    found = [core.predict(part, first, last - first, pred_leaf=True) for part in parts]
    forest = core.model.forest
    n_groups = forest.n_outputs // forest.n_values
    leaves = np.concatenate(found).astype(np.float32)
    by_set = leaves.reshape(data.num_row(), last - first, forest.n_parallel, n_groups)
    return by_set.swapaxes(2, 3)


def to_predictions(core: CoreBooster, score: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return what scores, (rows,) or (rows, outputs), are predictions of."""
    objective = core.model.objective
    if not objective.has_link:
        return score
    n_threads = resolve_threads(core.resolved_params.num_threads, len(score), 1)
    return objective.to_predictions(np.ascontiguousarray(score.T).ravel(), n_threads)


def parts_of(core: CoreBooster, table: Any) -> Iterator[Any]:
    """The table as the model can predict it; batches and sparse tables some rows at a time."""
    if isinstance(table, BatchSource):
        for batch in table.read():
            yield from parts_of(core, batch)
    elif is_sparse(table) and not core.resolved_params.zero_as_missing:
        step = max(_DENSE_VALUES // max(table.shape[1], 1), 1)
        rows = table.tocsr()
        for begin in range(0, max(table.shape[0], 1), step):
            yield to_dense(rows[begin : begin + step])
    elif names_of(table) is None:  # categories are given by their codes
        yield table if core.levels is None or is_sparse(table) else as_table(table)
    else:  # names are checked by now, and may be others than the frame's
        yield replace(as_table(table, core.levels or NO_LEVELS), names=None)
