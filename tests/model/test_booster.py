"""The booster: training by hand, facts, copies."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from gossamer import Booster, DataError, Dataset, ParameterError, threads, train
from gossamer.metrics import EvalResult

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(500, 4))
LABEL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2]
CLASSES = np.digitize(LABEL, [-0.5, 0.5])
PARAMS = {"num_leaves": 7, "verbosity": -1}
MULTI = {"objective": "multiclass", "num_class": 3, **PARAMS}


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def make_booster(n_rounds: int = 5, **params: Any) -> Booster:
    booster = Booster(PARAMS | params, Dataset(TABLE, LABEL))
    for _ in range(n_rounds):
        assert booster.update() is False
    return booster


class TestTraining:
    """update, rollback, reset_parameter."""

    def test_updates_are_what_train_does(self) -> None:
        expected = train(PARAMS, Dataset(TABLE, LABEL), 5)
        np.testing.assert_array_equal(make_booster().predict(TABLE), expected.predict(TABLE))

    def test_nothing_given(self) -> None:
        with pytest.raises(ParameterError, match="needs train_set, model_file or model_str"):
            Booster()
        with pytest.raises(DataError, match="train_set must be a Dataset"):
            Booster({}, TABLE)

    def test_predicting_between_updates(self) -> None:
        booster = make_booster(2)
        two = booster.predict(TABLE)
        booster.update()
        three = booster.predict(TABLE)
        assert not np.array_equal(two, three)
        np.testing.assert_array_equal(booster.predict(TABLE, num_iteration=2), two)
        np.testing.assert_array_equal(three, make_booster(3).predict(TABLE))

    def test_rollback_restores_every_bit(self) -> None:
        booster = make_booster(3)
        valid = Dataset(TABLE[:50], LABEL[:50])
        booster.add_valid(valid, "valid")
        before = booster.predict(TABLE), booster.eval_train(), booster.eval_valid()
        booster.update()
        booster.rollback_one_iter()
        assert booster.current_iteration() == 3
        np.testing.assert_array_equal(booster.predict(TABLE), before[0])
        assert (booster.eval_train(), booster.eval_valid()) == before[1:]
        booster.update()
        np.testing.assert_array_equal(booster.predict(TABLE), make_booster(4).predict(TABLE))

    def test_rollback_of_nothing(self) -> None:
        assert make_booster(0).rollback_one_iter().num_trees() == 0

    def test_reset_parameter_acts_on_later_rounds(self) -> None:
        booster = make_booster(1).reset_parameter({"eta": 0.01})
        booster.update()
        values = [booster.model.forest.tree(t).leaf_value for t in range(2)]
        assert np.abs(values[0]).max() > 5 * np.abs(values[1]).max()
        assert booster.params["eta"] == 0.01
        booster.reset_parameter({"num_leaves": 2}).update()
        assert booster.model.forest.tree(2).n_leaves == 2

    def test_reset_parameter_changes_the_bag(self) -> None:
        booster = make_booster(1, bagging_fraction=0.5, bagging_freq=1)
        booster.reset_parameter({"bagging_fraction": 0.1}).update()
        counts = [booster.model.forest.tree(t).leaf_count.sum() for t in range(2)]
        assert counts[0] > 4 * counts[1] > 0

    def test_reset_parameter_changes_the_threads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
        booster = make_booster(1, num_threads=3)
        booster.add_valid(Dataset(TABLE[:50], LABEL[:50]), "valid")
        training = booster.training
        assert [s.n_threads for s in (training.train, *training.valid)] == [3, 3]
        booster.reset_parameter({"num_threads": 2})
        assert [s.n_threads for s in (training.train, *training.valid)] == [2, 2]
        booster.update()
        np.testing.assert_array_equal(booster.predict(TABLE), training.train.score)

    @pytest.mark.parametrize(
        "change",
        [{"objective": "binary"}, {"max_bin": 7}, {"scale_pos_weight": 2.0}],
        ids=str,
    )
    def test_what_cannot_change(self, change: dict[str, Any]) -> None:
        with pytest.raises(ParameterError, match="cannot change during a training"):
            make_booster(1).reset_parameter(change)

    def test_unknown_parameters(self) -> None:
        with pytest.raises(ParameterError, match="Did you mean learning_rate"):
            make_booster(1).reset_parameter({"learning_rat": 1})

    def test_custom_objective_in_update(self) -> None:
        def squared(scores: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
            return scores - data.get_label(), np.ones(len(scores))

        booster = Booster(PARAMS | {"objective": "custom"}, Dataset(TABLE, LABEL))
        for _ in range(3):
            booster.update(fobj=squared)
        expected = make_booster(3, boost_from_average=False)
        np.testing.assert_allclose(booster.predict(TABLE), expected.predict(TABLE), rtol=1e-12)
        with pytest.raises(DataError, match="has no function"):
            Booster(PARAMS | {"objective": "none"}, Dataset(TABLE, LABEL)).update()

    def test_the_end(self) -> None:
        booster = Booster({}, Dataset(TABLE, np.ones(500)))
        assert booster.update() is booster.update() is True
        assert booster.num_trees() == 1
        assert booster.predict(TABLE[:2]).tolist() == [1, 1]

    def test_freed_data(self) -> None:
        booster = make_booster()
        expected = booster.predict(TABLE)
        booster.free_dataset()
        for action in (
            booster.update,
            booster.eval_train,
            booster.eval_valid,
            booster.rollback_one_iter,
            lambda: booster.reset_parameter({"eta": 1}),
            lambda: booster.add_valid(Dataset(TABLE, LABEL), "v"),
            lambda: booster.eval(Dataset(TABLE, LABEL), "v"),
        ):
            with pytest.raises(DataError, match="data set used after being freed"):
                action()
        np.testing.assert_array_equal(booster.predict(TABLE), expected)
        assert booster.num_trees() == 5


class TestEvaluation:
    """eval, eval_train, eval_valid."""

    def test_training_data(self) -> None:
        booster = make_booster(metric=["l2", "l1"])
        error = booster.predict(TABLE) - LABEL.astype(np.float32)
        results = booster.eval_train()
        assert [(r.dataset_name, r.metric_name) for r in results] == [
            ("training", "l2"),
            ("training", "l1"),
        ]
        assert results[0].metric_value == pytest.approx(np.mean(error**2), rel=1e-12)
        assert results[1].metric_value == pytest.approx(np.mean(np.abs(error)), rel=1e-12)
        booster.set_train_data_name("all of it")
        assert booster.eval_train()[0].dataset_name == "all of it"

    def test_validation_data_early_and_late(self) -> None:
        table, label = RNG.normal(size=(100, 4)), RNG.normal(size=100)
        booster = make_booster(0)
        booster.add_valid(Dataset(table, label), "early")
        for _ in range(3):
            booster.update()
        booster.add_valid(Dataset(table, label), "late")
        assert booster.name_valid_sets == ["early", "late"]
        early, late = booster.eval_valid()
        expected = np.mean((booster.predict(table) - label.astype(np.float32)) ** 2)
        assert early.metric_value == late.metric_value == pytest.approx(expected, rel=1e-12)

    def test_eval_adds_what_it_does_not_know(self) -> None:
        booster, data = make_booster(), Dataset(TABLE[:20], LABEL[:20])
        first, again = booster.eval(data, "a"), booster.eval(data, "b")
        assert booster.name_valid_sets == ["a"]
        assert first[0].metric_value == again[0].metric_value
        assert again[0].dataset_name == "b"
        assert booster.eval(booster.train_set, "t") == [
            EvalResult("t", *booster.eval_train()[0][1:])
        ]

    def test_functions_get_predictions_in_shape(self) -> None:
        shapes = []

        def look(predictions: np.ndarray, data: Dataset) -> tuple[str, float, bool]:
            shapes.append(predictions.shape)
            return "sum", predictions.sum(), True

        booster = Booster(MULTI, Dataset(TABLE, CLASSES))
        booster.update()
        result = booster.eval_train(look)[-1]
        assert shapes == [(500, 3)]
        assert result.metric_value == pytest.approx(500)  # probabilities
        custom = make_booster(1)
        custom.eval_train([look, look])
        assert shapes[1:] == [(500,), (500,)]

    def test_no_dataset(self) -> None:
        with pytest.raises(DataError, match="validation data must be a Dataset"):
            make_booster().add_valid(TABLE, "v")

    def test_validation_with_other_bins(self) -> None:
        other = Dataset(TABLE * 3, LABEL).construct()
        with pytest.raises(DataError, match="used after being freed: set_reference"):
            make_booster().add_valid(other, "v")


class TestFacts:
    """Counts, names, importance, bounds."""

    def test_counts(self) -> None:
        booster = Booster(MULTI, Dataset(TABLE, CLASSES, feature_name=["a", "b", "c", "d"]))
        booster.update()
        booster.update()
        for _ in range(2):
            assert booster.num_trees() == 6
            assert booster.num_model_per_iteration() == 3
            assert booster.current_iteration() == 2
            assert booster.num_feature() == 4
            assert booster.feature_name() == ["a", "b", "c", "d"]
            booster.free_dataset()

    def test_importance(self) -> None:
        booster = make_booster()
        forest = booster.model.forest
        splits = booster.feature_importance()
        assert splits.dtype == np.int32
        assert splits.sum() == len(forest.arrays["column"])
        assert splits[3] < splits[0]
        gains = booster.feature_importance("gain")
        assert gains.dtype == np.float64
        assert gains.sum() == pytest.approx(forest.arrays["gain"].sum())
        assert booster.feature_importance(iteration=1).sum() == 6
        booster.best_iteration = 2
        assert booster.feature_importance().sum() == 12
        with pytest.raises(ParameterError, match="importance_type is not known"):
            booster.feature_importance("weight")

    def test_bounds_hold(self) -> None:
        for booster in (make_booster(), Booster(MULTI, Dataset(TABLE, CLASSES))):
            booster.update()
            scores = booster.predict(RNG.normal(size=(2000, 4)) * 3, raw_score=True)
            assert booster.lower_bound() <= scores.min()
            assert booster.upper_bound() >= scores.max()

    def test_bounds_of_one_tree_are_its_leaves(self) -> None:
        booster = make_booster(1)
        values = booster.model.start[0] + booster.model.forest.tree(0).leaf_value
        assert booster.lower_bound() == values.min()
        assert booster.upper_bound() == values.max()

    def test_leaf_output(self) -> None:
        booster = make_booster(2)
        value = booster.model.forest.tree(1).leaf_value[3]
        assert booster.get_leaf_output(1, 3) == value
        for place in ((2, 0), (0, 7), (-1, 0)):
            with pytest.raises(ParameterError, match="there is no such"):
                booster.get_leaf_output(*place)


class TestCopies:
    """Pickles and copies keep the model and drop the data."""

    @pytest.mark.parametrize(
        "make",
        [copy.copy, copy.deepcopy, lambda booster: pickle.loads(pickle.dumps(booster))],
        ids=["copy", "deepcopy", "pickle"],
    )
    @pytest.mark.parametrize("freed", [False, True])
    def test_copies_predict_the_same(self, make: Any, freed: bool) -> None:
        booster = make_booster()
        booster.best_iteration, booster.best_score = 2, {"valid": {"l2": 0.5}}
        if freed:
            booster.free_dataset()
        other = make(booster)
        np.testing.assert_array_equal(other.predict(TABLE), booster.predict(TABLE))
        assert other.num_trees() == 5  # also those after the best
        assert other.best_iteration == 2
        assert other.best_score == booster.best_score
        assert other.params == booster.params
        assert other.train_set is None
        assert other.model_to_string() == booster.model_to_string()

    def test_functions_need_not_be_picklable(self) -> None:
        objective = lambda scores, data: (scores - 1, np.ones(len(scores)))  # noqa: E731
        booster = train({"objective": objective}, Dataset(TABLE, LABEL), 2)
        other = pickle.loads(pickle.dumps(booster))
        np.testing.assert_array_equal(other.predict(TABLE), booster.predict(TABLE))
