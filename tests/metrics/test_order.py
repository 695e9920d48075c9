"""Metrics of order, compared with scikit-learn, LightGBM, XGBoost and plain formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import ParameterError
from gossamer.data import Targets
from gossamer.metrics import Metric, make_metrics
from gossamer.objectives import Binary, Custom, Multiclass, Objective, Regression
from gossamer.params import resolve

NAMES = ["auc", "average_precision", "aucpr"]
N_ROWS = 30_000  # several buckets


def make(name: str, objective: Objective, **params: Any) -> Metric:
    if objective.n_outputs > 1:
        params["num_class"] = objective.n_outputs
    (metric,) = make_metrics(
        resolve({"metric": name, "objective": objective.name, **params}), objective
    )
    return metric


def value(
    name: str,
    score: Any,
    label: Any,
    weight: Any = None,
    objective: Objective | None = None,
    n_threads: int = 2,
    **params: Any,
) -> float:
    objective = Binary() if objective is None else objective
    weight = None if weight is None else np.asarray(weight, dtype=np.float32)
    targets = Targets(np.asarray(label, dtype=np.float32), weight)
    flat = np.ascontiguousarray(np.asarray(score, dtype=np.float64).T).ravel()
    return make(name, objective, **params).evaluate(flat, targets, objective, n_threads)


def sample(seed: int, n: int = N_ROWS, step: float = 0.125) -> tuple[Any, Any, Any]:
    """Scores with ties, labels, weights in quarters."""
    rng = np.random.default_rng(seed)
    label = (rng.random(n) < 0.3).astype(np.float32)
    score = np.round((rng.normal(size=n) + label) / step) * step
    return score, label, (rng.integers(1, 9, n) / 4).astype(np.float32)


def classes(seed: int, n: int = 2_000, n_classes: int = 4) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, n_classes, n)
    score = np.round((rng.normal(size=(n, n_classes)) + np.eye(n_classes)[label]) * 8) / 8
    return score, label, (rng.integers(1, 9, n) / 4).astype(np.float32)


@pytest.mark.parametrize("step", [1e-9, 0.125, 1e9], ids=["distinct", "ties", "all equal"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn_agrees(step: float, weighted: bool) -> None:
    sk = pytest.importorskip("sklearn.metrics")
    score, label, weight = sample(1, step=step)
    weight = weight if weighted else None
    expected = sk.roc_auc_score(label, score, sample_weight=weight)
    assert value("auc", score, label, weight) == pytest.approx(expected, rel=1e-12)
    expected = sk.average_precision_score(label, score, sample_weight=weight)
    assert value("average_precision", score, label, weight) == pytest.approx(expected, rel=1e-12)


def lightgbm_value(
    name: str, score: Any, label: Any, weight: Any, n_classes: int = 1, **params: Any
) -> float:
    """LightGBM's metric of these raw scores, as the scores a training would start from."""
    lgb = pytest.importorskip("lightgbm")
    given = {"objective": "none", "metric": name, "verbose": -1, "num_threads": 1, **params}
    if n_classes > 1:
        given["num_class"] = n_classes
    data = lgb.Dataset(
        np.arange(len(label), dtype=float).reshape(-1, 1),
        label=label,
        weight=weight,
        init_score=np.asarray(score).T.ravel(),
        params={"verbose": -1},
    )
    ((_, _, found, _),) = lgb.Booster(given, data).eval_train()
    return float(found)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["auc", "average_precision"])
def test_lightgbm_agrees(name: str, weighted: bool) -> None:
    score, label, weight = sample(2, 3_000)
    weight = weight if weighted else None
    expected = lightgbm_value(name, score, label, weight)
    assert value(name, score, label, weight) == pytest.approx(expected, rel=1e-6)
    for objective in (Regression(), Custom()):
        found = value(name, score, label, weight, objective)
        assert found == pytest.approx(expected, rel=1e-6)
        # Any label above zero is positive.
        assert value(name, score, label * 0.25, weight, objective) == found


