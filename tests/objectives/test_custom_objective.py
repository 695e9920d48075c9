"""`CustomObjective`: gradient, start value, link, and what goes wrong."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer import Booster, CustomObjective, DataError, Dataset, ParameterError, train

RNG = np.random.default_rng(0)
N_ROWS = 400
X = RNG.normal(size=(N_ROWS, 4))
BINARY = (X[:, 0] + X[:, 1] + RNG.normal(size=N_ROWS) > 0.5).astype(float)
CLASSES = np.digitize(X[:, 0], [-0.5, 0.5])
COUNTS = RNG.poisson(np.exp(X[:, 0]))
QUIET = {"verbosity": -1, "min_data_in_leaf": 5, "num_leaves": 8}


def sigmoid(score: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-score))


def logistic(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    p = sigmoid(score)
    return p - data.get_label(), p * (1 - p)


def log_odds(data: Dataset) -> float:
    share = data.get_label().mean(dtype=np.float64)
    return float(np.log(share / (1 - share)))


class Logistic(CustomObjective):
    """As a subclass."""

    link = "sigmoid"
    metric = "logloss"

    def gradient(self, score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        return logistic(score, data)

    def start(self, data: Dataset) -> float:
        return log_odds(data)


class OwnLink(Logistic):
    """A link that is not a name."""

    def link(self, score: np.ndarray) -> np.ndarray:
        return sigmoid(score)


def squares(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    return score - data.get_label(), np.ones_like(score)


def softmax_loss(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    exp = np.exp(score - score.max(axis=1, keepdims=True))
    p = exp / exp.sum(axis=1, keepdims=True)
    is_class = np.eye(score.shape[1])[data.get_label().astype(int)]
    return p - is_class, score.shape[1] / (score.shape[1] - 1) * p * (1 - p)


def fit(objective: Any, y: Any = BINARY, n_rounds: int = 10, **params: Any) -> Booster:
    data = Dataset(X, y)
    return train({**QUIET, "objective": objective, **params}, data, n_rounds, valid_sets=[data])


@pytest.mark.parametrize(
    "objective",
    [
        Logistic(),
        OwnLink(),
        CustomObjective(logistic, start=log_odds, link="sigmoid", metric="binary_logloss"),
        CustomObjective(logistic, start=log_odds, link=sigmoid, metric="binary_logloss"),
    ],
    ids=["subclass", "method", "filled in", "function"],
)
def test_equals_the_built_in_loss(objective: CustomObjective) -> None:
    own, built_in = fit(objective), fit("binary")
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), atol=1e-4)
    np.testing.assert_allclose(
        own.predict(X, raw_score=True), built_in.predict(X, raw_score=True), atol=1e-3
    )
    assert list(own.best_score["training"]) == ["binary_logloss"]
    expected = built_in.best_score["training"]["binary_logloss"]
    assert own.best_score["training"]["binary_logloss"] == pytest.approx(expected, rel=1e-4)


def test_squares_equal_the_built_in_loss_bit_for_bit() -> None:
    """On labels and scores that float32 holds exactly there is nothing to round."""
    y = np.round(4 * X[:, 0])
    start = CustomObjective(squares, start=2.0)
    own = fit(start, y, 1, learning_rate=1.0)
    built_in = fit("regression", y, 1, learning_rate=1.0, base_score=2.0)
    thresholds = [m.model.forest.arrays["threshold"] for m in (own, built_in)]
    np.testing.assert_array_equal(*thresholds)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), rtol=1e-6)


def test_several_outputs_with_softmax() -> None:
    def start(data: Dataset) -> Any:
        return np.log(np.bincount(data.get_label().astype(int)) / N_ROWS)

    objective = CustomObjective(
        softmax_loss, start=start, link="softmax", n_outputs=3, metric="multi_logloss"
    )
    own, built_in = fit(objective, CLASSES), fit("multiclass", CLASSES, num_class=3)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), atol=1e-3)
    expected = built_in.best_score["training"]["multi_logloss"]
    assert own.best_score["training"]["multi_logloss"] == pytest.approx(expected, rel=1e-3)
    assert own.num_model_per_iteration() == 3


@pytest.mark.parametrize("order", ["C", "F", "flat"])
def test_function_of_several_outputs(order: str) -> None:
    """Rows x outputs in any memory order, or flattened output after output."""

    def shaped(score: np.ndarray, data: Dataset) -> Any:
        assert score.shape == (N_ROWS, 3)
        parts = softmax_loss(score, data)
        if order == "flat":
            return tuple(part.ravel(order="F") for part in parts)
        return tuple(np.asarray(part, order=order) for part in parts)  # type: ignore[call-overload]

    expected = fit(softmax_loss, CLASSES, num_class=3).predict(X)
    np.testing.assert_array_equal(fit(shaped, CLASSES, num_class=3).predict(X), expected)


def test_several_targets() -> None:
    y = np.column_stack([BINARY, 1 - BINARY])
    seen = set()

    def feval(predictions: np.ndarray, data: Dataset) -> tuple[str, float, bool]:
        seen.add((predictions.shape, bool(predictions.min() > 0)))
        return "p", float(predictions.mean()), False

    data = Dataset(X, y)
    params = {**QUIET, "objective": CustomObjective(logistic, link="sigmoid", metric="auc")}
    model = train(params, data, 5, valid_sets=[data], feval=feval)
    alone = fit(CustomObjective(logistic, link="sigmoid", metric="auc"), BINARY, 5)
    assert seen == {((N_ROWS, 2), True)}
    np.testing.assert_array_equal(model.predict(X)[:, 0], alone.predict(X))
    assert list(model.best_score["training"]) == ["auc", "p"]
    assert model.best_score["training"]["auc"] > 0.8


def test_feval_sees_scores_of_a_plain_function() -> None:
    lowest = []

    def feval(predictions: np.ndarray, data: Dataset) -> tuple[str, float, bool]:
        lowest.append(predictions.min())
        return "lowest", float(predictions.min()), False

    for objective in (logistic, Logistic()):
        data = Dataset(X, BINARY)
        train({**QUIET, "objective": objective}, data, 5, valid_sets=[data], feval=feval)
    assert max(lowest[:5]) < 0 < min(lowest[5:])


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("identity", lambda s: s),
        ("exp", np.exp),
        ("sigmoid", sigmoid),
        ("softplus", lambda s: np.log1p(np.exp(s))),
    ],
)
@pytest.mark.parametrize("n_targets", [1, 2])
def test_named_links_are_kept_in_files(
    link: str, expected: Any, n_targets: int, tmp_path: Path
) -> None:
    y = np.column_stack([X[:, 0], X[:, 1]])[:, :n_targets]
    model = fit(CustomObjective(squares, link=link), y)
    score = model.predict(X, raw_score=True)
    np.testing.assert_allclose(model.predict(X), expected(score), rtol=1e-6)
    model.save_model(tmp_path / "model.safetensors")
    for again in (
        Booster(model_file=tmp_path / "model.safetensors"),
        Booster(model_str=model.model_to_string()),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.predict(X, raw_score=True), score)


def test_link_functions_and_files(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    model = fit(OwnLink())
    model.save_model(path)
    with pytest.warns(UserWarning, match=r"link function.*set_objective"):
        loaded = Booster(model_file=path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X, raw_score=True))
    assert loaded.set_objective(OwnLink()) is loaded
    for again in (
        loaded,
        Booster(model_file=path, objective=OwnLink()),
        Booster(model_str=model.model_to_string(), objective=OwnLink()),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        copy.copy(model),
    ):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    # A model of a plain function may be given a link afterwards.
    plain = Booster(model_str=fit(logistic).model_to_string(), objective=Logistic())
    assert plain.predict(X).min() > 0


def test_link_functions_that_cannot_be_pickled() -> None:
    model = fit(CustomObjective(logistic, link=lambda score: sigmoid(score)))
    assert copy.deepcopy(model).predict(X).min() > 0
    with pytest.warns(UserWarning, match="cannot be pickled"):
        content = pickle.dumps(model)
    again = pickle.loads(content)
    np.testing.assert_array_equal(again.predict(X), model.predict(X, raw_score=True))
    again.set_objective(Logistic())
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)


def test_objectives_that_cannot_be_set() -> None:
    model = fit(OwnLink(), n_rounds=1)
    with pytest.raises(ParameterError, match="expected a CustomObjective"):
        model.set_objective(logistic)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"n_outputs.*got 2, expected 1"):
        model.set_objective(CustomObjective(logistic, n_outputs=2))
    with pytest.raises(DataError, match="got 'binary'"):
        fit("binary", n_rounds=1).set_objective(Logistic())
    with pytest.raises(DataError, match="in training"):
        Booster({"objective": Logistic()}, Dataset(X, BINARY)).set_objective(Logistic())
    with pytest.raises(ParameterError, match=r"params\['objective'\]"):
        Booster({}, Dataset(X, BINARY), objective=Logistic())


def test_as_an_argument_of_update() -> None:
    booster = Booster({**QUIET, "objective": "custom"}, Dataset(X, BINARY))
    for _ in range(5):
        booster.update(fobj=Logistic())
    assert 0 < booster.predict(X).min() < booster.predict(X).max() < 1


def test_wrong_gradients() -> None:
    def answer(gradient: Any, hessian: Any) -> Any:
        return CustomObjective(lambda score, data: (gradient, hessian))

    ones, bad = np.ones(N_ROWS), np.ones(N_ROWS)
    bad[5] = np.nan
    negative = np.ones(N_ROWS)
    negative[7] = -1
    two = np.ones((N_ROWS, 2))
    for objective, text in (
        (answer(ones[:-1], ones), r"gradient has shape \(399,\): expected \(400,\)"),
        (answer(ones, two), r"hessian has shape \(400, 2\)"),
        (answer(bad, ones), "gradient that is not finite for row 5"),
        (answer(ones, bad), "hessian that is not finite for row 5"),
        (answer(ones * 1e39, ones), "gradient that is not finite for row 0"),
        (answer(ones, negative), r"negative hessian for row 7: got -1\.0"),
        (answer(ones, ones * 0), "hessian of 0 for every row"),
        (answer(["a"] * N_ROWS, ones), "gradient must be numeric"),
        (CustomObjective(lambda score, data: 3), "expected two arrays"),
    ):
        with pytest.raises(DataError, match=text):
            fit(objective, n_rounds=1)
    with pytest.raises(DataError, match=r"shape \(400, 3\).*\(400, 2\)"):
        fit(lambda s, d: (np.ones((N_ROWS, 3)), s), CLASSES, 1, num_class=2)


def test_gradients_of_zero_may_have_hessians_of_zero() -> None:
    model = fit(CustomObjective(lambda score, data: (score * 0, score * 0)), n_rounds=3)
    assert (model.predict(X) == 0).all()


@pytest.mark.parametrize("start", [[1.0, 2.0], np.nan, "a", np.inf, [], [[None]]], ids=str)
def test_wrong_start(start: Any) -> None:
    with pytest.raises(DataError, match=r"start\(\) of the objective.*1 of them"):
        fit(CustomObjective(logistic, start=lambda data: start), n_rounds=1)


def test_start_of_several_outputs() -> None:
    objective = CustomObjective(softmax_loss, start=[1.0, 2.0, 3.0], n_outputs=3)
    model = fit(objective, CLASSES, 0)
    assert model.predict(X).shape == (N_ROWS, 3)
    one = fit(CustomObjective(softmax_loss, start=0.5, n_outputs=3), CLASSES, 1)
    np.testing.assert_array_equal(one.model.start, [0.5] * 3)


@pytest.mark.parametrize(
    ("objective", "params", "text"),
    [
        (CustomObjective(), {}, "CustomObjective has no gradient"),
        (CustomObjective(logistic, link="logit"), {}, "no link of this name: got 'logit'"),
        (CustomObjective(logistic, link="softmax"), {}, "softmax needs several outputs"),
        (CustomObjective(logistic, n_outputs=0), {}, "n_outputs.*out of range"),
        (CustomObjective(logistic, n_outputs=2), {"num_class": 3}, "got 2, expected 3"),
        (CustomObjective(logistic, metric="no such"), {}, "metric"),
        (CustomObjective(logistic, metric="multi_error"), {}, "multi_error"),
    ],
)
def test_wrong_descriptions(objective: Any, params: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        fit(objective, n_rounds=1, **params)


@pytest.mark.parametrize("shape", [(3,), (N_ROWS + 1,), (), (N_ROWS, 1, 1)], ids=str)
def test_wrong_links(shape: tuple[int, ...]) -> None:
    model = fit(CustomObjective(logistic, link=lambda score: np.zeros(shape)), n_rounds=1)
    with pytest.raises(DataError, match=r"link of the objective.*400 rows"):
        model.predict(X)


def test_links_may_change_the_shape() -> None:
    """Several numbers from one score, and a copy: the link cannot change the scores."""

    def both(score: np.ndarray) -> np.ndarray:
        p = sigmoid(score)
        score[:] = 0
        return np.column_stack([1 - p, p])

    model = fit(CustomObjective(logistic, link=both))
    assert model.predict(X).shape == (N_ROWS, 2)
    np.testing.assert_allclose(model.predict(X)[:, 1], sigmoid(model.predict(X, raw_score=True)))


@pytest.mark.parametrize(
    ("n_targets", "metric"), [(1, "l2"), (1, "binary_logloss"), (1, "binary_error"), (2, "l2")]
)
def test_links_that_change_the_shape_and_metrics(n_targets: int, metric: str) -> None:
    y = np.column_stack([BINARY, BINARY])[:, :n_targets]
    objective = CustomObjective(logistic, link=lambda score: np.zeros((len(score), 3)))
    with pytest.raises(DataError, match=r"shape \(400, 3\): expected \(400,.*metric='none'"):
        fit(objective, y, 1, metric=metric)


def test_links_may_return_any_numbers() -> None:
    """Metrics by name want float64."""
    objective = CustomObjective(logistic, link=lambda score: score > 0, metric=["l1", "error"])
    model = fit(objective)
    wrong = (model.predict(X) != BINARY).mean()
    assert model.best_score["training"] == pytest.approx({"l1": wrong, "binary_error": wrong})


def test_functions_may_have_attributes_of_the_same_names() -> None:
    def function(score: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        return logistic(score, data)

    function.metric = len  # type: ignore[attr-defined]
    function.n_outputs = "many"  # type: ignore[attr-defined]
    assert fit(function, n_rounds=1).num_trees() == 1


# ---- base_score ----


@pytest.mark.parametrize(
    ("objective", "y", "base_score", "score"),
    [
        ("regression", COUNTS, 3.5, 3.5),
        ("binary", BINARY, 0.2, np.log(0.25)),
        (Logistic(), BINARY, 0.2, np.log(0.25)),
        (CustomObjective(squares, link="exp"), COUNTS, 2.0, np.log(2)),
        (CustomObjective(squares, link="softplus"), COUNTS, 2.0, np.log(np.expm1(2))),
        (squares, COUNTS, 2.0, 2.0),
        ("regression", np.column_stack([COUNTS, BINARY]), 3.5, [3.5, 3.5]),
    ],
)
def test_base_score_is_what_a_model_starts_from(
    objective: Any, y: Any, base_score: float, score: Any
) -> None:
    model = fit(objective, y, 1, base_score=base_score, learning_rate=1e-12)
    np.testing.assert_allclose(model.predict(X, raw_score=True)[0], score, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), base_score, rtol=1e-6)


def test_base_score_and_others() -> None:
    away = fit("regression", COUNTS, 1, base_score=3.5, boost_from_average=False)
    assert away.model.start == [3.5]
    data = Dataset(X, COUNTS, init_score=np.full(N_ROWS, 2.0))
    assert train({**QUIET, "base_score": 3.5}, data, 1).model.start == [0]


@pytest.mark.parametrize(
    ("objective", "y", "params", "text"),
    [
        ("binary", BINARY, {"base_score": 1.0}, "base_score is not a prediction.*got 1.0.*< 1"),
        ("binary", BINARY, {"base_score": 0.0}, "base_score is not a prediction"),
        ("binary", BINARY, {"base_score": -2.0}, "base_score is not a prediction"),
        ("multiclass", CLASSES, {"base_score": 0.5, "num_class": 3}, "objective=multiclass"),
        (OwnLink(), BINARY, {"base_score": 0.5}, "base_score cannot be used with objective=custom"),
        (CustomObjective(squares, link="exp"), COUNTS, {"base_score": 0.0}, "a number > 0"),
    ],
)
def test_base_score_that_does_not_fit(objective: Any, y: Any, params: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        fit(objective, y, 1, **params)
