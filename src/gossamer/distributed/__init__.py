"""Training on several workers, each with some of the rows: the same bytes as on one machine."""

from __future__ import annotations

from gossamer.distributed.group import Group, WorkerError
from gossamer.distributed.tcp import TcpGroup, connect
from gossamer.distributed.threads import ThreadGroup, run_group
from gossamer.distributed.train import SavedRounds, ShardData, check_supported, train

__all__ = [
    "Group",
    "SavedRounds",
    "ShardData",
    "TcpGroup",
    "ThreadGroup",
    "WorkerError",
    "check_supported",
    "connect",
    "run_group",
    "train",
]
