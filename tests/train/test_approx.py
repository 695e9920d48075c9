"""Candidates of `tree_method="approx"`: how far apart they are, and what that costs."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gossamer import Booster, Dataset, ParameterError, train
from gossamer.params import resolve

Floats = npt.NDArray[np.float64]
PLAIN: dict[str, Any] = {
    "tree_method": "approx",
    "boost_from_average": False,
    "learning_rate": 1.0,
    "min_data_in_leaf": 1,
    "min_sum_hessian_in_leaf": 0.0,
    "num_threads": 1,
    "verbosity": -1,
}
PROPOSALS = ("global", "local")


def fit(table: Any, label: Floats, weight: Floats | None = None, **params: Any) -> Booster:
    n_rounds = params.pop("n_rounds", 1)
    return train({**PLAIN, **params}, Dataset(table, label, weight=weight), n_rounds)


def first_threshold(table: Any, label: Floats, weight: Floats | None, **params: Any) -> float:
    booster = fit(table, label, weight, num_leaves=2, **params)
    tree = booster.model.forest.tree(0)
    return float(tree.threshold[0]) if tree.n_leaves > 1 else np.nan


def candidates(values: Floats, weight: Floats, eps: float, proposal: str) -> list[float]:
    """Values with a candidate between them and the next one."""
    kept = ~np.isnan(values)
    own, place = np.unique(values[kept], return_inverse=True)
    weights = np.bincount(place, weight[kept])
    total = weights.sum()
    is_heavy = (weights >= eps * total) & (proposal == "global")
    # What heavy values leave of the weight and of the candidates is for the others.
    rest, n_rest = weights[~is_heavy].sum(), 1 / eps - is_heavy.sum()
    n_bins = min(int(np.ceil(1 / eps)), len(own)) if proposal == "global" else len(own) + 1
    least = rest / n_rest if n_rest > 0 else np.inf
    light, holds_heavy, found = 0.0, False, list[float]()
    for i in range(len(own)):
        full = max(least, rest / n_rest if n_rest > 0 else np.inf)
        ahead = np.flatnonzero(is_heavy[i:])
        run = weights[i : i + ahead[0]].sum() if len(ahead) else np.inf
        is_full = light >= full / 2 if is_heavy[i] else light >= full and run >= full / 2
        n_free = n_bins - 1 - len(found) - len(ahead)
        if (holds_heavy or (light > 0 and is_full)) and n_free >= (not is_heavy[i]):
            found.append(own[i - 1])
            rest, n_rest = rest - light, n_rest - (not holds_heavy)
            light, holds_heavy = 0.0, False
        light += 0.0 if is_heavy[i] else weights[i]
        holds_heavy |= bool(is_heavy[i])
    return found


def gain(values: Floats, low: float, label: Floats, weight: Floats) -> float:
    """The better of both sides for missing values."""
    missing, best = np.isnan(values), 0.0
    for missing_left in (False, True):
        left = np.where(missing, missing_left, values <= low)
        parts = [
            (label[part] * weight[part]).sum() ** 2 / weight[part].sum()
            for part in (left, ~left)
            if part.any()
        ]
        best = max(best, sum(parts))
    return best


@pytest.mark.parametrize("proposal", PROPOSALS)
@settings(max_examples=40)
@given(data=st.data())
def test_the_first_split_is_the_best_candidate(proposal: str, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 10**6))
    eps = data.draw(st.sampled_from((0.01, 0.03, 0.1, 0.25, 0.5, 0.9)))
    rng = np.random.default_rng(seed)
    n_rows = data.draw(st.integers(300, 500))  # more values than bins
    values = rng.normal(size=n_rows)
    if data.draw(st.booleans()):
        values[:30] = values[0]
    if data.draw(st.booleans()):
        values[rng.random(n_rows) < 0.7] = np.nan
        values = np.concatenate([values, rng.normal(size=300)])
    n_rows = len(values)
    label = rng.integers(-4, 5, n_rows) + 3.0 * (np.nan_to_num(values) > 0.3)
    weight = rng.choice([0.5, 1.0, 4.0], n_rows) if data.draw(st.booleans()) else np.ones(n_rows)
    found = first_threshold(values[:, None], label, weight, sketch_eps=eps, proposal=proposal)
    lows = candidates(values, weight, eps, proposal)
    gains = [gain(values, low, label, weight) for low in (*lows, np.inf)]
    if not np.isnan(found):
        np.testing.assert_allclose(gain(values, found, label, weight), max(gains), rtol=1e-4)


def test_heavy_values_are_parted_from_the_others() -> None:
    """Values of much weight are found by a split of their own, however few candidates there are."""
    rng = np.random.default_rng(11)
    values = rng.uniform(size=4000)
    heavy = np.array([0.1, 0.3, 0.31, 0.62, 0.9, 1.0])
    values[:2400] = np.repeat(heavy, 400)
    for value in heavy:
        label = (values == value).astype(float)
        booster = fit(values[:, None], label, sketch_eps=1 / 16, num_leaves=3, n_rounds=2)
        assert booster.predict(np.array([[value]]))[0] > 0.6
        others = booster.predict(values[2400:, None])
        assert np.mean(others > 0.1) < 0.1


def table_of_heavy_values(seed: int, n_rows: int) -> tuple[Floats, Floats]:
    """60 % of the rows have one of six values, each with an effect of its own."""
    rng = np.random.default_rng(seed)
    shape = (n_rows, 5)
    heavy = np.array([0.0, 500.0, 1000.0, 2000.0, 3000.0, 5000.0])
    effect = np.array([2.0, -1.5, 1.0, -2.0, 1.5, -1.0])
    which, is_heavy = rng.integers(0, 6, shape), rng.random(shape) < 0.6
    table = np.where(is_heavy, heavy[which], rng.gamma(2.0, 1000.0, shape))
    score = np.where(is_heavy, effect[which], np.sin(table / 700.0)).sum(axis=1)
    return table, (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(np.float64)


def table_of_loans(seed: int, n_rows: int) -> tuple[Floats, Floats]:
    """Amounts are round numbers for most rows, rates come from a list, terms are two."""
    rng = np.random.default_rng(seed)
    grade = rng.choice(7, n_rows, p=[0.2, 0.3, 0.25, 0.13, 0.07, 0.03, 0.02])
    is_round = rng.random(n_rows) < 0.7
    amount = np.clip(rng.gamma(3.0, 5000.0, n_rows), 1000, 40_000)
    amount = np.where(is_round, (amount / 5000).round() * 5000, amount.round(-1))
    term = np.where(rng.random(n_rows) < 0.7, 36.0, 60.0)
    rate = 5.0 + 3.0 * grade + rng.choice([0.0, 0.49, 0.99], n_rows)
    income = np.exp(rng.normal(11.0, 0.6, n_rows)).round(-3)
    late = rng.choice(4, n_rows, p=[0.8, 0.12, 0.05, 0.03]).astype(float)
    burden = amount / term / (income / 12)
    score = -3.2 + 0.11 * rate + 9.0 * burden + 0.4 * late + 0.5 * (amount == 10_000) - (late == 2)
    label = (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(np.float64)
    return np.column_stack([amount, term, rate, income, late, grade]), label


@pytest.mark.parametrize("make_table", [table_of_heavy_values, table_of_loans])
@pytest.mark.parametrize("max_bin", [256, 32])
def test_heavy_values_cost_no_accuracy(max_bin: int, make_table: Any) -> None:
    """The loss is XGBoost's, within 0.5 %: means over three tables, on rows not trained on."""
    theirs = pytest.importorskip("xgboost")
    ours = importlib.import_module("gossamer.compat.xgboost")
    params = {
        "objective": "binary:logistic",
        "tree_method": "approx",
        "max_bin": max_bin,
        "max_depth": 5,
        "nthread": 1,
    }
    losses = np.zeros(2)
    for seed in range(3):
        table, label = make_table(seed, 40_000)
        for i, xgb in enumerate((ours, theirs)):
            model = xgb.train(params, xgb.DMatrix(table[:20_000], label[:20_000]), 30)
            found = model.predict(xgb.DMatrix(table[20_000:])).astype(np.float64)
            losses[i] -= np.log(np.where(label[20_000:] == 1, found, 1 - found)).mean()
    assert losses[0] < 1.005 * losses[1]


