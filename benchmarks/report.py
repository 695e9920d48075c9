"""Tables of ratios with the accuracy beside them, and the JSON that holds every raw run.

The column "busy" is the number of CPUs that other processes used during the run that counted:
where it is not near zero, the times are not to be trusted.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.cases import CASES
from benchmarks.summary import Row, best_of_family, families_of, find_reference, summarise

_MIB = 2**20


def format_report(document: dict[str, Any]) -> str:
    """Formats a result document as Markdown.

    Args:
        document: What `write_json` writes.

    Returns:
        The machine, one table per case, and the table of ratios.
    """
    rows = summarise(document["runs"])
    lines = [_format_machine(document), ""]
    for case in dict.fromkeys(row.case for row in rows):
        lines += [*_format_case(rows, case), ""]
    lines += _format_ratios(rows)
    failed = [run for run in document["runs"] if "error" in run]
    lines += [f"FAILED {run['case']} {run['contender']}: {run['error']}" for run in failed]
    return "\n".join(lines)


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Writes a result document, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")


def _format_machine(document: dict[str, Any]) -> str:
    machine = document["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    return (
        f"{machine['cpu']}, {machine['cpus_usable']} CPUs, {machine['memory_gib']} GiB, "
        f"{machine['system']}, Python {machine['python']}, {document['threads']} threads, "
        f"{machine['date'][:10]}, load {(machine['load_average'] or ['unknown'])[0]} at the "
        f"start, rows x {document['scale']:g}\n{versions}"
    )


def _format_case(rows: list[Row], case: str) -> list[str]:
    here = [row for row in rows if row.case == case]
    reference = find_reference(rows, case)
    names = list(here[0].metrics)
    timed = "build + train" if CASES[case].timed == "total" else "train"
    ratio_title = f"time / {reference.contender}" if reference else "ratio"
    head = [
        "contender",
        "build s",
        "train s",
        "predict s",
        "peak MiB",
        *names,
        ratio_title,
        "runs",
        "busy",
    ]
    body = [
        [
            row.contender,
            f"{row.build_s:.4f}",
            f"{row.train_s:.4f}",
            f"{row.predict_s:.4f}",
            f"{row.peak_bytes / _MIB:.1f}",
            *(f"{row.metrics[name]:.6g}" for name in names),
            f"{row.time_s / reference.time_s:.2f}" if reference else "",
            str(row.n_runs),
            "?" if row.other_cpus is None else f"{row.other_cpus:.2f}",
        ]
        for row in here
    ]
    shape = f"{here[0].n_rows:,} x {here[0].n_columns}"
    title = f"### {case}: {shape}, {CASES[case].num_leaves} leaves, {CASES[case].rounds} rounds"
    return [f"{title}; the ratio is of {timed}", "", *make_table(head, body)]


def _format_ratios(rows: list[Row]) -> list[str]:
    """Peer time / reference time, the best mode of each library; above 1: reference faster."""
    families = families_of(rows)
    body = []
    for case in dict.fromkeys(row.case for row in rows):
        reference = find_reference(rows, case)
        cells = [case, reference.contender if reference else ""]
        for family in families:
            best = best_of_family(rows, case, family)
            cells.append(f"{best.time_s / reference.time_s:.2f}" if best and reference else "")
        body.append(cells)
    title = "### Peer time / reference time (best mode of each; above 1: the reference is faster)"
    return [title, "", *make_table(["case", "reference", *families], body)]


def make_table(head: list[str], body: list[list[str]]) -> list[str]:
    """Lines of an aligned Markdown table: the first column to the left, the rest to the right."""
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]

    def join(cells: list[str]) -> str:
        padded = [cells[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [join(head), join(rule), *(join(line) for line in body)]
