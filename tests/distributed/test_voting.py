"""`tree_learner="voting"`: workers exchange the features that they elect, and little else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer.distributed import Group, ShardData, Traffic, run_group, train

N, N_COLUMNS, ROUNDS = 30_000, 60, 10
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N, N_COLUMNS))
TABLE[RNG.random(TABLE.shape) < 0.05] = np.nan
FILLED = np.nan_to_num(TABLE)
SIGNAL = FILLED[:, 0] + FILLED[:, 1] * FILLED[:, 2] + np.abs(FILLED[:, 3]) + RNG.normal(size=N)
TRAINED, TESTED = np.arange(24_000), np.arange(24_000, N)


def train_on(
    params: dict[str, Any], ends: tuple[int, ...] = (8_000, 16_000), **fields: Any
) -> tuple[gossamer.Booster, Traffic]:
    def work(group: Group) -> tuple[gossamer.Booster, Traffic]:
        rows = np.split(TRAINED, ends)[group.rank]
        label = fields.get("label", SIGNAL)[rows]
        given = {"verbosity": -1, "num_threads": 1, **params}
        return train(group, given, ShardData([TABLE[rows]], label=label), ROUNDS), group.traffic

    found = run_group(len(ends) + 1, work)
    assert len({model.model_to_string() for model, _ in found}) == 1
    return found[0]


def error_of(model: gossamer.Booster) -> float:
    return float(np.mean((model.predict(TABLE[TESTED]) - SIGNAL[TESTED]) ** 2))


def test_accuracy_is_close_to_all_features_and_fewer_bytes_are_sent() -> None:
    data, all_of_them = train_on({"tree_learner": "data"})
    voted, elected = train_on({"tree_learner": "voting", "top_k": 5})
    assert error_of(voted) == pytest.approx(error_of(data), rel=0.02)
    # Both children of a node are sent, with 10 features each, instead of one with 60.
    assert elected.bytes_per_tree < 0.5 * all_of_them.bytes_per_tree


@pytest.mark.parametrize("top_k", [N_COLUMNS, 1000])
def test_the_bytes_of_data_where_all_features_are_proposed(top_k: int) -> None:
    data, _ = train_on({"tree_learner": "data"})
    voted, _ = train_on({"tree_learner": "voting_parallel", "topk": top_k})
    assert voted.model_to_string() == data.model_to_string()


def test_the_same_rows_on_the_same_workers_give_the_same_bytes() -> None:
    params = {"tree_learner": "voting", "top_k": 3, "feature_fraction_bynode": 0.5}
    first, _ = train_on(params)
    again, _ = train_on(params)
    assert first.model_to_string() == again.model_to_string()


@pytest.mark.parametrize(
    "params",
    [
        {"objective": "binary"},
        {"objective": "l1"},
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"monotone_constraints": [1] + [0] * (N_COLUMNS - 1)},
        {"extra_trees": True},
        {"path_smooth": 10.0},
    ],
    ids=lambda params: next(iter(params)),
)
def test_what_else_is_asked_for(params: dict[str, Any]) -> None:
    label = (SIGNAL > 0.8).astype(float) if params.get("objective") == "binary" else SIGNAL
    # One worker has no rows of its own, and one has few.
    model, _ = train_on(
        {**params, "tree_learner": "voting", "top_k": 4}, (9_000, 9_000, 23_000), label=label
    )
    assert model.num_trees() == ROUNDS
    score, target = model.predict(TABLE[TESTED]), label[TESTED]
    assert np.mean((score - target) ** 2) < 0.8 * np.var(target)


def test_several_values_per_leaf_are_refused() -> None:
    params = {"tree_learner": "voting", "multi_strategy": "multi_output_tree"}
    with pytest.raises(gossamer.NotSupportedError, match="multi_output_tree"):
        train_on(params)


def test_symmetric_trees_are_refused() -> None:
    params = {"tree_learner": "voting", "grow_policy": "symmetric"}
    with pytest.raises(gossamer.NotSupportedError, match="grow_policy=symmetric"):
        train_on(params)


def test_it_has_no_effect_on_one_machine() -> None:
    whole = gossamer.Dataset(TABLE, label=SIGNAL)
    voted = gossamer.train({"tree_learner": "voting", "verbosity": -1}, whole, 2)
    alone = gossamer.train({"verbosity": -1}, gossamer.Dataset(TABLE, label=SIGNAL), 2)
    assert np.array_equal(voted.predict(TABLE), alone.predict(TABLE))
