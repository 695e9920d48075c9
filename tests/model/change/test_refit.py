"""Booster.refit: other leaf values, the same splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Booster, CustomObjective, DataError, Dataset, ParameterError, threads, train

RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(800, 4))
LABEL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] + 0.2 * RNG.normal(size=800)
CLASSES = np.digitize(LABEL, [-0.7, 0.7])
WEIGHT = RNG.exponential(size=800)
QUIET = {"num_leaves": 7, "verbosity": -1}
MULTI = {**QUIET, "objective": "multiclass", "num_class": 3}


def make(params: dict[str, Any], label: Any, n_rounds: int = 6, **data: Any) -> Booster:
    return train({**QUIET, **params}, Dataset(TABLE, label, **data), n_rounds)


CASES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "regression": ({}, LABEL, {}),
    "weights": ({}, LABEL, {"weight": WEIGHT}),
    "binary": ({"objective": "binary"}, LABEL > 0, {}),
    "l1": ({"objective": "l1"}, LABEL, {"weight": WEIGHT}),
    "quantile": ({"objective": "quantile", "alpha": 0.8}, LABEL, {}),
    "quantiles": ({"objective": "quantile", "quantile_alpha": [0.2, 0.8]}, LABEL, {}),
    "huber": ({"objective": "huber", "alpha": 0.3}, LABEL, {}),
    "mape": ({"objective": "mape"}, LABEL, {}),
    "poisson": ({"objective": "poisson"}, np.exp(LABEL), {}),
    "multiclass": (MULTI, CLASSES, {}),
    "vector leaves": ({**MULTI, "multi_strategy": "multi_output_tree"}, CLASSES, {}),
    "targets": ({"objective": "l1"}, np.column_stack([LABEL, -LABEL]), {}),
    "ranking": ({"objective": "lambdarank"}, CLASSES, {"group": [100] * 8}),
    "penalties": ({"lambda_l1": 1.0, "lambda_l2": 2.0, "max_delta_step": 0.5}, LABEL, {}),
    "smoothing": ({"path_smooth": 5.0}, LABEL, {}),
    "damping": ({"objective": "binary", "min_sum_hessian_in_leaf": 0.0}, LABEL > 1.5, {}),
    "linear leaves": ({"linear_tree": True, "linear_check": False}, LABEL, {}),
    "linear leaves of classes": (
        {**MULTI, "linear_tree": True, "linear_check": False},
        CLASSES,
        {},
    ),
    "initial scores": ({}, LABEL, {"init_score": LABEL * 0.5}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_data_teaches_the_same(case: str) -> None:
    params, label, fields = CASES[case]
    model = make(params, label, **fields)
    again = model.refit(TABLE, label, decay_rate=0.0, **fields)
    np.testing.assert_allclose(
        again.predict(TABLE, raw_score=True),
        model.predict(TABLE, raw_score=True),
        rtol=2e-3,
        atol=2e-3,
    )


@pytest.mark.parametrize(
    "case", ["regression", "binary", "multiclass", "l1", "vector leaves", "linear leaves"]
)
def test_everything_kept(case: str) -> None:
    params, label, fields = CASES[case]
    model = make(params, label, **fields)
    same = model.refit(TABLE, np.roll(label, 1), decay_rate=1.0, **fields)
    np.testing.assert_array_equal(same.predict(TABLE), model.predict(TABLE))


def test_one_round_by_hand() -> None:
    params = {"learning_rate": 0.3, "lambda_l2": 1.5}
    model = make(params, LABEL, 1)
    other = LABEL + 3.0 * (TABLE[:, 0] > 0)
    moved = model.refit(TABLE, other, decay_rate=0.25)
    old_start, start = model.model.start[0], moved.model.start[0]
    assert start == pytest.approx(0.25 * old_start + 0.75 * np.mean(other.astype(np.float32)))
    leaf = model.predict(TABLE, pred_leaf=True)[:, 0]
    for i in range(7):
        residual = other[leaf == i] - start
        asked = 0.3 * residual.sum() / (len(residual) + 1.5)
        expected = 0.25 * model.get_leaf_output(0, i) + 0.75 * asked
        assert moved.get_leaf_output(0, i) == pytest.approx(expected, rel=1e-5)


def test_a_median_by_hand() -> None:
    model = make({"objective": "l1", "learning_rate": 0.5}, LABEL, 1, weight=WEIGHT)
    moved = model.refit(TABLE, LABEL + 1, decay_rate=0.0, weight=WEIGHT)
    leaf = model.predict(TABLE, pred_leaf=True)[:, 0]
    start = moved.model.start[0]
    for i in range(7):
        rows = np.flatnonzero(leaf == i)
        order = rows[np.argsort(LABEL[rows])]
        total = np.cumsum(WEIGHT[order])
        median = (LABEL[order] + 1)[np.searchsorted(total, total[-1] / 2)]
        assert moved.get_leaf_output(0, i) == pytest.approx(0.5 * (median - start), rel=1e-4)


def test_it_follows_data_that_moved() -> None:
    model = make({}, LABEL, 30)
    other = 2 * LABEL + 1
    # Squared error is linear in the labels: so are leaf values.
    np.testing.assert_allclose(
        model.refit(TABLE, other, decay_rate=0.0).predict(TABLE),
        2 * model.predict(TABLE) + 1,
        rtol=2e-3,
        atol=2e-3,
    )
    error = np.mean((model.predict(TABLE) - other) ** 2)
    assert np.mean((model.refit(TABLE, other, 0.5).predict(TABLE) - other) ** 2) < 0.6 * error


def test_leaves_without_rows_keep_their_value() -> None:
    model = make({}, LABEL, 3)
    rows = np.flatnonzero(model.predict(TABLE, pred_leaf=True)[:, 0] != 2)
    moved = model.refit(TABLE[rows], LABEL[rows] + 5, decay_rate=0.0)
    assert moved.get_leaf_output(0, 2) == model.get_leaf_output(0, 2)
    assert moved.get_leaf_output(0, 1) != model.get_leaf_output(0, 1)
    # So do leaves whose rows all weigh nothing.
    weight = np.ones(800)
    weight[model.predict(TABLE, pred_leaf=True)[:, 0] == 2] = 0
    moved = model.refit(TABLE, LABEL + 5, decay_rate=0.0, weight=weight)
    assert moved.get_leaf_output(0, 2) == model.get_leaf_output(0, 2)


def test_the_model_itself_is_not_changed() -> None:
    model = make({}, LABEL)
    text, params = model.model_to_string(), dict(model.params)
    moved = model.refit(TABLE, LABEL + 1, lambda_l2=3.0)
    assert model.model_to_string() == text and model.params == params
    assert moved.params["lambda_l2"] == 3.0
    assert moved.model_to_string() != text
    for name in ("column", "threshold", "gain", "leaf_count"):
        np.testing.assert_array_equal(
            moved.model.forest.arrays[name], model.model.forest.arrays[name]
        )


def test_a_loaded_model_and_one_in_training() -> None:
    model = make({"objective": "binary"}, LABEL > 0)
    expected = model.refit(TABLE, LABEL > 0.2).model_to_string()
    loaded = Booster(model_str=model.model_to_string())
    assert loaded.refit(TABLE, LABEL > 0.2).model_to_string() == expected
    in_training = Booster({**QUIET, "objective": "binary"}, Dataset(TABLE, LABEL > 0))
    for _ in range(6):
        in_training.update()
    assert in_training.refit(TABLE, LABEL > 0.2).model_to_string() == expected


class Squares(CustomObjective):
    """A loss of one's own."""

    def __call__(self, scores: Any, data: Dataset) -> Any:
        return scores - data.get_label(), np.ones_like(scores)


