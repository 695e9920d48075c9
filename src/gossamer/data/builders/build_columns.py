"""What builders of tables share: bins and facts of the columns, own ones or the reference's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gossamer.data.built import BuiltData, Columns, Kind, Provenance
from gossamer.data.categories.categorical import categorical_columns, read_asked
from gossamer.data.categories.levels import Levels
from gossamer.data.chunks.chunked_table import NamedChunkedTable
from gossamer.data.labels.fields import check_weight
from gossamer.data.request import Request, known_names
from gossamer.data.storage.binned import BinnedTable
from gossamer.data.storage.on_disk import bin_training, bin_validation
from gossamer.data.table.matrix import Table, check_not_empty
from gossamer.data.table.names import match_names
from gossamer.data.table.time_columns import without_text
from gossamer.errors import DataError, ParameterError
from gossamer.params import Params

AnyTable = Table | NamedChunkedTable


def bin_columns(
    table: AnyTable, request: Request, fields: Mapping[str, Any], reference: BuiltData | None
) -> tuple[BinnedTable, Columns]:
    """Put a table into bins of its own, or into the reference's bins.

    Args:
        table: The features; of validation data in memory, in the reference's order.
        request: What the user gave.
        fields: Labels, weights, ... by name.
        reference: Training data whose bins are used.
    """
    check_not_empty(table.n_rows, table.n_columns)
    found, params = table.names or [], request.params
    names = tuple(request.choose_names(found, reference, table.n_columns))
    if reference is not None:
        check_width(table.n_columns, reference)
        binned = bin_validation(table, reference.table, params)
        known = reference.columns
        told = known.table_names
        return binned, Columns(
            names,
            None if told is None else tuple(told),
            known.categorical,
            known.levels,
            times=known.times,
        )
    asked = read_asked(request.categorical)
    if asked is None and "categorical_feature" in params.given:
        asked = read_asked(params.categorical_feature)
    categorical = categorical_columns(asked, table.kinds, names)
    levels = table.levels or None
    _check_zeros(params, levels)
    weight = check_weight(fields.get("weight"), table.n_rows) if params.weighted_bins else None
    binned = bin_training(table, params, names, categorical, weight)
    times = None if table.times is None else without_text(table.times)
    return binned, Columns(names, tuple(found) or None, tuple(categorical), levels, times=times)


def like_reference(table: Table, reference: BuiltData) -> Table:
    """Check the columns against the reference's, and put them into its order."""
    check_width(table.n_columns, reference)
    names = known_names(reference, table.names)
    if table.names is None or names is None:
        return table
    order = match_names(names, table.names)
    return table if order is None else table.take_columns(order, names)


def check_width(n_columns: int, reference: BuiltData) -> None:
    """Raise if the data has another number of columns than its reference."""
    if n_columns != reference.n_columns:
        raise DataError.because(
            "validation and training data differ in columns",
            got=n_columns,
            expected=f"{reference.n_columns}",
        )


def provenance(
    kind: Kind, request: Request, reference: BuiltData | None, **facts: Any
) -> Provenance:
    """Return where a data set comes from."""
    binning = request.params if reference is None else reference.source.binning
    header = request.has_header(reference)
    return Provenance(kind, request.params, request.own, binning, header, **facts)


def _check_zeros(params: Params, levels: Levels | None) -> None:
    """Code 0 stands for a level like any other, and missing values for no level."""
    if not params.use_missing and levels:
        raise ParameterError.because(
            "use_missing=false cannot be combined with text and categories of a frame: "
            "missing and unseen ones would be taken for the first",
            got=False,
            expected="use_missing=true",
        )
    if params.use_missing and params.zero_as_missing and levels:
        raise ParameterError.because(
            "zero_as_missing cannot be combined with text and categories of a frame, "
            "the first of which has the code 0",
            got=True,
            expected="zero_as_missing=false",
            hint=f"Column {levels.columns[0]} has levels. Put NaN where a zero means missing.",
        )
