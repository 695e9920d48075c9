"""Trainings that begin and count rounds as XGBoost's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.model import Booster as CoreBooster


def begin_training(core: CoreBooster, start: npt.NDArray[np.float64] | None = None) -> None:
    """Let rounds in which nothing can be split add constant trees, instead of ending the training.

    Args:
        core: A model that is about to be trained.
        start: The score that each output starts from; None: as the parameters say.

    Example:
        >>> from gossamer import Dataset
        >>> core = CoreBooster({"verbosity": -1}, Dataset([[1.0], [1.0]], [0, 1]))
        >>> begin_training(core)
        >>> core.update(), core.current_iteration()
        (False, 1)
    """
    assert core.training is not None
    core.training.ends_without_split = False
    if start is not None:
        core.training.start_at(start)
