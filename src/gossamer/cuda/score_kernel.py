"""The kernel that adds a tree to scores."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.cuda.device import Launch
from gossamer.cuda.records import SCORE_ARGS, TREE_NODE
from gossamer.cuda.table import DeviceTable

# Bytes of a tree that is copied to shared memory.
_MOST_SHARED_NODES: Final = 24 * 1024


def score_args(table: DeviceTable, score: int, n_nodes: int) -> npt.NDArray[Any]:
    """Return what the kernel needs, but for the tree.

    Args:
        table: Whose rows.
        score: Address of the scores of one output.
        n_nodes: The most nodes that the tree has.
    """
    args = np.zeros((), SCORE_ARGS)
    for name in ("n_rows", "rows8", "rows16", "stride8", "stride16"):
        args[name] = table.args[name]
    args["score"] = score
    args["n_nodes"] = n_nodes
    args["is_shared"] = TREE_NODE.itemsize * n_nodes <= _MOST_SHARED_NODES
    return args


def add_scores(args: npt.NDArray[Any], n_blocks: int) -> Launch:
    """Return the kernel."""
    shared = TREE_NODE.itemsize * int(args["n_nodes"]) if args["is_shared"] else 0
    return Launch("add_scores", n_blocks, 256, args, shared)
