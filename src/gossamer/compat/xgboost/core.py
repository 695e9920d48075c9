"""Names that scripts look for in `xgboost.core`."""

from __future__ import annotations

from typing import Any

from gossamer import _native
from gossamer.compat.xgboost.booster import Booster as Booster
from gossamer.compat.xgboost.categories import Categories as Categories
from gossamer.compat.xgboost.dmatrix import DMatrix as DMatrix
from gossamer.compat.xgboost.external import ExtMemQuantileDMatrix as ExtMemQuantileDMatrix
from gossamer.compat.xgboost.quantile_dmatrix import QuantileDMatrix as QuantileDMatrix
from gossamer.compat.xgboost.sources import DataIter as DataIter
from gossamer.errors import GossamerError

XGBoostError = GossamerError


def build_info() -> dict[str, Any]:
    """Return what XGBoost says about its own build: nothing of it depends on a CUDA toolkit here.

    Example:
        >>> build_info()["USE_CUDA"]
        False
    """
    absent = ("DEBUG", "USE_CUDA", "USE_DLOPEN_NCCL", "USE_FEDERATED", "USE_NCCL", "USE_RMM")
    return {**dict.fromkeys(absent, False), "USE_OPENMP": False, "libxgboost": _native.__file__}
