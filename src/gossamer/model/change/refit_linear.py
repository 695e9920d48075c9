"""Linear models of leaves learned again on other data; see `refit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.params import Params
from gossamer.tree import Tree

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeafData:
    """The rows of a tree's leaves, and what the objective asks of them.

    Attributes:
        matrix: The table: an array, or one of scipy's sparse arrays.
        leaf: The leaf of each row.
        gradient: Gradient of each row.
        hessian: Hessian of each row; None: all are 1.
    """

    matrix: Any
    leaf: npt.NDArray[np.int32]
    gradient: npt.NDArray[np.float32]
    hessian: npt.NDArray[np.float32] | None


def refit_linear(
    tree: Tree, plain: Array, data: LeafData, params: Params, rate: float, keep: float
) -> tuple[dict[str, npt.NDArray[Any]], Array]:
    """Learn the linear models of a tree again, with the columns that they have.

    Args:
        tree: The tree, with linear leaves.
        plain: The new plain values of the leaves, old ones blended in.
        data: What is learned from.
        params: Ridge and bounds.
        rate: Learning rate.
        keep: Share of the old models that is kept.

    Returns:
        The arrays of the linear leaves, and what they add to the score of each row.
    """
    assert tree.linear is not None
    arrays: dict[str, npt.NDArray[Any]] = {n: a.copy() for n, a in tree.linear.items()}
    begin = arrays["linear_begin"]
    constant, low, high = (arrays[f"linear_{name}"] for name in ("constant", "low", "high"))
    added = plain[data.leaf]
    order = np.argsort(data.leaf, kind="stable")
    ends = np.searchsorted(data.leaf[order], np.arange(tree.n_leaves + 1))
    for i in range(tree.n_leaves):
        terms, rows = slice(begin[i], begin[i + 1]), order[ends[i] : ends[i + 1]]
        if begin[i] == begin[i + 1]:
            constant[i] = low[i] = high[i] = plain[i]
            continue
        if len(rows) == 0:
            continue
        columns = arrays["linear_column"][terms]
        x = data.matrix[rows][:, columns]
        x = np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float64)
        x = x - arrays["linear_centre"][terms]
        hessian = np.ones(len(rows)) if data.hessian is None else data.hessian[rows]
        slopes = _slopes(x, data.gradient[rows], hessian, params.linear_lambda) * rate
        # What the plain leaf would be without its old value, at the mean of the rows.
        new = (plain[i] - keep * tree.leaf_value[i]) / (1.0 - keep) if keep < 1 else plain[i]
        new_values = new + _around_mean(x, hessian) @ slopes
        is_finite = np.isfinite(new_values)
        at_centre = new - _mean(x, hessian) @ slopes
        span = [new, *new_values[is_finite]]
        margin = params.linear_extrapolation * (max(span) - min(span))
        arrays["linear_coefficient"][terms] *= keep
        arrays["linear_coefficient"][terms] += (1.0 - keep) * slopes
        constant[i] = keep * constant[i] + (1.0 - keep) * at_centre
        low[i] = keep * low[i] + (1.0 - keep) * (min(span) - margin)
        high[i] = keep * high[i] + (1.0 - keep) * (max(span) + margin)
        values = constant[i] + x @ arrays["linear_coefficient"][terms]
        clipped = np.clip(values, low[i], high[i])
        added[rows] = np.where(np.isfinite(values), clipped, plain[i])
    return arrays, added


def _mean(x: Array, weight: npt.NDArray[Any]) -> Array:
    """Return the weighted mean of complete rows."""
    used = np.isfinite(x).all(axis=1) & (weight > 0)
    if not used.any():
        return np.zeros(x.shape[1])
    mean: Array = np.average(x[used], axis=0, weights=weight[used])
    return mean


def _around_mean(x: Array, weight: npt.NDArray[Any]) -> Array:
    return x - _mean(x, weight)


def _slopes(x: Array, gradient: npt.NDArray[Any], hessian: npt.NDArray[Any], ridge: float) -> Array:
    """Return Newton's step for the slopes: weighted least squares on standardised columns."""
    used = np.isfinite(x).all(axis=1) & (hessian > 0)
    if used.sum() <= x.shape[1]:
        return np.zeros(x.shape[1])
    weight = hessian[used].astype(np.float64)
    z = _around_mean(x[used], weight)
    deviation = np.sqrt((weight[:, None] * z * z).sum(axis=0))
    varies = deviation > 1e-6 * np.abs(x[used]).max(axis=0)
    z = z / np.where(varies, deviation, 1.0) * varies
    square = (z * weight[:, None]).T @ z + ridge / weight.sum() * np.eye(z.shape[1])
    effects, *_ = np.linalg.lstsq(square, -(z.T @ gradient[used]), rcond=1e-8)
    return np.where(varies, effects / np.where(varies, deviation, 1.0), 0.0)
