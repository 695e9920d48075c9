"""Single rows: `Booster.predictor`, and tables of one row."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from gossamer import Booster, CustomObjective, DataError, Dataset, ParameterError, train

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(300, 4))
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
LABEL = np.nan_to_num(TABLE[:, 0] - TABLE[:, 1])
CLASSES = np.digitize(LABEL, [-1, 1])
NAMES = ["age", "height", "weight", "income"]


def fit(params: dict[str, Any], label: Any = LABEL, n_rounds: int = 12, **kwargs: Any) -> Booster:
    data = Dataset(TABLE, label, feature_name=NAMES)
    return train({"min_data_in_leaf": 3, "verbose": -1, **params}, data, n_rounds, **kwargs)


MODELS: dict[str, tuple[dict[str, Any], Any]] = {
    "regression": ({}, LABEL),
    "binary": ({"objective": "binary", "sigmoid": 0.7}, LABEL > 0),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, CLASSES),
    "multiclassova": ({"objective": "multiclassova", "num_class": 3}, CLASSES),
    "cross_entropy": ({"objective": "cross_entropy"}, LABEL > 0),
    "focal": ({"objective": "focal"}, LABEL > 0),
    "poisson": ({"objective": "poisson"}, np.abs(LABEL)),
    "tweedie": ({"objective": "tweedie"}, np.abs(LABEL)),
    "multi:softmax": ({"objective": "multi:softmax", "num_class": 3}, CLASSES),
    "hinge": ({"objective": "hinge"}, LABEL > 0),
    "quantiles": ({"objective": "quantile", "quantile_alpha": [0.1, 0.5, 0.9]}, LABEL),
    "rf": ({"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1}, LABEL),
    "linear": ({"linear_tree": True}, LABEL),
    "vector": ({"multi_strategy": "multi_output_tree"}, np.column_stack([LABEL, -LABEL])),
    "zero_as_missing": ({"zero_as_missing": True}, LABEL),
    "categories": ({"categorical_feature": [2]}, LABEL),
}


@pytest.fixture(params=list(MODELS))
def model(request: Any) -> Booster:
    params, label = MODELS[request.param]
    if request.param == "categories":
        table = TABLE.copy()
        table[:, 2] = np.abs(np.round(np.nan_to_num(TABLE[:, 2]) * 3))
        data = Dataset(table, label, feature_name=NAMES, categorical_feature=["weight"])
        return train({"min_data_in_leaf": 3, "verbose": -1}, data, 12)
    return fit(params, label)


def same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found, expected)
    assert np.shape(found) == np.shape(expected)


class TestPredictor:
    """`Booster.predictor`."""

    @pytest.mark.parametrize("raw_score", [False, True])
    def test_as_predict(self, model: Booster, raw_score: bool) -> None:
        expected = model.predict(TABLE, raw_score=raw_score)
        predictor = model.predictor(raw_score=raw_score)
        for row, prediction in zip(TABLE[:40], expected, strict=False):
            found = predictor(row.tolist())
            same(found, prediction)
            assert isinstance(found, float if prediction.ndim == 0 else np.ndarray)

    def test_rounds(self, model: Booster) -> None:
        for start, number in ((0, 3), (2, 4), (5, -1), (12, -1)):
            expected = model.predict(TABLE[:20], start, number)
            predictor = model.predictor(start, number)
            for row, prediction in zip(TABLE, expected, strict=False):
                same(predictor(row), prediction)

    def test_kinds_of_rows(self) -> None:
        booster = fit({})
        predictor = booster.predictor()
        row = [3, -2, 1, 0]
        expected = booster.predict([row] * 10)[0]
        kinds = [
            row,
            tuple(row),
            [float(x) for x in row],
            [np.float32(x) for x in row],
            [np.int8(x) for x in row],
            [True, np.int64(-2), True, False][:0] + row,
            dict(zip(NAMES, row, strict=True)),
            dict(zip(NAMES[::-1], row[::-1], strict=True)),
            OrderedDict(zip(NAMES, row, strict=True)),
            *(np.array(row, dtype) for dtype in ("f8", "f4", "i1", "i2", "i4", "i8", "f2", ">f8")),
            np.array([row]),
            np.repeat(np.array(row), 3)[::3],
            np.array(row[::-1])[::-1],
            np.asfortranarray(np.array([row, row]))[:1],
            np.array(row, object),
        ]
        for kind in kinds:
            assert predictor(kind) == expected, kind
        unsigned = [3, 2, 1, 0]
        for dtype in ("u1", "u2", "u4", "u8"):
            assert predictor(np.array(unsigned, dtype)) == predictor(unsigned)
        assert predictor([True, False, True, True]) == predictor([1, 0, 1, 1])
        assert predictor(np.array([True, False, True, True])) == predictor([1, 0, 1, 1])

    def test_missing_values(self) -> None:
        predictor = fit({}).predictor()
        expected = predictor([1.0, np.nan, 0.0, np.nan])
        assert predictor([1.0, None, 0.0, None]) == expected
        assert predictor((1.0, None, 0.0, np.float32(np.nan))) == expected
        assert predictor({"age": 1.0, "height": None, "weight": 0, "income": np.nan}) == expected

    def test_series(self) -> None:
        pandas = pytest.importorskip("pandas")
        booster = fit({})
        series = pandas.Series(TABLE[5], NAMES)
        expected = booster.predict(TABLE[:10])[5]
        assert booster.predictor()(series) == expected
        assert booster.predictor()(series[::-1]) == expected

    def test_text(self) -> None:
        data = Dataset([["a", 1.0], ["b", 2.0], ["c", 3.0]] * 20, [1.0, 2.0, 4.0] * 20)
        booster = train({"min_data_in_leaf": 1, "min_data_per_group": 1}, data, 5)
        predictor = booster.predictor()
        for row in (["b", 1.0], ["c", 3.0], ["new", None]):
            assert predictor(row) == booster.predict([row])[0]
            assert predictor(dict(zip(booster.feature_name(), row, strict=True))) == predictor(row)

    def test_links_of_users(self) -> None:
        objective = CustomObjective(
            lambda score, data: (score - data.get_label(), np.ones_like(score)), link=np.tanh
        )
        booster = fit({"objective": objective})
        same(booster.predictor()(TABLE[3]), booster.predict(TABLE)[3])

    @pytest.mark.parametrize(
        ("row", "words"),
        [
            ([1.0, 2.0, 3.0], "number of columns"),
            (np.zeros(5), "number of columns"),
            ([], "number of columns"),
            (["a", 1, 2, 3], "has another type than in the training data"),
            ({"age": 1.0}, "without"),
            ({"age": 1, "height": 1, "weight": 1, "income": 1, "size": 1}, "also"),
            ({"age": 1, "height": 1, "weight": 1, "incme": 1}, "without"),
            (np.zeros((2, 4)), "not one row"),
            (3.0, "not one row"),
            ("abcd", "not one row"),
            (None, "not one row"),
            ({1.0, 2.0, 3.0, 4.0}, "not one row"),
        ],
        ids=str,
    )
    def test_no_rows(self, row: Any, words: str) -> None:
        predictor = fit({}).predictor()
        with pytest.raises(DataError, match=words):
            predictor(row)

    def test_rounds_out_of_range(self) -> None:
        booster = fit({})
        assert booster.predictor(start_iteration=13)(TABLE[0]) == 0
        first = booster.predictor(start_iteration=-1)
        assert first(TABLE[0]) == booster.predict(TABLE[:1])[0]

    def test_training_goes_on(self) -> None:
        """A predictor keeps what it knew, also while others ask it and the model grows."""
        booster = fit({}, keep_training_booster=True)
        predictor = booster.predictor()
        rows = TABLE[:20].tolist()
        expected = [predictor(row) for row in rows]

        def ask(_: int) -> list[float]:
            return [predictor(row) for row in rows for _ in range(20)][::20]

        with ThreadPoolExecutor(4) as pool:
            asked = pool.map(ask, range(16))
            for _ in range(10):
                booster.update()
            assert all(found == expected for found in asked)
        assert predictor(rows[0]) == expected[0]
        assert booster.predictor()(rows[0]) != expected[0]

    def test_many_trees_in_many_threads(self) -> None:
        """So many that other threads run meanwhile."""
        booster = fit({"num_leaves": 3, "learning_rate": 0.01}, n_rounds=2100)
        predictor = booster.predictor()
        expected = booster.predict(TABLE[:30]).tolist()
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(predictor, TABLE[:30].tolist())) == expected


class TestTablesOfOneRow:
    """`Booster.predict` of one row."""

    def test_as_in_a_larger_table(self, model: Booster) -> None:
        expected = model.predict(TABLE[:20])
        raw = model.predict(TABLE[:20], raw_score=True)
        for i in range(20):
            row = TABLE[i : i + 1]
            for table in (row, row, row.tolist(), [tuple(row[0])], row.astype("f8")[:, ::1]):
                same(model.predict(table), expected[i : i + 1])
            same(model.predict(row, raw_score=True), raw[i : i + 1])
            same(model.predict(row, raw_score=True), raw[i : i + 1])
            same(model.predict(row, 1, 2), model.predict(TABLE, 1, 2)[i : i + 1])

    def test_errors_stay(self) -> None:
        booster = fit({})
        for _ in range(3):
            booster.predict(TABLE[:1])
        with pytest.raises(DataError, match="number of columns"):
            booster.predict(TABLE[:1, :2])
        with pytest.raises(DataError, match="number of columns"):
            booster.predict([[1.0]])
        with pytest.raises(ParameterError):
            booster.predict(TABLE[:1], no_such_parameter=1)

    def test_the_model_grows(self) -> None:
        booster = fit({}, keep_training_booster=True)
        row = TABLE[:1]
        before = [booster.predict(row)[0] for _ in range(3)]
        assert len(set(before)) == 1
        booster.update()
        after = [booster.predict(row)[0] for _ in range(3)]
        assert len(set(after)) == 1
        assert before != after
        assert after[0] == booster.predict(TABLE)[0]
        booster.rollback_one_iter()
        assert booster.predict(row)[0] == before[0]

    def test_copies_and_parameters(self) -> None:
        import copy
        import pickle

        booster = fit({"objective": "binary"}, LABEL > 0)
        row = TABLE[:1]
        expected = [booster.predict(row)[0] for _ in range(3)][-1]
        for other in (copy.copy(booster), pickle.loads(pickle.dumps(booster))):
            assert [other.predict(row)[0] for _ in range(3)] == [expected] * 3
        assert booster.predict(row, predict_raw_score=True)[0] == booster.predict(
            row, raw_score=True
        )
        assert booster.predict(row, pred_leaf=True).shape == (1, 12)
