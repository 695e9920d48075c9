"""XGBoost's names: `import gossamer.compat.xgboost as xgb` runs ordinary scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.compat.xgboost import callback, core
from gossamer.compat.xgboost.booster import Booster
from gossamer.compat.xgboost.categories import Categories
from gossamer.compat.xgboost.config import config_context, get_config, set_config
from gossamer.compat.xgboost.core import build_info
from gossamer.compat.xgboost.cv import cv
from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.external import ExtMemQuantileDMatrix
from gossamer.compat.xgboost.plotting import plot_importance, plot_tree, to_graphviz
from gossamer.compat.xgboost.quantile_dmatrix import QuantileDMatrix
from gossamer.compat.xgboost.sources import DataIter
from gossamer.compat.xgboost.training import train

# The XGBoost whose names these are: scripts ask for it.
__version__ = "3.2.0"

if TYPE_CHECKING:
    from gossamer.compat.xgboost.sklearn import (
        XGBClassifier,
        XGBModel,
        XGBRanker,
        XGBRegressor,
        XGBRFClassifier,
        XGBRFRegressor,
    )

__all__ = [
    "Booster",
    "Categories",
    "DMatrix",
    "DataIter",
    "ExtMemQuantileDMatrix",
    "QuantileDMatrix",
    "XGBClassifier",
    "XGBModel",
    "XGBRFClassifier",
    "XGBRFRegressor",
    "XGBRanker",
    "XGBRegressor",
    "build_info",
    "callback",
    "config_context",
    "core",
    "cv",
    "get_config",
    "plot_importance",
    "plot_tree",
    "set_config",
    "to_graphviz",
    "train",
]


def __getattr__(name: str) -> Any:
    """Import the estimators, which need scikit-learn, when they are first used."""
    if name.startswith("XGB"):
        import gossamer.compat.xgboost.sklearn as estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'gossamer.compat.xgboost' has no attribute {name!r}")
