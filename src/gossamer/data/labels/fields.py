"""Labels, weights and initial scores: checked, and of the types the native core takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.table.matrix import without_mask
from gossamer.errors import DataError, message
from gossamer.logger import warn

# Labels that lie within fewer steps of float32 are said to lose precision.
_FEWEST_STEPS: Final = 1000
_SMALL: Final = 1e-30  # near the end of its range, where a constant is not to blame


@dataclass(frozen=True, eq=False)
class Targets:
    """What the rows should be predicted as, and how much each counts.

    Attributes:
        label: float32, one per row; with several targets, target by target: the label of row i for
            target k is `label[k * n_rows + i]`.
        weight: float32, one per row; None: every row counts 1.
        n_targets: Labels per row.
        queries: int64; rows `queries[q]` to before `queries[q + 1]` belong to query q. None: rows
            are not grouped.
        position: int32, one per row: where it was shown, as a number from 0 into `positions`. None:
            not known.
        positions: The distinct positions, as the user gave them.
    """

    label: npt.NDArray[np.float32]
    weight: npt.NDArray[np.float32] | None = None
    n_targets: int = 1
    queries: npt.NDArray[np.int64] | None = None
    position: npt.NDArray[np.int32] | None = None
    positions: tuple[Any, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.label) // self.n_targets

    def target(self, k: int) -> Targets:
        """Return the labels of one target alone, with everything else.

        Example:
            >>> both = Targets(np.array([0, 1, 10, 11], dtype=np.float32), n_targets=2)
            >>> both.target(1).label
            array([10., 11.], dtype=float32)
        """
        return self._by_target[k]

    @cached_property
    def _by_target(self) -> tuple[Targets, ...]:
        """Made once: total weights are then added up once as well."""
        if self.n_targets == 1:
            return (self,)
        parts = self.label.reshape(self.n_targets, -1)
        return tuple(replace(self, label=label, n_targets=1) for label in parts)

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.n_rows if self.weight is None else self.weight.sum(dtype=np.float64))

    def average(self, values: npt.NDArray[Any]) -> float:
        """Weighted mean of one value per row."""
        if self.weight is None:
            return float(values.mean(dtype=np.float64))
        # Not a dot product: its last bits depend on the threads of the BLAS library.
        return float((values * self.weight.astype(np.float64)).sum() / self.total_weight)


def check_label(label: object, n_rows: int) -> npt.NDArray[np.float32]:
    """Return the labels as float32: one per row, or rows x targets.

    With exactly two columns the second may be infinite: the upper end of an interval. Objectives
    that take no intervals refuse that. Records of (event, time), as scikit-survival has them,
    become such intervals.

    Raises:
        DataError: If there are not as many finite numbers for every row.

    Example:
        >>> check_label([0, 1, 1], 3)
        array([0., 1., 1.], dtype=float32)
        >>> check_label([[0, 5], [1, 6]], 2)
        array([[0., 5.],
               [1., 6.]], dtype=float32)
    """
    values = _as_rows(_from_records(label), n_rows, "label", most_dims=2)
    converted = _to_float32(values)
    is_bad = ~np.isfinite(converted)
    if values.ndim == 2 and values.shape[1] == 2:
        is_bad[:, 1] &= ~np.isposinf(values[:, 1])
    if is_bad.any():
        hint = "Leave out rows without a label." if np.isnan(values[is_bad]).any() else ""
        raise _bad_value("label", values, is_bad, "finite numbers within float32", hint)
    _warn_if_rounded(values, converted)
    return converted


def _warn_if_rounded(values: npt.NDArray[Any], converted: npt.NDArray[np.float32]) -> None:
    """Say that labels far from zero lose what makes them different."""
    if values.ndim != 1 or values.dtype.itemsize < 4 or values.dtype == np.float32:
        return
    low, high = float(converted.min()), float(converted.max())
    largest = max(abs(low), abs(high))
    step = float(np.spacing(np.float32(largest)))
    if largest < _SMALL or step * _FEWEST_STEPS <= high - low or (values == converted).all():
        return
    if values.min() == values.max():
        return
    warn(
        message(
            f"labels from {values.min()} to {values.max()} lose precision: they are kept as "
            f"float32, here in steps of {step:g}",
            hint="Subtract a constant from the labels, and add it to the predictions.",
        )
    )


def check_weight(weight: object, n_rows: int) -> npt.NDArray[np.float32] | None:
    """Return the weights as float32; None stays None.

    Raises:
        DataError: If there is not one finite number >= 0 per row, or all of them are 0.

    Example:
        >>> check_weight([0.5, 2], 2)
        array([0.5, 2. ], dtype=float32)
    """
    if weight is None:
        return None
    values = _as_rows(weight, n_rows, "weight")
    converted = _to_float32(values)
    is_bad = ~np.isfinite(converted) | (converted < 0)
    if is_bad.any():
        raise _bad_value("weight", values, is_bad, "finite numbers >= 0")
    if not converted.any():
        raise DataError.because(
            "weight is 0 for every row", expected="at least one row that counts"
        )
    return converted


def check_feature_weights(weights: object, n_columns: int) -> npt.NDArray[np.float64] | None:
    """Return the sampling weights of the columns as float64; None stays None.

    Raises:
        DataError: If there is not one finite number >= 0 per column.

    Example:
        >>> check_feature_weights([1, 0.5], 2)
        array([1. , 0.5])
    """
    if weights is None:
        return None
    values = as_numbers(weights, "feature_weights")
    if values.shape != (n_columns,):
        raise DataError.because(
            f"feature_weights has shape {values.shape}",
            expected=f"one number per column: ({n_columns},)",
        )
    return check_not_negative(values.astype(np.float64), "feature_weights of column {}")


def check_not_negative(values: npt.NDArray[np.float64], what: str) -> npt.NDArray[np.float64]:
    """Return the values; `what` is the name of one of them, with {} for its place.

    Raises:
        DataError: If one of them is negative or not finite.

    Example:
        >>> check_not_negative(np.array([1.0, -2.0]), "weights[{}]")
        Traceback (most recent call last):
        ...
        gossamer.errors.DataError: weights[1] cannot be used: got -2.0, expected a finite ...
    """
    is_bad = ~(np.isfinite(values) & (values >= 0))
    if is_bad.any():
        place = int(np.argmax(is_bad))
        raise DataError.because(
            f"{what.format(place)} cannot be used",
            got=float(values[place]),
            expected="a finite number >= 0",
        )
    return values


def check_init_score(init_score: object, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Return initial scores as float64, class after class; None stays None.

    Args:
        init_score: One per row; or with several classes rows x classes, or that flattened class
            after class.
        n_rows: Rows of the data set.

    Raises:
        DataError: If the shape does not fit or a score is not finite.

    Example:
        >>> check_init_score([[0, 10], [1, 11], [2, 12]], 3)
        array([ 0.,  1.,  2., 10., 11., 12.])
    """
    if init_score is None:
        return None
    values = as_numbers(init_score, "init_score")
    fits = values.ndim in (1, 2) and values.size > 0
    if not fits or (values.size % n_rows if values.ndim == 1 else len(values) != n_rows):
        raise DataError.because(
            f"init_score has shape {values.shape}",
            expected=f"({n_rows},), ({n_rows}, classes) or ({n_rows} * classes,)",
        )
    flat = np.array(values.ravel(order="F"), dtype=np.float64)
    if not np.isfinite(flat).all():
        raise _bad_value("init_score", flat, ~np.isfinite(flat), "finite numbers")
    return flat


