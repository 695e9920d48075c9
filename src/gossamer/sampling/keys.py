"""Keys of the counter-based random numbers.

Every random choice is a function of its key and of the row or column it is about. So it depends
neither on threads nor on the order in which choices are made.
"""

from __future__ import annotations

from enum import IntEnum

from gossamer import _native

_MASK = 2**64 - 1


class Stream(IntEnum):
    """What a key is for: two uses with the same seed still get different numbers."""

    BAGGING = 1
    COLUMNS = 2
    THRESHOLDS = 3
    GOSS = 4
    MVS = 5
    DROPOUT = 6


def make_key(seed: int, stream: Stream, n_round: int, tree: int = 0) -> int:
    """Make the 64-bit key of one use in one tree of one round.

    Example:
        >>> make_key(1, Stream.COLUMNS, 0, 0) == make_key(1, Stream.COLUMNS, 0, 1)
        False
    """
    key = _native.random_bits(seed & _MASK, stream)
    return _native.random_bits(_native.random_bits(key, n_round), tree)
