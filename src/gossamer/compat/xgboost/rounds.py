"""Rounds as XGBoost counts them."""

from __future__ import annotations

from gossamer.model import Booster as CoreBooster


def count_every_round(core: CoreBooster) -> None:
    """Let rounds in which nothing can be split add constant trees, instead of ending the training.

    Example:
        >>> from gossamer import Dataset
        >>> core = CoreBooster({"verbosity": -1}, Dataset([[1.0], [1.0]], [0, 1]))
        >>> count_every_round(core)
        >>> core.update(), core.current_iteration()
        (False, 1)
    """
    assert core._training is not None
    core._training.ends_without_split = False
