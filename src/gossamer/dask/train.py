"""`train` and `predict` on a Dask cluster."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask.array
import dask.dataframe
import numpy as np
from dask.dataframe.dispatch import make_meta
from dask.delayed import delayed
from distributed import Client

from gossamer.arguments import as_list, check_count
from gossamer.callbacks import record_evaluation
from gossamer.dask.data import DaskDataset, check_part, split, to_shard
from gossamer.dask.progress import Progress, ReportRounds, shown_progress
from gossamer.dask.run import run_job
from gossamer.dask.workers import Share
from gossamer.distributed import Traffic, check_supported
from gossamer.distributed import train as train_shard
from gossamer.distributed.machines import LEARNER, take_network
from gossamer.errors import DataTypeError, NotSupportedError, ParameterTypeError
from gossamer.metrics import CustomMetric
from gossamer.model import Booster
from gossamer.train import Callback

History = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, eq=False)
class _TrainJob:
    """Trains a model; see `train`."""

    params: Mapping[str, Any] | None
    num_boost_round: int
    columns: tuple[Any, Any]  # feature_name, categorical_feature
    with_training: int | None  # where the training data is among the validation sets
    valid_names: Sequence[str] | None
    feval: CustomMetric | Sequence[CustomMetric] | None
    init_model: Any
    callbacks: Sequence[Callback]
    report: ReportRounds | None

    def __call__(self, share: Share) -> tuple[Booster, History, Traffic]:
        history: History = {}
        train_set = to_shard(share.rows, *self.columns)
        valid_sets = [to_shard(parts, "auto", "auto") for parts in share.valid]
        if self.with_training is not None:
            valid_sets.insert(self.with_training, train_set)
        callbacks: list[Callback] = [*self.callbacks, record_evaluation(history)]
        if self.report is not None and share.group.rank == 0:
            callbacks.append(self.report)
        booster = train_shard(
            share.group,
            self.params,
            train_set,
            self.num_boost_round,
            valid_sets,
            self.valid_names,
            self.feval,
            self.init_model,
            callbacks,
            share.rounds,
        )
        return booster, history, share.group.traffic


def train(
    client: Client | None,
    params: Mapping[str, Any] | None,
    data: DaskDataset,
    num_boost_round: int = 100,
    valid_sets: Sequence[DaskDataset] | DaskDataset | None = None,
    valid_names: Sequence[str] | str | None = None,
    feval: CustomMetric | Sequence[CustomMetric] | None = None,
    init_model: Any = None,
    callbacks: Sequence[Callback] | None = None,
    *,
    evals_result: History | None = None,
    progress: Progress | bool = False,
    traffic: dict[str, float] | None = None,
    time_out: float = 60.0,
    max_restarts: int = 3,
) -> Booster:
    """Train a model on all workers of a cluster: the bytes of `gossamer.train` on all rows.

    The model depends neither on the number of workers nor on the partitions. Metrics and early
    stopping are about all rows.

    Args:
        client: The cluster; None: the current client.
        params: See `gossamer.train`.
        data: The training data.
        num_boost_round: See `gossamer.train`.
        valid_sets: Data sets to evaluate after each round; the training data may be among them.
        valid_names: Their names.
        feval: Called on every worker with predictions and labels of all rows.
        init_model: A `Booster` to continue from.
        callbacks: See `gossamer.train`; they are called on every worker.
        evals_result: Filled with the metrics of each round, by data set and metric.
        progress: True: show a progress bar on the client (it needs tqdm). A function is called on
            the client after each round with a `CallbackEnv`, whose `model` is None.
        traffic: Filled with what the first worker has sent: the fields of `Traffic`,
            `collectives_per_tree` and `bytes_per_tree`.
        time_out: Seconds without a sign of life after which a worker counts as lost.
        max_restarts: How often training resumes from the finished rounds after a worker was lost.

    Raises:
        NotSupportedError: If parameters ask for something that workers cannot do together.
        WorkerError: If a function of yours failed on a worker, or too many workers were lost.
    """
    _check_data(data, "data")
    if client is not None and not isinstance(client, Client):
        raise ParameterTypeError.because(
            "client cannot be used", got=type(client).__name__, expected="a Dask Client"
        )
    check_count(max_restarts, "max_restarts", least=0)
    network, params = take_network(params)  # Dask's workers know each other
    if network.get("tree_learner") == "feature":
        raise NotSupportedError.because(
            "tree_learner=feature needs all rows on every worker, and Dask's have some each",
            hint="Leave it out, or use gossamer.distributed.train.",
        )
    check_supported(params)
    given = [valid_sets] if isinstance(valid_sets, DaskDataset) else valid_sets
    sets: list[DaskDataset] = as_list("valid_sets", given)
    for each in sets:
        _check_data(each, "a validation set")
    own_callbacks = as_list("callbacks", callbacks)
    names = [valid_names] if isinstance(valid_names, str) else valid_names
    others = [other.to_parts() for other in sets if other is not data]
    with shown_progress(client, progress) as report:
        job = _TrainJob(
            params | {name: value for name, value in network.items() if name in LEARNER},
            num_boost_round,
            (data.feature_name, data.categorical_feature),
            next((i for i, other in enumerate(sets) if other is data), None),
            names,
            feval,
            init_model,
            own_callbacks,
            report,
        )
        booster, history, sent = run_job(
            client, job, data.to_parts(), others, time_out, max_restarts
        )
    if evals_result is not None:
        evals_result.update(history)
    if traffic is not None:
        traffic.update(sent.to_dict())
    found: Booster = booster
    return found


def _check_data(data: object, name: str) -> None:
    if not isinstance(data, DaskDataset):
        raise DataTypeError.because(
            f"{name} must be a DaskDataset",
            got=type(data).__name__,
            expected="DaskDataset(data, label=...)",
        )


def predict(model: Any, data: Any, **kwargs: Any) -> dask.array.Array:
    """Predict the rows of a Dask array or frame, partition by partition, where they are.

    Args:
        model: A `Booster`, or a fitted estimator. It is sent to each worker once.
        data: A Dask array or frame.
        **kwargs: Arguments of `model.predict`: `raw_score`, `pred_leaf`, `pred_contrib`, ...

    Returns:
        A Dask array with the chunks of the data: one number per row, or several.
    """
    if not hasattr(model, "predict"):
        raise ParameterTypeError.because(
            "model cannot be used", got=type(model).__name__, expected="a model"
        )
    return map_rows(Predict("predict", kwargs), model, data)


def map_rows(function: Any, model: Any, data: Any) -> dask.array.Array:
    """Call function(model, rows) for each partition."""
    if isinstance(data, dask.dataframe.DataFrame):
        example = np.asarray(function(model, make_meta(data)))  # of no rows
        counts: Sequence[float] | None = None
    elif isinstance(data, dask.array.Array):
        example = np.asarray(function(model, np.zeros((2, *data.shape[1:]), dtype=data.dtype)))
        counts = data.chunks[0]
    else:
        raise DataTypeError.because(
            "data is not in partitions",
            got=type(data).__name__,
            expected="a Dask array or frame",
            hint="Use the model's own predict() for tables in memory.",
        )
    blocks = split(data, "data")
    if counts is None:
        counts = [math.nan] * len(blocks)
    sent, call = delayed(model, pure=True), delayed(function)
    arrays = [
        dask.array.from_delayed(
            call(sent, block), (n_rows, *example.shape[1:]), dtype=example.dtype
        )
        for block, n_rows in zip(blocks, counts, strict=True)
    ]
    return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


@dataclass(frozen=True, eq=False)
class Predict:
    """Calls a method of a model."""

    method: str
    arguments: Mapping[str, Any]

    def __call__(self, model: Any, rows: Any) -> Any:
        """Return what the method returns for some rows."""
        check_part(rows)
        n_rows = rows.shape[0]
        if n_rows == 0 and not hasattr(rows, "iloc"):  # what a row gives, without the row
            rows = np.zeros((1, rows.shape[1]))
        elif n_rows == 0:
            rows = rows.reindex([0])
        return np.asarray(getattr(model, self.method)(rows, **self.arguments))[:n_rows]
