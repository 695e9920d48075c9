"""`resolve`: names, types, ranges, support, and what follows from what."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import GossamerError, NotSupportedError, ParameterError
from gossamer.params import CANONICAL, TABLE, Params, resolve
from gossamer.params.resolve import derive_seed
from gossamer.params.table import DERIVED_SEEDS

FLOATS = ["learning_rate", "lambda_l1", "lambda_l2", "min_gain_to_split", "path_smooth"]
INTS = ["num_iterations", "max_depth", "min_data_in_leaf", "num_threads", "seed", "bagging_freq"]
FRACTIONS = ["bagging_fraction", "feature_fraction", "feature_fraction_bylevel"]
# Valid parameters under any of their names.
user_params = st.fixed_dictionaries(
    {},
    optional={
        spelling: strategy
        for names, strategy in (
            (FLOATS, st.floats(1e-6, 1e6)),
            (INTS, st.integers(0, 2**31)),
            (FRACTIONS, st.floats(0.01, 1)),
            (["metric"], st.lists(st.sampled_from(["mse", "mae", "rmse", "none"]), min_size=1)),
            (["use_missing", "extra_trees"], st.booleans()),
            (["grow_policy"], st.sampled_from(["leafwise", "depthwise"])),
        )
        for name in names
        for spelling in (name, *TABLE[name].aliases)
    },
)

_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.sampled_from(
        [max, int, object(), np.float32(1), np.zeros(3), np.zeros((2, 2)), "1,2", "[["]
    )
)
odd_values = st.recursive(
    _scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5
)


# Names


def test_nothing_given_is_all_defaults():
    """The table alone decides about defaults."""
    params = resolve()
    assert params == resolve({}) == resolve(None)
    assert params.given == frozenset()
    assert dict(params) == {name: param.default for name, param in TABLE.items()}


def test_every_alias_reaches_its_parameter():
    """Each alias with the default as its value is given under the canonical name."""
    for spelling, name in CANONICAL.items():
        default = TABLE[name].default
        value = 5 if default is None and TABLE[name].kind == "int" else default
        if value is not None and spelling != "alpha":
            assert resolve({spelling: value}).given == {name}, spelling


def test_unknown_name_suggests_the_close_ones():
    """Typos are errors that help."""
    with pytest.raises(ParameterError, match=r"num_leafs.*Did you mean .*num_leaf"):
        resolve({"num_leafs": 5})
    with pytest.raises(ParameterError, match=r"docs/parameters\.md"):
        resolve({"xyzzy": None})
    with pytest.raises(ParameterError, match="unknown parameter"):
        resolve({3: 4})  # type: ignore[dict-item]
    with pytest.raises(ParameterError, match="a dict"):
        resolve([("eta", 0.1)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("several", "winner"),
    [
        ({"eta": 0.2, "learning_rate": 0.3}, 0.3),
        ({"shrinkage_rate": 0.12, "eta": 0.19}, 0.19),
        ({"eta": 0.19, "shrinkage_rate": 0.12}, 0.19),
        ({"eta": None, "shrinkage_rate": 0.12}, 0.12),
    ],
)
def test_one_of_several_names_wins(several: dict[str, Any], winner: float):
    """Canonical first, then the shortest, whatever the order."""
    assert resolve(several).learning_rate == winner


def test_equally_short_names_go_by_the_alphabet():
    """`n_jobs` is shorter than `nthread`; `num_tree` and `max_iter` are not."""
    assert resolve({"num_tree": 1, "max_iter": 2}).num_iterations == 2


@pytest.mark.parametrize(
    "objective",
    [None, "regression", "binary", "huber", "quantile", "expectile", lambda y, p: (p, p)],
)
def test_alpha_is_never_the_l1_penalty(objective: Any):
    """As in LightGBM: one dict for several objectives does not change the others' models."""
    params = resolve({"objective": objective, "alpha": 0.5})
    assert (params.alpha, params.lambda_l1) == (0.5, 0)
    assert resolve({"alpha": 0.5, "reg_alpha": 0.1}).lambda_l1 == 0.1


# Types


