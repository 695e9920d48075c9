"""Losses: one small file each, and a registry by name."""

from gossamer.objectives.base import LARGEST_GRADIENT, Gradients, LeafRefit, Objective
from gossamer.objectives.binary import Binary
from gossamer.objectives.custom import Custom
from gossamer.objectives.multiclass import Multiclass
from gossamer.objectives.registry import make_objective, objective_from_config
from gossamer.objectives.regression import Regression

__all__ = [
    "LARGEST_GRADIENT",
    "Binary",
    "Custom",
    "Gradients",
    "LeafRefit",
    "Multiclass",
    "Objective",
    "Regression",
    "make_objective",
    "objective_from_config",
]
