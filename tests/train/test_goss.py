"""Training on rows chosen by their gradients: GOSS, GOSS with automatic rates, MVS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer import Booster, Dataset, ParameterError, reset_parameter, train

N_ROWS = 3000
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N_ROWS, 6))
SIGNAL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2]
REGRESSION = SIGNAL + RNG.normal(size=N_ROWS)
BINARY = (REGRESSION > 0.5).astype(float)
CLASSES = np.digitize(REGRESSION, [-1.0, 1.0]).astype(float)
WEIGHT = RNG.exponential(size=N_ROWS)


def logistic(scores: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    probability = 1 / (1 + np.exp(-scores))
    return probability - data.get_label(), probability * (1 - probability)


TASKS: dict[str, dict[str, Any]] = {
    "l2": {"label": REGRESSION},
    "l2 weighted": {"label": REGRESSION, "weight": WEIGHT},
    "binary": {"label": BINARY, "objective": "binary"},
    "multiclass": {"label": CLASSES, "objective": "multiclass", "num_class": 3},
    "custom": {"label": BINARY, "objective": logistic, "metric": "binary_logloss"},
}
SAMPLERS: dict[str, dict[str, Any]] = {
    "goss": {"data_sample_strategy": "goss"},
    "auto": {"data_sample_strategy": "goss", "top_rate": "auto"},
    "mvs": {"data_sample_strategy": "mvs"},
}
every_task = pytest.mark.parametrize("task", TASKS)
every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)


def make_booster(task: str, **params: Any) -> Booster:
    case = dict(TASKS[task])
    data = Dataset(TABLE, case.pop("label"), weight=case.pop("weight", None))
    return Booster({"verbosity": -1, "learning_rate": 0.25, **case, **params}, data)


def update(booster: Booster, n_rounds: int) -> Booster:
    for _ in range(n_rounds):
        booster.update()
    return booster


def scores(booster: Booster) -> np.ndarray:
    """A copy of the raw scores of the training rows, class-major."""
    assert booster.training is not None
    return booster.training.train.score.copy()


def trees(booster: Booster) -> dict[str, np.ndarray]:
    return dict(booster.model.forest.arrays)


def assert_same_trees(first: Booster, second: Booster) -> None:
    for name, array in trees(first).items():
        np.testing.assert_array_equal(array, trees(second)[name], err_msg=name)


def n_rows_of_trees(booster: Booster) -> list[int]:
    forest = booster.model.forest
    return [int(forest.tree(t).leaf_count.sum()) for t in range(forest.n_trees)]


@every_task
@every_sampler
def test_learns(task: str, sampler: str) -> None:
    """As well as on all rows, or nearly so."""
    full, sampled = make_booster(task), make_booster(task, **SAMPLERS[sampler])
    [start] = {result.metric_value for result in update(full, 1).eval_train()}
    losses = [update(b, 29 + (b is sampled)).eval_train()[0].metric_value for b in (full, sampled)]
    assert losses[0] < losses[1] < losses[0] + 0.3 * (start - losses[0])


@every_task
@every_sampler
def test_scores_are_those_of_the_model(task: str, sampler: str) -> None:
    """Rows outside the sample get their values as well."""
    booster = update(make_booster(task, **SAMPLERS[sampler]), 8)
    predicted = booster.predict(TABLE, raw_score=True)
    np.testing.assert_allclose(predicted.ravel(order="F"), scores(booster), rtol=1e-12, atol=1e-12)


@every_task
def test_trees_are_grown_on_the_sample(task: str) -> None:
    """All rows for 1 / learning_rate rounds, then exactly as many as asked for."""
    booster = update(make_booster(task, boosting="goss", top_rate=0.3, other_rate=0.05), 6)
    k = booster.num_model_per_iteration()
    assert n_rows_of_trees(booster) == [N_ROWS] * 4 * k + [1050] * 2 * k


def test_trees_of_a_multiclass_round_share_their_rows() -> None:
    booster = update(make_booster("multiclass", data_sample_strategy="mvs"), 5)
    by_round = np.reshape(n_rows_of_trees(booster), (5, 3))
    assert np.all(by_round == by_round[:, :1])
    assert len(set(by_round[:, 0])) > 1
    assert by_round.mean() / N_ROWS == pytest.approx(0.3, abs=0.03)


@every_task
def test_the_first_rounds_are_those_of_all_rows(task: str) -> None:
    full, goss = make_booster(task), make_booster(task, boosting="goss")
    assert_same_trees(update(full, 4), update(goss, 4))
    update(full, 1), update(goss, 1)
    assert not np.array_equal(scores(full), scores(goss))


@every_task
@pytest.mark.parametrize(
    "params",
    [
        {"data_sample_strategy": "goss", "top_rate": 0.3, "other_rate": 0.7},
        {"data_sample_strategy": "goss", "top_rate": "auto", "goss_error": 1e-9},
        {"data_sample_strategy": "mvs", "top_rate": 0.3, "other_rate": 0.7},
    ],
    ids=str,
)
def test_all_rows_are_as_good_as_no_sampling(task: str, params: dict[str, Any]) -> None:
    full, sampled = make_booster(task), make_booster(task, **params)
    assert_same_trees(update(full, 8), update(sampled, 8))
    np.testing.assert_array_equal(scores(full), scores(sampled))


def test_boosting_goss_is_the_same() -> None:
    assert_same_trees(
        update(make_booster("l2", boosting="goss"), 7),
        update(make_booster("l2", data_sample_strategy="goss"), 7),
    )


def test_estimators_take_it() -> None:
    pytest.importorskip("sklearn")
    model = gossamer.GossamerClassifier(n_estimators=30, boosting_type="goss", top_rate=0.3)
    assert model.fit(TABLE, BINARY).score(TABLE, BINARY) > 0.8


@every_task
@every_sampler
def test_rounds_can_be_taken_back(task: str, sampler: str) -> None:
    booster = update(make_booster(task, **SAMPLERS[sampler]), 6)
    before = scores(booster)
    update(booster, 2)
    after = scores(booster)
    booster.rollback_one_iter().rollback_one_iter()
    np.testing.assert_array_equal(scores(booster), before)
    np.testing.assert_array_equal(scores(update(booster, 2)), after)


def test_taken_back_to_the_rounds_of_all_rows() -> None:
    """Hessians that the objective does not fill in must not keep their weights."""
    booster = update(make_booster("l2", boosting="goss"), 5)
    for _ in range(3):
        booster.rollback_one_iter()
    assert_same_trees(update(booster, 2), update(make_booster("l2"), 4))


def test_rates_can_change() -> None:
    booster = update(make_booster("l2", boosting="goss"), 5)
    update(booster.reset_parameter({"top_rate": 0.4}), 1)
    update(booster.reset_parameter({"other_rate": 0.6}), 1)  # all rows
    update(booster.reset_parameter({"other_rate": 0.2}), 1)
    assert n_rows_of_trees(booster)[4:] == [900, 1500, 3000, 1800]
    with pytest.raises(ParameterError, match="top_rate"):
        booster.reset_parameter({"other_rate": 0.7})


def test_the_learning_rate_says_when_to_start() -> None:
    booster = update(make_booster("l2", boosting="goss"), 5)
    update(booster.reset_parameter({"learning_rate": 0.125}), 4)
    assert n_rows_of_trees(booster) == [3000] * 4 + [900] + [3000] * 3 + [900]


def test_schedules() -> None:
    params = {"boosting": "goss", "verbosity": -1}
    callback = reset_parameter(learning_rate=lambda i: 0.5 * 0.9**i, top_rate=[0.2] * 4 + [0.5] * 4)
    booster = train(params, Dataset(TABLE, REGRESSION), 8, callbacks=[callback])
    # 1 / learning_rate is 2.2, 2.5, 2.7, 3.05, 3.4, 3.8, 4.2 in rounds 1 to 7.
    assert n_rows_of_trees(booster) == [3000] * 2 + [900] * 2 + [1800] * 4


def test_the_strategy_can_change() -> None:
    booster = update(make_booster("l2", boosting="goss"), 5)
    update(booster.reset_parameter({"data_sample_strategy": "mvs"}), 1)
    update(booster.reset_parameter({"data_sample_strategy": "bagging"}), 1)
    counts = n_rows_of_trees(booster)
    assert counts[4] == 900 != counts[5]
    assert counts[6] == N_ROWS
    # The last tree is that of a training that never weighted a row.
    data = Dataset(TABLE, REGRESSION, init_score=scores(booster.rollback_one_iter()))
    plain = update(Booster({"learning_rate": 0.25, "verbosity": -1}, data), 1)
    last = update(booster, 1).model.forest.tree(6)
    for name, array in trees(plain).items():
        np.testing.assert_array_equal(getattr(last, name), array, err_msg=name)


@every_sampler
def test_one_row_and_few_rows(sampler: str) -> None:
    for n_rows in (1, 2, 3, 30):
        data = Dataset(TABLE[:n_rows], REGRESSION[:n_rows])
        params = {"learning_rate": 1.0, "min_data_in_leaf": 1, "verbosity": -1}
        booster = train({**params, **SAMPLERS[sampler]}, data, 5)
        assert np.isfinite(booster.predict(TABLE)).all()


def test_equal_gradients() -> None:
    """Every score is a tie, and nothing can be learned."""
    data = Dataset(TABLE, np.ones(N_ROWS), init_score=np.zeros(N_ROWS))
    for params in SAMPLERS.values():
        booster = train({**params, "learning_rate": 1.0, "verbosity": -1}, data, 4)
        assert np.isfinite(booster.predict(TABLE)).all()


# What it is for


def rare_events(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table, labels, and the true probabilities."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(8000, 8))
    signal = table[:, 0] + table[:, 1] * table[:, 2] + np.sin(2 * table[:, 3])
    chance = 1 / (1 + np.exp(4 - 2 * signal))
    return table, (rng.random(len(table)) < chance).astype(float), chance


def mean_loss(library: Any, **params: Any) -> float:
    """Log loss beyond that of the true probabilities on other rows, averaged over data sets."""
    losses = []
    for seed in range(4):
        table, label, _ = rare_events(seed)
        fixed = {"objective": "binary", "verbosity": -1, "num_threads": 1, "bagging_seed": seed}
        booster = library.train({**fixed, **params}, library.Dataset(table, label), 80)
        table, _, chance = rare_events(seed + 100)
        found = booster.predict(table)
        ratios = chance * np.log(chance / found) + (1 - chance) * np.log((1 - chance) / (1 - found))
        losses.append(ratios.mean())
    return float(np.mean(losses))


def test_better_than_bagging_with_as_many_rows() -> None:
    bagging = mean_loss(gossamer, bagging_fraction=0.3)
    assert mean_loss(gossamer, boosting="goss") < 0.9 * bagging
    assert mean_loss(gossamer, data_sample_strategy="mvs") < 0.9 * bagging


def test_as_good_as_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    assert mean_loss(gossamer, boosting="goss") < 1.15 * mean_loss(lightgbm, boosting="goss")
