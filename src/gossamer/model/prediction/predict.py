"""Predicting rows of the user's own table."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.cuda.arrays import DeviceArray, find_device_array, in_kind_of, to_host
from gossamer.data import Dataset, Table, as_table
from gossamer.data.categories.levels import NO_LEVELS
from gossamer.data.chunks.chunked_frame import row_blocks
from gossamer.data.chunks.find_source import whole_table
from gossamer.data.files import names_files
from gossamer.data.labels.named_columns import names_of
from gossamer.data.table.frames import first_columns
from gossamer.data.table.matrix import Values
from gossamer.data.table.names import check_order, match_names
from gossamer.data.table.sparse import by_row, is_sparse, read_sparse, to_dense
from gossamer.data.table.table_kinds import as_known
from gossamer.data.table.time_columns import check_times, refuse_numbers
from gossamer.errors import DataError, DataTypeError, NotSupportedError, ParameterError
from gossamer.model.model import Model
from gossamer.model.prediction.on_device import (
    device_predictor,
    predict_array,
    refusal,
    upload_like,
    why_not,
)
from gossamer.model.prediction.predict_chunks import by_chunks, find_chunks_of
from gossamer.params import CANONICAL, Params
from gossamer.threads import resolve_threads

# Rows that are predicted together where the result is laid out in another way.
_BLOCK: Final = 65_536
_DENSE_VALUES: Final = 2**22  # of a block of sparse rows


@dataclass(frozen=True)
class EarlyStop:
    """When a row gets no more trees.

    Attributes:
        every: Rounds between two looks at its scores.
        margin: They are clear if twice the score's size, or the distance of the two highest
            scores, is above this.
    """

    every: int
    margin: float

    def is_clear(self, score: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Return which rows are clear, from rows x outputs.

        Example:
            >>> EarlyStop(1, 1.5).is_clear(np.array([[0.5], [-1.0]]))
            array([False,  True])
        """
        if score.shape[1] == 1:
            return np.asarray(2.0 * np.abs(score[:, 0]) > self.margin)
        two = np.partition(score, score.shape[1] - 2, axis=1)[:, -2:]
        return np.asarray(two[:, 1] - two[:, 0] > self.margin)


@dataclass(frozen=True)
class PredictOptions:
    """What a prediction returns, and from which rounds."""

    first_round: int = 0
    last_round: int | None = None  # one after the last; None: all
    raw_score: bool = False
    pred_leaf: bool = False
    num_threads: int = 0
    disable_shape_check: bool = False
    early_stop: EarlyStop | None = None
    pred_contrib: bool = False
    validate_features: bool | None = None
    max_memory: int = 0
    device_type: str = ""  # empty: where the table is
    gpu_device_id: int = 0

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

        Raises:
            ParameterError: If a number of rounds is none.
        """
        start_iteration = max(as_number("start_iteration", start_iteration), 0)
        num_iteration = as_number("num_iteration", num_iteration)
        params = trained_with.for_prediction(kwargs) if kwargs else trained_with
        first = start_iteration or max(params.start_iteration_predict, 0)
        n_rounds = num_iteration if num_iteration > 0 else params.num_iteration_predict
        return cls(
            first,
            first + n_rounds if n_rounds > 0 else None,
            raw_score or params.predict_raw_score,
            pred_leaf or params.predict_leaf_index,
            params.num_threads,
            params.predict_disable_shape_check,
            EarlyStop(params.pred_early_stop_freq, params.pred_early_stop_margin)
            if params.pred_early_stop
            else None,
            params.predict_contrib,
            max_memory=params.max_memory,
            # Not where the model was trained: by default, tables are predicted where they are.
            device_type=params.device_type if _names_device(kwargs) else "",
            gpu_device_id=max(params.gpu_device_id, 0),
        )

    def table_of(self, model: Model, data: object) -> Table:
        """Return the user's table with the columns of the training data, see `fitting_table`."""
        return fitting_table(model, data, self.disable_shape_check, self.validate_features)

    def rounds_of(self, model: Model) -> tuple[int, int]:
        """Return the first round of a model to use, and the one after the last.

        As in LightGBM, no round is left where the first is beyond the model.
        """
        n_rounds = model.forest.n_rounds
        first = min(self.first_round, n_rounds)
        last = n_rounds if self.last_round is None else min(self.last_round, n_rounds)
        return first, last

    def row_bytes(self, model: Model) -> int:
        """Return the bytes of a row's predictions."""
        if self.pred_leaf:
            first, last = tree_range(model, self)
            return 4 * (last - first)
        width = model.n_columns + 1 if self.pred_contrib else 1
        return 8 * width * model.objective.n_outputs


