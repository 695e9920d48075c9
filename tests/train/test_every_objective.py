"""What must hold for every objective, by every name: nothing here depends on the loss."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

import gossamer as gs
from gossamer.params import TABLE

CHOICES = TABLE["objective"].choices
NAMES = [name for name in CHOICES if name != "custom"]
N_ROWS = 200
CLASSES = ("multiclass", "multi:softmax", "multiclassova")
RANKING = ("lambdarank", "rank_xendcg", "rank:ndcg", "rank:map", "rank:pairwise")
SMALL = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "num_leaves": 7}


@dataclass(frozen=True)
class Case:
    """Data that an objective can learn from."""

    params: dict[str, Any]
    x: npt.NDArray[Any]
    y: npt.NDArray[Any]
    fields: dict[str, Any] = field(default_factory=dict)
    n_outputs: int = 1

    def data(self, rows: slice = slice(None), **more: Any) -> gs.Dataset:
        fields = dict(self.fields)
        if "group" in fields:
            fields["group"] = [10] * (len(self.y[rows]) // 10)
        return gs.Dataset(self.x[rows], self.y[rows], **{**fields, **more})

    def train(self, n_rounds: int = 5, data: gs.Dataset | None = None, **params: Any) -> gs.Booster:
        return gs.train({**self.params, **params}, data or self.data(), n_rounds)


def make_labels(name: str, signal: npt.NDArray[Any], rng: Any) -> npt.NDArray[Any]:
    if name == "poisson":
        return np.asarray(rng.poisson(np.exp(signal / 2)), dtype=float)
    if name in ("gamma", "mape", "squared_log_error", "aft"):
        return np.exp(signal / 2)
    if name == "cox":
        return np.exp(signal / 2) * np.where(rng.random(len(signal)) < 0.3, -1, 1)
    if name == "tweedie":
        return np.maximum(0, signal)
    if name in ("binary", "binary:logitraw", "hinge", "focal", "rank:map"):
        return (signal > 0).astype(float)
    if name in CLASSES:
        return np.digitize(signal, [-0.5, 0.5]).astype(float)
    if name.startswith("cross_entropy"):
        return 1 / (1 + np.exp(-signal))
    return np.clip(np.round(signal + 1), 0, 4) if name in RANKING else signal


def make_case(name: str, spelling: str = "") -> Case:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N_ROWS, 4))
    signal = x[:, 0] + 0.3 * rng.normal(size=N_ROWS)
    x[rng.random(x.shape) < 0.05] = np.nan
    params: dict[str, Any] = {**SMALL, "objective": spelling or name}
    if name in CLASSES:
        params["num_class"] = 3
    return Case(
        params,
        x,
        make_labels(name, signal, rng),
        {"group": [10] * (N_ROWS // 10)} if name in RANKING else {},
        3 if name in CLASSES else 2 if name == "gaussian" else 1,
    )


def all_cases() -> dict[str, Case]:
    """Every objective, those of several outputs also with one tree for all."""
    cases = {name: make_case(name) for name in NAMES}
    quantiles = replace(cases["quantile"], n_outputs=3)
    quantiles.params["quantile_alpha"] = [0.1, 0.5, 0.9]
    cases["quantile"] = make_case("quantile")
    cases["quantiles"] = quantiles
    cases["reg_sqrt"] = make_case("regression")
    cases["reg_sqrt"].params["reg_sqrt"] = True
    aft = make_case("aft")
    upper = np.where(aft.y > 1, np.inf, aft.y)
    cases["intervals"] = replace(aft, y=np.column_stack([aft.y, upper]))
    for name in ("regression", "regression_l1", "quantile", "poisson", "binary"):
        case = make_case(name)
        several = np.column_stack([case.y, case.y[::-1]])
        cases[f"{name}, 2 targets"] = replace(case, y=several, n_outputs=2)
    vector = {"multi_strategy": "multi_output_tree"}
    for name, case in list(cases.items()):
        if case.n_outputs > 1:
            cases[f"{name}, one tree"] = replace(case, params={**case.params, **vector})
    return cases


CASES = all_cases()
every_case = pytest.mark.parametrize("name", CASES)


def score_of(booster: gs.Booster) -> list[npt.NDArray[np.float64]]:
    training = booster.training
    assert training is not None
    return [scored.score.copy() for scored in (training.train, *training.valid)]


WAYS: list[dict[str, Any]] = [
    {},
    {"boost_from_average": False},
    {"bagging_fraction": 0.5, "bagging_freq": 1},
    {"data_sample_strategy": "goss", "learning_rate": 0.5},
    {"data_sample_strategy": "mvs", "bagging_fraction": 0.5},
    {"feature_fraction": 0.5, "extra_trees": True},
]


@every_case
def test_trains_evaluates_and_goes_back(name: str) -> None:
    for params in WAYS:
        for weighted in (False, True):
            check_training(CASES[name], params, weighted)


def check_training(case: Case, params: dict[str, Any], weighted: bool) -> None:
    more = {}
    if weighted:
        more["weight"] = np.random.default_rng(2).random(100) + 0.1
    train_set, valid_set = case.data(slice(0, 100), **more), case.data(slice(100, 200), **more)
    history: dict[str, Any] = {}
    model = gs.train(
        {**case.params, **params, "is_provide_training_metric": True},
        train_set,
        6,
        valid_sets=[valid_set],
        callbacks=[
            gs.record_evaluation(history),
            gs.reset_parameter(learning_rate=lambda i: 0.3 * 0.9**i),
        ],
        keep_training_booster=True,
    )
    predictions, raw = model.predict(case.x), model.predict(case.x, raw_score=True)
    assert model.num_trees() > 0
    assert len(predictions) == N_ROWS
    assert raw.shape == ((N_ROWS,) if case.n_outputs == 1 else (N_ROWS, case.n_outputs))
    assert np.isfinite(predictions).all() and np.isfinite(raw).all()
    assert history["training"].keys() == history["valid_0"].keys() != set()
    assert all(np.isfinite(v).all() for found in history.values() for v in found.values())

    # The scores kept in training are those that a prediction gives.
    for score, rows in zip(score_of(model), (raw[:100], raw[100:]), strict=True):
        np.testing.assert_allclose(score.reshape(case.n_outputs, 100).T.ravel(), rows.ravel())
    # Another look at the same rows gives the same metrics.
    again = model.eval(case.data(slice(100, 200), reference=train_set, **more), "again")
    for result in again:
        assert result.metric_value == pytest.approx(history["valid_0"][result.metric_name][-1])

    before = score_of(model)
    model.update()
    model.rollback_one_iter()
    for left, right in zip(before, score_of(model), strict=True):
        np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(model.predict(case.x), predictions)


@every_case
def test_is_kept_in_files_and_pickles(name: str) -> None:
    case = CASES[name]
    model = case.train()
    expected = model.predict(case.x)
    for other in (gs.Booster(model_str=model.model_to_string()), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(case.x), expected)


@every_case
def test_sparse_and_dense_are_the_same(name: str) -> None:
    case = CASES[name]
    dense = replace(case, x=np.where(np.abs(case.x) < 1, 0.0, np.round(case.x, 1)))
    dense = replace(dense, x=np.nan_to_num(dense.x))
    table = sparse.csr_matrix(dense.x)
    model = dense.train(data=gs.Dataset(table, dense.y, **dense.fields))
    np.testing.assert_array_equal(model.predict(table), dense.train().predict(dense.x))


@every_case
def test_a_weight_of_all_rows_changes_nothing(name: str) -> None:
    if name == "cross_entropy_lambda":
        pytest.skip("weights are exposures there")
    case, params = CASES[name], {"min_sum_hessian_in_leaf": 0}
    heavy = case.train(data=case.data(weight=np.full(N_ROWS, 4.0)), **params)
    np.testing.assert_allclose(
        heavy.predict(case.x), case.train(**params).predict(case.x), rtol=1e-6, atol=1e-9
    )


@every_case
def test_rows_of_weight_zero_are_as_good_as_absent(name: str) -> None:
    if name == "cross_entropy_lambda" or "group" in CASES[name].fields:
        pytest.skip("weights are exposures there, or absent rows change the queries")
    case = CASES[name]
    params = {**case.params, "min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 1.1}
    weight = np.repeat([1.0, 0.0], N_ROWS // 2)
    all_rows = case.data(weight=weight)
    some = case.data(slice(0, N_ROWS // 2), reference=all_rows)
    models = [gs.train(params, data, 3) for data in (all_rows, some)]
    left, right = (model.predict(case.x[: N_ROWS // 2]) for model in models)
    # Gradients are rounded to units that depend on the number of rows.
    np.testing.assert_allclose(left, right, rtol=2e-3, atol=2e-3 * np.std(right))


@every_case
def test_goes_on_from_its_own_scores(name: str) -> None:
    case = CASES[name]
    if name == "rank_xendcg":
        pytest.skip("its random numbers are those of the round")
    raw = case.train(3).predict(case.x, raw_score=True)
    rest = case.train(2, case.data(init_score=raw)).predict(case.x, raw_score=True)
    whole = case.train(5).predict(case.x, raw_score=True)
    np.testing.assert_allclose(raw + rest, whole, atol=1e-4)


@every_case
@pytest.mark.parametrize("params", [{}, {"min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 0}])
def test_few_rows(name: str, params: dict[str, Any]) -> None:
    case = CASES[name]
    for n_rows in (1, 2, 30):
        # Some losses need a label above 0.
        rows = np.argsort(-case.y.reshape(N_ROWS, -1).min(axis=1))[:n_rows]
        fields = {"group": [n_rows]} if case.fields else {}
        data = gs.Dataset(case.x[rows], case.y[rows], **fields)
        model = gs.train({**case.params, **params}, data, 3, valid_sets=[data])
        assert np.isfinite(model.predict(case.x)).all(), n_rows


@every_case
def test_only_one_row_counts(name: str) -> None:
    if name == "cross_entropy_lambda":
        pytest.skip("weights are exposures there")
    case = CASES[name]
    weight = np.zeros(N_ROWS)
    row = int(np.argmax(case.y.reshape(N_ROWS, -1).min(axis=1)))
    weight[row] = 2.0
    model = case.train(data=case.data(weight=weight))
    assert np.isfinite(model.predict(case.x)).all()


@every_case
def test_odd_scores_to_start_from(name: str) -> None:
    case = CASES[name]
    for start in (-800.0, 800.0, 1e30):
        data = case.data(init_score=np.full(N_ROWS * case.n_outputs, start))
        assert np.isfinite(case.train(data=data, metric="none").predict(case.x)).all()


@pytest.mark.parametrize(
    "name", ["regression", "regression_l1", "quantile", "quantiles", "gaussian", "expectile"]
)
@pytest.mark.parametrize("scale", [2.0**-66, 2.0**66])
def test_predictions_scale_with_the_labels(name: str, scale: float) -> None:
    case = make_case(name) if name == "expectile" else CASES[name]
    params = {"min_sum_hessian_in_leaf": 0 if name == "gaussian" else 1e-3}
    expected = case.train(**params).predict(case.x)
    scaled = replace(case, y=case.y * scale).train(**params).predict(case.x) / scale
    np.testing.assert_allclose(scaled, expected, rtol=1e-4, atol=1e-4 * np.std(expected))


@pytest.mark.parametrize("name", [name for name in NAMES if CHOICES[name]])
def test_aliases_train_the_same_model(name: str) -> None:
    case = make_case(name)
    expected = case.train().predict(case.x)
    for alias in CHOICES[name]:
        for spelling in (alias, f" {alias.upper()} "):
            other = make_case(name, spelling)
            np.testing.assert_array_equal(
                other.train().predict(other.x), expected, err_msg=spelling
            )


@every_case
def test_a_function_takes_over(name: str) -> None:
    """The scores are the function's from then on; what cannot read them is not evaluated."""
    case = CASES[name]
    train_set = case.data()
    model = gs.Booster(case.params, train_set)
    model.add_valid(case.data(reference=train_set), "valid")
    model.update()

    def towards_zero(scores: Any, data: gs.Dataset) -> Any:
        return scores, np.ones_like(scores)

    model.update(fobj=towards_zero)
    results = model.eval_valid()
    model.reset_parameter({"learning_rate": 0.2})
    assert model.eval_valid() == results
    assert np.isfinite([result.metric_value for result in results]).all()
    assert np.isfinite(model.predict(case.x)).all()


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("gaussian", "l1"),
        ("gaussian", "crps"),
        ("quantiles", "quantile"),
        ("cox", "cox-nloglik"),
        ("aft", "aft-nloglik"),
    ],
)
def test_metrics_that_cannot_read_a_function_are_refused(name: str, metric: str) -> None:
    case = CASES[name]
    model = gs.Booster({**case.params, "metric": metric}, case.data())
    model.update()
    before = model.eval_train()
    with pytest.raises(gs.ParameterError, match=f"does not fit objective=custom: got '{metric}'"):
        model.update(fobj=lambda scores, data: (scores, np.ones_like(scores)))
    assert model.eval_train() == before  # nothing happened