@pytest.mark.parametrize("value", [31, 31.0, "31", " 31 ", "31.0", np.int8(31), np.float32(31)])
def test_int(value: object):
    """Anything that is a whole number."""
    params = resolve({"num_leaves": value})
    assert params.num_leaves == 31
    assert type(params.num_leaves) is int


@pytest.mark.parametrize(
    "value", [31.5, "31.5", "many", True, np.bool_(True), np.nan, np.inf, [31], 1j, 2**63, {}]
)
def test_not_an_int(value: object):
    """The message names the parameter and what was expected."""
    with pytest.raises(ParameterError, match=r"num_leaves.*an integer >= 2 and <= 131072"):
        resolve({"num_leaves": value})


@pytest.mark.parametrize("value", [0.5, "0.5", "5e-1", np.float64(0.5), np.array(0.5)])
def test_float(value: object):
    """Numbers and their spellings."""
    params = resolve({"eta": value})
    assert params.learning_rate == 0.5
    assert type(params.learning_rate) is float


@pytest.mark.parametrize("value", ["fast", True, np.nan, np.inf, "nan", [0.1], 10**400])
def test_not_a_float(value: object):
    """NaN would pass every comparison, so it is refused by name."""
    with pytest.raises(ParameterError, match=r"learning_rate.*a finite number > 0"):
        resolve({"eta": value})


@pytest.mark.parametrize("value", [True, "true", "True", "+", 1, "1", 1.0, np.bool_(True)])
def test_true(value: object):
    """All the ways to say yes."""
    assert resolve({"zero_as_missing": value}).zero_as_missing is True


@pytest.mark.parametrize("value", [False, "false", "FALSE", "-", 0, "0", 0.0, np.bool_(False)])
def test_false(value: object):
    """All the ways to say no."""
    assert resolve({"use_missing": value}).use_missing is False


@pytest.mark.parametrize("value", [2, "maybe", 0.5, [], "", -1])
def test_not_a_bool(value: object):
    """Truthiness does not count."""
    with pytest.raises(ParameterError, match="use_missing"):
        resolve({"use_missing": value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_leaves", 1),
        ("num_leaves", 131073),
        ("num_class", 1_000_001),
        ("learning_rate", 0),
        ("lambda", -0.1),
        ("bagging_fraction", 0),
        ("colsample_bylevel", 1.01),
        ("max_bin", 1),
        ("max_bin", 65536),
    ],
)
def test_out_of_range(name: str, value: float):
    """The message says the range."""
    limits = TABLE[CANONICAL[name]].range_text
    with pytest.raises(ParameterError, match=f"out of range: got {value}, expected .*{limits}"):
        resolve({name: value})


def test_message_shows_the_name_that_was_given():
    """A user who wrote eta should find eta."""
    with pytest.raises(ParameterError, match=r"^eta \(learning_rate\) is out of range: got -1"):
        resolve({"eta": -1})


@pytest.mark.parametrize("value", [0.3, "0.3", "auto", " AUTO "])
def test_float_or_auto(value: object):
    """A number, or the word."""
    rate = resolve({"top_rate": value}).top_rate
    assert rate == ("auto" if "a" in str(value).lower() else 0.3)


@pytest.mark.parametrize("value", ["automatic", True, np.nan, [0.1], -0.1, 1.1, ""])
def test_not_a_float_or_auto(value: object):
    """The message offers both."""
    with pytest.raises(ParameterError, match=r"top_rate.*'auto' or a finite number >= 0 and <= 1"):
        resolve({"top_rate": value})


# Names as values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("mse", "regression"),
        ("reg:squarederror", "regression"),
        ("Binary:Logistic", "binary"),
        ("multi:softprob", "multiclass"),
        ("none", "custom"),
    ],
)
def test_objective(value: str, expected: str):
    """Spellings of LightGBM and XGBoost, in any case."""
    assert resolve({"objective": value}, context="dataset").objective == expected


def test_objective_function_is_kept():
    """A custom objective may have any number of classes."""
    assert resolve({"objective": derive_seed, "num_class": 3}).objective is derive_seed


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        ("None", ()),
        ("custom", ()),
        ([], None),
        ([None, "mse"], ("l2",)),
        ((), ()),
        (["none"], ()),
        ("mse", ("l2",)),
        ("error, logloss,auc", ("binary_error", "binary_logloss", "auc")),
        (("mae", "l1", "rmse"), ("l1", "rmse")),
        ({"rmse", "l1"}, ("l1", "rmse")),
    ],
)
def test_metric(value: object, expected: object):
    """None leaves it to the objective, an empty tuple is not a metric."""
    assert resolve({"eval_metric": value}).metric == expected


