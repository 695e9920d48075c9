"""`lightgbm.dask`: LightGBM's names for estimators on a Dask cluster."""

from __future__ import annotations

from typing import Any, ClassVar

from distributed import Client, default_client

from gossamer.compat.lightgbm.sklearn import (
    LGBMClassifier,
    LGBMModel,
    LGBMRanker,
    LGBMRegressor,
)
from gossamer.dask import (
    DaskGossamerClassifier,
    DaskGossamerModel,
    DaskGossamerRanker,
    DaskGossamerRegressor,
)
from gossamer.params import unused_allowed
from gossamer.sklearn import GossamerModel

__all__ = ["DaskLGBMClassifier", "DaskLGBMRanker", "DaskLGBMRegressor"]


class _DaskLGBMModel(DaskGossamerModel, LGBMModel):
    """`DaskGossamerModel` with LightGBM's warnings and text of models."""

    _local: ClassVar[type[GossamerModel]] = LGBMModel

    @property
    def client_(self) -> Client:
        """The cluster on which `fit` trains: `client`, or the current one."""
        return default_client() if self.client is None else self.client

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Train the model on all workers; see `DaskGossamerModel.fit`."""
        self._fit_by(super().fit, *args, **kwargs)
        return self

    def fit_rows(self, *args: Any) -> Any:
        """Train on the rows of one worker; see `DaskGossamerModel.fit_rows`."""
        with unused_allowed():
            return super().fit_rows(*args)


class DaskLGBMClassifier(  # type: ignore[misc]
    _DaskLGBMModel, DaskGossamerClassifier, LGBMClassifier
):
    """`DaskGossamerClassifier` with LightGBM's name, warnings and text of models."""

    _local = LGBMClassifier


class DaskLGBMRegressor(_DaskLGBMModel, DaskGossamerRegressor, LGBMRegressor):
    """`DaskGossamerRegressor` with LightGBM's name, warnings and text of models."""

    _local = LGBMRegressor


class DaskLGBMRanker(_DaskLGBMModel, DaskGossamerRanker, LGBMRanker):
    """`DaskGossamerRanker` with LightGBM's name, warnings and text of models."""

    _local = LGBMRanker
