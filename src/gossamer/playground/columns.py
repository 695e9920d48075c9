"""`ColumnTable`: the columns of the user's file, two of which become a scene."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data import Dataset
from gossamer.data.table.names import no_such_column
from gossamer.errors import DataError
from gossamer.playground.scenes import Array, Scene, as_numbers, choose_held_out
from gossamer.train import train

# More rows than this are neither drawn nor trained on: answers are to take milliseconds.
MOST_ROWS: Final = 3000
# Text of more different values cannot be a target.
_MOST_CLASSES: Final = 50
_ROUNDS_TO_CHOOSE: Final = 20


class ColumnTable:
    """The columns of a file; of a long one, some of the rows.

    Args:
        columns: Name -> values: numbers, or objects that are text with None for missing values.
        title: What the page calls the file.

    Raises:
        DataError: If there are fewer than two columns of numbers, or no third column to predict.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> a, b, c = rng.normal(size=(3, 100))
        >>> table = ColumnTable({"a": a, "b": b, "c": c, "sum": a + b}, "sums.csv")
        >>> table.targets[-1], table.choose_axes("sum")
        ('sum', ['a', 'b'])
    """

    def __init__(self, columns: Mapping[str, Any], title: str) -> None:
        n_rows = len(next(iter(columns.values()))) if columns else 0
        rows: npt.NDArray[np.intp] | slice = slice(None)
        self.title = title
        self.note = ""
        if n_rows > MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(n_rows, MOST_ROWS, replace=False))
            self.note = f"{MOST_ROWS:,} of {n_rows:,} rows, chosen at random."
        self._columns = {name: np.asarray(values)[rows] for name, values in columns.items()}
        numbers = {name: as_numbers(values) for name, values in self._columns.items()}
        self._numbers = {name: values for name, values in numbers.items() if values is not None}
        self.axes = [name for name, values in self._numbers.items() if _n_distinct(values) > 1]
        self.targets = [
            name for name in self._columns if name in self.axes or self._classes(name) is not None
        ]
        if len(self.axes) < 2 or len(self.targets) < 3 - (len(self.axes) < len(self.targets)):
            raise DataError.because(
                f"the playground cannot use {title}",
                found=f"{len(self.axes)} columns of numbers that vary, and "
                f"{len(self.targets)} that can be a target",
                expected="two columns of numbers and a third column to predict",
            )

    def choose_axes(self, target: str) -> list[str]:
        """Return the two columns with the most gain in a small model of the target."""
        others = [name for name in self.axes if name != target]
        if len(others) <= 2:
            return others
        label, *_ = self._label(target)
        there = np.isfinite(label)
        table = np.column_stack([self._numbers[name] for name in others])
        data = Dataset(table[there], label[there], feature_name=_plain_names(len(others)))
        params = {"verbose": -1, "num_leaves": 8, "num_threads": 1}
        gain = train(params, data, _ROUNDS_TO_CHOOSE).feature_importance("gain")
        return [others[i] for i in np.argsort(-gain, kind="stable")[:2]]

    def make_scene(self, x: str, y: str, target: str) -> Scene:
        """Return the rows in which the two columns and the target are known.

        Raises:
            DataError: If there are no such columns, two of them are the same, or too few rows have
                all three.
        """
        for name, choices in ((x, self.axes), (y, self.axes), (target, self.targets)):
            if name not in choices:
                raise no_such_column("the playground cannot use this column", name, choices)
        if len({x, y, target}) < 3:
            raise DataError.because(
                "the two columns and the target must be three different columns",
                got=[x, y, target],
            )
        label, task, meanings = self._label(target)
        values = np.column_stack([self._numbers[x], self._numbers[y]])
        there = np.isfinite(values).all(axis=1) & np.isfinite(label)
        values, label = values[there], label[there]
        if len(label) < 10 or _n_distinct(label) < 2:
            raise DataError.because(
                f"too few rows have values of {x}, {y} and {target}",
                got=len(label),
                expected="10 rows or more, with different targets",
            )
        missing = int((~there).sum())
        notes = [self.note, f"{missing:,} rows with missing values are left out." * (missing > 0)]
        return Scene(
            f"{target} of {self.title}",
            "binary" if task == "binary" else "regression",
            (x, y),
            values,
            label,
            choose_held_out(len(label)),
            meanings,
            " ".join(note for note in notes if note),
        )

    def _label(self, target: str) -> tuple[Array, str, tuple[str, str]]:
        """Labels (NaN where missing), the task, and what the labels mean."""
        classes = self._classes(target)
        numbers = self._numbers.get(target)
        if numbers is not None and classes is None:
            return numbers, "regression", (f"low {target}", f"high {target}")
        assert classes is not None
        values = self._columns[target] if numbers is None else numbers
        missing = [value is None or value != value for value in values]
        # Two classes: the second against the first. More: the most frequent against the others.
        one = classes[1] if len(classes) == 2 else classes[0]
        label = np.array([float(value == one) for value in values])
        label[missing] = np.nan
        rest = f"not {one}" if len(classes) > 2 else classes[0]
        return label, "binary", (f"{target}: {rest}", f"{target}: {one}")

    def _classes(self, name: str) -> list[Any] | None:
        """Values of a target of classes: two in order, more by frequency; None: it has none."""
        numbers = self._numbers.get(name)
        if numbers is not None:
            found = np.unique(numbers[np.isfinite(numbers)])
            return [_tidy(v) for v in found] if len(found) == 2 else None
        texts = [value for value in self._columns[name] if isinstance(value, str)]
        found, counts = np.unique(np.array(texts, dtype=str), return_counts=True)
        if not 2 <= len(found) <= _MOST_CLASSES:
            return None
        if len(found) == 2:
            return [str(word) for word in found]
        return [str(found[i]) for i in np.argsort(-counts, kind="stable")]


def _n_distinct(values: Array) -> int:
    return len(np.unique(values[np.isfinite(values)]))


def _plain_names(n: int) -> list[str]:
    """Names that any model takes, whatever the user's columns are called."""
    return [f"column_{i}" for i in range(n)]


def _tidy(value: float) -> float | int:
    return int(value) if value == int(value) else float(value)
