"""Changing models by hand, and the small methods of LightGBM's Booster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Booster, DataError, Dataset, NotSupportedError, ParameterError, train
from gossamer.model.change.edit import shuffled_rounds

RNG = np.random.default_rng(7)
TABLE = RNG.normal(size=(500, 4))
LABEL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2]
CLASSES = np.digitize(LABEL, [-0.5, 0.5])
QUIET = {"num_leaves": 7, "verbosity": -1}
MULTI = {"objective": "multiclass", "num_class": 3, **QUIET}
VECTOR = {**MULTI, "multi_strategy": "multi_output_tree"}


def in_training(params: dict[str, Any], label: Any, n_rounds: int = 4) -> Booster:
    data = Dataset(TABLE, label)
    booster = Booster(params, data)
    booster.add_valid(data.create_valid(TABLE[::2], label[::2]), "half")
    for _ in range(n_rounds):
        booster.update()
    return booster


def check_scores(booster: Booster) -> None:
    """Scores of the training are what the model predicts."""
    training = booster.training
    for scored, rows in ((training.train, TABLE), (training.valid[0], TABLE[::2])):
        raw = booster.predict(rows, raw_score=True, num_iteration=-1)
        np.testing.assert_allclose(scored.score, np.atleast_2d(raw.T).ravel(), rtol=1e-12)


class TestLeafOutput:
    """set_leaf_output and get_leaf_output."""

    @pytest.mark.parametrize("params", [QUIET, MULTI], ids=["one", "three"])
    def test_in_training(self, params: dict[str, Any]) -> None:
        booster = in_training(params, LABEL if params is QUIET else CLASSES)
        assert booster.set_leaf_output(2, 3, -0.75) is booster
        assert booster.get_leaf_output(2, 3) == -0.75
        check_scores(booster)
        booster.update()
        check_scores(booster)
        before = booster.eval_train()
        booster.update()
        booster.rollback_one_iter()
        assert booster.eval_train() == before
        assert booster.get_leaf_output(2, 3) == -0.75

    def test_vector_leaves(self) -> None:
        booster = in_training(VECTOR, CLASSES)
        booster.set_leaf_output(1, 2, [0.1, 0.2, -0.3])
        np.testing.assert_array_equal(booster.get_leaf_output(1, 2), [0.1, 0.2, -0.3])
        check_scores(booster)
        with pytest.raises(ParameterError, match="expected 3 finite numbers"):
            booster.set_leaf_output(1, 2, 0.5)

    def test_a_tree_that_could_not_split(self) -> None:
        rare = {**MULTI, "min_data_in_leaf": 200}
        booster = in_training(rare, np.where(CLASSES == 2, 1, CLASSES), 2)
        sizes = [booster.model.forest.tree(t).n_leaves for t in range(6)]
        assert 1 in sizes
        booster.set_leaf_output(sizes.index(1), 0, 0.5)
        check_scores(booster)

    def test_trained(self) -> None:
        model = train(QUIET, Dataset(TABLE, LABEL), 3)
        leaf = model.predict(TABLE, pred_leaf=True)[:, 1]
        before, old = model.predict(TABLE), model.get_leaf_output(1, 4)
        model.set_leaf_output(1, 4, 2.0)
        expected = before + np.where(leaf == 4, 2.0 - old, 0.0)
        np.testing.assert_allclose(model.predict(TABLE), expected, rtol=1e-12, atol=1e-12)
        assert Booster(model_str=model.model_to_string()).get_leaf_output(1, 4) == 2.0

    @pytest.mark.parametrize(
        "tree, leaf, value, words",
        [
            (4, 0, 1.0, "no such tree: got 4, expected 0..3"),
            (-1, 0, 1.0, "no such tree"),
            (0, 7, 1.0, "no such leaf: got 7, expected 0..6"),
            (0, 0, float("nan"), "expected a finite number"),
            (0, 0, "much", "expected a finite number"),
            (0, 0, None, "expected a finite number"),
        ],
    )
    def test_bad_input(self, tree: int, leaf: int, value: Any, words: str) -> None:
        booster = in_training(QUIET, LABEL)
        text = booster.model_to_string()
        with pytest.raises(ParameterError, match=words):
            booster.set_leaf_output(tree, leaf, value)
        assert booster.model_to_string() == text

    def test_bounds_follow(self) -> None:
        model = train(QUIET, Dataset(TABLE, LABEL), 3)
        low, high = model.lower_bound(), model.upper_bound()
        assert low <= model.predict(TABLE).min() and model.predict(TABLE).max() <= high
        model.set_leaf_output(0, 0, 100.0)
        assert model.upper_bound() > 90
        model.set_leaf_output(0, 0, -100.0)
        assert model.lower_bound() < -90


class TestShuffle:
    """shuffle_models."""

    @pytest.mark.parametrize("params", [QUIET, MULTI, VECTOR], ids=["one", "three", "vector"])
    def test_whole_rounds_move(self, params: dict[str, Any]) -> None:
        label = LABEL if params is QUIET else CLASSES
        model = train(params, Dataset(TABLE, label), 6)
        before, trees = model.predict(TABLE), model.model.forest
        assert model.shuffle_models(2) is model
        np.testing.assert_allclose(model.predict(TABLE), before, rtol=1e-12)
        k, order = trees.trees_per_round, shuffled_rounds(6, 2, -1)
        assert order[:2] == [0, 1] and sorted(order) == list(range(6)) and order != sorted(order)
        for place, i in enumerate(order):
            for t in range(k):
                np.testing.assert_array_equal(
                    model.model.forest.tree(place * k + t).leaf_value,
                    trees.tree(i * k + t).leaf_value,
                )

    def test_in_training(self) -> None:
        booster = in_training(MULTI, CLASSES)
        booster.shuffle_models()
        check_scores(booster)
        booster.update()
        check_scores(booster)

    def test_rounds_to_continue_from_stay(self) -> None:
        old = train(QUIET, Dataset(TABLE, LABEL), 3)
        booster = Booster(QUIET, Dataset(TABLE, LABEL), init_model=old)
        for _ in range(4):
            booster.update()
        with pytest.raises(DataError, match="rounds of init_model cannot be shuffled"):
            booster.shuffle_models()
        booster.shuffle_models(3)
        assert booster.num_trees() == 7
        booster.free_dataset().shuffle_models()

    @pytest.mark.parametrize("first, end", [(-1, -1), (7, -1), (3, 2), (0, 9)])
    def test_bad_input(self, first: int, end: int) -> None:
        with pytest.raises(ParameterError, match="no such rounds to shuffle"):
            train(QUIET, Dataset(TABLE, LABEL), 6).shuffle_models(first, end)


class TestSplitValues:
    """get_split_value_histogram."""

    def test_counts(self) -> None:
        model = train(QUIET, Dataset(TABLE, LABEL, feature_name=list("abcd")), 10)
        arrays = model.model.forest.arrays
        values = arrays["threshold"][arrays["column"] == 1]
        counts, edges = model.get_split_value_histogram("b")
        expected = np.histogram(values, bins=len(np.unique(values)))
        np.testing.assert_array_equal(counts, expected[0])
        np.testing.assert_array_equal(edges, expected[1])
        assert model.get_split_value_histogram(1, bins=3)[0].sum() == len(values)
        model.get_split_value_histogram(1, bins="auto")

    def test_style_of_xgboost(self) -> None:
        pytest.importorskip("pandas")
        model = train(QUIET, Dataset(TABLE, LABEL), 10)
        table = model.get_split_value_histogram(0, xgboost_style=True)
        assert list(table.columns) == ["SplitValue", "Count"] and (table["Count"] > 0).all()
        assert len(model.get_split_value_histogram(0, bins=2, xgboost_style=True)) <= 2

    def test_beside_lightgbm(self) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        params = {**QUIET, "num_leaves": 4}
        table = TABLE.round(1)
        mine = train(params, Dataset(table, LABEL), 4)
        peer = lightgbm.train(params, lightgbm.Dataset(table, LABEL), 4)
        for feature in (0, "Column_1"):
            for bins in (None, 2):
                found = mine.get_split_value_histogram(feature, bins)
                expected = peer.get_split_value_histogram(feature, bins)
                for one, other in zip(found, expected, strict=True):
                    np.testing.assert_allclose(one, other, atol=0.06)  # a bin ends halfway

    def test_bad_input(self) -> None:
        model = train(QUIET, Dataset(TABLE, LABEL), 1)
        for feature in ("x", 4, -1):
            with pytest.raises(DataError, match="there is no such column"):
                model.get_split_value_histogram(feature)


class TestOtherData:
    """update(train_set=...)."""

    def test_rows_of_the_same_bins(self) -> None:
        data = Dataset(TABLE, LABEL)
        booster = Booster(QUIET, data)
        booster.update()
        other = data.subset(np.arange(0, 500, 2))
        booster.update(other)
        assert booster.train_set is other
        assert booster.model.forest.tree(1).leaf_count.sum() == 250
        np.testing.assert_allclose(
            booster.training.train.score, booster.predict(TABLE[::2]), rtol=1e-12
        )
        third = Dataset(TABLE + 0.01, LABEL, reference=data)
        booster.update(third)
        np.testing.assert_allclose(
            booster.training.train.score, booster.predict(TABLE + 0.01), rtol=1e-12
        )
        booster.update(data)
        assert booster.num_trees() == 4

    def test_labels_set_meanwhile(self) -> None:
        data = Dataset(TABLE, LABEL)
        booster = Booster(QUIET, data)
        booster.update()
        assert booster.train_set_version == data.version
        data.set_label(-LABEL)
        booster.update()
        assert booster.train_set_version == data.version
        after = booster.predict(TABLE)
        assert np.corrcoef(after - booster.predict(TABLE, num_iteration=1), -LABEL)[0, 1] > 0.5

    def test_custom_objectives_see_the_new_data(self) -> None:
        seen: list[int] = []

        def squares(scores: Any, data: Dataset) -> Any:
            seen.append(data.num_data())
            return scores - data.get_label(), np.ones_like(scores)

        data = Dataset(TABLE, LABEL)
        booster = Booster({**QUIET, "objective": squares}, data)
        booster.update()
        booster.update(data.subset(np.arange(200)))
        assert seen == [500, 200]

    def test_bad_input(self) -> None:
        booster = in_training(QUIET, LABEL)
        text = booster.model_to_string()
        with pytest.raises(DataError, match="train_set must be a Dataset"):
            booster.update(TABLE)
        with pytest.raises(DataError, match="used after being freed"):
            booster.update(Dataset(TABLE * 2, LABEL).construct())
        targets = Dataset(TABLE, np.column_stack([LABEL, LABEL]), reference=booster.train_set)
        with pytest.raises(DataError, match="another number of targets"):
            booster.update(targets)
        scores = Dataset(TABLE, LABEL, reference=booster.train_set, init_score=np.zeros((500, 2)))
        with pytest.raises(DataError, match="init_score of the data set 'training' does not fit"):
            booster.update(scores)
        assert booster.model_to_string() == text
        booster.update()
        assert booster.model_to_string() == in_training(QUIET, LABEL, 5).model_to_string()


def test_network() -> None:
    model = train(QUIET, Dataset(TABLE, LABEL), 1)
    assert model.set_network("127.0.0.1:12400") is model
    assert model.free_network() is model
    with pytest.raises(NotSupportedError, match="a Booster trains on one machine"):
        model.set_network("10.0.0.1,10.0.0.2", num_machines=2)


def test_attributes() -> None:
    model = train(QUIET, Dataset(TABLE, LABEL), 1)
    assert model.pandas_categorical is None
    assert model.was_interrupted is False


def test_every_method_of_lightgbm_is_there() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    missing = {
        name
        for name in dir(lightgbm.Booster)
        if not name.startswith("_") and not hasattr(Booster, name)
    }
    assert missing <= {"dump_model", "trees_to_dataframe"}
    missing = {
        name
        for name in dir(lightgbm.Dataset)
        if not name.startswith("_") and not hasattr(Dataset, name)
    }
    assert missing <= {"add_features_from"}
