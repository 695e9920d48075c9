"""Where LightGBM warns, and what Ctrl-C does."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import gossamer.compat.lightgbm as lgb
from gossamer.compat.lightgbm.basic import LGBMDeprecationWarning

X = np.random.default_rng(1).normal(size=(200, 3))
Y = X[:, 0] > 0


def test_two_numbers_of_rounds() -> None:
    params = {"num_iterations": 3, "n_iter": 5, "verbosity": -1}
    with pytest.warns(UserWarning, match="conflicting values for num_iterations"):
        model = lgb.train(params, lgb.Dataset(X, Y))
    assert model.num_trees() == 3
    with pytest.warns(UserWarning, match="conflicting values for num_iterations"):
        found = lgb.cv(params, lgb.Dataset(X, Y))
    assert len(found["valid l2-mean"]) == 3


def test_aliases_in_conflict() -> None:
    params = {"reg_lambda": 1.0, "lambda": 2.0, "verbosity": -1}
    with pytest.warns(UserWarning, match="conflicting values for lambda_l2"):
        lgb.Booster(params, lgb.Dataset(X, Y))


def test_the_same_value_twice_is_no_conflict() -> None:
    lgb.train({"n_iter": 2, "num_iterations": 2, "verbosity": -1}, lgb.Dataset(X, Y))
    lgb.train(None, lgb.Dataset(X, Y), 2)


def test_other_names_of_arguments_of_estimators() -> None:
    with pytest.warns(UserWarning, match="Found 'application' in params"):
        model = lgb.LGBMRegressor(n_estimators=2, application="l1").fit(X, X[:, 0])
    assert model.objective_ == "l1"
    with pytest.warns(UserWarning, match="Found 'ndcg_at' in params"):
        lgb.LGBMRanker(n_estimators=2, ndcg_at=[2]).fit(X, Y, group=[100, 100])


def test_eval_set_is_deprecated() -> None:
    model = lgb.LGBMClassifier(n_estimators=2)
    with pytest.warns(LGBMDeprecationWarning, match="eval_set"):
        model.fit(X, Y, eval_set=[(X, Y)])
    model.fit(X, Y, eval_X=X, eval_y=Y)
    assert list(model.evals_result_) == ["training"]


def test_several_metrics_to_plot() -> None:
    history = {"valid": {"auc": [0.7, 0.8], "l2": [0.2, 0.1]}}
    with pytest.warns(UserWarning, match="Several metrics were recorded"):
        ax = lgb.plot_metric(history, ax=Figure().add_subplot())
    assert ax.get_ylabel() == "auc"
    assert lgb.plot_metric(history, "l2", ax=Figure().add_subplot()).get_ylabel() == "l2"


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C is ignored where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
@pytest.mark.filterwarnings("error")
def test_ctrl_c_raises_and_does_not_warn() -> None:
    def interrupt(env: Any) -> None:
        if env.iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        lgb.train({"verbosity": -1}, lgb.Dataset(X, Y), 50, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        lgb.cv({"verbosity": -1}, lgb.Dataset(X, Y), 50, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        lgb.LGBMClassifier(n_estimators=50).fit(X, Y, callbacks=[interrupt])


@pytest.mark.parametrize("depth", [5, 9])
def test_a_depth_without_leaves(depth: int, capsys: pytest.CaptureFixture[str]) -> None:
    params = {"max_depth": depth, "verbosity": 0}
    lgb.Booster(params, lgb.Dataset(X, Y))
    assert f"max_depth={depth} without num_leaves" in capsys.readouterr().out
    for quiet in ({"max_depth": 4}, {"num_leaf": 31}, {"max_depth": "5"}, {"verbose": -1}):
        given = {**params, **quiet}
        if "verbose" in quiet:
            del given["verbosity"]
        lgb.Booster(given, lgb.Dataset(X, Y))
        assert capsys.readouterr().out == ""


def test_labels_that_are_a_column() -> None:
    with pytest.warns(UserWarning, match="column-vector"):
        data = lgb.Dataset(X, Y.reshape(-1, 1))
    np.testing.assert_array_equal(data.construct().get_label().ravel(), Y.astype(np.float32))
