"""The tables in Markdown."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from benchmarks.predict.cases import CASES, Case
from benchmarks.report import make_table
from benchmarks.tasks.report import format_machine

BLOCKS = (*CASES, "failed")
PEER = "lightgbm"
Document = dict[str, Any]
_NONE = "-"


def best_seconds(runs: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Fastest call of each contender: case -> contender -> seconds."""
    best: dict[str, dict[str, float]] = defaultdict(dict)
    for run in runs:
        if "best_s" in run:
            known = best[run["case"]].get(run["contender"], float("inf"))
            best[run["case"]][run["contender"]] = min(known, run["best_s"])
    return dict(best)


def format_blocks(document: Document) -> dict[str, str]:
    """All tables of what was run.

    Args:
        document: What the command wrote.

    Returns:
        Name of a block to its Markdown; "Not run." where there is nothing.
    """
    blocks = dict.fromkeys(BLOCKS, "Not run.")
    rows = {run["case"]: run["n_rows"] for run in document["runs"] if "n_rows" in run}
    for name, best in best_seconds(document["runs"]).items():
        lines = _table(CASES[name], best, rows[name])
        blocks[name] = "\n".join([*lines, "", format_machine(document)])
    failed = [
        f"- {run['case']}, {run['contender']}: {run['error']}"
        for run in document["runs"]
        if "error" in run
    ]
    blocks["failed"] = "\n".join(dict.fromkeys(failed)) or "None."
    return blocks


def _table(case: Case, best: dict[str, float], n_rows: int) -> list[str]:
    unit, factor = ("µs", 1e6) if n_rows == 1 else ("ms", 1e3)
    head = ["contender", f"{unit} for {n_rows:,} row{'s' if n_rows > 1 else ''}"]
    head += ["ns per row and tree", f"times {PEER}"]
    peer = best.get(PEER)
    body = []
    for name, seconds in sorted(best.items(), key=lambda item: item[1]):
        cells = [name, f"{seconds * factor:.1f}", f"{seconds / n_rows / case.n_trees * 1e9:.2f}"]
        body.append([*cells, _NONE if peer is None else f"{peer / seconds:.1f}"])
    return [*make_table(head, body), "", _verdict(best)]


def _verdict(best: dict[str, float]) -> str:
    """Compares each of ours with the fastest other, and with LightGBM."""
    ours = {name: seconds for name, seconds in best.items() if name.startswith("gossamer")}
    others = {name: seconds for name, seconds in best.items() if name not in ours}
    if not ours or not others:
        return "Nobody to compare with."
    said = []
    for name, seconds in ours.items():
        fastest = min(others, key=others.__getitem__)
        text = f"{name}: {others[fastest] / seconds:.1f} times the fastest other ({fastest})"
        if PEER in others:
            text += f", {others[PEER] / seconds:.1f} times {PEER}"
        said.append(text + ".")
    return " ".join(said)
