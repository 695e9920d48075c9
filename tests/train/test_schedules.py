"""reset_parameter: what may change during a training, and what may not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Booster, Dataset, ParameterError, reset_parameter, train
from gossamer.params import TABLE as PARAMETERS

RNG = np.random.default_rng(17)
TABLE = RNG.normal(size=(400, 6))
LABEL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] + 0.1 * RNG.normal(size=400)
QUIET: dict[str, Any] = {"verbosity": -1}

# What may change: a value that makes another tree than the default does, and what it needs.
CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    "learning_rate": (0.5, {}),
    "num_leaves": (5, {}),
    "grow_policy": ("depthwise", {"num_leaves": 7}),
    "max_depth": (2, {}),
    "min_data_in_leaf": (60, {}),
    "min_sum_hessian_in_leaf": (60.0, {}),
    "min_gain_to_split": (5.0, {}),
    "lambda_l1": (5.0, {}),
    "lambda_l2": (50.0, {}),
    "max_delta_step": (0.05, {}),
    "path_smooth": (20.0, {}),
    "extra_trees": (True, {}),
    "extra_seed": (99, {"extra_trees": True}),
    "data_sample_strategy": ("goss", {"learning_rate": 0.9, "top_rate": 0.2}),
    "bagging_fraction": (0.5, {"bagging_freq": 1}),
    "bagging_freq": (3, {"bagging_fraction": 0.5}),
    "bagging_seed": (99, {"bagging_fraction": 0.5}),
    "top_rate": (0.5, {"data_sample_strategy": "goss", "learning_rate": 0.9}),
    "other_rate": (0.4, {"data_sample_strategy": "goss", "learning_rate": 0.9}),
    "mvs_reg": (9.0, {"data_sample_strategy": "mvs", "bagging_fraction": 0.5}),
    "feature_fraction": (0.5, {}),
    "feature_fraction_bylevel": (0.5, {}),
    "feature_fraction_bynode": (0.5, {}),
    "feature_fraction_seed": (99, {"feature_fraction": 0.5}),
}


def trees(booster: Booster) -> list[bytes]:
    forest = booster.model.forest
    return [forest.tree(t).leaf_value.tobytes() for t in range(forest.n_trees)]


@pytest.mark.parametrize("name", CHANGES)
def test_the_rounds_before_stay_and_those_after_change(name: str) -> None:
    value, others = CHANGES[name]
    params = {**QUIET, **others}
    plain = trees(train(params, Dataset(TABLE, LABEL), 8))
    changed = train(
        params, Dataset(TABLE, LABEL), 8, callbacks=[reset_parameter(**{name: {4: value}})]
    )
    assert changed.resolved_params[name] == value
    found = trees(changed)
    assert found[:4] == plain[:4]
    assert found[4:] != plain[4:]


def test_three_ways_to_say_it() -> None:
    rates = [0.3, 0.3, 0.3, 0.1, 0.1]
    texts = {
        train(
            {**QUIET, "learning_rate": 0.3},
            Dataset(TABLE, LABEL),
            5,
            callbacks=[reset_parameter(learning_rate=schedule)],
        ).model_to_string()
        for schedule in (rates, lambda i: rates[i], {3: 0.1}, {0: 0.3, 3: 0.1})
    }
    assert len(texts) == 1


def test_several_at_once_and_by_alias() -> None:
    model = train(
        QUIET,
        Dataset(TABLE, LABEL),
        4,
        callbacks=[reset_parameter(eta=[0.4, 0.3, 0.2, 0.1], max_leaves=lambda i: 3 + i)],
    )
    assert model.resolved_params.learning_rate == 0.1
    assert [model.model.forest.tree(t).n_leaves for t in range(4)] == [3, 4, 5, 6]


OTHER_VALUES: dict[str, Any] = {
    "objective": "l1",
    "num_class": 3,
    "boosting": "dart",
    "multi_strategy": "multi_output_tree",
    "seed": 5,
    "objective_seed": 99,
    "base_score": 1.0,
    "is_unbalance": True,
    "focal_alpha": 0.3,
    "quantile_alpha": [0.3],
    "label_gain": [0, 1, 5],
    "aft_loss_distribution": "logistic",
    "lambdarank_pair_method": "mean",
    "lambdarank_num_pair_per_sample": 3,
    "bundle_order": "count",
    "early_stopping_round": 7,
    "first_metric_only": True,
}


@pytest.mark.parametrize("name", [n for n, param in PARAMETERS.items() if not param.can_change])
def test_what_cannot_change_is_refused_by_name(name: str) -> None:
    param = PARAMETERS[name]
    default: Any = param.default
    if name in OTHER_VALUES:
        other = OTHER_VALUES[name]
    elif isinstance(default, bool):
        other = not default
    elif isinstance(default, int):
        other = default + 1
    elif isinstance(default, float):
        other = default + 0.25 if param.in_range(default + 0.25) else default - 0.25
    else:
        pytest.skip("its value is not a number")
    # (Without an objective that it belongs to, alpha is XGBoost's L1 penalty.)
    params = {**QUIET, "objective": "huber"} if name == "alpha" else QUIET
    booster = Booster(params, Dataset(TABLE, LABEL))
    booster.update()
    text = booster.model_to_string()
    # Some values are not possible with this objective, or in this version, in any case.
    with pytest.raises(ValueError, match=name) as error:
        booster.reset_parameter({name: other})
    assert "unknown parameter" not in str(error.value)
    assert booster.model_to_string() == text
    booster.update()


def test_in_a_callback() -> None:
    with pytest.raises(ParameterError, match="max_bin cannot change during a training: got 7"):
        train(QUIET, Dataset(TABLE, LABEL), 5, callbacks=[reset_parameter(max_bin={2: 7})])
    with pytest.raises(ParameterError, match="Did you mean"):
        train(QUIET, Dataset(TABLE, LABEL), 5, callbacks=[reset_parameter(learning_rates={2: 7})])
    with pytest.raises(ParameterError, match="learning_rate is out of range"):
        train(QUIET, Dataset(TABLE, LABEL), 5, callbacks=[reset_parameter(learning_rate={2: -1})])


@pytest.mark.parametrize("schedule", [0.1, {"2": 0.1}, {-1: 0.1}, {True: 0.1}, None])
def test_no_schedule(schedule: Any) -> None:
    with pytest.raises(ParameterError, match="cannot use what is given for 'learning_rate'"):
        reset_parameter(learning_rate=schedule)
