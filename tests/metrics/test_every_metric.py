"""Every metric with every objective: a number, or an error that says what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import gossamer as gs
from gossamer.params import TABLE, resolve

CHOICES = TABLE["metric"].choices
METRICS = [name for name in CHOICES if name not in ("custom", "ams")]
SPELLINGS = ["quantile@0.3", "tweedie-nloglik@1.2", "binary_error@0.3", "ams@0.2"]
SPELLINGS += ["multi_error@2", "ndcg@3", "map@3", "pre@3", "ndcg@3-"]
RNG = np.random.default_rng(0)
N_ROWS = 100
X = RNG.normal(size=(N_ROWS, 3))
SIGNAL = X[:, 0] + 0.3 * RNG.normal(size=N_ROWS)
ZERO_ONE = (SIGNAL > 0).astype(float)
TWO = np.column_stack([ZERO_ONE, 1 - ZERO_ONE])
GROUP = {"group": [10] * 10}


def squares(scores: Any, data: gs.Dataset) -> Any:
    label = np.asarray(data.get_label())
    return scores - label.reshape(scores.shape[0], -1).reshape(scores.shape), np.ones_like(scores)


def pulls(scores: Any, data: gs.Dataset) -> Any:
    return scores - X, np.ones_like(scores)


# Objective: parameters, labels, fields.
MODELS: dict[str, tuple[dict[str, Any], npt.NDArray[Any], dict[str, Any]]] = {
    "regression": ({}, SIGNAL, {}),
    "reg_sqrt": ({"reg_sqrt": True}, SIGNAL, {}),
    "poisson": ({"objective": "poisson"}, ZERO_ONE, {}),
    "hinge": ({"objective": "hinge"}, ZERO_ONE, {}),
    "binary": ({"objective": "binary"}, ZERO_ONE, {}),
    "cross_entropy": ({"objective": "cross_entropy"}, ZERO_ONE, {}),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, ZERO_ONE * 2, {}),
    "multi:softmax": ({"objective": "multi:softmax", "num_class": 3}, ZERO_ONE * 2, {}),
    "multiclassova": ({"objective": "multiclassova", "num_class": 2}, ZERO_ONE, {}),
    "quantiles": ({"objective": "quantile", "quantile_alpha": [0.3, 0.7]}, SIGNAL, {}),
    "gaussian": ({"objective": "gaussian"}, SIGNAL, {}),
    "cox": ({"objective": "cox"}, np.exp(SIGNAL), {}),
    "aft": ({"objective": "aft"}, np.exp(SIGNAL), {}),
    "intervals": ({"objective": "aft"}, np.column_stack([np.exp(SIGNAL)] * 2), {}),
    "lambdarank": ({"objective": "lambdarank"}, ZERO_ONE, GROUP),
    "two targets": ({}, TWO, {}),
    "two labels": ({"objective": "binary"}, TWO, GROUP),
    "a function": ({"objective": squares}, SIGNAL, {}),
    "a function of two targets": ({"objective": squares}, TWO, {}),
    "a function of three scores": ({"objective": pulls, "num_class": 3}, ZERO_ONE, {}),
    "a function of one score for two targets": (
        {"objective": lambda s, d: (s - 0.5, np.ones_like(s)), "num_class": 1},
        TWO,
        {},
    ),
}
MODELS |= {
    f"{name}, one tree": ({**params, "multi_strategy": "multi_output_tree"}, label, fields)
    for name, (params, label, fields) in MODELS.items()
    if name in ("multiclass", "quantiles", "gaussian", "two labels", "a function of two targets")
}


def evaluate(model: str, metric: str | None) -> dict[str, Any]:
    """Train two rounds; return the metrics, and what a metric function was given."""
    params, label, fields = MODELS[model]
    small = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "num_leaves": 5}
    data = gs.Dataset(X, label, **fields)
    seen: list[npt.NDArray[Any]] = []

    def look(predictions: npt.NDArray[Any], of: gs.Dataset) -> tuple[str, float, bool]:
        seen.append(predictions.copy())
        return "mine", 1.0, True

    history: dict[str, Any] = {}
    booster = gs.train(
        {**small, **params, "metric": metric, "is_provide_training_metric": True},
        data,
        2,
        valid_sets=[gs.Dataset(X, label, reference=data, **fields)],
        feval=look,
        callbacks=[gs.record_evaluation(history)],
    )
    np.testing.assert_array_equal(seen[-1], booster.predict(X))
    assert history["training"] == history["valid_0"]
    return history["valid_0"]


@pytest.mark.parametrize("model", MODELS)
def test_a_number_or_a_precise_error(model: str) -> None:
    for metric in (*METRICS, *SPELLINGS):
        try:
            found = evaluate(model, metric)
        except gs.GossamerError as error:
            assert "metric" in str(error), metric
            assert metric.partition("@")[0] in str(error)
        else:
            assert found.pop("mine") == [1.0, 1.0], metric
            assert found, metric
            assert np.isfinite(list(found.values())).all(), metric


@pytest.mark.parametrize("model", MODELS)
def test_every_objective_has_a_metric_of_its_own(model: str) -> None:
    found = evaluate(model, None)
    assert len(found) > 1 or model.startswith("a function")
    assert np.isfinite(list(found.values())).all()


def test_aliases_are_the_same_metric() -> None:
    for name, aliases in CHOICES.items():
        for alias in aliases:
            resolved = resolve({"metric": alias}, context="dataset").metric
            assert resolved == (() if name == "custom" else (name,)), alias


@pytest.mark.parametrize(
    "metric", ["multi_logloss", "multi_error", "multi_error@2", "auc_mu", "multi_auc"]
)
@pytest.mark.parametrize("label", [-1.0, 0.5, 3.0, 1e30])
def test_labels_that_are_no_classes(metric: str, label: float) -> None:
    params = {"objective": pulls, "num_class": 3, "metric": metric, "verbosity": -1}
    booster = gs.Booster(params, gs.Dataset(X, np.where(np.arange(N_ROWS) == 7, label, ZERO_ONE)))
    booster.update()
    with pytest.raises(gs.DataError, match="label of row 7 of the evaluated data is outside the"):
        booster.eval_train()


@pytest.mark.parametrize("alpha", [0.3, 0.123456789])
def test_the_quantile_loss_of_any_objective(alpha: float) -> None:
    found = evaluate("regression", f"quantile@{alpha}")[f"quantile@{alpha}"]
    model = gs.train(
        {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "num_leaves": 5},
        gs.Dataset(X, SIGNAL),
        2,
    )
    error = SIGNAL.astype(np.float32) - model.predict(X)
    expected = np.mean(np.maximum(alpha * error, (alpha - 1) * error))
    assert found[-1] == pytest.approx(expected)


@pytest.mark.parametrize("argument", ["0", "1", "1.5", "x", "-0.1", "nan"])
@pytest.mark.parametrize("model", ["regression", "quantiles"])
def test_what_is_no_quantile(model: str, argument: str) -> None:
    with pytest.raises(gs.ParameterError, match="quantile"):
        evaluate(model, f"quantile@{argument}")


def test_quantiles_that_hardly_differ_are_two_metrics() -> None:
    params = {"objective": "quantile", "quantile_alpha": [0.1234567, 0.1234568], "verbosity": -1}
    metric = ["quantile@0.1234567", "quantile@0.1234568"]
    booster = gs.Booster({**params, "metric": metric}, gs.Dataset(X, SIGNAL))
    assert [result.metric_name for result in booster.eval_train()] == metric
