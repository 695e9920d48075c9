"""Names with dollar signs: matplotlib would take what is between two of them for a formula."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import gossamer as gs

ROWS = np.random.default_rng(0).normal(size=(200, 2))
NAMES = ["$x_{$", "US$ or CA$"]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model() -> Any:
    data = gs.Dataset(ROWS, ROWS.sum(axis=1), feature_name=NAMES)
    return gs.train({"num_leaves": 4, "verbose": -1}, data, 3)


def test_every_plot(model: Any) -> None:
    for ax in (
        gs.plot_importance(model),
        gs.plot_split_value_histogram(model, NAMES[0]),
        gs.plot_partial_dependence(model, ROWS, NAMES[0]),
        gs.plot_partial_dependence(model, ROWS, NAMES),
        gs.plot_shap_dependence(model, ROWS, NAMES[0], color_by=NAMES[1]),
        gs.plot_shap_summary(model, ROWS),
        gs.plot_shap_waterfall(model, ROWS, row=0),
        gs.plot_tree(model, tree_index=0),
    ):
        ax.figure.canvas.draw()
