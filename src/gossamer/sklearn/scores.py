"""`score()` of a regressor that predicts something else than one number per row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import d2_pinball_score, r2_score

from gossamer.data import Targets
from gossamer.data.labels.fields import check_label, check_weight
from gossamer.metrics.survival import Concordance
from gossamer.objectives import AFT, Cox, Gaussian, Objective, Quantiles


def score_of(objective: Objective, scores: Any, y: Any, sample_weight: Any) -> float | None:
    """Return how good raw scores are, 1 being perfect; None: as other regressors.

    Survival: Harrell's concordance index. Mean and variance: R^2 of the mean. Several quantiles:
    the mean of their D^2, the share of the pinball loss of a constant that is explained.

    Example:
        >>> score_of(Cox(), np.array([2.0, 1.0]), [3, -5], None)
        1.0
    """
    scores = np.asarray(scores, dtype=np.float64)
    if isinstance(objective, (Cox, AFT)):
        label = check_label(y, len(scores))
        columns = 1 if label.ndim == 1 else label.shape[1]
        flat = np.ascontiguousarray(label.T).reshape(-1)
        targets = Targets(flat, check_weight(sample_weight, len(scores)), columns)
        objective.check_valid(targets, targets, "scored")
        return Concordance().evaluate(scores, targets, objective)
    if isinstance(objective, Gaussian):
        return float(r2_score(y, scores[:, 0], sample_weight=sample_weight))
    if isinstance(objective, Quantiles):
        by_output: npt.NDArray[np.float64] = scores.reshape(len(scores), -1).T
        predicted = objective.to_predictions(np.ascontiguousarray(by_output).reshape(-1), 1)
        columns_of = predicted.reshape(len(scores), -1).T
        parts = [
            d2_pinball_score(y, column, sample_weight=sample_weight, alpha=alpha)
            for column, alpha in zip(columns_of, objective.alphas, strict=True)
        ]
        return float(np.mean(parts))
    return None
