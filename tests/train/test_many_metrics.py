"""Several metrics, data sets and metric functions in one training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer import DataError, Dataset, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
BINARY = (X[:, 0] + RNG.normal(size=400) > 0).astype(float)
CLASSES = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=400), [-0.5, 0.5]).astype(float)


def run(
    params: dict[str, Any], label: Any, n_rounds: int = 8, feval: Any = None, **kwargs: Any
) -> tuple[gs.Booster, dict[str, dict[str, list[float]]]]:
    data = Dataset(X[:200], label=label[:200])
    valid = [data.create_valid(X[200:300], label=label[200:300])]
    valid.append(data.create_valid(X[300:], label=label[300:]))
    history: dict[str, dict[str, list[float]]] = {}
    model = gs.train(
        {"verbosity": -1, "num_leaves": 4, **params},
        data,
        n_rounds,
        [data, *valid],
        ["train", "first", "second"],
        feval=feval,
        callbacks=[gs.record_evaluation(history), *kwargs.pop("callbacks", ())],
        **kwargs,
    )
    return model, history


def test_all_metrics_on_all_data_sets() -> None:
    metrics = ["auc", "binary_logloss", "average_precision", "aucpr", "error@0.3", "ams@0.2", "l2"]
    model, history = run({"objective": "binary", "metric": metrics}, BINARY)
    wanted = [name.replace("error", "binary_error") for name in metrics]
    assert list(history) == ["train", "first", "second"]
    for values in history.values():
        assert list(values) == wanted
        assert all(len(series) == 8 for series in values.values())
    assert model.best_score["second"]["aucpr"] == history["second"]["aucpr"][-1]
    predicted = model.predict(X[200:300])
    wrong = np.mean((predicted > 0.3) != BINARY[200:300])
    assert history["first"]["binary_error@0.3"][-1] == pytest.approx(wrong)


def test_several_classes() -> None:
    metrics = "multi_logloss,multi_error@2,multi_error,auc_mu"
    params = {"objective": "multiclass", "num_class": 3, "metric": metrics}
    _, history = run(params, CLASSES)
    values = history["first"]
    assert list(values) == ["multi_logloss", "multi_error@2", "multi_error", "auc_mu"]
    assert values["multi_error@2"][-1] <= values["multi_error"][-1]
    assert values["auc_mu"][-1] > 0.8


@pytest.mark.parametrize("order", [["auc", "binary_logloss"], ["binary_logloss", "auc"]])
def test_first_metric_only_watches_the_first(order: list[str]) -> None:
    params = {"objective": "binary", "metric": order, "learning_rate": 1.0}
    params |= {"early_stopping_round": 3, "first_metric_only": True}
    model, history = run(params, BINARY, 60)
    best = model.best_iteration - 1
    sign = -1 if order[0] == "auc" else 1
    # The data set that stopped it had its best round there, by the first metric.
    bests = [np.argmin(sign * np.array(history[name][order[0]])) for name in ("first", "second")]
    assert best in bests
    assert len(history["first"]["auc"]) < 60


def test_metric_functions_of_several_outputs_see_rows_and_outputs() -> None:
    shapes: list[Any] = []

    def hits(predictions: np.ndarray, data: Dataset) -> list[tuple[str, float, bool]]:
        shapes.append(predictions.shape)
        right = predictions.argmax(axis=1) == data.get_label()
        return [("hits", right.mean(), True), ("sum", predictions.sum(axis=1).mean(), True)]

    params = {"objective": "multiclass", "num_class": 3, "metric": "multi_error"}
    _, history = run(params, CLASSES, 3, feval=[hits, lambda p, d: ("one", 1.0, True)])
    assert shapes == [(200, 3), (100, 3), (100, 3)] * 3
    for values in history.values():
        assert list(values) == ["multi_error", "hits", "sum", "one"]
        assert values["hits"] == pytest.approx([1 - error for error in values["multi_error"]])
        assert values["sum"] == pytest.approx([1.0] * 3)


def test_metric_functions_cannot_change_the_scores() -> None:
    def change(predictions: np.ndarray, data: Dataset) -> tuple[str, float, bool]:
        predictions[:] = 0
        return "zero", 0.0, False

    plain, _ = run({"objective": "regression"}, BINARY)
    changed, _ = run({"objective": "regression"}, BINARY, feval=change)
    assert plain.model_to_string() == changed.model_to_string()


def test_exceptions_of_metric_functions_pass_through() -> None:
    def fails(predictions: np.ndarray, data: Dataset) -> Any:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        run({"objective": "binary"}, BINARY, feval=fails)


def test_metric_functions_alone_can_stop_the_training() -> None:
    values = iter([3, 1, 2, 2, 2, 2] * 3)
    feval = lambda p, d: ("mine", next(values), False)  # noqa: E731
    data = Dataset(X, label=BINARY)
    model = gs.train(
        {"objective": "binary", "metric": "None", "verbosity": -1, "early_stopping_round": 2},
        data,
        10,
        [data.create_valid(X, label=BINARY)],
        feval=feval,
    )
    assert model.best_iteration == 2
    assert model.best_score == {"valid_0": {"mine": 1.0}}


def test_metric_functions_whose_results_change() -> None:
    calls = iter(range(100))
    feval = lambda p, d: (f"mine{next(calls)}", 0.0, False)  # noqa: E731
    with pytest.raises(DataError, match="round 2 has other metrics than the first round"):
        run({"objective": "binary", "early_stopping_round": 2}, BINARY, feval=feval)


def valid_sets(data: Dataset) -> list[Dataset]:
    return [data.create_valid(X, label=BINARY), data.create_valid(X, label=BINARY)]


def test_more_names_than_data_sets() -> None:
    data = Dataset(X, label=BINARY)
    with pytest.raises(ParameterError, match="valid_names do not fit valid_sets"):
        gs.train({"verbosity": -1}, data, 1, valid_sets(data), ["a", "b", "c"])


@pytest.mark.parametrize("names", [["a", "a"], ["valid_1"], ["training", "b"]])
def test_two_data_sets_of_one_name(names: list[str]) -> None:
    data = Dataset(X, label=BINARY)
    params = {"verbosity": -1, "is_provide_training_metric": True}
    with pytest.raises(ParameterError, match="two data sets have the same name"):
        gs.train(params, data, 1, valid_sets(data), names)


def test_a_validation_set_may_have_the_name_of_training_data_that_is_not_evaluated() -> None:
    data = Dataset(X, label=BINARY)
    model = gs.train({"verbosity": -1}, data, 1, valid_sets(data), ["training", "b"])
    assert model.best_score["training"] == model.best_score["b"]


@pytest.mark.parametrize("objective", ["binary", "regression", "custom"])
def test_metrics_of_two_classes_with_any_objective(objective: str) -> None:
    def squares(score: np.ndarray, data: Dataset) -> Any:
        return score - data.get_label(), np.ones_like(score)

    metrics = ["auc", "average_precision", "binary_error@0.6"]
    params = {"objective": squares if objective == "custom" else objective, "metric": metrics}
    model, history = run(params, BINARY, 5)
    predicted, label = model.predict(X[300:]), BINARY[300:]
    lead = predicted[label == 1][:, None] - predicted[label == 0]
    auc = np.mean((lead > 0) + 0.5 * (lead == 0))
    precision = np.mean([label[predicted >= p].mean() for p in predicted[label == 1]])
    wrong = np.mean((predicted > 0.6) != label)
    found = [history["second"][name][-1] for name in metrics]
    assert found == pytest.approx([auc, precision, wrong])
