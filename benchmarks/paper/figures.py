"""Figures 1 and 2: accuracy over training time. They need matplotlib."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from benchmarks.paper.cases import CASES
from benchmarks.paper.summary import Results

FIGURES = {"figure1.svg": ["flights"], "figure2.svg": ["mslr", "mq2008"]}
# Family to label, colour and line: one colour for a library, one line for a way to draw rows.
_STYLES = {
    "xgboost_hist": ("XGBoost hist", "#c0392b", "-"),
    "lightgbm_efb": ("LightGBM", "#2c6fbb", "-"),
    "lightgbm_efb_sgb": ("LightGBM SGB", "#2c6fbb", ":"),
    "lightgbm_efb_goss": ("LightGBM GOSS", "#2c6fbb", "--"),
    "gossamer_efb": ("Gossamer", "#1b7837", "-"),
    "gossamer_efb_sgb": ("Gossamer SGB", "#1b7837", ":"),
    "gossamer_efb_goss": ("Gossamer GOSS", "#1b7837", "--"),
}
CAPTIONS = {
    "figure1.svg": "Figure 1: AUC on flights over training time",
    "figure2.svg": "Figure 2: NDCG@10 on the LETOR samples over training time",
}
_TITLES = {"auc": "AUC", "ndcg10": "NDCG@10", "mlogloss": "log loss"}


def draw_figures(document: dict[str, Any], folder: Path) -> list[Path]:
    """Draws the figures for whose data sets there are curves.

    Args:
        document: What ``run`` wrote.
        folder: Where the SVG files go.

    Returns:
        The files; none where matplotlib is not installed.
    """
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
    except ImportError:
        return []
    matplotlib.use("Agg")
    plt: Any = importlib.import_module("matplotlib.pyplot")
    results = Results(document)
    drawn = []
    # The same results give the same file: no date, and names that do not depend on the process.
    with matplotlib.rc_context({"svg.hashsalt": "gossamer", "svg.fonttype": "none"}):
        for name, cases in FIGURES.items():
            curves = {case: found for case in cases if (found := find_curves(results, case))}
            if not curves:
                continue
            figure, axes = plt.subplots(
                1, len(curves), figsize=(1.6 + 4.4 * len(curves), 3.6), squeeze=False
            )
            for place, (case, found) in zip(axes[0], curves.items(), strict=True):
                _draw(place, case, found)
            axes[0][-1].legend(fontsize=8, frameon=False, loc="lower right")
            figure.tight_layout()
            folder.mkdir(parents=True, exist_ok=True)
            figure.savefig(folder / name, metadata={"Date": None})
            plt.close(figure)
            drawn.append(folder / name)
    return drawn


def find_curves(results: Results, case: str) -> dict[str, list[tuple[float, float]]]:
    """Family to points (seconds of training, metric); of each family the fastest variant."""
    metric = CASES[case].metric
    curves = {}
    for family in _STYLES:
        for run in results.runs(case, results.best_of(case, family)):
            if run["curve"]:
                curves[family] = [(point["seconds"], point[metric]) for point in run["curve"]]
                break
    return curves


def _draw(axes: Any, case: str, curves: dict[str, list[tuple[float, float]]]) -> None:
    for family, points in curves.items():
        label, colour, line = _STYLES[family]
        seconds, values = zip(*points, strict=True)
        axes.plot(seconds, values, line, color=colour, label=label, linewidth=1.4)
    axes.set_xscale("log")
    ticker: Any = importlib.import_module("matplotlib.ticker")
    for each in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        each(ticker.LogFormatter(minor_thresholds=(1.5, 0.5)))  # 20, not 2 x 10^1
    axes.set_xlabel("seconds of training")
    axes.set_ylabel(_TITLES.get(CASES[case].metric, CASES[case].metric))
    axes.set_title(case, fontsize=10)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
