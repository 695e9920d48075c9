"""Estimators that are fitted on a Dask cluster, with the bytes of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import dask.array
import numpy as np
from distributed import Client

from gossamer.callbacks import record_evaluation
from gossamer.dask.data import DaskDataset, to_shard
from gossamer.dask.run import run_job
from gossamer.dask.train import Predict, map_rows
from gossamer.dask.workers import Part
from gossamer.distributed import Group, SavedRounds, ShardData, check_supported
from gossamer.distributed import train as train_shard
from gossamer.errors import DataError, message
from gossamer.sklearn import GossamerClassifier, GossamerModel, GossamerRanker, GossamerRegressor
from gossamer.sklearn.arguments import take_out
from gossamer.sklearn.class_weight import weigh_by_class
from gossamer.train import Callback

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

    def __call__(
        self,
        group: Group,
        rows: Sequence[Part],
        valid: Sequence[Sequence[Part]],
        rounds: SavedRounds,
    ) -> DaskGossamerModel:
        train_set = to_shard(rows, *self.columns)
        valid_sets = [to_shard(parts, "auto", "auto") for parts in valid]
        if self.with_training is not None:
            valid_sets.insert(self.with_training, train_set)
        return self.estimator.fit_rows(
            group,
            train_set,
            valid_sets,
            self.eval_names,
            self.eval_metric,
            self.eval_at,
            self.callbacks,
            self.init_model,
            rounds,
        )


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
        """Return all parameters but the client, which belongs to this process."""
        params = super().get_params(deep)
        params.pop("client", None)
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

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        group: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Sequence[Any] | None = None,
        eval_init_score: Sequence[Any] | None = None,
        eval_group: Sequence[Any] | None = None,
        eval_metric: Any = None,
        feature_name: Sequence[str] | Literal["auto"] = "auto",
        categorical_feature: Sequence[str | int] | str | None = "auto",
        callbacks: Sequence[Callback] | None = None,
        init_model: Any = None,
        *,
        query: Any = None,
        eval_query: Sequence[Any] | None = None,
        eval_at: Any = None,
        time_out: float = 60.0,
        max_restarts: int = 3,
    ) -> DaskGossamerModel:
        """Train the model on all workers; see `GossamerModel.fit` for the arguments.

        Args:
            X: A Dask array or frame, or a list of delayed tables; see `DaskDataset`.
            y: Labels, with the partitions of `X`.
            sample_weight: See `GossamerModel.fit`; so are the other arguments, in partitions.
            init_score: Scores to start from.
            group: For ranking: the rows of each query, of which none spans two partitions.
            eval_set: Data sets to evaluate after each round: [(X, y), ...].
            eval_names: Their names.
            eval_sample_weight: Their weights.
            eval_init_score: Their scores to start from.
            eval_group: Their queries.
            eval_metric: Metrics in addition to the objective's.
            feature_name: Names of the columns.
            categorical_feature: The categorical columns.
            callbacks: Called on every worker.
            init_model: A fitted estimator or `Booster` to continue from.
            query: Instead of `group`: the query of each row.
            eval_query: Instead of `eval_group`.
            eval_at: For ranking: the ranks that metrics are evaluated at.
            time_out: Seconds without a sign of life after which a worker counts as lost.
            max_restarts: How often training goes on after a worker was lost.

        Returns:
            The estimator itself.
        """
        self._refuse_held_out("a Dask cluster")
        check_supported(self._checked_params())
        if self._needs_queries and group is None and query is None:
            raise DataError(
                message(
                    "ranking needs to know the queries",
                    got="neither group nor query",
                    hint="Pass group (rows of each query) or query (one id per row) to fit.",
                )
            )
        data = DaskDataset(
            X,
            label=y,
            weight=sample_weight,
            group=group,
            query=query,
            init_score=init_score,
            feature_name=feature_name,
            categorical_feature=categorical_feature,
        )
        with_training, valid = None, []
        for i, (table, label) in enumerate(eval_set or ()):
            if table is X and label is y:
                with_training = i
                continue
            own: dict[str, Any] = {
                name: None if given is None else given[i]
                for name, given in (
                    ("weight", eval_sample_weight),
                    ("init_score", eval_init_score),
                    ("group", eval_group),
                    ("query", eval_query),
                )
            }
            valid.append(DaskDataset(table, label=label, **own).to_parts())
        n_sets = len(eval_set or ())
        names = list(eval_names or [f"valid_{i}" for i in range(n_sets)])
        if eval_names is None and with_training is not None:
            names[with_training] = "training"
        if len(names) != n_sets:
            raise DataError(
                message("eval_names and eval_set differ in length", got=names, expected=str(n_sets))
            )
        base = init_model.booster_ if isinstance(init_model, GossamerModel) else init_model
        job = _FitJob(
            self,
            (feature_name, categorical_feature),
            with_training,
            names,
            eval_metric,
            eval_at,
            list(callbacks or ()),
            base,
        )
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


class DaskGossamerRegressor(DaskGossamerModel, GossamerRegressor):  # type: ignore[misc]
    """`GossamerRegressor` on a Dask cluster."""

    _local = GossamerRegressor


class DaskGossamerRanker(DaskGossamerModel, GossamerRanker):  # type: ignore[misc]
    """`GossamerRanker` on a Dask cluster."""

    _local = GossamerRanker
    _needs_queries = True