def test_heavy_values_on_any_number_of_threads() -> None:
    table, label = table_of_heavy_values(0, 3000)
    models = [
        fit(
            table, label, objective="binary", n_rounds=5, max_bin=32, num_threads=n
        ).model_to_string()
        for n in (1, 2, 4)
    ]
    assert models[0] == models[1] == models[2]


@pytest.mark.parametrize("proposal", PROPOSALS)
def test_candidates_keep_the_bound(proposal: str) -> None:
    """A step in the label lies at any place; the candidate next to it is found."""
    rng = np.random.default_rng(3)
    values, weight = np.sort(rng.normal(size=600)), rng.uniform(0.1, 4.0, 600)
    eps, cumulative = 0.07, np.cumsum(weight)
    most = eps * cumulative[-1] + weight.max()
    thresholds = set()
    for place in range(40, 560, 13):
        label = np.where(np.arange(600) < place, 0.0, 1.0)
        found = first_threshold(values[:, None], label, weight, sketch_eps=eps, proposal=proposal)
        thresholds.add(found)
        below = cumulative[np.searchsorted(values, found) - 1]
        assert abs(below - cumulative[place - 1]) <= most
    ranks = [cumulative[np.searchsorted(values, t) - 1] for t in sorted(thresholds)]
    steps = np.diff(ranks)
    assert (steps >= eps * cumulative[-1] * (1 - 1e-6)).all()
    assert len(thresholds) <= 1 / eps


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 1e-3])
def test_small_steps_find_the_exact_partition(eps: float, proposal: str, is_sparse: bool) -> None:
    rng = np.random.default_rng(4)
    table: Any = rng.normal(size=(500, 4))
    label = np.sin(2 * table[:, 0]) + table[:, 1] * table[:, 2]
    table[rng.random(table.shape) < 0.1] = np.nan
    if is_sparse:
        table = sparse.csr_array(np.where(np.abs(table) < 0.5, 0.0, table))
    params: dict[str, Any] = {"n_rounds": 3, "num_leaves": 12, "min_data_in_leaf": 5}
    approx = fit(table, label, **params, sketch_eps=eps, proposal=proposal)
    exact = fit(table, label, **params, tree_method="exact")
    leaves = (booster.predict(table, pred_leaf=True) for booster in (approx, exact))
    np.testing.assert_array_equal(*leaves)
    np.testing.assert_allclose(approx.predict(table), exact.predict(table), atol=1e-3)


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("eps", [0.5, 0.9, 0.999999])
def test_large_steps(eps: float, proposal: str) -> None:
    rng = np.random.default_rng(5)
    table = np.column_stack([rng.normal(size=(400, 2)), rng.integers(0, 3, 400)])
    label = table[:, 0] + table[:, 2]
    booster = fit(table, label, n_rounds=5, sketch_eps=eps, proposal=proposal)
    assert booster.num_trees() == 5  # the column of few values can always be split
    assert np.mean((booster.predict(table) - label) ** 2) < np.mean((label - label.mean()) ** 2)
    n_found = {
        float(t)
        for i in range(5)
        for c, t in zip(
            *(getattr(booster.model.forest.tree(i), n) for n in ("column", "threshold")),
            strict=True,
        )
        if c == 0
    }
    assert proposal == "local" or len(n_found) <= 5 * (1 / eps)


