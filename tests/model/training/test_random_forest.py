"""Random forests: averages of trees that are all grown from the start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Booster, Dataset, train
from gossamer.errors import DataError, ModelFileError, ParameterError
from gossamer.files import from_bytes, to_bytes
from gossamer.model.files import model_file

RNG = np.random.default_rng(3)
TABLE = RNG.normal(size=(900, 5))
SIGNAL = np.sin(2 * TABLE[:, 0]) + TABLE[:, 1] * TABLE[:, 2] + 0.3 * RNG.normal(size=900)
LABEL = 40 + SIGNAL
CLASSES = np.digitize(SIGNAL, [-0.7, 0.6])
TRAIN, VALID = slice(0, 600), slice(600, 900)
FOREST = {"boosting": "rf", "bagging_fraction": 0.6, "num_leaves": 8, "verbosity": -1}
CLASS_PARAMS = {"objective": "multiclass", "num_class": 3}
KINDS: dict[str, tuple[dict[str, Any], np.ndarray]] = {
    "regression": ({}, LABEL),
    "refitted": ({"objective": "regression_l1"}, LABEL),
    "binary": ({"objective": "binary"}, CLASSES > 0),
    "classes": (CLASS_PARAMS, CLASSES),
    "vector": ({**CLASS_PARAMS, "multi_strategy": "multi_output_tree"}, CLASSES),
    "columns": ({"bagging_fraction": 1.0, "feature_fraction": 0.5}, LABEL),
    "goss": ({"bagging_fraction": 1.0, "data_sample_strategy": "goss"}, LABEL),
    "mvs": ({"data_sample_strategy": "mvs"}, CLASSES > 0),
    "zero": ({"boost_from_average": False}, LABEL),
}


def make_booster(kind: str, **more: Any) -> Booster:
    params, label = KINDS[kind]
    data = Dataset(TABLE[TRAIN], label=label[TRAIN], free_raw_data=False)
    booster = Booster({**FOREST, **params, **more}, data)
    return booster.add_valid(data.create_valid(TABLE[VALID], label=label[VALID]), "valid")


def current(booster: Booster) -> list[np.ndarray]:
    training = booster.training
    assert training is not None
    sets = (training.train, *training.valid)
    return [training.boosting.current(training, scored) for scored in sets]


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_see_what_the_model_predicts(kind: str) -> None:
    """Bit for bit: after every round, for all data sets, and back again."""
    booster = make_booster(kind)
    past: list[tuple[str, list[np.ndarray]]] = []
    for _ in range(8):
        booster.update()
        past.append((booster.model_to_string(), current(booster)))
        for score, rows in zip(past[-1][1], (TRAIN, VALID), strict=True):
            raw = booster.predict(TABLE[rows], raw_score=True)
            np.testing.assert_array_equal(score, raw.T.ravel())
    for model, score in reversed(past[:-1]):
        booster.rollback_one_iter()
        assert booster.model_to_string() == model
        for own, before in zip(current(booster), score, strict=True):
            np.testing.assert_array_equal(own, before)
    booster.rollback_one_iter()
    assert booster.training is not None
    for k, start in enumerate(booster.training.start):
        np.testing.assert_array_equal(current(booster)[1].reshape(-1, 300)[k], start)


@pytest.mark.parametrize("kind", ["regression", "refitted"])
def test_trees_are_those_of_a_first_round(kind: str) -> None:
    """Each is the unshrunk answer to the labels of its own rows; no rate or round changes that."""
    booster = make_booster(kind, learning_rate=0.01)
    for _ in range(5):
        booster.update()
    training = booster.training
    assert training is not None
    leaf = booster.predict(TABLE[TRAIN], pred_leaf=True)
    values = []
    for t in range(5):
        bag = training.prepared.sampler.draw(t, training.prepared.gradients, 1)
        assert bag is not None
        label = LABEL[TRAIN].astype(np.float32).astype(float)
        mean = np.median if kind == "refitted" else np.mean
        own = [mean(label[bag.inside][leaf[bag.inside, t] == i]) for i in range(8)]
        found = training.start[0] + training.trees[t].leaf_value
        # An L1 leaf of an even number of rows may be any value between its middle ones.
        np.testing.assert_allclose(found, own, rtol=5e-3 if kind == "refitted" else 1e-5)
        values.append(found[leaf[:, t]])
    np.testing.assert_allclose(booster.predict(TABLE[TRAIN]), np.mean(values, axis=0))


@pytest.mark.parametrize("kind", ["regression", "classes", "vector"])
def test_any_rounds_are_averaged(kind: str) -> None:
    booster = make_booster(kind)
    for _ in range(6):
        booster.update()

    def raw(first: int, n_rounds: int) -> np.ndarray:
        args = {"start_iteration": first, "num_iteration": n_rounds, "raw_score": True}
        return booster.predict(TABLE, **args)

    single = [raw(i, 1) for i in range(6)]
    for first, n_rounds in ((0, 6), (0, 2), (2, 3), (5, 1), (3, -1)):
        last = 6 if n_rounds < 0 else first + n_rounds
        expected = np.mean(single[first:last], axis=0)
        np.testing.assert_allclose(raw(first, n_rounds), expected, rtol=1e-12)
        part = Booster(model_str=booster.model_to_string(n_rounds, first))
        np.testing.assert_array_equal(part.predict(TABLE, raw_score=True), raw(first, n_rounds))


def test_bounds() -> None:
    booster = make_booster("regression")
    for _ in range(6):
        booster.update()
    predicted = booster.predict(RNG.normal(size=(5000, 5)) * 3)
    assert LABEL.min() < booster.lower_bound() <= predicted.min()
    assert predicted.max() <= booster.upper_bound() < LABEL.max()


def test_the_file_says_so() -> None:
    data = Dataset(TABLE, label=LABEL)
    forest = train(FOREST, data, 5)
    text = forest.model_to_string()
    assert text.startswith("gossamer model 2\n")
    np.testing.assert_array_equal(Booster(model_str=text).predict(TABLE), forest.predict(TABLE))
    _, facts = from_bytes(model_file.to_bytes(forest.model))
    assert facts["average_output"] is True
    # A model of sums is written as before there were averages.
    for params in ({}, {"boosting": "dart"}):
        plain = train({"verbosity": -1, **params}, data, 5)
        _, facts = from_bytes(model_file.to_bytes(plain.model))
        assert facts["version"] == 1 and "average_output" not in facts
        assert plain.model_to_string().startswith("gossamer model 1\n")


def test_a_file_with_a_strange_fact() -> None:
    forest = train(FOREST, Dataset(TABLE, label=LABEL), 2)
    arrays, facts = from_bytes(model_file.to_bytes(forest.model))
    facts.pop("checksum", None)
    with pytest.raises(ModelFileError, match="average_output"):
        model_file.from_bytes(to_bytes(arrays, {**facts, "average_output": 1}))


def test_copies_and_reset_parameter() -> None:
    booster = make_booster("binary")
    booster.update()
    booster.reset_parameter({"learning_rate": 0.5, "bagging_fraction": 0.3})
    for _ in range(4):
        booster.update()
    np.testing.assert_array_equal(booster.__copy__().predict(TABLE), booster.predict(TABLE))
    with pytest.raises(ParameterError, match="trees that differ"):
        booster.reset_parameter({"bagging_fraction": 1.0})


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"bagging_freq": 1},
        {"bagging_fraction": 0.5, "bagging_freq": 0},
        {"feature_fraction_bynode": 0.5},
        {"extra_trees": True},
    ],
)
def test_trees_must_differ(params: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"boosting=rf needs.*bagging_fraction < 1"):
        Booster({"boosting": "rf", **params}, Dataset(TABLE, label=LABEL))


def squares(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    return score - data.get_label(), np.ones(len(score))


def test_no_objective_of_ones_own() -> None:
    with pytest.raises(ParameterError, match="objective of one's own"):
        train({**FOREST, "objective": squares}, Dataset(TABLE, label=LABEL))
    booster = Booster(FOREST, Dataset(TABLE, label=LABEL))
    with pytest.raises(ParameterError, match="objective of one's own"):
        booster.update(fobj=squares)
    booster.update()
    assert booster.num_trees() == 1


def test_no_initial_scores() -> None:
    data = Dataset(TABLE, label=LABEL, init_score=LABEL)
    with pytest.raises(DataError, match="init_score of the data set 'training'"):
        train(FOREST, data)
    data = Dataset(TABLE, label=LABEL)
    valid = data.create_valid(TABLE, label=LABEL, init_score=LABEL)
    with pytest.raises(DataError, match="init_score of the data set 'valid_0'"):
        train(FOREST, data, valid_sets=valid)
