"""Coverage and width of intervals: Gossamer's, and MAPIE's around the same model if installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from benchmarks.quality.tables import Problem

WANTED: Final = (0.8, 0.9, 0.95)
_FOLDS: Final = 8


def measure(problem: Problem, threads: int) -> Iterator[dict[str, Any]]:
    """Yields a run for each method and coverage."""
    import gossamer as gs

    params: dict[str, Any] = {"verbose": -1, "num_threads": threads}
    began = time.perf_counter()
    model = gs.train_folds(params, gs.Dataset(problem.x, problem.y), nfold=_FOLDS)
    seconds = time.perf_counter() - began
    for wanted in WANTED:
        began = time.perf_counter()
        ends = model.predict_interval(problem.x_test, wanted)
        yield _run(problem, "CV+", wanted, ends, seconds + time.perf_counter() - began)
    for wanted in WANTED:
        began = time.perf_counter()
        alphas = [(1 - wanted) / 2, (1 + wanted) / 2]
        quantiles = {**params, "objective": "quantile", "quantile_alpha": alphas}
        model = gs.train_folds(quantiles, gs.Dataset(problem.x, problem.y), nfold=_FOLDS)
        ends = model.predict_interval(problem.x_test, wanted)
        yield _run(problem, "quantiles", wanted, ends, time.perf_counter() - began)
    yield from _mapie(problem, threads)


def _mapie(problem: Problem, threads: int) -> Iterator[dict[str, Any]]:
    """CV+ of MAPIE around the same trees, with the number of rounds that early stopping found."""
    try:
        from mapie.regression import CrossConformalRegressor
    except ImportError:
        return
    import gossamer as gs

    n_rounds = gs.train_refit({"verbose": -1}, gs.Dataset(problem.x, problem.y)).current_iteration()
    began = time.perf_counter()
    estimator = gs.GossamerRegressor(n_estimators=n_rounds, n_jobs=threads, verbose=-1)
    outer = CrossConformalRegressor(
        estimator, confidence_level=list(WANTED), method="plus", cv=_FOLDS
    )
    outer.fit_conformalize(problem.x, problem.y)
    _, ends = outer.predict_interval(problem.x_test)
    seconds = time.perf_counter() - began
    for i, wanted in enumerate(WANTED):
        yield _run(problem, "MAPIE CV+", wanted, ends[:, :, i], seconds)


def _run(problem: Problem, method: str, wanted: float, ends: Any, seconds: float) -> dict[str, Any]:
    low, high = ends[:, 0], ends[:, 1]
    inside = (low <= problem.y_test) & (problem.y_test <= high)
    return {
        "table": problem.name,
        "method": method,
        "wanted": wanted,
        "coverage": float(inside.mean()),
        "width": float(np.mean(high - low) / problem.y_test.std()),
        "seconds": seconds,
    }
