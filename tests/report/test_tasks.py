from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report.pages import Page, fit, table

import gossamer as gs

SECTIONS = [
    "learning",
    "quality",
    "importance",
    "shapley",
    "partial",
    "trees",
    "columns",
    "parameters",
]


def _signal(x: Any) -> Any:
    return x[:, 0] + x[:, 1] * (x[:, 2] > 0)


def _cases() -> dict[str, tuple[dict[str, Any], Any, dict[str, Any], list[str]]]:
    """Name -> parameters, labels, fields, and words that must be on the page."""
    rng = np.random.default_rng(1)
    x = table()
    z = _signal(x)
    noise = rng.normal(size=len(z))
    yes = (z + 0.5 * noise > 0).astype(float)
    three = np.digitize(z, [-0.7, 0.7]).astype(float)
    count = rng.poisson(np.exp(np.clip(z, -2, 2)))
    time = rng.exponential(np.exp(-z)) + 0.01
    seen = rng.random(len(z)) < 0.7
    grade = np.clip(np.digitize(z, [0, 1]), 0, 2)
    two = ["ROC", "Precision and recall", "Scores by class", "Confusion matrix at a threshold"]
    classes = ["Confusion matrix", "precision", "F1"]
    numbers = ["Predicted and actual", "Residuals", "Distribution of the residuals", "Means of"]
    return {
        "binary": ({"objective": "binary"}, yes, {}, [*two, "Calibration", "average_precision"]),
        "focal": ({"objective": "focal"}, yes, {}, [*two, "Calibration"]),
        "logitraw": ({"objective": "binary:logitraw"}, yes, {}, [*two, "raw score above"]),
        "hinge": ({"objective": "hinge"}, yes, {}, two),
        "multiclass": (
            {"objective": "multiclass", "num_class": 3},
            three,
            {},
            [*classes, "multi_logloss"],
        ),
        "softmax": ({"objective": "multi:softmax", "num_class": 3}, three, {}, classes),
        "ova": ({"objective": "multiclassova", "num_class": 3}, three, {}, classes),
        "regression": ({"objective": "regression"}, z, {}, [*numbers, "rmse", "r2"]),
        "huber": ({"objective": "huber"}, z, {}, numbers),
        "poisson": ({"objective": "poisson"}, count, {}, numbers),
        "gamma": ({"objective": "gamma"}, np.exp(np.clip(z, -2, 2)), {}, numbers),
        "cross_entropy": ({"objective": "cross_entropy"}, 1 / (1 + np.exp(-z)), {}, numbers),
        "hard cross_entropy": ({"objective": "cross_entropy"}, yes, {}, two),
        "quantile": (
            {"objective": "quantile", "alpha": 0.8},
            z + noise,
            {},
            ["was trained for 80 %"],
        ),
        "quantiles": (
            {"objective": "quantile", "quantile_alpha": [0.1, 0.5, 0.9]},
            z + noise,
            {},
            ["Coverage", "which stand for 80 %", "Quantile 0.5", "quantile 0.9"],
        ),
        "gaussian": (
            {"objective": "gaussian"},
            z + noise,
            {},
            ["Coverage of intervals", "Means"],
        ),
        "ranking": (
            {"objective": "lambdarank"},
            grade,
            {"group": [20] * 20},
            ["NDCG by place", "NDCG@10 of the queries", "Mean of 20 queries"],
        ),
        "cox": (
            {"objective": "cox"},
            np.where(seen, time, -time),
            {},
            ["Survival by predicted risk", "highest risk", "c_index"],
        ),
        "aft": (
            {"objective": "aft"},
            np.column_stack([time, np.where(seen, time, np.inf)]),
            {},
            ["Survival by predicted risk", "Labels are intervals"],
        ),
        "targets": (
            {"objective": "regression"},
            np.column_stack([z, -z + noise]),
            {},
            ["Target 0", "Target 1", "Regression of 2 targets"],
        ),
        "several labels": (
            {"objective": "binary"},
            np.column_stack([yes, 1 - yes]),
            {},
            ["Target 1", "ROC"],
        ),
        "vector": (
            {"objective": "regression", "multi_strategy": "multi_output_tree"},
            np.column_stack([z, -z + noise]),
            {},
            ["Target 0", "Target 1"],
        ),
        "linear": (
            {"objective": "regression", "linear_tree": True},
            z,
            {},
            ["Predicted and actual"],
        ),
        "forest": (
            {"objective": "binary", "boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
            yes,
            {},
            ["ROC"],
        ),
    }


CASES = _cases()


@pytest.mark.parametrize("case", CASES)
def test_every_task_has_its_pictures(case: str, tmp_path: Path) -> None:
    params, label, fields, words = CASES[case]
    x = table()
    model = fit(params, x, label, **fields)
    path = model.report(tmp_path / "a.html", x, label, **fields)
    page = Page(path)
    assert page.headings == SECTIONS
    for word in words:
        assert word in page.text, word
    assert page.charts() >= 8 and "nan" not in page.source.split("</style>")[1].split("<script>")[0]
    assert len(set(page.ids)) == len(page.ids)
    assert path.stat().st_size < 1_000_000
    assert path.read_bytes() == model.report(tmp_path / "b.html", x, label, **fields).read_bytes()


@pytest.mark.parametrize("case", ["binary", "multiclass", "regression"])
def test_without_data_the_model_alone_is_described(case: str, tmp_path: Path) -> None:
    params, label, _, _ = CASES[case]
    page = Page(fit(params, table(), label).report(tmp_path / "a.html"))
    assert page.headings == SECTIONS
    assert "pass data" in page.text and "split from" in page.text
    assert page.charts() == 2  # gain and splits


def test_without_labels_rows_are_explained(tmp_path: Path) -> None:
    x = table()
    page = Page(fit({}, x, x[:, 0]).report(tmp_path / "a.html", x))
    assert "There are no labels" in page.text and "Effects of the columns" in page.text


def test_objectives_of_users_are_read_as_their_labels_look(tmp_path: Path) -> None:
    x = table()

    def squared(score: Any, data: gs.Dataset) -> Any:
        return score - data.get_label(), np.ones_like(score)

    for label, word in ((x[:, 0], "Residuals"), ((x[:, 0] > 0).astype(float), "ROC")):
        page = Page(
            fit({"objective": squared, "metric": "none"}, x, label).report(
                tmp_path / "a.html", x, label
            )
        )
        assert "custom objective" in page.text and word in page.text and "squared()" in page.text


def test_an_estimator_brings_classes_and_curves(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    from gossamer.report import write_report

    x = table()
    label = np.where(x[:, 0] > 0, "yes & no", "<none>")
    model = gs.GossamerClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    model.fit(x, label, eval_set=[(x, label)])
    page = Page(write_report(model, tmp_path / "a.html", x, label))
    assert "predicted yes & no" in page.text and "binary_logloss" in page.text
    with pytest.raises(gs.DataError, match="class that the model does not know: got 'maybe'"):
        write_report(model, tmp_path / "a.html", x, ["maybe"] * len(x))


def test_an_estimator_of_one_class(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    from gossamer.report import write_report

    x = table(50)
    model = gs.GossamerClassifier(n_estimators=2, verbose=-1, n_jobs=1).fit(x, ["a"] * 50)
    page = Page(write_report(model, tmp_path / "a.html", x, ["a"] * 50))
    assert "All rows are of one class" in page.text


def test_frames_with_categories_and_missing_values(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    city = rng.choice(["Bern", "Oslo", "Rome"], 300)
    size = np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300))
    frame = pandas.DataFrame({"city": pandas.Categorical(city), "size": size})
    label = (city == "Oslo") + np.nan_to_num(size)
    model = fit({"cat_target_statistics": "off"}, frame, label)
    page = Page(model.report(tmp_path / "a.html", frame[["size", "city"]], label))
    assert "categorical" in page.text and "Oslo" in page.text and "20" in page.text
    statistics = fit({"cat_target_statistics": "on"}, frame, label)
    page = Page(statistics.report(tmp_path / "b.html", frame, label))
    assert any("statistic of city" in script for _, script in page.scripts)


def test_sparse_tables(tmp_path: Path) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = sparse.random(300, 80, 0.1, format="csr", random_state=0)
    label = np.asarray(x[:, :5].sum(axis=1)).ravel()
    page = Page(fit({}, x, label).report(tmp_path / "a.html", x, label))
    assert "Effects of the columns" in page.text and "60 most important of 80" in page.text


def test_a_dataset_brings_its_labels(tmp_path: Path) -> None:
    x = table()
    data = gs.Dataset(x, x[:, 0], free_raw_data=False)
    model = gs.train({"verbose": -1, "num_threads": 1}, data, 3)
    assert "Residuals" in Page(model.report(tmp_path / "a.html", data)).text
    with pytest.raises(gs.DataError, match="taken from the Dataset"):
        model.report(tmp_path / "a.html", data, x[:, 0])
    weighted = gs.Dataset(x, x[:, 0], weight=np.arange(400), free_raw_data=False)
    assert "Row weights are ignored here" in Page(model.report(tmp_path / "a.html", weighted)).text
    with pytest.raises(gs.DataError, match="free_raw_data=False"):
        freed = gs.Dataset(x, x[:, 0]).construct()
        model.report(tmp_path / "a.html", freed)
