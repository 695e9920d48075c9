"""LightGBM's names and layout: `import gossamer.compat.lightgbm as lgb` runs ordinary scripts.

`import gossamer as lgb` does too. This package also has LightGBM's modules (`lgb.basic`,
`lgb.callback`, ...), warns where LightGBM warns, and writes models as LightGBM's text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.compat.lightgbm import basic, callback, compat, engine, plotting
from gossamer.compat.lightgbm.basic import (
    Booster,
    Dataset,
    EvalResult,
    Sequence,
    register_logger,
)
from gossamer.compat.lightgbm.callback import (
    EarlyStopException,
    early_stopping,
    log_evaluation,
    record_evaluation,
    reset_parameter,
)
from gossamer.compat.lightgbm.engine import CVBooster, cv, train
from gossamer.compat.lightgbm.plotting import (
    create_tree_digraph,
    plot_importance,
    plot_metric,
    plot_split_value_histogram,
    plot_tree,
)

# The LightGBM whose names these are: scripts ask for it.
__version__ = "4.7.0"

if TYPE_CHECKING:
    from gossamer.compat.lightgbm.dask import (
        DaskLGBMClassifier,
        DaskLGBMRanker,
        DaskLGBMRegressor,
    )
    from gossamer.compat.lightgbm.sklearn import (
        LGBMClassifier,
        LGBMModel,
        LGBMRanker,
        LGBMRegressor,
    )

__all__ = [
    "Booster",
    "CVBooster",
    "DaskLGBMClassifier",
    "DaskLGBMRanker",
    "DaskLGBMRegressor",
    "Dataset",
    "EarlyStopException",
    "EvalResult",
    "LGBMClassifier",
    "LGBMModel",
    "LGBMRanker",
    "LGBMRegressor",
    "Sequence",
    "basic",
    "callback",
    "compat",
    "create_tree_digraph",
    "cv",
    "early_stopping",
    "engine",
    "log_evaluation",
    "plot_importance",
    "plot_metric",
    "plot_split_value_histogram",
    "plot_tree",
    "plotting",
    "record_evaluation",
    "register_logger",
    "reset_parameter",
    "train",
]


def __getattr__(name: str) -> Any:
    """Import the estimators, which need scikit-learn or Dask, when they are first used."""
    if name.startswith("DaskLGBM"):
        from importlib import import_module

        return getattr(import_module("gossamer.compat.lightgbm.dask"), name)
    if name.startswith("LGBM") or name == "sklearn":
        from importlib import import_module

        estimators = import_module("gossamer.compat.lightgbm.sklearn")
        return estimators if name == "sklearn" else getattr(estimators, name)
    raise AttributeError(f"module 'gossamer.compat.lightgbm' has no attribute {name!r}")
