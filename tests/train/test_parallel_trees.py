"""Boosted forests (`num_parallel_tree`): several trees of each output in a round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer import (
    Booster,
    Dataset,
    ModelFileError,
    ParameterError,
    checkpoint,
    cv,
    early_stopping,
    files,
    reset_parameter,
    threads,
    train,
)
from gossamer.callbacks import CallbackEnv
from gossamer.model.files import model_file

RNG = np.random.default_rng(6)
N_ROWS = 400
TABLE = RNG.normal(size=(N_ROWS, 6)).round(2)
SIGNAL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2]
LABEL = SIGNAL + 0.5 * RNG.normal(size=N_ROWS)
CLASSES = np.digitize(LABEL, [-0.5, 0.5])
BASE: dict[str, Any] = {
    "num_leaves": 7,
    "num_parallel_tree": 3,
    "subsample": 0.7,
    "colsample_bynode": 0.6,
    "learning_rate": 0.3,
    "verbosity": -1,
    "num_threads": 1,
}
MULTICLASS = {"objective": "multiclass", "num_class": 3}
CASES: dict[str, dict[str, Any]] = {
    "l2": {},
    "l1": {"objective": "regression_l1"},
    "huber linear": {"objective": "huber", "linear_tree": True},
    "multiclass": MULTICLASS,
    "vector": {**MULTICLASS, "multi_strategy": "multi_output_tree"},
    "dart": {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0},
    "dart multiclass": {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0, **MULTICLASS},
    "dart l1": {"boosting": "dart", "drop_rate": 0.5, "objective": "l1"},
    "rf": {"boosting": "rf"},
    "rf l1": {"boosting": "rf", "objective": "l1"},
    "goss": {"data_sample_strategy": "goss", "subsample": 1.0, "learning_rate": 0.9},
    "mvs": {"data_sample_strategy": "mvs", "objective": "binary"},
    "exact l1": {"tree_method": "exact", "objective": "l1"},
    "approx": {"tree_method": "approx"},
    "bagging in pairs": {"bagging_freq": 2},
}


def label_of(params: dict[str, Any]) -> Any:
    if "num_class" in params:
        return CLASSES
    return LABEL > 0 if params.get("objective") == "binary" else LABEL


def make(name: str, n_rounds: int = 5, **arguments: Any) -> Booster:
    changes = arguments.pop("changes", {})
    params = {**BASE, **CASES[name], **changes}
    return train(params, Dataset(TABLE, label_of(params)), n_rounds, **arguments)


def trees_per_set(name: str) -> int:
    return 3 if "multiclass" in name else 1


@pytest.mark.parametrize("name", CASES)
def test_counts_and_slices(name: str) -> None:
    booster = make(name)
    k = 3 * trees_per_set(name)
    assert booster.num_model_per_iteration() == k
    assert (booster.num_trees(), booster.current_iteration()) == (5 * k, 5)
    for model in (booster, Booster(model_str=booster.model_to_string())):
        assert (model.num_trees(), model.current_iteration()) == (5 * k, 5)
        assert model.num_model_per_iteration() == k
        raw = model.predict(TABLE, raw_score=True)
        first = model.predict(TABLE, raw_score=True, num_iteration=2)
        rest = model.predict(TABLE, raw_score=True, start_iteration=2)
        if "rf" in name:
            start = model.model.start
            np.testing.assert_allclose((2 * (first - start) + 3 * (rest - start)) / 5, raw - start)
        else:
            np.testing.assert_allclose(first + rest, raw, atol=1e-12)
        assert model.predict(TABLE, pred_leaf=True, num_iteration=2).shape == (N_ROWS, 2 * k)
    if "dart" not in name:  # where later rounds change the weights of those before
        part = Booster(model_str=booster.model_to_string(num_iteration=2))
        np.testing.assert_array_equal(part.predict(TABLE, raw_score=True), first)
        np.testing.assert_array_equal(make(name, 2).predict(TABLE, raw_score=True), first)


@pytest.mark.parametrize("name", CASES)
def test_scores_are_those_of_the_model_and_rounds_can_be_taken_back(name: str) -> None:
    params = {**BASE, **CASES[name]}
    data = Dataset(TABLE, label_of(params))
    valid = Dataset(TABLE, label_of(params), reference=data)
    booster = train(params, data, 4, valid, keep_training_booster=True)
    training = booster.training
    assert training is not None
    text, before = booster.model_to_string(), training.train.score.copy()
    np.testing.assert_array_equal(training.train.score, training.valid[0].score)
    if "rf" not in name:
        raw = booster.predict(TABLE, raw_score=True)
        np.testing.assert_array_equal(raw.T.reshape(-1), before)
    booster.update()
    assert booster.current_iteration() == 5
    booster.rollback_one_iter()
    assert booster.model_to_string() == text
    np.testing.assert_array_equal(training.train.score, before)
    if "linear" not in name and "dart" not in name:
        booster.shuffle_models()
        assert booster.num_trees() == 4 * 3 * trees_per_set(name)


@pytest.mark.parametrize("name", CASES)
def test_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
    found = {make(name, 3, changes={"num_threads": n}).model_to_string() for n in (1, 2, 3, 8)}
    assert len(found) == 1


@pytest.mark.parametrize("name", CASES)
def test_one_tree_is_what_it_always_was(name: str) -> None:
    one = make(name, changes={"num_parallel_tree": 1})
    params = {key: value for key, value in BASE.items() if key != "num_parallel_tree"}
    params |= CASES[name]
    plain = train(params, Dataset(TABLE, label_of(params)), 5)
    np.testing.assert_array_equal(one.predict(TABLE), plain.predict(TABLE))
    one.model.params.pop("num_parallel_tree")
    assert model_file.to_bytes(one.model) == model_file.to_bytes(plain.model)


@pytest.mark.parametrize("name", ["l2", "multiclass", "l1"])
def test_trees_of_a_round_know_nothing_of_each_other(name: str) -> None:
    """Without chance all are the same, and together one tree."""
    plain = {"subsample": 1.0, "colsample_bynode": 1.0}
    many = make(name, changes=plain)
    one = make(name, changes={**plain, "num_parallel_tree": 1})
    np.testing.assert_allclose(many.predict(TABLE), one.predict(TABLE), rtol=1e-5, atol=1e-5)
    k = trees_per_set(name)
    forest = many.model.forest
    for t in range(0, forest.n_trees, 3 * k):
        for other in (t + k, t + 2 * k):
            a, b = forest.tree(t), forest.tree(other)
            np.testing.assert_array_equal(a.leaf_value, b.leaf_value)
            np.testing.assert_array_equal(a.column, b.column)


@pytest.mark.parametrize(
    "chance",
    [{"subsample": 1.0}, {"colsample_bynode": 1.0}, {"data_sample_strategy": "mvs"}],
    ids=str,
)
def test_trees_of_a_round_differ_by_chance(chance: dict[str, Any]) -> None:
    forest = make("l2", 1, changes=chance).model.forest
    values = [forest.tree(t).leaf_value.tobytes() for t in range(3)]
    assert len(set(values)) == 3


def test_a_forest_of_one_round_is_as_good_as_a_random_forest() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000, 10))
    signal = table[:, 0] + np.sin(2 * table[:, 1]) + table[:, 2] * table[:, 3]
    label = (signal + 0.7 * rng.normal(size=3000) > 0).astype(int)
    params = {
        "objective": "binary",
        "num_parallel_tree": 100,
        "learning_rate": 1,
        "subsample": 0.8,
        "colsample_bynode": 0.8,
        "num_leaves": 256,
        "min_data_in_leaf": 3,
        "lambda_l2": 1.0,
        "num_threads": 2,
        "verbosity": -1,
    }
    ours = train(params, Dataset(table[:2000], label[:2000]), 1)
    assert (ours.num_trees(), ours.current_iteration()) == (100, 1)
    theirs = ensemble.RandomForestClassifier(100, random_state=0).fit(table[:2000], label[:2000])
    accuracy = np.mean((ours.predict(table[2000:]) > 0.5) == label[2000:])
    assert accuracy > theirs.score(table[2000:], label[2000:]) - 0.02


class Stop(Exception):
    """Ends a training half-way."""


@pytest.mark.parametrize("name", CASES)
def test_checkpoints(name: str, tmp_path: Path) -> None:
    def stop(env: CallbackEnv) -> None:
        if env.iteration == 2:
            raise Stop

    def go_on(env: CallbackEnv) -> None:
        pass

    stop.__qualname__ = go_on.__qualname__ = "same"
    path = tmp_path / "checkpoint"
    with pytest.raises(Stop):
        make(name, callbacks=[stop, checkpoint(path, every_rounds=1)])
    again = make(name, callbacks=[go_on, checkpoint(path, every_rounds=1)])
    assert again.model_to_string() == make(name).model_to_string()


def test_init_model() -> None:
    half, whole = make("multiclass", 2), make("multiclass", 5)
    both = make("multiclass", 3, init_model=half)
    assert both.model_to_string() == whole.model_to_string()
    assert both.current_iteration() == 5
    with pytest.raises(ParameterError, match="init_model has another num_parallel_tree: got 2"):
        make("multiclass", 3, init_model=half, changes={"num_parallel_tree": 2})
    with pytest.raises(ParameterError, match="num_parallel_tree cannot change"):
        booster = Booster({**BASE}, Dataset(TABLE, LABEL))
        booster.update()
        booster.reset_parameter({"num_parallel_tree": 4})


def test_early_stopping_and_best_iteration() -> None:
    data = Dataset(TABLE[:300], LABEL[:300])
    valid = Dataset(TABLE[300:], LABEL[300:], reference=data)
    params = {**BASE, "learning_rate": 0.9}
    booster = train(params, data, 200, valid, callbacks=[early_stopping(3, verbose=False)])
    best = booster.best_iteration
    assert 0 < best < 200
    at_best = booster.predict(TABLE[300:])
    np.testing.assert_array_equal(at_best, booster.predict(TABLE[300:], num_iteration=best))
    assert booster.num_trees() == 3 * best
    found = np.mean((at_best - LABEL[300:]) ** 2)
    assert found == pytest.approx(booster.best_score["valid_0"]["l2"], rel=1e-5)


def test_cv() -> None:
    found = cv({**BASE, **MULTICLASS}, Dataset(TABLE, CLASSES), 4, nfold=3, return_cvbooster=True)
    assert [b.num_trees() for b in found["cvbooster"].boosters] == [36, 36, 36]


@pytest.mark.parametrize("name", ["l2", "l1", "multiclass", "vector", "mvs"])
def test_refit(name: str) -> None:
    """On the same rows, without sampling, leaves find the values that they had."""
    changes = {"subsample": 1.0, "colsample_bynode": 0.7, "other_rate": 0.8, "top_rate": 0.2}
    booster = make(name, changes=changes)
    again = booster.refit(TABLE, label_of({**BASE, **CASES[name]}), decay_rate=0.0)
    assert again.num_model_per_iteration() == booster.num_model_per_iteration()
    np.testing.assert_allclose(again.predict(TABLE), booster.predict(TABLE), rtol=2e-3, atol=2e-3)


def test_every_tree_weighs_a_third() -> None:
    forest = make("l2", 1, changes={"subsample": 1.0, "colsample_bynode": 1.0}).model.forest
    one = make("l2", 1, changes={"num_parallel_tree": 1, "subsample": 1.0, "colsample_bynode": 1})
    np.testing.assert_allclose(
        forest.tree(0).leaf_value * 3, one.model.forest.tree(0).leaf_value, rtol=1e-12
    )


def test_model_file_says_how_many() -> None:
    booster = make("multiclass")
    arrays, facts = files.from_bytes(model_file.to_bytes(booster.model))
    assert (facts["version"], facts["n_parallel"]) == (3, 3)
    for broken in (0, -1, 2, 3.0, "3", True, 10**30):
        content = files.to_bytes(arrays, {**facts, "n_parallel": broken})
        with pytest.raises(ModelFileError):
            model_file.from_bytes(content)
    with pytest.raises(ModelFileError):
        model_file.from_bytes(files.to_bytes(arrays, {**facts, "version": 2}))
    _, facts = files.from_bytes(
        model_file.to_bytes(make("l2", changes={"num_parallel_tree": 1}).model)
    )
    assert facts["version"] == 1 and "n_parallel" not in facts


def test_learning_rates_by_round() -> None:
    rates = [0.9, 0.3]
    plain = {"subsample": 1.0, "colsample_bynode": 1.0}
    changed = make("l2", 2, changes=plain, callbacks=[reset_parameter(learning_rate=rates)])
    constant = make("l2", 1, changes={**plain, "learning_rate": 0.9})
    first = changed.predict(TABLE, num_iteration=1)
    np.testing.assert_array_equal(first, constant.predict(TABLE))


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", 10**9])
def test_bad_values(value: Any) -> None:
    with pytest.raises(ParameterError, match="num_parallel_tree"):
        make("l2", changes={"num_parallel_tree": value})