# ---- their own metrics ----


def log_loss(y: Any, p: Any) -> Any:
    return -np.log(p[np.arange(N_ROWS), y.astype(int)] if p.ndim > 1 else np.where(y > 0, p, 1 - p))


def pinball(y: Any, p: Any, alpha: float) -> Any:
    return np.maximum(alpha * (y - p), (alpha - 1) * (y - p))


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "regression": lambda y, p: (y - p) ** 2,
    "regression_l1": lambda y, p: abs(y - p),
    "huber": lambda y, p: np.where(abs(y - p) < 0.9, (y - p) ** 2 / 2, 0.9 * (abs(y - p) - 0.45)),
    "fair": lambda y, p: abs(y - p) - np.log1p(abs(y - p)),
    "poisson": lambda y, p: p - y * np.log(p),
    "quantile": lambda y, p: pinball(y, p, 0.9),
    "mape": lambda y, p: abs(y - p) / np.maximum(1, abs(y)),
    "pseudo_huber": lambda y, p: np.sqrt(1 + (y - p) ** 2) - 1,
    "log_cosh": lambda y, p: np.log(np.cosh(y - p)),
    "gamma": lambda y, p: y / p + np.log(p),
    "cross_entropy": lambda y, p: -y * np.log(p) - (1 - y) * np.log(1 - p),
    "hinge": lambda y, p: y != p,
    "binary": log_loss,
    "focal": log_loss,
    "multiclass": log_loss,
    "multiclassova": log_loss,
    "reg_sqrt": lambda y, p: (y - p) ** 2,
    "regression, 2 targets, one tree": lambda y, p: ((y - p) ** 2).mean(axis=1),
    "quantiles": lambda y, p: sum(pinball(y, p[:, k], (0.1, 0.5, 0.9)[k]) for k in range(3)) / 3,
}


