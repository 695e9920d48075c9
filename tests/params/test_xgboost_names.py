"""XGBoost's names for training options, and what they mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Dataset, ParameterError, train
from gossamer.params import resolve

RNG = np.random.default_rng(1)
TABLE = RNG.normal(size=(200, 6))
LABEL = (TABLE[:, 0] + TABLE[:, 1] > 0).astype(float)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"eta": 0.2}, {"learning_rate": 0.2}),
        ({"lambda": 2.0}, {"lambda_l2": 2.0}),
        ({"reg_lambda": 2.0}, {"lambda_l2": 2.0}),
        ({"reg_alpha": 0.5}, {"lambda_l1": 0.5}),
        ({"gamma": 1.5}, {"min_gain_to_split": 1.5}),
        ({"min_split_loss": 1.5}, {"min_gain_to_split": 1.5}),
        ({"min_child_weight": 3}, {"min_sum_hessian_in_leaf": 3.0}),
        ({"subsample": 0.5}, {"bagging_fraction": 0.5, "bagging_freq": 1}),
        ({"colsample_bytree": 0.5}, {"feature_fraction": 0.5}),
        ({"colsample_bylevel": 0.5}, {"feature_fraction_bylevel": 0.5}),
        ({"colsample_bynode": 0.5}, {"feature_fraction_bynode": 0.5}),
        ({"max_leaves": 12}, {"num_leaves": 12}),
        ({"max_depth": 0}, {"max_depth": 0, "num_leaves": 31}),
        ({"max_delta_step": 0.7}, {"max_delta_step": 0.7}),
        ({"nthread": 2}, {"num_threads": 2}),
        ({"n_jobs": 2}, {"num_threads": 2}),
        ({"scale_pos_weight": 2}, {"scale_pos_weight": 2.0}),
        ({"base_score": 0.3}, {"base_score": 0.3}),
        ({"max_bin": 100}, {"max_bin": 100}),
        ({"random_state": 5}, {"seed": 5}),
        ({"seed": 5}, {"seed": 5}),
        ({"grow_policy": "depthwise"}, {"grow_policy": "depthwise"}),
        ({"grow_policy": "lossguide"}, {"grow_policy": "lossguide"}),
        ({"tree_method": "hist"}, {"tree_method": "hist"}),
        ({"num_parallel_tree": 4}, {"num_parallel_tree": 4}),
        ({"rate_drop": 0.3}, {"drop_rate": 0.3}),
        ({"booster": "dart"}, {"boosting": "dart"}),
        ({"booster": "gbtree"}, {"boosting": "gbdt"}),
        ({"objective": "binary:logistic"}, {"objective": "binary"}),
        ({"eval_metric": "logloss"}, {"metric": ("binary_logloss",)}),
        ({"n_estimators": 7}, {"num_iterations": 7}),
        ({"monotone_constraints": "(1,-1,0,0,0,0)"}, {"monotone_constraints": (1, -1, 0, 0, 0, 0)}),
        ({"interaction_constraints": [[0, 1]]}, {"interaction_constraints": ((0, 1),)}),
        ({"sampling_method": "uniform"}, {"sampling_method": "uniform"}),
        ({"verbosity": 0}, {"verbosity": 0}),
    ],
    ids=str,
)
def test_names(given: dict[str, Any], expected: dict[str, Any]) -> None:
    params = resolve({"objective": "binary", **given})
    assert {name: params[name] for name in expected} == expected
    if "num_iterations" not in expected:
        booster = train({"objective": "binary", "verbosity": -1, **given}, Dataset(TABLE, LABEL), 2)
        assert booster.current_iteration() == 2


@pytest.mark.parametrize("zero", [0, "0", 0.0])
def test_max_leaves_0_is_no_limit(zero: Any) -> None:
    assert resolve({"max_leaves": zero}).num_leaves == 131072
    assert resolve({"max_leaves": zero, "max_depth": 4}).num_leaves == 16
    many = {"max_leaves": zero, "min_data_in_leaf": 1, "min_child_weight": 0.0, "verbosity": -1}
    data = Dataset(TABLE, TABLE[:, 0], params={"min_data_in_bin": 1})
    booster = train(many, data, 1)
    assert booster.model.forest.tree(0).n_leaves > 150
    # LightGBM's name has no such meaning.
    with pytest.raises(ParameterError, match="num_leaves"):
        resolve({"num_leaves": 0})
    with pytest.raises(ParameterError, match="max_leaves"):
        resolve({"max_leaves": 1})


def test_fractions_of_columns_multiply() -> None:
    """With 16 columns halves of halves of halves leave two to a node."""
    rng = np.random.default_rng(2)
    table = rng.normal(size=(500, 16))
    params = {
        "colsample_bytree": 0.5,
        "colsample_bylevel": 0.5,
        "colsample_bynode": 0.5,
        "max_depth": 1,
        "min_data_in_leaf": 1,
        "verbosity": -1,
    }
    # Column 0 alone tells anything: it splits wherever it is to be had.
    booster = train(params, Dataset(table, np.sign(table[:, 0])), 600)
    first = [booster.model.forest.tree(t).column for t in range(600)]
    share = np.mean([column[0] == 0 for column in first if len(column)])
    assert 0.08 < share < 0.17  # 1/8
    for name in ("colsample_bytree", "colsample_bylevel", "colsample_bynode"):
        alone = {"max_depth": 1, "verbosity": -1, name: 0.5, "learning_rate": 1e-3}
        forest = train(alone, Dataset(table, np.sign(table[:, 0])), 200).model.forest
        assert 0.4 < np.mean(forest.arrays["column"] == 0) < 0.6


class TestSamplingMethod:
    """`gradient_based` is MVS."""

    def test_is_mvs(self) -> None:
        params = resolve({"sampling_method": "gradient_based", "subsample": 0.4})
        assert (params.data_sample_strategy, params.bagging_fraction) == ("mvs", 0.4)
        base = {"objective": "binary", "subsample": 0.4, "verbosity": -1}
        ours, mvs, uniform = (
            train({**base, **more}, Dataset(TABLE, LABEL), 5).predict(TABLE)
            for more in (
                {"sampling_method": "gradient_based"},
                {"data_sample_strategy": "mvs"},
                {"sampling_method": "uniform"},
            )
        )
        np.testing.assert_array_equal(ours, mvs)
        assert (ours != uniform).any()

    def test_all_rows_without_subsample(self) -> None:
        params = {"objective": "binary", "verbosity": -1}
        found = [
            train({**params, **more}, Dataset(TABLE, LABEL), 3).predict(TABLE)
            for more in ({}, {"sampling_method": "gradient_based"})
        ]
        np.testing.assert_array_equal(*found)

    @pytest.mark.parametrize("given", [{}, {"subsample": 0.5}])
    def test_all_of_it_written_out(self, given: dict[str, Any]) -> None:
        params = resolve({"sampling_method": "gradient_based", **given})
        again = resolve(params.to_dict())
        assert again.to_dict() == params.to_dict()
        assert params.replace(sampling_method="uniform").data_sample_strategy == "bagging"

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"data_sample_strategy": "goss"}, "means data_sample_strategy=mvs: got 'goss'"),
            ({"data_sample_strategy": "bagging"}, "means data_sample_strategy=mvs: got 'bagging'"),
            ({"boosting": "goss"}, "means data_sample_strategy=mvs"),
            ({"top_rate": 0.5}, "top_rate does not fit sampling_method"),
            ({"other_rate": 0.5}, "other_rate does not fit sampling_method"),
            ({"bagging_freq": 3}, "bagging_freq"),
            ({"neg_bagging_fraction": 0.3}, "neg_bagging_fraction"),
            ({"sampling_method": "nope"}, "sampling_method"),
        ],
        ids=str,
    )
    def test_contradictions(self, given: dict[str, Any], words: str) -> None:
        params = {"objective": "binary", "sampling_method": "gradient_based", "subsample": 0.5}
        with pytest.raises(ParameterError, match=words):
            resolve(params | given)
