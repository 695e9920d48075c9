"""Model files, versions 1 to 4: see docs/model_format.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import files
from gossamer.arguments import as_path
from gossamer.data.categories.levels import Levels
from gossamer.data.table.time_columns import KINDS
from gossamer.errors import ModelFileError, shorten
from gossamer.model.class_names import check_class_names
from gossamer.model.derived import Derived
from gossamer.model.ensemble.average import scale_forest
from gossamer.model.ensemble.fold_record import FoldRecord
from gossamer.model.files.check import check_feature_names, check_forest, check_params
from gossamer.model.model import Model
from gossamer.objectives import Objective, objective_from_config
from gossamer.params import TABLE
from gossamer.tree import Forest
from gossamer.tree.linear import LINEAR_ARRAYS
from gossamer.tree.tree import CATEGORY_ARRAYS, LEAF_ARRAYS, NODE_ARRAYS

FORMAT: Final = "gossamer model"
# The newest version. A file is of the first one that has all it needs, so that older readers can
# read what they understand.
VERSION: Final = 4
VERSIONS: Final = range(1, VERSION + 1)
TEXT_HEADERS: Final = tuple(f"{FORMAT} {version}" for version in VERSIONS)

_NOT_KEPT: Final = tuple(name for name, param in TABLE.items() if not param.kept)
_ARRAYS: Final[dict[str, npt.DTypeLike]] = {
    "start": np.float64,
    "node_begin": np.int64,
    "leaf_begin": np.int64,
    **NODE_ARRAYS,
    **LEAF_ARRAYS,
}
# Arrays that are there all together, or not at all.
_OPTIONAL: Final[dict[str, dict[str, npt.DTypeLike]]] = {
    "splits of categories": CATEGORY_ARRAYS,
    "linear leaves": LINEAR_ARRAYS,
}


def to_bytes(model: Model) -> bytes:
    """Return the bytes of the model file; equal models give equal bytes."""
    return files.to_bytes(*to_parts(model))


def to_parts(model: Model) -> tuple[files.Arrays, dict[str, Any]]:
    """Return the arrays and the facts of a model file; `from_parts` is the way back."""
    forest = model.forest
    arrays = {
        "start": model.start,
        "node_begin": forest.node_begin,
        "leaf_begin": forest.leaf_begin,
        **forest.arrays,
    }
    more = {**(forest.linear or {}), **(model.derived.to_arrays() if model.derived else {})}
    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": _version(model),
        "objective": model.objective.to_config(),
        "n_outputs": model.objective.n_outputs,
        "n_values": model.forest.n_values,
        "feature_names": model.names,
        "parameters": {
            name: "custom" if callable(value) else value
            for name, value in model.params.items()
            if name not in _NOT_KEPT
        },
    }
    if model.class_names is not None:
        facts["class_names"] = list(model.class_names)
    if model.table_names is not None:
        facts["table_names"] = model.table_names
    if model.levels:
        facts["levels"] = model.levels.to_json()
    if model.times:
        facts["times"] = [list(pair) for pair in sorted(model.times.items())]
    if model.average_output:
        facts["average_output"] = True
    if forest.n_parallel > 1:
        facts["n_parallel"] = forest.n_parallel
    if model.folds is not None:
        of_folds, facts["folds"] = model.folds.to_parts()
        more |= of_folds
    return {**arrays, **more}, facts


def _version(model: Model) -> int:
    forest = model.forest
    if model.objective.traits.link == "calibrated":
        return 4
    if model.derived is not None and model.derived.is_joined:
        return 4
    if forest.n_parallel > 1:
        return 3
    has_more = forest.linear is not None or "category" in forest.arrays or model.derived is not None
    return 2 if has_more or model.average_output else 1


def from_bytes(content: bytes, source: str = "the model") -> Model:
    """Read a model file's bytes, and check all of it.

    Raises:
        ModelFileError: If they are cut off, altered, or not a model of this version.
    """
    try:
        arrays, facts = files.from_bytes(content)
    except files.BrokenFile as error:
        raise ModelFileError.because(f"{source} cannot be read: {shorten(error)}") from None
    return from_parts(arrays, facts, source)


def from_parts(
    arrays: files.Arrays, facts: dict[str, Any], source: str, format: str = FORMAT
) -> Model:
    """Make a model of arrays and facts, and check all of it.

    Args:
        arrays: The arrays of docs/model_format.md.
        facts: Its facts.
        source: What errors call it.
        format: What the facts must be.

    Raises:
        ModelFileError: If they do not describe a model of this version.
    """
    hints = {"gossamer cv models": "CVBooster(model_file=...) reads the models of cv()."}
    check_format(facts, format, f"{source} is not a model", hints)
    if type(facts.get("version")) is not int or facts["version"] not in VERSIONS:
        raise ModelFileError.because(
            f"{source} has a version that this Gossamer cannot read",
            got=facts.get("version"),
            expected=f"at most {VERSION}",
            hint="Update Gossamer, or save the model again with this version.",
        )
    try:
        return _checked(arrays, facts)
    except ModelFileError as error:
        raise ModelFileError(f"{source}: {error}") from None
    except KeyError as error:
        raise _inconsistent(source, f"{error} is missing") from None
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, MemoryError) as error:
        raise _inconsistent(source, error) from None


def _inconsistent(source: str, reason: object) -> ModelFileError:
    hint = "It was damaged, or written by something else: save the model again."
    if isinstance(reason, MemoryError):
        hint = f"Free memory and read it again; if it is small: {hint[0].lower()}{hint[1:]}"
        return ModelFileError.because(f"{source} cannot be read ({shorten(reason)})", hint=hint)
    return ModelFileError.because(f"{source} is inconsistent ({shorten(reason)})", hint=hint)


def _checked(arrays: files.Arrays, facts: dict[str, Any]) -> Model:
    for name, dtype in _ARRAYS.items():
        if name not in arrays:
            raise ValueError(f"the array {name} is missing")
        if arrays[name].dtype != dtype or arrays[name].ndim != 1:
            raise ValueError(f"the array {name} has a wrong type or shape")
    names = check_feature_names(facts["feature_names"])
    linear = _optional(arrays, facts["version"], "linear leaves")
    derived = Derived.from_arrays(arrays, len(names)) if facts["version"] >= 2 else None
    if derived is not None and derived.is_joined and facts["version"] < 4:
        raise ValueError("a file of a version below 4 has statistics of one set of rows only")
    categories = _optional(arrays, facts["version"], "splits of categories")
    objective = objective_from_config(facts["objective"])
    if objective.traits.link == "calibrated" and facts["version"] < 4:
        raise ValueError("a file of a version below 4 has no calibration")
    start = arrays["start"]
    n_outputs = facts["n_outputs"]
    if type(n_outputs) is not int or not n_outputs == objective.n_outputs == len(start):
        raise ValueError("the number of outputs differs from the objective's")
    if not np.isfinite(start).all():
        raise ValueError("a start score is not finite")
    n_values = facts.get("n_values", 1)  # files of before vector leaves do not say
    if type(n_values) is not int or n_values not in (1, objective.n_outputs):
        raise ValueError("the number of values per leaf is neither 1 nor the number of outputs")
    n_parallel = _n_parallel(facts, len(arrays["leaf_begin"]) - 1, objective.n_outputs // n_values)
    trees = {name: arrays[name] for name in (*NODE_ARRAYS, *LEAF_ARRAYS)}
    trees |= categories or {}
    forest = Forest(
        objective.n_outputs,
        n_values,
        len(names) + (0 if derived is None else derived.n_columns),
        arrays["node_begin"],
        arrays["leaf_begin"],
        trees,
        linear,
        n_parallel,
    )
    check_forest(forest)
    levels = Levels.from_json(facts.get("levels", []), len(names)) or None
    average_output = facts.get("average_output", False)
    if type(average_output) is not bool:
        raise ValueError("average_output is neither true nor false")
    params = check_params(facts["parameters"], _NOT_KEPT)
    return Model(
        *(objective, names, start, forest, params),
        levels,
        average_output,
        derived,
        None
        if facts.get("class_names") is None
        else check_class_names(facts["class_names"], objective),
        _table_names(facts, len(names)),
        None if "folds" not in facts else _folds(arrays, facts, forest, objective, params),
        _times(facts, len(names)),
    )


def _folds(
    arrays: files.Arrays,
    facts: dict[str, Any],
    forest: Forest,
    objective: Objective,
    params: dict[str, Any],
) -> FoldRecord:
    counts = forest.n_rounds, objective.n_outputs, objective.n_classes
    record = FoldRecord.from_parts(arrays, facts["folds"], *counts)
    members = tuple(check_params(own, _NOT_KEPT) for own in record.member_params)
    for own in members:
        check_params({**params, **own}, _NOT_KEPT)
    with np.errstate(over="ignore"):  # a member's values are the model's times their number
        check_forest(scale_forest(forest, lambda values: values * record.n_members))
    return replace(record, member_params=members)


def _table_names(facts: dict[str, Any], n_columns: int) -> list[str] | None:
    """Return the names that the columns had in the training table; None: no others."""
    if facts.get("table_names") is None:
        return None
    names = check_feature_names(facts["table_names"])
    if len(names) != n_columns:
        raise ValueError("there are more or fewer names of the table than columns")
    return names


def _times(facts: dict[str, Any], n_columns: int) -> dict[int, str] | None:
    """Return the columns that were dates or times; None: not known."""
    if "times" not in facts:
        return None
    pairs = facts["times"]
    if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        raise ValueError("the dates and times are not a list of columns and their kinds")
    for column, kind in pairs:
        if type(column) is not int or not 0 <= column < n_columns or kind not in KINDS:
            raise ValueError("there is a date or time of a column that is not there")
    return dict(pairs)


def _n_parallel(facts: dict[str, Any], n_trees: int, trees_per_set: int) -> int:
    """Return how many trees of each output a round has."""
    if facts["version"] < 3:
        if "n_parallel" in facts:
            raise ValueError("a file of a version below 3 has no parallel trees")
        return 1
    n_parallel = facts.get("n_parallel", 1)
    if type(n_parallel) is not int or n_parallel < 1 or n_trees % (trees_per_set * n_parallel):
        raise ValueError("the number of parallel trees does not fit the trees")
    return n_parallel


def _optional(arrays: files.Arrays, version: int, group: str) -> files.Arrays | None:
    """Return the arrays of a group, all of them or, where none is there, None."""
    found = {name: arrays[name] for name in _OPTIONAL[group] if name in arrays}
    if not found:
        return None
    if version < 2:
        raise ValueError(f"a file of version {version} has no {group}")
    for name, dtype in _OPTIONAL[group].items():
        if name not in found:
            raise ValueError(f"the array {name} is missing")
        if found[name].dtype != dtype or found[name].ndim != 1:
            raise ValueError(f"the array {name} has a wrong type or shape")
    return found


def save(path: str | os.PathLike[str], model: Model) -> None:
    """Write the model file; it is complete or not there."""
    files.write_atomically(as_path(path), to_bytes(model))


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file.

    Raises:
        ModelFileError: If it is cut off, altered, or not a model of this version.
        OSError: If the file cannot be read.
    """
    return from_bytes(files.read_file(as_path(path)), source=f"the file {os.fspath(path)!r}")


