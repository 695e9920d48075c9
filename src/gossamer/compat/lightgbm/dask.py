"""`lightgbm.dask`: LightGBM's names for estimators on a Dask cluster."""

from __future__ import annotations

from gossamer.dask import DaskLGBMClassifier, DaskLGBMRanker, DaskLGBMRegressor

__all__ = ["DaskLGBMClassifier", "DaskLGBMRanker", "DaskLGBMRegressor"]
