"""Labels, weights and queries by name: they are columns of the table that is handed to `fit`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from gossamer.data.labels.named_columns import column_of, keep_columns, names_of
from gossamer.data.labels.roles import asks_columns, find_roles, refuse_names
from gossamer.data.table.table_kinds import as_known
from gossamer.errors import DataError

_SEVERAL: Final = ("y", "init_score")  # may be several columns


class Parts(NamedTuple):
    """A table, and what was taken out of it.

    Attributes:
        table: The columns that are left: the features.
        fields: What was given, names replaced by the columns that they name.
        taken: The names of the columns that were taken out.
    """

    table: Any
    fields: dict[str, Any]
    taken: tuple[str, ...]


def take_columns(x: Any, fields: Mapping[str, Any], *, several: bool = False) -> Parts:
    """Take the columns out of a table that are given by name: `fit(frame, "price")`.

    Without names all is returned as it was.

    Args:
        x: The table.
        fields: Arguments of `fit`: values, or the name of a column.
        several: Whether a list of names stands for several columns. To a classifier it is a list
            of labels.

    Raises:
        DataError: If there is no such column, or the table has no names.

    Example:
        >>> take_columns({"rooms": [2, 3], "price": [10, 12]}, {"y": "price", "query": None})
        Parts(table={'rooms': [2, 3]}, fields={'y': [10, 12], 'query': None}, taken=('price',))
    """
    asked = {}
    for field, value in fields.items():
        columns = asks_columns(value, several=several and field in _SEVERAL)
        if columns is not None:
            asked[field] = columns
    if not asked:
        return Parts(x, dict(fields), ())
    refuse_path(x)
    table = as_known(x)
    names = names_of(table)
    if names is None:
        refuse_names(asked)
        names = []
    roles = find_roles(names, asked, {}, {}, "the table")
    found = {field: _read(table, columns) for field, columns in roles.fields.items()}
    taken = tuple(names[c] for columns in roles.fields.values() for c in columns)
    return Parts(keep_columns(table, roles.features), {**fields, **found}, taken)


def refuse_path(x: Any) -> None:
    """Raise if a table is the path of a file: estimators may have to look at all of it."""
    if isinstance(x, (str, os.PathLike)):
        raise DataError.because(
            "estimators need a table in memory",
            got=x,
            expected="an array or a data frame",
            hint="Read the file first, for instance with pandas.read_csv(). To predict a file "
            "without reading it as a whole, use booster_.predict().",
        )


def _read(table: Any, columns: Sequence[int]) -> Any:
    read = [column_of(table, column) for column in columns]
    return read[0] if len(read) == 1 else np.column_stack([np.asarray(part) for part in read])


def leave_out(x: Any, names: Sequence[str]) -> Any:
    """Return a table without the columns that were not features in training, where it has them.

    Example:
        >>> leave_out({"rooms": [2], "price": [10]}, ["price", "weight"])
        {'rooms': [2]}
    """
    if not names:
        return x
    table = as_known(x)
    there = names_of(table)
    if there is None or not set(names) & set(there):
        return table
    return keep_columns(table, [i for i, name in enumerate(there) if name not in names])
