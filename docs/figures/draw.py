"""Draw all figures of the site into docs/assets.

    python docs/figures/draw.py [FOLDER] [--png]

Needs matplotlib and Gossamer. The same files come out every time; those in the repository were
drawn with the matplotlib version below.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import benchmark_figures
import cluster_figures
import data_figures
import matplotlib
import model_figures
import tree_figures
from matplotlib.figure import Figure
from style import SETTINGS

DRAWN_WITH = "3.11"

FIGURES: dict[str, Callable[[], Figure]] = {
    "how/pipeline": data_figures.pipeline,
    "how/bins": data_figures.bins,
    "how/storage": data_figures.storage,
    "how/gradients": data_figures.gradients,
    "how/sampling": data_figures.sampling,
    "how/histograms": tree_figures.histograms,
    "how/splits": tree_figures.splits,
    "how/growth": tree_figures.growth,
    "how/partition": tree_figures.partition,
    "how/categories": tree_figures.categories,
    "how/blocks": tree_figures.blocks,
    "how/prediction": model_figures.prediction,
    "how/shapley": model_figures.shapley,
    "how/threads": model_figures.threads,
    "how/messages": cluster_figures.messages,
    "benchmarks/training": benchmark_figures.training,
    "benchmarks/prediction": benchmark_figures.prediction,
    "benchmarks/accuracy": benchmark_figures.accuracy,
    "benchmarks/gpu": benchmark_figures.gpu,
}


def draw(folder: Path, ending: str = ".svg") -> list[Path]:
    """Write every figure below `folder`, and return the files."""
    written = []
    with matplotlib.rc_context(SETTINGS):
        for name, make in FIGURES.items():
            path = (folder / name).with_suffix(ending)
            path.parent.mkdir(parents=True, exist_ok=True)
            plain = {"Date": None, "Creator": None} if ending == ".svg" else None
            make().savefig(path, metadata=plain, dpi=90, facecolor="white")
            written.append(path)
    return written


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--png"]
    target = Path(arguments[0]) if arguments else Path(__file__).parents[1] / "assets"
    for path in draw(target, ".png" if "--png" in sys.argv else ".svg"):
        print(path)
