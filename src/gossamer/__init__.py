"""Gossamer: gradient boosted decision trees, fast, and the same bits on any number of threads.

The names are those of LightGBM's Python package, so `import gossamer as lgb` runs ordinary scripts.
"""

from __future__ import annotations

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
from gossamer.train import train

if TYPE_CHECKING:
    from gossamer.sklearn import (
        GossamerClassifier,
        GossamerModel,
        GossamerRanker,
        GossamerRegressor,
    )

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
]

# The estimators need scikit-learn, which is imported when one of them is first asked for.
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


def __getattr__(name: str) -> Any:
    """Import the estimators, and look up the version, when they are first asked for."""
    if name == "__version__":
        return _version()
    if name in _ESTIMATORS:
        import gossamer.sklearn

        return getattr(gossamer.sklearn, _ESTIMATORS[name])
    raise AttributeError(f"module 'gossamer' has no attribute {name!r}")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # takes its time

    try:
        return version("gossamer")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"
