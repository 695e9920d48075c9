"""The section of parameters in LightGBM's text format: for information, here as there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gossamer.errors import GossamerError
from gossamer.model.formats.lightgbm_text import split_sections
from gossamer.objectives import Objective
from gossamer.objectives.square_root import SquareRoot
from gossamer.params import TABLE, Param, Params, resolve
from gossamer.params.peer_names import names_in_lightgbm

# Other parts of the file say these.
_SAID_ELSEWHERE: Final = ("objective", "metric", "categorical_feature", "num_class")
# What LightGBM does not list: groups that describe no training, and single parameters.
_NOT_LISTED_GROUPS: Final = ("Prediction", "Conversion")
_NOT_LISTED: Final = (
    *("metric_freq", "is_provide_training_metric", "task", "config", "input_model"),
    *("output_model", "snapshot_freq", "save_binary"),
)
# LightGBM's defaults where ours are others that mean the same.
_DEFAULTS: Final[Mapping[str, object]] = {"deterministic": False, "label_gain": (), "eval_at": ()}
_SIMPLE: Final = (bool, int, float, str)
_MOST_DIGITS: Final = 1e15
_NUMBERS: Final = ("int", "float", "auto_float", "ints", "floats")
_BY_COLUMN: Final = ("ints_by_column", "floats_by_column")
_PATHS: Final = ("forced_splits", "forced_bins")  # they say nothing on another computer


def read_parameters(found: Mapping[str, str], objective: Objective) -> dict[str, Any]:
    """Return the parameters that mean something here and are not at their defaults.

    Example:
        >>> from gossamer.objectives import Regression
        >>> read_parameters({"num_leaves": "7", "eta": "x", "max_bin": "255"}, Regression())
        {'objective': 'regression', 'num_leaves': 7}
    """
    params: dict[str, Any] = {"objective": objective.name}
    if isinstance(objective, SquareRoot):
        params = {"objective": objective.inner.name, "reg_sqrt": True}
    if objective.n_outputs > 1:
        params["num_class"] = objective.n_outputs
    known = {name: value for name, value in found.items() if name in TABLE and value}
    for name in known.keys() - params.keys():
        if not _says_something(TABLE[name]):
            continue
        try:
            value = getattr(resolve({**params, name: known[name]}, context="predict"), name)
        except GossamerError:
            continue  # what only LightGBM can do
        is_default = value in (TABLE[name].default, _DEFAULTS.get(name))
        if not is_default and _is_simple(value):
            params[name] = list(value) if isinstance(value, tuple) else value
    try:
        resolve(params, context="predict")
    except GossamerError:
        return {"objective": params["objective"]}
    first = [name for name in params if name not in found]
    return {name: params[name] for name in [*first, *(n for n in found if n in params)]}


def write_parameters(
    params: Mapping[str, Any], objective: Objective, word: str, categorical: Sequence[int] = ()
) -> list[str]:
    """Return a line for each parameter that LightGBM lists, with the value of this training.

    What LightGBM could not read back is left out: "auto", names of columns, seeds derived from
    `seed` in another way than LightGBM's.

    Args:
        params: Parameters of the training, as given.
        objective: The loss of the model.
        word: What LightGBM calls it.
        categorical: The columns whose levels the file has; none: as `params` say.

    Example:
        >>> from gossamer.objectives import Regression
        >>> lines = write_parameters({"num_leaves": 7, "metric": "l1"}, Regression(), "regression")
        >>> len(lines), [line for line in lines if "num_leaves" in line or "metric:" in line]
        (119, ['[num_leaves: 7]', '[metric: l1]'])
    """
    known = {name: None if callable(value) else value for name, value in params.items()}
    found = resolve(known, context="predict")
    said: dict[str, object] = {
        "objective": word,
        "metric": found.metric if found.metric is not None else objective.own_metric or "",
        "num_class": objective.n_outputs,
        "categorical_feature": tuple(categorical) or found.categorical_feature,
    }
    lines = []
    for name, param in TABLE.items():
        value = said.get(name, found[name])
        if name not in found.given and name in _DEFAULTS:
            value = _DEFAULTS[name]
        if not _is_listed(param) or (param.seed_number is not None and _is_derived(name, found)):
            continue
        text = _to_text(param, value)
        if text is not None and "\n" not in text:
            lines.append(f"[{name}: {text}]")
    return lines


def _is_listed(param: Param) -> bool:
    return (
        param.name in names_in_lightgbm(param)
        and param.name not in _NOT_LISTED
        and param.group not in _NOT_LISTED_GROUPS
    )


def _is_derived(name: str, found: Params) -> bool:
    return found.seed is not None and name not in found.given


def _to_text(param: Param, value: Any) -> str | None:
    """Return a value as LightGBM writes it; None: it has no such value."""
    if param.is_file or param.kind in _PATHS:
        return ""
    if param.kind == "groups":
        is_plain = all(isinstance(column, int) for group in value for column in group)
        return ",".join(str(list(group)).replace(" ", "") for group in value) if is_plain else ""
    values = value if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(v, _SIMPLE) for v in values):
        return "" if param.kind in _BY_COLUMN else None
    if param.kind in _NUMBERS and any(isinstance(v, str) for v in values):
        return None
    if param.name == "categorical_feature" and any(isinstance(v, str) for v in values):
        return ""
    return ",".join(map(_word, values))


def _word(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < _MOST_DIGITS:
        return str(int(value))
    return str(int(value)) if isinstance(value, bool) else str(value)


def listed_parameters(text: str) -> dict[str, Any]:
    r"""Return all parameters that a model of LightGBM lists, as its Python package shows them.

    Example:
        >>> lines = ["[metric: l2,auc]", "[extra_trees: 1]", "[interaction_constraints: [0,1],[2]]"]
        >>> listed_parameters("tree\n\nend of trees\n\nparameters:\n" + "\n".join(lines))
        {'metric': ['l2', 'auc'], 'extra_trees': True, 'interaction_constraints': [[0, 1], [2]]}
    """
    found = split_sections(text).parameters
    shown = {name: _from_text(TABLE[name], value) for name, value in found.items() if name in TABLE}
    return {name: value for name, value in shown.items() if value is not None}


def _from_text(param: Param, text: str) -> Any:
    """Return the value that a line of the section says; None: none."""
    if not text:
        return None
    if param.kind == "bool":
        return text not in ("0", "false")
    if param.kind == "metrics":
        return text.split(",")
    is_list = param.kind in ("ints", "floats", "groups", *_BY_COLUMN)
    try:
        if is_list or param.name == "categorical_feature":
            return json.loads(f"[{text}]")
        return json.loads(text) if param.kind in _NUMBERS else text
    except ValueError:
        return None if is_list else text


def _says_something(param: Param) -> bool:
    """Whether a parameter says something about the model that the file does not say elsewhere."""
    return param.kept and not param.is_file and param.name not in _SAID_ELSEWHERE


def _is_simple(value: object) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return all(isinstance(v, _SIMPLE) for v in values)
