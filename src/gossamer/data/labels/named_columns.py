"""Columns of frames, and of dicts of columns, by name: labels, weights, ... that stand in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gossamer.data.table.frames import frame_names, is_frame, is_pandas, select_columns


def names_of(table: Any) -> list[str] | None:
    """Return the names of a table's columns; None: it has none.

    Example:
        >>> names_of({"a": [1, 2], "b": [3, 4]}), names_of([[1, 3], [2, 4]])
        (['a', 'b'], None)
    """
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    return frame_names(table) if is_frame(table) else None


def column_of(table: Any, column: int) -> Any:
    """Return a column as it is in the table.

    Example:
        >>> column_of({"a": [1, 2], "b": [3, 4]}, 1)
        [3, 4]
    """
    if isinstance(table, Mapping):
        return list(table.values())[column]
    return table.iloc[:, column] if is_pandas(table) else table[frame_names(table)[column]]


def keep_columns(table: Any, columns: Sequence[int]) -> Any:
    """Return a table of some columns.

    Example:
        >>> keep_columns({"a": [1, 2], "b": [3, 4]}, [1])
        {'b': [3, 4]}
    """
    if isinstance(table, Mapping):
        items = list(table.items())
        return dict(items[column] for column in columns)
    return select_columns(table, columns)
