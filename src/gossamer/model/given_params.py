"""The parameters of a model as the user gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gossamer.logger import warn
from gossamer.model.model import Model
from gossamer.objectives import Custom
from gossamer.params import CANONICAL, resolve


def given_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without the word that replaces a user's own objective.

    Example:
        >>> given_params({"objective": "custom", "max_bin": 63})
        {'max_bin': 63}
    """
    return {name: value for name, value in params.items() if not _is_placeholder(name, value)}


def _is_placeholder(name: str, value: object) -> bool:
    """Whether this stands for an objective of the user's that a model file could not keep."""
    return CANONICAL.get(name) == "objective" and value in (Custom.name, "none")


def saved_params(params: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return the parameters of a saved model; as in LightGBM they win over those given."""
    known = resolve(model.params, context="predict")
    given = resolve(params, context="predict")
    other = [name for name in given.given & known.given if given[name] != known[name]]
    if other:
        warn(f"The parameters of the saved model are used, not these: {sorted(other)}.")
    mine = {n: v for n, v in params.items() if CANONICAL[n] not in known.given}
    return {**mine, **model.params}
