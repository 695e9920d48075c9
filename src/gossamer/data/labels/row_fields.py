"""What a data set has one of per row (labels, weights, queries, ...), checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.labels.fields import (
    Targets,
    check_feature_weights,
    check_init_score,
    check_label,
    check_weight,
)
from gossamer.data.labels.queries import (
    as_int32,
    check_group,
    check_position,
    check_query,
    number_positions,
    take_queries,
)
from gossamer.errors import DataError


def _check_position(position: Any, n_rows: int) -> npt.NDArray[Any]:
    """Return positions as an array, once they are known to be usable."""
    check_position(position, n_rows)
    found = np.array(position).reshape(-1)
    return as_int32(found) if found.dtype.kind in "biu" else found


def _check_init_score(init_score: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Return scores to start from, one per row or rows x classes."""
    flat = check_init_score(init_score, n_rows)
    return flat if flat is None or len(flat) == n_rows else flat.reshape(-1, n_rows).T


_CHECKS: Final[dict[str, Callable[[Any, int], npt.NDArray[Any] | None]]] = {
    "label": check_label,
    "weight": check_weight,
    "init_score": _check_init_score,
    "group": check_group,
    "position": _check_position,
    "feature_weights": check_feature_weights,
}
_BY_ROW: Final = ("label", "weight", "init_score", "position")
# What a user may pass: "query" (one id per row) becomes "group" (rows of each query).
FIELDS: Final = (*_CHECKS, "query")


@dataclass(frozen=True, eq=False)
class RowFields:
    """The fields of the rows, checked; never changed.

    Attributes:
        label: float32 (rows,) or (rows, targets).
        weight: float32 (rows,).
        init_score: float64 (rows,) or (rows, classes): scores to start from.
        group: int32: the rows of each query.
        position: Where each row was shown, a number or a name.
    """

    label: npt.NDArray[np.float32] | None = None
    weight: npt.NDArray[np.float32] | None = None
    init_score: npt.NDArray[np.float64] | None = None
    group: npt.NDArray[Any] | None = None
    position: npt.NDArray[Any] | None = None

    @cached_property
    def targets(self) -> Targets | None:
        """Labels and weights as objectives take them; None: there are no labels."""
        if self.label is None:
            return None
        several, n_rows = self.label.ndim == 2, len(self.label)
        return Targets(
            np.ascontiguousarray(self.label.T).reshape(-1) if several else self.label,
            self.weight,
            self.label.shape[1] if several else 1,
            None if self.group is None else query_bounds(self.group),
            *((None, ()) if self.position is None else check_position(self.position, n_rows)),
        )

    @property
    def first_scores(self) -> npt.NDArray[np.float64] | None:
        """The scores to start from, class after class; None: there are none."""
        return None if self.init_score is None else self.init_score.ravel(order="F")

    def copy_rows(self, begin: int, end: int) -> RowFields:
        """Copy the fields of some rows, which are not grouped by query."""
        return self.map(lambda values: values[begin:end].copy())

    def map(self, function: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> RowFields:
        """Return the fields that a function makes of these; rows are not grouped by query."""
        assert self.group is None
        found = {name: getattr(self, name) for name in _BY_ROW}
        return RowFields(**{n: None if v is None else function(v) for n, v in found.items()})

    def take(self, rows: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Return the fields of some rows, which increase, by name."""
        found: dict[str, Any] = {}
        for name in _BY_ROW:
            values = getattr(self, name)
            found[name] = None if values is None else values[rows]
        found["group"] = None if self.group is None else take_queries(self.group, rows)
        return found


def check_field(name: str, values: Any, n_rows: int, n_columns: int) -> npt.NDArray[Any] | None:
    """Return the values of one field as an array.

    Raises:
        DataError: If they cannot be used.

    Example:
        >>> check_field("weight", [1, 2], 2, 1)
        array([1., 2.], dtype=float32)
    """
    if values is None:
        return None
    return _CHECKS[name](values, n_columns if name == "feature_weights" else n_rows)


def check_fields(
    given: Mapping[str, Any], n_rows: int, n_columns: int
) -> tuple[RowFields, npt.NDArray[np.float64] | None]:
    """Return the fields of the rows, and the weights of the columns.

    Args:
        given: What was passed, by name (`FIELDS`).
        n_rows: Number of rows.
        n_columns: Number of columns.

    Raises:
        DataError: If a field cannot be used, or queries are given twice.

    Example:
        >>> check_fields({"query": ["a", "a", "b"]}, 3, 1)[0].group
        array([2, 1], dtype=int32)
    """
    found = {name: check_field(name, given.get(name), n_rows, n_columns) for name in _CHECKS}
    query = given.get("query")
    if query is not None:
        if found["group"] is not None:
            raise DataError.because(
                "queries are given twice", found="group and query", expected="one"
            )
        found["group"] = check_query(query, n_rows)
    weights = found.pop("feature_weights")
    return RowFields(**found), weights


def query_bounds(sizes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return where queries begin, and after the last one the number of rows."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def known_field(name: str) -> str:
    """Return the name of a field that can be set and read.

    Raises:
        DataError: If there is no such field.
    """
    if isinstance(name, str) and name in _CHECKS:
        return name
    raise DataError.because("there is no such field", got=name, expected=", ".join(_CHECKS))


def shown_field(name: str, values: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
    """Return a field as LightGBM shows it: bounds of queries, and numbers of positions.

    Example:
        >>> shown_field("group", np.array([2, 3]))
        array([0, 2, 5], dtype=int32)
    """
    if values is None or name not in ("group", "position"):
        return values
    return as_int32(query_bounds(values) if name == "group" else number_positions(values))