def to_text(model: Model) -> str:
    """Return the model as text: a header line, then the file's bytes in base64."""
    return files.to_text(to_bytes(model), f"{FORMAT} {_version(model)}")


def from_text(text: str) -> Model:
    """Read what `to_text` wrote.

    Raises:
        ModelFileError: If it is something else.
    """
    header, _, encoded = text.partition("\n")
    if header.strip() not in TEXT_HEADERS:
        raise ModelFileError.because(
            "the string is not a model of this version",
            got=header,
            expected=f"a first line {TEXT_HEADERS[-1]!r}, or of a lower version",
        )
    try:
        content = files.from_text(encoded)
    except files.BrokenFile as error:
        raise ModelFileError.because(f"the string is damaged ({error})") from None
    return from_bytes(content, source="the string")


def check_format(
    facts: Mapping[str, Any], expected: str, what: str, hints: Mapping[str, str]
) -> None:
    """Check what kind of file this is.

    Args:
        facts: The facts of the file.
        expected: The format that it must have.
        what: What is wrong if it has another.
        hints: What to do with files of other formats.

    Raises:
        ModelFileError: If it has another format.
    """
    found = facts.get("format")
    if found != expected:
        hint = hints.get(found, "") if isinstance(found, str) else ""
        raise ModelFileError.because(what, got=found, expected=repr(expected), hint=hint)