@pytest.mark.parametrize("name", LOSSES)
def test_metrics_are_those_of_the_predictions(name: str) -> None:
    case, weight = CASES[name], np.random.default_rng(3).random(N_ROWS)
    history: dict[str, Any] = {}
    model = gs.train(
        {**case.params, "is_provide_training_metric": True},
        case.data(weight=weight),
        5,
        callbacks=[gs.record_evaluation(history)],
    )
    (values,) = history["training"].values()
    loss = LOSSES[name](case.y, model.predict(case.x))
    assert values[-1] == pytest.approx(np.average(loss, weights=weight), rel=1e-5)


# ---- base_score ----

STARTS = {
    "poisson": 2.0,
    "gamma": 0.5,
    "tweedie": 3.0,
    "squared_log_error": -0.5,
    "binary": 0.2,
    "focal": 0.7,
    "cross_entropy": 0.1,
    "cross_entropy_lambda": 1.5,
    "cox": 0.5,
    "aft": 4.0,
    "reg_sqrt": -2.25,
    "regression": -1.0,
    "poisson, 2 targets": 2.0,
}


@pytest.mark.parametrize(("name", "start"), STARTS.items())
def test_base_score_is_a_prediction(name: str, start: float) -> None:
    case = CASES[name]
    model = case.train(1, learning_rate=1e-12, base_score=start)
    np.testing.assert_allclose(model.predict(case.x), start, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("poisson", 0.0),
        ("gamma", -1.0),
        ("squared_log_error", -1.0),
        ("focal", 1.0),
        ("cross_entropy", 0.0),
        ("cross_entropy_lambda", 0.0),
        ("cox", 0.0),
        ("aft", -3.0),
    ],
)
def test_base_score_that_is_no_prediction(name: str, start: float) -> None:
    with pytest.raises(gs.ParameterError, match="base_score is not a prediction of the objective"):
        CASES[name].train(base_score=start)


@pytest.mark.parametrize("name", ["hinge", "gaussian", "multiclass", "quantiles"])
def test_base_score_without_meaning(name: str) -> None:
    with pytest.raises(gs.ParameterError, match="base_score cannot be used with objective="):
        CASES[name].train(base_score=0.5)


# ---- parameters that an objective does not use ----


@pytest.mark.parametrize("name", ["hinge", "focal"])
@pytest.mark.parametrize("params", [{"scale_pos_weight": 3.0}, {"is_unbalance": True}])
def test_class_weights_are_not_ignored(name: str, params: dict[str, Any]) -> None:
    with pytest.raises(gs.ParameterError, match=f"objective={name} does not weight its classes"):
        CASES[name].train(**params)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("regresion", "regression"), ("rank:ndgc", "rank:ndcg"), ("multi:softprb", "multi:softprob")],
)
def test_unknown_names_suggest_the_close_one(wrong: str, right: str) -> None:
    with pytest.raises(gs.ParameterError, match=f"Did you mean .*{right}"):
        gs.Booster({"objective": wrong}, CASES["regression"].data())
