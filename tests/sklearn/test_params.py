from __future__ import annotations

import inspect
from typing import Any

import lightgbm
import numpy as np
import pytest
from sklearn.base import clone

import gossamer
from gossamer import GossamerClassifier, GossamerModel, GossamerRegressor
from gossamer.errors import ParameterError
from gossamer.sklearn.arguments import take_out, to_seed, to_threads, training_params
from gossamer.threads import available_cpus

NAMES = ["Model", "Classifier", "Regressor", "Ranker"]


@pytest.mark.parametrize("name", NAMES)
def test_arguments_are_lightgbms(name: str) -> None:
    ours, theirs = getattr(gossamer, f"Gossamer{name}"), getattr(lightgbm, f"LGBM{name}")
    assert getattr(gossamer, f"LGBM{name}") is ours
    methods = ["__init__", "fit", "predict"]
    if name == "Classifier":
        methods += ["predict_proba", "decision_function"]
    for method in methods:
        expected = inspect.signature(getattr(theirs, method)).parameters.values()
        found = [*inspect.signature(getattr(ours, method)).parameters.values()]
        # By default columns are checked as scikit-learn does; False takes them by position.
        ours_alone = {"validate_features": None}
        assert [(p.name, p.kind, p.default) for p in found[: len(expected)]] == [
            (p.name, p.kind, ours_alone.get(p.name, p.default)) for p in expected
        ]
        for own in found[len(expected) :]:
            assert own.kind is inspect.Parameter.KEYWORD_ONLY
            assert own.default is None


@pytest.mark.parametrize("name", NAMES)
def test_attributes_are_lightgbms(name: str, class_rows: Any) -> None:
    theirs = getattr(lightgbm, f"LGBM{name}")
    model = getattr(gossamer, f"Gossamer{name}")(objective=None if name != "Model" else "l2")
    model.fit(*class_rows, **({"group": [len(class_rows[0])]} if name == "Ranker" else {}))
    public = {name for name in dir(theirs) if name.endswith("_") and not name.startswith("_")}
    assert "best_score_" in public
    for attribute in public - {"feature_names_in_"}:  # only where columns have names
        getattr(model, attribute)


def test_other_parameters_are_parameters(number_rows: Any) -> None:
    model = GossamerRegressor(max_bin=15, eta=0.3, verbose=-1)
    assert {"max_bin": 15, "eta": 0.3}.items() <= model.get_params().items()
    assert repr(model) == "GossamerRegressor(eta=0.3, max_bin=15, verbose=-1)"
    assert "eta" in model._repr_html_()
    again = clone(model).set_params(min_data_in_bin=1, max_bin=31)
    assert again.get_params()["max_bin"] == 31
    assert model.get_params()["max_bin"] == 15
    params = again.fit(*number_rows).booster_.resolved_params
    assert (params.max_bin, params.learning_rate, params.min_data_in_bin) == (31, 0.3, 1)


def test_another_name_wins_over_a_default(number_rows: Any) -> None:
    model = GossamerRegressor(max_leaves=4, num_boost_round=7).fit(*number_rows)
    assert model.n_estimators_ == model.n_iter_ == 7
    assert model.booster_.resolved_params.num_leaves == 4


def test_a_default_counts_as_not_given(number_rows: Any) -> None:
    def resolved(**params: Any) -> Any:
        return GossamerRegressor(**params).fit(*number_rows).booster_.resolved_params

    assert resolved(max_depth=3).num_leaves == 8
    assert resolved(subsample=0.5).bagging_freq == 1
    assert resolved(subsample=0.5, subsample_freq=0).bagging_freq == 1
    assert resolved(subsample=0.5, bagging_freq=0).bagging_freq == 0
    assert resolved(subsample=0.5, subsample_freq=3).bagging_freq == 3
    assert not resolved().given - {"objective", "metric"}


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({"num_leafs": 31}, "Did you mean .*num_leaves"),
        ({"num_leaves_": 31}, "Did you mean .*num_leaves"),
        ({"_num_leaves": 31}, "Did you mean .*num_leaves"),
        ({"num_leaves": 1}, "out of range"),
        ({"learning_rate": "fast"}, "invalid value"),
        ({"random_state": "seed"}, "invalid value"),
        ({"n_jobs": "all"}, "invalid value"),
        ({"importance_type": "weight"}, "'split', 'gain', .* or 'mean_cover'"),
        ({"objective": "regresion"}, "Did you mean regression"),
        ({"metric": "rmsee"}, "Did you mean rmse"),
        ({"subsample": 0.0}, "> 0"),
    ],
)
def test_arguments_are_checked_in_fit(number_rows: Any, params: Any, what: str) -> None:
    model = GossamerRegressor(**params)
    with pytest.raises(ParameterError, match=what):
        model.fit(*number_rows)


