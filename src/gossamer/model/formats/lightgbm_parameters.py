"""The section of parameters in LightGBM's text format: for information, here as there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gossamer.errors import GossamerError
from gossamer.objectives import Objective
from gossamer.objectives.square_root import SquareRoot
from gossamer.params import TABLE, Param, resolve
from gossamer.params.peer_names import names_in_lightgbm

# Other parts of the file say these.
_SAID_ELSEWHERE: Final = ("objective", "metric", "categorical_feature", "num_class")
# Groups of the table that describe no training.
_NO_TRAINING: Final = ("Prediction", "Data files", "Conversion", "Network", "GPU")
_SIMPLE: Final = (bool, int, float, str)


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
        if value != TABLE[name].default and _is_simple(value):
            params[name] = list(value) if isinstance(value, tuple) else value
    try:
        resolve(params, context="predict")
    except GossamerError:
        return {"objective": params["objective"]}
    first = [name for name in params if name not in found]
    return {name: params[name] for name in [*first, *(n for n in found if n in params)]}


def write_parameters(params: Mapping[str, Any]) -> list[str]:
    """Return the lines of parameters that LightGBM has as well, and that are plain values.

    Example:
        >>> write_parameters({"num_leaves": 7, "eval_at": [1, 2], "extra_trees": True})
        ['[num_leaves: 7]', '[eval_at: 1,2]', '[extra_trees: 1]']
    """
    lines = []
    for name, value in params.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        words = [str(int(v)) if isinstance(v, bool) else str(v) for v in values]
        is_plain = all(isinstance(v, _SIMPLE) for v in values)
        if _is_written(name) and is_plain and "\n" not in "".join(words):
            lines.append(f"[{name}: {','.join(words)}]")
    return lines


def _says_something(param: Param) -> bool:
    """Whether a parameter says something about the model that the file does not say elsewhere."""
    return param.kept and not param.is_file and param.name not in _SAID_ELSEWHERE


def _is_written(name: str) -> bool:
    """Whether a parameter describes a training, and LightGBM has it: it warns of other names."""
    param = TABLE.get(name)
    return (
        param is not None
        and name in names_in_lightgbm(param)
        and _says_something(param)
        and param.group not in _NO_TRAINING
        # Paths say nothing on another computer.
        and param.kind not in ("forced_splits", "forced_bins")
    )


def _is_simple(value: object) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return all(isinstance(v, _SIMPLE) for v in values)
