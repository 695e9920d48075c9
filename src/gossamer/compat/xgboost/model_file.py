"""Model files: XGBoost's own, and ours, which holds more facts."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import files
from gossamer.arguments import as_path
from gossamer.binning.bins import MissingKind
from gossamer.errors import (
    DataError,
    ModelFileError,
    NotSupportedError,
    ParameterError,
)
from gossamer.model import formats
from gossamer.model.files import model_file
from gossamer.model.formats import xgboost, xgboost_ubj
from gossamer.model.formats.xgboost_objective import to_base_score, to_margin, write_objective
from gossamer.model.formats.xgboost_read import Facts
from gossamer.model.model import Model
from gossamer.objectives import objective_from_config

_KEY = "xgboost"
_WRITERS: Final = {"json": xgboost.write, "ubj": xgboost_ubj.write}


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format that a file's name asks for: XGBoost's, or ours.

    As in XGBoost, names that ask for none mean UBJSON, with a warning.

    Example:
        >>> format_of("model.json"), format_of("model.ubj"), format_of("model.gsm")
        ('json', 'ubj', 'gossamer')
    """
    if formats.format_of(path) == formats.OWN:
        return formats.OWN
    name = as_path(path).name
    ending = as_path(path).suffix.lower()[1:]
    if ending not in _WRITERS:
        warnings.warn(
            f"The model is saved as UBJSON: the name {name!r} asks for no format. Names "
            "that end with .json, .ubj or .gsm do.",
            UserWarning,
            stacklevel=4,
        )
        return "ubj"
    return ending


def to_bytes(model: Model, facts: dict[str, Any], format: str) -> bytes:
    """Return a model file that `gossamer.Booster` reads as well.

    A model that XGBoost's formats cannot hold is written in ours, with a warning.

    Args:
        model: The model.
        facts: What else is to be kept: attributes, types of columns.
        format: "json" or "ubj", or "gossamer".

    Raises:
        ParameterError: If there is no such format.
    """
    if isinstance(format, str) and format in _WRITERS:
        try:
            return _WRITERS[format](_as_theirs(model, facts), _facts(facts))
        except NotSupportedError as error:
            warnings.warn(
                f"The model is saved in Gossamer's format instead of XGBoost's: {error}",
                UserWarning,
                stacklevel=3,
            )
    elif not isinstance(format, str) or format != formats.OWN:
        raise ParameterError.because(
            "models cannot be written as this",
            got=format,
            expected=f"{', '.join(map(repr, _WRITERS))} or {formats.OWN!r}",
        )
    arrays, found = files.from_bytes(model_file.to_bytes(model))
    return files.to_bytes(arrays, {**found, _KEY: facts})


def _as_theirs(model: Model, facts: dict[str, Any]) -> Model:
    model = with_absent_entries(model)
    if not facts["predicts_classes"]:
        return model
    config = {"name": "multi:softmax", "num_class": model.objective.n_outputs}
    return replace(model, objective=objective_from_config(config))


def with_absent_entries(model: Model) -> Model:
    """Return a model that treats missing values as XGBoost does.

    Models of sparse tables take zeros as missing here, because absent entries are; XGBoost takes
    absent entries as NaN.
    """
    forest = model.forest
    kinds = forest.arrays["missing_kind"]
    is_number = np.ones(len(kinds), dtype=bool)
    if "category_begin" in forest.arrays:
        is_number = np.diff(forest.arrays["category_begin"]) == 0
    absent = (kinds == MissingKind.ZERO) & is_number
    if not absent.any():
        return model
    kinds = np.where(absent, np.int8(MissingKind.NAN), kinds)
    return replace(model, forest=replace(forest, arrays={**forest.arrays, "missing_kind": kinds}))


def _facts(facts: dict[str, Any]) -> Facts:
    return Facts(facts["attributes"], facts["feature_types"])


def from_bytes(content: bytes, source: str) -> tuple[Model, dict[str, Any]]:
    """Read a model file, whoever wrote it.

    Raises:
        NotSupportedError: If it is of the binary format of XGBoost before 3.1, or has no trees.
        ModelFileError: If it is damaged, or something else.
    """
    for reader in (xgboost, xgboost_ubj):
        if reader.matches(content):
            model, found = reader.read_with_facts(content, source)
            return model, {"attributes": found.attributes, "feature_types": found.feature_types}
    if content.startswith((b"binf", b"bs64")):
        raise NotSupportedError.because(
            f"{source} is of XGBoost's old binary format",
            expected="JSON or UBJSON",
            hint="Load it with XGBoost 3.0 or older, and save it as .json.",
        )
    model = model_file.from_bytes(content, source)
    facts = files.from_bytes(content)[1].get(_KEY, {})
    if not isinstance(facts, dict):
        raise ModelFileError.because(f"{source} is inconsistent (its attributes are not pairs)")
    return model, facts


def load(path: str | os.PathLike[str]) -> tuple[Model, dict[str, Any]]:
    """Read a model file.

    Raises:
        NotSupportedError: If it is of the binary format of XGBoost before 3.1, or has no trees.
        ModelFileError: If it is damaged, or something else.
        MissingFileError: If there is no such file.
        OSError: If it cannot be read.
    """
    return from_bytes(read_bytes(path), f"the file {os.fspath(path)!r}")


class MissingFileError(DataError, FileNotFoundError):
    """A file that is not there: an XGBoostError, as in XGBoost, and a FileNotFoundError."""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file.

    Raises:
        MissingFileError: If there is no such file.
    """
    try:
        return files.read_file(as_path(path))
    except FileNotFoundError:
        raise MissingFileError.because(
            "No such file or directory", got=os.fspath(path), hint="Check the path."
        ) from None


def as_kept(model: Model) -> Model:
    """Return a model with the numbers that XGBoost keeps: leaf values and start as float32.

    So a model predicts the same before and after it is saved.

    Example:
        >>> from gossamer import Dataset, train
        >>> model = train({"verbosity": -1}, Dataset([[1.0], [2.0]] * 20, [0.1, 0.7] * 20), 1).model
        >>> values = as_kept(model).forest.arrays["leaf_value"]
        >>> bool((values == values.astype(np.float32)).all())
        True
    """
    forest = model.forest
    with np.errstate(over="ignore"):
        values = forest.arrays["leaf_value"].astype(np.float32)
    if model.average_output or not np.isfinite(values).all():
        return model
    arrays = {**forest.arrays, "leaf_value": values.astype(np.float64)}
    return replace(model, forest=replace(forest, arrays=arrays), start=_kept_start(model))


def _kept_start(model: Model) -> npt.NDArray[np.float64]:
    try:
        objective, factor = write_objective(model.objective)
    except NotSupportedError:  # XGBoost's files cannot hold it
        return model.start
    base_score = to_base_score(objective["name"], model.start * factor)
    if base_score is None:
        return model.start
    return to_margin(objective["name"], base_score, is_bounded=True) / factor
