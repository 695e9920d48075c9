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
    model = _train(problem, threads, _held_out(len(problem.y)))
    for wanted in WANTED:
        yield _run(problem, wanted, model.predict_interval(problem.x_test, wanted, tight=tight))


def _quantiles(problem: Problem, threads: int) -> Iterator[Run]:
    for wanted in WANTED:
        alphas = [(1 - wanted) / 2, (1 + wanted) / 2]
        own = {"objective": "quantile", "quantile_alpha": alphas}
        model = _train(problem, threads, _held_out(len(problem.y)), **own)
        yield _run(problem, wanted, model.predict_interval(problem.x_test, wanted))


def _mapie(problem: Problem, threads: int) -> Iterator[Run]:
    """CV+ of MAPIE around the same members: those of the same folds, stopped on the same rows."""
    from mapie.regression import CrossConformalRegressor
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.model_selection import PredefinedSplit

    n_rows = len(problem.y)
    n_all = n_rows + len(problem.y_test)
    parts = _held_out(n_rows)

    class Member(RegressorMixin, BaseEstimator):  # type: ignore[misc]
        """The member that is trained on these rows; its features are the numbers of rows."""

        def fit(self, numbers: Any, label: Any) -> Member:
            part = np.setdiff1d(np.arange(n_rows), numbers[:, 0])
            self.model_ = _train(problem, threads, [part] if len(part) else parts)
            return self

        def predict(self, numbers: Any) -> Any:
            # All rows: a table may be of a kind that cannot be indexed.
            known = [self.model_.predict(each) for each in (problem.x, problem.x_test)]
            return np.concatenate(known)[numbers[:, 0]]

    part_of_row = np.empty(n_rows, dtype=np.int64)
    for i, part in enumerate(parts):
        part_of_row[part] = i
    outer = CrossConformalRegressor(
        Member(), confidence_level=list(WANTED), method="plus", cv=PredefinedSplit(part_of_row)
    )
    numbers = np.arange(n_all)[:, None]
    outer.fit_conformalize(numbers[:n_rows], problem.y)
    _, ends = outer.predict_interval(numbers[n_rows:])
    for i, wanted in enumerate(WANTED):
        yield _run(problem, wanted, ends[:, :, i])


def _held_out(n_rows: int) -> list[Any]:
    """The rows that each member is not trained on."""
    order = np.random.default_rng(0).permutation(n_rows)
    return [np.sort(part) for part in np.array_split(order, _FOLDS)]


def _train(problem: Problem, threads: int, held_out: list[Any], **own: Any) -> Any:
    import gossamer as gs

    rows = np.arange(len(problem.y))
    folds = [(np.setdiff1d(rows, part), part) for part in held_out]
    params = {"verbose": -1, "num_threads": threads, **own}
    return gs.train_folds(params, gs.Dataset(problem.x, problem.y), folds=folds)


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