def as_number(name: str, value: object, expected: str = "a number of rounds") -> int:
    """Return a whole number.

    Raises:
        ParameterError: If it is something else.

    Example:
        >>> as_number("start_iteration", np.int32(3))
        3
    """
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterError.because(
            f"{name} is not a whole number", got=value, expected=expected
        ) from None


def predict(model: Model, data: object, options: PredictOptions) -> npt.NDArray[Any]:
    """Predict a table.

    Returns:
        (rows,); with several outputs (rows, outputs); for leaves (rows, trees). Of an array on a
        GPU, an array of the same library there.
    """
    array = find_device_array(data)
    if array is not None:
        on_gpu: npt.NDArray[Any] = _predict_array(model, array, options)
        return on_gpu
    refuse_row(data)
    data = whole_table(data)
    blocks = row_blocks(data)
    if blocks is None:
        return _predict(model, data, options)
    return np.concatenate([_predict(model, block, options) for block in blocks])


def _predict(model: Model, data: object, options: PredictOptions) -> npt.NDArray[Any]:
    table = options.table_of(model, data)
    values, n_rows = table.values, table.n_rows
    k = model.objective.n_outputs
    first, last = options.rounds_of(model)
    first_tree, last_tree = tree_range(model, options)
    n_trees = last_tree - first_tree
    n_threads = resolve_threads(options.num_threads, n_rows, n_trees)
    is_sparse_table = isinstance(values, _native.SparseMatrix)
    on_gpu = device_predictor(
        model, options, (first_tree, last_tree), n_rows, is_sparse=is_sparse_table
    )
    if options.pred_leaf:
        leaves = np.empty(n_rows * n_trees, dtype=np.int32)
        for part, at in with_derived(model, values, n_threads):
            found = leaves[at.start * n_trees : at.stop * n_trees]
            if on_gpu is not None:
                on_gpu.find_host_leaves(np.asarray(part), found)
            else:
                model.forest.native.predict_leaves(part, first_tree, last_tree, found, n_threads)
        return leaves.reshape(n_rows, n_trees)
    start = model.start_from(first)
    score = np.tile(np.zeros_like(start) if model.average_output else start, n_rows)
    stop = options.early_stop
    if stop is not None and (
        model.average_output or not model.objective.traits.can_be_clear or first == last
    ):
        stop = None
    for part, at in with_derived(model, values, n_threads):
        out = score[at.start * k : at.stop * k]
        if on_gpu is not None:
            on_gpu.add_host_scores(np.asarray(part), out)
        elif stop is None:
            model.forest.native.predict(part, first_tree, last_tree, out, n_threads)
        else:
            _predict_until_clear(model, part, (first_tree, last_tree), stop, out, n_threads)
    if model.average_output:
        score = (score.reshape(n_rows, k) / max(last - first, 1) + start).ravel()
    rows = score.reshape(n_rows, k) if k > 1 else score
    if options.raw_score or not model.objective.has_link:
        return rows
    return _apply_link(model, rows, n_threads)