def test_missing_values_are_no_reason_to_look_less_closely() -> None:
    """Steps are shares of the rows that have a value: in a leaf, too."""
    rng = np.random.default_rng(6)
    values = np.full(4000, np.nan)
    values[:400] = np.sort(rng.normal(size=400))
    for place in (40, 130, 333):
        label = np.where(np.arange(4000) < place, 1.0, 0.0)
        for proposal in PROPOSALS:
            found = first_threshold(
                values[:, None], label, None, sketch_eps=0.05, proposal=proposal
            )
            assert abs(np.searchsorted(values[:400], found) - place) <= 0.05 * 400 + 1


def test_local_proposals_need_fewer_candidates() -> None:
    """Steps close together, found only by those who look closely: at the rows of a leaf, or all."""
    rng = np.random.default_rng(7)
    values = np.sort(rng.uniform(size=3000))
    label = np.where(values < 0.9, 0.0, np.sign(np.sin(values * 400)) * 3 + 10)

    def loss(eps: float, proposal: str) -> float:
        booster = fit(
            values[:, None], label, sketch_eps=eps, proposal=proposal, num_leaves=16, lambda_l2=0.0
        )
        return float(np.mean((booster.predict(values[:, None]) - label) ** 2))

    local, same, finer = loss(0.1, "local"), loss(0.1, "global"), loss(0.01, "global")
    assert local < 0.5 * same
    assert local < finer


