"""Predicting rows of the user's own table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Dataset, Table, as_table
from gossamer.data.names import match_names
from gossamer.data.sparse import by_row, read_sparse
from gossamer.errors import DataError, NotSupportedError, ParameterError, message
from gossamer.model.model import Model
from gossamer.params import Params
from gossamer.threads import resolve_threads

# Rows that are predicted together where the result is laid out in another way.
_BLOCK: Final = 65_536


@dataclass(frozen=True)
class PredictOptions:
    """What a prediction returns, and from which rounds."""

    first_round: int = 0
    last_round: int | None = None  # one after the last; None: all
    raw_score: bool = False
    pred_leaf: bool = False
    num_threads: int = 0
    disable_shape_check: bool = False

    @classmethod
    def from_arguments(
        cls,
        start_iteration: int,
        num_iteration: int,
        raw_score: bool,
        pred_leaf: bool,
        kwargs: Mapping[str, Any],
        trained_with: Params,
    ) -> PredictOptions:
        """Make options from the arguments of `Booster.predict`.

        Parameters in `kwargs` win over those the model was trained with.
        """
        if start_iteration < 0:
            raise ParameterError(
                message(
                    "start_iteration is out of range", got=start_iteration, expected="a number >= 0"
                )
            )
        params = trained_with.replace(**kwargs) if kwargs else trained_with
        first = start_iteration or max(params.start_iteration_predict, 0)
        n_rounds = num_iteration if num_iteration > 0 else params.num_iteration_predict
        return cls(
            first,
            first + n_rounds if n_rounds > 0 else None,
            raw_score or params.predict_raw_score,
            pred_leaf or params.predict_leaf_index,
            params.num_threads,
            params.predict_disable_shape_check,
        )


def predict(model: Model, data: object, options: PredictOptions) -> npt.NDArray[Any]:
    """Predict a table.

    Returns:
        (rows,); with several outputs (rows, outputs); for leaves (rows, trees).
    """
    table = fitting_table(model, data, options.disable_shape_check)
    values, n_rows = table.values, table.n_rows
    k = model.objective.n_outputs
    last = model.forest.n_rounds if options.last_round is None else options.last_round
    last = min(last, model.forest.n_rounds)
    first = min(options.first_round, last)
    first_tree, last_tree = (n * model.forest.trees_per_round for n in (first, last))
    n_trees = last_tree - first_tree
    n_threads = resolve_threads(options.num_threads, n_rows, n_trees)
    if options.pred_leaf:
        leaves = np.empty(n_rows * n_trees, dtype=np.int32)
        model.forest.native.predict_leaves(values, first_tree, last_tree, leaves, n_threads)
        return leaves.reshape(n_rows, n_trees)
    start = model.start if options.first_round == 0 else np.zeros_like(model.start)
    score = np.tile(start, n_rows)
    model.forest.native.predict(values, first_tree, last_tree, score, n_threads)
    rows = score.reshape(n_rows, k) if k > 1 else score
    if options.raw_score or not model.objective.has_link:
        return rows
    # Objectives take scores class after class.
    class_major = np.ascontiguousarray(rows.T).ravel() if k > 1 else score
    return model.objective.to_predictions(class_major, n_threads)


def predict_scores(
    model: Model,
    data: object,
    rows: npt.NDArray[np.int64] | None = None,
    num_threads: int = 0,
) -> npt.NDArray[np.float64]:
    """Return the raw scores of a table, class-major as in training.

    Beside the result there is only room for the scores of a block of rows.

    Args:
        model: The model.
        data: The user's table, or a `Table`.
        rows: Rows of it, in this order; None: all.
        num_threads: As the parameter.

    Example:
        >>> from gossamer.objectives import objective_from_config
        >>> from gossamer.tree import Forest
        >>> objective = objective_from_config({"name": "multiclass", "num_class": 2})
        >>> model = Model(objective, ["a"], np.array([1.0, 2.0]), Forest.from_trees([], 2, 1), {})
        >>> predict_scores(model, [[0.0], [0.0], [0.0]])
        array([1., 1., 1., 2., 2., 2.])
    """
    table = fitting_table(model, data, disable_shape_check=False)
    k, n_trees = model.objective.n_outputs, model.forest.n_trees
    n_rows = table.n_rows if rows is None else len(rows)
    n_threads = resolve_threads(num_threads, n_rows, max(n_trees, 1))
    values = table.values
    if isinstance(values, _native.SparseMatrix):
        if rows is not None:
            values = by_row(read_sparse(table.matrix[rows]))
        score = np.tile(model.start, n_rows)
        model.forest.native.predict(values, 0, n_trees, score, n_threads)
        return np.ascontiguousarray(score.reshape(n_rows, k).T).ravel() if k > 1 else score
    out = np.empty((k, n_rows))
    for begin in range(0, n_rows, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        part = values[block] if rows is None else values[rows[block]]
        score = np.tile(model.start, len(part))
        model.forest.native.predict(part, 0, n_trees, score, n_threads)
        out[:, block] = score.reshape(len(part), k).T
    return out.ravel()


def fitting_table(model: Model, data: object, disable_shape_check: bool) -> Table:
    """Return the table with the columns of the training data, in their order; sparse: by row."""
    if isinstance(data, Dataset):
        raise DataError(
            message("a Dataset cannot be predicted", hint="Pass the table itself to predict().")
        )
    if isinstance(data, (str, bytes)) or hasattr(data, "__fspath__"):
        raise NotSupportedError(
            message(
                "predict() does not read files in this version",
                got=data,
                hint="Load the file into an array first.",
            )
        )
    table = data if isinstance(data, Table) else as_table(data)
    table = _in_order(model, table, disable_shape_check)
    if table.n_columns != model.n_columns and not disable_shape_check:
        raise DataError(
            message(
                "the number of columns is not that of the training data",
                got=table.n_columns,
                expected=str(model.n_columns),
                hint="predict_disable_shape_check=True ignores further columns and takes "
                "absent ones as missing.",
            )
        )
    if isinstance(table.values, _native.SparseMatrix):
        return Table(by_row(table.values))  # of any width: the native forest sees to it
    return Table(_of_width(table.values, model.n_columns))


def _of_width(values: npt.NDArray[Any], n_columns: int) -> npt.NDArray[Any]:
    """Ignore further columns, and add absent ones as missing."""
    if values.shape[1] >= n_columns:
        return values[:, :n_columns]
    padded = np.full((len(values), n_columns), np.nan)
    padded[:, : values.shape[1]] = values
    return padded


def _in_order(model: Model, table: Table, disable_shape_check: bool) -> Table:
    if table.names is None or not model.has_own_names or disable_shape_check:
        return table
    order = match_names(model.names, table.names)
    return table if order is None else table.take_columns(order, model.names)
