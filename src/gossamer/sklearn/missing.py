"""What replaces the estimators where scikit-learn is not installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def stand_ins(names: Iterable[str], cause: ImportError) -> dict[str, type]:
    """Make classes of these names that only say what to install.

    Example:
        >>> stand_ins(["GossamerRegressor"], ImportError())["GossamerRegressor"](num_leaves=7)
        Traceback (most recent call last):
        ...
        ImportError: GossamerRegressor needs scikit-learn 1.6 or newer: \
pip install "gossamer[sklearn]"
    """

    def refuse(self: object, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        raise ImportError(
            f'{name} needs scikit-learn 1.6 or newer: pip install "gossamer[sklearn]"'
        ) from cause

    members = {"__init__": refuse, "__doc__": "Needs scikit-learn.", "fit": refuse}
    return {name: type(name, (), members) for name in names}
