"""How LightGBM's command line is told from ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

_CONFIG: Final = ("config", "config_file")
_TASK: Final = ("task", "task_type")


def is_config(arguments: Sequence[str]) -> bool:
    """Whether the command line is LightGBM's: key=value only, with a config file or a task.

    Example:
        >>> is_config(["config=train.conf"]), is_config(["train", "config=train.conf"])
        (True, True)
        >>> is_config(["train", "a.csv", "num_leaves=7"]), is_config(["train", "config=a.toml"])
        (False, False)
    """
    rest = arguments[1:] if arguments[:1] in (["train"], ["predict"]) else arguments
    if not rest or not all("=" in item and not item.startswith("-") for item in rest):
        return False
    is_command = len(rest) < len(arguments)
    for item in rest:
        name, _, value = item.partition("=")
        if name in _CONFIG and Path(value).suffix != ".toml":
            return True
        if name in _TASK and not is_command:
            return True
    return False
