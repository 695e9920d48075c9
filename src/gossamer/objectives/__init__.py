"""Losses: one small file each, and a registry by name."""

from gossamer.objectives.aft import AFT
from gossamer.objectives.base import LARGEST_GRADIENT, Gradients, LeafRefit, Objective
from gossamer.objectives.binary import Binary
from gossamer.objectives.cox import Cox
from gossamer.objectives.custom import Custom, CustomWithLink, make_custom
from gossamer.objectives.custom_objective import CustomObjective
from gossamer.objectives.device_loss import DeviceLoss
from gossamer.objectives.gaussian import Gaussian
from gossamer.objectives.multiclass import Multiclass
from gossamer.objectives.quantiles import Quantiles
from gossamer.objectives.registry import make_objective, objective_class, objective_from_config
from gossamer.objectives.regression import Regression
from gossamer.objectives.several import SeveralTargets

__all__ = [
    "AFT",
    "LARGEST_GRADIENT",
    "Binary",
    "Cox",
    "Custom",
    "CustomObjective",
    "CustomWithLink",
    "DeviceLoss",
    "Gaussian",
    "Gradients",
    "LeafRefit",
    "Multiclass",
    "Objective",
    "Quantiles",
    "Regression",
    "SeveralTargets",
    "make_custom",
    "make_objective",
    "objective_class",
    "objective_from_config",
]
