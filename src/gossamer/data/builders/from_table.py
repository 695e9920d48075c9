"""Builds data sets from tables in memory; large frames are converted piece by piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.data.builders.build_columns import bin_columns, like_reference, provenance
from gossamer.data.built import BuiltData, RawValues, TakenColumns
from gossamer.data.categories.levels import NO_LEVELS
from gossamer.data.chunks.chunked_frame import ChunkedFrame, find_chunked_frame
from gossamer.data.chunks.find_source import whole_table
from gossamer.data.labels.named_columns import names_of
from gossamer.data.labels.roles import asked_by_params, refuse_names, values_of
from gossamer.data.labels.row_fields import check_fields
from gossamer.data.request import Request, known_names
from gossamer.data.table.columns import plain_values
from gossamer.data.table.frames import column_in_frame, is_frame, read_column, without_columns
from gossamer.data.table.large_integers import warn_of_large_integers
from gossamer.data.table.matrix import Table, Values, as_table, read_values
from gossamer.data.table.names import check_names
from gossamer.data.table.table_kinds import as_known
from gossamer.data.table.time_columns import check_times
from gossamer.logger import warn
from gossamer.params.check_method import keeps_raw_values


def build(request: Request, reference: BuiltData | None) -> BuiltData:
    """Build a data set from a table in memory."""
    data, fields, taken = _take_out_columns(whole_table(request.data), request, reference)
    known = None if reference is None else reference.columns.levels or NO_LEVELS
    names = known_names(reference, names_of(data))
    keeps_raw = keeps_raw_values(request.params)
    table: Table | ChunkedFrame | None = (
        None if keeps_raw else find_chunked_frame(data, known, names)
    )
    if table is None:
        table = as_table(data, known, names)
        if reference is not None:
            table = like_reference(table, reference)
    if reference is None:
        warn_of_large_integers(data)
    else:
        _check_times(table, reference)
    binned, columns = bin_columns(table, request, fields, reference)
    rows, weights = check_fields(fields, binned.n_rows, columns.n_columns)

    def find(user: str) -> Values:
        found = as_table(data)
        return (found if reference is None else like_reference(found, reference)).values

    kept = table.values if keeps_raw and isinstance(table, Table) else None
    return BuiltData(
        replace(columns, weights=weights),
        rows,
        binned,
        RawValues(find, kept),
        provenance("table", request, reference, taken=taken),
        data,
    )


def _check_times(table: Table | ChunkedFrame, reference: BuiltData) -> None:
    """Check that dates are where the reference has dates."""
    known = reference.columns
    levels = known.levels or NO_LEVELS
    if isinstance(table, Table):
        check_times(known.times, table.times, table.values, known.names, levels.columns)
    elif known.times is not None:
        first = table.take(np.arange(min(table.n_rows, 1_000)))
        check_times(known.times, table.times, first, known.names, levels.columns)


def _take_out_columns(
    data: Any, request: Request, reference: BuiltData | None
) -> tuple[Any, Mapping[str, Any], TakenColumns | None]:
    """Make fields of the columns of a frame that are named as label, weight, ..."""
    asked = request.asked_columns(several=False)
    if asked or asked_by_params(request.params) or (reference and reference.source.taken):
        data = as_known(data)
    names = names_of(data)
    if names is None:
        refuse_names(asked)
        if reference is None and (by_params := asked_by_params(request.params)):
            warn(
                f"Parameters name a column as {', '.join(by_params)}, which has no effect: the "
                "columns of the data have no names. Pass the values themselves."
            )
        return data, request.fields, request.taken
    if request.taken is not None and not request.asked_columns():
        return data, request.fields, request.taken  # they are out already
    what = "the data frame" if is_frame(data) else "the table"
    roles = request.find_roles(names, what, reference, positions=False)
    taken = roles.by_name(names)
    if len(roles.features) == len(names):
        return data, request.fields, taken
    read = {
        field: values_of(field, [_values_of(data, c, names[c]) for c in columns])
        for field, columns in roles.fields.items()
    }
    fields = request.with_fields(read)
    check_names(names, len(names))  # by name, they must differ
    left = without_columns(data, set(range(len(names))) - set(roles.features))
    return left, fields, taken


def _values_of(data: Any, column: int, name: str) -> npt.NDArray[Any]:
    if isinstance(data, Mapping):
        values = list(data.values())[column]
        return plain_values(read_values(values, f"column {name!r}"))
    return plain_values(read_column(data, column, column_in_frame(name)))