def test_set_params_of_an_unknown_one() -> None:
    with pytest.raises(ParameterError, match=r"Did you mean .*num_leaves"):
        GossamerRegressor().set_params(num_leavs=3)
    with pytest.raises(ValueError, match="nothing"):
        GossamerRegressor().set_params(nothing__of__the__kind=3)


def test_a_copy_does_not_share_its_parameters() -> None:
    import copy

    model = GossamerRegressor(max_bin=15)
    other = copy.copy(model).set_params(max_bin=63)
    assert (model.get_params()["max_bin"], other.get_params()["max_bin"]) == (15, 63)


class Stump(GossamerRegressor):
    """A subclass as users write them."""

    def __init__(self, *, scale: float = 1.0, num_leaves: int = 2, **kwargs: Any) -> None:
        self.scale = scale
        super().__init__(num_leaves=num_leaves, **kwargs)


def test_subclass(number_rows: Any) -> None:
    model = clone(Stump(scale=2.0, learning_rate=0.5, max_bin=7))
    params = model.get_params()
    assert (params["scale"], params["learning_rate"], params["max_bin"]) == (2.0, 0.5, 7)
    resolved = model.fit(*number_rows).booster_.resolved_params
    assert (resolved.num_leaves, resolved.learning_rate, resolved.max_bin) == (2, 0.5, 7)


def test_random_state(number_rows: Any) -> None:
    def predictions(random_state: Any) -> Any:
        model = GossamerRegressor(subsample=0.5, n_estimators=5, random_state=random_state)
        return model.fit(*number_rows).predict(number_rows[0])

    np.testing.assert_array_equal(predictions(3), predictions(np.int64(3)))
    np.testing.assert_array_equal(predictions(None), predictions(None))
    assert (predictions(3) != predictions(4)).any()
    for make in (np.random.RandomState, np.random.default_rng):
        np.testing.assert_array_equal(predictions(make(0)), predictions(make(0)))
        assert (predictions(make(0)) != predictions(make(1))).any()
    assert to_seed("anything else") == "anything else"


def test_n_jobs(monkeypatch: pytest.MonkeyPatch, number_rows: Any) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    n_cpus = available_cpus()
    assert (to_threads(None), to_threads(0), to_threads(5)) == (0, 0, 5)
    assert (to_threads(-1), to_threads(-n_cpus), to_threads(-100)) == (n_cpus, 1, 1)
    for text, expected in (("1", 1), ("1,4", 1), ("1000", n_cpus), ("", 0), ("many", 0)):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert to_threads(None) == expected
        assert to_threads(2) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    arguments = {"n_jobs": None}
    assert training_params(arguments, arguments, {}) == {"n_jobs": 1}
    assert training_params(arguments, arguments, {"nthread": 4}) == {"nthread": 4}
    x, y = number_rows
    expected_values = GossamerRegressor().fit(x, y).predict(x)
    for n_jobs in (None, 1, 3, -1):
        model = GossamerRegressor(n_jobs=n_jobs).fit(x, y)
        for asked in ({}, {"n_jobs": 2}, {"num_threads": 1}):
            np.testing.assert_array_equal(model.predict(x, **asked), expected_values)
    model = GossamerRegressor(nthread=2).fit(x, y)
    np.testing.assert_array_equal(model.predict(x), expected_values)


def test_take_out() -> None:
    params = {"metrics": "auc", "metric": None, "eta": 1}
    assert take_out(params, "metric") == "auc"
    assert params == {"eta": 1}


def test_the_base_needs_an_objective(number_rows: Any) -> None:
    with pytest.raises(ParameterError, match="needs an objective"):
        GossamerModel().fit(*number_rows)
    model = GossamerModel(objective="binary").fit(number_rows[0], number_rows[1] > 0)
    assert model.objective_ == "binary"
    assert ((model.predict(number_rows[0]) > 0.5) == (number_rows[1] > 0)).mean() > 0.9


def test_importance_type(number_rows: Any) -> None:
    model = GossamerRegressor().fit(*number_rows)
    counts = model.feature_importances_
    gains = model.set_params(importance_type="gain").feature_importances_
    assert counts.sum() == sum(model.booster_.feature_importance("split"))
    assert gains.argmax() == 0
    assert GossamerClassifier().get_params()["importance_type"] == "split"
