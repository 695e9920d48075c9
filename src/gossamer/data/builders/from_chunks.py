"""Builds data sets from files and chunks: tables that need not be in memory as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gossamer.data.builders.build_columns import bin_columns, provenance
from gossamer.data.built import BuiltData, Provenance, RawValues, not_in_memory
from gossamer.data.categories.levels import NO_LEVELS
from gossamer.data.chunks.chunked_source import ChunkedSource
from gossamer.data.chunks.chunked_table import NamedChunkedTable
from gossamer.data.chunks.row_stack import RowStack
from gossamer.data.chunks.source import Source
from gossamer.data.labels.roles import match_columns, refuse_names
from gossamer.data.labels.row_fields import check_fields
from gossamer.data.request import Request, join_fields, known_names
from gossamer.data.storage.on_disk import check_before_reading
from gossamer.data.table.matrix import Values, check_not_empty
from gossamer.params.check_method import keeps_raw_values


def build(source: Source, request: Request, reference: BuiltData | None) -> BuiltData:
    """Read what is not a feature, and levels; then the features, piece by piece."""
    params = request.params
    if reference is not None:
        source.be_like(reference.n_columns)
    columns, read, taken = None, None, request.taken
    if source.names is None:
        refuse_names(request.asked_columns(several=False))
    else:
        roles = request.find_roles(source.names, source.what, reference, positions=source.is_file)
        columns, read, taken = roles.features, roles.fields, roles.by_name(source.names)
        if reference is not None:
            columns = match_columns(
                known_names(reference, source.names),
                source.names,
                columns,
                source.what,
                is_named=source.is_named,
            )
        check_not_empty(source.n_rows or 1, len(columns))
    if reference is None and source.n_rows is not None:
        width = source.n_columns if columns is None else len(columns)
        n_file_columns = width if source.is_columnar else 0
        check_before_reading(source.n_rows, width, params, n_file_columns)
    known = None if reference is None else reference.columns.levels or NO_LEVELS
    times = None if reference is None else reference.columns.times
    pieces = ChunkedSource(source, columns, read, known, times)
    fields = request.with_fields(pieces.fields)
    if source.is_file:
        pieces.files = source.paths
        fields = join_fields(fields, source.take_side_fields())
    made = provenance("chunks", request, reference, taken=taken, is_file=source.is_file)
    # Whoever asks for raw values asks for memory: then all rows are read at once after all.
    raw = RawValues(
        lambda _: _all_rows(pieces), _all_rows(pieces) if keeps_raw_values(params) else None
    )
    return _bin(pieces, fields, request, reference, made, raw)


def _all_rows(pieces: ChunkedSource) -> Values:
    stack = RowStack(pieces.n_rows, pieces.n_columns)
    for values in pieces.read():
        stack.add(values)
    return stack.finish()


def build_chunked(
    pieces: NamedChunkedTable, request: Request, reference: BuiltData | None
) -> BuiltData:
    """Build a data set from pieces that say themselves how they are binned, such as a shard."""
    made = provenance("chunks", request, reference, taken=request.taken)
    return _bin(pieces, request.fields, request, reference, made, RawValues(_refuse))


def _bin(
    pieces: NamedChunkedTable,
    fields: Mapping[str, Any],
    request: Request,
    reference: BuiltData | None,
    source: Provenance,
    raw: RawValues,
) -> BuiltData:
    binned, facts = bin_columns(pieces, request, fields, reference)
    rows, weights = check_fields(fields, binned.n_rows, facts.n_columns)
    columns = replace(facts, weights=weights)
    return BuiltData(columns, rows, binned, raw, source, request.data).own()


def _refuse(user: str) -> Values:
    raise not_in_memory(user)