def test_candidates_follow_the_hessians() -> None:
    """In the second round, rows that the model is sure of weigh little."""
    rng = np.random.default_rng(8)
    values = np.sort(rng.normal(size=2000))
    label = (values + 0.05 * rng.normal(size=2000) > 0).astype(float)
    params: dict[str, Any] = {"objective": "binary", "num_leaves": 2, "sketch_eps": 0.2}
    booster = fit(values[:, None], label, n_rounds=6, **params)
    thresholds = [float(booster.model.forest.tree(t).threshold[0]) for t in range(6)]
    assert len(set(thresholds)) > 2  # proposed again for every tree


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("params", [{}, {"zero_as_missing": True}, {"use_missing": False}], ids=str)
def test_categories(proposal: str, params: dict[str, Any]) -> None:
    rng = np.random.default_rng(9)
    table = np.column_stack([rng.normal(size=(600, 2)), rng.integers(0, 12, 600)])
    label = table[:, 0] + np.sin(table[:, 2] * 5)
    table[rng.random(table.shape) < 0.05] = np.nan
    other = table[::2] + np.array([0.01, 0.01, 7])  # categories that training has not seen
    data = Dataset(table, label, categorical_feature=[2])
    valid = Dataset(other, label[::2], reference=data)
    every = {**PLAIN, **params, "proposal": proposal, "learning_rate": 0.3, "min_data_per_group": 5}
    booster = train(every, data, 5, valid, keep_training_booster=True)
    assert booster.training is not None
    for scored, own in zip(
        (booster.training.train, *booster.training.valid), (table, other), strict=True
    ):
        np.testing.assert_array_equal(booster.predict(own, raw_score=True), scored.score)
    used = np.concatenate([booster.model.forest.tree(t).column for t in range(5)])
    assert {0, 2} <= set(used.tolist())


# ---- parameters ----


@pytest.mark.parametrize("eps", [0, 1, -0.1, 1.5, float("nan"), float("inf"), "small"])
def test_a_share_that_is_none(eps: Any) -> None:
    with pytest.raises(ParameterError, match="sketch_eps"):
        fit(np.arange(20.0)[:, None], np.arange(20.0), sketch_eps=eps)


def test_max_bin_says_how_many() -> None:
    assert resolve({"tree_method": "approx", "max_bin": 64}).sketch_eps == 1 / 64
    assert resolve({"tree_method": "approx", "max_bin": 64, "sketch_eps": 0.2}).sketch_eps == 0.2
    table = np.random.default_rng(0).normal(size=(500, 1))
    numbers = {
        (eps, n): first_threshold(table, np.abs(table[:, 0]), None, **params)
        for (eps, n), params in {
            ("bins", 8): {"max_bin": 8},
            ("eps", 8): {"sketch_eps": 1 / 8},
        }.items()
    }
    for one, other in itertools.pairwise(numbers.values()):
        assert one == other


@pytest.mark.parametrize("proposal", ["", "globally", "both", 3])
def test_proposals_that_do_not_exist(proposal: Any) -> None:
    with pytest.raises(ParameterError, match="proposal"):
        fit(np.arange(20.0)[:, None], np.arange(20.0), proposal=proposal)
