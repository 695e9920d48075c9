"""How much memory the kernels of a tree take."""

from __future__ import annotations

from typing import Final

# Bytes of `ChooseMemory` in native/cuda/choose.inl, rounded up; of a node and of a leaf there.
_CHOOSE_BYTES: Final = 8192
_KNOWN_BYTES: Final = 24
WAITING_BYTES: Final = 24
# Trees of more leaves get fewer nodes that they will not use: shared memory is short.
_MANY_NODES: Final = 8000


def max_nodes(num_leaves: int) -> int:
    """Return the size of the buffer of nodes: a tree's nodes, and some that it will not use."""
    return min(12 * num_leaves + 64, max(6 * num_leaves + 64, _MANY_NODES))


def choose_size(num_leaves: int) -> int:
    """Return the shared memory that choosing nodes takes."""
    return _CHOOSE_BYTES + _KNOWN_BYTES * max_nodes(num_leaves) + WAITING_BYTES * (num_leaves + 1)


def draw_size(n_features: int) -> int:
    """Return the shared memory that drawing features takes."""
    n_words = -(-n_features // 32)
    return 8 * (n_features + n_words) + 4 * n_words


def slot_size(n_cells: int) -> int:
    """Return the words of a histogram: gradients, hessians, and counts of half a word."""
    return 2 * n_cells + (n_cells + 1) // 2
