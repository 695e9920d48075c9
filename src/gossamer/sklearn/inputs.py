"""Checks of what is handed to `fit` and `predict`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_X_y,
    column_or_1d,
    validate_data,
)

from gossamer.cuda.arrays import find_device_array, to_host
from gossamer.data import Dataset, Table, as_table
from gossamer.data.categories.levels import NO_LEVELS, Levels
from gossamer.data.labels.named_columns import keep_columns
from gossamer.data.table.frames import frame_names, is_frame, is_numeric
from gossamer.data.table.names import check_names
from gossamer.data.table.sparse import is_sparse, to_compressed_rows
from gossamer.data.table.table_kinds import as_known
from gossamer.errors import DataError, GossamerError, ParameterError, shorten
from gossamer.model.prediction.predict import refuse_row
from gossamer.sklearn.class_weight import weigh_by_class
from gossamer.sklearn.fields_in_table import Parts, leave_out, refuse_path
from gossamer.sklearn.fit_options import FitOptions

Array = npt.NDArray[Any]
# An array, one of scipy's sparse matrices in a format of _AS_IT_IS, or a Table with levels.
Matrix = Any
# Turns the labels of a data set into numbers; the second argument is its name.
Encode = Callable[[Any, str], Array]
# Formats of sparse matrices that are passed on without a copy.
_AS_IT_IS: Final = ("csr", "csc")
_FLOATS: Final = (np.dtype(np.float64), np.dtype(np.float32))


def check_rows(
    estimator: Any, x: Any, levels: Levels | None = None, validate_features: bool | None = None
) -> Matrix:
    """Check rows to predict or to evaluate against those the estimator was fitted on.

    Args:
        estimator: Knows how many columns there are, and their names.
        x: The rows.
        levels: The training data's levels.
        validate_features: None: columns of frames are taken by name, in any order. True: they must
            also be in the order of the training data. False: they are taken by position.
    """
    if not levels and _is_fitting(estimator, x):
        return x
    array = find_device_array(x)
    if array is not None:
        return array  # the booster checks its columns
    refuse_row(x)
    x = as_frame(leave_out(x, getattr(estimator, "_named_columns", ())))
    if validate_features is False and is_frame(x):
        return replace(as_table(x, levels or NO_LEVELS), names=None)
    if validate_features is None:
        x = _in_order(x, getattr(estimator, "feature_names_in_", None))
    try:
        if levels or has_levels(x):
            x = _as_array_of_objects(x)
            validate_data(estimator, x, reset=False, skip_check_array=True)
            # Names are checked by now, and the model may know the columns by others.
            return replace(as_table(x, levels or NO_LEVELS), names=None)
        return validate_data(
            estimator, _prepare(x), reset=False, accept_sparse=_AS_IT_IS, ensure_all_finite=False
        )
    except GossamerError:
        raise
    except ValueError as error:  # scikit-learn's words, as an error of ours
        raise DataError(str(error)) from None


def _in_order(x: Any, names: Array | None) -> Any:
    """Return a frame that has these columns in another order in this one; others as they are."""
    if names is None or not is_frame(x):
        return x
    there = frame_names(x)
    is_same_set = len(there) == len(names) and set(there) == set(names)
    if not is_same_set or list(names) == there:
        return x
    return keep_columns(x, [there.index(name) for name in names])


def _is_fitting(estimator: Any, x: Any) -> bool:
    """Whether rows have all that scikit-learn would look for.

    Its look takes ten times as long as the prediction of a row.
    """
    return (
        type(x) is np.ndarray
        and x.ndim == 2
        and x.dtype in _FLOATS
        and len(x) > 0
        and x.shape[1] == estimator.n_features_in_
        and "feature_names_in_" not in vars(estimator)  # it warns where names are gone
    )


def check_training(
    estimator: Any, x: Any, y: Any, *, y_numeric: bool, survival: bool = False
) -> tuple[Matrix, Array]:
    """Check training data; the estimator remembers the number and the names of its columns.

    Labels of survival data may have two columns, infinite bounds, or be records: the data set
    checks them.

    Returns:
        What the rows are, a `Table` where some columns are text or categories; the labels.
    """
    array, y = find_device_array(x), to_host(y)
    if array is not None:
        # scikit-learn's checks know arrays of the host only: a column stands for all of them.
        array.as_record()
        column = np.zeros((array.n_rows, 1))
        _, labels = check_training(estimator, column, y, y_numeric=y_numeric, survival=survival)
        estimator.n_features_in_ = array.shape[1]
        return array, labels
    x = as_frame(x)
    if is_frame(x):
        check_names(names := frame_names(x), len(names))
    checks = {"accept_sparse": _AS_IT_IS, "ensure_all_finite": False}
    of_labels = {"y_numeric": y_numeric, "multi_output": has_columns(y)}
    if has_levels(x):
        x = _as_array_of_objects(x)
        table = as_table(x)
        validate_data(estimator, x, skip_check_array=True)
        if survival:
            return table, check_times(y, table)
        return table, _as_array(check_X_y(table.values, y, **checks, **of_labels)[1])
    if survival:
        values = validate_data(estimator, _prepare(x), **checks)
        return values, check_times(y, values)
    values, labels = validate_data(estimator, _prepare(x), y, **checks, **of_labels)
    return values, _as_array(labels)


def as_frame(x: Any) -> Any:
    """Return columns by name, and other tables that scikit-learn does not know, as a frame.

    Raises:
        DataError: If there is no library of data frames to make one with, or it is a path.
    """
    if is_sparse(x):
        return x
    refuse_path(x)
    x = as_known(x)
    if not isinstance(x, Mapping):
        return x
    import narwhals

    for library in ("pandas", "polars", "pyarrow"):
        if importlib.util.find_spec(library) is not None:
            try:
                return narwhals.from_dict(dict(x), backend=library).to_native()
            except (TypeError, ValueError) as error:
                raise DataError.because(
                    f"the columns cannot be used ({shorten(error)})",
                    expected="a list or an array of the same length for each name",
                ) from None
    raise DataError.because(
        "estimators need a library of data frames for columns by name",
        got=type(x).__name__,
        hint="pip install pandas, or pass an array.",
    )


def has_levels(x: Any) -> bool:
    """Whether a table has columns of text or of categories.

    Example:
        >>> has_levels([["a", 1.0]]), has_levels([[1.0]]), has_levels(np.array([[None, 1.0]]))
        (True, False, False)
    """
    if is_sparse(x):
        return False
    if is_frame(x):
        dtypes = x.dtypes if hasattr(x, "dtypes") else [None]
        return not all(is_numeric(dtype) for dtype in dtypes)
    if isinstance(x, (list, tuple)):
        return any(isinstance(v, str) for row in x if isinstance(row, (list, tuple)) for v in row)
    dtype = getattr(x, "dtype", None)
    if not isinstance(x, np.ndarray) or x.ndim != 2 or dtype is None:
        return False
    return dtype.kind in "UT" or (dtype.kind == "O" and any(isinstance(v, str) for v in x.flat))


def _as_array_of_objects(x: Any) -> Any:
    """Lists become arrays, which scikit-learn can count the columns of."""
    return np.array(x, dtype=object) if isinstance(x, (list, tuple)) else x


def has_columns(y: Any) -> bool:
    """Whether labels have several columns.

    Example:
        >>> has_columns([[0, 1], [1, 1]]), has_columns([0, 1]), has_columns([[0], [1]])
        (True, False, False)
    """
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # rows of different length: whoever checks them says so
        return False
    return len(shape) == 2 and shape[1] > 1


def check_eval_labels(y: Any) -> Array:
    """Check the labels of an evaluation set: one per row, or rows x targets."""
    if has_columns(y):
        return _as_array(check_array(y, accept_sparse="csr", dtype=None, input_name="eval_set y"))
    labels: Array = column_or_1d(y, warn=True)
    return labels


def _as_array(labels: Any) -> Array:
    """Labels of several columns may be sparse."""
    dense: Array = labels.toarray() if is_sparse(labels) else labels
    return dense


def check_times(y: Any, values: Matrix) -> Array:
    """Return labels of survival data, of any shape, as many as there are rows."""
    labels = np.asarray(y)
    n_rows = values.n_rows if isinstance(values, Table) else values.shape[0]
    if labels.ndim == 0 or len(labels) != n_rows:
        raise DataError.because(
            "y and X differ in length",
            got=len(labels) if labels.ndim else "a single value",
            expected=f"{n_rows}, one per row of X",
        )
    return labels


def _prepare(x: Any) -> Any:
    """See to what scikit-learn does not.

    Sparse matrices of other formats are converted here, where their parts are checked first. Frames
    of sparse columns that leave out something else than zeros are made dense.
    """
    dtypes = x.dtypes if is_frame(x) and hasattr(x, "dtypes") else ()
    if any(getattr(dtype, "fill_value", 0) != 0 for dtype in dtypes):
        return x.sparse.to_dense() if hasattr(x, "sparse") else x
    if is_sparse(x) and len(x.shape) == 2 and x.format not in _AS_IT_IS:
        return to_compressed_rows(x)
    return x


def check_weight(
    sample_weight: Any, class_weight: Any, y: Array, values: Matrix, classes: Any = None
) -> Array | None:
    """Return the weight of each row: its own times its class's; None: all count the same."""
    weight: Array | None = None
    if sample_weight is not None:
        matrix = values.matrix if isinstance(values, Table) else values
        weight = _check_sample_weight(sample_weight, matrix, ensure_non_negative=True)
    if class_weight is not None:
        by_class = weigh_by_class(class_weight, y, classes)
        weight = by_class if weight is None else weight * by_class
    return weight


