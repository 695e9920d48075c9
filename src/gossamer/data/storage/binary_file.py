"""The file of a binned data set: safetensors, with everything else as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native, files
from gossamer.binning import Binning
from gossamer.data.categories.levels import Levels
from gossamer.data.labels.fields import (
    check_feature_weights,
    check_init_score,
    check_label,
    check_weight,
)
from gossamer.data.labels.queries import check_group, check_position
from gossamer.data.storage.binned import BinnedTable
from gossamer.data.table.names import check_names
from gossamer.errors import DataError, ParameterError, shorten
from gossamer.params import Params, resolve

FORMAT: Final = "gossamer dataset"
VERSION: Final = 3
# Entries of the features that are not zero, column by column.
_SPARSE: Final = ("features", "begin", "rows", "bins")


@dataclass(frozen=True, eq=False)
class Content:
    """What the file of a data set holds."""

    binned: BinnedTable
    names: list[str]
    params: Params  # that the bins follow from
    label: npt.NDArray[np.float32] | None
    weight: npt.NDArray[np.float32] | None
    init_score: npt.NDArray[np.float64] | None
    group: npt.NDArray[Any] | None = None
    position: npt.NDArray[Any] | None = None
    levels: Levels | None = None
    categorical_columns: Sequence[int] = ()
    feature_weights: npt.NDArray[np.float64] | None = None
    table_names: list[str] | None = None
    raw: npt.NDArray[Any] | None = None  # the table's values, where trainings need them


def save(path: Path, content: Content) -> None:
    """Write a data set; the file is complete or not there."""
    binned = content.binned
    arrays = {f"binning.{name}": array for name, array in binned.binning.to_arrays().items()}
    for name in ("label", "weight", "init_score", "group", "feature_weights", "raw"):
        if getattr(content, name) is not None:
            arrays[name] = getattr(content, name)
    positions: tuple[int | float | str, ...] = ()
    if content.position is not None:
        arrays["position"], positions = check_position(content.position, binned.n_rows)
    storage = binned.bins.storage()
    arrays |= {f"storage.{name}": array for name, array in storage.items()}
    for name, features, dtype in _plain_features(binned.binning, storage):
        bins = np.empty((len(features), binned.n_rows), dtype=dtype)
        for i, feature in enumerate(features):
            bins[i] = binned.bins.copy_column(int(feature))
        arrays[name] = bins
    sparse = zip(_SPARSE, binned.bins.copy_sparse(), strict=True)
    arrays |= {f"sparse.{name}": array for name, array in sparse}
    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "n_rows": binned.n_rows,
        "names": content.names,
        "params": content.params.to_dict(given_only=True),
        "positions": positions,
        "missing_kind": int(binned.binning.missing_kind),
        "share_lanes": binned.bins.shares_lanes,
    }
    if content.levels:
        facts["levels"] = content.levels.to_json()
    if content.table_names is not None:
        facts["table_names"] = content.table_names
    if content.categorical_columns:
        facts["categorical_columns"] = list(content.categorical_columns)
    files.write_atomically(path, files.to_bytes(arrays, facts))


def load(path: Path) -> Content:
    """Read a data set, and check all of it.

    Raises:
        DataError: If the file is not one that `save` wrote, whole and unaltered.
        OSError: If the file cannot be read.
    """
    try:
        arrays, facts = files.from_bytes(path.read_bytes())
    except files.BrokenFile as error:
        raise _unusable(path, str(error)) from None
    if facts.get("format") != FORMAT or facts.get("version") != VERSION:
        got = shorten(f"{facts.get('format')!r} version {facts.get('version')!r}")
        raise _unusable(path, f"it is a {got}, not a {FORMAT!r} version {VERSION}")
    try:
        return _checked(arrays, facts)
    except KeyError as error:
        raise _unusable(path, f"{error} is missing") from None
    except (
        *(TypeError, ValueError, IndexError, ArithmeticError, MemoryError),
        RuntimeError,  # arrays of types that the native core does not take
    ) as error:
        raise _unusable(path, shorten(error)) from None


def _checked(arrays: files.Arrays, facts: dict[str, Any]) -> Content:
    n_rows = facts["n_rows"]
    if type(n_rows) is not int or not 0 < n_rows < 2**32:
        raise ValueError("the number of rows must be between 1 and 2^32")
    if "label" in arrays:  # before so many are allocated
        check_label(arrays["label"], n_rows)
    names = check_names(facts["names"], len(facts["names"]))
    binning = Binning.from_arrays(_part(arrays, "binning."), len(names), facts["missing_kind"])
    storage = _part(arrays, "storage.")
    bins = _native.BinMatrix(
        binning.columns,
        binning.upper,
        binning.offsets,
        int(binning.missing_kind),
        n_rows,
        storage["may_miss"],
        binning.category,
        bool(facts["share_lanes"]),
        storage["bundled"],
        storage["bundle_ends"],
        storage["loose"],
        storage.get("zero_share"),
    )
    for name, features, dtype in _plain_features(binning, storage):
        if arrays[name].shape != (len(features), n_rows) or arrays[name].dtype != dtype:
            raise ValueError(f"{name} has a wrong shape or type")
        for column, feature in zip(arrays[name], features, strict=True):
            bins.set_column(int(feature), column.astype(np.uint16))
    sparse = _part(arrays, "sparse.")
    bins.set_sparse(*(sparse[name] for name in _SPARSE))
    bins.find_missing()
    label, group, position = (arrays.get(name) for name in ("label", "group", "position"))
    if position is not None:
        position = np.asarray(facts["positions"])[check_position(position, n_rows)[0]]
    return Content(
        BinnedTable(binning, bins),
        names,
        _checked_params(facts["params"]),
        None if label is None else check_label(label, n_rows),
        check_weight(arrays.get("weight"), n_rows),
        check_init_score(arrays.get("init_score"), n_rows),
        None if group is None else check_group(group, n_rows),
        position,
        Levels.from_json(facts.get("levels", []), len(names)) or None,
        _checked_columns(facts.get("categorical_columns", []), len(names)),
        check_feature_weights(arrays.get("feature_weights"), len(names)),
        check_names(facts["table_names"], len(names)) if "table_names" in facts else None,
        _checked_raw(arrays.get("raw"), (n_rows, len(names))),
    )


def _checked_raw(raw: npt.NDArray[Any] | None, shape: tuple[int, int]) -> npt.NDArray[Any] | None:
    if raw is not None and (raw.shape != shape or raw.dtype.kind not in "fiub"):
        raise ValueError("the raw values have a wrong shape or type")
    return raw


def _checked_params(given: Any) -> Params:
    if not isinstance(given, dict):
        raise ValueError("the parameters are not a dict")
    try:
        return resolve(given, context="dataset")
    except ParameterError as error:
        raise ValueError(str(error)) from None


def _checked_columns(columns: Any, n_columns: int) -> list[int]:
    if not isinstance(columns, list) or not all(type(c) is int for c in columns):
        raise ValueError("the categorical columns are not a list of numbers")
    if columns != sorted(set(columns) & set(range(n_columns))):
        raise ValueError("the categorical columns are not in order, or not there")
    return columns


def _plain_features(
    binning: Binning, storage: Mapping[str, npt.NDArray[Any]]
) -> list[tuple[str, npt.NDArray[np.intp], type[np.unsignedinteger[Any]]]]:
    """Features that are not kept as entries: first of one byte, then of two."""
    is_plain = np.ones(binning.n_features, dtype=bool)
    is_plain[storage["bundled"]] = False
    is_plain[storage["loose"]] = False
    is_wide = binning.n_value_bins > 255  # the missing bin must fit a byte too
    return [
        ("bins8", np.flatnonzero(is_plain & ~is_wide), np.uint8),
        ("bins16", np.flatnonzero(is_plain & is_wide), np.uint16),
    ]


def _part(arrays: files.Arrays, prefix: str) -> dict[str, npt.NDArray[Any]]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _unusable(path: Path, why: str) -> DataError:
    return DataError.because(
        f"{str(path)!r} is not a usable data set file: {why}",
        hint="Write it again with Dataset.save_binary().",
    )
