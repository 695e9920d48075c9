"""Losses: one small file each, and a registry by name."""

from gossamer.objectives.base import LARGEST_GRADIENT, Gradients, LeafRefit, Objective
from gossamer.objectives.binary import Binary
from gossamer.objectives.custom import Custom, CustomWithLink, make_custom
from gossamer.objectives.custom_objective import CustomObjective
from gossamer.objectives.multiclass import Multiclass
from gossamer.objectives.registry import make_objective, objective_from_config
from gossamer.objectives.regression import Regression
from gossamer.objectives.several import SeveralTargets

__all__ = [
    "LARGEST_GRADIENT",
    "Binary",
    "Custom",
    "CustomObjective",
    "CustomWithLink",
    "Gradients",
    "LeafRefit",
    "Multiclass",
    "Objective",
    "Regression",
    "SeveralTargets",
    "make_custom",
    "make_objective",
    "objective_from_config",
]
