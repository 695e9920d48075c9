"""Estimators that are fitted on a Dask cluster, with the bytes of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import dask.array
import numpy as np
from distributed import Client

from gossamer.callbacks import record_evaluation
from gossamer.dask.data import DaskDataset, to_shard
from gossamer.dask.run import run_job
from gossamer.dask.train import Predict, map_rows
from gossamer.dask.workers import Share
from gossamer.distributed import Group, SavedRounds, ShardData, check_supported
from gossamer.distributed import train as train_shard
from gossamer.errors import DataError
from gossamer.sklearn import GossamerClassifier, GossamerModel, GossamerRanker, GossamerRegressor
from gossamer.sklearn.arguments import take_out
from gossamer.sklearn.class_weight import weigh_by_class
from gossamer.sklearn.fit_options import FitOptions, takes
from gossamer.train import Callback

if TYPE_CHECKING:
    from typing_extensions import Unpack

History = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, eq=False)
class _FitJob:
    """Fits an estimator; see `DaskGossamerModel.fit`."""

    estimator: DaskGossamerModel
    columns: tuple[Any, Any]  # feature_name, categorical_feature
    with_training: int | None  # where the training data is among the evaluation sets
    eval_names: Sequence[str]
    eval_metric: Any
    eval_at: Any
    callbacks: Sequence[Callback]
    init_model: Any

    def __call__(self, share: Share) -> DaskGossamerModel:
        train_set = to_shard(share.rows, *self.columns)
        valid_sets = [to_shard(parts, "auto", "auto") for parts in share.valid]
        if self.with_training is not None:
            valid_sets.insert(self.with_training, train_set)
        return self.estimator.fit_rows(
            share.group,
            train_set,
            valid_sets,
            self.eval_names,
            self.eval_metric,
            self.eval_at,
            self.callbacks,
            self.init_model,
            share.rounds,
        )


class DaskFitOptions(FitOptions, total=False):
    """The options of `DaskGossamerModel.fit`."""

    time_out: float
    max_restarts: int


class DaskGossamerModel(GossamerModel):
    """A model that is fitted on a Dask cluster.

    Args:
        client: The cluster; None: the current client.
        **kwargs: See `GossamerModel`.
    """

    _local: ClassVar[type[GossamerModel]] = GossamerModel
    _needs_queries: ClassVar[bool] = False

    def __init__(self, *, client: Client | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.client = client

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters but a client, which belongs to this process."""
        params = super().get_params(deep)
        if params.get("client") is not None:
            del params["client"]
        return params

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: everything but the client."""
        return {**vars(self), "client": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def to_local(self) -> GossamerModel:
        """Return the estimator as one that needs no cluster; fitted if this one is."""
        local = self._local()
        local.__dict__.update({k: v for k, v in vars(self).items() if k != "client"})
        return local

    @takes(
        "sample_weight init_score group eval_set eval_names eval_sample_weight eval_init_score "
        "eval_group eval_metric feature_name categorical_feature callbacks init_model",
        "query eval_query eval_at time_out max_restarts",
        time_out=60.0,
        max_restarts=3,
    )
    def fit(
        self, X: Any, y: Any, *args: Any, **options: Unpack[DaskFitOptions]
    ) -> DaskGossamerModel:
        """Train the model on all workers; see `GossamerModel.fit` for the other arguments.

        Args:
            X: A Dask array or frame, or a list of delayed tables; see `DaskDataset`.
            y: Labels, with the partitions of `X`.
            *args: The options, in the order of the signature.
            **options: Fields of the rows have the partitions of `X`, too; no query of `group` spans
                two partitions (a query of `query` may). `callbacks` are called on every worker.
                `time_out`: seconds without a sign of life after which a worker counts as lost.
                `max_restarts`: how often training goes on after a worker was lost.

        Returns:
            The estimator itself.
        """
        self._refuse_held_out("a Dask cluster")
        check_supported(self._checked_params())
        if self._needs_queries and options["group"] is None and options["query"] is None:
            raise DataError.because(
                "ranking needs queries",
                found="neither group nor query",
                hint="Pass group (rows of each query) or query (one id per row) to fit.",
            )
        columns = options["feature_name"], options["categorical_feature"]
        data = DaskDataset(
            X,
            label=y,
            weight=options["sample_weight"],
            group=options["group"],
            query=options["query"],
            init_score=options["init_score"],
            feature_name=columns[0],
            categorical_feature=columns[1],
        )
        with_training, valid = None, []
        eval_set = options["eval_set"] or ()
        for i, (table, label) in enumerate(eval_set):
            if table is X and label is y:
                with_training = i
                continue
            own: dict[str, Any] = {
                name: None if given is None else given[i]
                for name, given in (
                    ("weight", options["eval_sample_weight"]),
                    ("init_score", options["eval_init_score"]),
                    ("group", options["eval_group"]),
                    ("query", options["eval_query"]),
                )
            }
            valid.append(DaskDataset(table, label=label, **own).to_parts())
        n_sets = len(eval_set)
        names = list(options["eval_names"] or [f"valid_{i}" for i in range(n_sets)])
        if options["eval_names"] is None and with_training is not None:
            names[with_training] = "training"
        if len(names) != n_sets:
            raise DataError.because(
                "eval_names and eval_set differ in length", got=names, expected=str(n_sets)
            )
        base = options["init_model"]
        job = _FitJob(
            self,
            columns,
            with_training,
            names,
            options["eval_metric"],
            options["eval_at"],
            list(options["callbacks"] or ()),
            base.booster_ if isinstance(base, GossamerModel) else base,
        )
        time_out, max_restarts = options["time_out"], options["max_restarts"]
        fitted = run_job(self.client, job, data.to_parts(), valid, time_out, max_restarts)
        client = self.client
        self.__dict__.update(vars(fitted))
        self.client = client
        if not data.is_frame:
            self.__dict__.pop("feature_names_in_", None)
        return self

    def fit_rows(
        self,
        group: Group,
        rows: ShardData,
        valid: Sequence[ShardData],
        eval_names: Sequence[str],
        eval_metric: Any,
        eval_at: Any,
        callbacks: Sequence[Callback],
        init_model: Any,
        rounds: SavedRounds,
    ) -> DaskGossamerModel:
        """Train on the rows of one worker, together with all others: what `fit` runs on them."""
        params = self._checked_params()
        if eval_at is not None:
            take_out(params, "eval_at")
            params["eval_at"] = eval_at
        rows.gather(group)
        target = rows.fields["label"]
        label = self._learn_labels(target)
        self._choose_objective(params)
        metrics = self._choose_metrics(params, eval_metric)
        rows.fields["label"] = label
        weight = rows.fields["weight"]
        if self.class_weight is not None:
            by_class = weigh_by_class(self.class_weight, target, np.unique(target))
            weight = by_class if weight is None else weight * by_class
            rows.fields["weight"] = weight
        has_queries = rows.fields["group"] is not None or rows.fields["query"] is not None
        if weight is not None and not has_queries:
            rows.keep(group, weight != 0)
        for name, other in zip(eval_names, valid, strict=True):
            if other is not rows:
                other.gather(group)
                other.fields["label"] = self._encode_labels(other.fields["label"], name)
        history: History = {}
        booster = train_shard(
            group,
            params,
            rows,
            valid_sets=valid,
            valid_names=list(eval_names) or None,
            feval=metrics or None,
            init_model=init_model,
            callbacks=[*callbacks, record_evaluation(history)],
            resume=rounds,
        )
        self._name_classes(booster)
        self._booster, self._history, self._named_columns = booster, history, ()
        names = booster.feature_name()
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def predict(self, X: Any, **kwargs: Any) -> dask.array.Array:  # type: ignore[override]
        """Predict the rows of a Dask array or frame; see `GossamerModel.predict`."""
        return map_rows(Predict("predict", kwargs), self.to_local(), X)


class DaskGossamerClassifier(DaskGossamerModel, GossamerClassifier):  # type: ignore[misc]
    """`GossamerClassifier` on a Dask cluster."""

    _local = GossamerClassifier

    def predict_proba(self, X: Any, **kwargs: Any) -> dask.array.Array:  # type: ignore[override]
        """Predict the probability of each class; see `GossamerClassifier.predict_proba`."""
        return map_rows(Predict("predict_proba", kwargs), self.to_local(), X)


class DaskGossamerRegressor(DaskGossamerModel, GossamerRegressor):
    """`GossamerRegressor` on a Dask cluster."""

    _local = GossamerRegressor


class DaskGossamerRanker(DaskGossamerModel, GossamerRanker):  # type: ignore[misc]
    """`GossamerRanker` on a Dask cluster."""

    _local = GossamerRanker
    _needs_queries = True
