"""`Levels`: how the categorical columns of a table become numbers.

The **code** of a level is its position in the column's list of levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.table.columns import Column, Level, LevelColumn, is_level, read_objects
from gossamer.data.table.times import parse_times
from gossamer.errors import DataError, shorten
from gossamer.logger import warn

# Text columns of so many different values, or fewer, may well be codes.
_MOST_CODES: Final = 20
# Rows that are looked at, and the share of numbers or dates that gets a warning.
_MOST_ROWS: Final = 20_000
_NEARLY_ALL: Final = 0.99
# Rows without any known level that get a warning; single rows may well have a new level.
_MANY_ROWS: Final = 20
_TRUE_FALSE, _YES_NO = ("true", "false"), ("yes", "no")
_BOOLEANS: Final = {word: pair for pair in (_TRUE_FALSE, _YES_NO) for word in pair}


@dataclass(frozen=True)
class Levels:
    """The levels of each column that has some.

    Attributes:
        by_column: Column, from 0 -> its levels, all text or all numbers.

    Example:
        >>> levels = Levels({0: ("Bern", "Rome")})
        >>> levels.encode(0, ["Rome", None, "Oslo", "Bern"])
        array([ 1., nan, nan,  0.])
        >>> Levels.from_json(levels.to_json(), n_columns=1) == levels
        True
    """

    by_column: Mapping[int, tuple[Level, ...]]
    _codes: dict[int, dict[Level, int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        levels = {int(c): tuple(self.by_column[c]) for c in sorted(self.by_column)}
        object.__setattr__(self, "by_column", levels)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same levels of the same types: "1", 1 and True differ."""
        return isinstance(other, Levels) and self._typed() == other._typed()

    def __hash__(self) -> int:
        return hash(tuple(self.by_column.items()))

    def __bool__(self) -> bool:
        """Whether there is any column with levels."""
        return bool(self.by_column)

    def _typed(self) -> dict[int, list[tuple[type, Level]]]:
        return {c: [(type(v), v) for v in levels] for c, levels in self.by_column.items()}

    @property
    def columns(self) -> list[int]:
        """The columns that have levels, increasing."""
        return list(self.by_column)

    def is_text(self, column: int) -> bool:
        """Whether the levels of a column are text; where there are none they may be."""
        levels = self.by_column[column]
        return not levels or isinstance(levels[0], str)

    def codes_of(self, column: int) -> Mapping[Level, int]:
        """Return the code of each level of a column."""
        if column not in self._codes:
            self._codes[column] = {v: i for i, v in enumerate(self.by_column[column])}
        return self._codes[column]

    def encode(self, column: int, values: Any, where: str = "") -> npt.NDArray[np.float64]:
        """Return the codes of values of one column; NaN for missing ones and unseen levels.

        Numbers are matched by value: 2, 2.0 and True where it is 1 find the same level.

        Args:
            column: The column, from 0.
            values: What was read of it, or a list of values.
            where: What errors call it.

        Raises:
            DataError: If the levels are text and the values numbers, or the other way round.
        """
        where = where or f"column {column}"
        if not isinstance(values, LevelColumn):
            array = np.asarray(values, dtype=None if isinstance(values, np.ndarray) else object)
            values = read_objects(array, where) if array.dtype.kind in "OUT" else array
        code_of = self.codes_of(column)
        if isinstance(values, LevelColumn):
            if values.found and code_of and not values.is_missing:
                _check_same(self.is_text(column), values.found[0], where)
            codes = values.take(code_of.get(level, np.nan) for level in values.found)
            if code_of and np.isnan(codes).all():
                _warn_of_unknown(values, self.by_column[column], where)
            return codes
        is_there = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), bool)
        if code_of and is_there.any():
            _check_same(self.is_text(column), None, where)
        found, positions = np.unique(values, return_inverse=True)
        codes = np.array([code_of.get(v, np.nan) for v in found.tolist()], dtype=np.float64)
        return codes[positions.reshape(-1)]

    def reorder(self, order: Sequence[int]) -> Levels:
        """Return the levels where column i stands at `order[i]`.

        Example:
            >>> Levels({0: ("a",)}).reorder([2, 0, 1]).columns
            [2]
        """
        return Levels({order[c]: v for c, v in self.by_column.items() if c < len(order)})

    def to_json(self) -> list[list[Any]]:
        """Return what JSON can hold: a pair [column, levels] for each column."""
        return [[column, list(levels)] for column, levels in self.by_column.items()]

    @classmethod
    def from_json(cls, found: Any, n_columns: int) -> Levels:
        """Read what `to_json` gave.

        Raises:
            ValueError: If it is something else.
        """
        if not isinstance(found, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in found
        ):
            raise ValueError("the levels are not a list of columns and their levels")
        columns = [column for column, _ in found]
        if any(type(c) is not int or not 0 <= c < n_columns for c in columns):
            raise ValueError("there are levels of a column that is not there")
        if columns != sorted(set(columns)):
            raise ValueError("the columns with levels are not in order")
        for column, levels in found:
            if not isinstance(levels, list) or not all(map(is_level, levels)):
                raise ValueError(f"a level of column {column} is neither text nor a finite number")
            if len({isinstance(level, str) for level in levels}) > 1:
                raise ValueError(f"the levels of column {column} are text and numbers")
            if len(set(levels)) < len(levels):
                raise ValueError(f"column {column} has the same level twice")
        return cls({column: tuple(levels) for column, levels in found})


