"""Metrics of ranking against their definitions, scikit-learn, LightGBM and XGBoost."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from gossamer import DataError, Dataset, ParameterError, _native, record_evaluation, train
from gossamer.data.dataset import built_data
from gossamer.metrics import make_metrics
from gossamer.objectives import Regression
from gossamer.params import resolve

RNG = np.random.default_rng(0)
SIZES = RNG.integers(1, 40, 60)
N_ROWS = int(SIZES.sum())
LABEL = RNG.integers(0, 4, N_ROWS) * (RNG.random(N_ROWS) < 0.3)
BINARY = (LABEL > 0).astype(int)
SCORE = RNG.normal(size=N_ROWS).round(1)  # ties on purpose
NO_TIES = RNG.permutation(N_ROWS) / 10
STARTS = np.concatenate(([0], np.cumsum(SIZES)))
IS_EMPTY = np.maximum.reduceat(LABEL, STARTS[:-1]) == 0
assert 0 < IS_EMPTY.sum() < 30


def evaluate(
    metric: Any,
    label: Any = LABEL,
    score: Any = SCORE,
    n_threads: int = 2,
    params: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, float]:
    fields = {"group": SIZES, **fields}
    data = Dataset(np.arange(float(len(label))).reshape(-1, 1), label, **fields)
    metrics = make_metrics(resolve({"metric": metric, **(params or {})}), Regression())
    score = np.array(score, dtype=float)
    return {
        one.name: one.evaluate(score, built_data(data).targets, Regression(), n_threads)
        for one in metrics
    }


def by_query(function: Any, *columns: Any) -> np.ndarray:
    return np.array(
        [function(*(column[i:j] for column in columns)) for i, j in itertools.pairwise(STARTS)]
    )


def plain_ndcg(label: np.ndarray, score: np.ndarray, k: int, empty: float = 1.0) -> float:
    def dcg(labels: np.ndarray) -> float:
        return sum((2.0**y - 1) / math.log2(r + 2) for r, y in enumerate(labels[:k]))

    best = dcg(np.sort(label)[::-1])
    return dcg(label[np.argsort(-score, kind="stable")]) / best if best else empty


def plain_map(label: np.ndarray, score: np.ndarray, k: int, empty: float = 1.0) -> float:
    y = label[np.argsort(-score, kind="stable")] > 0
    if not y.any():
        return empty
    precision = np.cumsum(y) / np.arange(1, len(y) + 1)
    return float(precision[:k][y[:k]].sum() / min(y.sum(), k))


@pytest.mark.parametrize("k", [1, 3, 10, 64, 65, 1000])
def test_definitions(k: int) -> None:
    found = evaluate(f"ndcg@{k},map@{k},pre@{k},ndcg@{k}-,map@{k}-")
    expected = {
        f"ndcg@{k}": by_query(lambda y, s: plain_ndcg(y, s, k), LABEL, SCORE).mean(),
        f"map@{k}": by_query(lambda y, s: plain_map(y, s, k), LABEL, SCORE).mean(),
        f"pre@{k}": by_query(
            lambda y, s: y[np.argsort(-s, kind="stable")][:k].mean(), LABEL, SCORE
        ).mean(),
        f"ndcg@{k}-": by_query(lambda y, s: plain_ndcg(y, s, k, 0), LABEL, SCORE).mean(),
        f"map@{k}-": by_query(lambda y, s: plain_map(y, s, k, 0), LABEL, SCORE).mean(),
    }
    assert found == pytest.approx(expected, rel=1e-12)


def test_names() -> None:
    assert list(evaluate("ndcg", params={"eval_at": [5, 1, 5]})) == ["ndcg@1", "ndcg@5"]
    assert list(evaluate("map,ndcg@7,ndcg-")) == [
        *(f"map@{k}" for k in range(1, 6)),
        "ndcg@7",
        "ndcg-",
    ]
    assert list(evaluate("xendcg@3,mean_average_precision@2")) == ["ndcg@3", "map@2"]
    assert all(one.maximize for one in make_metrics(resolve({"metric": "ndcg"}), Regression()))


def test_minus_alone_is_the_whole_query() -> None:
    assert evaluate("ndcg-")["ndcg-"] == evaluate("ndcg@1000-")["ndcg@1000-"]


def test_scikit_learn() -> None:
    """Linear gains are its relevance; with exponential ones it is given 2^label - 1."""
    for exponential in (True, False):
        gain = 2.0**LABEL - 1 if exponential else LABEL

        def one(y: np.ndarray, s: np.ndarray, full: float = 10) -> float:
            if y.max() == 0:
                return 1.0
            return 1.0 if len(y) == 1 else ndcg_score([y], [s], k=full, ignore_ties=True)

        expected = by_query(one, gain, NO_TIES).mean()
        params = {"ndcg_exp_gain": exponential}
        found = evaluate("ndcg@10", score=NO_TIES, params=params)["ndcg@10"]
        assert found == pytest.approx(expected, rel=1e-12)
    precision = by_query(
        lambda y, s: average_precision_score(y, s) if y.max() else 1.0, BINARY, NO_TIES
    ).mean()
    found = evaluate("map@1000", BINARY, NO_TIES)["map@1000"]
    assert found == pytest.approx(precision, rel=1e-12)


def test_queries_are_weighted_by_the_mean_of_their_rows() -> None:
    weight = RNG.exponential(size=N_ROWS).astype(np.float32)
    each = by_query(lambda y, s: plain_ndcg(y, s, 5), LABEL, SCORE)
    by_mean = by_query(np.mean, weight)
    found = evaluate("ndcg@5", weight=weight)["ndcg@5"]
    assert found == pytest.approx(np.average(each, weights=by_mean), rel=1e-6)


def test_gains() -> None:
    gains = [0, 1, 1, 50]
    expected = evaluate("ndcg@5", np.array(gains)[LABEL], params={"ndcg_exp_gain": False})
    found = evaluate("ndcg@5", params={"label_gain": gains})
    assert found == pytest.approx(expected, rel=1e-12)
    assert evaluate("ndcg@5", LABEL + 5000)["ndcg@5"] > 0  # 2^5000 is beyond a double


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.integers(1, 80), st.integers(0, 1000), st.sampled_from([0, 1, 20]))
def test_any_query(n: int, k: int, seed: int, decimals: int) -> None:
    rng = np.random.default_rng(seed)
    label, score = rng.integers(0, 3, n), rng.normal(size=n).round(decimals)
    found = evaluate(f"ndcg@{k},map@{k}", label, score, group=[n])
    expected = {f"ndcg@{k}": plain_ndcg(label, score, k), f"map@{k}": plain_map(label, score, k)}
    assert found == pytest.approx(expected, rel=1e-12)


def test_threads_and_kernels_do_not_matter() -> None:
    level = _native.kernel_level()
    try:
        values = set()
        for name in _native.kernel_levels():
            assert _native.set_kernel_level(name)
            for n_threads in (1, 2, 3, 8):
                values.add(tuple(evaluate("ndcg,map,pre", n_threads=n_threads).values()))
        assert len(values) == 1
    finally:
        _native.set_kernel_level(level)


@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm(weighted: bool) -> None:
    """Without empty queries where weights count: it gives each of those the weight 1."""
    lightgbm = pytest.importorskip("lightgbm")
    keep = np.repeat(~IS_EMPTY, SIZES) if weighted else np.ones(N_ROWS, dtype=bool)
    sizes = SIZES[~IS_EMPTY] if weighted else SIZES
    weight = RNG.exponential(size=keep.sum()) if weighted else None
    table, label = np.arange(float(keep.sum())).reshape(-1, 1), LABEL[keep]
    history: dict[str, Any] = {}
    params = {"metric": "ndcg,map", "eval_at": [10, 1, 3], "objective": "lambdarank", "verbose": -1}
    data = lightgbm.Dataset(table, label, group=sizes, weight=weight, init_score=NO_TIES[keep])
    lightgbm.train(
        {**params, "learning_rate": 1e-9, "num_threads": 1},
        data,
        1,
        valid_sets=[data],
        callbacks=[lightgbm.record_evaluation(history)],
    )
    found = evaluate(
        "ndcg,map", label, NO_TIES[keep], params={"eval_at": [10, 1, 3]}, group=sizes, weight=weight
    )
    expected = {name: values[0] for name, values in history["training"].items()}
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("label", "names", "objective"),
    [
        (LABEL, ["ndcg@5", "ndcg@5-", "ndcg@100"], "rank:ndcg"),
        (BINARY, ["map@5", "map@5-", "map@100", "pre@5", "pre@1", "pre@100"], "rank:map"),
    ],
    ids=["graded", "binary"],
)
def test_xgboost(label: np.ndarray, names: list[str], objective: str) -> None:
    xgboost = pytest.importorskip("xgboost")
    table = np.arange(float(N_ROWS)).reshape(-1, 1)
    data = xgboost.DMatrix(table, label, base_margin=SCORE)
    data.set_group(SIZES)
    history: dict[str, Any] = {}
    params = {"objective": objective, "eta": 1e-12, "max_depth": 1, "eval_metric": names}
    xgboost.train(params, data, 1, evals=[(data, "d")], evals_result=history, verbose_eval=False)
    expected = {name: values[0] for name, values in history["d"].items()}
    assert evaluate(names, label) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("metric", ["ndcg@0", "ndcg@x", "map@-3", "pre@1.5"])
def test_bad_ranks(metric: str) -> None:
    with pytest.raises(ParameterError, match="cannot be evaluated at this rank"):
        evaluate(metric)


def test_bad_eval_at() -> None:
    with pytest.raises(ParameterError, match="cannot be evaluated at this rank: got 0"):
        evaluate("ndcg", params={"eval_at": [1, 0]})


def test_bad_data() -> None:
    with pytest.raises(DataError, match="the metric ndcg@5 needs queries"):
        evaluate("ndcg@5", group=None)
    with pytest.raises(DataError, match=r"does not fit the metric ndcg@5: got -1\.0"):
        evaluate("ndcg@5", LABEL - 1)
    with pytest.raises(DataError, match="less than 3, the length of label_gain"):
        evaluate("ndcg@5", params={"label_gain": [0, 1, 2]})


def test_native_arguments_are_checked() -> None:
    label = LABEL.astype(np.float32)
    arguments: dict[str, Any] = {
        "score": SCORE,
        "label": label,
        "weight": None,
        "queries": STARTS,
        "kind": _native.RankMetric.ndcg,
        "n_top": 5,
        "without_relevant": 1.0,
        "gain": _native.GainKind.exponential,
        "gains": [],
        "n_threads": 1,
    }
    assert _native.ranking_metric(**arguments) == evaluate("ndcg@5")["ndcg@5"]
    for change in (
        {"score": SCORE[1:]},
        {"weight": label[1:]},
        {"queries": STARTS[:-1]},
        {"n_top": 0},
        {"label": -1 - label},
        {"gain": _native.GainKind.table, "gains": [0.0, 1.0]},
    ):
        with pytest.raises(ValueError, match=r"length|queries|n_top|label"):
            _native.ranking_metric(**{**arguments, **change})


def test_with_any_objective() -> None:
    table = RNG.normal(size=(N_ROWS, 3))
    data = Dataset(table, LABEL, group=SIZES)
    history: dict[str, Any] = {}
    params = {"metric": "l2,ndcg@3", "verbose": -1}
    train(params, data, 2, valid_sets=[data], callbacks=[record_evaluation(history)])
    assert list(history["training"]) == ["l2", "ndcg@3"]
