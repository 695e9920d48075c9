from __future__ import annotations

import warnings
from typing import Any

import pytest

import gossamer.compat.xgboost as xgb
from gossamer.compat.xgboost.params import DEFAULTS, KNOWN, RENAMED, read_params, translate
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.params import CANONICAL, resolve


def resolved(**params: Any) -> Any:
    return resolve(translate(read_params(params)))


def test_defaults_are_xgboosts() -> None:
    params = resolved()
    assert params.learning_rate == 0.3 and params.max_depth == 6 and params.num_leaves == 64
    assert params.lambda_l2 == 1 and params.lambda_l1 == 0 and params.min_gain_to_split == 0
    assert params.min_sum_hessian_in_leaf == 1 and params.min_data_in_leaf == 1
    assert params.grow_policy == "depthwise" and params.max_bin == 256
    assert params.objective == "regression" and params.metric == ("rmse",)
    assert params.base_score is None and params.boost_from_average
    assert params.cat_target_statistics == "off"
    assert set(DEFAULTS) <= set(CANONICAL)


@pytest.mark.parametrize(
    ("given", "ours", "value"),
    [
        ({"learning_rate": 0.1}, "learning_rate", 0.1),
        ({"eta": "0.1"}, "learning_rate", 0.1),
        ({"min_split_loss": 2}, "min_gain_to_split", 2),
        ({"reg_lambda": 3}, "lambda_l2", 3),
        ({"alpha": 3, "objective": "reg:quantileerror", "quantile_alpha": 0.2}, "lambda_l1", 3),
        ({"subsample": 0.5}, "bagging_freq", 1),
        ({"colsample_bynode": 0.5}, "feature_fraction_bynode", 0.5),
        ({"max_leaves": 9}, "num_leaves", 9),
        ({"max_leaves": 0, "max_depth": 3}, "num_leaves", 8),
        ({"max_depth": 0}, "num_leaves", 131072),
        ({"max_depth": 40, "grow_policy": "lossguide"}, "num_leaves", 131072),
        ({"n_jobs": -1}, "num_threads", 0),
        ({"random_state": 7}, "seed", 7),
        ({"verbosity": 0}, "verbosity", -1),
        ({"verbosity": 2}, "verbosity", 1),
        ({"objective": "count:poisson"}, "max_delta_step", 0.7),
        ({"objective": "count:poisson"}, "poisson_max_delta_step", 0.7),
        ({"objective": "binary:logistic", "scale_pos_weight": 3}, "scale_pos_weight", 3),
        ({"booster": "dart"}, "drop_rate", 0),
        ({"booster": "dart", "sample_type": "weighted"}, "uniform_drop", False),
        ({"booster": "dart"}, "xgboost_dart_mode", True),
        ({"booster": "dart"}, "drop_single_trees", True),
        ({"alpha": 1, "max_delta_step": 1}, "l1_in_gain", False),
        ({"monotone_constraints": "(1,-1)"}, "monotone_constraints", (1, -1)),
        ({"max_cat_threshold": 5}, "max_cat_threshold", 5),
        ({"sampling_method": "uniform"}, "data_sample_strategy", "bagging"),
        ({"device": "cpu", "validate_parameters": True}, "device_type", "cpu"),
        ({"disable_default_eval_metric": 1}, "metric", ()),
        ({"eval_metric": ["mae", "rmse"]}, "metric", ("l1", "rmse")),
        ({"min_data_in_leaf": 30}, "min_data_in_leaf", 30),  # one of ours
    ],
)
def test_names_and_values(given: dict[str, Any], ours: str, value: Any) -> None:
    assert resolved(**given)[ours] == value


@pytest.mark.parametrize("method", ["exact", "approx", "hist", "auto"])
def test_ways_to_find_splits_go_by_their_names(method: str) -> None:
    assert translate({"tree_method": method})["tree_method"] == method


def test_exact_has_no_bins() -> None:
    params = translate({"tree_method": "exact", "max_bin": 16})
    assert "max_bin" not in params and "min_data_in_bin" not in params
    assert translate({"tree_method": "approx"})["max_bin"] == 256


def test_where_to_start() -> None:
    assert translate({"base_score": [0.25]})["base_score"] == 0.25
    softmax = translate({"base_score": 0.5, "objective": "multi:softprob", "num_class": 3})
    assert "base_score" not in softmax and softmax["boost_from_average"] is False
    with pytest.raises(ParameterError, match="base_score"):
        resolved(base_score=[1.0, 2.0])


def test_every_name_of_ours_is_one() -> None:
    # Some may be of another version; `translate` says so when they are asked for.
    others = {"max_leaves", "num_parallel_tree", "sampling_method", "sketch_eps"}
    assert set(RENAMED.values()) - set(CANONICAL) <= others


def test_what_a_version_does_not_have_is_refused_unless_it_asks_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {name: ours for name, ours in CANONICAL.items() if name != "num_parallel_tree"}
    monkeypatch.setattr("gossamer.compat.xgboost.params.CANONICAL", known)
    assert "num_parallel_tree" not in translate({"num_parallel_tree": 1})
    with pytest.raises(NotSupportedError, match="num_parallel_tree"):
        translate({"num_parallel_tree": 4})
    known["num_parallel_tree"] = "num_parallel_tree"
    assert translate({"num_parallel_tree": 4})["num_parallel_tree"] == 4


