"""Categories of the columns of a table or a model (`get_categories`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gossamer.data import Table
from gossamer.data.categories.levels import NO_LEVELS, Levels
from gossamer.data.table.frames import is_frame, is_pandas
from gossamer.errors import ParameterError


@dataclass(frozen=True)
class Categories:
    """The categories of each column, as XGBoost's `Categories`.

    Attributes:
        by_column: Name of each column, and its categories; None: it has numbers.
        has_arrow: Whether `to_arrow` may be called.
    """

    by_column: tuple[tuple[str, tuple[Any, ...] | None], ...]
    has_arrow: bool = False

    @classmethod
    def of(
        cls, levels: Levels | None, names: Sequence[str] | None, n_columns: int, has_arrow: bool
    ) -> Categories:
        """Collect the categories that levels hold; columns without names are numbered.

        Example:
            >>> Categories.of(None, ["a"], 1, False).empty()
            True
        """
        known = {} if levels is None else levels.by_column
        found = [tuple(known[c]) if c in known else None for c in range(n_columns)]
        called = [str(c) for c in range(n_columns)] if names is None else names
        return cls(tuple(zip(called, found, strict=True)), has_arrow)

    def empty(self) -> bool:
        """Whether no column has categories."""
        return all(categories is None for _, categories in self.by_column)

    def to_arrow(self) -> list[tuple[str, Any]]:
        """Return the name of each column and its categories as an array of pyarrow, or None.

        Raises:
            ParameterError: If `get_categories` was not asked to export them.
        """
        if not self.has_arrow:
            raise ParameterError.because(
                "the categories were not exported to Arrow",
                hint="Call get_categories(export_to_arrow=True).",
            )
        import pyarrow

        return [
            (name, None if found is None else pyarrow.array(list(found)))
            for name, found in self.by_column
        ]


def recode(table: Any, known: Any) -> Any:
    """Return a frame of pandas, or a `Table`, with the codes of other data or of a model.

    Columns with further categories stay as they are.

    Args:
        table: A table of any kind.
        known: `Categories` or `Levels`; anything else changes nothing.

    Example:
        >>> import pandas
        >>> frame = pandas.DataFrame({"a": pandas.Categorical(["x", "y"])})
        >>> recode(frame, Levels({0: ("y", "x", "z")}))["a"].cat.codes.tolist()
        [1, 0]
    """
    if isinstance(known, Categories):
        wanted = {c: found for c, (_, found) in enumerate(known.by_column) if found is not None}
    elif isinstance(known, Levels):
        wanted = {c: tuple(found) for c, found in known.by_column.items()}
    else:
        return table
    if isinstance(table, Table) and table.levels not in (None, Levels(wanted)):
        return _recode_codes(table, table.levels or NO_LEVELS, wanted)
    if not (is_pandas(table) and is_frame(table)):
        return table
    result = table.copy(deep=False)
    for column, categories in wanted.items():
        own = getattr(table.dtypes.iloc[column], "categories", None)
        if own is not None and tuple(own) != categories and set(own) <= set(categories):
            result.isetitem(column, table.iloc[:, column].cat.set_categories(list(categories)))
    return result


def _recode_codes(table: Table, own: Levels, wanted: Mapping[int, tuple[Any, ...]]) -> Table:
    values, levels = np.array(table.matrix, dtype=np.float64), dict(own.by_column)
    for column, categories in wanted.items():
        before = levels.get(column, ())
        if not set(before) <= set(categories):
            continue
        place = np.array([categories.index(category) for category in before], dtype=np.float64)
        is_known = ~np.isnan(values[:, column])
        values[is_known, column] = place[values[is_known, column].astype(np.intp)]
        levels[column] = categories
    return replace(table, values=values, levels=Levels(levels))
