"""`cv`: cross-validation, as XGBoost's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.arguments import check_flags, check_function
from gossamer.callbacks import CallbackEnv, EarlyStopException
from gossamer.compat.xgboost.callback import (
    CallbackContainer,
    TrainingCallback,
    standard_callbacks,
)
from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.metrics import their_metric
from gossamer.compat.xgboost.objective import (
    Faces,
    MetricFunction,
    ObjectiveFunction,
    as_feval,
    as_objective,
)
from gossamer.compat.xgboost.params import (
    metric_list,
    params_for,
    read_params,
    take_start,
    translate_given,
)
from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.rounds import begin_training
from gossamer.cv import cv as core_cv
from gossamer.data import Dataset
from gossamer.errors import DataError, DataTypeError
from gossamer.params import unused_allowed

Preparation = Callable[[DMatrix, DMatrix, dict[str, Any]], tuple[DMatrix, DMatrix, Any]]


@warn_of_positions
@check_flags
def cv(
    params: Any,
    dtrain: DMatrix,
    num_boost_round: int = 10,
    *,
    nfold: int = 3,
    stratified: bool = False,
    folds: Any = None,
    metrics: str | Sequence[str] = (),
    obj: ObjectiveFunction | None = None,
    maximize: bool | None = None,
    early_stopping_rounds: int | None = None,
    fpreproc: Preparation | None = None,
    as_pandas: bool = True,
    verbose_eval: bool | int | None = None,
    show_stdv: bool = True,
    seed: int = 0,
    callbacks: Sequence[TrainingCallback] | None = None,
    shuffle: bool = True,
    custom_metric: MetricFunction | None = None,
) -> Any:
    """Train on all but one part of the data, evaluate on that part; for each part in turn.

    Args:
        params: Parameters by XGBoost's names.
        dtrain: The data.
        num_boost_round: Number of rounds.
        nfold: How many folds there are.
        stratified: Whether every fold gets its share of each class.
        folds: Instead: pairs of (training rows, test rows), or a splitter of scikit-learn.
        metrics: Metrics, instead of those in `params`.
        obj: The loss: (scores, data) -> (gradients, hessians).
        maximize: Whether early stopping takes higher to be better; None: as the metric says.
        early_stopping_rounds: Stop when the mean of the last metric on the test rows has not
            improved for this many rounds; results end with the best round then.
        fpreproc: A function (training data, test data, parameters) -> the same three, changed.
        as_pandas: Whether to return a data frame, if pandas is installed.
        verbose_eval: Whether to show the metrics; or every how many rounds.
        show_stdv: Whether to show their standard deviations, too.
        seed: Seed of the folds.
        callbacks: Callbacks, see `callback`.
        shuffle: Whether rows are dealt out at random.
        custom_metric: A metric: (predictions, data) -> (name, value).

    Returns:
        Means and standard deviations by round, under names like "test-rmse-mean" and
        "test-rmse-std": a data frame, or lists in a dict.

    Example:
        >>> import numpy as np
        >>> x = np.random.default_rng(0).normal(size=(200, 2))
        >>> found = cv({"max_depth": 2}, DMatrix(x, label=x[:, 0]), 5, as_pandas=False)
        >>> list(found), len(found["test-rmse-mean"])
        (['train-rmse-mean', 'train-rmse-std', 'test-rmse-mean', 'test-rmse-std'], 5)
    """
    if not isinstance(dtrain, DMatrix):
        raise DataTypeError.because("dtrain is not a DMatrix", got=type(dtrain).__name__)
    for name, function in (("obj", obj), ("custom_metric", custom_metric), ("fpreproc", fpreproc)):
        check_function(name, function)
    given = read_params(params)
    if names := metric_list(metrics):
        given["eval_metric"] = names
    container = CallbackContainer(
        standard_callbacks(callbacks, verbose_eval, early_stopping_rounds, maximize, show_stdv)
    )
    faces = Faces()
    core_params, start = _core_params(given, dtrain, obj, faces)
    if custom_metric is not None and obj is not None:
        custom_metric = _given_scores(custom_metric, core_params["objective"].link)
    adapter = _Adapter(container, start)
    with unused_allowed():
        found = core_cv(
            core_params,
            dtrain.as_train_set(core_params),
            num_boost_round,
            folds=folds,
            nfold=nfold,
            stratified=stratified,
            shuffle=shuffle,
            feval=None if custom_metric is None else as_feval(custom_metric, faces),
            fpreproc=None if fpreproc is None else _Prepare(fpreproc, dtrain, given, core_params),
            seed=seed,
            callbacks=[_Before(adapter), adapter],
            eval_train_metric=True,
        )
    container.after_training(adapter.pack)
    renamed = {_rename(name): values for name, values in found.items()}
    return _as_frame(renamed) if as_pandas else renamed


def _core_params(
    given: dict[str, Any],
    data: DMatrix,
    obj: ObjectiveFunction | None,
    faces: Faces,
) -> tuple[dict[str, Any], npt.NDArray[np.float64] | None]:
    """Our parameters, with the user's loss in them, and the scores that outputs start from."""
    params = params_for(given, data)
    start = take_start(params)
    if obj is None:
        return params, start
    params["objective"] = as_objective(obj, params, faces)
    return params, start


