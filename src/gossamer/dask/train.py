"""`train` and `predict` on a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask.array
import dask.dataframe
import numpy as np
import numpy.typing as npt
import pandas as pd
from dask.dataframe.dispatch import make_meta
from dask.delayed import delayed
from distributed import Client

from gossamer.callbacks import record_evaluation
from gossamer.dask.data import DaskDataset, to_shard
from gossamer.dask.run import run_job
from gossamer.dask.workers import Part
from gossamer.distributed import Group, SavedRounds, check_supported
from gossamer.distributed import train as train_shard
from gossamer.errors import DataTypeError, message
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

    def __call__(
        self,
        group: Group,
        rows: Sequence[Part],
        valid: Sequence[Sequence[Part]],
        rounds: SavedRounds,
    ) -> tuple[Booster, History]:
        history: History = {}
        train_set = to_shard(rows, *self.columns)
        valid_sets = [to_shard(parts, "auto", "auto") for parts in valid]
        if self.with_training is not None:
            valid_sets.insert(self.with_training, train_set)
        booster = train_shard(
            group,
            self.params,
            train_set,
            self.num_boost_round,
            valid_sets,
            self.valid_names,
            self.feval,
            self.init_model,
            [*self.callbacks, record_evaluation(history)],
            rounds,
        )
        return booster, history


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
        time_out: Seconds without a sign of life after which a worker counts as lost.
        max_restarts: How often training resumes from the finished rounds after a worker was lost.

    Raises:
        NotSupportedError: If parameters ask for something that workers cannot do together.
        WorkerError: If a function of yours failed on a worker, or too many workers were lost.
    """
    if not isinstance(data, DaskDataset):
        raise DataTypeError(
            message(
                "data must be a DaskDataset",
                got=type(data).__name__,
                expected="DaskDataset(data, label=...)",
            )
        )
    check_supported(params)
    sets = [valid_sets] if isinstance(valid_sets, DaskDataset) else list(valid_sets or [])
    names = [valid_names] if isinstance(valid_names, str) else valid_names
    job = _TrainJob(
        params,
        num_boost_round,
        (data.feature_name, data.categorical_feature),
        next((i for i, other in enumerate(sets) if other is data), None),
        names,
        feval,
        init_model,
        list(callbacks or ()),
    )
    others = [other.to_parts() for other in sets if other is not data]
    booster, history = run_job(client, job, data.to_parts(), others, time_out, max_restarts)
    if evals_result is not None:
        evals_result.update(history)
    found: Booster = booster
    return found


def predict(model: Any, data: Any, **kwargs: Any) -> dask.array.Array:
    """Predict the rows of a Dask array or frame, partition by partition, where they are.

    Args:
        model: A `Booster`, or a fitted estimator. It is sent to each worker once.
        data: A Dask array or frame.
        **kwargs: Arguments of `model.predict`: `raw_score`, `pred_leaf`, `pred_contrib`, ...

    Returns:
        A Dask array with the chunks of the data: one number per row, or several.
    """
    return map_rows(Predict("predict", kwargs), model, data)


def map_rows(function: Any, model: Any, data: Any) -> dask.array.Array:
    """Call function(model, rows) for each partition."""
    if isinstance(data, dask.dataframe.DataFrame):
        meta = _as_frame(
            function(model, make_meta(data))
        )  # of no rows: what a model gives for them
        return data.map_partitions(lambda rows: _as_frame(function(model, rows)), meta=meta).values
    sent = delayed(model, pure=True)
    if isinstance(data, dask.array.Array):
        if data.numblocks[1] > 1:
            data = data.rechunk({1: -1})
        example = np.asarray(function(model, np.zeros((2, data.shape[1]), dtype=data.dtype)))
        call = delayed(function)
        blocks = data.to_delayed().ravel()
        arrays = [
            dask.array.from_delayed(
                call(sent, block), (n_rows, *example.shape[1:]), dtype=example.dtype
            )
            for block, n_rows in zip(blocks, data.chunks[0], strict=True)
        ]
        return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)
    raise DataTypeError(
        message(
            "data is not in partitions",
            got=type(data).__name__,
            expected="a Dask array or frame",
            hint="Use the model's own predict() for tables in memory.",
        )
    )


def _as_frame(found: npt.NDArray[Any]) -> Any:
    return pd.Series(found) if found.ndim == 1 else pd.DataFrame(found)


@dataclass(frozen=True, eq=False)
class Predict:
    """Calls a method of a model."""

    method: str
    arguments: Mapping[str, Any]

    def __call__(self, model: Any, rows: Any) -> Any:
        """Return what the method returns for some rows."""
        n_rows = rows.shape[0]
        if n_rows == 0 and not hasattr(rows, "iloc"):  # what a row gives, without the row
            rows = np.zeros((1, rows.shape[1]))
        elif n_rows == 0:
            rows = rows.reindex([0])
        return np.asarray(getattr(model, self.method)(rows, **self.arguments))[:n_rows]
