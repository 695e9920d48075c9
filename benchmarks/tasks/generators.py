"""Data for tasks of which there are no real tables here; the same for the same seed."""

from __future__ import annotations

import numpy as np

from benchmarks.split import Array
from benchmarks.synthetic import higgs_like
from benchmarks.tasks.problem import Part, Problem, divide

N_HORIZONS = 20


def survival_times(seed: int, n_rows: int = 20_000) -> tuple[Array, Array, Array]:
    """Weibull times whose rate depends on the row, and exponential times of censoring.

    Returns:
        Features, times of the event, times at which a row is no longer watched.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 8))
    x[:, 2] = np.round(x[:, 2])
    risk = 0.8 * x[:, 0] - 0.5 * np.abs(x[:, 1]) + 0.3 * np.sin(3.0 * x[:, 3])
    risk += 0.6 * x[:, 0] * (x[:, 2] > 0.0)
    event = 10.0 * (rng.exponential(size=n_rows) * np.exp(-risk)) ** (1.0 / 1.5)
    censored = 15.0 * rng.exponential(size=n_rows)
    return x.astype(np.float32), np.maximum(event, 1e-3), np.maximum(censored, 1e-3)


def right_censored(seed: int) -> Problem:
    """Labels of Cox: the time, negative where the row was no longer watched."""
    x, event, censored = survival_times(seed)
    return divide(Part(x, np.where(event <= censored, event, -censored)), seed)


def interval_censored(seed: int) -> Problem:
    """Labels of AFT, from and to: exact, to the right, between two times, and before a time."""
    x, event, censored = survival_times(seed)
    is_seen = event <= censored
    low = np.minimum(event, censored)
    high = np.where(is_seen, low, np.inf)
    draw = np.random.default_rng([seed, 1]).random(len(x))
    is_between, is_before = is_seen & (draw < 0.3), is_seen & (draw > 0.95)
    low, high = np.where(is_between, 0.7 * low, low), np.where(is_between, 1.2 * high, high)
    low = np.where(is_before, 0.0, low)
    return divide(Part(x, np.column_stack([low, high])), seed)


def noise_by_row(seed: int, n_rows: int = 20_000) -> Problem:
    """Mean and spread both depend on the row."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, size=(n_rows, 8))
    mean = np.sin(2.0 * x[:, 0]) + x[:, 1] * x[:, 2]
    y = mean + 0.7 * np.exp(0.5 * x[:, 3]) * rng.normal(size=n_rows)
    return divide(Part(x.astype(np.float32), y), seed)


def horizons(seed: int, n_rows: int = 100_000) -> Problem:
    """Twenty horizons of one process: its level decays to a mean, both functions of the row.

    Half of the noise is shared by the horizons. Training has n_rows, validation and test half.
    """
    rng = np.random.default_rng(seed)
    n_all = 2 * n_rows
    x = rng.standard_normal((n_all, 28), dtype=np.float32)
    level = 2.0 * np.tanh(x[:, 0] + x[:, 1] * x[:, 2]) + np.sin(2.0 * x[:, 3]) + 0.5 * x[:, 4]
    mean = np.abs(x[:, 5]) + 0.7 * x[:, 6] * (x[:, 7] > 0.0) - 0.4 * x[:, 8]
    speed = 0.05 + 0.25 / (1.0 + np.exp(-x[:, 9]))
    step = np.arange(1, N_HORIZONS + 1)
    kept = np.exp(-speed[:, None] * step)
    y = mean[:, None] + (level - mean)[:, None] * kept
    y += 0.5 * rng.normal(size=(n_all, 1)) + 0.5 * rng.normal(size=(n_all, N_HORIZONS))
    part, rows = Part(x, y), np.arange(n_all)
    half = n_rows // 2
    return Problem(
        part.take(rows[:n_rows]),
        part.take(rows[n_rows : n_rows + half]),
        part.take(rows[n_rows + half :]),
    )


def binary_rows(seed: int, n_rows: int = 1_000_000) -> Problem:
    """The Higgs-like table of the other benchmarks."""
    split = higgs_like(n_rows, seed)
    return Problem(Part(split.x_train, split.y_train), Part(split.x_test, split.y_test))