def test_metric_function_is_refused():
    """There is another place for it."""
    for value in (max, ["auc", max]):
        with pytest.raises(ParameterError, match="feval"):
            resolve({"metric": value})


def test_rmse_objective_is_judged_by_rmse():
    """As LightGBM does; a metric that is given stays."""
    assert resolve({"objective": "RMSE"}).metric == ("rmse",)
    assert resolve({"objective": "rmse", "metric": "l1"}).metric == ("l1",)
    assert resolve({"objective": "mse"}).metric is None


@pytest.mark.parametrize(
    ("given", "suggestion"),
    [
        ({"objective": "binray"}, "binary"),
        ({"metric": "binary_loglos"}, "binary_logloss"),
        ({"grow_policy": "leaf_wise"}, "leafwise"),
    ],
)
def test_unknown_value(given: dict[str, Any], suggestion: str):
    """Typos in names get a suggestion too."""
    with pytest.raises(ParameterError, match=f"Did you mean .*{suggestion}"):
        resolve(given)


# Support


@pytest.mark.parametrize(
    "given",
    [
        {"num_machines": 2},
        {"parser_config_file": "parser.json"},
    ],
)
def test_known_but_not_supported(given: dict[str, Any]):
    """Not a word about types or ranges: no value would help."""
    with pytest.raises(NotSupportedError, match="not supported in this version"):
        resolve(given)


def test_goss_as_boosting_is_a_sampling_strategy():
    """Whichever strategy LightGBM's default says; but not another one that was chosen."""
    params = resolve({"boosting": "goss", "data_sample_strategy": "bagging"})
    assert (params.boosting, params.data_sample_strategy) == ("gbdt", "goss")
    with pytest.raises(ParameterError, match="boosting=goss"):
        resolve({"boosting": "goss", "data_sample_strategy": "mvs"})


@pytest.mark.parametrize(
    "given",
    [
        {"linear_tree": "false"},
        {"drop_rate": 0.1},
        {"label_column": ""},
        {"categorical_feature": ""},
        {"interaction_constraints": ""},
        {"monotone_constraints": []},
        {"eval_at": "1,2,3,4,5"},
        {"booster": "gbtree"},
        {"tree_method": "hist"},
        {"deterministic": False},
        {"use_quantized_grad": True, "num_grad_quant_bins": 8},
    ],
)
def test_defaults_and_hints_are_accepted(given: dict[str, Any]):
    """What changes nothing needs no support."""
    assert resolve(given)


# Consequences


def test_seed_gives_the_other_seeds():
    """Each differs, an explicit one stays, and the same seed gives the same."""
    params = resolve({"random_state": 7, "bagging_seed": 11})
    seeds = [getattr(params, name) for name in DERIVED_SEEDS]
    assert params.bagging_seed == 11
    assert len(set(seeds)) == len(seeds)
    assert params == resolve({"seed": "7", "bagging_seed": 11})
    assert params.extra_seed != resolve({"seed": 8}).extra_seed
    assert resolve().bagging_seed == TABLE["bagging_seed"].default


def test_derived_seeds_never_change():
    """Models must be the same in every version; 0xE220... is splitmix64's first from 0."""
    assert derive_seed(0, 0) == 0xE220A8397B1DCDAF >> 33
    assert derive_seed(0, 1) == 0x6E789E6AA1B965F4 >> 33


@pytest.mark.parametrize(
    ("given", "n_leaves"),
    [
        ({}, 31),
        ({"max_depth": 3}, 8),
        ({"max_depth": 6}, 31),
        ({"max_depth": 2**40}, 31),
        ({"max_depth": 3, "num_leaves": 100}, 100),
        ({"max_depth": 6, "grow_policy": "depthwise"}, 64),
        ({"max_depth": 40, "grow_policy": "depthwise"}, 131072),
        ({"max_depth": 0}, 31),
        ({"grow_policy": "symmetric"}, 64),
        ({"grow_policy": "symmetric", "max_depth": 3}, 8),
        ({"grow_policy": "symmetric", "num_leaves": 31}, 16),
        ({"grow_policy": "symmetric", "num_leaves": 100, "max_depth": 5}, 32),
        ({"grow_policy": "oblivious", "max_depth": 16}, 2**16),
    ],
)
def test_max_depth_limits_leaves(given: dict[str, Any], n_leaves: int):
    """Level by level, depth alone is the limit."""
    assert resolve(given).num_leaves == n_leaves


