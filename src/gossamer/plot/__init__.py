"""Pictures; they need matplotlib: `pip install "gossamer[plot]"`."""

from __future__ import annotations

from gossamer.plot.importance import plot_importance
from gossamer.plot.learning_curve import plot_metric
from gossamer.plot.partial import plot_partial_dependence

__all__ = ["plot_importance", "plot_metric", "plot_partial_dependence"]
