"""Rounds as XGBoost begins, counts and selects them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import ParameterError
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


def read_range(iteration_range: Any, n_rounds: int) -> tuple[int, int]:
    """Return the first round, and one after the last; (0, 0) stands for all.

    Raises:
        ParameterError: If the model has no such rounds.

    Example:
        >>> read_range((0, 0), 10), read_range((2, 5), 10)
        ((0, 10), (2, 5))
    """
    try:
        first, last = (int(each) for each in iteration_range)
    except (TypeError, ValueError):
        first, last = -1, -1
    last = n_rounds if last == 0 else last
    if not 0 <= first <= last <= n_rounds:
        raise ParameterError.because(
            "iteration_range is not within the rounds of the model",
            got=iteration_range,
            expected=f"(first, one after the last) within 0..{n_rounds}",
        )
    return first, last


def rounds_to_take(rounds: Any, n_rounds: int) -> list[int]:
    """Return the rounds that `booster[rounds]` asks for.

    Raises:
        IndexError: If there are no such rounds.
        ValueError: If they are not in their own order, or have several dimensions.

    Example:
        >>> rounds_to_take(-1, 10), rounds_to_take(slice(2, 8, 3), 10)
        ([9], [2, 5])
    """
    if isinstance(rounds, tuple):
        raise ValueError("rounds have one dimension")
    if isinstance(rounds, slice):
        if rounds.stop == 0:  # as in XGBoost: up to the last
            rounds = slice(rounds.start, None, rounds.step)
        if min(rounds.start or 0, rounds.stop or 0) < 0:
            raise IndexError(f"rounds are counted from the first: got {rounds}")
        if max(rounds.start or 0, rounds.stop or 0) > n_rounds:
            raise IndexError(f"there are no such rounds among {n_rounds}: {rounds}")
    else:
        rounds = operator.index(rounds)
        if not -n_rounds <= rounds < n_rounds:
            raise IndexError(f"there is no round {rounds} among {n_rounds}")
        rounds = slice(rounds % n_rounds, rounds % n_rounds + 1)
    order = range(*rounds.indices(n_rounds))
    if len(order) == 0:
        raise IndexError(f"there are no such rounds among {n_rounds}: {rounds}")
    if order.step < 0:
        raise ValueError("rounds are taken in their own order")
    return list(order)
