"""The table in Markdown."""

from __future__ import annotations

from typing import Any

from benchmarks.report import make_table
from benchmarks.tasks.report import format_machine

_NAMES = {
    "values": "`pred_contrib`",
    "background": "against 100 background rows",
    "interactions": "interactions",
}
_NONE = "-"
Document = dict[str, Any]


def format_table(document: Document) -> str:
    """The best time of each contender, and how far values are from the raw score at most."""
    cases = dict.fromkeys((run["what"], run["leaves"]) for run in document["runs"])
    head = ["what", "leaves", "gossamer, µs/row", "lightgbm, µs/row", "times faster"]
    head += ["gossamer off by", "lightgbm off by"]
    body = []
    for what, leaves in cases:
        ours, peer = (
            [
                run
                for run in document["runs"]
                if (run["what"], run["leaves"], run["library"]) == (what, leaves, library)
                and "error" not in run
            ]
            for library in ("gossamer", "lightgbm")
        )
        times = [min((run["row_us"] for run in runs), default=None) for runs in (ours, peer)]
        off = [max((run["off"] for run in runs), default=None) for runs in (ours, peer)]
        ratio = None if None in times else times[1] / times[0]  # type: ignore[operator]
        line = [_NAMES[what], str(leaves), *(_number(t, ".1f") for t in times)]
        body.append([*line, _number(ratio, ".1f"), *(_number(o, ".0e") for o in off)])
    failed = [
        f"- {_NAMES[run['what']]}, {run['leaves']} leaves, {run['library']}: {run['error']}"
        for run in document["runs"]
        if "error" in run
    ]
    return "\n".join([*make_table(head, body), *failed, "", format_machine(document)])


def _number(value: float | None, how: str) -> str:
    return _NONE if value is None else format(value, how)
