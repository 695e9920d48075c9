"""Test-set metrics in plain NumPy, the same code for every contender."""

from __future__ import annotations

import numpy as np

from benchmarks.split import Array, Task

HIGHER_IS_BETTER = {"auc", "accuracy"}
_TINY = 1e-15


def evaluate(task: Task, label: Array, prediction: Array) -> dict[str, float]:
    """Computes the metrics that fit the task.

    Args:
        task: Kind of target.
        label: True labels (n_rows,).
        prediction: Values, probabilities of class 1 (n_rows,), or probabilities
            (n_rows, n_classes).

    Returns:
        Metric name to value.
    """
    if task == "binary":
        return {"auc": auc(label, prediction), "logloss": logloss(label, prediction)}
    if task == "multiclass":
        classes = label.astype(np.int64)
        chosen = np.clip(prediction[np.arange(len(classes)), classes], _TINY, 1.0)
        return {
            "accuracy": float(np.mean(prediction.argmax(axis=1) == classes)),
            "mlogloss": float(-np.mean(np.log(chosen))),
        }
    error = prediction.astype(np.float64) - label
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "mae": float(np.mean(np.abs(error))),
        # Shows lost small gradients, which the other two cannot see under a heavy tail.
        "median_ae": float(np.median(np.abs(error))),
    }


def auc(label: Array, score: Array) -> float:
    """Area under the ROC curve; ties count half."""
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(counts) - (counts - 1) / 2.0
    positive = label > 0.5
    n_positive = int(positive.sum())
    n_negative = len(label) - n_positive
    if n_positive == 0 or n_negative == 0:
        return float("nan")
    rank_sum = float(mean_rank[inverse][positive].sum())
    return (rank_sum - n_positive * (n_positive + 1) / 2.0) / (n_positive * n_negative)


def logloss(label: Array, probability: Array) -> float:
    """Mean negative log-likelihood of binary labels."""
    p = np.clip(probability.astype(np.float64), _TINY, 1.0 - _TINY)
    return float(-np.mean(np.where(label > 0.5, np.log(p), np.log1p(-p))))