@pytest.mark.parametrize(
    ("given", "n_rows"),
    [
        ({"path_smooth": 0.1, "min_data_in_leaf": 0}, 2),
        ({"path_smooth": 0.1}, 20),
        ({"min_data_in_leaf": 0}, 0),
        ({"min_data_in_leaf": 0, "min_child_weight": 0}, 1),
        ({"min_data_in_leaf": 5, "min_child_weight": 0}, 5),
    ],
)
def test_min_data_in_leaf(given: dict[str, Any], n_rows: int):
    """No leaf may be empty, and smoothing needs two rows."""
    assert resolve(given).min_data_in_leaf == n_rows


@pytest.mark.parametrize(
    ("given", "freq"),
    [
        ({}, 0),
        ({"subsample": 0.5}, 1),
        ({"subsample": 1.0}, 0),
        ({"subsample": 0.5, "bagging_freq": 0}, 0),
        ({"subsample": 0.5, "bagging_freq": 5}, 5),
        ({"neg_bagging": 0.5, "objective": "binary"}, 1),
    ],
)
def test_fraction_turns_bagging_on(given: dict[str, Any], freq: int):
    """Unlike LightGBM, which ignores the fraction when bagging_freq is not given."""
    assert resolve(given).bagging_freq == freq


# Contradictions


@pytest.mark.parametrize(
    "given",
    [
        {"objective": "multiclass"},
        {"objective": "regression", "num_class": 3},
        {"objective": "binary", "num_class": 2},
        {"objective": "binary", "is_unbalance": True, "scale_pos_weight": 2},
        {"pos_bagging_fraction": 0.5},
        {"objective": "multiclass", "num_class": 3, "metric": "l2"},
        {"objective": "binary", "metric": "multi_logloss"},
    ],
)
def test_contradictions(given: dict[str, Any]):
    """Errors in training; a dataset or a prediction does not care."""
    with pytest.raises(ParameterError):
        resolve(given)
    lenient = resolve(given, context="dataset")
    with pytest.raises(ParameterError):
        resolve(lenient)


@pytest.mark.parametrize(
    "given",
    [
        {"objective": "multi:softprob", "num_class": 3, "metric": ["mlogloss", "merror"]},
        {"objective": "binary", "is_unbalance": True},
        {"objective": "binary", "scale_pos_weight": 2},
        {"objective": "binary", "pos_bagging_fraction": 0.5},
        {"objective": "focal", "pos_bagging_fraction": 0.5},
        {"objective": "custom", "num_class": 4, "metric": "multi_error"},
    ],
)
def test_what_fits_together(given: dict[str, Any]):
    """The other side of the contradictions."""
    assert resolve(given)


GOSS = {"data_sample_strategy": "goss"}
MVS = {"data_sample_strategy": "mvs"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (GOSS | {"top_rate": 0.7, "other_rate": 0.4}, "top_rate . other_rate.*got 1.1, expected"),
        (GOSS | {"top_rate": 0.95}, "top_rate . other_rate"),
        (GOSS | {"top_rate": 0, "other_rate": 0}, "got 0.0, expected"),
        (GOSS | {"top_rate": "auto", "other_rate": 0.1}, "Leave other_rate out"),
        (GOSS | {"subsample": 0.5}, "goss cannot be combined with bagging: bagging_fraction"),
        (GOSS | {"subsample": 0.5, "bagging_freq": 3}, "bagging_fraction: got 0.5"),
        (GOSS | {"objective": "binary", "pos_bagging": 0.5}, "pos_bagging_fraction: got 0.5"),
        (MVS | {"objective": "binary", "neg_bagging": 0.5}, "neg_bagging_fraction: got 0.5"),
        (MVS | {"subsample": 0.5, "bagging_freq": 2}, "mvs cannot .* bagging_freq: got 2"),
        (MVS | {"top_rate": 0.95}, "top_rate . other_rate"),
        (MVS | {"top_rate": "auto"}, "Set bagging_fraction"),
        (MVS | {"mvs_reg": -1}, "mvs_reg"),
        (GOSS | {"goss_error": 0}, "goss_error"),
    ],
    ids=str,
)
def test_sampling_that_contradicts_itself(given: dict[str, Any], words: str):
    """Each says what to do."""
    with pytest.raises(ParameterError, match=words):
        resolve(given)


