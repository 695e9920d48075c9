"""A bar plot of the ratios; needs matplotlib."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from benchmarks.summary import Row, best_of_family, families_of, find_reference

_COLOURS = {
    "gossamer": "#1b7837",
    "lightgbm": "#4575b4",
    "lightgbm_quantized": "#91bfdb",
    "xgboost": "#d73027",
    "sklearn": "#fc8d59",
    "catboost": "#bdaa2f",
}


def plot_ratios(rows: list[Row], path: Path, note: str) -> bool:
    """Draws peer time / reference time for every case and the best mode of every library.

    Args:
        rows: Summarised runs.
        path: Where the PNG goes.
        note: Small print under the title: machine and threads.

    Returns:
        False when matplotlib is not installed or there is nothing to draw.
    """
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
        matplotlib.use("Agg")
        plt: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return False
    cases = list(dict.fromkeys(row.case for row in rows))
    families = families_of(rows)
    if not cases:
        return False
    figure, axes = plt.subplots(figsize=(max(6.0, 2.0 * len(cases) + 2.0), 4.2))
    width = 0.8 / len(families)
    for position, family in enumerate(families):
        for case_idx, case in enumerate(cases):
            best, reference = best_of_family(rows, case, family), find_reference(rows, case)
            if best is None or reference is None:
                continue
            bars = axes.bar(
                case_idx + (position - (len(families) - 1) / 2) * width,
                best.time_s / reference.time_s,
                width,
                color=_COLOURS.get(family, "grey"),
            )
            axes.bar_label(bars, fmt="%.2f", fontsize=7)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(cases)), cases)
    references = {row.contender for case in cases if (row := find_reference(rows, case))}
    axes.set_ylabel(f"time / {' or '.join(sorted(references))}")
    axes.set_title(f"Training time, shorter is faster\n{note}", fontsize=9)
    handles = [plt.Rectangle((0, 0), 1, 1, color=_COLOURS.get(f, "grey")) for f in families]
    axes.legend(handles, families, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return True
