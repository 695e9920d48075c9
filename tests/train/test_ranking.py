"""Learning to rank from beginning to end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Booster, DataError, Dataset, ParameterError, record_evaluation, train

RNG = np.random.default_rng(0)
SIZES = RNG.integers(5, 40, 120)
N_ROWS = int(SIZES.sum())
TABLE = RNG.normal(size=(N_ROWS, 6))
SIGNAL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] + 0.5 * RNG.normal(size=N_ROWS)
LABEL = np.digitize(SIGNAL, [0.0, 1.0, 2.0])
BINARY = (LABEL > 1).astype(int)
QUIET = {"verbose": -1, "num_threads": 2, "min_data_in_leaf": 10, "num_leaves": 15}
OBJECTIVES = ["lambdarank", "rank_xendcg", "rank:ndcg", "rank:pairwise", "rank:map"]


def rows(**fields: Any) -> Dataset:
    return Dataset(TABLE, **{"label": LABEL, "group": SIZES, **fields})


def metric_of(params: dict[str, Any], data: Dataset, n_rounds: int, library: Any = None) -> float:
    history: dict[str, Any] = {}
    module: Any = library
    record = record_evaluation if library is None else module.record_evaluation
    learn = train if library is None else module.train
    learn(params, data, n_rounds, valid_sets=[data], callbacks=[record(history)])
    (values,) = history["training"].values()
    return float(values[-1])


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_learns(objective: str) -> None:
    label = BINARY if objective == "rank:map" else LABEL
    data = rows(label=label)
    metric = "map@5" if objective == "rank:map" else "ndcg@5"
    params = {**QUIET, "objective": objective, "metric": metric}
    before, after = (metric_of(params, rows(label=label), n) for n in (1, 60))
    assert after > before + 0.1
    assert after > 0.85
    booster = train(params, data, 5)
    again = Booster(model_str=booster.model_to_string())
    np.testing.assert_array_equal(again.predict(TABLE), booster.predict(TABLE))


@pytest.mark.slow
def test_as_good_as_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    for objective in ("lambdarank", "rank_xendcg"):
        params = {**QUIET, "objective": objective, "metric": "ndcg", "eval_at": [10]}
        ours = metric_of(params, rows(), 30)
        theirs = metric_of(params, lightgbm.Dataset(TABLE, LABEL, group=SIZES), 30, lightgbm)
        assert ours == pytest.approx(theirs, abs=0.02)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_default_metric(objective: str) -> None:
    label = BINARY if objective == "rank:map" else LABEL
    history: dict[str, Any] = {}
    data = rows(label=label)
    train(
        {**QUIET, "objective": objective, "eval_at": 3},
        data,
        1,
        valid_sets=[data],
        callbacks=[record_evaluation(history)],
    )
    assert list(history["training"]) == ["map@3" if objective == "rank:map" else "ndcg@3"]


def test_xendcg_draws_anew_each_round_from_its_seed() -> None:
    params = {**QUIET, "objective": "rank_xendcg"}
    one, same, other = (
        train({**params, "objective_seed": seed}, rows(), 3).predict(TABLE) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize("objective", ["rank_xendcg", "lambdarank"])
def test_rollback_takes_back_all_there_is(objective: str) -> None:
    """Random numbers of the round, and position biases."""
    data = rows(position=np.arange(N_ROWS) % 10)
    params = {**QUIET, "objective": objective}
    booster = Booster(params, data)
    for _ in range(4):
        booster.update()
    expected = booster.predict(TABLE)
    booster.rollback_one_iter().rollback_one_iter()
    booster.update()
    booster.update()
    np.testing.assert_array_equal(booster.predict(TABLE), expected)


def test_position_bias_is_told_from_relevance() -> None:
    """Clicks depend on the place too, and a column knows something of the place."""
    rng = np.random.default_rng(1)
    n_queries, size = 400, 10
    n = n_queries * size
    relevance = rng.normal(size=n)
    place = np.concatenate([rng.permutation(size) for _ in range(n_queries)])
    clicked = rng.random(n) < 1 / (1 + np.exp(-(2 * relevance - 0.6 * place)))
    noise = 0.3 * rng.normal(size=(2, n))
    table = np.column_stack([relevance + noise[0], relevance - 0.3 * place + noise[1]])

    def likeness(position: Any) -> float:
        data = Dataset(table, clicked, group=[size] * n_queries, position=position)
        model = train({**QUIET, "objective": "lambdarank"}, data, 40)
        return float(np.corrcoef(model.predict(table), relevance)[0, 1])

    assert likeness(place) > likeness(None) + 0.05


def test_as_lightgbm_with_positions() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    position = np.arange(N_ROWS) % 10
    params = {**QUIET, "objective": "lambdarank", "lambdarank_position_bias_regularization": 0.1}
    theirs = lightgbm.Dataset(TABLE, LABEL, group=SIZES, position=position)
    expected = lightgbm.train(params, theirs, 10).predict(TABLE)
    found = train(params, rows(position=position), 10).predict(TABLE)
    assert np.corrcoef(found, expected)[0, 1] > 0.98


def test_bagging_by_query_takes_whole_queries() -> None:
    params = {
        **QUIET,
        "objective": "lambdarank",
        "bagging_by_query": True,
        "bagging_fraction": 0.5,
        "bagging_freq": 1,
    }
    booster = train(params, rows(), 5)
    assert (booster.predict(TABLE) != train(QUIET, rows(), 5).predict(TABLE)).any()
    with pytest.raises(DataError, match="bagging_by_query needs queries"):
        train({**params, "objective": "regression"}, rows(group=None), 1)
    with pytest.raises(ParameterError, match="bagging_by_query draws whole queries"):
        extra = {"objective": "binary", "pos_bagging_fraction": 0.5}
        train({**params, **extra}, rows(label=BINARY), 1)


def test_validation_data_needs_queries_for_its_metrics() -> None:
    data = rows()
    with pytest.raises(DataError, match=r"the metric ndcg@1 needs queries"):
        train(
            {**QUIET, "objective": "lambdarank"},
            data,
            1,
            valid_sets=[data.create_valid(TABLE, LABEL)],
        )
    with pytest.raises(DataError, match=r"label of row 0 of the v data .* got -1\.0"):
        valid = data.create_valid(TABLE, np.full(N_ROWS, -1), group=SIZES)
        params = {**QUIET, "objective": "lambdarank"}
        train(params, data, 1, valid_sets=[valid], valid_names=["v"])


def test_subset_of_queries_can_be_trained() -> None:
    data = rows()
    n_rows = int(SIZES[:50].sum())
    booster = train({**QUIET, "objective": "lambdarank"}, data.subset(range(n_rows)), 3)
    assert booster.num_trees() == 3


def test_custom_objective_sees_the_groups() -> None:
    seen = []

    def objective(scores: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        seen.append(data.get_group())
        return scores - data.get_label(), np.ones_like(scores)

    train({**QUIET, "objective": objective}, rows(), 1)
    np.testing.assert_array_equal(seen[0], SIZES)


@pytest.mark.parametrize("name", ["label_gain", "lambdarank_truncation_level", "lambdarank_norm"])
def test_what_cannot_change_half_way(name: str) -> None:
    booster = Booster({**QUIET, "objective": "lambdarank"}, rows())
    booster.update()
    value: Any = {"label_gain": [0, 1, 2, 3], "lambdarank_norm": False}.get(name, 5)
    with pytest.raises(ParameterError, match=f"{name} cannot change during a training"):
        booster.reset_parameter({name: value})