# Of a table of numbers.
NO_LEVELS: Final = Levels({})


def levels_of(column: LevelColumn, where: str = "the column") -> tuple[Level, ...]:
    """Return the levels of a column of training data, in an order that rows do not change.

    Levels of a category's type keep its order, and may be in no row; others are sorted by value.
    Text that holds numbers or dates gets a warning.

    Args:
        column: The column.
        where: What messages call it.

    Example:
        >>> levels_of(LevelColumn(np.array([0, 1]), ["b", "a"], "text"))
        ('a', 'b')
    """
    found: list[Any] = column.found
    if column.kind != "text":
        return tuple(found)
    if len(found) > _MOST_CODES:
        _warn_of_numbers(column, where)
    return tuple(sorted(found))


def _warn_of_numbers(column: LevelColumn, where: str) -> None:
    """Warn if nearly all values of a text column are numbers or dates."""
    rows = column.positions[:_MOST_ROWS]
    counts = np.bincount(rows[rows >= 0], minlength=len(column.found))
    from gossamer.data.text import TextLook, TextOptions  # its patterns take time to compile

    look = TextLook(TextOptions())
    look.add({str(column.found[i]): int(counts[i]) for i in np.flatnonzero(counts)})
    n_most = max(look.n_numbers, look.n_dates)
    if look.is_text or not n_most or n_most < _NEARLY_ALL * look.n:
        return
    is_number = look.n_numbers >= look.n_dates
    if not is_number:
        convert = "with pandas.to_datetime(..., format=...)"
    elif sum(int(counts[i]) for i, level in enumerate(column.found) if _is_plain(level)) >= n_most:
        convert = "with pandas.to_numeric(..., errors='coerce')"
    else:  # decimal commas, units and the like, which to_numeric would make missing
        convert = (
            "when you read the file (pandas.read_csv has decimal and thousands; gossamer.Dataset "
            "reads CSV files itself, and recognises other notations and units)"
        )
    warn(
        f"{where} is text, but {n_most / look.n:.0%} of its values are "
        f"{'numbers' if is_number else 'dates'}: each of them is treated as a category. "
        f"Convert it first, for instance {convert}; to keep categories, use .astype('category')."
    )


def _warn_of_unknown(column: LevelColumn, known: Sequence[Level], where: str) -> None:
    """Warn if many rows have a level, and none has one of the training data's."""
    if np.count_nonzero(column.positions >= 0) < _MANY_ROWS:
        return
    first = column.found[int(column.positions[column.positions >= 0][0])]
    warn(
        f"none of the values of {where}, such as {shorten(repr(first), 40)}, is one of the "
        f"categories of the training data, such as {shorten(repr(known[0]), 40)}: all of them are "
        "treated as missing. Are they spelt differently?"
    )


def _is_plain(level: Level) -> bool:
    """Return whether Python reads a text as a number."""
    try:
        float(level)
    except ValueError:
        return False
    return True


def like_training(column: Column, levels: Levels, position: int, where: str) -> npt.NDArray[Any]:
    """Return a column as numbers, read as the column of the training data was.

    Dates and times are numbers of seconds, also where they come as text, as from a CSV file.

    Raises:
        DataError: If one holds text and the other numbers.
    """
    if position in levels.by_column:
        return levels.encode(position, column, where)
    if not isinstance(column, LevelColumn):
        return column
    if column.is_missing:
        return np.full(len(column.positions), np.nan)
    if isinstance(column.found[0], str):
        seconds = parse_times(map(str, column.found))
        if seconds is not None:  # dates and times, which text files cannot mark as such
            return column.take(seconds)
    _check_same(False, column.found[0], where)
    return column.take(float(level) for level in column.found)


def _check_same(is_text: bool, first: object, where: str) -> None:
    """Raise if the training data had text and this has not, or the other way round.

    Args:
        is_text: Whether the training data had text.
        first: One of the values; None: they are numbers.
        where: What messages call the column.
    """
    if is_text == isinstance(first, str):
        return
    text = f"text such as {shorten(repr(first), 60)}" if isinstance(first, str) else "numbers"
    hint = "Convert the column first: pandas.to_numeric() or pandas.to_datetime()."
    if is_text:
        hint = "Pass the values as they were in training, not their codes."
    elif (word := str(first)).lower() in _BOOLEANS:
        alike = str.upper if word.isupper() else str.title if word.istitle() else str.lower
        yes, no = map(alike, _BOOLEANS[word.lower()])
        hint = f"Convert it to booleans first: column.map({{{yes!r}: True, {no!r}: False}})."
    raise DataError.because(
        f"{where} has another type than in the training data",
        found=text,
        expected="text" if is_text else "numbers or dates",
        hint=hint,
    )
