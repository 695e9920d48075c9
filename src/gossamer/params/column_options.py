"""Options that speak of columns, by name or by index: `column_of`, `by_column`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from gossamer.errors import ParameterError
from gossamer.params.param import ByColumn
from gossamer.params.suggest import did_you_mean

Number = TypeVar("Number", int, float)


def column_of(column: int | str, names: Sequence[str], what: str) -> int:
    """Return the index of a column that a parameter names.

    A name that is a number and no column's name is an index: parameters may come from text.

    Args:
        column: Its name or index.
        names: The names of all columns.
        what: The parameter, for the message.

    Raises:
        ParameterError: If there is no such column.

    Example:
        >>> column_of("age", ["income", "age"], "monotone_constraints")
        1
    """
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
        if not (column.isascii() and column.isdigit()):
            raise ParameterError.because(
                f"{what} names a column that the data does not have",
                got=column,
                expected="the name of a column, or its index",
                hint=did_you_mean(column, names),
            )
        column = int(column)
    if not 0 <= column < len(names):
        raise ParameterError.because(
            f"{what} names a column that the data does not have",
            got=column,
            expected=f"an index from 0 to {len(names) - 1}",
        )
    return column


def by_column(
    value: ByColumn[Number], names: Sequence[str], what: str, default: Number
) -> list[Number]:
    """Return the number of every column.

    Args:
        value: A number for each column, or (column, number) pairs.
        names: The names of all columns.
        what: The parameter, for the message.
        default: For columns that no pair names.

    Raises:
        ParameterError: If there is not one number per column, or a column is unknown or comes
            twice.

    Example:
        >>> by_column((("age", 1), (0, -1)), ["income", "age", "sex"], "monotone_constraints", 0)
        [-1, 1, 0]
    """
    pairs = [item for item in value if isinstance(item, tuple)]
    numbers = [item for item in value if not isinstance(item, tuple)]
    if not pairs:
        if len(numbers) != len(names):
            raise ParameterError.because(
                f"{what} and the columns differ in length",
                got=len(numbers),
                expected=f"{len(names)}, one number per column",
                hint="A dict by name or index may leave columns out.",
            )
        return numbers
    found = [default] * len(names)
    seen: set[int] = set()
    for column, number in pairs:
        index = column_of(column, names, what)
        if index in seen:
            raise ParameterError.because(f"{what} names a column twice", got=names[index])
        seen.add(index)
        found[index] = number
    return found
