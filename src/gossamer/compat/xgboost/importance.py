"""How much each column matters, in XGBoost's five ways."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import check_choice
from gossamer.model.inspection.importance import feature_importance
from gossamer.model.model import Model

# XGBoost's name -> ours.
IMPORTANCE_TYPES: Final = {
    "weight": "split",
    "gain": "mean_gain",
    "cover": "mean_cover",
    "total_gain": "total_gain",
    "total_cover": "total_cover",
}


def importance(model: Model, importance_type: str) -> npt.NDArray[np.float64]:
    """Return a number per column; 0: it splits nowhere.

    Args:
        model: The model.
        importance_type: "weight" counts splits; "total_gain" adds up their gains, "total_cover"
            the hessians of the rows they split; "gain" and "cover" are the means of these.

    Raises:
        ParameterError: If the type is not known.
    """
    check_choice("importance_type", importance_type, IMPORTANCE_TYPES)
    kind = IMPORTANCE_TYPES[importance_type]
    return feature_importance(model.forest, kind, model.derived).astype(np.float64)
