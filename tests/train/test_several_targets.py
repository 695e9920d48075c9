"""Labels of shape (rows, targets): one tree per target and round."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import (
    Booster,
    DataError,
    Dataset,
    ModelFileError,
    ParameterError,
    train,
)
from gossamer.objectives import Regression, SeveralTargets, objective_from_config

N_ROWS = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 4))
WEIGHT = RNG.random(N_ROWS) + 0.5
NUMBERS = np.column_stack([X[:, 0] * 3 + 5, X[:, 1] ** 2, 100 * X[:, 2] + RNG.normal(size=N_ROWS)])
LABELS = np.column_stack([X[:, 0] > 0, X[:, 1] > 1, X[:, 2] + RNG.normal(size=N_ROWS) > 0])
QUIET = {"verbosity": -1, "min_data_in_leaf": 5, "num_leaves": 8}
KINDS: dict[str, tuple[dict[str, Any], np.ndarray]] = {
    "regression": ({"objective": "regression"}, NUMBERS),
    "binary": ({"objective": "binary", "sigmoid": 0.7}, LABELS),
    "unbalanced": ({"objective": "binary", "is_unbalance": True}, LABELS),
    "positive weight": ({"objective": "binary", "scale_pos_weight": 3.0}, LABELS),
    "base score": ({"objective": "binary", "base_score": 0.25}, LABELS),
    "bagging": ({"bagging_fraction": 0.5, "bagging_freq": 2}, NUMBERS),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def fit(kind: str, y: Any, n_rounds: int = 5, **fields: Any) -> Booster:
    return train({**KINDS[kind][0], **QUIET}, Dataset(X, y, **fields), n_rounds)


@every_kind
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_same_bits_as_one_model_per_target(kind: str, weight: Any) -> None:
    y = KINDS[kind][1]
    together = fit(kind, y, weight=weight)
    alone = [fit(kind, y[:, k], weight=weight) for k in range(3)]
    for raw_score in (False, True):
        expected = np.column_stack([model.predict(X, raw_score=raw_score) for model in alone])
        found = together.predict(X, raw_score=raw_score)
        np.testing.assert_array_equal(found, expected)
    assert together.num_model_per_iteration() == 3
    assert together.num_trees() == 15


@every_kind
def test_metrics_are_means_over_targets(kind: str) -> None:
    params, y = KINDS[kind]
    metric = ["auc", "binary_logloss", "binary_error"] if y is LABELS else ["l2", "rmse", "l1"]

    def history(label: Any) -> dict[str, list[float]]:
        data = Dataset(X[:300], label[:300])
        valid = data.create_valid(X[300:], label[300:], weight=WEIGHT[300:])
        model = train({**params, **QUIET, "metric": metric}, data, 4, valid_sets=[valid])
        return model.best_score["valid_0"]

    found, parts = history(y), [history(y[:, k]) for k in range(3)]
    assert list(found) == metric
    for name in metric:
        assert found[name] == pytest.approx(np.mean([part[name] for part in parts]), rel=1e-12)


def test_default_metric_and_early_stopping() -> None:
    data = Dataset(X[:300], NUMBERS[:300])
    valid = data.create_valid(X[300:], NUMBERS[300:])
    model = train({**QUIET, "early_stopping_round": 3}, data, 200, valid_sets=[valid])
    assert list(model.best_score["valid_0"]) == ["l2"]
    error = (model.predict(X[300:]) - NUMBERS[300:].astype(np.float32)) ** 2
    assert model.best_score["valid_0"]["l2"] == pytest.approx(error.mean(), rel=1e-6)
    assert model.num_trees() == 3 * model.best_iteration


def test_feval_sees_rows_by_targets() -> None:
    seen = []

    def feval(predictions: np.ndarray, data: Dataset) -> tuple[str, float, bool]:
        seen.append((predictions.shape, data.get_label().shape, predictions.max()))
        return "seen", 1.0, True

    data = Dataset(X, LABELS)
    train({**QUIET, "objective": "binary"}, data, 2, valid_sets=[data], feval=feval)
    assert [s[:2] for s in seen] == [((N_ROWS, 3), (N_ROWS, 3))] * 2
    assert max(s[2] for s in seen) < 1


@settings(max_examples=25, deadline=None)
@given(
    n_rows=st.integers(2, 60),
    n_targets=st.integers(2, 5),
    n_rounds=st.integers(0, 3),
    objective=st.sampled_from(["regression", "binary"]),
    goss=st.booleans(),
)
def test_shapes(n_rows: int, n_targets: int, n_rounds: int, objective: str, goss: bool) -> None:
    rng = np.random.default_rng(n_rows)
    x, y = rng.normal(size=(n_rows, 2)), rng.integers(0, 2, (n_rows, n_targets))
    params = {"objective": objective, "verbosity": -1, "min_data_in_leaf": 1}
    if goss:
        params |= {"data_sample_strategy": "goss", "learning_rate": 1.0}
    model = train(params, Dataset(x, y), n_rounds)
    assert model.predict(x).shape == (n_rows, n_targets)
    assert model.predict(x[:1]).shape == (1, n_targets)
    n_trees = model.num_trees()
    assert n_trees % n_targets == 0
    assert model.predict(x, pred_leaf=True).shape == (n_rows, n_trees)


@every_kind
def test_copies_and_files(kind: str, tmp_path: Path) -> None:
    model = fit(kind, KINDS[kind][1])
    expected = model.predict(X)
    model.save_model(tmp_path / "model.safetensors")
    for again in (
        Booster(model_file=tmp_path / "model.safetensors"),
        Booster(model_str=model.model_to_string()),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        np.testing.assert_array_equal(again.predict(X), expected)
    assert model.model_to_string(num_iteration=2).count("\n") > 3


def test_init_score_and_rollback() -> None:
    init = RNG.normal(size=(N_ROWS, 3))
    together = fit("regression", NUMBERS, init_score=init)
    for k in range(3):
        alone = fit("regression", NUMBERS[:, k], init_score=init[:, k])
        np.testing.assert_array_equal(together.predict(X)[:, k], alone.predict(X))
    with pytest.raises(DataError, match=r"init_score.*400 numbers.*400 rows x 3 outputs"):
        fit("regression", NUMBERS, init_score=init[:, 0])
    booster = Booster(QUIET, Dataset(X, NUMBERS))
    booster.update()
    before = booster.predict(X)
    booster.update()
    assert (booster.rollback_one_iter().predict(X) == before).all()


def test_data_sets_keep_the_shape(tmp_path: Path) -> None:
    data = Dataset(X, NUMBERS, init_score=NUMBERS).construct()
    for name in ("label", "init_score"):
        np.testing.assert_allclose(data.get_field(name), NUMBERS, rtol=1e-6)
    np.testing.assert_array_equal(data.get_label(), NUMBERS.astype(np.float32))
    data.save_binary(tmp_path / "data.bin")
    again = Dataset(tmp_path / "data.bin").construct()
    np.testing.assert_array_equal(again.get_label(), data.get_label())
    rows = np.arange(0, N_ROWS, 3)
    subset = data.subset(rows).construct()
    np.testing.assert_array_equal(subset.get_label(), data.get_label()[rows])
    np.testing.assert_array_equal(subset.get_init_score(), NUMBERS[rows])
    models = [train(QUIET, d, 3).model_to_string() for d in (data, again)]
    assert models[0] == models[1]
    assert train(QUIET, subset, 3).predict(X).shape == (N_ROWS, 3)


def test_a_target_that_cannot_be_split_stays_constant() -> None:
    y = np.column_stack([NUMBERS[:, 0], np.full(N_ROWS, 7.0)])
    found = fit("regression", y).predict(X)
    assert (found[:, 1] == 7).all()
    np.testing.assert_array_equal(found[:, 0], fit("regression", y[:, 0]).predict(X))


def test_labels_that_do_not_fit() -> None:
    bad = LABELS.astype(float)
    bad[7, 1] = 2
    with pytest.raises(DataError, match=r"target 1: label of row 7 of the training data.*2\.0"):
        fit("binary", bad)
    infinite = NUMBERS[:, :2].copy()
    infinite[3, 1] = np.inf
    with pytest.raises(DataError, match=r"row 3, target 1 of the training data is infinite"):
        fit("regression", infinite)
    with pytest.raises(DataError, match="target 0: labels are too large"):
        fit("regression", np.column_stack([np.full(N_ROWS, 3e38), NUMBERS[:, 0]]))


@pytest.mark.parametrize(("n_train", "n_valid"), [(3, 2), (3, 1), (1, 3)])
def test_validation_data_of_other_targets(n_train: int, n_valid: int) -> None:
    data = Dataset(X, NUMBERS[:, :n_train])
    valid = data.create_valid(X, NUMBERS[:, :n_valid])
    with pytest.raises(DataError, match=rf"'valid_0'.*targets.*got {n_valid}, expected {n_train}"):
        train(QUIET, data, 1, valid_sets=[valid])


def test_validation_labels_that_do_not_fit() -> None:
    data, y = Dataset(X, LABELS), LABELS.astype(float)
    y[2, 2] = 0.5
    with pytest.raises(DataError, match=r"target 2: label of row 2 of the valid_0 data"):
        train({**QUIET, "objective": "binary"}, data, 1, valid_sets=[data.create_valid(X, y)])


@pytest.mark.parametrize(
    ("params", "error", "text"),
    [
        ({"objective": "multiclass", "num_class": 3}, ParameterError, "3 targets at once"),
        ({"objective": "regression", "num_class": 3}, ParameterError, "num_class"),
        ({"metric": "multi_logloss"}, ParameterError, "multi_logloss"),
        ({"multi_strategy": "several"}, ParameterError, "multi_strategy"),
        (
            {"objective": "binary", "pos_bagging_fraction": 0.5, "bagging_freq": 1},
            ParameterError,
            "pos_bagging_fraction.*3 targets",
        ),
    ],
)
def test_parameters_that_do_not_fit(params: dict[str, Any], error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        train({**QUIET, **params}, Dataset(X, LABELS.astype(float)), 1)


@pytest.mark.parametrize(
    "config",
    [
        {"name": "several_targets"},
        {"name": "several_targets", "parts": []},
        {"name": "several_targets", "parts": [{"name": "regression"}]},
        {"name": "several_targets", "parts": [{"name": "regression"}, {"name": "new"}]},
        {"name": "several_targets", "parts": [{"name": "multiclass", "num_class": 3}] * 2},
        {"name": "several_targets", "parts": [{"name": "several_targets", "parts": []}] * 2},
        {"name": "custom_link", "num_class": 1, "link": "none such"},
        {"name": "custom_link", "num_class": 1},
    ],
    ids=str,
)
def test_broken_descriptions_in_files(config: dict[str, Any]) -> None:
    with pytest.raises(ModelFileError):
        objective_from_config(config)


def test_description_in_files() -> None:
    objective = SeveralTargets((Regression(), Regression()))
    assert objective_from_config(objective.to_config()) == objective


def test_callable_has_an_output_per_target() -> None:
    shapes = set()

    def squares(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        shapes.add((score.shape, data.get_label().shape))
        return score - data.get_label(), np.ones_like(score)

    params = {**QUIET, "metric": ["l2"]}
    data = Dataset(X, NUMBERS)
    own = train({**params, "objective": squares}, data, 5, valid_sets=[data])
    built_in = train({**params, "boost_from_average": False}, data, 5, valid_sets=[data])
    assert shapes == {((N_ROWS, 3), (N_ROWS, 3))}
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), rtol=1e-3, atol=1e-2)
    assert own.best_score["training"]["l2"] == pytest.approx(
        built_in.best_score["training"]["l2"], rel=1e-3
    )
    again = Booster(model_str=own.model_to_string())
    np.testing.assert_array_equal(again.predict(X), own.predict(X))


def test_callable_may_have_other_outputs_than_targets() -> None:
    def middle(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        return score - data.get_label().mean(axis=1), np.ones_like(score)

    params = {**QUIET, "objective": middle, "num_class": 1}
    model = train(params, Dataset(X, NUMBERS), 3)
    assert model.predict(X).shape == (N_ROWS,)
    with pytest.raises(ParameterError, match=r"l2.*1 outputs and 3 targets"):
        train({**params, "metric": "l2"}, Dataset(X, NUMBERS), 3)


def test_function_in_each_round() -> None:
    booster = Booster({**QUIET, "objective": "custom", "metric": "l2"}, Dataset(X, NUMBERS))
    with pytest.raises(DataError, match="has no function"):
        booster.update()
    for _ in range(5):
        booster.update(fobj=lambda s, d: (s - d.get_label(), np.ones_like(s)))
    expected = train({**QUIET, "boost_from_average": False}, Dataset(X, NUMBERS), 5).predict(X)
    np.testing.assert_allclose(booster.predict(X), expected, rtol=1e-3, atol=1e-2)
    error = ((booster.predict(X) - NUMBERS) ** 2).mean()
    assert booster.eval_train()[0].metric_value == pytest.approx(error, rel=1e-4)


def test_as_good_as_xgboost() -> None:
    xgb = pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 5))
    # No products of columns: which of them is split first is chance, and decides all.
    y = np.column_stack([x[:, 0] + x[:, 1] ** 2, np.sin(3 * x[:, 2])])
    y += 0.1 * rng.normal(size=y.shape)
    common = {"max_depth": 4, "eta": 0.2, "lambda": 0.0, "min_child_weight": 20}
    own = {"grow_policy": "depthwise", "min_data_in_leaf": 1, "verbosity": -1}
    ours = train({**common, **own}, Dataset(x[:2000], y[:2000]), 60)
    data = xgb.DMatrix(x[:2000], y[:2000])
    theirs = xgb.train({**common, "nthread": 1, "verbosity": 0}, data, 60)
    errors = [
        ((predicted - y[2000:]) ** 2).mean()
        for predicted in (ours.predict(x[2000:]), theirs.predict(xgb.DMatrix(x[2000:])))
    ]
    assert errors[0] < 1.05 * errors[1]
