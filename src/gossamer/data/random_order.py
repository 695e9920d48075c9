"""Rows in a random order, and rows ordered by integer keys (NumPy, deterministic)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native

# Sets these numbers apart from other uses of the same seed.
_STREAM: Final = 0x7473
_MASK: Final = 2**64 - 1


def random_order(n_rows: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the rows in a random order.

    Every row draws its place by its own number: of two rows, which comes first does not depend on
    how many others there are.

    Example:
        >>> random_order(6, seed=1)
        array([0, 5, 3, 1, 2, 4])
    """
    key = np.uint64(_native.random_bits(seed & _MASK, _STREAM))
    draws = _mix_bits(_mix_bits(np.arange(n_rows, dtype=np.uint64)) ^ key)
    return stable_order(draws >> np.uint64(16), 2**48)


def stable_order(keys: npt.NDArray[Any], n_keys: int) -> npt.NDArray[np.int64]:
    """Return the rows by increasing key, equal keys in the order they stand in.

    Args:
        keys: Integers from 0 to before `n_keys`.
        n_keys: How many keys there may be.

    Example:
        >>> stable_order(np.array([3, 1, 3, 0]), 4)
        array([3, 1, 0, 2])
    """
    # NumPy sorts 16 bits by counting, several times faster than it sorts wider integers.
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(16, (n_keys - 1).bit_length(), 16):
        digit = (keys >> keys.dtype.type(shift)).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order


def _mix_bits(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64, as in `native/core/random.h`; integers wrap around."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
