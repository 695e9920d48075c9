"""Small things that LightGBM's scripts do, one test for each; run with LightGBM as well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import gossamer.compat.lightgbm

RNG = np.random.default_rng(23)
X = RNG.normal(size=(240, 4)).round(3)
Y = X[:, 0] + 0.3 * X[:, 1] ** 2 + 2
CLASS = (Y > 2.2).astype(int)
FRAME = pd.DataFrame(X, columns=list("pqrs"))
QUIET = {"verbose": -1, "num_threads": 1}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


@pytest.fixture(params=["gossamer", "lightgbm"])
def lgb(request: Any) -> Iterator[Any]:
    yield gossamer.compat.lightgbm if request.param == "gossamer" else lightgbm


def fit(lgb: Any, params: Any = None, label: Any = Y, n_rounds: int = 3, **fields: Any) -> Any:
    return lgb.train({**QUIET, **(params or {})}, lgb.Dataset(X, label, **fields), n_rounds)


def test_a_file_without_header_has_the_label_first(lgb: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    np.savetxt(path, np.column_stack([Y, X]), "%.6g", "\t")
    np.testing.assert_allclose(fit(lgb).predict(str(path)), fit(lgb).predict(X), rtol=1e-5)


def test_files_next_to_the_data_are_read(lgb: Any, tmp_path: Path) -> None:
    path, weight = tmp_path / "train.txt", RNG.random(240).round(2) + 0.1
    np.savetxt(path, np.column_stack([Y, X]), "%.6g", "\t")
    np.savetxt(f"{path}.weight", weight, "%.6g")
    np.savetxt(f"{path}.init", np.full(240, 0.5), "%.6g")
    data = lgb.Dataset(str(path), params=QUIET).construct()
    np.testing.assert_allclose(data.get_weight(), weight, rtol=1e-6)
    np.testing.assert_allclose(data.get_init_score(), 0.5)
    (tmp_path / "train.txt.query").write_text("100\n140\n")
    assert lgb.Dataset(str(path), params=QUIET).construct().get_group().tolist() == [100, 140]


def test_alpha_is_no_penalty(lgb: Any) -> None:
    np.testing.assert_array_equal(fit(lgb, {"alpha": 0.9}).predict(X), fit(lgb).predict(X))


def test_names_given_for_a_frame(lgb: Any) -> None:
    train_set = lgb.Dataset(FRAME, Y, feature_name=list("abcd"), free_raw_data=False)
    valid_set = lgb.Dataset(FRAME, Y, reference=train_set)
    booster = lgb.train({**QUIET, "metric": "l2"}, train_set, 3, valid_sets=[valid_set])
    np.testing.assert_allclose(booster.predict(FRAME), booster.predict(X))
    np.testing.assert_allclose(booster.predict(FRAME, validate_features=False), booster.predict(X))
    assert booster.refit(FRAME, Y).num_trees() == 3


@pytest.mark.parametrize(
    "params",
    [
        {"gpu_use_dp": True},
        {"data": "a.txt", "valid": "b.txt", "input_model": "m", "output_model": "n"},
        {"output_result": "r", "config": "c"},
        {"machine_list_file": "machines.txt", "num_machines": 1},
        {"pre_partition": True},
        {"label_column": 0},
    ],
    ids=str,
)
def test_parameters_without_effect_are_accepted(lgb: Any, params: Any) -> None:
    np.testing.assert_array_equal(fit(lgb, params).predict(X), fit(lgb).predict(X))


def test_labels_of_minus_one_and_one(lgb: Any) -> None:
    signs = fit(lgb, {"objective": "binary"}, np.where(CLASS == 1, 1, -1))
    np.testing.assert_allclose(
        signs.predict(X), fit(lgb, {"objective": "binary"}, CLASS).predict(X)
    )


def test_early_stopping_of_a_classifier_with_a_function(lgb: Any) -> None:
    def loss(y: Any, score: Any) -> tuple[Any, Any]:
        p = 1 / (1 + np.exp(-score))
        return p - y, p * (1 - p)

    model = lgb.LGBMClassifier(objective=loss, n_estimators=5, verbose=-1)
    rows = [(X[:90], CLASS[:90])]
    model.fit(X, CLASS, eval_set=rows, callbacks=[lgb.early_stopping(2, verbose=False)])
    assert list(model.evals_result_["valid_0"]) == ["binary_logloss"]


def test_sparse_frames_in_estimators(lgb: Any) -> None:
    frame = pd.DataFrame({name: pd.arrays.SparseArray(X[:, i]) for i, name in enumerate("abcd")})
    found = lgb.LGBMRegressor(n_estimators=3, verbose=-1).fit(frame, Y).predict(frame)
    np.testing.assert_allclose(found, fit(lgb).predict(X))


def test_rounds_out_of_range(lgb: Any) -> None:
    booster = fit(lgb)
    np.testing.assert_array_equal(booster.predict(X, start_iteration=-1), booster.predict(X))
    np.testing.assert_array_equal(booster.predict(X, start_iteration=9), np.zeros(240))


def test_early_stopping_that_is_off(lgb: Any) -> None:
    data = lgb.Dataset(X, Y)
    callbacks = [lgb.early_stopping(0)]
    assert lgb.train(QUIET, data, 4, valid_sets=[data], callbacks=callbacks).num_trees() == 4


def test_no_metrics_and_texts_for_numbers(lgb: Any) -> None:
    assert fit(lgb, {"metric": []}).num_trees() == 3
    model = lgb.LGBMRegressor(n_estimators=2, verbose=-1)
    model.fit(X, Y, eval_set=[(X[:90], Y[:90])], eval_metric=["l1", None])
    assert "l1" in model.evals_result_["valid_0"]
    classes = np.digitize(Y, [1.8, 2.4])
    model = lgb.LGBMClassifier(num_class="3", n_estimators=2, verbose=-1).fit(X, classes)
    assert model.predict_proba(X).shape == (240, 3)


def test_text_files_are_lightgbms(lgb: Any, tmp_path: Path) -> None:
    booster = fit(lgb)
    booster.save_model(tmp_path / "model.txt")
    assert (tmp_path / "model.txt").read_text().startswith("tree\nversion=v4")
    assert booster.model_to_string().startswith("tree\nversion=v4")
    theirs = lightgbm.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_allclose(theirs.predict(X), booster.predict(X))


def test_fractions_of_categories_are_truncated(lgb: Any) -> None:
    table, whole = X.copy(), X.copy()
    whole[:, 2] = RNG.integers(0, 4, 240)
    table[:, 2] = whole[:, 2] + 0.5
    found = [
        lgb.train(QUIET, lgb.Dataset(t, Y, categorical_feature=[2]), 3).predict(t)
        for t in (table, whole)
    ]
    np.testing.assert_allclose(found[0], found[1])


def test_a_subset_may_take_queries_apart(lgb: Any) -> None:
    data = lgb.Dataset(X, CLASS, group=[100, 140], params=QUIET)
    assert data.subset(list(range(10))).construct().get_group().tolist() == [10]


def test_a_training_without_splits_has_one_tree(lgb: Any) -> None:
    booster = fit(lgb, {"min_data_in_leaf": 200}, n_rounds=5)
    assert (booster.num_trees(), booster.current_iteration()) == (1, 1)
    np.testing.assert_allclose(booster.predict(X), Y.mean(), rtol=1e-5)
    assert booster.dump_model()["tree_info"][0]["num_leaves"] == 1
    assert len(booster.trees_to_dataframe()) == 1


def test_parameters_set_after_fit_reach_predict(lgb: Any) -> None:
    model = lgb.LGBMClassifier(n_estimators=20, verbose=-1).fit(X, CLASS)
    before = model.predict_proba(X)
    model.set_params(pred_early_stop=True, pred_early_stop_margin=0.1, pred_early_stop_freq=2)
    assert (model.predict_proba(X) != before).any()


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix])
def test_contributions_have_the_kind_of_the_rows(lgb: Any, kind: Any) -> None:
    found = fit(lgb).predict(kind(X), pred_contrib=True)
    assert isinstance(found, kind)
    np.testing.assert_allclose(found.toarray().sum(axis=1), fit(lgb).predict(X), rtol=1e-6)


def test_other_parameters_are_attributes(lgb: Any) -> None:
    model = lgb.LGBMRegressor(max_bin=31, n_estimators=2)
    assert model.max_bin == model.get_params()["max_bin"] == 31


def test_fields_after_construction(lgb: Any) -> None:
    score = RNG.normal(size=(240, 3))
    data = lgb.Dataset(
        FRAME, Y, weight=[0.5] * 240, init_score=score, params=QUIET, free_raw_data=False
    ).construct()
    assert data.feature_name == data.get_feature_name() == list("pqrs")
    np.testing.assert_array_equal(data.init_score, data.get_init_score())
    np.testing.assert_array_equal(data.get_field("init_score"), score)
    assert data.weight.dtype == data.get_weight().dtype == np.float32
    assert isinstance(data.subset([1, 2]).construct().get_data(), pd.DataFrame)


def test_sizes_and_positions_are_int32(lgb: Any) -> None:
    position = np.tile(np.arange(120), 2)
    data = lgb.Dataset(X, CLASS, group=[120, 120], position=position, params=QUIET).construct()
    assert data.get_group().dtype == data.get_field("group").dtype == np.int32
    assert data.get_field("position").dtype == np.int32


def test_estimators_that_are_not_fitted(lgb: Any) -> None:
    for name in ("feature_names_in_", "booster_", "n_features_in_", "best_iteration_"):
        with pytest.raises(NotFittedError):
            getattr(lgb.LGBMRegressor(), name)


def test_kinds_of_errors(lgb: Any) -> None:
    with pytest.raises(TypeError):
        lgb.train(QUIET, X, 2)
    with pytest.raises(TypeError):
        lgb.Dataset(object(), Y).construct()
    with pytest.raises(lgb.basic.LightGBMError):
        fit(lgb, {"objective": "no such loss"})


def test_linear_trees(lgb: Any, tmp_path: Path) -> None:
    params = {**QUIET, "linear_tree": True}
    parts = lgb.Dataset([X[:100], X[100:]], Y, params=params)
    whole = lgb.train(params, lgb.Dataset(X, Y, params=params), 3)
    np.testing.assert_allclose(lgb.train(params, parts, 3).predict(X), whole.predict(X))
    lgb.Dataset(X, Y, params=params).save_binary(tmp_path / "linear.bin")
    stored = lgb.Dataset(tmp_path / "linear.bin", params=params)
    np.testing.assert_allclose(lgb.train(params, stored, 3).predict(X), whole.predict(X))
    assert np.abs(whole.refit(X, Y + 1).predict(X) - whole.predict(X)).mean() > 0.01
