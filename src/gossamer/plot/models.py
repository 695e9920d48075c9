"""Which booster a plot is about."""

from __future__ import annotations

from typing import Any

from gossamer.errors import ParameterError, ParameterTypeError
from gossamer.model import Booster, CVBooster


def find_booster(booster: Any, function: str) -> Booster:
    """Return the booster itself, or a fitted estimator's booster.

    Args:
        booster: What the user gave.
        function: Who asks, for the message.

    Raises:
        ParameterError: If it is neither.

    Example:
        >>> from gossamer.data import Dataset
        >>> booster = Booster({}, Dataset([[1.0], [2.0]], label=[0, 1]))
        >>> find_booster(booster, "plot_tree") is booster
        True
    """
    if isinstance(booster, Booster):
        return booster
    if isinstance(booster, CVBooster):
        raise ParameterError.because(
            f"{function} draws one model",
            found=f"a CVBooster of {len(booster.boosters)} models",
            expected="a Booster or a fitted estimator",
            hint="Pass one of its models: cvbooster.boosters[0].",
        )
    # Asked of the class: what an estimator that was not fitted says of it is the better message.
    if hasattr(type(booster), "booster_") and isinstance(found := booster.booster_, Booster):
        return found
    raise ParameterTypeError.because(
        f"{function} cannot draw this",
        got=type(booster).__name__,
        expected="a Booster or a fitted estimator",
    )
