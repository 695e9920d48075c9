"""How much workers send: counted while they train, and predicted before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

# Bytes of a cell whose sender has few rows in the leaf, of any other one, and of an empty one.
_PACKED_CELL: Final = 8
_LARGE_CELL: Final = 20
_EMPTY_CELL: Final = 1 / 8
# A sender with more rows than this in a leaf sends 64-bit sums.
_PACKED_ROWS: Final = 8191
# Leaves are expanded ahead of their turn: so many histograms are built for each split of a tree.
_BUILT_PER_SPLIT: Final = 1.14
# The best split of one worker's features: bytes for each leaf that is searched.
_SPLIT: Final = 65
# Counts of exponents and extremes of the gradients, sums of all rows, a checksum.
_TREE_START: Final = 4150


@dataclass
class Traffic:
    """What one worker has sent so far.

    Attributes:
        n_collectives: Exchanges that all workers took part in.
        n_messages: Messages, without signs of life.
        n_bytes: Their bytes.
        n_trees: Trees that were grown.
        tree_collectives: Exchanges while these were grown.
        tree_bytes: Bytes sent meanwhile.
    """

    n_collectives: int = 0
    n_messages: int = 0
    n_bytes: int = 0
    n_trees: int = 0
    tree_collectives: int = 0
    tree_bytes: int = 0

    @contextmanager
    def count_trees(self, n_trees: int) -> Iterator[None]:
        """Count what is sent within the block as the traffic of growing so many trees."""
        n_collectives, n_bytes = self.n_collectives, self.n_bytes
        yield
        self.n_trees += n_trees
        self.tree_collectives += self.n_collectives - n_collectives
        self.tree_bytes += self.n_bytes - n_bytes

    @property
    def collectives_per_tree(self) -> float:
        """Mean number of exchanges while a tree is grown."""
        return self.tree_collectives / max(self.n_trees, 1)

    @property
    def bytes_per_tree(self) -> float:
        """Mean number of bytes that this worker sends while a tree is grown."""
        return self.tree_bytes / max(self.n_trees, 1)

    def to_dict(self) -> dict[str, float]:
        """Return all numbers by name.

        Example:
            >>> Traffic(n_trees=2, tree_bytes=10).to_dict()["bytes_per_tree"]
            5.0
        """
        means = ("collectives_per_tree", "bytes_per_tree")
        return {**asdict(self), **{name: getattr(self, name) for name in means}}


def predict_tree_bytes(
    smaller_children: Sequence[int] | npt.NDArray[np.int64],
    n_rows: int,
    bins: Sequence[int],
    n_workers: int,
) -> float:
    """Predict how many bytes a worker sends while one tree is grown; rows are spread evenly.

    A worker builds the histogram of the smaller child of every split, and sends the cells of the
    features that others own to their owners: 8 bytes for a cell, or 20 where the worker has more
    than 8,191 rows of the leaf (2,047 if some gradients are far larger than the typical one), and
    one bit for an empty cell. Then it sends the best splits of its own features to all others.

    Args:
        smaller_children: For each split: the rows of the child that has fewer.
        n_rows: Rows that the tree is grown on.
        bins: The number of bins of each feature.
        n_workers: Number of workers.

    Example:
        >>> round(predict_tree_bytes([400_000], 1_000_000, [255] * 28, 2) / 1e3)
        156
        >>> predict_tree_bytes([400_000], 1_000_000, [255] * 28, 1)
        0.0
    """
    others = n_workers - 1
    counts = np.concatenate([[n_rows], smaller_children]) / n_workers
    built = np.concatenate([[1.0], np.full(len(smaller_children), _BUILT_PER_SPLIT)])
    cell = np.where(counts <= _PACKED_ROWS, _PACKED_CELL, _LARGE_CELL)
    cells = np.zeros(len(counts))
    # Each split above a leaf has halved the bins that one feature can have there.
    n_splits = np.log2(np.maximum(n_rows / np.maximum(n_workers * counts, 1), 1))
    open_share = np.maximum(1 - 0.5 * n_splits / max(len(bins), 1), 0.5)
    for n_bins in bins:
        n_open = np.maximum(n_bins * open_share, 2)
        filled = n_open * -np.expm1(counts * np.log1p(-1.0 / n_open))
        cells += filled * cell + n_bins * _EMPTY_CELL
    n_searched = 1 + 2 * _BUILT_PER_SPLIT * len(smaller_children)
    return float(
        (cells * built).sum() * others / n_workers + others * (n_searched * _SPLIT + _TREE_START)
    )


def balanced_tree(n_rows: int, num_leaves: int) -> npt.NDArray[np.int64]:
    """Return the smaller children of a tree whose splits all halve the largest leaf.

    Example:
        >>> balanced_tree(1000, 4).tolist()
        [500, 250, 250]
    """
    children: list[int] = []
    leaves = [n_rows]
    while len(leaves) < num_leaves:
        largest = max(range(len(leaves)), key=leaves.__getitem__)
        half = leaves[largest] // 2
        children.append(half)
        leaves[largest : largest + 1] = [leaves[largest] - half, half]
    return np.array(children, dtype=np.int64)
