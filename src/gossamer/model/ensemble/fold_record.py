"""`FoldRecord`: what an ensemble over folds knows about its members and the rows they held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.params import CANONICAL

_PREFIX: Final = "folds."
# Arrays of a model file: type and dimensions.
ARRAYS: Final[Mapping[str, tuple[Any, int]]] = {
    "round_begin": (np.int64, 1),
    "start": (np.float64, 2),
    "row_begin": (np.int64, 1),
    "row": (np.uint32, 1),
    "score": (np.float64, 2),
    "label": (np.float32, 2),
    "weight": (np.float32, 1),
}
_OPTIONAL: Final = ("weight",)
_MOST_MEMBERS: Final = 1_000_000


@dataclass(frozen=True, eq=False)
class FoldRecord:
    """Members of an ensemble, and their raw scores of the rows that they were not trained on.

    A *pair* is a row and a member that held it out; pairs come member after member, and the rows of
    a member increase. With repeated folds a row is in several pairs; some rows may be in none.

    Attributes:
        round_begin: int64 (members + 1): member m has the rounds `round_begin[m]` to before
            `round_begin[m + 1]` of the model.
        start: float64 (members, outputs): the raw scores that each member starts from.
        row_begin: int64 (members + 1): member m has the pairs `row_begin[m]` to before
            `row_begin[m + 1]`.
        row: uint32 (pairs): numbers of training rows.
        score: float64 (outputs, pairs): raw scores, with the data's `init_score`.
        label: float32 (targets, rows): labels of the training rows.
        weight: float32 (rows): their weights; None: every row counts 1.
        metrics: Metric -> its value over all rows that were held out.
        by_member: Metric -> its value on the held-out rows of each member; the same metrics.
        member_params: For each member the parameters in which it differs from the model's.
        has_init_score: Whether the training data had initial scores, which predictions lack.
        has_queries: Whether rows were grouped by query, so that they are not exchangeable.
    """

    round_begin: npt.NDArray[np.int64]
    start: npt.NDArray[np.float64]
    row_begin: npt.NDArray[np.int64]
    row: npt.NDArray[np.uint32]
    score: npt.NDArray[np.float64]
    label: npt.NDArray[np.float32]
    weight: npt.NDArray[np.float32] | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    by_member: Mapping[str, list[float]] = field(default_factory=dict)
    member_params: tuple[Mapping[str, Any], ...] = ()
    has_init_score: bool = False
    has_queries: bool = False

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.round_begin) - 1

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.label.shape[1])

    @property
    def member_of_pair(self) -> npt.NDArray[np.int64]:
        """The member of each pair."""
        return np.repeat(np.arange(self.n_members), np.diff(self.row_begin))

    def rows_of(self, member: int) -> npt.NDArray[np.uint32]:
        """Return the rows that a member held out."""
        return self.row[self.row_begin[member] : self.row_begin[member + 1]]

    def mean_scores(self) -> npt.NDArray[np.float64]:
        """Return the out-of-fold raw scores, (outputs, rows); NaN for rows never held out.

        Example:
            >>> record = FoldRecord(
            ...     *(np.array([0, 1]), np.zeros((1, 1)), np.array([0, 2]), np.array([0, 2])),
            ...     *(np.array([[0.5, 0.25]]), np.zeros((1, 3), np.float32)),
            ... )
            >>> record.mean_scores()
            array([[0.5 ,  nan, 0.25]])
        """
        counts = np.bincount(self.row, minlength=self.n_rows)
        sums = [np.bincount(self.row, each, minlength=self.n_rows) for each in self.score]
        with np.errstate(invalid="ignore"):
            return np.array(np.stack(sums) / counts)

    # ---- files ----

    def to_parts(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return the arrays and the fact of a model file; `from_parts` is the way back."""
        arrays = {f"{_PREFIX}{name}": getattr(self, name) for name in ARRAYS}
        arrays = {name: array for name, array in arrays.items() if array is not None}
        facts: dict[str, Any] = {"metrics": _plain(self.metrics)}
        facts["by_member"] = {name: list(map(_number, v)) for name, v in self.by_member.items()}
        if any(self.member_params):
            facts["member_parameters"] = [dict(params) for params in self.member_params]
        for name in ("has_init_score", "has_queries"):
            if getattr(self, name):
                facts[name] = True
        return arrays, facts

    @classmethod
    def from_parts(
        cls,
        arrays: Mapping[str, npt.NDArray[Any]],
        facts: Any,
        n_rounds: int,
        n_outputs: int,
        n_classes: int,
    ) -> FoldRecord:
        """Make it from what a model file has, and check it.

        Args:
            arrays: The arrays of the file.
            facts: What the file says about folds.
            n_rounds: Rounds of the model.
            n_outputs: Outputs of its objective.
            n_classes: Classes that labels must be numbers of; 0: labels are not classes.

        Raises:
            ValueError: If something is absent or does not fit.
        """
        own = {n.removeprefix(_PREFIX): a for n, a in arrays.items() if n.startswith(_PREFIX)}
        for name, (dtype, n_dims) in ARRAYS.items():
            if name not in own and name in _OPTIONAL:
                continue
            if name not in own or own[name].dtype != dtype or own[name].ndim != n_dims:
                raise ValueError(f"{_PREFIX}{name} is missing, or has a wrong type or shape")
        if not isinstance(facts, Mapping):
            raise ValueError("folds is not an object")
        record = cls(
            **{name: own.get(name) for name in ARRAYS},  # type: ignore[arg-type]
            metrics=_metrics(facts.get("metrics")),
            by_member=_by_member(facts.get("by_member"), len(own["round_begin"]) - 1),
            member_params=_member_params(facts.get("member_parameters"), len(own["round_begin"])),
            has_init_score=facts.get("has_init_score") is True,
            has_queries=facts.get("has_queries") is True,
        )
        if record.metrics.keys() != record.by_member.keys():
            raise ValueError("the folds and their members have different metrics")
        record._check(n_rounds, n_outputs)
        record._check_labels(n_classes)
        return record

    def _check(self, n_rounds: int, n_outputs: int) -> None:
        for begin, n_all in ((self.round_begin, n_rounds), (self.row_begin, len(self.row))):
            if len(begin) < 2 or begin[0] != 0 or begin[-1] != n_all:
                raise ValueError("members of the folds do not cover the model")
            if np.any(begin[1:] < begin[:-1]):
                raise ValueError("members of the folds are out of order")
        n_members = self.n_members
        if n_members > _MOST_MEMBERS or len(self.row_begin) != n_members + 1:
            raise ValueError("the number of members differs between arrays")
        if self.start.shape != (n_members, n_outputs):
            raise ValueError("there is not one start of each output for each member")
        if self.score.shape != (n_outputs, len(self.row)):
            raise ValueError("there is not one out-of-fold score for each row held out")
        if len(self.row) and int(self.row.max()) >= self.n_rows:
            raise ValueError("a row that was held out is not among the rows")
        if self.weight is not None and len(self.weight) != self.n_rows:
            raise ValueError("there is not one weight for each row")
        if not (np.isfinite(self.start).all() and np.isfinite(self.score).all()):
            raise ValueError("a score of the folds is not finite")
        if self.weight is not None and not (np.isfinite(self.weight) & (self.weight >= 0)).all():
            raise ValueError("a weight of the folds is not a number >= 0")

    def _check_labels(self, n_classes: int) -> None:
        if not len(self.label):  # else a few bytes could claim any number of rows
            raise ValueError("the rows of the folds have no labels")
        if np.isnan(self.label).any():
            raise ValueError("a label of the folds is not a number")
        if n_classes and not np.isin(self.label, np.arange(n_classes)).all():
            raise ValueError("a label of the folds is not a class")


