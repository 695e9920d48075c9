"""Libraries as they come, and with early stopping: each returns a function that predicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from benchmarks.quality.tables import Problem

Predict = Callable[[Any], Any]
Fit = Callable[[Problem, int], Predict]
_MOST_ROUNDS: Final = 3000
_PATIENCE: Final = 50


def _gossamer(quality: str) -> Fit:
    def fit(problem: Problem, threads: int) -> Predict:
        import gossamer as gs

        params: dict[str, Any] = {"verbose": -1, "num_threads": threads, **_objective(problem)}
        model = gs.train_quality(params, gs.Dataset(problem.x, problem.y), quality)
        return model.predict

    return fit


def _objective(problem: Problem) -> dict[str, Any]:
    k = problem.n_classes
    if k > 2:
        return {"objective": "multiclass", "num_class": k}
    return {"objective": "binary" if k else "regression"}


def _halves(problem: Problem) -> tuple[Any, Any]:
    """Rows to train on and rows to stop by, 85 % and 15 %."""
    order = np.random.default_rng(0).permutation(len(problem.y))
    n_valid = int(0.15 * len(order))
    return np.sort(order[n_valid:]), np.sort(order[:n_valid])


def _lightgbm(*, stops: bool) -> Fit:
    def fit(problem: Problem, threads: int) -> Predict:
        import lightgbm

        params: dict[str, Any] = {"verbose": -1, "num_threads": threads, **_objective(problem)}
        if not stops:
            data = lightgbm.Dataset(problem.x, problem.y)
            return lightgbm.train(params, data, 100).predict
        train, valid = _halves(problem)
        data = lightgbm.Dataset(problem.x.iloc[train], problem.y[train])
        held = data.create_valid(problem.x.iloc[valid], problem.y[valid])
        stop = lightgbm.early_stopping(_PATIENCE, verbose=False)
        params["learning_rate"] = 0.05
        return lightgbm.train(
            params, data, _MOST_ROUNDS, valid_sets=[held], callbacks=[stop]
        ).predict

    return fit


def _xgboost(*, stops: bool) -> Fit:
    def fit(problem: Problem, threads: int) -> Predict:
        import xgboost

        k = problem.n_classes
        name = "reg:squarederror" if k == 0 else "binary:logistic" if k == 2 else "multi:softprob"
        params: dict[str, Any] = {"objective": name, "nthread": threads, "verbosity": 0}
        if k > 2:
            params["num_class"] = k

        def data(rows: Any) -> Any:
            return xgboost.DMatrix(problem.x.iloc[rows], problem.y[rows], enable_categorical=True)

        if not stops:
            model = xgboost.train(params, data(slice(None)), 100)
        else:
            train, valid = _halves(problem)
            params["learning_rate"] = 0.05
            model = xgboost.train(
                params,
                data(train),
                _MOST_ROUNDS,
                evals=[(data(valid), "valid")],
                early_stopping_rounds=_PATIENCE,
                verbose_eval=False,
            )
            model = model[: model.best_iteration + 1]
        return lambda x: model.predict(xgboost.DMatrix(x, enable_categorical=True))

    return fit


def _catboost(*, stops: bool) -> Fit:
    def fit(problem: Problem, threads: int) -> Predict:
        import catboost

        kind = catboost.CatBoostClassifier if problem.n_classes else catboost.CatBoostRegressor
        named = [
            c for c in problem.x.columns if isinstance(problem.x[c].dtype, pd.CategoricalDtype)
        ]
        options: dict[str, Any] = {"verbose": False, "thread_count": threads}
        options |= {"allow_writing_files": False, "cat_features": named}

        def text(x: Any) -> Any:
            return x.assign(**{c: x[c].astype(str) for c in named})

        if stops:
            train, valid = _halves(problem)
            model = kind(iterations=_MOST_ROUNDS, learning_rate=0.05, **options)
            held = (text(problem.x.iloc[valid]), problem.y[valid])
            model.fit(
                *(text(problem.x.iloc[train]), problem.y[train]),
                eval_set=held,
                early_stopping_rounds=_PATIENCE,
            )
        else:
            model = kind(**options).fit(text(problem.x), problem.y)
        if problem.n_classes:
            return lambda x: model.predict_proba(text(x))
        return lambda x: model.predict(text(x))

    return fit


def _sklearn(*, stops: bool) -> Fit:
    def fit(problem: Problem, threads: int) -> Predict:
        from sklearn.ensemble import HistGradientBoostingClassifier as Classifier
        from sklearn.ensemble import HistGradientBoostingRegressor as Regressor
        from threadpoolctl import threadpool_limits

        kind = Classifier if problem.n_classes else Regressor
        options: dict[str, Any] = {"early_stopping": False}
        if stops:
            options = {"early_stopping": True, "validation_fraction": 0.15, "learning_rate": 0.05}
            options |= {"max_iter": _MOST_ROUNDS, "n_iter_no_change": _PATIENCE}
        known = {
            c: problem.x[c].cat.categories
            for c in problem.x.columns
            if isinstance(problem.x[c].dtype, pd.CategoricalDtype)
        }

        def codes(x: Any) -> Any:
            """Columns of more levels than it takes are numbers."""
            few = {c for c, levels in known.items() if len(levels) <= 255}
            return x.assign(
                **{
                    c: x[c] if c in few else pd.Categorical(x[c], categories=levels).codes
                    for c, levels in known.items()
                }
            )

        with threadpool_limits(threads):
            model = kind(categorical_features="from_dtype", **options)
            model.fit(codes(problem.x), problem.y)
        if problem.n_classes:
            return lambda x: model.predict_proba(codes(x))
        return lambda x: model.predict(codes(x))

    return fit


def _ydf() -> Fit:
    """Stops by itself on a tenth of the rows."""

    def fit(problem: Problem, threads: int) -> Predict:
        import ydf

        ydf.verbose(0)
        task = ydf.Task.CLASSIFICATION if problem.n_classes else ydf.Task.REGRESSION
        learner = ydf.GradientBoostedTreesLearner(label="label", task=task, num_threads=threads)

        def text(x: Any) -> Any:
            named = [c for c in x.columns if isinstance(x[c].dtype, pd.CategoricalDtype)]
            return {
                c: x[c].astype(str).to_numpy(object) if c in named else x[c].to_numpy() for c in x
            }

        model = learner.train({**text(problem.x), "label": problem.y})
        if problem.n_classes <= 2:
            return lambda x: model.predict(text(x))
        order = np.argsort([int(name) for name in model.label_classes()])
        return lambda x: model.predict(text(x))[:, order]

    return fit


CONTENDERS: Final[dict[str, Fit]] = {
    "gossamer_fast": _gossamer("fast"),
    "gossamer_good": _gossamer("good"),
    "gossamer_best": _gossamer("best"),
    "catboost": _catboost(stops=False),
    "catboost_stops": _catboost(stops=True),
    "lightgbm": _lightgbm(stops=False),
    "lightgbm_stops": _lightgbm(stops=True),
    "xgboost": _xgboost(stops=False),
    "xgboost_stops": _xgboost(stops=True),
    "sklearn": _sklearn(stops=False),
    "sklearn_stops": _sklearn(stops=True),
    "ydf": _ydf(),
}


def module_of(name: str) -> str:
    """Returns the module that a contender needs."""
    return name.split("_", 1)[0]


def loss_of(problem: Problem, predictions: Any) -> float:
    """Returns RMSE, or log loss of the classes."""
    found = np.asarray(predictions, dtype=np.float64)
    if problem.n_classes == 0:
        return float(np.sqrt(np.mean((found - problem.y_test) ** 2)))
    if found.ndim == 1:
        found = np.column_stack([1 - found, found])
    own = found[np.arange(len(found)), problem.y_test]
    return float(-np.mean(np.log(np.clip(own, 1e-15, 1))))
