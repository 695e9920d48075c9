"""What LightGBM warns of in parameters: several values for one, and unknown names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gossamer.errors import ParameterTypeError
from gossamer.logger import warn
from gossamer.params import CANONICAL
from gossamer.params.suggest import did_you_mean


def read_params(params: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the parameters that are known; warn of the others, and of conflicts.

    Raises:
        ParameterTypeError: If `early_stopping_round` is text.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     read_params({"num_leaf": 5, "nonsense": 1})
        {'num_leaf': 5}
        >>> print(caught[0].message)
        Unknown parameter: nonsense. It is ignored.
    """
    warn_of_conflicts(params)
    if not isinstance(params, Mapping):
        return params
    found = without_unknown(params)
    for name, value in found.items():
        if CANONICAL[name] == "early_stopping_round" and isinstance(value, str):
            raise ParameterTypeError.because(f"{name} must be an integer", got=value)
    return found


def without_unknown(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are known, and warn of the others.

    Example:
        >>> without_unknown({"max_bin": 15, "n_iter": 2})
        {'max_bin': 15, 'n_iter': 2}
    """
    for name in params:
        if name not in CANONICAL:
            hint = did_you_mean(str(name), CANONICAL)
            warn(f"Unknown parameter: {name}. It is ignored. {hint}".rstrip())
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
            warn(
                f"Found conflicting values for {canonical} in params: {listed}. "
                f"Using {winner}={params[winner]!r}; keep only one of them."
            )
