"""`xgboost.dask`: XGBoost's names for training on a Dask cluster.

Models have the bytes of `gossamer.compat.xgboost.train` on one machine, whatever the workers and
partitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import dask.array
import dask.dataframe
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Client

from gossamer.compat.xgboost.booster import Booster
from gossamer.compat.xgboost.callback import EvalsLog, TrainingCallback
from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.params import read_params, translate
from gossamer.compat.xgboost.shard_matrix import to_shard_matrix
from gossamer.compat.xgboost.sklearn import XGBClassifier, XGBModel, XGBRanker, XGBRegressor
from gossamer.compat.xgboost.training import train as train_here
from gossamer.dask.data import split
from gossamer.dask.run import run_job
from gossamer.dask.train import Predict, map_rows
from gossamer.dask.workers import Part, Share
from gossamer.distributed import check_supported
from gossamer.errors import DataError, DataTypeError, NotSupportedError
from gossamer.sklearn.estimator import encode_labels

__all__ = [
    "DaskDMatrix",
    "DaskQuantileDMatrix",
    "DaskXGBClassifier",
    "DaskXGBRanker",
    "DaskXGBRegressor",
    "inplace_predict",
    "predict",
    "train",
]


class TrainReturnT(TypedDict):
    """What `train` returns."""

    booster: Booster
    history: EvalsLog


class DaskDMatrix:
    """A table in partitions on a cluster, with all that belongs to its rows.

    Args:
        client: The cluster; has no effect, as the data is where it is.
        data: A Dask array or frame, or a list of delayed tables.
        label: One number per row, in the partitions of the table; so are the other fields.
        weight: See `DMatrix`.
        base_margin: See `DMatrix`.
        missing: See `DMatrix`.
        silent: Has no effect.
        feature_names: See `DMatrix`.
        feature_types: See `DMatrix`.
        qid: The query of each row; queries may span partitions.
        label_lower_bound: See `DMatrix`.
        label_upper_bound: See `DMatrix`.
        feature_weights: See `DMatrix`.
        enable_categorical: See `DMatrix`.

    Example:
        >>> import dask.array
        >>> table = dask.array.ones((100, 3), chunks=(30, 3))
        >>> len(DaskDMatrix(None, table, table[:, 0]).to_parts())
        4
    """

    def __init__(
        self,
        client: Client | None,
        data: Any,
        label: Any = None,
        *,
        weight: Any = None,
        base_margin: Any = None,
        missing: float | None = None,
        silent: bool = False,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        qid: Any = None,
        label_lower_bound: Any = None,
        label_upper_bound: Any = None,
        feature_weights: Any = None,
        enable_categorical: bool = False,
    ) -> None:
        self.data = data
        given = {
            "label": label,
            "weight": weight,
            "base_margin": base_margin,
            "qid": qid,
            "label_lower_bound": label_lower_bound,
            "label_upper_bound": label_upper_bound,
        }
        self.fields = {name: values for name, values in given.items() if values is not None}
        self.options: dict[str, Any] = {
            "missing": missing,
            "feature_names": feature_names,
            "feature_types": feature_types,
            "feature_weights": feature_weights,
            "enable_categorical": enable_categorical,
        }

    def to_parts(self) -> list[Delayed]:
        """Return a delayed part for each partition: the table and its fields by name.

        Raises:
            DataError: If a field has other partitions than the table.
        """
        tables = split(self.data, "data")
        columns = {name: split(values, name) for name, values in self.fields.items()}
        for name, parts in columns.items():
            if len(parts) != len(tables):
                raise DataError.because(
                    f"{name} and the table differ in partitions",
                    got=len(parts),
                    expected=str(len(tables)),
                    hint="Rechunk or repartition one of them.",
                )
        make = delayed(_make_part, pure=False)
        names = list(columns)
        return [make(names, *parts) for parts in zip(tables, *columns.values(), strict=True)]


class DaskQuantileDMatrix(DaskDMatrix):
    """The same with a number of bins; see `QuantileDMatrix`.

    Args:
        client: The cluster; has no effect.
        data: A Dask array or frame, or a list of delayed tables.
        label: One number per row.
        max_bin: The number of bins.
        ref: Has no effect: the training data's bins are used.
        **options: See `DaskDMatrix`.
    """

    def __init__(
        self,
        client: Client | None,
        data: Any,
        label: Any = None,
        *,
        max_bin: int | None = None,
        ref: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(client, data, label, **options)
        self.options["max_bin"] = max_bin


def _make_part(names: Sequence[str], table: Any, *values: Any) -> Part:
    return {"data": table, **dict(zip(names, map(np.asarray, values), strict=True))}


@dataclass(frozen=True, eq=False)
class _TrainJob:
    """Trains a model; see `train`."""

    params: Mapping[str, Any]
    num_boost_round: int
    data: Sequence[dict[str, Any]]  # options of the training data, then of the others
    names: Sequence[str]  # of the data sets to evaluate
    with_training: int | None  # where the training data is among them
    arguments: dict[str, Any]

    def __call__(self, share: Share) -> TrainReturnT:
        dtrain, *others = (
            to_shard_matrix(share.group, parts, options)
            for parts, options in zip([share.rows, *share.valid], self.data, strict=True)
        )
        if self.with_training is not None:
            others.insert(self.with_training, dtrain)
        history: EvalsLog = {}
        arguments = self.arguments
        if share.group.rank > 0:
            arguments = arguments | {"verbose_eval": False}
        booster = train_here(
            self.params,
            dtrain,
            self.num_boost_round,
            evals=list(zip(others, self.names, strict=True)),
            evals_result=history,
            **arguments,
        )
        return {"booster": booster, "history": history}


def train(
    client: Client | None,
    params: Any,
    dtrain: DaskDMatrix,
    num_boost_round: int = 10,
    *,
    evals: Sequence[tuple[DaskDMatrix, str]] | None = None,
    obj: Any = None,
    early_stopping_rounds: int | None = None,
    xgb_model: Booster | None = None,
    verbose_eval: bool | int | None = True,
    callbacks: Sequence[TrainingCallback] | None = None,
    custom_metric: Any = None,
    time_out: float = 60.0,
    max_restarts: int = 3,
) -> TrainReturnT:
    """Train a model on all workers of a cluster.

    Args:
        client: The cluster; None: the current client.
        params: Parameters by XGBoost's names.
        dtrain: Training data.
        num_boost_round: Number of rounds.
        evals: Data sets to evaluate after each round, and their names.
        obj: See `gossamer.compat.xgboost.train`; called on every worker with all rows.
        early_stopping_rounds: See `gossamer.compat.xgboost.train`; metrics are about all rows.
        xgb_model: A model to continue from.
        verbose_eval: Whether the first worker prints metrics.
        callbacks: They are called on every worker.
        custom_metric: Called on every worker with all rows.
        time_out: Seconds without a sign of life after which a worker counts as lost.
        max_restarts: How often training begins again after a worker was lost.

    Returns:
        "booster", the model, and "history", the metrics of each round.

    Raises:
        NotSupportedError: If parameters ask for something that workers cannot do together.
        WorkerError: If a function of yours failed on a worker, or too many workers were lost.
    """
    if not isinstance(dtrain, DaskDMatrix):
        raise DataTypeError.because(
            "dtrain must be a DaskDMatrix", got=type(dtrain).__name__, expected="one"
        )
    ours = translate(read_params(params))
    check_supported({n: ours[n] for n in ("tree_method",) if n in ours})
    pairs = list(evals or ())
    others = [data for data, _ in pairs if data is not dtrain]
    job = _TrainJob(
        params,
        num_boost_round,
        [data.options for data in (dtrain, *others)],
        [str(name) for _, name in pairs],
        next((i for i, (data, _) in enumerate(pairs) if data is dtrain), None),
        {
            "obj": obj,
            "early_stopping_rounds": early_stopping_rounds,
            "xgb_model": xgb_model,
            "verbose_eval": verbose_eval,
            "callbacks": callbacks,
            "custom_metric": custom_metric,
        },
    )
    parts = [data.to_parts() for data in others]
    found: TrainReturnT = run_job(client, job, dtrain.to_parts(), parts, time_out, max_restarts)
    return found


@dataclass(frozen=True, eq=False)
class _PredictRows:
    """Predicts the rows of a partition."""

    options: Mapping[str, Any]
    arguments: Mapping[str, Any]

    def __call__(self, model: Booster, rows: Any) -> Any:
        n_rows = rows.shape[0]
        if n_rows == 0:  # what a row gives, without the row
            rows = rows.reindex([0]) if hasattr(rows, "iloc") else np.zeros((1, rows.shape[1]))
        data = DMatrix(rows, **self.options)
        return model.predict(data, **self.arguments)[:n_rows]


def predict(
    client: Client | None,
    model: Booster | Mapping[str, Any],
    data: Any,
    *,
    missing: float | None = None,
    **arguments: Any,
) -> dask.array.Array:
    """Predict the rows of a `DaskDMatrix`, a Dask array or a frame, where they are.

    Args:
        client: The cluster; has no effect: the result is computed when asked for.
        model: A `Booster`, or what `train` returned.
        data: The rows.
        missing: A number that means a missing value; a `DaskDMatrix` has its own.
        **arguments: See `Booster.predict`.
    """
    booster = model if isinstance(model, Booster) else model["booster"]
    options: dict[str, Any] = {"missing": missing}
    if isinstance(data, DaskDMatrix):
        _refuse_margin(data.fields.get("base_margin"))
        names = ("missing", "feature_names", "feature_types", "enable_categorical")
        options = {name: data.options[name] for name in names}
        data = data.data
    else:
        options["enable_categorical"] = True
    return map_rows(_PredictRows(options, arguments), booster, data)


def _refuse_margin(margin: Any) -> None:
    if margin is not None:
        raise NotSupportedError.because(
            "predictions on a cluster do not support base_margin",
            hint="Ask for output_margin=True, and add the base_margin.",
        )


def inplace_predict(
    client: Client | None,
    model: Booster | Mapping[str, Any],
    data: Any,
    *,
    predict_type: str = "value",
    **arguments: Any,
) -> dask.array.Array:
    """Predict the rows of a Dask array or frame; see `predict`."""
    if predict_type == "margin":
        arguments["output_margin"] = True
    return predict(client, model, data, **arguments)


class _DaskEstimator(XGBModel):
    """What the estimators on a cluster have in common."""

    client: Client | None = None  # None: the current one

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        base_margin_eval_set: Sequence[Any] | None = None,
        feature_weights: Any = None,
        qid: Any = None,
        eval_qid: Sequence[Any] | None = None,
    ) -> Any:
        """Train the model on Dask collections; see `XGBModel.fit` for the arguments."""
        self.__dict__.pop("_Booster", None)
        self._learn_labels(_distinct(y) if self._has_classes else np.zeros(1))
        options = {
            "missing": self.missing,
            "feature_types": self.feature_types,
            "feature_weights": self.feature_weights if feature_weights is None else feature_weights,
            "enable_categorical": self.enable_categorical,
        }

        def rows(x: Any, label: Any, **fields: Any) -> DaskDMatrix:
            encoded = self._encode(label) if self._has_classes else label
            return DaskDMatrix(self.client, x, encoded, **fields, **options)

        dtrain = rows(X, y, weight=sample_weight, base_margin=base_margin, qid=qid)
        evals = []
        for i, (valid_x, valid_y) in enumerate(eval_set or ()):
            weight = None if sample_weight_eval_set is None else sample_weight_eval_set[i]
            own_qid = None if eval_qid is None else eval_qid[i]
            margin = None if base_margin_eval_set is None else base_margin_eval_set[i]
            is_train = valid_x is X and valid_y is y and weight is sample_weight
            data = dtrain
            if not is_train or own_qid is not qid or margin is not base_margin:
                data = rows(valid_x, valid_y, weight=weight, base_margin=margin, qid=own_qid)
            evals.append((data, f"validation_{i}"))
        params, function = self._training_params()
        found = train(
            self.client,
            params,
            dtrain,
            self.get_num_boosting_rounds(),
            evals=evals,
            obj=function,
            early_stopping_rounds=self.early_stopping_rounds,
            xgb_model=xgb_model,
            verbose_eval=verbose,
            callbacks=self.callbacks,
        )
        self._Booster, self.evals_result_ = found["booster"], found["history"]
        self.n_features_in_ = self._Booster.num_features()
        self.__dict__.pop("feature_names_in_", None)
        if isinstance(X, dask.dataframe.DataFrame):
            self.feature_names_in_ = np.array(list(X.columns), dtype=object)
        return self

    _has_classes = False

    def _encode(self, y: Any) -> list[Delayed]:
        """Return the labels of each partition as numbers."""
        local = self.to_local()
        return [delayed(_encoded, pure=False)(local, part) for part in split(y, "label")]

    def to_local(self) -> Any:
        """Return the ordinary estimator."""
        kind = next(base for base in type(self).__mro__ if base in _LOCAL)
        local = kind(**self.get_params(deep=False))
        own = {name: v for name, v in vars(self).items() if name not in vars(local)}
        own.pop("client", None)
        local.__dict__.update(own)
        return local

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("client", None)
        return state

    def predict(self, X: Any, **arguments: Any) -> dask.array.Array:
        """Predict the rows of a Dask array or frame; see `XGBModel.predict`."""
        return map_rows(Predict("predict", arguments), self.to_local(), X)

    def apply(self, X: Any, iteration_range: tuple[int, int] | None = None) -> dask.array.Array:
        """Return the leaf of each row in each tree."""
        arguments = {"iteration_range": iteration_range}
        return map_rows(Predict("apply", arguments), self.to_local(), X)


def _encoded(estimator: Any, labels: Any) -> Any:
    return encode_labels(estimator, np.asarray(labels), "training")


def _distinct(y: Any) -> Any:
    """Return the classes of all partitions."""
    found = dask.compute(*[delayed(np.unique)(part) for part in split(y, "label")])
    return np.unique(np.concatenate(found))


class DaskXGBRegressor(_DaskEstimator, XGBRegressor):
    """`XGBRegressor` on a Dask cluster; set `client`, or have a current one."""


class DaskXGBClassifier(_DaskEstimator, XGBClassifier):
    """`XGBClassifier` on a Dask cluster; set `client`, or have a current one."""

    _has_classes = True

    def predict_proba(
        self,
        X: Any,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> dask.array.Array:
        """Predict the probability of each class of Dask rows; `base_margin` must be None."""
        _refuse_margin(base_margin)
        arguments = {"iteration_range": iteration_range}
        return map_rows(Predict("predict_proba", arguments), self.to_local(), X)


class DaskXGBRanker(_DaskEstimator, XGBRanker):  # type: ignore[misc]
    """`XGBRanker` on a Dask cluster: pass `qid`, the query of each row, to `fit`."""


_LOCAL = (XGBRegressor, XGBClassifier, XGBRanker)
