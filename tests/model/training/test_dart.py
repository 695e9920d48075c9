"""DART against plain bookkeeping in NumPy, and its way back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import Booster, Dataset, GossamerError, _native, early_stopping, train
from gossamer.model.training.dart import Dart, choose_dropped
from gossamer.params import resolve
from gossamer.sampling import make_key
from gossamer.sampling.keys import Stream

RNG = np.random.default_rng(7)
TABLE = RNG.normal(size=(900, 5))
SIGNAL = np.sin(2 * TABLE[:, 0]) + TABLE[:, 1] * TABLE[:, 2] + 0.3 * RNG.normal(size=900)
LABEL = 40 + SIGNAL
CLASSES = np.digitize(SIGNAL, [-0.7, 0.6])
TRAIN, VALID = slice(0, 600), slice(600, 900)
OFTEN = {"boosting": "dart", "drop_rate": 0.4, "skip_drop": 0.2, "num_leaves": 8, "verbosity": -1}
KINDS: dict[str, tuple[dict[str, Any], np.ndarray]] = {
    "regression": ({}, LABEL),
    "refitted": ({"objective": "regression_l1"}, LABEL),
    "binary": ({"objective": "binary"}, CLASSES > 0),
    "classes": ({"objective": "multiclass", "num_class": 3}, CLASSES),
    "vector": (
        {"objective": "multiclass", "num_class": 3, "multi_strategy": "multi_output_tree"},
        CLASSES,
    ),
    "bagging": ({"bagging_fraction": 0.5}, LABEL),
    "goss": ({"data_sample_strategy": "goss", "learning_rate": 0.5}, LABEL),
    "columns": ({"feature_fraction": 0.5, "extra_trees": True}, LABEL),
    "xgboost": ({"xgboost_dart_mode": True}, LABEL),
    "uniform": ({"uniform_drop": True, "max_drop": 2}, LABEL),
    "single trees": (
        {"objective": "multiclass", "num_class": 3, "drop_single_trees": True},
        CLASSES,
    ),
}


def make_booster(kind: str) -> Booster:
    params, label = KINDS[kind]
    data = Dataset(TABLE[TRAIN], label=label[TRAIN], free_raw_data=False)
    booster = Booster({**OFTEN, **params}, data)
    return booster.add_valid(data.create_valid(TABLE[VALID], label=label[VALID]), "valid")


def scores(booster: Booster) -> list[np.ndarray]:
    training = booster.training
    assert training is not None
    return [scored.score.copy() for scored in (training.train, *training.valid)]


def raw_scores(booster: Booster, rows: slice) -> np.ndarray:
    return booster.predict(TABLE[rows], raw_score=True).T.ravel()


def random_unit(seed: int, n_round: int, counter: int) -> float:
    key = make_key(seed, Stream.DROPOUT, n_round)
    return (_native.random_bits(key, counter) >> 11) / 2**53


def drop_slowly(params: dict[str, Any], n_round: int, weights: list[float]) -> list[int]:
    """The rule in words: a coin for the round, then one for each tree, in order, up to a limit."""
    if random_unit(params["drop_seed"], n_round, 0) < params["skip_drop"] or not weights:
        return []
    found: list[int] = []
    for j, weight in enumerate(weights):
        chance = params["drop_rate"]
        if params["max_drop"] > 0:
            chance = min(chance, params["max_drop"] / len(weights))
            if len(found) == params["max_drop"]:
                break
        if not params["uniform_drop"]:
            chance *= weight / (sum(weights) / len(weights))
        if random_unit(params["drop_seed"], n_round, j + 1) < chance:
            found.append(j)
    return found


@pytest.mark.parametrize("xgboost_mode", [False, True])
@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("max_drop", [-1, 0, 3, 50])
def test_bookkeeping(xgboost_mode: bool, uniform: bool, max_drop: int) -> None:
    """Weights, the scores that gradients are taken at, and leaf values, all from their meaning."""
    drop = {"drop_rate": 0.5, "skip_drop": 0.25, "max_drop": max_drop, "drop_seed": 11}
    drop |= {"uniform_drop": uniform}
    seen: list[np.ndarray] = []

    def squares(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        seen.append(score.copy())
        return score - data.get_label(), np.ones(len(score))

    params = {**OFTEN, **drop, "xgboost_dart_mode": xgboost_mode, "learning_rate": 0.3}
    data = Dataset(TABLE, label=LABEL, free_raw_data=False)
    booster = Booster({**params, "objective": squares}, data)
    weights: list[float] = []  # of trees that are fitted in full
    trees: list[np.ndarray] = []  # what such a tree says about each row
    n_dropped = 0
    for n_round in range(25):
        booster.update()
        dropped = drop_slowly(drop, n_round, weights)
        n_dropped += len(dropped)
        kept = [
            w * t for j, (w, t) in enumerate(zip(weights, trees, strict=True)) if j not in dropped
        ]
        without = sum(kept, np.zeros(len(LABEL)))
        np.testing.assert_allclose(seen[-1], without, atol=1e-9)
        leaf = booster.predict(TABLE, pred_leaf=True)[:, -1]
        mean = np.bincount(leaf, LABEL - seen[-1]) / np.bincount(leaf)
        k = len(dropped)
        if not xgboost_mode:
            rate, factor = 0.3 / (k + 1), k / (k + 1)
        elif k == 0:
            rate, factor = 0.3, 1.0
        else:
            rate, factor = 0.3 / (k + 0.3), k / (k + 0.3)
        for j in dropped:
            weights[j] *= factor
        trees.append(mean[leaf])
        weights.append(rate)
        expected = sum(w * t for w, t in zip(weights, trees, strict=True))
        np.testing.assert_allclose(booster.predict(TABLE), expected, atol=2e-5)
        # Gradients are float32: take what the tree says from the tree itself.
        trees[-1] = booster.training.trees[-1].leaf_value[leaf] / rate  # type: ignore[union-attr]
    assert n_dropped > 25
    for t, weight in enumerate(weights):
        grown = booster.training.trees[t]  # type: ignore[union-attr]
        for name in ("leaf_value", "node_value"):
            own = getattr(booster.model.forest.tree(t), name)
            rate = booster.training.boosting._rates[t]  # type: ignore[union-attr]
            np.testing.assert_allclose(own, getattr(grown, name) * weight / rate, atol=1e-9)


def test_single_trees_have_weights_of_their_own() -> None:
    booster = make_booster("single trees")
    for _ in range(12):
        booster.update()
    boosting = booster.training.boosting  # type: ignore[union-attr]
    assert isinstance(boosting, Dart)
    by_round = np.reshape(boosting._factors, (12, 3))
    assert (by_round.min(axis=1) < by_round.max(axis=1)).any()
    for t, factor in enumerate(boosting._factors):
        grown = booster.training.trees[t].leaf_value  # type: ignore[union-attr]
        own = booster.model.forest.tree(t).leaf_value
        np.testing.assert_allclose(own, grown * factor, atol=1e-9)
    with pytest.raises(GossamerError, match="drop_single_trees"):
        booster.reset_parameter({"drop_single_trees": False})


@settings(deadline=None)
@given(
    weights=st.lists(st.floats(0.001, 1), max_size=30),
    drop_rate=st.floats(0, 1),
    skip_drop=st.sampled_from([0.0, 0.5, 1.0]),
    max_drop=st.integers(-1, 8),
    uniform_drop=st.booleans(),
    drop_seed=st.integers(0, 2**31 - 1),
    n_round=st.integers(0, 1000),
)
def test_choices(weights: list[float], n_round: int, **drop: Any) -> None:
    params = resolve({"boosting": "dart", **drop})
    found = choose_dropped(params, n_round, weights)
    assert found == sorted(set(found))
    assert found == choose_dropped(params, n_round, weights)
    if drop["skip_drop"] == 1 or drop["drop_rate"] == 0:
        assert found == []
    if drop["max_drop"] > 0:
        assert len(found) <= drop["max_drop"]
    if drop["skip_drop"] == 0 and drop["drop_rate"] == 1 and drop["uniform_drop"]:
        assert drop["max_drop"] > 0 or found == list(range(len(weights)))


def test_chances_follow_the_weights() -> None:
    params = resolve({"boosting": "dart", "drop_rate": 0.2, "skip_drop": 0.3})
    weights = [0.1, 0.2, 0.3]
    for uniform in (False, True):
        own = params.replace(uniform_drop=uniform)
        count = np.zeros(3)
        for n_round in range(20_000):
            count[choose_dropped(own, n_round, weights)] += 1
        share = np.ones(3) if uniform else np.array([0.5, 1.0, 1.5])
        np.testing.assert_allclose(count / 20_000, 0.7 * 0.2 * share, atol=0.01)


def test_the_seed_matters() -> None:
    def model(**seeds: int) -> np.ndarray:
        data = Dataset(TABLE, label=LABEL)
        return train({**OFTEN, **seeds}, data, 15).predict(TABLE)

    assert np.array_equal(model(), model(drop_seed=4))
    assert not np.array_equal(model(), model(drop_seed=5))
    assert not np.array_equal(model(), model(seed=5))


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_model_and_the_way_back(kind: str) -> None:
    """Bit for bit: after every round, for all data sets, and back again."""
    booster = make_booster(kind)
    training = booster.training
    assert training is not None and isinstance(training.boosting, Dart)
    past = []
    for _ in range(25):
        booster.update()
        past.append((booster.model_to_string(), scores(booster)))
        for score, rows in zip(past[-1][1], (TRAIN, VALID), strict=True):
            np.testing.assert_array_equal(score, raw_scores(booster, rows))
    assert sum(len(changes) for changes in training.boosting._changes) > 20
    label = KINDS[kind][1]
    late = training.train.given.create_valid(TABLE[VALID], label=label[VALID])
    booster.add_valid(late, "late")
    np.testing.assert_array_equal(training.valid[-1].score, past[-1][1][1])
    for model, score in reversed(past[:-1]):
        booster.rollback_one_iter()
        assert booster.model_to_string() == model
        for own, before in zip(scores(booster)[:2], score, strict=True):
            np.testing.assert_array_equal(own, before)
    booster.rollback_one_iter()
    for model, _ in past:
        booster.update()
        assert booster.model_to_string() == model


@pytest.mark.filterwarnings("ignore:labels from .* lose precision")
def test_hundreds_of_rounds_leave_no_trace() -> None:
    """Scores stay the exact sums where rounding would show."""
    params = {"boosting": "dart", "drop_rate": 0.9, "skip_drop": 0.0, "num_leaves": 4}
    booster = Booster({**params, "verbosity": -1}, Dataset(TABLE, label=1e7 + LABEL))
    for _ in range(300):
        booster.update()
    forest = booster.model.forest
    leaf = booster.predict(TABLE, pred_leaf=True) + forest.leaf_begin[:-1]
    values = forest.arrays["leaf_value"][leaf]
    start = booster.model.start[0]
    for row in range(0, len(TABLE), 50):
        order = np.random.default_rng(row).permutation(values.shape[1])
        total = float(start)
        for value in values[row, order]:
            total += value
        assert total == booster.training.train.score[row]  # type: ignore[union-attr]


def test_the_best_round_is_restored() -> None:
    label = SIGNAL + 2 * np.random.default_rng(1).normal(size=len(SIGNAL))
    data = Dataset(TABLE[TRAIN], label=label[TRAIN])
    params = {**OFTEN, "learning_rate": 0.9, "metric": ["l2", "l1"], "first_metric_only": True}
    for keep in (False, True):
        valid = data.create_valid(TABLE[VALID], label=label[VALID])
        booster = train(
            params,
            data,
            80,
            valid_sets=valid,
            keep_training_booster=keep,
            callbacks=[early_stopping(15, verbose=False, first_metric_only=True)],
        )
        best = booster.best_iteration
        assert 1 < best < 65 and booster.num_trees() == best
        for n_rounds in (None, best, -1):
            error = booster.predict(TABLE[VALID], num_iteration=n_rounds) - label[VALID].astype("f")
            assert np.mean(error**2) == pytest.approx(booster.best_score["valid_0"]["l2"], 1e-14)
        expected = train({**params, "metric": None}, data, best)
        np.testing.assert_array_equal(booster.predict(TABLE), expected.predict(TABLE))
        if keep:
            assert booster.eval_valid()[0].metric_value == booster.best_score["valid_0"]["l2"]
            further = train(params, data, best + 3, keep_training_booster=True)
            for _ in range(3):
                booster.update()
            np.testing.assert_array_equal(
                booster.predict(TABLE, num_iteration=-1), further.predict(TABLE)
            )


def test_state_as_json_carries_a_training_on() -> None:
    """What a checkpoint needs: trees as grown, the start, and the state."""
    booster, again = make_booster("classes"), make_booster("classes")
    for _ in range(12):
        booster.update()
    old, new = booster.training, again.training
    assert old is not None and new is not None
    new.add_start()
    new.trees[:], new.states[:] = old.trees, old.states
    new.start[:] = old.start
    new.boosting.restore(json.loads(json.dumps(old.boosting.state())))
    for scored in (new.train, *new.valid):
        new.boosting.start_scores(new, scored)
        new.boosting.add_rounds(new, scored)
    for _ in range(6):
        booster.update()
        again.update()
    assert again.model_to_string() == booster.model_to_string()
    for _ in range(10):
        booster.rollback_one_iter()
        again.rollback_one_iter()
    assert again.model_to_string() == booster.model_to_string()
    for own, other in zip(scores(again), scores(booster), strict=True):
        np.testing.assert_array_equal(own, other)


def test_a_unit_that_does_not_fit() -> None:
    """A hostile checkpoint may have one: rounds fail, and the model stays finite."""
    params = {"boosting": "dart", "drop_rate": 0.9, "verbosity": -1, "num_leaves": 4}
    x = np.random.default_rng(0).normal(size=(100, 2))
    booster = Booster(params, Dataset(x, 10 * x[:, 0]))
    booster.update()
    assert booster.training is not None
    dart = booster.training.boosting
    state = json.loads(json.dumps(dart.state()))
    dart.restore({**state, "unit": 5e-324})
    with pytest.raises(GossamerError, match="diverged"):
        booster.update()
    assert np.isfinite(booster.predict(x)).all()
    with pytest.raises(ValueError, match="not finite"):
        dart.restore({**state, "factors": [float("inf")]})


@pytest.mark.parametrize("stops_in", [3, 9])
def test_an_objective_that_raises_leaves_the_model_intact(stops_in: int) -> None:
    calls = 0

    def sometimes(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        nonlocal calls
        calls += 1
        if calls == stops_in:
            raise RuntimeError("enough")
        return score - data.get_label(), np.ones(len(score))

    params = {**OFTEN, "skip_drop": 0.0, "drop_rate": 0.9, "objective": sometimes}
    booster = Booster(params, Dataset(TABLE[TRAIN], label=SIGNAL[TRAIN]))
    for _ in range(stops_in - 1):
        booster.update()
    before = scores(booster)
    with pytest.raises(RuntimeError, match="enough"):
        booster.update()
    np.testing.assert_array_equal(scores(booster)[0], before[0])
    booster.update()
    np.testing.assert_array_equal(scores(booster)[0], raw_scores(booster, TRAIN))


def test_parameters_may_change() -> None:
    """From a round on: a rate of its own, and no dropout at all."""
    booster = make_booster("regression")
    for _ in range(8):
        booster.update()
    boosting = booster.training.boosting  # type: ignore[union-attr]
    assert isinstance(boosting, Dart)
    factors = list(boosting._factors)
    booster.reset_parameter({"skip_drop": 1.0, "learning_rate": 0.25})
    for _ in range(4):
        booster.update()
    assert boosting._factors == factors + [1.0] * 4
    assert boosting._rates[8:] == [0.25] * 4
    np.testing.assert_array_equal(scores(booster)[1], raw_scores(booster, VALID))


def test_without_dropout_it_is_plain_boosting() -> None:
    """Up to the rounding of leaf values to the unit."""
    data = Dataset(TABLE, label=LABEL)
    plain = train({"verbosity": -1}, data, 30)
    dart = train({"verbosity": -1, "boosting": "dart", "drop_rate": 0.0}, data, 30)
    np.testing.assert_allclose(dart.predict(TABLE), plain.predict(TABLE), rtol=1e-10)


def test_init_scores() -> None:
    offset = 100 * np.random.default_rng(2).normal(size=len(TABLE))
    data = Dataset(TABLE[TRAIN], label=(SIGNAL + offset)[TRAIN], init_score=offset[TRAIN])
    valid = data.create_valid(
        TABLE[VALID], label=(SIGNAL + offset)[VALID], init_score=offset[VALID]
    )
    booster = train(OFTEN, data, 30, valid_sets=valid, keep_training_booster=True)
    own = scores(booster)
    np.testing.assert_allclose(own[0], offset[TRAIN] + raw_scores(booster, TRAIN), atol=1e-11)
    np.testing.assert_allclose(own[1], offset[VALID] + raw_scores(booster, VALID), atol=1e-11)
    further = train(OFTEN, data, 31, valid_sets=valid, keep_training_booster=True)
    further.rollback_one_iter()
    for score, before in zip(scores(further), own, strict=True):
        np.testing.assert_array_equal(score, before)


def test_nothing_to_split() -> None:
    booster = Booster(OFTEN, Dataset(np.zeros((50, 2)), label=np.arange(50.0)))
    assert booster.update()
    assert booster.num_trees() == 1
    # Leaves of value zero give no unit.
    data = Dataset(TABLE, label=np.zeros(len(TABLE)))
    booster = Booster({**OFTEN, "objective": flat}, data)
    for _ in range(5):
        booster.update()
    np.testing.assert_array_equal(booster.predict(TABLE), 0.0)


def flat(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(len(score)), np.ones(len(score))


@pytest.mark.filterwarnings("ignore:labels from .* lose precision")
@settings(max_examples=15, deadline=None)
@given(
    scale=st.sampled_from([1e-300, 1e-40, 1e-30, 1e-6, 1.0, 1e9, 1e25]), shift=st.floats(-1e6, 1e6)
)
def test_any_scale_of_labels(scale: float, shift: float) -> None:
    """The unit follows the labels, so sums stay exact."""
    label = (shift + SIGNAL) * scale
    booster = Booster(OFTEN, Dataset(TABLE, label=label))
    for _ in range(8):
        booster.update()
    np.testing.assert_array_equal(
        booster.predict(TABLE),
        booster.training.train.score,  # type: ignore[union-attr]
    )
