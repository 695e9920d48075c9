"""Training on several workers, each with some of the rows: the same bytes as on one machine."""

from __future__ import annotations

from gossamer.distributed.group import Group, WorkerError
from gossamer.distributed.tcp import TcpGroup, connect
from gossamer.distributed.threads import ThreadGroup, run_group
from gossamer.distributed.traffic import Traffic, balanced_tree, predict_tree_bytes
from gossamer.distributed.train import SavedRounds, ShardData, check_supported, train

__all__ = [
    "Group",
    "SavedRounds",
    "ShardData",
    "TcpGroup",
    "ThreadGroup",
    "Traffic",
    "WorkerError",
    "balanced_tree",
    "check_supported",
    "connect",
    "predict_tree_bytes",
    "run_group",
    "train",
]
