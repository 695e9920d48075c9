"""From the arguments of a constructor to the parameters of a training."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral, Number
from typing import Any, Final

import numpy as np

from gossamer.params import CANONICAL
from gossamer.threads import available_cpus

# Arguments of the constructor that training knows nothing about.
_NOT_FOR_TRAINING: Final = ("class_weight", "importance_type")


def training_params(
    arguments: Mapping[str, Any], defaults: Mapping[str, Any], others: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters that were given.

    An argument at its default counts as not given: so another name for it in `others` is heard,
    and what follows from other parameters does follow (`max_depth` limits `num_leaves`,
    `subsample` below 1 turns bagging on).

    Args:
        arguments: Arguments of the constructor and their values.
        defaults: The values they have by default.
        others: Parameters given by any other name.

    Example:
        >>> defaults = {"num_leaves": 31, "subsample": 1.0, "random_state": None, "n_jobs": None}
        >>> arguments = {**defaults, "subsample": 0.8, "random_state": 7, "n_jobs": 1}
        >>> training_params(arguments, defaults, {"max_bin": 63})
        {'subsample': 0.8, 'random_state': 7, 'n_jobs': 1, 'max_bin': 63}
    """
    given = {
        name: value
        for name, value in arguments.items()
        if name not in _NOT_FOR_TRAINING and not _is_same(value, defaults[name])
    }
    if "random_state" in given:
        given["random_state"] = to_seed(given["random_state"])
    n_threads = to_threads(arguments["n_jobs"])
    is_given = not (isinstance(n_threads, Integral) and n_threads == 0)
    if is_given and not any(CANONICAL.get(name) == "num_threads" for name in others):
        given["n_jobs"] = n_threads
    return {**given, **others}


def _is_same(value: object, default: object) -> bool:
    if value is default:
        return True
    return isinstance(value, (Number, str)) and bool(value == default)


def take_out(params: dict[str, Any], canonical: str) -> Any:
    """Take a parameter out of `params`, by whatever name it was given; None: not given.

    Example:
        >>> params = {"eta": 0.3, "loss": "binary"}
        >>> take_out(params, "objective"), params
        ('binary', {'eta': 0.3})
    """
    names = [name for name in params if CANONICAL.get(name) == canonical]
    # The canonical name wins, then the shortest: as in `resolve`.
    names.sort(key=lambda name: (name != canonical, len(name), name))
    found = [value for name in names if (value := params.pop(name)) is not None]
    return found[0] if found else None


def to_seed(random_state: Any) -> Any:
    """Draw a seed from a random state; what is none is returned as it is.

    Example:
        >>> to_seed(7)
        7
        >>> isinstance(to_seed(np.random.RandomState(0)), int)
        True
    """
    largest = np.iinfo(np.int32).max
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(largest))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(largest))
    return random_state


def to_threads(n_jobs: Any) -> Any:
    """Return the number of threads that `n_jobs` asks for; 0: every CPU.

    Args:
        n_jobs: Negative numbers count from the number of CPUs down, as joblib's: -1 is all of
            them, -2 all but one. None is every CPU, or what OMP_NUM_THREADS says: joblib sets it
            in its worker processes, so that they do not use every CPU each.

    Example:
        >>> to_threads(3), to_threads(-1) == available_cpus()
        (3, True)
    """
    if n_jobs is None:
        first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        return min(int(first), available_cpus()) if first.isdecimal() else 0
    if isinstance(n_jobs, (int, np.integer)) and n_jobs < 0:
        return max(available_cpus() + 1 + int(n_jobs), 1)
    return n_jobs
