"""The figure of the XGBoost paper's section 3.2: accuracy over rounds, by candidates."""

from __future__ import annotations

import importlib
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.methods.data import ACCURACY
from benchmarks.methods.plan import EPSILONS, EXACT, HIST, PROPOSALS, approx_name
from benchmarks.methods.report import (
    accuracy_cases,
    metric_title,
    shared_scores,
    shared_seeds,
    title_of,
)
from benchmarks.paper.metrics import HIGHER_IS_BETTER
from benchmarks.paper.store import Document
from benchmarks.paper.summary import Results

_COLOURS = {"global": "#2c6fbb", "local": "#d35400"}
_LINES = {0.3: ":", 0.1: "-.", 0.03: "--", 0.01: "-"}
_DRAWN = (0.3, 0.1, 0.03)  # finer ones cannot be told from `exact` by eye; the lower row has them
_STYLES = {
    EXACT: ("#111111", "-"),
    HIST: ("#7f8c8d", "--"),
    **{
        approx_name(proposal, eps): (_COLOURS[proposal], _LINES[eps])
        for proposal in PROPOSALS
        for eps in _DRAWN
    },
}
Points = list[tuple[int, float]]


def draw_figure(document: Document, path: Path) -> bool:
    """Draws one column of panels for each data set: over rounds, and by eps after the last one.

    Args:
        document: What ``accuracy`` wrote.
        path: The file, SVG or PNG; its folder is made.

    Returns:
        Whether it was drawn: there are curves, and matplotlib is installed.
    """
    results = Results(document)
    cases = [case for case in accuracy_cases(results) if find_curve(results, case, EXACT)]
    if not cases:
        return False
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
    except ImportError:
        return False
    matplotlib.use("Agg")
    plt: Any = importlib.import_module("matplotlib.pyplot")
    # The same results give the same file: no date, and names that do not depend on the process.
    with matplotlib.rc_context({"svg.hashsalt": "gossamer", "svg.fonttype": "none"}):
        figure, axes = plt.subplots(2, len(cases), figsize=(4.0 * len(cases), 7.4), squeeze=False)
        for column, case in enumerate(cases):
            _draw_rounds(axes[0][column], results, case)
            _draw_epsilons(axes[1][column], results, case)
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, ncols=4, frameon=False, fontsize=9, loc="upper center")
        figure.tight_layout(rect=(0.0, 0.0, 1.0, 0.92))
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, metadata=metadata, dpi=100)
        plt.close(figure)
    return True


def find_curve(results: Results, case: str, variant: str) -> Points:
    """Rounds and the held-out metric after them, the mean over the random splits."""
    metric = ACCURACY[case][0]
    seeds = shared_seeds(results, case)
    values: dict[int, list[float]] = {}
    for run in results.runs(case, variant):
        if run["seed"] not in seeds:
            continue
        for point in run["curve"]:
            values.setdefault(point["round"], []).append(point[metric])
    return [(n_rounds, fmean(found)) for n_rounds, found in sorted(values.items())]


def _draw_rounds(axes: Any, results: Results, case: str) -> None:
    last: list[float] = []
    for variant, (colour, line) in _STYLES.items():
        points = find_curve(results, case, variant)
        if points:
            rounds, values = zip(*points, strict=True)
            axes.plot(rounds, values, line, color=colour, label=title_of(variant), linewidth=1.4)
            last.append(values[-1])
    # The first rounds are much worse than all others, and no one's question.
    low, high = min(last), max(last)
    below, above = (0.5, 0.1) if ACCURACY[case][0] in HIGHER_IS_BETTER else (0.1, 0.5)
    room = max(high - low, 1e-6)
    axes.set_ylim(low - below * room, high + above * room)
    axes.set_title(case, fontsize=10)
    axes.set_xlabel("rounds")
    axes.set_ylabel(metric_title(case))
    _tidy(axes)


def _draw_epsilons(axes: Any, results: Results, case: str) -> None:
    metric = ACCURACY[case][0]
    for proposal in PROPOSALS:
        found = {eps: shared_scores(results, case, approx_name(proposal, eps)) for eps in EPSILONS}
        drawn = [(1.0 / eps, fmean(scores.values())) for eps, scores in found.items() if scores]
        if drawn:
            candidates, values = zip(*drawn, strict=True)
            colour = _COLOURS[proposal]
            axes.plot(candidates, values, "o-", color=colour, label=proposal, markersize=4)
    for variant, line in ((EXACT, "-"), (HIST, "--")):
        scores = shared_scores(results, case, variant)
        if scores:
            level = fmean(scores.values())
            colour = _STYLES[variant][0]
            axes.axhline(
                level, color=colour, linestyle=line, linewidth=1.0, label=title_of(variant)
            )
    axes.set_xscale("log")
    axes.set_xticks([1.0 / eps for eps in EPSILONS], [f"{eps:g}" for eps in EPSILONS])
    axes.minorticks_off()
    axes.set_xlabel("eps (about 1 / eps candidates a feature)")
    axes.set_ylabel(f"{metric_title(case)}, last round", fontsize=9)
    place = "lower right" if metric in HIGHER_IS_BETTER else "upper right"
    axes.legend(fontsize=8, frameon=False, loc=place)
    _tidy(axes)


def _tidy(axes: Any) -> None:
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
