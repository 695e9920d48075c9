"""The numbers on the page are those of the data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from report.pages import Page, fit, table

import gossamer as gs
from gossamer.data.dataset import built_data
from gossamer.metrics.registry import METRICS
from gossamer.objectives.binary import Binary
from gossamer.report.given import choose_rows
from gossamer.report.sections.curves import Calibration, Ranked, thin
from gossamer.report.sections.ranking import ndcg_by_query
from gossamer.report.sections.survival import survival_curve


def test_the_area_under_the_curve_is_the_metric() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=500).round(1)  # with ties
    label = rng.random(500) < 1 / (1 + np.exp(-score))
    ranked = Ranked.of(score, label)
    targets = built_data(gs.Dataset(np.zeros((500, 1)), label)).targets
    expected = METRICS["auc"]().evaluate(score, targets, Binary())
    assert ranked.area == pytest.approx(expected, abs=1e-12)
    recall, precision = ranked.precision_recall()
    sums = float((np.diff(recall) * precision[1:]).sum())
    average = METRICS["average_precision"]().evaluate(score, targets, Binary())
    assert sums == pytest.approx(average, abs=1e-12)


def test_thinned_curves_keep_their_ends() -> None:
    x = np.linspace(0, 1, 10_000)
    a, b = thin(x, np.sqrt(x))
    assert len(a) <= 250 and (a[0], b[0], a[-1], b[-1]) == (0, 0, 1, 1)
    assert np.abs(np.interp(x, a, b) - np.sqrt(x)).max() < 0.01


def test_groups_of_a_calibration() -> None:
    rng = np.random.default_rng(0)
    share = rng.random(2000)
    label = rng.random(2000) < share
    found = Calibration.of(share, label)
    assert found.n_rows.tolist() == [200] * 10 and found.error < 0.05
    low, high = found.intervals()
    assert (low < found.actual).all() and (found.actual < high).all()
    weighted = (found.actual * found.n_rows).sum() / 2000
    assert weighted == pytest.approx(label.mean())
    assert Calibration.of(np.full(7, 0.5), np.ones(7)).n_rows.tolist() == [7]


def test_ndcg_by_query_is_the_metric(tmp_path: Path) -> None:
    x = table(300)
    grade = np.clip(np.digitize(x[:, 0] + x[:, 1], [0, 1]), 0, 2)
    sizes = [7, 13, 30] * 6
    params = {"objective": "lambdarank", "eval_at": [1, 10]}
    model = fit(params, x, grade, 3, group=sizes)
    score = model.predict(x, raw_score=True)
    found = ndcg_by_query(score, 2.0**grade - 1, np.append(0, np.cumsum(sizes)), 10).mean(axis=0)
    page = Page(model.report(tmp_path / "a.html", x, grade, group=sizes))
    assert f"ndcg@10 {found[9]:.6g}" in page.text and f"ndcg@1 {found[0]:.6g}" in page.text


def test_survival_curves() -> None:
    at, share = survival_curve(np.array([1.0, 1, 2, 3, 3]), np.array([1, 0, 1, 1, 1]).astype(bool))
    assert at.tolist() == [1, 2, 3] and share.tolist() == pytest.approx([0.8, 0.8 * 2 / 3, 0])


def test_thresholds_count_rows(tmp_path: Path) -> None:
    x = table()
    label = (x[:, 0] + 0.5 * x[:, 1] > 0).astype(int)
    model = fit({"objective": "binary"}, x, label)
    page = Page(model.report(tmp_path / "a.html", x, label))
    facts = next(f for k, s in page.scripts if k and "truePositives" in (f := json.loads(s)))
    share = model.predict(x)
    assert (facts["positives"], facts["negatives"]) == (label.sum(), len(label) - label.sum())
    for i in (0, 40, 100, 170, 200):
        above = share > facts["thresholds"][i]
        assert facts["truePositives"][i] == (above & (label == 1)).sum()
        assert facts["falsePositives"][i] == (above & (label == 0)).sum()


def test_thresholds_of_raw_scores_count_rows(tmp_path: Path) -> None:
    x = table()
    label = (x[:, 0] > 0).astype(int)
    model = fit({"objective": "binary:logitraw"}, x, label)
    page = Page(model.report(tmp_path / "a.html", x, label))
    facts = next(f for k, s in page.scripts if k and "truePositives" in (f := json.loads(s)))
    score = model.predict(x, raw_score=True)
    assert 0.0 in facts["thresholds"]
    for threshold, n_true in zip(facts["thresholds"], facts["truePositives"], strict=True):
        assert n_true == ((score > threshold) & (label == 1)).sum()


def test_large_data_is_sampled_the_same_way_each_time(tmp_path: Path) -> None:
    x = table(3000)
    model = fit({}, x, x[:, 0])
    first = model.report(tmp_path / "a.html", x, x[:, 0], max_rows=1000).read_bytes()
    assert b"1,000 of 3,000 rows, chosen at random" in first
    assert first == model.report(tmp_path / "b.html", x, x[:, 0], max_rows=1000).read_bytes()
    rows = choose_rows(10_000, 1000)
    assert len(set(rows.tolist())) == 1000 and 4500 < rows.mean() < 5500


def test_samples_of_queries_are_whole_queries(tmp_path: Path) -> None:
    x = table(400)
    grade = (x[:, 0] > 0).astype(int)
    query = np.repeat(np.arange(40), 10)
    model = fit({"objective": "lambdarank"}, x, grade, 3, query=query)
    page = Page(model.report(tmp_path / "a.html", x, grade, query=query, max_rows=95))
    assert "Mean of 9 queries" in page.text and "90 of 400 rows" in page.text
    page = Page(model.report(tmp_path / "a.html", x, grade, query=query, max_rows=1))
    assert "Mean of 1 queries" in page.text or "Mean of 1 query" in page.text


def test_the_best_rounds_are_described(tmp_path: Path) -> None:
    x = table()
    label = x[:, 0] + np.random.default_rng(1).normal(size=400)
    train, valid = gs.Dataset(x[:200], label[:200]), gs.Dataset(x[200:], label[200:])
    history: dict[str, dict[str, list[float]]] = {}
    model = gs.train(
        {"verbose": -1, "num_threads": 1, "learning_rate": 0.5},
        train,
        100,
        [valid],
        callbacks=[gs.early_stopping(5, verbose=False), gs.record_evaluation(history)],
    )
    path = model.report(tmp_path / "a.html", x, label, evals_result=history)
    page = Page(path)
    best = model.best_iteration
    assert f"marks the best round, {best}" in page.text and f"rounds {best} (best)" in page.text
