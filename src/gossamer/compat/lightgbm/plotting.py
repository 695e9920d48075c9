"""`lightgbm.plotting`: plots of models and metrics."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gossamer.plot
from gossamer.logger import warn
from gossamer.plot import (
    create_tree_digraph,
    plot_importance,
    plot_split_value_histogram,
    plot_tree,
)
from gossamer.plot.learning_curve import metric_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "create_tree_digraph",
    "plot_importance",
    "plot_metric",
    "plot_split_value_histogram",
    "plot_tree",
]


@functools.wraps(gossamer.plot.plot_metric, assigned=())
def plot_metric(
    booster: Any,
    metric: str | None = None,
    dataset_names: Sequence[str] | None = None,
    *args: Any,
    **kwargs: Any,
) -> Axes:
    """Draw how a metric developed during training; see `gossamer.plot_metric`.

    Where several metrics were recorded and none is chosen, the first is drawn and a warning says
    so.
    """
    ax = gossamer.plot.plot_metric(booster, metric, dataset_names, *args, **kwargs)
    names = metric_names(booster)
    if metric is None and len(names) > 1:
        warn(f"Several metrics were recorded ({', '.join(names)}); plotting {names[0]}.")
    return ax
