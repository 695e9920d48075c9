"""Prediction of the user's tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from gossamer import Booster, DataError, Dataset, ParameterError, train

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(500, 3))
LABEL = TABLE[:, 0] - TABLE[:, 1]
CLASSES = np.digitize(LABEL, [-1, 1])


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


@pytest.fixture(scope="module")
def model() -> Booster:
    return train({}, Dataset(TABLE, LABEL), 10)


@pytest.fixture(scope="module")
def classifier() -> Booster:
    return train({"objective": "multiclass", "num_class": 3}, Dataset(TABLE, CLASSES), 5)


def test_kinds_of_tables_predict_the_same(model: Booster) -> None:
    table = np.round(TABLE * 50)
    expected = model.predict(table)
    same = [
        np.asfortranarray(table),
        np.repeat(table, 2, axis=0)[::2],
        table.astype(np.int64),
        table.astype(np.int16),
        table.astype(">f8"),
        table.tolist(),
    ]
    for other in same:
        np.testing.assert_array_equal(model.predict(other), expected)


def test_float32_and_float64_agree_on_training_rows() -> None:
    table = TABLE.astype(np.float32)
    model = train({"min_data_in_bin": 1}, Dataset(table, LABEL), 10)
    np.testing.assert_array_equal(model.predict(table), model.predict(table.astype(np.float64)))


@pytest.mark.parametrize("params", [{}, {"use_missing": False}, {"zero_as_missing": True}], ids=str)
def test_training_scores_are_predictions(params: dict[str, Any]) -> None:
    table = np.round(TABLE)
    table[RNG.random(table.shape) < 0.2] = np.nan
    table[RNG.random(table.shape) < 0.05] = np.inf
    booster = train(params, Dataset(table, LABEL), 10, keep_training_booster=True)
    score = booster.training.train.score
    np.testing.assert_array_equal(booster.predict(table), score)


def test_raw_scores_and_probabilities(classifier: Booster) -> None:
    raw = classifier.predict(TABLE, raw_score=True)
    probability = classifier.predict(TABLE)
    assert raw.shape == probability.shape == (500, 3)
    expected = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probability, expected, rtol=1e-9)
    binary = train({"objective": "binary"}, Dataset(TABLE, LABEL > 0), 5)
    np.testing.assert_allclose(
        binary.predict(TABLE), 1 / (1 + np.exp(-binary.predict(TABLE, raw_score=True))), rtol=1e-9
    )


class TestRounds:
    """Which rounds predict."""

    def test_parts_add_up(self, model: Booster, classifier: Booster) -> None:
        for booster, n_rounds in ((model, 10), (classifier, 5)):
            whole = booster.predict(TABLE, raw_score=True)
            front = booster.predict(TABLE, num_iteration=2, raw_score=True)
            back = booster.predict(TABLE, 2, n_rounds - 2, raw_score=True)
            np.testing.assert_allclose(front + back, whole, rtol=1e-12, atol=1e-12)

    def test_too_many_rounds_are_all(self, model: Booster) -> None:
        np.testing.assert_array_equal(model.predict(TABLE, num_iteration=99), model.predict(TABLE))
        np.testing.assert_array_equal(model.predict(TABLE, num_iteration=-1), model.predict(TABLE))
        assert (model.predict(TABLE, start_iteration=10) == 0).all()

    def test_the_best_round_is_used(self) -> None:
        model = train({}, Dataset(TABLE, LABEL), 10)
        model.best_iteration = 4
        four = model.predict(TABLE, num_iteration=4)
        np.testing.assert_array_equal(model.predict(TABLE), four)
        assert not np.array_equal(model.predict(TABLE, num_iteration=-1), four)
        assert not np.array_equal(model.predict(TABLE, num_iteration=10), four)

    def test_before_the_first(self, model: Booster) -> None:
        found = model.predict(TABLE, start_iteration=-1)
        np.testing.assert_array_equal(found, model.predict(TABLE))

    @pytest.mark.parametrize("pred_leaf", [False, True])
    def test_after_the_last(self, model: Booster, pred_leaf: bool) -> None:
        for arguments in ({"start_iteration": 11}, {"start_iteration_predict": 11}):
            found = model.predict(TABLE, pred_leaf=pred_leaf, raw_score=True, **arguments)
            assert found.shape == ((len(TABLE), 0) if pred_leaf else (len(TABLE),))
            assert not found.any()

    @pytest.mark.parametrize("number", [1.5, "2", True], ids=str)
    def test_no_numbers(self, model: Booster, number: Any) -> None:
        with pytest.raises(ParameterError, match="num_iteration is not a whole number"):
            model.predict(TABLE, num_iteration=number)
        with pytest.raises(ParameterError, match="start_iteration is not a whole number"):
            model.predict(TABLE, start_iteration=number)

    def test_rounds_as_parameters(self, model: Booster) -> None:
        np.testing.assert_array_equal(
            model.predict(TABLE, num_iteration_predict=3), model.predict(TABLE, num_iteration=3)
        )


class TestEarlyStop:
    """Rows that are clear get no more trees."""

    @staticmethod
    def expected(booster: Booster, every: int, margin: float, first: int = 0) -> Any:
        n_rounds = booster.current_iteration()
        result = booster.predict(TABLE, first, -1, raw_score=True)
        goes_on = np.ones(len(TABLE), bool)
        for last in range(first + every, n_rounds, every):
            score = booster.predict(TABLE, first, last - first, raw_score=True)
            result[goes_on] = score[goes_on]
            if score.ndim == 1:
                clear = 2 * np.abs(score) > margin
            else:
                highest = np.sort(score, axis=1)
                clear = highest[:, -1] - highest[:, -2] > margin
            goes_on &= ~clear
        if goes_on.any():
            result[goes_on] = booster.predict(TABLE, first, -1, raw_score=True)[goes_on]
        return result

    @pytest.mark.parametrize("objective", ["binary", "multiclass", "multiclassova", "lambdarank"])
    @pytest.mark.parametrize("margin", [0.0, 0.3, 1.5])
    def test_rounds_until_clear(self, objective: str, margin: float) -> None:
        params: dict[str, Any] = {"objective": objective, "min_data_in_leaf": 5}
        label, group = CLASSES, None
        if objective == "binary":
            label = LABEL > 0
        elif objective == "lambdarank":
            group = [50] * 10
        else:
            params["num_class"] = 3
        booster = train(params, Dataset(TABLE, label, group=group), 17)
        for every in (1, 3, 20):
            stop = {
                "pred_early_stop": True,
                "pred_early_stop_freq": every,
                "pred_early_stop_margin": margin,
            }
            for first in (0, 2):
                expected = self.expected(booster, every, margin, first)
                for table in (TABLE, sparse.csr_array(TABLE)):
                    for n_threads in (1, 2):
                        found = booster.predict(
                            table, first, -1, raw_score=True, num_threads=n_threads, **stop
                        )
                        np.testing.assert_array_equal(found, expected)
        full = booster.predict(TABLE, raw_score=True)
        assert not np.array_equal(self.expected(booster, 1, margin), full)

    def test_not_where_scores_must_be_exact(self, model: Booster) -> None:
        found = model.predict(
            TABLE, pred_early_stop=True, pred_early_stop_freq=1, pred_early_stop_margin=0.0
        )
        np.testing.assert_array_equal(found, model.predict(TABLE))

    def test_as_trained(self) -> None:
        params = {"objective": "binary", "pred_early_stop": True, "pred_early_stop_margin": 0.1}
        booster = train({**params, "pred_early_stop_freq": 2}, Dataset(TABLE, LABEL > 0), 10)
        found = [booster.predict(TABLE[:1])[0] for _ in range(3)]
        assert set(found) == {booster.predict(TABLE)[0]}
        assert found[0] != booster.predict(TABLE, pred_early_stop=False)[0]

    def test_frequency(self, model: Booster) -> None:
        with pytest.raises(ParameterError, match="pred_early_stop_freq"):
            model.predict(TABLE, pred_early_stop=True, pred_early_stop_freq=0)


def test_leaves(model: Booster, classifier: Booster) -> None:
    leaves = model.predict(TABLE, pred_leaf=True)
    assert leaves.shape == (500, 10)
    assert leaves.dtype == np.int32
    forest = model.model.forest
    scores = sum(forest.tree(t).leaf_value[leaves[:, t]] for t in range(10))
    np.testing.assert_allclose(scores + model.model.start[0], model.predict(TABLE), rtol=1e-12)
    assert classifier.predict(TABLE, 1, 2, pred_leaf=True).shape == (500, 6)
    np.testing.assert_array_equal(model.predict(TABLE, 3, 2, pred_leaf=True), leaves[:, 3:5])


def test_no_rows_no_predictions(model: Booster, classifier: Booster) -> None:
    assert model.predict(TABLE[:0]).shape == (0,)
    assert classifier.predict(TABLE[:0]).shape == (0, 3)
    assert model.predict(TABLE[:0], pred_leaf=True).shape == (0, 10)


class TestBadTables:
    """What cannot be predicted."""

    @pytest.mark.parametrize("n_columns", [1, 2, 4])
    def test_other_number_of_columns(self, model: Booster, n_columns: int) -> None:
        with pytest.raises(DataError, match=f"differs from the training data's: got {n_columns}"):
            model.predict(np.zeros((5, n_columns)))

    def test_unless_allowed(self, model: Booster) -> None:
        more = np.column_stack([TABLE, np.ones(500)])
        np.testing.assert_array_equal(
            model.predict(more, predict_disable_shape_check=True), model.predict(TABLE)
        )
        fewer = model.predict(TABLE[:, :2], predict_disable_shape_check=True)
        padded = np.column_stack([TABLE[:, :2], np.full(500, np.nan)])
        np.testing.assert_array_equal(fewer, model.predict(padded))

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (np.zeros(3), "expected 2 dimensions"),
            (np.zeros((2, 3, 1)), "expected 2 dimensions"),
            (
                np.array([["a", "b", "c"]]),
                "column 0 has another type .*: got text such as .*, expected numbers",
            ),
            (np.full((2, 3), {}), "neither numbers nor text: got 'dict'"),
        ],
    )
    def test_no_table(self, model: Booster, data: Any, words: str) -> None:
        with pytest.raises(DataError, match=words):
            model.predict(data)

    def test_datasets_and_files(self, model: Booster) -> None:
        with pytest.raises(DataError, match="a Dataset cannot be predicted"):
            model.predict(Dataset(TABLE))
        with pytest.raises(FileNotFoundError, match=r"there is no file 'rows\.csv'"):
            model.predict("rows.csv")

    def test_contributions(self, model: Booster) -> None:
        values = model.predict(TABLE, pred_contrib=True)
        np.testing.assert_allclose(values.sum(axis=1), model.predict(TABLE, raw_score=True))
        np.testing.assert_array_equal(model.predict(TABLE, contrib=True), values)
        for row in 2 * [TABLE[:1]]:  # the second one could go the short way of single rows
            found = Booster.predict(model, row, predict_contrib=True)
            np.testing.assert_array_equal(found, values[:1])

    def test_unknown_parameters(self, model: Booster) -> None:
        with pytest.raises(ParameterError, match="Did you mean num_thread"):
            model.predict(TABLE, num_thread_=2)


class TestFrames:
    """Columns are matched by name."""

    pandas = pytest.importorskip("pandas")

    @pytest.fixture
    def frame(self) -> Any:
        return self.pandas.DataFrame(TABLE, columns=["a", "b", "c"])

    def test_order_does_not_matter(self, frame: Any) -> None:
        model = train({}, Dataset(frame, LABEL), 3)
        assert model.feature_name() == ["a", "b", "c"]
        expected = model.predict(TABLE)
        np.testing.assert_array_equal(model.predict(frame), expected)
        np.testing.assert_array_equal(model.predict(frame[["c", "b", "a"]]), expected)

    def test_other_names(self, frame: Any) -> None:
        model = train({}, Dataset(frame, LABEL), 3)
        other = frame.rename(columns={"b": "x"})
        with pytest.raises(DataError, match="missing 'b', unknown 'x'"):
            model.predict(other)
        with pytest.raises(DataError, match="missing 'c'"):
            model.predict(frame[["a", "b"]])
        with pytest.raises(DataError, match="unknown 'd'"):
            model.predict(frame.assign(d=1.0))

    def test_names_survive_the_file(self, frame: Any) -> None:
        model = train({}, Dataset(frame, LABEL), 3)
        again = Booster(model_str=model.model_to_string())
        np.testing.assert_array_equal(again.predict(frame[["b", "c", "a"]]), model.predict(frame))

    def test_a_model_without_names_takes_any(self, frame: Any, model: Booster) -> None:
        np.testing.assert_array_equal(model.predict(frame), model.predict(TABLE))
