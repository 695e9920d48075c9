"""What LightGBM warns of in parameters: several values for one, and unknown names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gossamer.errors import ParameterTypeError
from gossamer.logger import show, warn
from gossamer.params import CANONICAL
from gossamer.params.suggest import did_you_mean

# Conflicts that LightGBM's Python package finds: it raises warnings. Its core prints.
_CHOSEN_IN_PYTHON: Final = ("num_iterations", "early_stopping_round", "objective", "metric")
# From this depth on, a tree can have more than the 31 leaves of the default.
_DEPTH_OF_MORE_LEAVES: Final = 5


def read_params(params: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the parameters that are known; warn of the others, and of conflicts.

    Raises:
        ParameterTypeError: If `early_stopping_round` is text.

    Example:
        >>> read_params({"num_leaf": 5, "nonsense": 1})
        [Warning] Unknown parameter: nonsense. It is ignored.
        {'num_leaf': 5}
    """
    warn_of_conflicts(params)
    if not isinstance(params, Mapping):
        return params
    found = without_unknown(params)
    _hint_at_leaves(found)
    for name, value in found.items():
        if CANONICAL[name] == "early_stopping_round" and isinstance(value, str):
            raise ParameterTypeError.because(f"{name} must be an integer", got=value)
    return found


def _hint_at_leaves(params: Mapping[str, Any]) -> None:
    """Say, as LightGBM does, that a depth alone leaves trees at the default number of leaves."""
    given = {CANONICAL[name]: value for name, value in params.items() if value is not None}
    depth, verbosity = given.get("max_depth"), given.get("verbosity")
    if "num_leaves" in given or not isinstance(depth, int) or depth < _DEPTH_OF_MORE_LEAVES:
        return
    if not isinstance(verbosity, int) or verbosity >= 0:
        show(
            f"[Warning] max_depth={depth} without num_leaves: trees have at most 31 leaves. "
            "Pass num_leaves as well."
        )


def without_unknown(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are known, and warn of the others.

    Example:
        >>> without_unknown({"max_bin": 15, "n_iter": 2})
        {'max_bin': 15, 'n_iter': 2}
    """
    for name in params:
        if name not in CANONICAL:
            hint = did_you_mean(str(name), CANONICAL)
            _say(f"Unknown parameter: {name}. It is ignored. {hint}".rstrip(), params)
    return {name: value for name, value in params.items() if name in CANONICAL}


def warn_of_conflicts(params: Mapping[str, Any] | None) -> None:
    """Warn of parameters that have different values under different names.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     warn_of_conflicts({"num_boost_round": 5, "n_iter": 10})
        >>> print(caught[0].message)
        Found conflicting values for num_iterations in params: num_boost_round=5, n_iter=10. \
Using n_iter=10; keep only one of them.
    """
    if not isinstance(params, Mapping):
        return
    found: dict[str, list[str]] = {}
    for name, value in params.items():
        if value is not None and name in CANONICAL:
            found.setdefault(CANONICAL[name], []).append(name)
    for canonical, names in found.items():
        if any(params[name] != params[names[0]] for name in names[1:]):
            # As in `resolve`: the canonical name wins, then the shortest, then the alphabet.
            winner = min(names, key=lambda name: (name != canonical, len(name), name))
            listed = ", ".join(f"{name}={params[name]!r}" for name in names)
            text = (
                f"Found conflicting values for {canonical} in params: {listed}. "
                f"Using {winner}={params[winner]!r}; keep only one of them."
            )
            if canonical in _CHOSEN_IN_PYTHON:
                warn(text)
            else:
                _say(text, params)


def _say(text: str, params: Mapping[str, Any]) -> None:
    """Print a line, as LightGBM does; where `verbosity` asks for silence, warn instead."""
    given = [value for name, value in params.items() if CANONICAL.get(name) == "verbosity"]
    if any(isinstance(value, int) and value < 0 for value in given):
        warn(text)
    else:
        show(f"[Warning] {text}")
