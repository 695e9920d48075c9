"""One thread at a time in a training."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class Locked(Protocol):
    """Something with a lock."""

    lock: RLock


T = TypeVar("T", bound=Locked)
P = ParamSpec("P")
R = TypeVar("R")


def one_at_a_time(
    function: Callable[Concatenate[T, P], R],
) -> Callable[Concatenate[T, P], R]:
    """Let one thread at a time into whatever reads or changes a training.

    The thread that is in may enter again: a metric of the user's may ask for a prediction.
    """

    @wraps(function)
    def locked(training: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with training.lock:
            return function(training, *args, **kwargs)

    return locked