def _from_records(label: object) -> object:
    """Records of (whether there was an event, time) as intervals; anything else as it is."""
    kinds = getattr(label, "dtype", None)
    names = getattr(kinds, "names", None)
    if not isinstance(label, np.ndarray) or not names or len(names) != 2:
        return label
    event, time = (label[name] for name in names)
    if event.dtype != np.bool_ or time.dtype.kind not in "iuf":
        raise DataError.because(
            "label is made of records of unknown meaning",
            got=str(kinds),
            expected="(event: boolean, time: number)",
        )
    return np.column_stack([time, np.where(event, time, np.inf)])


def as_array(values: object, name: str) -> npt.NDArray[Any]:
    """Return values of any type as an array.

    Raises:
        DataError: If they cannot be one. Other libraries have errors of their own for it.

    Example:
        >>> as_array(["a", "b"], "query")
        array(['a', 'b'], dtype='<U1')
    """
    try:
        return np.asanyarray(values)
    except MemoryError:
        raise
    except Exception as error:
        raise DataError.because(f"{name} cannot be made an array ({error})") from error


def as_numbers(values: object, name: str) -> npt.NDArray[Any]:
    """Return an array of floats, integers or booleans.

    Args:
        values: What the user gave.
        name: What errors call it.

    Raises:
        DataError: If it is something else.

    Example:
        >>> as_numbers([1, 2], "weights")
        array([1, 2])
    """
    array = without_mask(as_array(values, name))
    if array.dtype.kind not in "biuf":
        raise DataError.because(
            f"{name} must be numeric",
            got=str(array.dtype),
            expected="floats, integers or booleans",
            hint="Encode classes as 0, 1, 2, ... first, for instance with codes, names = "
            "pandas.factorize(labels, sort=True). GossamerClassifier does that by itself for "
            "tables in memory, and `gossamer train` for files."
            if name == "label"
            else "",
        )
    return array


def one_per_row(values: object, n_rows: int, name: str) -> npt.NDArray[Any]:
    """Return an array of one value, of any type, per row.

    Raises:
        DataError: If there are more or fewer.

    Example:
        >>> one_per_row(["a", "b"], 2, "groups")
        array(['a', 'b'], dtype='<U1')
    """
    array = np.asarray(as_array(values, name))
    if array.shape != (n_rows,):
        raise DataError.because(
            f"{name} cannot be used",
            found=f"shape {array.shape}",
            expected=f"one value for each of the {n_rows} rows",
        )
    return array


def _as_rows(values: object, n_rows: int, name: str, most_dims: int = 1) -> npt.NDArray[Any]:
    """An array of one number per row, or with `most_dims` 2 of several."""
    array = as_numbers(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in range(1, most_dims + 1) or 0 in array.shape[1:]:
        shapes = f"({n_rows},)" + (f" or ({n_rows}, targets)" if most_dims > 1 else "")
        raise DataError.because(
            f"{name} has shape {array.shape}", expected=f"one number per row: {shapes}"
        )
    if len(array) != n_rows:
        raise DataError.because(
            f"{name} and data differ in length",
            got=len(array),
            expected=f"{n_rows}, one per row of the data",
        )
    return array


def _to_float32(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """A copy, so that changing the user's array later changes nothing here."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(values, dtype=np.float32, order="C")


def _bad_value(
    name: str,
    values: npt.NDArray[Any],
    is_bad: npt.NDArray[np.bool_],
    expected: str,
    hint: str = "",
) -> DataError:
    first = np.unravel_index(int(np.argmax(is_bad)), is_bad.shape)
    others = int(is_bad.sum()) - 1
    place = f"{name} of row {first[0]}" + (f", target {first[1]}" if is_bad.ndim > 1 else "")
    place += f" (and of {others} more)" if others else ""
    what = "is missing" if hint else "cannot be used"
    return DataError.because(
        f"{place} {what}", got=float(values[first]), expected=expected, hint=hint
    )
