"""Arguments that once raised errors from the inside of the package, Python's or NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer import Booster, Dataset, GossamerError, GossamerRegressor
from gossamer.arguments import as_list, as_path, check_count, check_flag, length_of
from gossamer.compat import xgboost as as_xgboost

ROWS = np.random.default_rng(0).normal(size=(60, 3))
LABEL = ROWS[:, 0]
SMALL = {"verbosity": -1, "num_threads": 1, "num_leaves": 4}
MANY = np.zeros(3)  # neither true nor false


@pytest.fixture(scope="module")
def model() -> Booster:
    return gs.train_folds(SMALL, data(), 3, nfold=3)


def data(**options: Any) -> Dataset:
    return Dataset(ROWS, LABEL, **options)


def matrix(**options: Any) -> as_xgboost.DMatrix:
    return as_xgboost.DMatrix(ROWS, LABEL, **options)


def training() -> Booster:
    return Booster(SMALL, data())


CALLS: dict[str, Callable[[Booster], Any]] = {
    "a flag": lambda model: model.predict(ROWS, raw_score=MANY),
    "a flag by position": lambda model: model.predict(ROWS, 0, None, MANY),
    "a flag of intervals": lambda model: model.predict_interval(ROWS, tight=MANY),
    "a flag of a training": lambda _: gs.train(SMALL, data(), 1, keep_training_booster=MANY),
    "a flag of a data set": lambda _: data(free_raw_data=MANY),
    "a column": lambda _: data().construct().feature_num_bin(None),  # type: ignore[arg-type]
    "a reference": lambda _: data().set_reference(5),  # type: ignore[arg-type]
    "a limit": lambda _: data().get_ref_chain("x"),  # type: ignore[arg-type]
    "names of columns": lambda _: data(feature_name=np.array("x")).construct(),
    "queries": lambda _: data(query=np.array([{}] * 60)).construct(),
    "a member": lambda model: model.fold_member(2.5),  # type: ignore[arg-type]
    "a large number": lambda model: model[:].set_leaf_output(0, 0, 10**400),
    "a parameter's name": lambda _: training().reset_parameter({1: 2}),  # type: ignore[dict-item]
    "a data set's name": lambda _: training().add_valid(data(), 5),  # type: ignore[arg-type]
    "initial scores": lambda model: model[:].refit(ROWS, LABEL, init_score=ROWS),
    "features": lambda model: model.partial_dependence(ROWS, None),  # type: ignore[arg-type]
    "a hook": lambda model: model.dump_model(object_hook=5),  # type: ignore[arg-type]
    "what a hook returns": lambda model: model.dump_model(object_hook=lambda _: None),
    "bins": lambda model: model.get_split_value_histogram(0, bins=-1),
    "labels without length": lambda model: model.permutation_importance(ROWS, np.array("x")),
    "folds": lambda _: gs.cv(SMALL, data(), 1, folds=b"x"),
    "a number of folds": lambda _: gs.cv(SMALL, data(), 1, nfold=None),  # type: ignore[arg-type]
    "a preparation": lambda _: gs.cv(SMALL, data(), 1, fpreproc=5),  # type: ignore[arg-type]
    "repeats": lambda _: gs.train_folds(SMALL, data(), 1, repeats=10**400),
    "a seed": lambda _: gs.train_folds(SMALL, data(), 1, seed=None),  # type: ignore[arg-type]
    "members": lambda _: gs.train_folds(SMALL, data(), 1, members=5),  # type: ignore[arg-type]
    "callbacks of folds": lambda _: gs.train_folds(SMALL, data(), 1, callbacks="x"),  # type: ignore[arg-type]
    "callbacks": lambda _: gs.train_quality(SMALL, data(), "fast", callbacks=5),  # type: ignore[arg-type]
    "a path with a zero": lambda _: Booster(model_file="a\0b"),
    "half a character": lambda model: model.save_model("\ud800"),
    "not a path": lambda model: model.to_c(5),  # type: ignore[arg-type]
    "a quality": lambda _: GossamerRegressor(quality=MANY).fit(ROWS, LABEL),
    "early stopping": lambda _: GossamerRegressor(early_stopping=MANY).fit(ROWS, LABEL),
    "a metric": lambda _: GossamerRegressor().fit(ROWS, LABEL, eval_metric=5),
    "callbacks of an estimator": lambda _: GossamerRegressor().fit(ROWS, LABEL, callbacks=5),
    "scalars by name": lambda _: GossamerRegressor().fit({"x": 1}, LABEL),
    "XGBoost: rounds": lambda _: as_xgboost.train({}, matrix(), None),
    "XGBoost: many rounds": lambda _: as_xgboost.train({}, matrix(), 10**400),
    "XGBoost: output": lambda _: as_xgboost.train({}, matrix(), 1, verbose_eval=np.nan),
    "XGBoost: results": lambda _: as_xgboost.train({}, matrix(), 1, evals_result=5),
    "XGBoost: an objective": lambda _: as_xgboost.train({}, matrix(), 1, obj=5),
    "XGBoost: margins": lambda _: matrix(base_margin=-1),
    "XGBoost: bounds": lambda _: matrix(label_lower_bound=LABEL, label_upper_bound=-1),
    "XGBoost: types": lambda _: matrix(feature_types=np.zeros((2, 2))),
    "XGBoost: rows": lambda _: matrix().slice(None),
    "XGBoost: a field": lambda _: matrix().get_float_info(MANY),
    "XGBoost: a reference": lambda _: as_xgboost.QuantileDMatrix(ROWS, LABEL, ref=5),
    "XGBoost: a cache": lambda _: as_xgboost.Booster({}, 5),
    "XGBoost: a large missing": lambda _: matrix(missing=10**400),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_odd_arguments(
    call: Callable[[Booster], Any],
    model: Booster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GossamerError):
        call(model)
    assert list(tmp_path.iterdir()) == []


def test_a_time_limit_of_any_size() -> None:
    assert gs.train_refit(SMALL, data(), 2, time_limit=10**400).num_trees() > 0


@pytest.mark.parametrize("value", [True, False, None, 0, 1, "x", np.True_, np.int8(1)])
def test_flags_that_are_one_or_the_other(value: Any) -> None:
    check_flag("grid", value)


@pytest.mark.parametrize("value", [-1, 2.0, "1", None, True, 10**400, np.array(1.5)])
def test_counts_that_are_none(value: Any) -> None:
    with pytest.raises(gs.ParameterError, match="rounds cannot be used"):
        check_count(value, "rounds", least=0)


def test_lists_paths_and_lengths(tmp_path: Path) -> None:
    assert as_list("names", None) == [] and as_list("names", (1, 2)) == [1, 2]
    assert as_path(tmp_path) == as_path(str(tmp_path)) == tmp_path
    assert length_of(np.array("x")) == -1
    for wrong in (5, b"x", None, "a\0b", "\ud800"):
        with pytest.raises(gs.ParameterError):
            as_path(wrong)
