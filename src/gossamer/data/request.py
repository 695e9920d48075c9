"""`Request`: what a data set is to be built from, as the user gave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gossamer.data.built import BuiltData, TakenColumns
from gossamer.data.labels.roles import (
    Roles,
    asked_by_arguments,
    asked_by_params,
    asks_columns,
    find_roles,
)
from gossamer.data.table.names import check_names, default_names, names_for
from gossamer.params import Params


@dataclass(frozen=True, eq=False)
class Request:
    """What a data set is to be built from; never changed.

    Attributes:
        data: The user's table, or where it is read from.
        fields: Labels, weights, ... by name: values, or names of columns.
        names: Names of the columns; "auto": the table's own.
        categorical: The categorical columns; "auto": by their types.
        params: Parameters, including a training's.
        own: The data set's own parameters alone.
        taken: Columns that an earlier build found not to be features.
    """

    data: Any
    fields: Mapping[str, Any]
    names: Sequence[str] | Literal["auto"]
    categorical: Sequence[str | int] | str | None
    params: Params
    own: Params
    taken: TakenColumns | None = None

    def asked_columns(
        self, *, positions: bool = False, several: bool = True
    ) -> dict[str, tuple[int | str, ...]]:
        """Return the columns that fields name."""
        return asked_by_arguments(self.fields, positions=positions, several=several)

    def find_roles(
        self, names: list[str], what: str, reference: BuiltData | None, *, positions: bool
    ) -> Roles:
        """Say what each column of the table is; `what` is what errors call the table."""
        params, inherited = self.params, dict(self.taken or {})
        if reference is not None:
            params = self.own
            inherited = {**(reference.source.taken or {}), **inherited}
        arguments = self.asked_columns(positions=positions)
        return find_roles(names, arguments, asked_by_params(params), inherited, what)

    def with_fields(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields, with those that were read where no values were given."""
        return join_fields(self.fields, found)

    def choose_names(
        self, found: Sequence[str], reference: BuiltData | None, n_columns: int
    ) -> list[str]:
        """Return the names that were given, or the reference's, or those found with the data."""
        if not is_auto(self.names):
            return check_names(self.names, n_columns)
        if reference is not None:
            return reference.names
        return check_names(found, n_columns) if found else default_names(n_columns)

    def has_header(self, reference: BuiltData | None) -> bool | None:
        """Whether the first line of a text file has names; None: not said."""
        if "header" in self.params.given:
            return self.params.header
        return None if reference is None else reference.source.has_header


def join_fields(given: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with those that were read, where no values were given.

    Example:
        >>> join_fields({"label": "y", "weight": [1, 2]}, {"label": [3, 4], "weight": [5, 6]})
        {'label': [3, 4], 'weight': [1, 2]}
    """
    joined = dict(given)
    asked = asked_by_arguments(given, positions=True, several=True)
    for field, values in found.items():
        sizes = joined.get("group")
        if field == "query" and sizes is not None and asks_columns(sizes) is None:
            continue
        if field == "group" and joined.get("query") is not None:
            continue
        if joined.get(field) is None or field in asked:
            joined[field] = values
            if field == "query":
                joined["group"] = None
    return joined


def known_names(reference: BuiltData | None, found: Sequence[str] | None) -> list[str] | None:
    """Return the names of the reference's columns, by which a table's columns are found."""
    if reference is None:
        return None
    return names_for(reference.names, reference.columns.table_names, found or ())


def is_auto(value: object) -> bool:
    """Whether this is the word "auto"; an array of names must not be compared with it."""
    return isinstance(value, str) and value == "auto"
