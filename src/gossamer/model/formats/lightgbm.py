"""LightGBM's text models: versions 2 to 4 are read, version 4 is written (docs/interchange.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gossamer.data.categories.levels import Levels
from gossamer.data.table.names import check_names
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.logger import warn
from gossamer.model import formats
from gossamer.model.formats import lightgbm_text as text_of
from gossamer.model.formats.lightgbm_names import written_names
from gossamer.model.formats.lightgbm_objective import read_objective, write_objective
from gossamer.model.formats.lightgbm_parameters import read_parameters, write_parameters
from gossamer.model.formats.lightgbm_read import read_trees
from gossamer.model.formats.lightgbm_text import Block, Sections, split_sections, whole_number
from gossamer.model.formats.lightgbm_write import feature_infos, write_trees
from gossamer.model.inspection.importance import feature_importance
from gossamer.model.model import Model
from gossamer.params import CANONICAL, TABLE

_VERSIONS: Final = ("v2", "v3", "v4")
_MOST_OUTPUTS: Final = 2**20
_LONGEST_REASON: Final = 200
_MOST_COLUMNS: Final = 2**31 - 1


def matches(content: bytes) -> bool:
    """Whether this looks like LightGBM's text.

    Example:
        >>> matches(b"tree\\nversion=v4\\n"), matches(b"trees")
        (True, False)
    """
    return content[:64].partition(b"\n")[0].strip() == text_of.FIRST_LINE.encode()


def read(content: bytes, source: str) -> Model:
    """Read a model, and check all of it.

    Raises:
        ModelFileError: If it is damaged.
    """
    try:
        return _read(split_sections(content.decode("utf-8")))
    except (ValueError, OverflowError) as error:
        reason = str(error)  # it may quote the file
        raise formats.no_model(source, "LightGBM", reason[:_LONGEST_REASON]) from None


def _read(found: Sections) -> Model:
    header, trees = found.header, found.trees
    if header.get("version") not in _VERSIONS:
        raise ValueError(f"its version is not one of {', '.join(_VERSIONS)}")
    n_outputs = whole_number(header, "num_tree_per_iteration", 1, _MOST_OUTPUTS)
    n_columns = whole_number(header, "max_feature_idx", 0, _MOST_COLUMNS) + 1
    names = header.get("feature_names", "").split(" ")
    if len(names) != n_columns:
        raise ValueError(f"it has {len(names)} names of {n_columns} columns")
    if "tree_sizes" in header and len(header["tree_sizes"].split()) != len(trees):
        raise ValueError(f"it has {len(trees)} trees, not as many as tree_sizes")
    if len(trees) % n_outputs:
        raise ValueError("the last round does not have all its trees")
    objective = read_objective(header.get("objective"), n_outputs)
    return Model(
        objective,
        check_names(names, n_columns),
        np.zeros(n_outputs),  # LightGBM keeps the start in the leaves of the first trees
        read_trees(trees, n_outputs, n_columns),
        read_parameters(found.parameters, objective),
        _levels(found, n_columns),
        "average_output" in header,
    )


def _levels(found: Sections, n_columns: int) -> Levels | None:
    """Return the levels of pandas categories, if it is known which columns they are of.

    The file has them in the order of the data frame's columns of categories. Ordered ones are
    among these, but they are not categorical columns to LightGBM: then they cannot be told apart.
    """
    if not found.pandas:
        return None
    columns = _categorical_columns(found, n_columns)
    levels = found.pandas if isinstance(found.pandas, list) else []
    if len(columns) != len(levels) or not _fit(found, columns, levels):
        reason = "it does not say which columns they are of"
    else:
        try:
            pairs = [list(pair) for pair in zip(columns, levels, strict=True)]
            return Levels.from_json(pairs, n_columns)
        except ValueError as error:
            reason = str(error)
    warn(
        f"The pandas categories of the LightGBM model are left out ({reason}): pass the codes of "
        "categories to predict()."
    )
    return None


def _categorical_columns(found: Sections, n_columns: int) -> list[int]:
    """Return the columns that LightGBM took as categories: as it was told, or else by its bins."""
    told = found.parameters.get("categorical_feature", "").split(",")
    columns = [int(word) for word in told if word.isdecimal() and len(word) < 12]
    if len(columns) == len(told) and all(c < n_columns for c in columns):
        return sorted(set(columns))
    infos = found.header.get("feature_infos", "").split(" ")
    return [c for c, info in enumerate(infos[:n_columns]) if info[:1] not in ("[", "n", "")]


def _fit(found: Sections, columns: list[int], levels: list[Any]) -> bool:
    """Whether every code that LightGBM saw in these columns has a level."""
    infos = dict(enumerate(found.header.get("feature_infos", "").split(" ")))
    for column, of_column in zip(columns, levels, strict=True):
        codes = infos.get(column, "none")
        if not isinstance(of_column, list) or (
            codes[:1] not in ("[", "n", "")
            and any(int(code) >= len(of_column) for code in codes.split(":"))
        ):
            return False
    return True


def write(
    model: Model, importance_type: str = "split", params: Mapping[str, Any] | None = None
) -> bytes:
    """Write a model as text that LightGBM 4 loads.

    Args:
        model: The model.
        importance_type: The importance that the text lists, as for `feature_importance`.
        params: The parameters that the text lists; None: those that the model keeps.

    Raises:
        NotSupportedError: If LightGBM cannot predict the same.
    """
    if model.derived is not None:
        raise NotSupportedError.because(
            "LightGBM's format cannot hold target statistics",
            hint="Train with cat_target_statistics=off, or save the model in Gossamer's own "
            "format.",
        )
    objective, k = write_objective(model.objective), model.objective.n_outputs
    trees, names = write_trees(model), written_names(model.names)
    header: Block = {
        "version": "v4",
        "num_class": str(k),
        "num_tree_per_iteration": str(k),
        "label_index": "0",
        "max_feature_idx": str(model.n_columns - 1),
    }
    if objective is not None:
        header["objective"] = objective
    lines = [text_of.FIRST_LINE, *(f"{key}={value}" for key, value in header.items())]
    if model.average_output:
        lines.append("average_output")
    lines += [
        f"feature_names={' '.join(names)}",
        f"feature_infos={' '.join(feature_infos(model.forest, model.n_columns))}",
        f"tree_sizes={' '.join(str(len(tree)) for tree in trees)}",
    ]
    head = "\n".join(lines) + "\n\n"
    tail = [
        text_of.END_OF_TREES,
        "",
        "feature_importances:",
        *_importances(model, names, importance_type),
        "",
        "parameters:",
        *_parameters(model, objective, params),
        "",
        text_of.END_OF_PARAMETERS,
        "",
        text_of.PANDAS + _pandas_categories(model),
        "",
    ]
    return (head + "".join(trees) + "\n".join(tail)).encode("utf-8")


def _importances(model: Model, names: list[str], importance_type: str) -> list[str]:
    found = feature_importance(model.forest, importance_type)
    used = found.astype(np.int64)  # whole numbers, as LightGBM writes gains too
    return [f"{names[c]}={used[c]}" for c in np.argsort(-used, kind="stable") if used[c]]


def _parameters(model: Model, objective: str | None, params: Mapping[str, Any] | None) -> list[str]:
    if params is None:
        params = {n: v for n, v in model.params.items() if TABLE[CANONICAL[n]].kept}
    word = objective.split()[0] if objective else "custom"
    levels = model.levels.by_column if model.levels else {}
    return write_parameters(params, model.objective, word, tuple(levels))


def _pandas_categories(model: Model) -> str:
    levels = model.levels.by_column if model.levels else {}
    return json.dumps([list(v) for v in levels.values()]) if levels else "null"


def model_of(found: Any) -> Model:
    """Return the model of a `lightgbm.Booster`, or of a fitted estimator.

    As LightGBM predicts: up to the best round, if one was looked for.

    Raises:
        ParameterError: If it is something else, or not fitted.
    """
    kinds = {kind.__name__ for kind in type(found).__mro__}
    if "LGBMModel" in kinds:
        if not getattr(found, "fitted_", False):
            raise ParameterError.because(
                "the estimator is not fitted", got=type(found).__name__, hint="Fit it."
            )
        found = found.booster_
    elif "Booster" not in kinds:
        raise ParameterError.because(
            "this is not a LightGBM model",
            got=type(found).__name__,
            expected="a lightgbm.Booster, or a fitted LGBM estimator",
            hint="For a CVBooster, pass one of its boosters." if "CVBooster" in kinds else "",
        )
    return read(found.model_to_string().encode("utf-8"), "the Booster")
