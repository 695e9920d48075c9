"""What a data set has one of per row: labels, weights, queries, ..."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import RLock
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from gossamer.data.binned import BinnedTable
from gossamer.data.fields import (
    Targets,
    check_feature_weights,
    check_init_score,
    check_label,
    check_weight,
)
from gossamer.data.names import listing
from gossamer.data.queries import as_int32, check_group, check_position, check_query
from gossamer.errors import DataError, message

Self = TypeVar("Self", bound="RowFields")


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


class RowFields(ABC):
    """The fields of a `Dataset`: given as they are, checked when it is constructed."""

    label: Any
    weight: Any
    init_score: Any
    group: Any
    query: Any
    position: Any
    feature_weights: Any
    version: int
    _binned: BinnedTable | None
    _targets: Targets | None
    _is_in_chunks: bool
    _lock: RLock

    @abstractmethod
    def construct(self: Self) -> Self:
        """Bin the table and check everything else."""

    @abstractmethod
    def num_data(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def num_feature(self) -> int:
        """Return the number of columns."""

    @abstractmethod
    def get_feature_name(self) -> list[str]:
        """Return the names of the columns."""

    @abstractmethod
    def _forget_weighted_bins(self) -> None:
        """Weights are about to change."""

    def _set_fields(self) -> None:
        """Check and keep what there is one of per row."""
        for name, check in _CHECKS.items():
            values = getattr(self, name)
            if values is not None:
                setattr(self, name, check(values, self._length_of(name)))
        if self.query is not None:
            if self.group is not None:
                raise DataError(
                    message("queries are given twice", got="group and query", expected="one")
                )
            self.group, self.query = check_query(self.query, self.num_data()), None
        self._targets = None

    def _length_of(self, field: str) -> int:
        """How many numbers a field has."""
        return self.num_feature() if field == "feature_weights" else self.num_data()

    @property
    def targets(self) -> Targets:
        """Labels and weights; constructs the data set.

        Raises:
            DataError: If there are no labels.
        """
        self.construct()
        if self._targets is None:
            if self.label is None:
                hint = "Pass label, or call set_label()."
                if self._is_in_chunks:
                    names = listing(self.get_feature_name(), 20)
                    hint = f"Name a column: Dataset(..., label='...'). There are {names}."
                raise DataError(message("the data set has no label", hint=hint))
            several, n_rows = self.label.ndim == 2, self.num_data()
            self._targets = Targets(
                np.ascontiguousarray(self.label.T).reshape(-1) if several else self.label,
                self.weight,
                self.label.shape[1] if several else 1,
                None if self.group is None else _bounds(self.group),
                *((None, ()) if self.position is None else check_position(self.position, n_rows)),
            )
        return self._targets

    def set_field(self: Self, field_name: str, data: Any) -> Self:
        """Set "label", "weight", "init_score", "group" (sizes), "query" (ids) or "position".

        "feature_weights" has one number >= 0 per column: how likely it is to be drawn when features
        are sampled.
        """
        if isinstance(field_name, str) and field_name == "query":
            return self.set_query(data)
        name = _known_field(field_name)
        with self._lock:
            if self._binned is not None and data is not None:
                data = _CHECKS[name](data, self._length_of(name))
            if name == "weight":
                self._forget_weighted_bins()
            setattr(self, name, data)
            if name == "group":
                self.query = None
            self._targets = None
            self.version += 1
        return self

    def get_field(self, field_name: str) -> npt.NDArray[Any] | None:
        """Return "label", "weight", "init_score", "position" or "feature_weights", or None.

        "group" gives where queries begin, and behind the last one the number of rows.
        """
        name = _known_field(field_name)
        self.construct()
        values: npt.NDArray[Any] | None = getattr(self, name)
        if name == "group" and values is not None:
            return as_int32(_bounds(values))
        return values

    def set_label(self: Self, label: Any) -> Self:
        """Set the labels: one number per row, or rows x targets."""
        return self.set_field("label", label)

    def get_label(self) -> Any:
        """Return the labels; float32 once constructed."""
        return self.label

    def set_weight(self: Self, weight: Any) -> Self:
        """Set the weights, one number >= 0 per row; None: every row counts 1."""
        return self.set_field("weight", weight)

    def get_weight(self) -> Any:
        """Return the weights, or None; float32 once constructed."""
        return self.weight

    def set_init_score(self: Self, init_score: Any) -> Self:
        """Set the scores to start from; None: the best constant."""
        return self.set_field("init_score", init_score)

    def get_init_score(self) -> Any:
        """Return the scores to start from, or None."""
        return self.init_score

    @property
    def first_scores(self) -> npt.NDArray[np.float64] | None:
        """The scores to start from, class after class; None: there are none. Constructs.

        Example:
            >>> from gossamer import Dataset
            >>> Dataset([[1.0], [2.0]], init_score=[[0, 10], [1, 11]]).first_scores
            array([ 0.,  1., 10., 11.])
        """
        values = self.get_field("init_score")
        return None if values is None else values.ravel(order="F")

    def set_group(self: Self, group: Any) -> Self:
        """Set the queries by their numbers of rows; None: rows are not grouped."""
        return self.set_field("group", group)

    def get_group(self) -> Any:
        """Return the number of rows of each query, or None; int32 once constructed."""
        if self._binned is None and self.query is not None:
            self.construct()
        return self.group

    def set_query(self: Self, query: Any) -> Self:
        """Set the queries by one id per row; rows of a query stand together.

        Example:
            >>> from gossamer import Dataset
            >>> data = Dataset([[1.0], [2.0], [3.0]]).set_query(["a", "a", "b"]).construct()
            >>> data.get_group()
            array([2, 1], dtype=int32)
        """
        with self._lock:
            if self._binned is not None and query is not None:
                return self.set_group(check_query(query, self.num_data()))
            self.set_group(None).query = query
        return self

    def set_position(self: Self, position: Any) -> Self:
        """Set where each row was shown, a number or a name per row; None: not known."""
        return self.set_field("position", position)

    def get_position(self) -> Any:
        """Return where each row was shown, or None."""
        return self.position


def _bounds(sizes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return where queries begin, and behind the last one the number of rows."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def _known_field(name: str) -> str:
    if isinstance(name, str) and name in _CHECKS:
        return name
    raise DataError(message("there is no such field", got=name, expected=", ".join(_CHECKS)))
