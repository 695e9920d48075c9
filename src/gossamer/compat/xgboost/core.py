"""Names that scripts look for in `xgboost.core`."""

from __future__ import annotations

from gossamer.compat.xgboost.booster import Booster
from gossamer.compat.xgboost.dmatrix import DMatrix, QuantileDMatrix
from gossamer.compat.xgboost.sources import DataIter
from gossamer.errors import GossamerError as XGBoostError

__all__ = ["Booster", "DMatrix", "DataIter", "QuantileDMatrix", "XGBoostError"]