class TrainingRows(NamedTuple):
    """What there is one of per row of the training data."""

    values: Matrix
    label: Array
    weight: Array | None
    init_score: Any

    def that_count(self) -> TrainingRows:
        """Leave out rows of weight zero: to scikit-learn they are as good as not there.

        Kept, they would count in `min_child_samples` and in the bins.

        Example:
            >>> rows = TrainingRows(np.eye(3), np.arange(3), np.array([1, 0, 2]), None)
            >>> rows.that_count().label
            array([0, 2])
        """
        if self.weight is None or self.weight.all():
            return self
        keep = np.flatnonzero(self.weight)
        if len(keep) == 0:
            raise DataError.because(
                "sample_weight or class_weight is zero for every row",
                expected="at least one row that counts",
            )
        init_score = self.init_score
        if init_score is not None:
            init_score = np.asarray(init_score)
            if len(init_score) != len(self.label) and init_score.size % len(self.label) == 0:
                init_score = init_score.reshape(-1, len(self.label)).T  # class after class
            init_score = init_score[keep]
        values = to_host(self.values)
        values = values.take_rows(keep) if isinstance(values, Table) else values[keep]
        return TrainingRows(values, self.label[keep], self.weight[keep], init_score)


@dataclass(frozen=True)
class EvalSets:
    """The `eval_...` arguments of `fit`, one of each per evaluation set."""

    pairs: list[tuple[Any, Any]]
    names: list[Any]  # None: by default
    weights: list[Any]
    class_weights: list[Any]
    init_scores: list[Any]
    groups: list[Any]
    queries: list[Any]

    @classmethod
    def read(cls, options: FitOptions) -> EvalSets:
        """Bring the arguments into one shape.

        Raises:
            ParameterError: If they contradict each other, or are not one per evaluation set.
        """
        pairs = _read_pairs(options["eval_set"], options["eval_X"], options["eval_y"])
        n_sets = len(pairs)
        names = options["eval_names"]
        return cls(
            pairs,
            _per_set("eval_names", [names] if isinstance(names, str) else names, n_sets),
            _per_set("eval_sample_weight", options["eval_sample_weight"], n_sets),
            _per_set("eval_class_weight", options["eval_class_weight"], n_sets),
            _per_set("eval_init_score", options["eval_init_score"], n_sets),
            _per_set("eval_group", options["eval_group"], n_sets),
            _per_set("eval_query", options["eval_query"], n_sets),
        )

    def build(
        self,
        estimator: Any,
        train: tuple[Any, Any],
        train_set: Dataset,
        encode: Encode,
        take_columns: Callable[..., Parts],
        is_survival: bool,
    ) -> tuple[list[Dataset], list[str]]:
        """Make the data sets and their names.

        Args:
            estimator: Knows how many columns there are, and their names.
            train: X and y of the training: a pair that is the same becomes `train_set`.
            train_set: The training data.
            encode: Turns labels into numbers.
            take_columns: Takes out the columns of a table that are given by name.
            is_survival: Whether labels are times, or bounds of them.
        """
        sets, names = [], []
        how = (estimator, train_set, encode, take_columns, is_survival)
        for i, (x, y) in enumerate(self.pairs):
            is_train = x is train[0] and y is train[1]
            name = self.names[i] or ("training" if is_train else f"valid_{i}")
            names.append(str(name))
            sets.append(train_set if is_train else self._build_one(i, *how))
        return sets, names

    def _build_one(
        self,
        i: int,
        estimator: Any,
        train_set: Dataset,
        encode: Encode,
        take_columns: Callable[..., Parts],
        is_survival: bool,
    ) -> Dataset:
        training = train_set.data
        levels = training.levels if isinstance(training, Table) else None
        parts = take_columns(
            self.pairs[i][0],
            y=self.pairs[i][1],
            sample_weight=self.weights[i],
            init_score=self.init_scores[i],
            group=self.groups[i],
            query=self.queries[i],
        )
        given = parts.fields
        values = check_rows(estimator, parts.table, levels)
        y = given["y"]
        labels = check_times(y, values) if is_survival else check_eval_labels(y)
        classes = getattr(estimator, "classes_", None)
        weight = check_weight(
            given["sample_weight"], self.class_weights[i], labels, values, classes
        )
        return train_set.create_valid(
            values,
            encode(labels, str(self.names[i] or f"valid_{i}")),
            weight=weight,
            init_score=given["init_score"],
            group=given["group"],
            query=given["query"],
        )


