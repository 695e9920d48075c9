"""What replaces the estimators where scikit-learn is not installed."""

from __future__ import annotations

from typing import Any


def stand_in(name: str, cause: ImportError) -> type:
    """Make a class of this name that only says what to install.

    Example:
        >>> stand_in("GossamerRegressor", ImportError())(num_leaves=7)
        Traceback (most recent call last):
        ...
        ImportError: GossamerRegressor needs scikit-learn 1.6 or newer: \
pip install "gossamer[sklearn]"
    """

    def refuse(self: object, *args: Any, **kwargs: Any) -> None:
        raise ImportError(
            f'{name} needs scikit-learn 1.6 or newer: pip install "gossamer[sklearn]"'
        ) from cause

    return type(name, (), {"__init__": refuse, "__doc__": "Needs scikit-learn.", "fit": refuse})
