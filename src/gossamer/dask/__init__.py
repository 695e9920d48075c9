"""Training on a Dask cluster: the same bytes on any number of workers.

Needs the packages dask and distributed: `pip install gossamer[dask]`.
"""

from __future__ import annotations

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError("gossamer.dask needs dask: pip install gossamer[dask]") from error

from gossamer.dask.data import DaskDataset
from gossamer.dask.estimators import (
    DaskGossamerClassifier,
    DaskGossamerModel,
    DaskGossamerRanker,
    DaskGossamerRegressor,
)
from gossamer.dask.train import predict, train
from gossamer.distributed import WorkerError

# LightGBM's names.
DaskLGBMClassifier = DaskGossamerClassifier
DaskLGBMModel = DaskGossamerModel
DaskLGBMRanker = DaskGossamerRanker
DaskLGBMRegressor = DaskGossamerRegressor

__all__ = [
    "DaskDataset",
    "DaskGossamerClassifier",
    "DaskGossamerModel",
    "DaskGossamerRanker",
    "DaskGossamerRegressor",
    "DaskLGBMClassifier",
    "DaskLGBMModel",
    "DaskLGBMRanker",
    "DaskLGBMRegressor",
    "WorkerError",
    "predict",
    "train",
]
