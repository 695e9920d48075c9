"""What kind of prediction a target asks for, and its classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from gossamer.data.table.columns import Level
from gossamer.data.table.names import listing
from gossamer.errors import DataError, ParameterError
from gossamer.params.traits import Kind, traits_of

TaskName = Literal["regression", "binary", "multiclass", "ranking"]
TASKS: Final = ("auto", "regression", "binary", "multiclass", "ranking")
Array = npt.NDArray[Any]

# Whole numbers of so many different values, or fewer, are classes.
_MOST_CODES: Final = 20
# Text with more distinct values is not a class, unless the user says that it is.
_MOST_NAMES: Final = 1000

_TITLE: Final = {
    "regression": "regression",
    "binary": "binary classification",
    "multiclass": "classification",
    "ranking": "ranking",
}
_TASK_OF: Final[dict[Kind, TaskName]] = {
    Kind.BINARY: "binary",
    Kind.MULTICLASS: "multiclass",
    Kind.RANKING: "ranking",
}
_OBJECTIVE: Final = {"binary": "binary", "multiclass": "multiclass", "ranking": "lambdarank"}
# The metrics that are shown; early stopping looks at the first.
_METRICS: Final = {
    "regression": ("rmse", "l1"),
    "binary": ("binary_logloss", "auc"),
    "multiclass": ("multi_logloss", "multi_error"),
    "ranking": ("ndcg",),
}


@dataclass(frozen=True)
class Task:
    """A kind of prediction.

    Attributes:
        name: Which one.
        reason: Why, as the end of a sentence.
        classes: What classes 0, 1, ... stand for; None: labels are numbers as they are.
    """

    name: TaskName
    reason: str
    classes: tuple[Level, ...] | None = None

    @property
    def title(self) -> str:
        """What it is called.

        Example:
            >>> Task("multiclass", "", ("a", "b", "c")).title
            'classification of 3 classes'
        """
        title = _TITLE[self.name]
        many = self.name == "multiclass" and self.classes
        return f"{title} of {len(self.classes or ())} classes" if many else title

    @property
    def named_classes(self) -> tuple[Level, ...] | None:
        """The classes where they are not simply 0, 1, 2, ..."""
        classes = self.classes or ()
        is_plain = classes == tuple(range(len(classes)))  # which False, True would be as well
        return None if is_plain and not any(type(name) is bool for name in classes) else classes

    def fill_in(self, params: dict[str, Any], *, is_validated: bool) -> dict[str, Any]:
        """Return the parameters with what follows from the task, unless it is given.

        Args:
            params: By canonical name.
            is_validated: Whether there are validation rows.
        """
        filled = dict(params)
        if "objective" not in filled:
            if self.name in _OBJECTIVE:
                filled["objective"] = _OBJECTIVE[self.name]
            if "metric" not in filled and is_validated:
                filled["metric"] = list(_METRICS[self.name])
                filled.setdefault("first_metric_only", True)
        if self.name == "multiclass" and self.classes is not None:
            filled.setdefault("num_class", len(self.classes))
        return filled

    def encode(self, values: Array, what: str) -> Array:
        """Return labels as numbers; classes as theirs.

        Raises:
            DataError: If there is a class that the training data does not have, or text where
                numbers are needed.
        """
        _check_present(values, what)
        if self.classes is None:
            return _numbers(values, what, self)
        found, codes = np.unique(_comparable(values), return_inverse=True)
        place = {_key(name): i for i, name in enumerate(self.classes)}
        unknown = [name for name in map(_level, found) if _key(name) not in place]
        if unknown:
            raise DataError.because(
                f"{what} has classes that the training rows do not have: "
                f"{listing([str(name) for name in unknown])}",
                expected=listing([str(name) for name in self.classes], 20),
            )
        numbers = np.array([place[_key(_level(name))] for name in found])
        return np.asarray(numbers[codes.ravel()], dtype=np.float64)


def find_task(
    values: Array,
    what: str,
    asked: str = "auto",
    objective: str | None = None,
    has_queries: bool = False,
    num_class: int | None = None,
) -> Task:
    """Find out what kind of prediction a target asks for.

    Args:
        values: The target.
        what: What messages call it.
        asked: What the user said; "auto": nothing.
        objective: The objective, if the user named one.
        has_queries: Whether rows belong to queries.
        num_class: The number of classes, if the user said so: labels are then numbers of classes.

    Raises:
        DataError: If the target cannot be used.

    Example:
        >>> find_task(np.array(["no", "yes", "no"], dtype=object), "the target 'delayed'").reason
        "the target 'delayed' has two values: no, yes"
    """
    _check_present(values, what)
    name, reason = _asked(asked, objective, has_queries, what)
    if name in ("regression", "ranking"):
        return Task(name, reason)
    found = np.unique(_comparable(values))
    classes = tuple(_level(value) for value in found)
    if name is None:
        return _guess(values, classes, what)
    if name == "binary" and len(classes) != 2:
        raise DataError.because(
            f"{what} has {len(classes)} different values: {_listed(classes)}",
            expected="two, for binary classification",
        )
    if num_class is not None and name == "multiclass":
        is_code = all(isinstance(c, int) and 0 <= c < num_class for c in classes)
        if is_code:
            return Task(name, reason, tuple(range(num_class)))
    if len(classes) < 2:
        raise _one_value(what, classes)
    return Task(name, reason, classes)


def _asked(
    asked: str, objective: str | None, has_queries: bool, what: str
) -> tuple[TaskName | None, str]:
    """Return the task that the user asked for, one way or another."""
    by_objective = None if objective is None else task_of_objective(objective)
    if asked != "auto":
        name: Any = asked
        if by_objective is not None and by_objective != asked:
            raise ParameterError.because(
                f"--task {asked} and --objective {objective} do not fit",
                hint="Leave one of them out.",
            )
        return name, "--task"
    if by_objective is not None:
        return by_objective, f"objective={objective}"
    return ("ranking", "rows belong to queries") if has_queries else (None, "")


def task_of_objective(objective: str) -> TaskName:
    """Return the task that an objective is for.

    Example:
        >>> task_of_objective("rank_xendcg"), task_of_objective("poisson")
        ('ranking', 'regression')
    """
    from gossamer.params import TABLE
    from gossamer.params.coerce import coerce

    kind = traits_of(str(coerce(TABLE["objective"], objective))).kind
    return _TASK_OF.get(kind, "regression")


def _guess(values: Array, classes: tuple[Level, ...], what: str) -> Task:
    n_values, n_rows = len(classes), len(values)
    if n_values < 2:
        raise _one_value(what, classes)
    if n_values == 2:
        return Task("binary", f"{what} has two values: {_listed(classes)}", classes)
    if isinstance(classes[0], str):
        if n_values > min(_MOST_NAMES, n_rows // 2):
            raise DataError.because(
                f"{what} is text, with {n_values} different values in {n_rows} rows",
                expected="classes, or numbers",
                hint="Check the name of the column. If these are classes, use --task multiclass.",
            )
        return Task("multiclass", f"{what} is text of {n_values} values", classes)
    is_whole = all(isinstance(value, int) for value in classes)
    if is_whole and n_values <= _MOST_CODES and 2 * n_values <= n_rows:
        reason = f"{what} has {n_values} whole numbers: {_listed(classes)}"
        return Task("multiclass", reason, classes)
    return Task("regression", f"{what} has {n_values} different numbers")


def _one_value(what: str, classes: Sequence[Level]) -> DataError:
    return DataError.because(
        f"{what} has the same value in all rows: there is nothing to learn",
        got=classes[0] if classes else None,
    )


def _listed(classes: Sequence[Level]) -> str:
    if len(classes) <= 10:
        return ", ".join(str(name) for name in classes)
    return f"{', '.join(str(name) for name in classes[:6])}, ..., {classes[-1]}"


def is_present(values: Array) -> npt.NDArray[np.bool_]:
    """Return for each value of a target whether it is there; infinite numbers are not missing.

    Example:
        >>> is_present(np.array([1.0, np.nan])), is_present(np.array(["a", None], dtype=object))
        (array([ True, False]), array([ True, False]))
    """
    if values.dtype.kind == "O":
        return np.array([not (value is None or value != value) for value in values], dtype=bool)
    if values.dtype.kind in "fmM":
        return np.asarray(values == values)
    return np.ones(len(values), dtype=bool)


def _check_present(values: Array, what: str) -> None:
    if not len(values):
        raise DataError.because(f"{what} is missing in all rows", expected="values to learn from")
    if values.dtype.kind in "mM":
        raise DataError.because(
            f"{what} holds dates or times", expected="numbers, or text for classes"
        )
    missing = ~is_present(values)
    if values.dtype.kind == "f":
        missing |= np.isinf(values)
    if missing.any():
        raise DataError.because(
            f"{what} is missing or infinite in {int(missing.sum())} of {len(values)} rows",
            found=f"row {int(missing.argmax())} (from 0)",
            expected="a value in every row",
            hint="Leave these rows out of the file, or use --missing-target drop.",
        )


def _comparable(values: Array) -> Array:
    if values.dtype.kind == "O":
        kinds = {type(value) for value in values}
        if kinds <= {bool}:
            return values.astype(bool)
        return values.astype(str)
    return values


def _level(value: Any) -> Level:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float) and plain.is_integer() and abs(plain) < 2**53:
        return int(plain)
    return str(plain) if not isinstance(plain, (bool, int, float)) else plain


def _key(name: Level) -> str:
    """The same class may be 1 in one file, 1.0 or "1" in another."""
    return str(_level(name))


def _numbers(values: Array, what: str, task: Task) -> Array:
    if values.dtype.kind in "biuf":
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        text = next(v for v in values if not isinstance(v, (int, float)))
        raise DataError.because(
            f"{what} is text, and {task.title} needs numbers",
            got=text,
            hint="Leave --task out, or use --task multiclass to predict classes.",
        ) from None
