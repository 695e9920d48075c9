"""From runs to tables: ranks, losses relative to the best, times, coverage."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean
from typing import Any

from benchmarks.report import make_table

Run = dict[str, Any]


def format_quality(runs: list[Run]) -> str:
    """Formats ranks and relative losses as Markdown.

    Ranks and losses are means over tables of the means over splits; the loss is relative to the
    best contender's on the table. Contenders that failed on a table are left out there. Of a table
    only those splits count that all its contenders have finished, if there are any.
    """
    good = _shared_splits([run for run in runs if "error" not in run])
    losses: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for run in good:
        losses[run["table"]][run["contender"]].append(run["loss"])
        times[run["contender"]].append((run["seconds"], run["cpu_seconds"]))
    ranks: dict[str, list[int]] = defaultdict(list)
    above: dict[str, list[float]] = defaultdict(list)
    beats: dict[str, list[bool]] = defaultdict(list)
    body = []
    names = list(dict.fromkeys(run["contender"] for run in good))
    for table, found in losses.items():
        means = {name: mean(values) for name, values in found.items()}
        ordered = sorted(means, key=lambda name: means[name])
        for place, name in enumerate(ordered):
            ranks[name].append(place + 1)
            above[name].append(100 * (means[name] / means[ordered[0]] - 1))
            if "catboost" in means:
                beats[name].append(means[name] <= means["catboost"])
        body.append([table, *(f"{means[name]:.5g}" if name in means else "-" for name in names)])
    head = [
        "contender",
        "mean rank",
        "loss over the best, %",
        "not above CatBoost's",
        "seconds",
        "CPU seconds",
    ]
    summary = [
        [
            name,
            f"{mean(ranks[name]):.2f}",
            f"{mean(above[name]):.2f}",
            f"{sum(beats[name])} of {len(beats[name])}",
            *(f"{mean(each):.2f}" for each in zip(*times[name], strict=True)),
        ]
        for name in sorted(names, key=lambda name: mean(ranks[name]))
    ]
    lines = [*make_table(head, summary), "", *make_table(["table", *names], body)]
    lines += [f"FAILED {r['table']} {r['contender']}: {r['error']}" for r in runs if "error" in r]
    return "\n".join(lines)


def _shared_splits(runs: list[Run]) -> list[Run]:
    """Leave out splits that only some contenders have finished: some splits are harder."""
    seeds: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for run in runs:
        seeds[run["table"]][run["contender"]].add(run["seed"])
    shared = {table: set.intersection(*found.values()) for table, found in seeds.items()}
    return [run for run in runs if not shared[run["table"]] or run["seed"] in shared[run["table"]]]


def format_intervals(runs: list[Run]) -> str:
    """Formats coverage and widths as Markdown; widths are relative to the spread of the labels."""
    by_key: dict[tuple[str, str, float], list[Run]] = defaultdict(list)
    for run in runs:
        if "error" not in run:
            by_key[run["table"], run["contender"], run["wanted"]].append(run)
    body = []
    for key, own in sorted(by_key.items()):
        figures = (mean(run[name] for run in own) for name in ("coverage", "width", "cpu_seconds"))
        coverage, width, seconds = figures
        shown = [f"{100 * coverage:.1f}", f"{width:.3f}", f"{seconds:.2f}"]
        body.append([key[0], key[1], f"{100 * key[2]:.0f}", *shown])
    head = ["table", "method", "wanted, %", "inside, %", "width", "CPU seconds"]
    lines = make_table(head, body)
    lines += [f"FAILED {r['table']} {r['contender']}: {r['error']}" for r in runs if "error" in r]
    return "\n".join(lines)
