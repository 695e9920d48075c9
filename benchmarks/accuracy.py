"""Accuracy over several seeds: means, and each contender's difference from LightGBM's."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any

from benchmarks.metrics import HIGHER_IS_BETTER
from benchmarks.report import make_table

BASELINE = "lightgbm_row"


def format_accuracy(runs: list[dict[str, Any]]) -> str:
    """Formats mean metrics over seeds as a Markdown table.

    The difference is relative to the baseline, paired by seed, with the standard error of its
    mean; a plus sign means more accurate, whichever way the metric points.

    Args:
        runs: Raw runs of all seeds; failed ones are left out.

    Returns:
        The table, with failed runs named below it.
    """
    good = [run for run in runs if "error" not in run]
    contenders = list(dict.fromkeys(run["contender"] for run in good))
    baseline = BASELINE if BASELINE in contenders else next(iter(contenders), "")
    others = [name for name in contenders if name != baseline]
    head = ["case", "metric", "seeds", baseline]
    for other in others:
        head += [other, "better by %", "+- %"]
    body = []
    for case in dict.fromkeys(run["case"] for run in good):
        by_seed = _by_seed(good, case)
        for metric in next(iter(by_seed[baseline].values()), {}):
            body.append(_line(case, metric, by_seed, baseline, others))
    failed = [run for run in runs if "error" in run]
    lines = make_table(head, body) if contenders else ["nothing was run"]
    lines += [
        f"FAILED {run['case']} {run['contender']} seed {run['seed']}: {run['error']}"
        for run in failed
    ]
    return "\n".join(lines)


def _by_seed(runs: list[dict[str, Any]], case: str) -> dict[str, dict[int, dict[str, float]]]:
    """Contender, then seed, to metrics."""
    found: dict[str, dict[int, dict[str, float]]] = {run["contender"]: {} for run in runs}
    for run in runs:
        if run["case"] == case:
            found[run["contender"]][run["seed"]] = run["metrics"]
    return found


def _line(
    case: str,
    metric: str,
    by_seed: dict[str, dict[int, dict[str, float]]],
    baseline: str,
    others: list[str],
) -> list[str]:
    base = by_seed[baseline]
    cells = [case, metric, str(len(base)), f"{mean(m[metric] for m in base.values()):.6g}"]
    sign = 1.0 if metric in HIGHER_IS_BETTER else -1.0
    for other in others:
        shared = [seed for seed in by_seed[other] if seed in base]
        if not shared:
            cells += ["", "", ""]
            continue
        pairs = [(by_seed[other][seed][metric], base[seed][metric]) for seed in shared]
        gains = [100.0 * sign * (ours - theirs) / abs(theirs) for ours, theirs in pairs]
        error = stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else float("nan")
        cells += [f"{mean(o for o, _ in pairs):.6g}", f"{mean(gains):+.3f}", f"{error:.3f}"]
    return cells
