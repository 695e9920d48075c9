"""Losses of held-out rows in plain NumPy, the same code for every library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from benchmarks.metrics import logloss
from benchmarks.paper.metrics import ndcg
from benchmarks.split import Array
from benchmarks.tasks.problem import Part

_TINY = 1e-15
Loss = Callable[..., float]


def _mean(values: Array, part: Part) -> float:
    return float(np.average(values, weights=part.weight))


def squared(part: Part, p: Array) -> float:
    """Mean squared error, over targets too."""
    return _mean(((p - part.y) ** 2).reshape(len(p), -1).mean(axis=1), part)


def absolute(part: Part, p: Array) -> float:
    """Mean absolute error."""
    return _mean(np.abs(p - part.y), part)


def relative(part: Part, p: Array) -> float:
    """Mean absolute error over the label, or over 1 where that is more."""
    return _mean(np.abs(p - part.y) / np.maximum(1.0, np.abs(part.y)), part)


def huber(part: Part, p: Array, alpha: float) -> float:
    """Squared up to alpha, linear beyond."""
    error = np.abs(p - part.y)
    return _mean(np.where(error <= alpha, error**2 / 2.0, alpha * (error - alpha / 2.0)), part)


def pseudo_huber(part: Part, p: Array) -> float:
    """Smooth Huber loss of slope 1."""
    return _mean(np.sqrt(1.0 + (p - part.y) ** 2) - 1.0, part)


def fair(part: Part, p: Array) -> float:
    """Fair loss with c = 1."""
    error = np.abs(p - part.y)
    return _mean(error - np.log1p(error), part)


def log_cosh(part: Part, p: Array) -> float:
    """Logarithm of the hyperbolic cosine of the error."""
    error = p - part.y
    return _mean(np.logaddexp(error, -error) - np.log(2.0), part)


def expectile(part: Part, p: Array, alpha: float) -> float:
    """Squared error, weighted by the side."""
    return _mean(np.where(part.y > p, alpha, 1.0 - alpha) * (p - part.y) ** 2, part)


def pinball(part: Part, p: Array, alphas: list[float]) -> float:
    """Mean quantile loss over the quantiles: one column of predictions each."""
    error = part.y[:, None] - p.reshape(len(p), -1)
    levels = np.asarray(alphas)
    return _mean(np.maximum(levels * error, (levels - 1.0) * error).mean(axis=1), part)


def squared_log(part: Part, p: Array) -> float:
    """Mean squared error of log(1 + value)."""
    return _mean((np.log1p(np.maximum(p, _TINY - 1.0)) - np.log1p(part.y)) ** 2, part)


def poisson_deviance(part: Part, p: Array) -> float:
    """Mean unit deviance of Poisson's distribution."""
    y = part.y
    log_ratio = np.log(np.where(y > 0.0, y, 1.0)) - np.log(np.where(y > 0.0, p, 1.0))
    return _mean(2.0 * (y * log_ratio - y + p), part)


def gamma_deviance(part: Part, p: Array) -> float:
    """Mean unit deviance of the gamma distribution."""
    return _mean(2.0 * (part.y / p - 1.0 - np.log(part.y / p)), part)


def tweedie_deviance(part: Part, p: Array, power: float) -> float:
    """Mean unit deviance of Tweedie's distribution, power between 1 and 2."""
    a, b = 1.0 - power, 2.0 - power
    return _mean(2.0 * (part.y**b / (a * b) - part.y * p**a / a + p**b / b), part)


def cross_entropy(part: Part, p: Array) -> float:
    """Binary or fractional labels, probabilities."""
    q = np.clip(p, _TINY, 1.0 - _TINY)
    return _mean(-(part.y * np.log(q) + (1.0 - part.y) * np.log1p(-q)), part)


def cross_entropy_lambda(part: Part, p: Array) -> float:
    """Cross entropy of 1 - exp(-p)."""
    return cross_entropy(part, -np.expm1(-p))


def logistic(part: Part, p: Array) -> float:
    """Log loss of raw scores."""
    return logloss(part.y, 1.0 / (1.0 + np.exp(-p)))


def hinge(part: Part, p: Array) -> float:
    """Hinge loss of raw scores."""
    return _mean(np.maximum(0.0, 1.0 - p * (2.0 * part.y - 1.0)), part)


def focal(part: Part, p: Array, gamma: float) -> float:
    """Focal loss of probabilities."""
    own = np.clip(np.where(part.y > 0.5, p, 1.0 - p), _TINY, 1.0)
    return _mean(-((1.0 - own) ** gamma) * np.log(own), part)


def multi_logloss(part: Part, p: Array) -> float:
    """Log loss of the own class; rows are divided by their sums, as one-vs-all needs it."""
    own = p[np.arange(len(p)), part.y.astype(np.int64)] / p.sum(axis=1)
    return _mean(-np.log(np.clip(own, _TINY, 1.0)), part)


def error_share(part: Part, p: Array) -> float:
    """Share of wrong classes."""
    return _mean((p != part.y).astype(np.float64), part)


def gaussian_nll(part: Part, p: Array) -> float:
    """Negative log-likelihood; scores are mean and log(sigma)."""
    z = (part.y - p[:, 0]) * np.exp(-p[:, 1])
    return _mean(0.5 * np.log(2.0 * np.pi) + p[:, 1] + z**2 / 2.0, part)


def cox_nll(part: Part, p: Array) -> float:
    """Partial likelihood a row with an event; scores are log hazards, equal times as Breslow."""
    time, is_event = np.abs(part.y), part.y > 0.0
    order = np.argsort(-time, kind="stable")
    largest = p.max()
    at_risk = np.log(np.cumsum(np.exp(p[order] - largest))) + largest
    # Rows of equal time are all at risk: each takes the sum at the last of them.
    last = np.searchsorted(-time[order], -time[order], side="right") - 1
    return float(np.mean((at_risk[last] - p[order])[is_event[order]]))


def aft_nll(part: Part, p: Array, scale: float) -> float:
    """Negative log-likelihood of normal errors of log(time); scores are log(time)."""
    low, high = part.y[:, 0], part.y[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        from_z, to_z = (np.log(low) - p) / scale, (np.log(high) - p) / scale
        density = -(from_z**2) / 2.0 - np.log(np.sqrt(2.0 * np.pi) * scale * low)
        inside = np.log(np.maximum(ndtr(to_z) - ndtr(from_z), _TINY))
        found = np.where(np.isinf(high), log_ndtr(-from_z), inside)
        return _mean(-np.where(low == high, density, found), part)


def one_minus_ndcg10(part: Part, p: Array) -> float:
    """What is missing to an NDCG@10 of 1."""
    return 1.0 - ndcg(part.y, p, np.asarray(part.query))


LOSSES: dict[str, Loss] = {
    loss.__name__: loss
    for loss in (
        squared,
        absolute,
        relative,
        huber,
        pseudo_huber,
        fair,
        log_cosh,
        expectile,
        pinball,
        squared_log,
        poisson_deviance,
        gamma_deviance,
        tweedie_deviance,
        cross_entropy,
        cross_entropy_lambda,
        logistic,
        hinge,
        focal,
        multi_logloss,
        error_share,
        gaussian_nll,
        cox_nll,
        aft_nll,
        one_minus_ndcg10,
    )
}


def evaluate(name: str, part: Part, prediction: Array, options: dict[str, Any]) -> float:
    """Computes a loss of this module by its name."""
    return LOSSES[name](part, np.asarray(prediction, np.float64), **options)
