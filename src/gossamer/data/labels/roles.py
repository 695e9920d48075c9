"""Which column of a table is the label, the weight, ..., and which ones are features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gossamer.data.table.names import listing, no_such_column
from gossamer.errors import DataError, DataTypeError
from gossamer.params import Params

# What a column can be instead of a feature.
FIELDS: Final = ("label", "weight", "init_score", "position", "query")
_SEVERAL: Final = ("label", "init_score")  # may have more than one column
# LightGBM's parameters for that.
_PARAMS: Final = {"label": "label_column", "weight": "weight_column", "query": "group_column"}

# Columns by name or position, for each field and for "ignore".
Asked = Mapping[str, tuple[int | str, ...]]


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are.

    Attributes:
        fields: Field -> its columns, one, or for labels and initial scores several.
        ignored: Columns that are left out.
        features: All other columns, in order.
    """

    fields: Mapping[str, tuple[int, ...]]
    ignored: tuple[int, ...]
    features: list[int]

    def by_name(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the names of the columns that are not features, to find them in other tables."""
        columns = {**self.fields, "ignore": self.ignored}
        return {field: tuple(names[c] for c in found) for field, found in columns.items() if found}


def asks_columns(
    value: object, *, positions: bool = False, several: bool = False
) -> tuple[int | str, ...] | None:
    """Return the columns that a field names; None: it holds values, or nothing.

    Args:
        value: What was passed as `label`, `weight`, ...
        positions: Whether a number is the position of a column.
        several: Whether a list of names stands for columns; ids may be text, too.

    Example:
        >>> asks_columns("price"), asks_columns([0, 1])
        (('price',), None)
        >>> asks_columns(["low", "high"], several=True), asks_columns(["a", "a", "b"])
        (('low', 'high'), None)
    """
    if isinstance(value, str):
        return (value,)
    if positions and isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    if several and isinstance(value, (list, tuple)) and value:
        return tuple(value) if all(isinstance(v, str) for v in value) else None
    return None


def asked_by_arguments(
    values: Mapping[str, Any], *, positions: bool, several: bool
) -> dict[str, tuple[int | str, ...]]:
    """Return the columns that arguments name: field -> names or positions.

    Args:
        values: What was passed as `label`, ..., and `group`.
        positions: As for `asks_columns`.
        several: Whether labels may be a list of names.

    Example:
        >>> values = {"label": ["low", "high"], "group": "user"}
        >>> asked_by_arguments(values, positions=False, several=True)
        {'label': ('low', 'high'), 'query': ('user',)}
    """
    asked = {}
    for field in FIELDS:
        many = several and field in _SEVERAL
        columns = asks_columns(values.get(field), positions=positions, several=many)
        if columns is None and field == "query":
            columns = asks_columns(values.get("group"), positions=positions)
        if columns is not None:
            asked[field] = columns
    return asked


def asked_by_params(params: Params) -> dict[str, tuple[int | str, ...]]:
    """Return the columns that parameters name: LightGBM's `label_column`, ...

    Example:
        >>> from gossamer.params import resolve
        >>> asked_by_params(resolve({"label_column": "name:y", "ignore_column": "name:a,b"}))
        {'label': ('y',), 'ignore': ('a', 'b')}
    """
    asked: dict[str, tuple[int | str, ...]] = {}
    for field, name in _PARAMS.items():
        column: Any = params[name]
        if column != "":
            asked[field] = _without_prefix((column,))
    if params.ignore_column:
        asked["ignore"] = _without_prefix(tuple(params.ignore_column))
    return asked


def _without_prefix(items: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Read "name:a", and text that is a number."""
    first = items[0]
    if isinstance(first, str) and first.startswith("name:"):
        return (first.removeprefix("name:"), *items[1:])
    return tuple(int(i) if isinstance(i, str) and i.isdecimal() else i for i in items)


def find_roles(
    names: Sequence[str], arguments: Asked, parameters: Asked, inherited: Asked, what: str
) -> Roles:
    """Say what each column is.

    Args:
        names: Names of the columns.
        arguments: Columns that were passed as `label=`, ...; positions count all columns.
        parameters: Roles from `asked_by_params`. As in LightGBM, positions do not count the label's
            column, except the position of the label itself.
        inherited: The training data's roles, where it has some.
        what: What errors call the table.

    Raises:
        DataError: If a column is not there.
    """
    there = set(names)
    kept = {
        field: columns
        for field, columns in inherited.items()
        if all(name in there for name in columns) or field == "ignore"
    }
    if "ignore" in kept:
        kept["ignore"] = tuple(name for name in kept["ignore"] if name in there)
    asked = {**kept, **parameters, **arguments}
    label = tuple(_find("label", item, names, what) for item in asked.get("label", ()))
    found: dict[str, tuple[int, ...]] = {"label": label} if label else {}
    for field, items in asked.items():
        if field == "label" or not items:
            continue
        if field in parameters and field not in arguments and len(label) == 1:
            items = tuple(i if isinstance(i, str) or i < label[0] else i + 1 for i in items)
        found[field] = tuple(_find(field, item, names, what) for item in items)
    ignored = found.pop("ignore", ())
    taken = {column for columns in found.values() for column in columns} | set(ignored)
    return Roles(found, ignored, [c for c in range(len(names)) if c not in taken])


def _find(field: str, item: int | str, names: Sequence[str], what: str) -> int:
    if isinstance(item, str):
        if item in names:
            return names.index(item)
        raise no_such_column(f"{field} names a column that is not in {what}", item, names)
    if 0 <= item < len(names):
        return item
    raise DataError.because(
        f"{field} is a column that is not in {what}",
        got=item,
        expected=f"0..{len(names) - 1}, or a name",
    )


def match_columns(
    known: Sequence[str] | None,
    names: Sequence[str],
    features: Sequence[int],
    what: str,
    *,
    is_named: bool,
) -> list[int]:
    """Return the columns of a file that the training data has, in the training data's order.

    Others in it are passed over. Where the file does not name its columns, and has as many as the
    training data, they are taken as they come.

    Args:
        known: Names in the training data; None: it has none.
        names: Names of the columns of the file.
        features: The columns that may be features.
        what: What errors call the file.
        is_named: Whether the file itself names them.

    Raises:
        DataError: If columns are missing.

    Example:
        >>> match_columns(["a", "b"], ["b", "id", "a"], [0, 1, 2], "the file", is_named=True)
        [2, 0]
    """
    if known is None or (not is_named and len(features) == len(known)):
        return list(features)
    place = {names[column]: column for column in features}
    missing = [name for name in known if name not in place]
    if missing:
        raise DataError.because(
            f"{what} lacks columns of the training data: {listing(missing)}",
            expected=f"all of {listing(known)}",
            hint=f"It has {listing(list(place), 20)}.",
        )
    return [place[name] for name in known]


def refuse_names(arguments: Asked) -> None:
    """Raise if columns were asked for by name in a table that has no names."""
    for field, columns in arguments.items():
        raise DataTypeError.because(
            f"{field} names a column, but the columns of the data have no names",
            got=columns[0],
            expected="one value per row",
            hint=f"Pass a data frame or a file, or the values as {field}.",
        )


def values_of(field: str, columns: Sequence[Any]) -> Any:
    """Put the columns of a field side by side, if there are several."""
    import numpy as np

    return columns[0] if len(columns) == 1 else np.column_stack(list(columns))
