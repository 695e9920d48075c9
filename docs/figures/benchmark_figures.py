"""Bars of what benchmarks/results holds, computed from the raw runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from style import BLUE, GOLD, GREEN, INK, MUTED, RED, SKY, new_figure

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
COLOURS = {"lightgbm": BLUE, "lightgbm_quantized": SKY, "xgboost": RED, "sklearn": GOLD}


def _load(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def _runs(name: str) -> dict[str, dict[str, float]]:
    """The best time by case and contender; of LightGBM, with the faster of its layouts."""
    best: dict[str, dict[str, float]] = {}
    for line in (RESULTS / "speed" / name).read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        if "case" not in run:
            continue
        who = run["contender"].removesuffix("_row").removesuffix("_col")
        took = run.get("seconds", run.get("ms_per_round"))
        own = best.setdefault(run["case"], {})
        own[who] = min(took, own.get(who, np.inf))
    return best


# Cases of the chart: those that all of the others can train.
SHOWN = {
    "2-threads.jsonl": (
        "higgs_31", "higgs_255", "wide_63", "wide_255", "small_2k", "covertype", "letter",
    ),
    "16-threads.jsonl": ("higgs_1m_31", "higgs_1m_255", "higgs_10m_31", "higgs_10m_255"),
}  # fmt: skip


def training() -> Figure:
    """Time of the others over Gossamer's, on two threads and on sixteen."""
    figure = Figure(figsize=(9.4, 3.0))
    axes = figure.subplots(1, 2, width_ratios=(7, 4), sharey=True)
    for ax, (file, cases) in zip(axes, SHOWN.items(), strict=True):
        runs = _runs(file)
        for i, name in enumerate(("lightgbm", "lightgbm_quantized", "xgboost")):
            for j, case in enumerate(cases):
                if name not in runs[case]:
                    continue
                ratio = runs[case][name] / runs[case]["gossamer"]
                place = j + 0.3 * (i - 1)
                label = name.replace("_", ", ") if j == 0 else None
                ax.bar(place, ratio, 0.27, color=COLOURS[name], label=label)
                ax.text(place, ratio + 0.08, f"{ratio:.1f}", ha="center", fontsize=7)
        ax.set_xticks(range(len(cases)), [case.replace("_", "\n", 1) for case in cases])
        ax.axhline(1, color=INK, lw=1)
        ax.set_title(f"training on {file.partition('-')[0]} threads")
    axes[0].set_ylabel("times Gossamer's time")
    axes[0].legend(loc="upper left")
    return figure


def prediction() -> Figure:
    """Time of prediction of the others over Gossamer's."""
    best: dict[tuple[str, str], float] = {}
    for run in _load("predict/predict.json")["runs"]:
        key = (run["case"], run["contender"])
        best[key] = min(run["best_s"], best.get(key, np.inf))
    cases = {
        "large_trees": "100 trees of\n255 leaves",
        "many_trees": "1,000 trees of\n31 leaves",
        "sparse": "sparse rows",
        "one_row": "one row\n(predictor)",
    }
    figure, ax = new_figure(8.6, 2.9)
    for j, case in enumerate(cases):
        own = best.get((case, "gossamer_predictor"), best[case, "gossamer"])
        for i, name in enumerate(("lightgbm", "xgboost")):
            if (case, name) not in best:
                continue
            ratio = best[case, name] / own
            place = j + 0.34 * (i - 0.5)
            ax.bar(place, ratio, 0.32, color=COLOURS[name], label=name if j == 0 else None)
            ax.text(place, ratio * 1.07, f"{ratio:.0f}", ha="center", fontsize=9)
    ax.set_yscale("log")
    ax.set_ylim(0.8, 200)
    ax.axhline(1, color=INK, lw=1)
    ax.set_yticks([1, 10, 100], ["1", "10", "100"])
    ax.set_xticks(range(len(cases)), list(cases.values()))
    ax.set_ylabel("times Gossamer's time")
    ax.set_title("prediction, two threads")
    ax.legend(loc="upper left", ncols=2)
    return figure


def gpu() -> Figure:
    """Milliseconds of a round on a GPU."""
    lines = (RESULTS / "gpu" / "h200.jsonl").read_text(encoding="utf-8").splitlines()
    runs = [run for run in map(json.loads, lines) if "xgboost_depthwise" in run]
    bars = {
        "gpu": ("Gossamer, leaf-wise", GREEN),
        "xgboost_depthwise": ("XGBoost, depth-wise", GOLD),
        "xgboost_lossguide": ("XGBoost, leaf-wise", RED),
    }
    kinds = {"uniform": "", "mixed": "\ncategories", "classes": "\n7 classes"}
    figure, ax = new_figure(8.6, 3.0)
    for i, (key, (label, colour)) in enumerate(bars.items()):
        for j, run in enumerate(runs):
            place = j + 0.29 * (i - 1)
            ax.bar(place, run[key], 0.27, color=colour, label=label if j == 0 else None)
            ax.text(place, run[key] * 1.06, f"{run[key]:.1f}", ha="center", fontsize=7)
    ax.set_yscale("log")
    ax.set_ylim(0.3, 400)
    ax.set_yticks([1, 10, 100], ["1", "10", "100"])
    names = [
        f"{run['n_rows'] / 1e6:g} M x {run['n_columns']}\n"
        f"{run['leaves']} leaves{kinds[run['kind']]}"
        for run in runs
    ]
    ax.set_xticks(range(len(runs)), names, fontsize=8)
    ax.set_ylabel("ms per round")
    ax.set_title("training on an H200")
    ax.legend(loc="upper left", ncols=3)
    return figure


def accuracy() -> Figure:
    """Loss of every objective, to the best of the others, as on the page of tasks."""
    loss: dict[tuple[str, str, str], list[float]] = {}
    for run in _load("tasks/accuracy.json")["runs"]:
        if "loss" in run:
            loss.setdefault((run["objective"], run["data"], run["contender"]), []).append(
                run["loss"]
            )
    found = []
    for objective, data in dict.fromkeys((key[0], key[1]) for key in loss):
        means = {
            key[2]: float(np.mean(values))
            for key, values in loss.items()
            if key[:2] == (objective, data)
        }
        others = [value for name, value in means.items() if name != "gossamer"]
        if others and "gossamer" in means:
            found.append((100 * (means["gossamer"] / min(others) - 1), f"{objective}, {data}"))
    found.sort()
    shown = np.clip([value for value, _ in found], -6, 6)
    figure, ax = new_figure(8.6, 0.155 * len(found) + 0.9)
    colours = [GREEN if v < 0 else (RED if v > 0.5 else GOLD) for v, _ in found]
    ax.barh(range(len(found)), shown, color=colours, height=0.75)
    for i, (value, _) in enumerate(found):
        if abs(value) > 6:
            right = value > 0
            ax.text(
                5.9 if right else -5.9,
                i,
                f"{value:+.0f} %",
                color="white",
                fontsize=7.5,
                ha="right" if right else "left",
                va="center",
            )
    ax.set_yticks(range(len(found)), [name for _, name in found], fontsize=7.5)
    ax.axvline(0, color=INK, lw=1)
    ax.axvline(0.5, color=MUTED, lw=0.8, ls=":")
    ax.set_ylim(-0.7, len(found) - 0.3)
    ax.set_xlim(-6, 6)
    ax.set_xlabel("held-out loss to the best of the others, % (left is better)")
    return figure
