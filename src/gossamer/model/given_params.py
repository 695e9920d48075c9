"""The parameters of a model as the user gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gossamer.params import CANONICAL


def given_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without the word that stands for an objective of the user's.

    Example:
        >>> given_params({"objective": "custom", "max_bin": 63})
        {'max_bin': 63}
    """
    return {name: value for name, value in params.items() if not _is_placeholder(name, value)}


def _is_placeholder(name: str, value: object) -> bool:
    """Whether this stands for an objective of the user's that a model file could not keep."""
    return CANONICAL.get(name) == "objective" and value == "custom"
