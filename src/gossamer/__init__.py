"""Gossamer: gradient boosted decision trees, fast, and the same bits on any number of threads.

Names are the same as in LightGBM's package, so `import gossamer as lgb` runs ordinary scripts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gossamer.callbacks import (
    CallbackEnv,
    EarlyStopException,
    EvalResult,
    checkpoint,
    early_stopping,
    log_evaluation,
    progress_bar,
    record_evaluation,
    report_metrics,
    reset_parameter,
)
from gossamer.compat.shap import register_with_import as _register_with_import
from gossamer.cv import cv
from gossamer.data import Dataset, Sequence
from gossamer.errors import (
    DataError,
    GossamerError,
    ModelFileError,
    NotSupportedError,
    ParameterError,
)
from gossamer.logger import register_logger
from gossamer.model import Booster, CVBooster
from gossamer.objectives import CustomObjective
from gossamer.train import train

if TYPE_CHECKING:
    from gossamer.ensemble.train_folds import train_folds
    from gossamer.ensemble.train_quality import train_quality
    from gossamer.ensemble.train_refit import train_refit
    from gossamer.plot import (
        create_tree_digraph,
        plot_importance,
        plot_metric,
        plot_partial_dependence,
        plot_shap_dependence,
        plot_shap_summary,
        plot_shap_waterfall,
        plot_split_value_histogram,
        plot_tree,
    )
    from gossamer.sketch import QuantileSketch
    from gossamer.sklearn import (
        GossamerClassifier,
        GossamerModel,
        GossamerRanker,
        GossamerRegressor,
    )
    from gossamer.sklearn import GossamerClassifier as LGBMClassifier
    from gossamer.sklearn import GossamerModel as LGBMModel
    from gossamer.sklearn import GossamerRanker as LGBMRanker
    from gossamer.sklearn import GossamerRegressor as LGBMRegressor

    __version__: str

__all__ = [
    "Booster",
    "CVBooster",
    "CallbackEnv",
    "CustomObjective",
    "DataError",
    "Dataset",
    "EarlyStopException",
    "EvalResult",
    "GossamerClassifier",
    "GossamerError",
    "GossamerModel",
    "GossamerRanker",
    "GossamerRegressor",
    "LGBMClassifier",
    "LGBMModel",
    "LGBMRanker",
    "LGBMRegressor",
    "ModelFileError",
    "NotSupportedError",
    "ParameterError",
    "QuantileSketch",
    "Sequence",
    "checkpoint",
    "create_tree_digraph",
    "cv",
    "early_stopping",
    "log_evaluation",
    "plot_importance",
    "plot_metric",
    "plot_partial_dependence",
    "plot_shap_dependence",
    "plot_shap_summary",
    "plot_shap_waterfall",
    "plot_split_value_histogram",
    "plot_tree",
    "progress_bar",
    "record_evaluation",
    "register_logger",
    "report_metrics",
    "reset_parameter",
    "train",
    "train_folds",
    "train_quality",
    "train_refit",
]

# Imported when first asked for: they need other packages, or time.
_ESTIMATORS = {
    "GossamerClassifier": "GossamerClassifier",
    "GossamerModel": "GossamerModel",
    "GossamerRanker": "GossamerRanker",
    "GossamerRegressor": "GossamerRegressor",
    "LGBMClassifier": "GossamerClassifier",
    "LGBMModel": "GossamerModel",
    "LGBMRanker": "GossamerRanker",
    "LGBMRegressor": "GossamerRegressor",
}
_DASK = ("DaskLGBMClassifier", "DaskLGBMModel", "DaskLGBMRanker", "DaskLGBMRegressor")
_MODULES = ("compat", "plot", "sklearn", "tune")

_register_with_import()


def __getattr__(name: str) -> Any:
    """Import estimators, ensembles and plots, and look up the version, when first used."""
    if name == "__version__":
        return _version()
    if name in _MODULES:
        return import_module(f"gossamer.{name}")
    if name in _ESTIMATORS:
        return getattr(import_module("gossamer.sklearn"), _ESTIMATORS[name])
    if name in _DASK:
        return getattr(import_module("gossamer.dask"), name)
    if name == "QuantileSketch":
        return import_module("gossamer.sketch").QuantileSketch
    if name in __all__:
        package = "ensemble" if name.startswith("train_") else "plot"
        return getattr(import_module(f"gossamer.{package}"), name)
    raise AttributeError(f"module 'gossamer' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Tell consoles and notebooks of the names that are imported later."""
    return sorted({*globals(), *__all__, *_DASK, *_MODULES, "__version__"})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # takes its time

    try:
        return version("gossamer")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"
