"""Objectives of ranking against their definitions, and against LightGBM and XGBoost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import ranking as reference

from gossamer import DataError, Dataset, ParameterError, _native
from gossamer.data.dataset import built_data
from gossamer.objectives import Gradients, make_objective
from gossamer.objectives.base import random_key
from gossamer.params import resolve

RNG = np.random.default_rng(0)
SIZES = [7, 12, 1, 30, 5, 70, 2]
N_ROWS = sum(SIZES)
TABLE = np.arange(float(N_ROWS)).reshape(-1, 1)
LABEL = RNG.integers(0, 4, N_ROWS).astype(float)
BINARY = (RNG.random(N_ROWS) < 0.3).astype(float)
SCORE = np.round(RNG.normal(size=N_ROWS), 1)  # ties on purpose
WEIGHT = RNG.exponential(size=N_ROWS)


def gradients(
    params: dict[str, Any],
    label: Any = LABEL,
    score: Any = SCORE,
    n_round: int = 0,
    n_threads: int = 2,
    **fields: Any,
) -> tuple[np.ndarray, np.ndarray]:
    fields = {"group": SIZES, **fields}
    data = Dataset(np.arange(float(len(label))).reshape(-1, 1), label, **fields)
    objective = make_objective(resolve(params), built_data(data).targets)
    out = Gradients.empty(len(label), 1, has_hessian=True)
    objective = objective.for_round(n_round, objective.start_state(built_data(data).targets))
    objective.fill_gradients(np.array(score, dtype=float), built_data(data).targets, out, n_threads)
    assert out.hessian is not None
    return out.gradient, out.hessian


def by_query(function: Any, *columns: Any, sizes: Any = SIZES) -> np.ndarray:
    ends = np.cumsum(sizes)
    parts = [
        function(*(column[end - size : end] for column in columns))
        for end, size in zip(ends, sizes, strict=True)
    ]
    return np.concatenate(parts, axis=1)


def powers(label: float) -> float:
    return 2.0**label - 1


@pytest.mark.parametrize(
    ("params", "options"),
    [
        ({}, {}),
        ({"lambdarank_truncation_level": 3}, {"n_top": 3}),
        ({"lambdarank_norm": False}, {"divide": False, "norm": "none"}),
        ({"sigmoid": 2.0, "lambdarank_truncation_level": 100}, {"sigmoid": 2.0, "n_top": 100}),
        ({"label_gain": [0, 1, 3, 10]}, {"gain": [0, 1, 3, 10]}),
    ],
    ids=str,
)
def test_lambdarank(params: dict[str, Any], options: dict[str, Any]) -> None:
    options = dict(options)
    n_top, table = options.pop("n_top", 30), options.pop("gain", None)
    delta = reference.ndcg_delta(lambda y: table[int(y)] if table else powers(y), n_top)
    pairs = reference.top_pairs(n_top)
    expected = by_query(
        lambda s, y: reference.query_gradients(s, y, delta, pairs, **options), SCORE, LABEL
    )
    found = gradients({"objective": "lambdarank", **params})
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-7)
    weighted = gradients({"objective": "lambdarank", **params}, weight=WEIGHT)
    np.testing.assert_allclose(weighted, expected * WEIGHT, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("params", "options"),
    [
        ({}, {}),
        ({"lambdarank_num_pair_per_sample": 3}, {"n_top": 3}),
        ({"lambdarank_normalization": False}, {"norm": "none"}),
        ({"lambdarank_score_normalization": False}, {"divide": False}),
        ({"ndcg_exp_gain": False}, {}),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["rank:ndcg", "rank:pairwise", "rank:map"])
def test_xgboosts(name: str, params: dict[str, Any], options: dict[str, Any]) -> None:
    options = dict(options)
    n_top = options.pop("n_top", 32)
    label = BINARY if name == "rank:map" else LABEL
    gain = powers if params.get("ndcg_exp_gain", True) else float
    delta = {
        "rank:ndcg": reference.ndcg_delta(gain, n_top),
        "rank:pairwise": lambda y, i, j: 1.0,
        "rank:map": reference.map_delta,
    }[name]
    pairs = reference.top_pairs(n_top)
    expected = by_query(
        lambda s, y: reference.query_gradients(s, y, delta, pairs, hessian_factor=2, **options),
        SCORE,
        label,
    )
    found = gradients({"objective": name, **params}, label)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["rank:ndcg", "rank:pairwise", "rank:map"])
def test_pairs_drawn_are_all_pairs_on_average(name: str) -> None:
    """Every row draws partners of another label with equal chances."""
    label = BINARY if name == "rank:map" else LABEL
    n_pairs = 4000
    delta = {
        "rank:ndcg": reference.ndcg_delta(powers, N_ROWS),
        "rank:pairwise": lambda y, i, j: 1.0,
        "rank:map": reference.map_delta,
    }[name]

    def expected_of(score: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y_ranked = y[np.argsort(-score, kind="stable")]
        n_others = np.array([(y_ranked != one).sum() for one in y_ranked])

        def chance(labels: np.ndarray, i: int, j: int) -> float:
            return delta(labels, i, j) * (1 / n_others[i] + 1 / n_others[j])

        pairs = reference.top_pairs(len(y))
        return reference.query_gradients(score, y, chance, pairs, norm="none", hessian_factor=2)

    expected = by_query(expected_of, SCORE, label)
    params = {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": n_pairs}
    found = gradients({"objective": name, **params}, label)
    np.testing.assert_allclose(found, expected, rtol=0.1, atol=0.02 * np.abs(expected).max())
    plain = gradients({"objective": name, **params, "lambdarank_normalization": False}, label)
    np.testing.assert_allclose(plain[0], found[0] * n_pairs, rtol=1e-5, atol=1e-3)


def test_pairs_drawn_differ_by_round_and_seed() -> None:
    params = {"objective": "rank:pairwise", "lambdarank_pair_method": "mean"}
    first = gradients(params)[0]
    np.testing.assert_array_equal(first, gradients(params)[0])
    assert (first != gradients(params, n_round=1)[0]).any()
    assert (first != gradients({**params, "objective_seed": 9}, n_round=0)[0]).any()


@pytest.mark.parametrize("label", [LABEL, LABEL + 0.25], ids=["whole", "fractions"])
def test_xendcg(label: np.ndarray) -> None:
    for n_round in (0, 3):
        key = random_key(5, n_round)
        unit = [(_native.random_bits(key, i) >> 11) * 2.0**-53 for i in range(N_ROWS)]
        expected = by_query(reference.xendcg, SCORE, label, np.array(unit))
        found = gradients({"objective": "rank_xendcg"}, label, n_round=n_round)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
        weighted = gradients({"objective": "rank_xendcg"}, label, n_round=n_round, weight=WEIGHT)
        np.testing.assert_allclose(weighted, expected * WEIGHT, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["lambdarank", "rank:ndcg", "rank_xendcg"])
def test_huge_labels_are_as_good_as_others(name: str) -> None:
    """2^label would overflow; only shares of gains matter."""
    label = LABEL + 2000
    found = gradients({"objective": name, "lambdarank_truncation_level": 10}, label)
    assert np.isfinite(found).all()
    assert np.abs(found[0]).max() > 0.01
    if name != "rank_xendcg":
        # Gains of 2^label, without the "- 1" that is as nothing here.
        delta = reference.ndcg_delta(
            lambda y: 2.0 ** (y - 2000), 10 if name == "lambdarank" else 32
        )
        pairs = reference.top_pairs(10 if name == "lambdarank" else 32)
        factor = 1 if name == "lambdarank" else 2
        expected = by_query(
            lambda s, y: reference.query_gradients(s, y, delta, pairs, hessian_factor=factor),
            SCORE,
            label,
        )
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-7)


def test_more_labels_than_lightgbms_31() -> None:
    label = np.arange(float(N_ROWS)) % 60
    assert np.isfinite(gradients({"objective": "lambdarank"}, label)).all()


def test_a_query_of_many_rows() -> None:
    n = 300_000
    label = (np.arange(n) % 1000 == 0).astype(float)
    found = gradients({"objective": "lambdarank"}, label, RNG.normal(size=n), group=[n])
    assert np.isfinite(found).all()
    assert np.count_nonzero(found[0]) > 300


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=6).flatmap(
        lambda sizes: st.tuples(st.just(sizes), st.permutations(range(len(sizes))))
    ),
    st.integers(0, 1000),
    st.sampled_from(["lambdarank", "rank:ndcg", "rank:pairwise", "rank:map"]),
)
def test_queries_do_not_know_of_each_other(
    case: tuple[list[int], list[int]], seed: int, name: str
) -> None:
    sizes, order = case
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    label, score = rng.integers(0, 2, n).astype(float), rng.normal(size=n).round(1)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    rows = np.concatenate([np.arange(starts[q], starts[q + 1]) for q in order])
    one = gradients({"objective": name}, label, score, group=sizes)
    other = gradients(
        {"objective": name}, label[rows], score[rows], group=[sizes[q] for q in order]
    )
    np.testing.assert_array_equal(np.array(one)[:, rows], other)
    np.testing.assert_allclose(
        np.add.reduceat(one[0].astype(float), starts[:-1]), 0, atol=1e-5, err_msg="forces balance"
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 200), st.integers(0, 1000), st.sampled_from(["lambdarank", "rank:map"]))
def test_order_of_rows_matters_only_among_ties(n: int, seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    label, score = rng.integers(0, 2, n).astype(float), rng.permutation(n) / 7
    rows = rng.permutation(n)
    one = gradients({"objective": name}, label, score, group=[n])
    other = gradients({"objective": name}, label[rows], score[rows], group=[n])
    np.testing.assert_array_equal(np.array(one)[:, rows], other)


def test_position_biases_are_added_to_the_scores_and_learned() -> None:
    position = np.arange(N_ROWS) % 4
    data = Dataset(TABLE, LABEL, group=SIZES, position=position)
    params = {"objective": "lambdarank", "lambdarank_position_bias_regularization": 0.5}
    objective = make_objective(resolve(params), built_data(data).targets)
    out = Gradients.empty(N_ROWS, 1, has_hessian=True)
    bias = np.array([0.5, 0.1, -0.3, 0.0])
    objective.for_round(0, bias).fill_gradients(SCORE.copy(), built_data(data).targets, out, 2)
    expected = gradients({"objective": "lambdarank"}, score=SCORE + bias[position])
    np.testing.assert_array_equal((out.gradient, out.hessian), expected)

    sums = [[values[position == k].sum() for k in range(4)] for values in expected]
    rows = np.bincount(position)
    slope, curvature = sums[0] + 0.5 * rows * bias, sums[1] + 0.5 * rows
    found = objective.next_state(bias, built_data(data).targets, out)
    np.testing.assert_allclose(found, bias - 0.1 * slope / (curvature + 0.001), rtol=1e-5)
    np.testing.assert_array_equal(objective.start_state(built_data(data).targets), np.zeros(4))


@pytest.mark.parametrize(
    ("params", "label", "match"),
    [
        (
            {"label_gain": [0, 1, 3]},
            LABEL,
            "does not fit objective=lambdarank: got 3.0, exp",
        ),
        ({"label_gain": [0, 1, 3, 7]}, LABEL + 0.5, r"expected whole numbers from 0.*rank_xendcg"),
        ({}, LABEL + 0.5, r"expected whole numbers from 0.*ndcg_exp_gain=False"),
        ({"objective": "rank:ndcg"}, LABEL + 0.5, r"objective=rank:ndcg: got 3.5, expected whole"),
        ({}, LABEL - 1, "label of row .* of the training data .* expected whole numbers from 0 to"),
        ({"objective": "rank_xendcg"}, LABEL - 1, "objective=rank_xendcg: got -1.0"),
        ({"objective": "rank:pairwise"}, LABEL - 1, "objective=rank:pairwise: got -1.0"),
        ({"objective": "rank:map"}, LABEL, "objective=rank:map: got .*, expected 0 or 1.* rank:nd"),
        ({}, LABEL * 1e8, "expected whole numbers from 0 to 16777216"),
    ],
    ids=str,
)
def test_bad_labels(params: dict[str, Any], label: np.ndarray, match: str) -> None:
    with pytest.raises(DataError, match=match):
        gradients({"objective": "lambdarank", **params}, label)


@pytest.mark.parametrize("gain", [[-1, 0, 1, 2], [0, 5, 1, 9]], ids=str)
def test_bad_gains(gain: list[float]) -> None:
    with pytest.raises(ParameterError, match="label_gain cannot be used"):
        gradients({"objective": "lambdarank", "label_gain": gain})


@pytest.mark.parametrize("name", ["lambdarank", "rank_xendcg", "rank:ndcg", "rank:map"])
def test_no_queries(name: str) -> None:
    with pytest.raises(DataError, match=f"objective={name} needs queries.*group.*que"):
        gradients({"objective": name}, BINARY, group=None)


def test_native_arguments_are_checked() -> None:
    label, queries = LABEL.astype(np.float32), np.array([0, N_ROWS])
    rules: dict[str, Any] = {
        "delta": _native.PairDelta.ndcg,
        "gain": _native.GainKind.exponential,
        "gains": [],
        "sigmoid": 1.0,
        "hessian_factor": 1.0,
        "hessian_floor": 0.0,
        "divide_by_difference": True,
        "norm": _native.PairNorm.gradients,
        "n_top": 30,
        "n_drawn": 0,
        "n_threads": 1,
    }
    for wrong in ([0, 5], [0, 5, 5, N_ROWS], [1, N_ROWS], [0], [0, N_ROWS, 4, N_ROWS]):
        with pytest.raises(ValueError, match="queries must increase"):
            _native.LambdaRank(label, np.array(wrong), **rules)
    for change in ({"n_top": 0}, {"n_drawn": -1}, {"norm": _native.PairNorm.pairs}):
        with pytest.raises(ValueError, match=r"out of range|no pairs"):
            _native.LambdaRank(label, queries, **{**rules, **change})
    table = {"gain": _native.GainKind.table, "gains": [0.0, 1.0]}
    with pytest.raises(ValueError, match="label has no gain"):
        _native.LambdaRank(label, queries, **{**rules, **table})
    with pytest.raises(ValueError, match="label is negative"):
        _native.LambdaRank(-label, queries, **rules)
    pairs = _native.LambdaRank(label, queries, **rules)
    out = np.empty(N_ROWS, dtype=np.float32)
    with pytest.raises(ValueError, match="score has length"):
        pairs.fill(SCORE[1:], None, None, None, None, None, 0, out, out.copy(), 1)
    with pytest.raises(ValueError, match="bias without position"):
        pairs.fill(SCORE, None, None, np.zeros(1), None, None, 0, out, out.copy(), 1)
    with pytest.raises(ValueError, match="position has no bias"):
        position = np.ones(N_ROWS, dtype=np.int32)
        pairs.fill(SCORE, None, position, np.zeros(1), None, None, 0, out, out.copy(), 1)
    for ratios, costs in ((np.ones(4), None), (np.ones(3), np.ones(3))):
        with pytest.raises(ValueError, match="ratios without costs, or not in pairs"):
            pairs.fill(SCORE, None, None, None, ratios, costs, 0, out, out.copy(), 1)
    with pytest.raises(ValueError, match="costs has length"):
        pairs.fill(SCORE, None, None, None, np.ones(4), np.ones(3), 0, out, out.copy(), 1)


# ---- the peers: one tree with a leaf for every row has the gradients as its leaves ----


@pytest.mark.parametrize(
    "params",
    [{}, {"lambdarank_truncation_level": 4}, {"lambdarank_norm": False}, {"sigmoid": 2.0}],
    ids=str,
)
def test_gradients_are_lightgbms(params: dict[str, Any]) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    fixed = {"min_data_in_bin": 1, "max_bin": 1000, "verbose": -1}
    data = lightgbm.Dataset(TABLE, LABEL, group=SIZES, init_score=SCORE, params=fixed)
    leaves = {"num_leaves": 2 * N_ROWS, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 1e-4}
    learn = {"objective": "lambdarank", "learning_rate": 1.0, "num_threads": 1}
    model = lightgbm.train({**fixed, **leaves, **learn, **params}, data, 1)
    tree = model.trees_to_dataframe().set_index("node_index")
    leaf = model.predict(TABLE, pred_leaf=True)[:, 0]
    alone = np.flatnonzero(np.bincount(leaf)[leaf] == 1)
    assert len(alone) > 20
    rows = tree.loc[[f"0-L{k}" for k in leaf[alone]]]
    gradient, hessian = gradients({"objective": "lambdarank", **params})
    np.testing.assert_allclose(rows["weight"], hessian[alone], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(-rows["value"] * rows["weight"], gradient[alone], atol=1e-4)


@pytest.mark.parametrize("params", [{}, {"lambdarank_num_pair_per_sample": 4}], ids=str)
@pytest.mark.parametrize("name", ["rank:ndcg", "rank:pairwise", "rank:map"])
def test_gradients_are_xgboosts(name: str, params: dict[str, Any]) -> None:
    xgboost = pytest.importorskip("xgboost")
    label = BINARY if name == "rank:map" else LABEL
    data = xgboost.DMatrix(TABLE, label, base_margin=SCORE)
    data.set_group(SIZES)
    leaves = {"max_depth": 100, "lambda": 0, "min_child_weight": 0, "tree_method": "exact"}
    learn = {"objective": name, "eta": 1.0, "nthread": 1}
    model = xgboost.train({**leaves, **learn, **params}, data, 1)
    tree = model.trees_to_dataframe().set_index("Node")
    leaf = model.predict(data, pred_leaf=True).reshape(-1).astype(int)
    alone = np.flatnonzero(np.bincount(leaf)[leaf] == 1)
    assert len(alone) > 20
    rows = tree.loc[leaf[alone]]
    gradient, hessian = gradients({"objective": name, **params}, label)
    np.testing.assert_allclose(rows["Cover"], hessian[alone], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(-rows["Gain"] * rows["Cover"], gradient[alone], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", ["rank:pairwise", "rank_xendcg", "rank:ndcg"])
def test_relevance_in_fractions(name: str) -> None:
    found = gradients({"objective": name, "ndcg_exp_gain": False}, LABEL + 0.25)
    assert np.isfinite(found).all()
    assert np.abs(found[0]).max() > 0
