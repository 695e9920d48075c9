"""Which columns are categorical."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gossamer.data.table.columns import LevelKind
from gossamer.data.table.names import no_such_column
from gossamer.errors import DataError
from gossamer.params import TABLE
from gossamer.params.coerce import coerce


def categorical_columns(
    asked: Iterable[int | str] | None, kinds: Mapping[int, LevelKind], names: Sequence[str]
) -> list[int]:
    """Return the categorical columns, increasing.

    Args:
        asked: Names or positions of columns; None: those with levels, but not ordered categories.
            Categories that are not asked for are numbers, as in LightGBM: their codes.
        kinds: What kind of levels a column has.
        names: Names of the columns.

    Raises:
        DataError: If there is no such column, one is asked for twice, or one of text is left out.

    Example:
        >>> categorical_columns(None, {0: "text", 2: "ordered"}, ["city", "age", "size"])
        [0]
        >>> categorical_columns(["city", 1], {0: "text"}, ["city", "age"])
        [0, 1]
    """
    if asked is None:
        return sorted(column for column, kind in kinds.items() if kind != "ordered")
    found: set[int] = set()
    for item in asked:
        column = _find(item, names)
        if column in found:
            raise DataError.because(
                "categorical_feature has the same column twice", got=names[column]
            )
        found.add(column)
    for column, kind in kinds.items():
        if kind == "text" and column not in found:
            raise DataError.because(
                f"column {names[column]!r} holds text, but categorical_feature leaves it out",
                expected="every column of text, or 'auto'",
                hint="Name it there too, or make numbers of it.",
            )
    return sorted(found)


def read_asked(value: Any) -> tuple[int | str, ...] | None:
    """Return names and positions as given: a list, "0,1,2", "name:a,b"; None: nothing was asked.

    Raises:
        ParameterError: If it is something else.

    Example:
        >>> read_asked([0, "age"]), read_asked("0,1"), read_asked("name:a,b"), read_asked("auto")
        ((0, 'age'), ('0', '1'), ('a', 'b'), None)
    """
    if value is None or (isinstance(value, str) and value in ("auto", "")):
        return None
    items: Any = coerce(TABLE["categorical_feature"], value, "categorical_feature")
    if items == ("auto",):
        return None
    if items and isinstance(items[0], str) and items[0].startswith("name:"):
        return (items[0].removeprefix("name:").strip(), *items[1:])
    return tuple(items)


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii()


def _find(item: object, names: Sequence[str]) -> int:
    """Return the position of a column that was asked for; in a string it may be a number."""
    if isinstance(item, str) and item not in names and _is_whole(item):
        item = int(item)
    if isinstance(item, str):
        if item not in names:
            raise no_such_column(
                "categorical_feature names a column that is not there", item, names
            )
        return names.index(item)
    assert isinstance(item, int)  # the parameter's kind sees to it
    if not 0 <= item < len(names):
        raise DataError.because(
            "categorical_feature has a column that is not there",
            got=item,
            expected=f"0..{len(names) - 1}",
        )
    return item
