"""What `Booster.params` says after a training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gossamer.params import CANONICAL


def shown_params(params: Mapping[str, Any], n_rounds: int) -> dict[str, Any]:
    """Return parameters as LightGBM keeps them: with `num_iterations`, and functions as "none".

    Args:
        params: The parameters of a training, as given.
        n_rounds: `num_boost_round`, for which a number of rounds among the parameters is used
            instead.

    Example:
        >>> shown_params({"eta": 0.2, "n_estimators": 5, "objective": lambda p, d: (p, p)}, 100)
        {'eta': 0.2, 'num_iterations': 5, 'objective': 'none'}
        >>> shown_params({"eta": 0.2}, 100)
        {'eta': 0.2, 'num_iterations': 100}
    """
    shown = {}
    for name, value in params.items():
        canonical = CANONICAL.get(name, name)
        if canonical == "early_stopping_round" and value is None:
            continue
        if canonical == "num_iterations":
            shown[canonical] = params.get(canonical, value)
        else:
            shown[name] = "none" if canonical == "objective" and callable(value) else value
    shown.setdefault("num_iterations", n_rounds)
    return shown
