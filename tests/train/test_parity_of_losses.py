"""Every objective that LightGBM has too is not less accurate than LightGBM's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer.data import Targets
from gossamer.metrics import make_metrics
from gossamer.objectives import Regression
from gossamer.params import resolve

lightgbm = pytest.importorskip("lightgbm")

N_TRAIN, N_TEST = 2000, 3000


def make(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(N_TRAIN + N_TEST, 6))
    signal = table[:, 0] + np.sin(2 * table[:, 1]) + table[:, 2] * table[:, 3]
    label = {
        "heavy": lambda: signal + rng.standard_t(2, len(table)),
        "count": lambda: rng.poisson(np.exp(0.5 * signal)),
        "amount": lambda: np.exp(0.5 * signal) * rng.gamma(2, 0.5, len(table)) + 1e-3,
        "share": lambda: 1 / (1 + np.exp(-signal - rng.normal(size=len(table)))),
        "root": lambda: signal * np.abs(signal) + rng.normal(size=len(table)),
    }[kind]()
    return table, label


@pytest.mark.parametrize(
    ("params", "kind", "metric"),
    [
        ({"objective": "regression_l1"}, "heavy", "l1"),
        ({"objective": "huber"}, "heavy", "huber"),
        ({"objective": "fair"}, "heavy", "fair"),
        ({"objective": "quantile", "alpha": 0.9}, "heavy", "quantile"),
        ({"objective": "quantile", "alpha": 0.2}, "heavy", "quantile"),
        ({"objective": "mape"}, "amount", "mape"),
        ({"objective": "poisson"}, "count", "poisson"),
        ({"objective": "tweedie"}, "count", "tweedie"),
        ({"objective": "gamma"}, "amount", "gamma"),
        ({"objective": "cross_entropy"}, "share", "cross_entropy"),
        ({"objective": "cross_entropy_lambda"}, "share", "cross_entropy_lambda"),
        ({"objective": "regression", "reg_sqrt": True}, "root", "l2"),
    ],
    ids=str,
)
def test_losses_are_not_larger(params: dict[str, Any], kind: str, metric: str) -> None:
    (measure,) = make_metrics(resolve({**params, "metric": metric}), Regression())
    losses = np.empty((4, 2))
    for seed in range(len(losses)):
        table, label = make(seed, kind)
        targets = Targets(label[N_TRAIN:].astype(np.float32))
        for i, library in enumerate((gossamer, lightgbm)):
            data = library.Dataset(table[:N_TRAIN], label[:N_TRAIN])
            model = library.train({**params, "verbosity": -1, "num_threads": 1}, data, 50)
            losses[seed, i] = measure.evaluate(
                model.predict(table[N_TRAIN:]), targets, Regression()
            )
    ours, theirs = losses.mean(axis=0)
    assert ours < theirs + 0.01 * abs(theirs)
