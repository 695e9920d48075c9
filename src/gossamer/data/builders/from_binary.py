"""Builds data sets from files of `save_binary`: the bins are in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.builders.build_columns import provenance
from gossamer.data.built import BuiltData, Columns, RawValues
from gossamer.data.categories.categorical import categorical_columns, read_asked
from gossamer.data.labels.row_fields import check_fields
from gossamer.data.request import Request
from gossamer.data.storage import binary_file
from gossamer.data.storage.on_disk import refuse_on_disk
from gossamer.data.table.matrix import Values
from gossamer.errors import DataError
from gossamer.params import TABLE, Params, resolve
from gossamer.params.check_method import keeps_raw_values

# What bins depend on.
_BIN_PARAMS: Final = tuple(name for name, param in TABLE.items() if param.bins)
_FIELDS: Final = ("label", "weight", "init_score", "group", "position", "feature_weights")


def build(path: Path, request: Request, reference: BuiltData | None) -> BuiltData:
    """Read a data set from a file; fields that were given take the place of the file's.

    Raises:
        DataError: If the file has other bins, or categorical columns, than were asked for.
    """
    content = binary_file.load(path)
    if reference is None:
        request = replace(request, params=_params_of(path, request.params, content.params))
    _check_categorical(request.categorical, content.names, content.categorical_columns)
    n_rows, n_columns = content.binned.n_rows, content.binned.binning.n_columns
    fields = dict(request.fields)
    for name in _FIELDS:
        if fields.get(name) is None and not (name == "group" and fields.get("query") is not None):
            fields[name] = getattr(content, name)
    rows, weights = check_fields(fields, n_rows, n_columns)
    columns = Columns(
        tuple(request.choose_names(content.names, reference, n_columns)),
        None if content.table_names is None else tuple(content.table_names),
        tuple(content.categorical_columns),
        content.levels,
        weights,
    )
    source = provenance("binary file", request, reference)
    raw = RawValues(_refuse, content.raw)
    return BuiltData(columns, rows, content.binned, raw, source, request.data)


def save(path: Path, data: BuiltData) -> None:
    """Write a data set for `build` to read; with its raw values if they are kept for trainings."""
    refuse_on_disk(data.table, "save_binary()")
    made_with = data.source.binning
    given: dict[str, Any] = {n: made_with[n] for n in _BIN_PARAMS if n in made_with.given}
    content = binary_file.Content(
        data.table,
        data.names,
        resolve(given, context="dataset"),
        data.rows.label,
        data.rows.weight,
        data.rows.first_scores,
        data.rows.group,
        data.rows.position,
        data.columns.levels,
        data.columns.categorical,
        data.columns.weights,
        data.columns.table_names,
        _raw_to_save(data),
    )
    binary_file.save(path, content)


def _raw_to_save(data: BuiltData) -> npt.NDArray[Any] | None:
    kept = data.raw.kept
    if not keeps_raw_values(data.source.params) or not isinstance(kept, np.ndarray):
        return None
    return np.ascontiguousarray(kept)


def _check_categorical(given: Any, names: list[str], columns: Sequence[int]) -> None:
    asked = read_asked(given)
    if asked is None:
        return
    wanted = categorical_columns(asked, {}, names)
    if wanted != list(columns):
        raise DataError.because(
            "categorical_feature differs from the data set file's",
            got=[names[column] for column in wanted],
            expected=repr([names[c] for c in columns]),
            hint="The bins are in the file: leave it out, or write the file again.",
        )


def _params_of(path: Path, asked: Params, made_with: Params) -> Params:
    """Return the file's parameters and those asked for, which must not speak of other bins.

    Raises:
        DataError: If a parameter about bins has another value than in the file.
    """
    for name in _BIN_PARAMS:
        if name in asked.given and asked[name] != made_with[name]:
            raise DataError.because(
                f"{name} differs from its value in the data set file {str(path)!r}",
                got=asked[name],
                expected=repr(made_with[name]),
                hint="The bins are in the file: leave it out, or write the file again "
                "from a Dataset with this parameter.",
            )
    both = {**made_with.to_dict(given_only=True), **asked.to_dict(given_only=True)}
    return resolve(both, context="dataset")


def _refuse(user: str) -> Values:
    raise DataError.because(
        f"{user} needs raw values, and a file of save_binary() has bins only",
        expected="the table itself",
        hint="Make the Dataset from the table, or write the file from a Dataset with this "
        "parameter in its params.",
    )
