"""Coverage and width of intervals: Gossamer's, and MAPIE's around the same model if installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from benchmarks.quality.tables import Problem

Run = dict[str, Any]
WANTED: Final = (0.8, 0.9, 0.95)
_FOLDS: Final = 8


def _folds(problem: Problem, threads: int, *, tight: bool = False) -> Iterator[Run]:
    import gossamer as gs

    params: dict[str, Any] = {"verbose": -1, "num_threads": threads}
    model = gs.train_folds(params, gs.Dataset(problem.x, problem.y), nfold=_FOLDS)
    for wanted in WANTED:
        yield _run(problem, wanted, model.predict_interval(problem.x_test, wanted, tight=tight))


def _quantiles(problem: Problem, threads: int) -> Iterator[Run]:
    import gossamer as gs

    for wanted in WANTED:
        params: dict[str, Any] = {"verbose": -1, "num_threads": threads, "objective": "quantile"}
        params["quantile_alpha"] = [(1 - wanted) / 2, (1 + wanted) / 2]
        model = gs.train_folds(params, gs.Dataset(problem.x, problem.y), nfold=_FOLDS)
        yield _run(problem, wanted, model.predict_interval(problem.x_test, wanted))


def _mapie(problem: Problem, threads: int) -> Iterator[Run]:
    """CV+ of MAPIE around the same trees, with the number of rounds that early stopping found."""
    from mapie.regression import CrossConformalRegressor

    import gossamer as gs

    n_rounds = gs.train_refit({"verbose": -1}, gs.Dataset(problem.x, problem.y)).current_iteration()
    estimator = gs.GossamerRegressor(n_estimators=n_rounds, n_jobs=threads, verbose=-1)
    outer = CrossConformalRegressor(
        estimator, confidence_level=list(WANTED), method="plus", cv=_FOLDS
    )
    outer.fit_conformalize(problem.x, problem.y)
    _, ends = outer.predict_interval(problem.x_test)
    for i, wanted in enumerate(WANTED):
        yield _run(problem, wanted, ends[:, :, i])


METHODS: Final[dict[str, Callable[[Problem, int], Iterator[Run]]]] = {
    "gossamer_cv_plus": _folds,
    "gossamer_tight": partial(_folds, tight=True),
    "gossamer_quantiles": _quantiles,
    "mapie_cv_plus": _mapie,
}


def _run(problem: Problem, wanted: float, ends: Any) -> Run:
    low, high = ends[:, 0], ends[:, 1]
    inside = (low <= problem.y_test) & (problem.y_test <= high)
    return {
        "wanted": wanted,
        "coverage": float(inside.mean()),
        "width": float(np.mean(high - low) / problem.y_test.std()),
    }
