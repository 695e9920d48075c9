"""What a training came to: facts for programs, and a table for people."""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from gossamer.cli.loading import Loaded
from gossamer.cli.terminal import Style, format_size, format_time
from gossamer.cli.text_table import format_facts, format_number
from gossamer.data import Dataset
from gossamer.model import Booster

History = dict[str, dict[str, list[float]]]
# Names of the scores of rows that a training held out by itself.
_HELD_OUT: Final = ("oof", "held_out")


class Timing:
    """A stop watch with laps.

    Example:
        >>> timing = Timing()
        >>> timing.done("train")
        >>> list(timing.seconds)
        ['train']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def done(self, what: str) -> None:
        """End a lap."""
        now = time.perf_counter()
        self.seconds[what] = now - self._last
        self._last = now


def peak_memory() -> int | None:
    """Return the most memory that this process has had, in bytes; None: the system cannot tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found * 1024


def training_summary(
    loaded: Loaded,
    train_set: Dataset,
    valid_set: Dataset | None,
    model: Booster,
    history: History,
    timing: Timing,
) -> dict[str, Any]:
    """Return the facts."""
    n_done = max((len(v) for each in history.values() for v in each.values()), default=0)
    best = model.best_iteration
    kept = {name: value for name, value in loaded.params.items() if name != "verbosity"}
    return {
        "task": loaded.task.name,
        "reason": loaded.task.reason,
        "objective": model.model.objective.name,
        "classes": None if loaded.task.classes is None else list(loaded.task.classes),
        "rows": train_set.num_data(),
        "valid_rows": None if valid_set is None else valid_set.num_data(),
        "columns": train_set.num_feature(),
        "rounds": model.current_iteration(),
        "rounds_trained": max(n_done, model.current_iteration()),
        "best_round": best if best > 0 else None,
        "members": None if model.model.folds is None else model.model.folds.n_members,
        "interrupted": bool(model.was_interrupted),
        "metrics": {name: dict(scores) for name, scores in model.best_score.items()},
        "seconds": {name: round(value, 6) for name, value in timing.seconds.items()},
        "parameters": kept,
    }


def training_text(summary: dict[str, Any]) -> str:
    """Return the table."""
    style = Style.of(sys.stdout)
    rows = f"{summary['rows']:,}"
    if summary["valid_rows"] is not None:
        rows += f" to train, {summary['valid_rows']:,} to validate"
    rounds = str(summary["rounds"])
    if summary["members"] is not None:
        rounds += f" in {summary['members']} members"
    if summary["rounds_trained"] > summary["rounds"]:
        rounds += f", the best of {summary['rounds_trained']} trained"
    if summary["interrupted"]:
        rounds += "; interrupted"
    facts: dict[str, object] = {"rows": rows, "columns": summary["columns"], "rounds": rounds}
    for name, scores in summary["metrics"].items():
        for metric, value in scores.items():
            what = f"{metric} on held-out rows" if name in _HELD_OUT else f"{name} {metric}"
            facts[what] = style.good(format_number(value))
    seconds = summary["seconds"]
    facts["time"] = ", ".join(f"{format_time(s)} to {what}" for what, s in seconds.items())
    if summary.get("peak_memory_bytes"):
        facts["peak memory"] = format_size(summary["peak_memory_bytes"])
    facts["model"] = f"{summary['model']} ({format_size(summary['model_bytes'])})"
    if "report" in summary:
        facts["report"] = summary["report"]
    return format_facts(facts)
