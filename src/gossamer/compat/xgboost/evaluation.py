"""Metrics of a model that is no longer in training, and lines of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.arguments import as_list
from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.metrics import their_metric
from gossamer.data import Dataset
from gossamer.data.dataset import built_data
from gossamer.errors import ParameterTypeError
from gossamer.metrics import make_metrics
from gossamer.model import Booster as CoreBooster
from gossamer.objectives import Objective
from gossamer.objectives.rank_pairs import PairRanking
from gossamer.params import resolve
from gossamer.threads import resolve_threads


class Score(NamedTuple):
    """One metric on one data set."""

    data: str
    metric: str
    value: float


def evaluate_scores(
    core: CoreBooster,
    data: DMatrix,
    name: str,
    score: npt.NDArray[np.float64],
    metrics: Sequence[str] = (),
) -> list[Score]:
    """Evaluate the metrics of a model on scores that it predicts.

    Args:
        core: The model.
        data: Has the labels.
        name: Name of the data.
        score: Scores, (rows,) or (rows, outputs).
        metrics: Our names of the metrics; none: as in its training.
    """
    n_rows, params, objective = data.num_row(), core.resolved_params, core.model.objective
    if metrics:
        params = resolve({**core.params, "metric": list(metrics)}, context="predict")
    # Labels, weights and queries as metrics read them; the table does not matter.
    rows = Dataset(
        np.zeros((n_rows, 1)),
        data.label_or_bounds(),
        weight=data.fields.get("weight"),
        group=_queries(data, objective),
    )
    targets = built_data(rows).targets
    class_major = np.ascontiguousarray(score.T).ravel() if score.ndim == 2 else score
    n_threads = resolve_threads(params.num_threads, n_rows, 1)
    return [
        Score(
            name,
            their_metric(metric.name),
            metric.evaluate(class_major, targets, objective, n_threads),
        )
        for metric in make_metrics(params, objective, targets.n_targets)
    ]


def _queries(data: DMatrix, objective: Objective) -> npt.NDArray[Any] | None:
    is_ranking = isinstance(objective, PairRanking)
    return data.one_query() if is_ranking and data.query_sizes is None else data.query_sizes


def format_scores(iteration: int, scores: Iterable[Score]) -> str:
    """Return results as one line of text.

    Example:
        >>> format_scores(3, [Score("eval", "rmse", 0.25)])
        '[3]\\teval-rmse:0.25000000000000000'
    """
    parts = [f"{score.data}-{score.metric}:{score.value:.17f}" for score in scores]
    return "\t".join([f"[{iteration}]", *parts])


def check_evals(evals: Any) -> list[tuple[DMatrix, str]]:
    """Return data sets to evaluate, and their names.

    Raises:
        ParameterTypeError: If these are not pairs of both.
    """
    try:
        pairs = [(data, str(name)) for data, name in as_list("evals", evals)]
    except (TypeError, ValueError):
        raise ParameterTypeError.because(
            "evals cannot be used", got=evals, expected="[(DMatrix, name), ...]"
        ) from None
    return pairs