def _number(value: float) -> float | str:
    return float(value) if np.isfinite(value) else str(float(value))  # JSON has no infinity


def _plain(values: Mapping[str, float]) -> dict[str, float | str]:
    return {name: _number(value) for name, value in values.items()}


def _read_number(value: Any) -> float:
    if type(value) is str and value in ("inf", "-inf", "nan"):
        return float(value)
    if type(value) not in (int, float):
        raise ValueError("a metric of the folds is not a number")
    return float(value)


def _metrics(found: Any) -> dict[str, float]:
    if not isinstance(found, Mapping):
        raise ValueError("the metrics of the folds are not pairs of names and numbers")
    return {str(name): _read_number(value) for name, value in found.items()}


def _by_member(found: Any, n_members: int) -> dict[str, list[float]]:
    if not isinstance(found, Mapping) or not all(
        isinstance(values, list) and len(values) == n_members for values in found.values()
    ):
        raise ValueError("the folds do not have one metric for each member")
    return {str(name): [_read_number(v) for v in values] for name, values in found.items()}


def _member_params(found: Any, n_begins: int) -> tuple[Mapping[str, Any], ...]:
    if found is None:
        return ()
    if not isinstance(found, list) or len(found) != n_begins - 1:
        raise ValueError("there are not parameters for each member of the folds")
    if not all(isinstance(each, Mapping) and all(n in CANONICAL for n in each) for each in found):
        raise ValueError("a parameter of a member of the folds is not known")
    return tuple(found)
