"""How numbers, names, conditions and linear leaves are written in plots of trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.binning import MissingKind
from gossamer.data.table.date_text import date_text
from gossamer.model.model import Model
from gossamer.tree import Tree


def format_number(value: float, precision: int | None) -> str:
    """Write a number with so many decimals; one too small or too large for that in short.

    Example:
        >>> format_number(0.12345, 3), format_number(-0.0000123, 3), format_number(2.5, None)
        ('0.123', '-1.23e-05', '2.5')
    """
    value = float(value) + 0.0  # no minus before zero
    if precision is None:
        return str(value)
    text = f"{value:.{precision}f}"
    if abs(value) >= 1e9 or (value and float(text) == 0):
        return f"{value:.{max(precision, 1)}g}"
    return text


def format_threshold(value: float, precision: int | None) -> str:
    """Write a number without zeros at its end.

    Example:
        >>> format_threshold(44.5, 3), format_threshold(10.0, 3), format_threshold(100.0, 0)
        ('44.5', '10', '100')
    """
    text = format_number(value, precision)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def shorten(text: object, most: int) -> str:
    """Return a text on one line, of at most so many characters: the middle of a long one goes.

    Example:
        >>> shorten("the_name_of_a_column_17", 12)
        'the_name…_17'
    """
    line = " ".join(str(text).split())
    if len(line) <= most:
        return line
    tail = (most - 1) // 3
    return f"{line[: most - 1 - tail]}…{line[len(line) - tail :]}"


def column_name(model: Model, column: int) -> str:
    """Return the name of a column that trees split on; derived ones are described.

    A derived column is the mean label, or the share of a class, or the number of training rows,
    of the rows that have the same category in one column or several.
    """
    if column < model.n_columns:
        return model.names[column]
    derived = model.derived
    assert derived is not None
    place = column - model.n_columns
    n_statistics = derived.statistics.n_statistics
    sources = " and ".join(model.names[c] for c in derived.sources_of(place))
    which = place % n_statistics
    if which == n_statistics - 1:
        return f"rows by {sources}"
    what = "mean label" if n_statistics == 2 else f"share of class {which}"
    return f"{what} by {sources}"


@dataclass(frozen=True)
class Condition:
    """The question that a node asks; rows that answer yes go left.

    Attributes:
        sign: The sign between the column and the operands: "≤", "=", "in", ...
        operands: A threshold, or categories.
        missing: Where rows with missing values go: "yes", "no", or "" where none is missing.
        missing_words: What counts as missing.
        max_operands: Where there are more, most of them are left out.
    """

    sign: str
    operands: tuple[str, ...]
    missing: str
    missing_words: str = "missing"
    max_operands: int = 10

    @property
    def is_long(self) -> bool:
        """Whether some operands are left out."""
        return len(self.operands) > self.max_operands

    @property
    def whole(self) -> str:
        """All operands."""
        return ", ".join(self.operands)

    @property
    def operand(self) -> str:
        """The operands, of many the first two and the last.

        Example:
            >>> Condition("in", ("a", "b", "c", "d"), "no", max_operands=3).operand
            'a, b, …, d'
        """
        return (
            ", ".join([*self.operands[:2], "…", self.operands[-1]]) if self.is_long else self.whole
        )

    def edge(self, answer: str) -> str:
        """Return the label of the edge to a child: "yes" or "no", and where missing values go.

        Example:
            >>> Condition("≤", ("1.5",), "no").edge("no")
            'no, missing'
        """
        return f"{answer}, {self.missing_words}" if self.missing == answer else answer


def condition_of(
    model: Model, tree: Tree, node: int, precision: int | None, max_category_values: int
) -> Condition:
    """Return the question that a node of a tree asks.

    Args:
        model: The model.
        tree: One of its trees.
        node: The node.
        precision: Decimals of thresholds; None: all.
        max_category_values: Where there are more categories, most of them are left out.
    """
    missing_left = bool(tree.default_left[node])
    missing = "yes" if missing_left else "no"
    categories = _categories_of(model, tree, node)
    if categories:
        # The categories of a node go where missing values do not.
        signs = ("≠", "not in") if missing_left else ("=", "in")
        sign = signs[len(categories) > 1]
        return Condition(sign, categories, missing, max_operands=max_category_values)
    kind = MissingKind(int(tree.missing_kind[node]))
    threshold = float(tree.threshold[node])
    if threshold == np.inf and kind is not MissingKind.NAN_IS_ZERO and not missing_left:
        words = "known" if kind is MissingKind.NAN else "neither 0 nor missing"
        return Condition("is", (words,), "")
    is_date = model.is_date(int(tree.column[node]))
    text = (date_text(threshold) if is_date else format_threshold(threshold, precision),)
    if kind is MissingKind.NAN_IS_ZERO:
        return Condition("≤", text, "")
    words = "missing" if kind is MissingKind.NAN else "0 or missing"
    return Condition("≤", text, missing, words)


def _categories_of(model: Model, tree: Tree, node: int) -> tuple[str, ...]:
    """Names of the categories that a node splits off; none: it has a threshold."""
    if tree.category is None or tree.category_begin is None:
        return ()
    codes = tree.category[tree.category_begin[node] : tree.category_begin[node + 1]].tolist()
    column = int(tree.column[node])
    levels: Sequence[object] = (
        () if model.levels is None else model.levels.by_column.get(column, ())
    )
    return tuple(str(levels[code]) if code < len(levels) else str(code) for code in codes)


def formula_of(model: Model, tree: Tree, leaf: int, precision: int | None, most: int = 2) -> str:
    """Write what a linear leaf adds, its strongest terms first; "" for a leaf without terms.

    Args:
        model: The model.
        tree: One of its trees.
        leaf: The leaf.
        precision: Decimals; None: all.
        most: Terms that are written at most.
    """
    linear = tree.linear
    if linear is None:
        return ""
    terms = slice(int(linear["linear_begin"][leaf]), int(linear["linear_begin"][leaf + 1]))
    coefficients, columns = linear["linear_coefficient"][terms], linear["linear_column"][terms]
    if len(columns) == 0:
        return ""
    constant = linear["linear_constant"][leaf] - coefficients @ linear["linear_centre"][terms]
    text = format_number(constant, precision)
    for i in np.argsort(-np.abs(coefficients), kind="stable")[:most]:
        sign = "-" if coefficients[i] < 0 else "+"
        number = format_number(abs(coefficients[i]), precision)
        text += f" {sign} {number}·{shorten(column_name(model, int(columns[i])), 16)}"
    return text + (f" + {len(columns) - most} more" if len(columns) > most else "")
