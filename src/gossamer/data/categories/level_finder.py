"""Levels of columns that are seen in chunks of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gossamer.data.categories.levels import Levels
from gossamer.data.table.columns import Column, Level, LevelColumn, LevelKind, mixed
from gossamer.errors import DataError


class LevelFinder:
    """Collects the levels of one column.

    Args:
        where: What errors call the column.
        in_order: Whether categories stay in the order in which they come; else they are sorted,
            unless all chunks have the same ones.

    Example:
        >>> finder = LevelFinder("column 0")
        >>> finder.add(LevelColumn(np.array([0, 1]), ["b", "a"], "text"))
        >>> finder.add(LevelColumn(np.array([0]), ["c"], "text"))
        >>> finder.levels
        ('a', 'b', 'c')
    """

    def __init__(self, where: str, *, in_order: bool = False) -> None:
        self._where, self._in_order = where, in_order
        self._found: dict[Level, None] = {}
        self._is_same = True  # in all chunks so far
        self._number: Any = None  # one of the numbers in chunks without levels
        self.kind: LevelKind | None = None

    def add(self, column: Column) -> None:
        """Look at the rows of a chunk.

        Raises:
            DataError: If they are text and those before numbers, or the other way round.
        """
        if not isinstance(column, LevelColumn):
            is_there = column[~np.isnan(column)] if column.dtype.kind == "f" else column
            if len(is_there):
                self._number = is_there[0].item()
        else:
            if self.kind == "ordered" or (self._found and column.kind == "ordered"):
                self._check_order(column)
            self._is_same &= self.kind is None or column.found == list(self._found)
            self.kind = self.kind or column.kind
            self._found.update(dict.fromkeys(column.found))
        if self.kind is not None and self._number is not None:
            raise mixed(self._where, self._number)
        if self._found and len({isinstance(v, str) for v in self._ends(column)}) > 1:
            raise mixed(self._where, next(v for v in self._ends(column) if not isinstance(v, str)))

    def _ends(self, column: Column) -> list[Level]:
        """One level of the first rows, one of these: all of a chunk are of one kind."""
        first = next(iter(self._found))
        return [first, *(column.found[:1] if isinstance(column, LevelColumn) else [])]

    def _check_order(self, column: LevelColumn) -> None:
        if column.kind != self.kind or column.found != list(self._found):
            raise DataError.because(
                f"{self._where} has ordered categories that differ from chunk to chunk",
                got=column.found,
                expected=f"{list(self._found)}",
            )

    @property
    def levels(self) -> tuple[Level, ...]:
        """All levels found, in an order that rows do not change."""
        found: list[Any] = list(self._found)
        stays = self.kind != "text" and (self._in_order or self._is_same)
        return tuple(found if stays else sorted(found))


def levels_found(
    finders: Mapping[int, LevelFinder],
) -> tuple[Levels, dict[int, LevelKind]]:
    """Return the levels, and of what kind they are, of the columns that have any."""
    kinds = {c: finder.kind for c, finder in finders.items() if finder.kind is not None}
    return Levels({c: finders[c].levels for c in kinds}), kinds