def _apply_link(model: Model, rows: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
    # Objectives take scores class after class.
    class_major = np.ascontiguousarray(rows.T).ravel() if rows.ndim > 1 else rows
    return model.objective.to_predictions(class_major, n_threads)


def _predict_array(model: Model, array: DeviceArray, options: PredictOptions) -> Any:
    """Predict an array on its GPU, or on the host where the GPU cannot do it."""
    from gossamer.cuda.predict_records import LINKS  # only predictions on a GPU wait for it

    if not options.disable_shape_check:
        _check_width(int(array.as_record()["n_columns"]), model)
    refuse_numbers(model.times, model.names)
    is_plain = model.levels is None and model.derived is None and why_not(model, options) is None
    if options.device_type == "cpu" or not is_plain:
        if options.device_type == "cuda":
            raise refusal(why_not(model, options) or "text columns or target statistics")
        found = _predict(model, to_host(array), replace(options, device_type="cpu"))
        return upload_like(array, found)
    objective = model.objective
    if options.pred_leaf or options.raw_score or not objective.has_link:
        return in_kind_of(array.owner, predict_array(model, array, options))
    if objective.traits.link in LINKS:
        link = (objective.traits.link, float(objective.sigmoid))
        return in_kind_of(array.owner, predict_array(model, array, options, link))
    raw = np.asarray(predict_array(model, array, options))
    n_threads = resolve_threads(options.num_threads, array.n_rows, model.objective.n_outputs)
    return upload_like(array, _apply_link(model, raw, n_threads))


def _names_device(kwargs: Mapping[str, Any]) -> bool:
    return any(CANONICAL.get(name) == "device_type" for name in kwargs)


def tree_range(model: Model, options: PredictOptions) -> tuple[int, int]:
    """Return the first tree of a prediction, and the one after the last."""
    first, last = options.rounds_of(model)
    return first * model.forest.trees_per_round, last * model.forest.trees_per_round


def _predict_until_clear(
    model: Model,
    values: Values,
    trees: tuple[int, int],
    stop: EarlyStop,
    out: npt.NDArray[np.float64],
    n_threads: int,
) -> None:
    native, (first, last) = model.forest.native, trees
    every = stop.every * model.forest.trees_per_round
    if not isinstance(values, _native.SparseMatrix):
        native.predict_until_clear(values, first, last, every, stop.margin, out, n_threads)
        return
    rows = out.reshape(values.n_rows, -1)
    score = rows.copy()
    goes_on = np.ones(len(rows), dtype=np.bool_)
    for begin in range(first, last, every):
        native.predict(values, begin, min(begin + every, last), score.ravel(), n_threads)
        rows[goes_on] = score[goes_on]
        goes_on &= ~stop.is_clear(score)
        if not goes_on.any():
            return


def with_derived(model: Model, values: Values, n_threads: int) -> Iterator[tuple[Values, slice]]:
    """Rows of a table with all columns that the trees know, in blocks where some are derived."""
    n_rows = values.n_rows if isinstance(values, _native.SparseMatrix) else len(values)
    if model.derived is None:
        yield values, slice(0, n_rows)
        return
    is_wide = isinstance(values, _native.SparseMatrix)
    # A sparse table may be wide: few of its rows are made dense at a time.
    step = min(_BLOCK, max(_DENSE_VALUES // model.n_columns, 1)) if is_wide else _BLOCK
    for begin in range(0, n_rows, step):
        rows = slice(begin, min(begin + step, n_rows))
        if isinstance(values, _native.SparseMatrix):
            part = _of_width(to_dense(values, rows), model.n_columns)
        else:
            part = values[rows]
        yield np.hstack([part, model.derived.encode(part, n_threads)]), rows


def predict_scores(
    model: Model,
    data: object,
    rows: npt.NDArray[np.int64] | None = None,
    num_threads: int = 0,
    header: bool | None = None,
) -> npt.NDArray[np.float64]:
    """Return the raw scores of a table, class-major as in training.

    In addition to the result, only the scores of a block of rows are in memory.

    Args:
        model: The model.
        data: The user's table, or a `Table`.
        rows: Rows of it, in this order; None: all.
        num_threads: As the parameter.
        header: Whether the first line of text files has names; None: found out.

    Example:
        >>> from gossamer.objectives import objective_from_config
        >>> from gossamer.tree import Forest
        >>> objective = objective_from_config({"name": "multiclass", "num_class": 2})
        >>> model = Model(objective, ["a"], np.array([1.0, 2.0]), Forest.from_trees([], 2, 1), {})
        >>> predict_scores(model, [[0.0], [0.0], [0.0]])
        array([1., 1., 1., 2., 2., 2.])
    """
    data = to_host(data)
    k, n_trees = model.objective.n_outputs, model.forest.n_trees
    source = None if isinstance(data, Table) else find_chunks_of(model, data, header)
    if source is not None:
        parts = by_chunks(model, source, lambda t: predict_scores(model, t, None, num_threads))
        scores = np.concatenate([part.reshape(k, -1) for part in parts], axis=1)
        return (scores if rows is None else scores[:, rows]).ravel()
    table = fitting_table(model, data, disable_shape_check=False)
    n_rows = table.n_rows if rows is None else len(rows)
    n_threads = resolve_threads(num_threads, n_rows, max(n_trees, 1))
    values = table.values
    if isinstance(values, _native.SparseMatrix):
        if rows is not None:
            values = by_row(read_sparse(table.matrix[rows]))
        score = np.tile(model.start, n_rows)
        for part, at in with_derived(model, values, n_threads):
            out = score[at.start * k : at.stop * k]
            model.forest.native.predict(part, 0, n_trees, out, n_threads)
        return np.ascontiguousarray(score.reshape(n_rows, k).T).ravel() if k > 1 else score
    out = np.empty((k, n_rows))
    for begin in range(0, n_rows, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        part = values[block] if rows is None else values[rows[block]]
        score = np.tile(model.start, len(part))
        ((wide, _),) = with_derived(model, part, n_threads)
        model.forest.native.predict(wide, 0, n_trees, score, n_threads)
        out[:, block] = score.reshape(len(part), k).T
    return out.ravel()


def fitting_table(
    model: Model,
    data: Any,
    disable_shape_check: bool = False,
    validate_features: bool | None = None,
) -> Table:
    """Return the table with the columns of the training data, in their order; sparse: by row.

    Args:
        model: The model.
        data: The user's table, or a `Table`.
        disable_shape_check: Whether to ignore further columns, and take absent ones as missing.
        validate_features: Where both sides have names: None: columns are found by name; True: they
            must also be in the order of the training data; False: columns are taken by position.

    Raises:
        DataError: If the columns differ from the training data's.
    """
    data = to_host(data)
    if isinstance(data, Dataset):
        raise DataTypeError.because(
            "a Dataset cannot be predicted", hint="Pass the table itself to predict()."
        )
    refuse_row(data)
    if isinstance(data, bytes) or names_files(data):
        raise NotSupportedError.because(
            "only predict() reads files",
            got=data,
            hint="Load the file into an array or a frame first.",
        )
    if disable_shape_check:
        data = first_columns(data, model.n_columns)
    elif isinstance(data, np.ndarray) and data.ndim == 2:
        _check_width(data.shape[1], model)  # before its columns are read as the model's
    if not (isinstance(data, Table) or is_sparse(data)):
        data = as_known(data)
    names, order = None, None
    found = data.names if isinstance(data, Table) else names_of(data)
    if found is not None and not disable_shape_check and validate_features is not False:
        names = model.names_for(found)
        if names is not None:
            if validate_features:
                check_order(names, found)
            order = match_names(names, found)
    table = as_table(data, model.levels or NO_LEVELS, names)
    if order is not None:
        table = table.take_columns(order, names)
    columns = () if model.levels is None else model.levels.columns
    check_times(model.times, table.times, table.values, model.names, columns)
    if not disable_shape_check:
        _check_width(table.n_columns, model)
    if isinstance(table.values, _native.SparseMatrix):
        return Table(by_row(table.values))  # of any width: the native forest sees to it
    return Table(_of_width(table.values, model.n_columns))


def refuse_row(data: Any) -> None:
    """Raise if this is a single row: a dict of single values, or a series.

    Example:
        >>> refuse_row({"age": 20, "height": 1.8})
        Traceback (most recent call last):
        ...
        gossamer.errors.DataError: this is a single row: got 'dict', expected a table of rows. \
Booster.predictor() predicts single rows: predict_row = booster.predictor(); predict_row(row).
    """
    if is_sparse(data):  # some of scipy's matrices are dicts
        return
    is_row = isinstance(data, Mapping) and bool(data) and all(map(_is_single, data.values()))
    is_series = hasattr(data, "to_frame") and len(getattr(data, "shape", ())) == 1
    if is_row or is_series:
        column = " If it is a column, pass series.to_frame()." if is_series else ""
        raise DataError.because(
            "this is a single row" if is_row else "this is a series, not a table",
            got=type(data).__name__,
            expected="a table of rows",
            hint="Booster.predictor() predicts single rows: predict_row = booster.predictor(); "
            f"predict_row(row).{column}",
        )


def _is_single(value: object) -> bool:
    return isinstance(value, (str, bytes)) or not hasattr(value, "__len__")


def _check_width(n_columns: int, model: Model) -> None:
    if n_columns != model.n_columns:
        raise DataError.because(
            "the number of columns differs from the training data's",
            got=n_columns,
            expected=str(model.n_columns),
            hint="predict_disable_shape_check=True ignores further columns and takes "
            "absent ones as missing.",
        )


def _of_width(values: npt.NDArray[Any], n_columns: int) -> npt.NDArray[Any]:
    """Ignore further columns, and add absent ones as missing."""
    if values.shape[1] >= n_columns:
        return values[:, :n_columns]
    padded = np.full((len(values), n_columns), np.nan)
    padded[:, : values.shape[1]] = values
    return padded
