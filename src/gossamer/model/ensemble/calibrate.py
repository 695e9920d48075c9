"""Calibration: how probabilities are corrected so that they are right for rows not seen before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError, check_choice
from gossamer.model.ensemble.out_of_fold import record_of
from gossamer.model.model import Model
from gossamer.objectives import Objective
from gossamer.objectives.calibrated import METHODS, Calibrated, can_be_calibrated

Floats = npt.NDArray[np.float64]

_MOST_STEPS: Final = 100
_RIDGE: Final = 1e-6  # shifts of all classes together change nothing


def check_method(method: Any, objective: Objective | None = None) -> str:
    """Return the method of calibration.

    Raises:
        NotSupportedError: If predictions of the objective are not probabilities that sum to 1.
        ParameterError: If there is no such method.

    Example:
        >>> check_method("isotonic")
        'isotonic'
    """
    chosen = check_choice("calibration", method, METHODS)
    if objective is not None and not can_be_calibrated(objective):
        raise NotSupportedError.because(
            "calibration does not fit the objective",
            got=f"objective={objective.name}",
            expected="binary or multiclass",
        )
    return chosen


def calibrate(model: Model, method: str) -> Model:
    """Return an ensemble over folds whose predictions are calibrated on its out-of-fold scores.

    Raw scores stay as they are.

    Raises:
        NotSupportedError: If it is no such ensemble, or does not predict probabilities.
        ParameterError: If there is no such method.
    """
    record = record_of(model, "calibration")
    objective = model.objective
    inner = objective.inner if isinstance(objective, Calibrated) else objective
    method = check_method(method, inner)
    scores = record.mean_scores()
    rows = np.flatnonzero(np.isfinite(scores[0]))
    code = record.label[0][rows].astype(np.int64)
    weight = np.ones(len(rows)) if record.weight is None else record.weight[rows].astype(float)
    score = np.ascontiguousarray(scores[:, rows])
    found = fit_calibration(inner, method, score, code, weight)
    return replace(model, objective=found)


def fit_calibration(
    inner: Objective, method: str, score: Floats, code: npt.NDArray[np.int64], weight: Floats
) -> Calibrated:
    """Find the calibration of raw scores (outputs, rows).

    Example:
        >>> from gossamer.objectives import Binary
        >>> rng = np.random.default_rng(0)
        >>> score = rng.normal(size=4000)
        >>> code = (rng.uniform(size=4000) < 1 / (1 + np.exp(-score))).astype(int)
        >>> too_sure = (3 * score)[None]
        >>> found = fit_calibration(Binary(), "temperature", too_sure, code, np.ones(4000))
        >>> round(found.slope, 1)
        0.3
    """
    if method == "isotonic":
        return Calibrated(inner, method, knots=_isotonic(inner, score, code, weight))
    k = len(score)
    # Two classes are two outputs of which the first is always 0.
    scale = inner.sigmoid if k == 1 else 1.0
    wide = np.vstack([np.zeros_like(score), score * scale]) if k == 1 else score
    target = (
        _smoothed(code, weight, len(wide)) if method == "sigmoid" else _one_hot(code, len(wide))
    )
    slope, shift = _fit_softmax(wide, target, weight, with_shift=method == "sigmoid")
    if k == 1:
        shift = (shift[1:] - shift[0]) / scale
    return Calibrated(inner, method, float(slope), tuple(shift.tolist()) if shift.any() else ())


def _one_hot(code: npt.NDArray[np.int64], n_classes: int) -> Floats:
    return np.equal(np.arange(n_classes)[:, None], code).astype(np.float64)


def _smoothed(code: npt.NDArray[np.int64], weight: Floats, n_classes: int) -> Floats:
    """Targets that are a little less than sure (Platt): as if one more row of each class."""
    counts = np.bincount(code, minlength=n_classes).astype(np.float64)
    sure = (counts + 1) / (counts + n_classes)
    rest = (1 - sure) / (n_classes - 1)
    return np.where(_one_hot(code, n_classes) > 0, sure[code], rest[code])


def _fit_softmax(
    score: Floats, target: Floats, weight: Floats, *, with_shift: bool
) -> tuple[float, Floats]:
    """Find slope a and shifts b with the least log loss of softmax(a * score + b), by Newton.

    The loss is convex. Sums are not products of matrices: their last bits would depend on threads.
    """
    k = len(score)
    slope, shift = 1.0, np.zeros(k)
    share = weight / weight.sum()
    loss = _loss(slope, shift, score, target, share)
    for _ in range(_MOST_STEPS):
        p = _softmax(slope * score + shift[:, None])
        wrong = p - target
        mean = (p * score).sum(axis=0)
        gradient = np.zeros(k + 1)
        hessian = np.eye(k + 1) * _RIDGE
        gradient[0] = (share * (wrong * score).sum(axis=0)).sum()
        hessian[0, 0] += (share * ((p * score**2).sum(axis=0) - mean**2)).sum()
        if with_shift:
            gradient[1:] = (share * wrong).sum(axis=1) + _RIDGE * shift
            hessian[0, 1:] = hessian[1:, 0] = (share * p * (score - mean)).sum(axis=1)
            for i in range(k):
                hessian[1 + i, 1:] -= (share * p[i] * p).sum(axis=1)
                hessian[1 + i, 1 + i] += (share * p[i]).sum()
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-6:  # shorter steps until the loss is less, and scores keep their order
            tried = slope - size * step[0], shift - size * step[1:]
            after = _loss(*tried, score, target, share)
            if tried[0] > 0 and after <= loss:
                break
            size /= 2
        else:
            break
        (slope, shift), gained, loss = tried, loss - after, after
        if gained < 1e-12:
            break
    return slope, shift


def _softmax(score: Floats) -> Floats:
    raised = np.exp(score - score.max(axis=0))
    return np.asarray(raised / raised.sum(axis=0))


def _loss(slope: float, shift: Floats, score: Floats, target: Floats, share: Floats) -> float:
    z = slope * score + shift[:, None]
    top = z.max(axis=0)
    log_p = z - top - np.log(np.exp(z - top).sum(axis=0))
    return float(-(share * (target * log_p).sum(axis=0)).sum() + _RIDGE * (shift**2).sum() / 2)


def _isotonic(
    inner: Objective, score: Floats, code: npt.NDArray[np.int64], weight: Floats
) -> tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]:
    """For each output the knots of the best increasing function of its probability."""
    found = inner.to_predictions(score.ravel(), 1)
    columns = found[:, None] if found.ndim == 1 else found
    wanted = [1] if found.ndim == 1 else range(columns.shape[1])
    least = 1 / (len(code) + 2)  # never sure: one row more would be wrong
    knots = []
    for column, c in enumerate(wanted):
        x, y = fit_increasing(columns[:, column], (code == c).astype(np.float64), weight)
        y = np.clip(y, least, 1 - least)
        knots.append((tuple(x.tolist()), tuple(y.tolist())))
    return tuple(knots)


def fit_increasing(x: Floats, y: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the knots of the increasing function with the least squared error.

    Rows are pooled with the rows before them while these have a higher mean.

    Example:
        >>> x, y = fit_increasing(np.arange(4.0), np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4))
        >>> x, y
        (array([0., 1., 2., 3.]), array([0. , 0.5, 0.5, 1. ]))
    """
    keys, place = np.unique(x, return_inverse=True)
    weights = np.bincount(place.reshape(-1), weight)
    sums = np.bincount(place.reshape(-1), weight * y)
    kept = weights > 0
    keys, weights, sums = keys[kept], weights[kept], sums[kept]
    blocks: list[tuple[float, float, int, int]] = []  # weight, sum, first and last key
    for i, (w, s) in enumerate(zip(weights.tolist(), sums.tolist(), strict=True)):
        first = i
        while blocks and blocks[-1][1] * w >= s * blocks[-1][0]:
            before = blocks.pop()
            w, s, first = w + before[0], s + before[1], before[2]
        blocks.append((w, s, first, i))
    ends, values = [], []
    for w, s, first, last in blocks:
        for i in dict.fromkeys((first, last)):
            ends.append(keys[i])
            values.append(s / w)
    return np.array(ends), np.array(values)
