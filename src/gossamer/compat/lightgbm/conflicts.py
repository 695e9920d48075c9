"""Warnings about parameters that are given under several names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gossamer.logger import warn
from gossamer.params import CANONICAL


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