def test_objectives_of_ones_own() -> None:
    def squares(scores: Any, data: Dataset) -> Any:
        return scores - data.get_label(), np.ones_like(scores)

    model = make({"objective": squares}, LABEL)
    same = model.refit(TABLE, LABEL, decay_rate=0.0)
    np.testing.assert_allclose(same.predict(TABLE), model.predict(TABLE), atol=2e-3)
    loaded = Booster(model_str=model.model_to_string())
    with pytest.raises(ParameterError, match="needs the objective that the model was trained with"):
        loaded.refit(TABLE, LABEL)
    again = loaded.refit(TABLE, LABEL, decay_rate=0.0, objective=squares)
    np.testing.assert_array_equal(again.predict(TABLE), same.predict(TABLE))


@pytest.mark.parametrize("case", ["regression", "multiclass", "huber"])
def test_same_bytes_on_any_number_of_threads(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
    params, label, fields = CASES[case]
    model = make(params, label, **fields)
    texts = {
        model.refit(TABLE, label, num_threads=n, **fields).model_to_string() for n in (1, 2, 3, 8)
    }
    assert len(texts) == 1


def test_beside_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    params = {**QUIET, "learning_rate": 0.3, "boost_from_average": False, "min_data_in_bin": 1}
    params["max_bin"] = 1000
    peer = lightgbm.train(params, lightgbm.Dataset(TABLE, LABEL), 4)
    mine = train(params, Dataset(TABLE, LABEL), 4)
    np.testing.assert_allclose(mine.predict(TABLE), peer.predict(TABLE), rtol=1e-3, atol=1e-3)
    other = LABEL + TABLE[:, 3]
    np.testing.assert_allclose(
        mine.refit(TABLE, other, decay_rate=0.3).predict(TABLE),
        peer.refit(TABLE, other, decay_rate=0.3).predict(TABLE),
        rtol=1e-3,
        atol=1e-3,
    )


class TestBadInput:
    """Precise errors."""

    @pytest.mark.parametrize("rate", [-0.1, 1.1, "half", True, float("nan"), None])
    def test_decay_rate(self, rate: Any) -> None:
        with pytest.raises(ParameterError, match="decay_rate cannot be used"):
            make({}, LABEL, 1).refit(TABLE, LABEL, decay_rate=rate)

    def test_data(self) -> None:
        model = make({}, LABEL, 1)
        with pytest.raises(DataError, match="columns"):
            model.refit(TABLE[:, :3], LABEL)
        with pytest.raises(DataError, match="label and data differ in length"):
            model.refit(TABLE, LABEL[:-1])
        with pytest.raises(DataError, match="no label"):
            model.refit(TABLE, None)

    def test_parameters(self) -> None:
        model = make({}, LABEL, 1)
        with pytest.raises(ParameterError, match="unknown parameter"):
            model.refit(TABLE, LABEL, lamda=3)
        with pytest.raises(ParameterError, match="scores mean something else"):
            model.refit(TABLE, LABEL > 0, objective="binary")


@pytest.mark.filterwarnings("ignore:Linear leaves of LightGBM have no bounds:UserWarning")
@pytest.mark.parametrize(
    ("params", "label"),
    [
        ({}, LABEL + 100),
        ({"objective": "l1"}, LABEL + 100),
        ({"objective": "binary"}, LABEL > 1),
        ({"objective": "poisson"}, np.exp(LABEL + 3)),
        (MULTI, np.digitize(LABEL, [-1.5, -1.0])),
        ({"linear_tree": True, "linear_check": False}, LABEL + 100),
        ({"min_data_in_leaf": 800}, LABEL + 100),
    ],
)
def test_a_start_value_in_the_first_trees(params: dict[str, Any], label: Any) -> None:
    model = make(params, label, 20)
    loaded = Booster(model_str=model.model_to_string(format="lightgbm"))
    assert not loaded.model.start.any()
    for decay_rate in (0.5, 0.9):
        again = loaded.refit(TABLE, label, decay_rate=decay_rate)
        expected = model.refit(TABLE, label, decay_rate=decay_rate)
        np.testing.assert_allclose(
            again.predict(TABLE, raw_score=True),
            expected.predict(TABLE, raw_score=True),
            rtol=0,
            atol=2e-3,
        )
    np.testing.assert_allclose(loaded.predict(TABLE), model.predict(TABLE))  # as before
