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
else:
    # Stand-ins, so that only using an estimator fails, and says what to do.
    from gossamer.sklearn.missing import stand_in

    XGBModel = stand_in("XGBModel", _missing)
    XGBClassifier = stand_in("XGBClassifier", _missing)
    XGBRanker = stand_in("XGBRanker", _missing)
    XGBRegressor = stand_in("XGBRegressor", _missing)
    XGBRFClassifier = stand_in("XGBRFClassifier", _missing)
    XGBRFRegressor = stand_in("XGBRFRegressor", _missing)

__all__ = [
    "XGBClassifier",
    "XGBModel",
    "XGBRFClassifier",
    "XGBRFRegressor",
    "XGBRanker",
    "XGBRegressor",
]
