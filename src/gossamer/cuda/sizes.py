"""How much memory the kernels of a tree take."""

from __future__ import annotations

from typing import Final

# Bytes of `ChooseMemory` in native/cuda/choose.inl, rounded up; of a node and of a leaf there.
_CHOOSE_BYTES: Final = 8192
_KNOWN_BYTES: Final = 24
WAITING_BYTES: Final = 24
# Histograms beyond one for each leaf. Of the nodes that may get into the tree, at most half are not
# expanded and need theirs; a batch may need as many again. More are needed only where many nodes
# have the same reach.
_MORE_SLOTS: Final = 32
# Trees of more leaves get fewer nodes that they will not use: shared memory is short.
_MANY_NODES: Final = 8000


def max_nodes(num_leaves: int) -> int:
    """Return the size of the buffer of nodes: a tree's nodes, and some that it will not use."""
    return min(12 * num_leaves + 64, max(6 * num_leaves + 64, _MANY_NODES))


def max_slots(num_leaves: int) -> int:
    """Return how many histograms are kept at first; few trees need more."""
    return min(num_leaves + _MORE_SLOTS, most_slots(num_leaves))


def most_slots(num_leaves: int) -> int:
    """Return how many histograms there can be: one for every two nodes, and the root's."""
    return max_nodes(num_leaves) // 2 + 1


def choose_size(num_leaves: int) -> int:
    """Return the shared memory that choosing nodes takes."""
    by_node = _KNOWN_BYTES * max_nodes(num_leaves)
    by_slot = 4 * (most_slots(num_leaves) // 32 + 1)
    return _CHOOSE_BYTES + by_node + WAITING_BYTES * (num_leaves + 1) + by_slot


def draw_size(n_features: int) -> int:
    """Return the shared memory that drawing features takes."""
    n_words = -(-n_features // 32)
    return 8 * (n_features + n_words) + 4 * n_words


def slot_size(n_cells: int) -> int:
    """Return the words of a histogram: gradients, hessians, and counts of half a word."""
    return 2 * n_cells + (n_cells + 1) // 2
