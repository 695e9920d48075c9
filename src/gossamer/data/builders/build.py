"""`build`: from what the user gave to a data set in bins; one builder per kind of source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gossamer.cuda.arrays import find_device_array, to_host
from gossamer.data.builders import from_chunks, from_table
from gossamer.data.built import BuiltData, freed
from gossamer.data.chunks.chunked_table import NamedChunkedTable
from gossamer.data.chunks.find_source import find_source, join_arrays
from gossamer.data.files import is_binary_dataset
from gossamer.data.request import Request
from gossamer.params.check_method import keeps_raw_values


def build(request: Request, reference: BuiltData | None = None) -> BuiltData:
    """Build a data set.

    Args:
        request: What the user gave.
        reference: Training data whose bins are used; None: this data chooses its own.

    Raises:
        DataError: If the table, the labels, the weights, ... cannot be used.
        ParameterError: If parameters do not fit the table.
    """
    fields = {name: to_host(values) for name, values in request.fields.items()}
    request = replace(request, fields=fields)
    if is_binary_dataset(request.data):
        from gossamer.data.builders import from_binary  # few data sets come from such files

        return from_binary.build(Path(request.data).expanduser(), request, reference)
    if request.data is None:
        raise freed("construct()")
    if isinstance(request.data, NamedChunkedTable):
        return from_chunks.build_chunked(request.data, request, reference)
    array = find_device_array(request.data)
    if array is not None:
        if not keeps_raw_values(request.params):
            from gossamer.data.chunks.device_rows import DeviceRows  # only arrays on a GPU need it

            return from_chunks.build_chunked(DeviceRows(array), request, reference)
        request = replace(request, data=to_host(array))
    if keeps_raw_values(request.params):
        request = replace(request, data=join_arrays(request.data))
    text: set[str] = set()
    if reference is not None and (levels := reference.columns.levels) is not None:
        text = {reference.columns.names[c] for c in levels.columns if levels.is_text(c)}
    source = find_source(request.data, request.has_header(reference), text)
    if source is not None:
        return from_chunks.build(source, request, reference)
    return from_table.build(request, reference)