@pytest.mark.parametrize(
    "given",
    [
        {"booster": "gblinear"},
        {"device": "sycl"},
        {"device": "cuda:x"},
        {"process_type": "update"},
        {"updater": "grow_colmaker"},
        {"one_drop": 1},
        {"seed_per_iteration": True},
    ],
)
def test_what_is_not_there_is_refused_by_name(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(NotSupportedError, match="CPU|" + name):
        translate(given)


def test_defaults_of_what_is_not_there_are_fine() -> None:
    translate({"process_type": "default", "refresh_leaf": "1", "one_drop": 0})


def test_unknown_parameters_are_warned_about(xgb: Any) -> None:
    data = xgb.DMatrix([[1.0], [2.0]], label=[0, 1])
    # XGBoost's own verbosity stays what another training asked for.
    with (
        xgb.config_context(verbosity=1),
        pytest.warns(UserWarning, match='"foo", "n_estimators" } are not used'),
    ):
        xgb.train({"foo": 1, "n_estimators": 5, "max_depth": 2}, data, 1)


def test_the_warning_names_what_is_close() -> None:
    with pytest.warns(UserWarning, match=r'"max_dept" } are not used. Did you mean max_depth'):
        translate({"max_dept": 3})
    with pytest.warns(UserWarning, match="scale_pos_weight"):
        translate({"scale_pos_weight": 3})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translate({"scale_pos_weight": 1})


@pytest.mark.parametrize("params", [3, [1, 2], "eta=1"])
def test_parameters_are_a_dict_or_pairs(params: Any) -> None:
    with pytest.raises(ParameterError, match="parameters cannot be used"):
        read_params(params)


@pytest.mark.parametrize(
    "given", [{"max_depth": "deep"}, {"sample_type": "some"}, {"interaction_constraints": "[["}]
)
def test_values_that_cannot_be_read(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(given))):
        translate(given, None, 3)


def test_pairs_may_repeat_metrics() -> None:
    pairs = [("eta", 1), ("eval_metric", "auc"), ("eval_metric", "error"), ("gamma", None)]
    assert read_params(pairs) == {"eta": 1, "eval_metric": ["auc", "error"]}


def test_functions_are_no_names_of_metrics() -> None:
    with pytest.raises(ParameterError, match="custom_metric"):
        translate(read_params({"eval_metric": [len]}))


def test_columns_of_no_group_stand_alone() -> None:
    found = translate({"interaction_constraints": "[[0, 2]]"}, None, 4)
    assert found["interaction_constraints"] == [[0, 2], [1], [3]]
    found = translate({"interaction_constraints": [["a", "c"]]}, ["a", "b", "c"], 3)
    assert found["interaction_constraints"] == [["a", "c"], [1]]


def test_columns_without_names_are_numbered() -> None:
    assert translate({"monotone_constraints": {"f1": -1}}, None, 3)["monotone_constraints"] == {
        1: -1
    }
    named = translate({"monotone_constraints": {"f1": -1}}, ["f1", "f0"], 2)
    assert named["monotone_constraints"] == {"f1": -1}


def test_a_misspelt_value_is_an_error_of_ours() -> None:
    data = xgb.DMatrix([[1.0], [2.0]], label=[0, 1])
    with pytest.raises(ParameterError, match="objective"):
        xgb.train({"objective": "reg:squarederr"}, data)
    with pytest.raises(ParameterError, match="metric"):
        xgb.train({"eval_metric": "rsme"}, data)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_child_weight": -1}, r"^min_child_weight \(min_sum_hessian_in_leaf\) is out of"),
        ({"reg_lambda": -1}, r"^lambda/reg_lambda \(lambda_l2\) is out of range"),
        ({"subsample": "all"}, r"^subsample \(bagging_fraction\) has an invalid value"),
        ({"learning_rate": -1}, r"^eta \(learning_rate\) is out of range"),
        ({"grow_policy": "bestfirst"}, "^grow_policy is not a known name"),
    ],
    ids=str,
)
def test_messages_have_xgboosts_names(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        xgb.train(given, xgb.DMatrix([[1.0], [2.0]], label=[0, 1]))


def test_xgboosts_names_are_all_known() -> None:
    """The tree booster's, the learner's and the objectives'; as in XGBoost's manual."""
    names = """booster device verbosity validate_parameters nthread disable_default_eval_metric eta
    learning_rate gamma min_split_loss max_depth min_child_weight max_delta_step subsample
    sampling_method colsample_bytree colsample_bylevel colsample_bynode lambda reg_lambda alpha
    reg_alpha tree_method scale_pos_weight updater refresh_leaf process_type grow_policy max_leaves
    max_bin num_parallel_tree monotone_constraints interaction_constraints multi_strategy
    max_cached_hist_node max_cat_to_onehot max_cat_threshold sample_type normalize_type rate_drop
    one_drop skip_drop tweedie_variance_power huber_slope quantile_alpha aft_loss_distribution
    aft_loss_distribution_scale lambdarank_pair_method lambdarank_num_pair_per_sample
    lambdarank_normalization lambdarank_score_normalization lambdarank_unbiased lambdarank_bias_norm
    ndcg_exp_gain objective base_score eval_metric seed seed_per_iteration num_class"""
    assert set(names.split()) <= KNOWN


def test_settings_of_the_process() -> None:
    assert translate({})["verbosity"] == 0 and translate({})["num_threads"] == 0
    with xgb.config_context(verbosity=0, nthread=2):
        assert translate({})["verbosity"] == -1 and translate({})["num_threads"] == 2
        assert translate({"verbosity": 1})["verbosity"] == 0
    assert xgb.get_config()["verbosity"] == 1
    with pytest.raises(ParameterError, match="no such setting"):
        xgb.set_config(colour="blue")


def test_names_of_the_core_module() -> None:
    from gossamer.compat.xgboost import core
    from gossamer.errors import GossamerError

    assert core.XGBoostError is GossamerError
    names = ("Booster", "Categories", "DMatrix", "DataIter", "QuantileDMatrix")
    assert all(hasattr(core, name) for name in (*names, "ExtMemQuantileDMatrix", "build_info"))
