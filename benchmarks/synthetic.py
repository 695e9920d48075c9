"""Synthetic data, the same for the same seed: the function to learn is fixed, the rows vary."""

from __future__ import annotations

import numpy as np

from benchmarks.split import Array, Split, Task

MAX_TEST_ROWS = 200_000


def n_test_rows(n_rows: int) -> int:
    """Held-out rows that go with n_rows training rows: a fifth, within bounds."""
    return min(max(n_rows // 5, 1_000), MAX_TEST_ROWS)


def higgs_like(n_rows: int, seed: int) -> Split:
    """28 features of mixed distributions, a nonlinear noisy binary target, AUC about 0.8.

    Columns: 0-9 normal, 10-17 log-normal, 18-22 uniform, 23-27 few-valued (2 to 16 values).

    Args:
        n_rows: Training rows.
        seed: Seed of the rows.

    Returns:
        The split.
    """
    rng = np.random.default_rng(seed)
    n_all = n_rows + n_test_rows(n_rows)
    x = np.empty((n_all, 28), np.float32)
    x[:, :18] = rng.standard_normal((n_all, 18), dtype=np.float32)
    np.exp(x[:, 10:18] * np.linspace(0.3, 1.0, 8, dtype=np.float32), out=x[:, 10:18])
    x[:, 18:23] = rng.random((n_all, 5), dtype=np.float32)
    few = np.array([2, 3, 4, 8, 16], np.float32)
    x[:, 23:] = np.floor(rng.random((n_all, 5), dtype=np.float32) * few)

    # A product alone has no marginal signal: the first split on it is luck, and differences
    # between equal learners then spread several times wider. So each factor counts alone too.
    logit = 0.9 * (x[:, 0] * x[:, 1] + x[:, 0] + x[:, 1])
    logit += 0.8 * np.sin(2.5 * x[:, 2]) + 0.6 * np.abs(x[:, 3]) - 0.5
    logit += np.where(x[:, 23] > 0, 1.0, -0.6) * x[:, 4]
    logit += 0.9 * np.log(x[:, 14]) * (x[:, 18] > 0.5)
    logit += 0.7 * np.minimum(x[:, 16], 3.0) * (x[:, 19] - 0.5)
    logit += 0.5 * x[:, 5] * (x[:, 24] - 1.0) - 0.4 * (x[:, 25] == 2) + 0.05 * x[:, 27]
    logit += 0.3 * x[:, 6] + 0.2 * x[:, 7] * x[:, 8] * x[:, 9]
    y = rng.random(n_all, dtype=np.float32) < _sigmoid(0.8 * logit)
    return _cut("binary", x, y, n_rows)


def wide_regression(n_rows: int, seed: int, n_columns: int = 200) -> Split:
    """Normal features, a fifth of which carry a linear, stepped and pairwise signal plus noise.

    Args:
        n_rows: Training rows.
        seed: Seed of the rows.
        n_columns: Number of features.

    Returns:
        The split.
    """
    rng = np.random.default_rng(seed)
    n_all = n_rows + n_test_rows(n_rows)
    x = rng.standard_normal((n_all, n_columns), dtype=np.float32)
    n_signal = n_columns // 5
    weights = np.random.default_rng(0).normal(size=n_signal).astype(np.float32)
    signal = x[:, :n_signal]
    y = signal @ weights
    y += 2.0 * (signal[:, ::2] > 0.5) @ np.abs(weights[::2])
    y += 1.5 * (signal[:, 0:10] * signal[:, 10:20]).sum(axis=1)
    y += 2.0 * rng.standard_normal(n_all, dtype=np.float32)
    return _cut("regression", x, y, n_rows)


def small(n_rows: int, seed: int) -> Split:
    """20 normal features with a noisy nonlinear binary target: the fit most people run.

    Args:
        n_rows: Training rows.
        seed: Seed of the rows.

    Returns:
        The split.
    """
    rng = np.random.default_rng(seed)
    n_all = n_rows + n_test_rows(n_rows)
    x = rng.standard_normal((n_all, 20), dtype=np.float32)
    logit = 2.0 * x[:, 0] + x[:, 1] * x[:, 2] + x[:, 1] + x[:, 2]
    logit += np.sin(3.0 * x[:, 3]) - x[:, 4] ** 2 + 1.0
    y = rng.random(n_all) < _sigmoid(logit)
    return _cut("binary", x, y, n_rows)


def heavy_tail(n_rows: int, seed: int) -> Split:
    """A log-normal target (sigma 4, over ten orders of magnitude), half driven by the features.

    Squared error on such a target gives gradients whose largest are far above the typical one:
    the case in which coarse fixed-point gradients would lose the small ones.

    Args:
        n_rows: Training rows.
        seed: Seed of the rows.

    Returns:
        The split.
    """
    rng = np.random.default_rng(seed)
    n_all = n_rows + n_test_rows(n_rows)
    x = rng.standard_normal((n_all, 20), dtype=np.float32)
    # Two unit-variance terms: a sum of normals, and a step of plus or minus one.
    driven = 0.8 * (x[:, 0] + x[:, 1] - x[:, 2]) / np.sqrt(3.0) + 0.6 * np.sign(x[:, 3] + x[:, 4])
    y = np.exp(4.0 * np.sqrt(0.5) * (driven + rng.standard_normal(n_all)))
    return _cut("regression", x, y, n_rows)


def _sigmoid(raw_score: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-raw_score)))


def _cut(task: Task, x: Array, y: Array, n_rows: int) -> Split:
    y = y.astype(np.float32)
    return Split(
        task=task,
        x_train=x[:n_rows],
        y_train=y[:n_rows],
        x_test=x[n_rows:],
        y_test=y[n_rows:],
        n_classes=2 if task == "binary" else 0,
    )