@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost_agrees(weighted: bool) -> None:
    xgb = pytest.importorskip("xgboost")
    score, label, weight = sample(3, 2_000)
    weight = weight if weighted else None
    data = xgb.DMatrix(np.zeros((2_000, 1)), label=label, weight=weight, base_margin=score)

    def theirs(name: str, objective: str = "binary:logitraw") -> float:
        booster = xgb.Booster({"objective": objective, "eval_metric": name}, [data])
        return float(booster.eval(data).split(":")[-1])

    assert value("aucpr", score, label, weight) == pytest.approx(theirs("aucpr"), rel=1e-5)
    assert value("ams@0", score, label, weight) == pytest.approx(theirs("ams@0"), rel=1e-5)
    found = value("error@0.7", score, label, weight)
    assert found == pytest.approx(theirs("error@0.7", "binary:logistic"), rel=1e-5)
    # A selection that cuts through no tie is the same whatever the order of ties.
    distinct = np.argsort(np.argsort(score, kind="stable")).astype(float)
    data.set_base_margin(distinct)
    for name in ("ams@0.15", "ams@0.5", "ams@1"):
        expected = theirs(name)
        assert value(name, distinct, label, weight) == pytest.approx(expected, rel=1e-5)


def test_ams_by_its_formula() -> None:
    score = [5.0, 4.0, 4.0, 3.0, 1.0]
    label = [1, 1, 0, 1, 0]

    def significance(s: float, b: float) -> float:
        return float(np.sqrt(2 * ((s + b + 10) * np.log(1 + s / (b + 10)) - s)))

    assert value("ams@0.2", score, label) == pytest.approx(significance(1, 0))
    assert value("ams@0.8", score, label) == pytest.approx(significance(3, 1))
    best = max(significance(1, 0), significance(2, 1), significance(3, 1))
    for name in ("ams@0", "ams@1", "ams@0.1"):  # 0.1 of five rows is none
        assert value(name, score, label) == pytest.approx(best)
    assert value("ams@0", [1.0, 1.0], [0, 1]) == 0.0  # no threshold


def test_precision_and_recall_by_hand() -> None:
    score, label = [4.0, 3.0, 2.0, 1.0], [1, 0, 1, 0]
    assert value("average_precision", score, label) == pytest.approx((1 + 2 / 3) / 2)
    # From one positive and one negative on, precision is x / (x + 1).
    assert value("aucpr", score, label) == pytest.approx((1 + 1 - np.log(3 / 2)) / 2)
    assert value("aucpr", [0.0] * 4, label) == pytest.approx(0.5)
    assert value("average_precision", [0.0] * 4, label) == pytest.approx(0.5)


@pytest.mark.parametrize("name", NAMES)
class TestAll:
    """What all of them have in common."""

    def test_one_class(self, name: str) -> None:
        for label in (0, 1):
            assert value(name, np.arange(5.0), np.full(5, label)) == 1.0

    def test_perfect_order(self, name: str) -> None:
        _, label, weight = sample(4)
        assert value(name, label, label, weight) == pytest.approx(1.0, rel=1e-12)

    def test_weights_are_repeated_rows(self, name: str) -> None:
        score, label, _ = sample(5, 5_000)
        n_times = np.random.default_rng(5).integers(0, 4, 5_000)
        repeated = value(name, np.repeat(score, n_times), np.repeat(label, n_times))
        assert value(name, score, label, n_times) == pytest.approx(repeated, rel=1e-12)

    def test_any_number_of_threads(self, name: str) -> None:
        score, label, _ = sample(6, 100_000)
        weight = np.random.default_rng(6).random(100_000)
        for w in (None, weight):
            found = {value(name, score, label, w, n_threads=n) for n in (1, 2, 3, 8)}
            assert len(found) == 1

    def test_order_of_rows(self, name: str) -> None:
        score, label, weight = sample(7)
        order = np.random.default_rng(7).permutation(N_ROWS)
        found = value(name, score[order], label[order], weight[order])
        assert found == pytest.approx(value(name, score, label, weight), rel=1e-13)

    def test_monotone_changes_of_the_score(self, name: str) -> None:
        score, label, weight = sample(8)
        for changed in (score * 1e300, score * 1e-300, np.sinh(score), score - 50):
            expected = value(name, score, label, weight)
            assert value(name, changed, label, weight) == pytest.approx(expected, rel=1e-13)