def _read_pairs(eval_set: Any, eval_x: Any, eval_y: Any) -> list[tuple[Any, Any]]:
    if eval_set is not None and (eval_x is not None or eval_y is not None):
        raise ParameterError.because(
            "evaluation data is given twice", expected="eval_set, or eval_X and eval_y"
        )
    if (eval_x is None) != (eval_y is None):
        raise ParameterError.because(
            "only one of eval_X and eval_y is given",
            got="eval_y" if eval_x is None else "eval_X",
            expected="both",
        )
    if eval_x is not None:
        several = isinstance(eval_x, tuple)
        if several != isinstance(eval_y, tuple) or (several and len(eval_x) != len(eval_y)):
            raise ParameterError.because(
                "eval_X and eval_y do not match",
                expected="one table and its labels, or two tuples of the same length",
            )
        return list(zip(eval_x, eval_y, strict=True)) if several else [(eval_x, eval_y)]
    # One pair need not be in a list.
    pairs = [eval_set] if isinstance(eval_set, tuple) and len(eval_set) == 2 else eval_set
    try:
        return [(valid_x, valid_y) for valid_x, valid_y in pairs or ()]
    except (TypeError, ValueError):
        raise ParameterError.because(
            "eval_set cannot be used", got=type(eval_set).__name__, expected="[(X, y), ...]"
        ) from None


def _per_set(name: str, values: Any, n_sets: int) -> list[Any]:
    """One value per evaluation set, from a list or from a dict by position."""
    if values is None:
        return [None] * n_sets
    if isinstance(values, Mapping):
        unknown = [key for key in values if key not in range(n_sets)]
        if unknown:
            raise ParameterError.because(
                f"{name} is given for an evaluation set that does not exist",
                got=unknown[0],
                expected=f"numbers below {n_sets}",
            )
        return [values.get(i) for i in range(n_sets)]
    if not isinstance(values, (list, tuple)) or len(values) != n_sets:
        got = len(values) if isinstance(values, (list, tuple)) else type(values).__name__
        raise ParameterError.because(
            f"{name} is not one per evaluation set",
            got=got,
            expected=f"a list of {n_sets}",
            hint="" if n_sets else "Pass eval_set as well.",
        )
    return list(values)
