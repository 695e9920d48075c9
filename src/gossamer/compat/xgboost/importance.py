"""How much each column matters, in XGBoost's five ways."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import ParameterError, message
from gossamer.model.importance import _credited
from gossamer.model.model import Model

IMPORTANCE_TYPES: Final = ("weight", "gain", "cover", "total_gain", "total_cover")


def importance(model: Model, importance_type: str) -> npt.NDArray[np.float64]:
    """Return a number per column; 0: it splits nowhere.

    Args:
        model: The model.
        importance_type: "weight" counts splits; "total_gain" adds up their gains, "total_cover"
            the hessians of the rows they split; "gain" and "cover" are the means of these.

    Raises:
        ParameterError: If the type is not known.
    """
    if importance_type not in IMPORTANCE_TYPES:
        raise ParameterError(
            message(
                "importance_type is not known",
                got=importance_type,
                expected=", ".join(IMPORTANCE_TYPES),
            )
        )
    counts = _sums(model, None)
    if importance_type == "weight":
        return counts
    kind = importance_type.removeprefix("total_")
    sums = _sums(model, model.forest.arrays["gain" if kind == "gain" else "node_weight"])
    return sums if kind != importance_type else sums / np.maximum(counts, 1)


def _sums(model: Model, weights: npt.NDArray[Any] | None) -> npt.NDArray[np.float64]:
    forest = model.forest
    counts = np.bincount(forest.arrays["column"], weights, minlength=forest.n_columns)
    found: npt.NDArray[np.float64] = counts.astype(np.float64)
    return found if model.derived is None else _credited(found, model.derived)
