"""Parameters that are given and have no effect."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import gossamer as gs
from gossamer.cli.commands import cli
from gossamer.compat import lightgbm as lgb

Params = dict[str, Any]

X = np.random.default_rng(0).normal(size=(200, 3))
Y = X[:, 0] + X[:, 1]

UNUSED = [
    ({"alpha": 0.5}, "alpha=0.5 has no effect with objective=regression"),
    ({"eta": 0.9, "learning_rate": 0.3}, "learning_rate is given more than once"),
    ({"scale_pos_weight": 3}, "scale_pos_weight=3.0 has no effect: it needs two classes"),
    ({"drop_rate": 0.5}, "drop_rate=0.5 has no effect: it needs boosting=dart"),
    ({"top_rate": 0.4}, "top_rate=0.4 has no effect: it needs data_sample_strategy=goss"),
    ({"linear_lambda": 1}, "linear_lambda=1.0 has no effect: it needs linear_tree=true"),
]
USED = [
    {"alpha": 0.9},  # LightGBM's default
    {"alpha": 0.5, "objective": "quantile"},
    {"alpha": 0.5, "objective": "huber"},
    {"eta": 0.2, "learning_rate": "0.2"},
    {"drop_rate": 0.1},  # the default
    {"drop_rate": 0.5, "boosting": "dart"},
    {"top_rate": 0.4, "boosting": "goss"},
    {"scale_pos_weight": 1},
]


def _train(params: Params) -> object:
    return gs.train(params, gs.Dataset(X, Y), 2)


def _cv(params: Params) -> object:
    return gs.cv(params, gs.Dataset(X, Y), 2, nfold=2)


def _folds(params: Params) -> object:
    return gs.train_folds(params, gs.Dataset(X, Y), 2, nfold=2)


def _estimator(params: Params) -> object:
    return gs.GossamerRegressor(n_estimators=2, **params).fit(X, Y)


@pytest.mark.parametrize("train", [_train, _cv, _folds, _estimator])
@pytest.mark.parametrize(("params", "text"), UNUSED)
def test_a_warning(train: Callable[[Params], object], params: Params, text: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train(params)
    assert [str(each.message) for each in caught if text in str(each.message)]
    assert len(caught) == 1
    assert issubclass(caught[0].category, UserWarning)


@pytest.mark.parametrize("train", [_train, _cv, _folds])
def test_silence(train: Callable[[Params], object]) -> None:
    train({"alpha": 0.5, "drop_rate": 0.5, "verbosity": -1})


@pytest.mark.parametrize("params", USED)
def test_no_warning(params: Params) -> None:
    _train(params)


def test_several_classes_are_not_unbalanced() -> None:
    params = {"objective": "multiclass", "num_class": 3, "is_unbalance": True}
    with pytest.warns(UserWarning, match="is_unbalance=True has no effect: it needs two classes"):
        gs.train(params, gs.Dataset(X, np.digitize(Y, [-0.5, 0.5])), 2)


def test_scripts_for_lightgbm_see_what_lightgbm_says() -> None:
    params = {"alpha": 0.5, "drop_rate": 0.5, "scale_pos_weight": 2.0, "verbosity": -1}
    lgb.train({**params, "verbosity": 1}, lgb.Dataset(X, Y), 2)
    lgb.cv({**params, "verbosity": 1}, lgb.Dataset(X, Y), 2, stratified=False, nfold=2)
    lgb.LGBMRegressor(n_estimators=2, alpha=0.5, drop_rate=0.5, scale_pos_weight=2.0).fit(X, Y)


def test_the_command_line_prints_it_once(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    lines = [f"{a:.4f},{b:.4f},{y:.4f}" for (a, b, _), y in zip(X, Y, strict=True)]
    rows.write_text("a,b,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    for more in ([], ["--folds", "2"]):
        args = ["train", str(rows), "-t", "y", "--rounds", "2", "-o", str(tmp_path / "m.gsm")]
        result = CliRunner().invoke(cli, [*args, *more, "alpha=0.5", "drop_rate=0.5"])
        assert result.exit_code == 0, result.output
        for name in ("alpha=0.5", "drop_rate=0.5"):
            assert result.output.count(f"warning: {name} has no effect") == 1