@pytest.mark.parametrize(
    "given",
    [
        GOSS,
        MVS,
        GOSS | {"top_rate": 0.58, "other_rate": 0.42},
        GOSS | {"top_rate": 0, "other_rate": 0.1},
        GOSS | {"top_rate": "auto", "goss_error": 2},
        GOSS | {"bagging_fraction": 1.0, "bagging_freq": 5},
        GOSS | {"bagging_fraction": 0.5, "bagging_freq": 0},
        MVS | {"bagging_fraction": 0.5, "bagging_freq": 1, "top_rate": 0.99},
        MVS | {"mvs_reg": 0},
        {"top_rate": 0.95},
        {"top_rate": "auto", "other_rate": 0.2},
    ],
    ids=str,
)
def test_sampling_that_fits_together(given: dict[str, Any]):
    """Rates do not matter to bagging, nor bagging that is off to the others."""
    assert resolve(given)


# The result


def test_params_cannot_be_changed():
    """Stages share one object."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        resolve().num_leaves = 3  # type: ignore[misc]


def test_params_is_a_mapping():
    """Items by canonical name only."""
    params = resolve({"eta": 0.5})
    assert params["learning_rate"] == 0.5
    assert len(params) == len(list(params)) == len(TABLE)
    assert "given" not in params and "eta" not in params
    assert repr(params) == "Params(learning_rate=0.5)"


def test_replace():
    """Aliases work, consequences follow, None takes back."""
    params = resolve({"max_depth": 3, "subsample": 0.5})
    assert params.replace(max_depth=4).num_leaves == 16
    assert params.replace(subsample=0.7).bagging_fraction == 0.7
    assert params.replace(bagging=None) == resolve({"max_depth": 3})
    assert params.num_leaves == 8
    with pytest.raises(GossamerError, match="Did you mean"):
        params.replace(max_dept=3)


@given(user_params)
def test_resolving_again_changes_nothing(given_params: dict[str, Any]):
    """The result is a fixed point, survives pickle and is of the declared types."""
    params = resolve(given_params)
    assert resolve(params) is params
    assert resolve(params.to_dict(given_only=True)) == params
    assert resolve(params.to_dict()).to_dict() == params.to_dict()
    assert pickle.loads(pickle.dumps(params)) == copy.deepcopy(params) == params
    assert hash(params) == hash(params.replace())
    assert params.given == {CANONICAL[name] for name in given_params}


@given(user_params, st.randoms())
def test_order_does_not_matter(given_params: dict[str, Any], random: Any):
    """A dict written in another order means the same."""
    items = list(given_params.items())
    random.shuffle(items)
    assert resolve(dict(items)) == resolve(given_params)


@given(st.sampled_from(sorted(TABLE)), odd_values)
def test_any_value_resolves_or_is_explained(name: str, value: object):
    """No value, however odd, gets anything but our own errors."""
    try:
        params = resolve({name: value}, context="dataset")
    except GossamerError as error:
        assert name in str(error)
    else:
        assert isinstance(params, Params)


def test_equal_values_of_other_types_are_not_mixed_up() -> None:
    """Plain parameters are resolved once; 1, True and -0.0 must not get the result of others."""
    for _ in range(2):
        for value in (1, 1.0, "1", 0.0, -0.0, 0):
            found = resolve({"lambda_l2": value}).lambda_l2
            assert type(found) is float
            assert math.copysign(1, found) == math.copysign(1, float(value))
        for name in ("lambda_l2", "num_leaves"):
            with pytest.raises(ParameterError):
                resolve({name: True})
    assert resolve({"num_leaves": 31}) is resolve({"num_leaves": 31})