def _given_scores(metric: MetricFunction, link: Any) -> MetricFunction:
    """Return a metric of predictions that gives the user's metric the scores they come from."""
    if link == "identity":
        return metric

    def of_predictions(predictions: npt.NDArray[Any], data: DMatrix) -> Any:
        with np.errstate(divide="ignore"):
            score = np.log(predictions)  # of classes: but for a constant in each row
            if link == "sigmoid":
                score -= np.log1p(-predictions)
        return metric(score, data)

    return of_predictions


@dataclass(eq=False)
class _Fold:
    """The fields of the rows that a fold trains on, and of those it holds out."""

    dtrain: DMatrix
    dtest: DMatrix


@dataclass(eq=False)
class _Pack:
    """What callbacks see as the model: the boosters of all folds."""

    boosters: list[Any] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def cvfolds(self) -> list[_Fold]:
        """What callbacks see of each fold."""
        sets = ((b.training.train.given, b.training.valid[0].given) for b in self.boosters)
        return [_Fold(*map(DMatrix.from_dataset, each)) for each in sets]

    def num_boosted_rounds(self) -> int:
        return self.boosters[0].current_iteration() if self.boosters else 0

    def set_param(self, params: Any, value: Any = None) -> None:
        given = read_params({params: value} if isinstance(params, str) else params)
        for booster in self.boosters:
            booster.reset_parameter(translate_given(given))

    def attr(self, key: str) -> str | None:
        return self.attributes.get(key)

    def set_attr(self, **kwargs: Any) -> None:
        self.attributes |= {key: str(value) for key, value in kwargs.items()}


@dataclass(eq=False)
class _Adapter:
    """Calls XGBoost's callbacks after each round of our `cv`."""

    order: ClassVar[int] = 0
    before_iteration: ClassVar[bool] = False

    container: CallbackContainer
    start_scores: npt.NDArray[np.float64] | None = None
    pack: _Pack = field(default_factory=_Pack)
    is_started: bool = False

    def start(self, env: CallbackEnv) -> None:
        """See the boosters, before the first round."""
        if not self.is_started:
            self.container.before_training(self.pack)
            self.pack.boosters = env.model.boosters
            for booster in self.pack.boosters:
                begin_training(booster, self.start_scores)
            self.is_started = True

    def __call__(self, env: CallbackEnv) -> None:
        results = [
            (
                "train" if each.dataset_name == "train" else "test",
                their_metric(each.metric_name),
                (each.metric_value, each.metric_std_dev),
            )
            for each in env.evaluation_result_list or ()
        ]
        if self.container.after_iteration(self.pack, env.iteration, results):
            self.stop(env.iteration)

    def stop(self, n_round: int) -> None:
        """End the training, with the best round if one was looked for."""
        best = self.pack.attr("best_iteration")
        raise EarlyStopException(n_round if best is None else int(best), [])


@dataclass(eq=False)
class _Before:
    """Calls XGBoost's callbacks before each round."""

    order: ClassVar[int] = 0
    before_iteration: ClassVar[bool] = True

    adapter: _Adapter

    def __call__(self, env: CallbackEnv) -> None:
        self.adapter.start(env)
        if self.adapter.container.before_iteration(self.adapter.pack, env.iteration):
            self.adapter.stop(env.iteration - 1)


@dataclass(frozen=True, eq=False)
class _Prepare:
    """A user's `fpreproc`, which changes the data of a fold, as our `cv` calls it."""

    function: Preparation
    data: DMatrix
    given: dict[str, Any]
    params: dict[str, Any]

    def __call__(
        self, train: Dataset, test: Dataset, params: dict[str, Any]
    ) -> tuple[Dataset, Dataset, dict[str, Any]]:
        parts = [self.data.slice(part.used_indices, allow_groups=True) for part in (train, test)]
        returned = self.function(parts[0], parts[1], dict(self.given))
        try:
            new_train, new_test, given = returned
            is_right = isinstance(new_train, DMatrix) and isinstance(new_test, DMatrix)
        except (TypeError, ValueError):
            is_right = False
        if not is_right:
            raise DataError.because(
                "fpreproc returned an unexpected value",
                got=returned,
                expected="(training DMatrix, test DMatrix, parameters)",
            )
        changed = params_for(read_params(given), new_train)
        if callable(self.params["objective"]):
            changed |= {name: self.params[name] for name in ("objective", "metric")}
            changed.pop("base_score", None)
        train_set = new_train.as_train_set(changed)
        return train_set, new_test.as_valid_set(train_set, not new_train.is_sparse), changed


def _rename(name: str) -> str:
    """From our "valid l1-stdv" to "test-mae-std"."""
    data, _, rest = name.partition(" ")
    metric, _, kind = rest.rpartition("-")
    data = "train" if data == "train" else "test"
    return f"{data}-{their_metric(metric)}-{'mean' if kind == 'mean' else 'std'}"


def _as_frame(results: dict[str, list[float]]) -> Any:
    try:
        import pandas
    except ImportError:
        return results
    return pandas.DataFrame(results)
