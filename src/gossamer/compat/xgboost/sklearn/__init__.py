"""Estimators with XGBoost's names; they need scikit-learn: `pip install "gossamer[sklearn]"`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.sklearn import _missing

if TYPE_CHECKING or _missing is None:
    from gossamer.compat.xgboost.sklearn.base import XGBModel
    from gossamer.compat.xgboost.sklearn.classifier import XGBClassifier
    from gossamer.compat.xgboost.sklearn.forest import XGBRFClassifier, XGBRFRegressor
    from gossamer.compat.xgboost.sklearn.ranker import XGBRanker
    from gossamer.compat.xgboost.sklearn.regressor import XGBRegressor

__all__ = [
    "XGBClassifier",
    "XGBModel",
    "XGBRFClassifier",
    "XGBRFRegressor",
    "XGBRanker",
    "XGBRegressor",
]

if _missing is not None:  # stand-ins, so that only using an estimator fails, and says what to do
    from gossamer.sklearn.missing import stand_ins

    globals().update(stand_ins(__all__, _missing))