rows = st.lists(
    st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.integers(0, 3)),
    max_size=60,
)


@settings(deadline=None)
@given(rows)
def test_auc_counts_pairs(rows: list[tuple[float, bool, int]]) -> None:
    positive = [(s, w) for s, is_positive, w in rows if is_positive]
    negative = [(s, w) for s, is_positive, w in rows if not is_positive]
    all_pairs = sum(w for _, w in positive) * sum(v for _, v in negative)
    won = sum(w * v * ((s > r) + 0.5 * (s == r)) for s, w in positive for r, v in negative)
    score = [row[0] for row in rows]
    label = [row[1] for row in rows]
    weight = [row[2] for row in rows]
    found = value("auc", score, label, weight)
    assert found == (won / all_pairs if all_pairs else 1.0)
    if all_pairs:
        assert value("auc", -np.array(score), label, weight) == pytest.approx(1 - found)
    for name in ("average_precision", "aucpr"):
        assert -1e-12 <= value(name, score, label, weight) <= 1 + 1e-12


class TestAUCMu:
    """AUC over pairs of classes."""

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("costs", [None, "given"])
    def test_lightgbm_agrees(self, weighted: bool, costs: Any) -> None:
        score, label, weight = classes(1, 500)
        params = {}
        if costs:
            matrix = np.random.default_rng(1).integers(1, 8, (4, 4)) / 4
            np.fill_diagonal(matrix, 0)
            params["auc_mu_weights"] = matrix.ravel().tolist()
        weight = weight if weighted else None
        expected = lightgbm_value("auc_mu", score, label, weight, 4, **params)
        found = value("auc_mu", score, label, weight, Multiclass(4), **params)
        assert found == pytest.approx(expected, rel=1e-6)

    def test_two_classes_are_auc(self) -> None:
        score, label, weight = classes(2, n_classes=2)
        expected = value("auc", score[:, 1] - score[:, 0], label, weight)
        assert value("auc_mu", score, label, weight, Multiclass(2)) == pytest.approx(expected)

    def test_the_diagonal_and_a_common_factor_count_for_nothing(self) -> None:
        score, label, _ = classes(3)
        plain = value("auc_mu", score, label, objective=Multiclass(4))
        for weights in ([1.0] * 16, [3.0] * 16):
            found = value("auc_mu", score, label, objective=Multiclass(4), auc_mu_weights=weights)
            assert found == pytest.approx(plain, rel=1e-12)

    def test_missing_classes_are_left_out(self) -> None:
        score, label, _ = classes(4, n_classes=3)
        keep = label < 2
        found = value("auc_mu", score[keep], label[keep], objective=Multiclass(3))
        expected = value("auc", score[keep, 1] - score[keep, 0], label[keep])
        assert found == pytest.approx(expected)
        assert value("auc_mu", score[:5], np.zeros(5), objective=Multiclass(3)) == 1.0

    def test_any_number_of_threads(self) -> None:
        score, label, weight = classes(5, 30_000)
        found = {
            value("auc_mu", score, label, weight, Multiclass(4), n_threads=n) for n in (1, 2, 3, 8)
        }
        assert len(found) == 1

    @pytest.mark.parametrize(
        ("weights", "match"),
        [
            ([1, 2], r"wrong length(.|\n)*2 numbers"),
            ([0, 1, 0, 1, 0, 1, 1, 1, 0], "zero for class 0 taken for class 2"),
        ],
    )
    def test_bad_weights(self, weights: list[float], match: str) -> None:
        with pytest.raises(ParameterError, match=match):
            make("auc_mu", Multiclass(3), auc_mu_weights=weights)
