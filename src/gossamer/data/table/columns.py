"""One column of a table: numbers, or levels.

A **level** is a value of a categorical column as the user wrote it: text, or a number where the
column's type says that it holds categories. The levels of a column are all text or all numbers.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from gossamer.data.table.times import is_time, seconds_of
from gossamer.errors import DataError

Level = str | int | float | bool
# Text is always categorical; a category may be taken as numbers; an ordered one is unless asked.
LevelKind = Literal["text", "category", "ordered"]

# Whole numbers that are levels must fit 64 bits, signed or not.
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1
# What pandas writes for a missing value; asked by name, so that pandas need not be there.
_MISSING_TYPES: Final = ("NAType", "NaTType", "NoneType")


@dataclass(frozen=True, eq=False)
class LevelColumn:
    """A column of levels.

    Attributes:
        positions: For each row where its level stands in `found`; -1 where it is missing.
        found: Distinct levels, in the order of a category's type, else in any order.
        kind: What the column's type says about them.
    """

    positions: npt.NDArray[np.signedinteger[Any]]
    found: list[Level]
    kind: LevelKind

    @property
    def is_missing(self) -> bool:
        """Whether there is no level in any row."""
        return bool((self.positions < 0).all())

    def take(self, values: Iterable[float]) -> npt.NDArray[np.float64]:
        """Return the number of each row's level, of one per level found; NaN where missing.

        Example:
            >>> LevelColumn(np.array([1, -1, 0]), ["b", "a"], "text").take([7, 8])
            array([ 8., nan,  7.])
        """
        taken: npt.NDArray[np.float64] = np.array([*values, np.nan])[self.positions]
        return taken


# What a column is read as.
Column = npt.NDArray[Any] | LevelColumn


def plain_values(column: Column) -> npt.NDArray[Any]:
    """Return a column as the user's values: levels as what they stand for, None where missing.

    Example:
        >>> plain_values(LevelColumn(np.array([1, -1, 0]), ["b", "a"], "text"))
        array(['a', None, 'b'], dtype=object)
    """
    if not isinstance(column, LevelColumn):
        return column
    values: npt.NDArray[Any] = np.array([*column.found, None], dtype=object)[column.positions]
    return values


def read_objects(values: npt.NDArray[Any], where: str) -> Column:
    """Read an array of Python objects or of text.

    Numbers stay numbers, dates and times are seconds, None and NaN are missing; where there is
    text, all must be text.

    Args:
        values: The column.
        where: What errors call it.

    Raises:
        DataError: If it holds text and numbers, or something else.

    Example:
        >>> read_objects(np.array([1, None, True], dtype=object), "column 0")
        array([ 1., nan,  1.])
        >>> read_objects(np.array(["b", None, "a", "b"], dtype=object), "column 0").found
        ['b', 'a']
    """
    if values.dtype.kind != "O":
        return _factorise(values.astype(object), where)
    types = set(map(type, values.tolist()))
    if any(map(is_time, types)) and not any(issubclass(kind, str) for kind in types):
        values = _times_to_numbers(values)
        types = set(map(type, values.tolist()))
    for kind in types:
        if not (issubclass(kind, str) or _is_number(kind) or kind.__name__ in _MISSING_TYPES):
            raise DataError.because(
                f"{where} holds values that are neither numbers nor text",
                got=kind.__name__,
                hint="Encode them as numbers or as text first.",
            )
    if any(issubclass(kind, str) for kind in types):
        return _factorise(values, where)
    try:
        return _to_numbers(values, types)
    except OverflowError as error:
        raise DataError.because(f"{where} holds a number that is too large ({error})") from None


def check_found(found: Iterable[Any], where: str) -> list[Level]:
    """Return levels as plain Python values.

    Raises:
        DataError: If they are text and numbers, or something else.

    Example:
        >>> check_found(np.array([3, 1]), "column 0")
        [3, 1]
    """
    levels = [_plain(level) for level in found]
    for level in levels:
        if not is_level(level):
            raise DataError.because(
                f"{where} has a category that cannot be used",
                got=level,
                expected="text, booleans, finite numbers, or integers of 64 bits",
                hint="Convert the categories to text first.",
            )
    n_text = sum(isinstance(level, str) for level in levels)
    if 0 < n_text < len(levels):
        number = next(level for level in levels if not isinstance(level, str))
        raise mixed(where, number)
    return levels


def is_level(value: object) -> bool:
    """Whether this can be a level: text, a boolean, a finite number.

    Example:
        >>> [is_level(value) for value in ("a", 1, 0.5, True, None, float("nan"), 2**70)]
        [True, True, True, True, False, False, False]
    """
    if type(value) is int:
        return _LOWEST <= value <= _HIGHEST
    return type(value) in (str, bool) or (type(value) is float and math.isfinite(value))


def mixed(where: str, number: object) -> DataError:
    """Return the error for a column that holds text and numbers: "1" is not 1."""
    return DataError.because(
        f"{where} holds both text and numbers",
        got=number,
        expected="only text, or only numbers",
        hint="Convert the whole column, for instance with .astype(str); check missing values.",
    )


def factorise(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Number the distinct objects of an array in the order in which they come; missing ones: -1.

    Example:
        >>> factorise(np.array(["b", None, "a", "b"], dtype=object))
        (array([ 0, -1,  1,  0]), ['b', 'a'])
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None:  # several times faster where there are many levels
        positions, found = pandas.factorize(values)
        return positions, list(found)
    number_of: defaultdict[Any, int] = defaultdict()
    number_of.default_factory = number_of.__len__
    numbers_ = np.fromiter(map(number_of.__getitem__, values.tolist()), np.intp, len(values))
    found = list(number_of)
    is_there = np.array([not is_missing(value) for value in found], dtype=bool)
    new = np.where(is_there, np.cumsum(is_there) - 1, -1)
    return new[numbers_], [found[i] for i in np.flatnonzero(is_there)]


def _factorise(values: npt.NDArray[Any], where: str) -> LevelColumn:
    try:
        positions, found = factorise(values)
    except TypeError:  # a Decimal that is a signalling NaN has no hash
        values = np.array([None if is_missing(value) else value for value in values], dtype=object)
        positions, found = factorise(values)
    return LevelColumn(positions, check_found(found, where), "text")


def _times_to_numbers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return dates and times among objects as seconds."""
    found = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        if is_time(type(value)):
            value = math.nan if is_missing(value) else seconds_of(value)
        found[i] = value
    return found


def _to_numbers(values: npt.NDArray[Any], types: set[type]) -> npt.NDArray[Any]:
    if types <= {int, bool} and len(values):
        array = np.array(values.tolist())
        if array.dtype.kind in "iu":  # whole numbers beyond 2^53 stay what they are
            return array
    if not all(issubclass(kind, (float, int)) for kind in types):
        values = np.array([np.nan if is_missing(v) else float(v) for v in values], dtype=float)
    return values.astype(np.float64)


def _is_number(kind: type) -> bool:
    decimal = sys.modules.get("decimal")  # where there are none, it need not be imported
    return issubclass(kind, (numbers.Real, np.bool_)) or (
        decimal is not None and issubclass(kind, decimal.Decimal)
    )


def is_missing(value: Any) -> bool:
    """Whether this is None, NaN, or one of pandas' words for missing."""
    if type(value).__name__ in _MISSING_TYPES:
        return True
    try:
        return not isinstance(value, str) and bool(value != value)
    except ArithmeticError:  # a Decimal that is a signalling NaN cannot be compared
        return True


def _plain(level: Any) -> Any:
    if isinstance(level, np.generic):
        level = level.item()
    return str(level) if isinstance(level, str) else level
