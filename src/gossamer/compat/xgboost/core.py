"""Names that scripts look for in `xgboost.core`."""

from __future__ import annotations

from typing import Any

from gossamer import _native
from gossamer.compat.xgboost.booster import Booster
from gossamer.compat.xgboost.categories import Categories
from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.external import ExtMemQuantileDMatrix
from gossamer.compat.xgboost.quantile_dmatrix import QuantileDMatrix
from gossamer.compat.xgboost.sources import DataIter
from gossamer.errors import GossamerError as XGBoostError

__all__ = [
    "Booster",
    "Categories",
    "DMatrix",
    "DataIter",
    "ExtMemQuantileDMatrix",
    "QuantileDMatrix",
    "XGBoostError",
    "build_info",
]


def build_info() -> dict[str, Any]:
    """Return what XGBoost says about its own build: here nothing but the CPU is used.

    Example:
        >>> build_info()["USE_CUDA"]
        False
    """
    absent = ("DEBUG", "USE_CUDA", "USE_DLOPEN_NCCL", "USE_FEDERATED", "USE_NCCL", "USE_RMM")
    return {**dict.fromkeys(absent, False), "USE_OPENMP": False, "libxgboost": _native.__file__}
