"""Plots; they need matplotlib: `pip install "gossamer[plot]"`."""

from __future__ import annotations

from gossamer.plot.digraph import create_tree_digraph
from gossamer.plot.importance import plot_importance
from gossamer.plot.learning_curve import plot_metric
from gossamer.plot.partial import plot_partial_dependence
from gossamer.plot.shap_dependence import plot_shap_dependence
from gossamer.plot.shap_summary import plot_shap_summary
from gossamer.plot.shap_waterfall import plot_shap_waterfall
from gossamer.plot.split_values import plot_split_value_histogram
from gossamer.plot.tree import plot_tree

__all__ = [
    "create_tree_digraph",
    "plot_importance",
    "plot_metric",
    "plot_partial_dependence",
    "plot_shap_dependence",
    "plot_shap_summary",
    "plot_shap_waterfall",
    "plot_split_value_histogram",
    "plot_tree",
]
