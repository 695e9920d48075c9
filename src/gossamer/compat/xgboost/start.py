"""Where XGBoost's trainings start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gossamer.compat.xgboost.dmatrix import DMatrix

_RAW: Final = "binary:logitraw"
_LOGISTIC: Final = "binary:logistic"


def estimate_start(params: Mapping[str, Any], data: DMatrix) -> dict[str, Any]:
    """Return the `base_score` that XGBoost finds where it is not the objective's own here.

    Classes start from the logarithms of their shares, which have a mean of zero. With
    `scale_pos_weight` it is one Newton step from a score of zero, whose hessians are 1/4;
    `binary:logitraw` starts from a raw score that is the mean of the labels.

    Args:
        params: Our parameters.
        data: Training data.

    Example:
        >>> data = DMatrix([[0.0], [1.0], [2.0]], label=[0, 0, 1])
        >>> estimate_start({"objective": "binary:logistic", "scale_pos_weight": 2}, data)
        {'base_score': 0.5}
    """
    if str(params["objective"]).startswith("multi:"):
        return _centred_shares(params, data)
    objective, positive = params["objective"], float(params.get("scale_pos_weight", 1.0))
    if objective not in (_LOGISTIC, _RAW) or (objective == _LOGISTIC and positive == 1.0):
        return {}
    label, weight = data.get_label(), data.get_weight()
    if "base_score" in params or label.ndim != 1 or not len(label):
        return {}
    by_class = np.where(label == 1, positive, 1.0)
    by_row = by_class * weight if len(weight) else by_class
    mean = float(np.average(label, weights=by_row)) if by_row.sum() > 0 else 0.5
    step = 4 * (mean - 0.5)
    if objective == _RAW:
        return {"base_score": [mean if positive == 1.0 else step]}
    return {"base_score": float(1 / (1 + np.exp(-step)))}


def _centred_shares(params: Mapping[str, Any], data: DMatrix) -> dict[str, Any]:
    label, weight = data.get_label(), data.get_weight()
    n_classes = int(params.get("num_class", 0))
    # The training says what is wrong with other labels.
    is_usual = label.ndim == 1 and np.isin(label, np.arange(n_classes)).all()
    if "base_score" in params or params.get("boost_from_average") is False or not is_usual:
        return {}
    shares = np.bincount(label.astype(np.int64), weight if len(weight) else None, n_classes)
    if not (shares > 0).all():
        return {}
    score = np.log(shares / shares.sum())
    return {"base_score": (score - score.mean()).tolist()}
