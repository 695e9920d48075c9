"""What a page says about a model in sentences, and the baseline."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from report.pages import Page, fit, table

import gossamer as gs


@pytest.fixture
def x() -> np.ndarray:
    return table()


def test_the_top_of_the_page(tmp_path: Path, x: np.ndarray) -> None:
    y = x[:, 0] + 0.3 * x[:, 1]
    path = fit({}, x, y).report(tmp_path / "a.html", x, y, target="price", source="flats.csv")
    page = Page(path).text
    for text in ("target", "price", "source", "flats.csv", date.today().isoformat()):
        assert text in page


def test_a_good_model_beats_guessing(tmp_path: Path, x: np.ndarray) -> None:
    y = x[:, 0] + x[:, 1] + x[:, 2]
    page = Page(fit({}, x, y, 30).report(tmp_path / "a.html", x, y)).text
    assert "the model is better than a constant prediction: l2 is" in page
    assert "% lower" in page
    assert "baseline" in page
    # The squared error of the mean is the variance.
    l2 = float(np.var(y.astype(np.float32).astype(float)))
    assert f"{l2:.3f}"[:4] in page


def test_a_bad_model_does_not(tmp_path: Path, x: np.ndarray) -> None:
    y = np.random.default_rng(5).normal(size=len(x))
    other = np.random.default_rng(6).normal(size=len(x))
    page = Page(fit({}, x, y, 60).report(tmp_path / "a.html", x, other)).text
    assert "not better than a constant prediction" in page


TRAINED = "These are the training rows: expect worse predictions on new rows."


def test_training_rows_are_recognised(tmp_path: Path, x: np.ndarray) -> None:
    y = x[:, 0] + np.random.default_rng(2).normal(size=len(x))
    model = fit({}, x[:300], y[:300], 30)
    order = np.random.default_rng(3).permutation(300)
    assert TRAINED in Page(model.report(tmp_path / "a.html", x[order], y[order])).text
    loaded = gs.Booster(model_str=model.model_to_string())
    assert TRAINED in Page(loaded.report(tmp_path / "a.html", x[:300], y[:300])).text
    for rows in (slice(100, 400), slice(300, 400), slice(0, 299)):
        assert (
            "These are the training rows"
            not in Page(model.report(tmp_path / "b.html", x[rows], y[rows])).text
        )


def test_training_rows_of_samples_are_named_by_the_caller(tmp_path: Path, x: np.ndarray) -> None:
    y = x[:, 0] * 1.0
    model = fit({"bagging_fraction": 0.5}, x, y)
    assert "These are the training rows" not in Page(model.report(tmp_path / "a.html", x, y)).text
    assert TRAINED in Page(model.report(tmp_path / "a.html", x, y, is_training=True)).text


@pytest.mark.parametrize("objective", ["regression", "binary"])
def test_models_over_folds_are_judged_by_held_out_rows(
    tmp_path: Path, x: np.ndarray, objective: str
) -> None:
    y = x[:, 0] + np.random.default_rng(2).normal(size=len(x))
    y = y > 0 if objective == "binary" else y
    name = "binary_logloss" if objective == "binary" else "l2"
    params = {"verbose": -1, "objective": objective, "min_data_in_leaf": 5}
    model = gs.train_folds(params, gs.Dataset(x, y), 30, nfold=4)
    page = Page(model.report(tmp_path / "a.html", x, y)).text
    assert "judged by the models that were not trained on it" in page
    assert f"{name} {model.oof_score_[name]:.6g}" in page
    loaded = gs.Booster(model_str=model.model_to_string())
    assert (
        f"{name} {model.oof_score_[name]:.6g}"
        in Page(
            loaded.report(
                None,
                x,
                y,
            ).save(tmp_path / "b.html")
        ).text
    )
    page = Page(model.report(tmp_path / "a.html", x[::-1], y[::-1])).text
    assert "These are the training rows" not in page


def test_rows_that_no_member_held_out(tmp_path: Path, x: np.ndarray) -> None:
    y = x[:, 0] + np.random.default_rng(2).normal(size=len(x))
    model = gs.train_folds({"verbose": -1}, gs.Dataset(x, y), 30, nfold=4, time=True)
    assert TRAINED in Page(model.report(tmp_path / "a.html", x, y)).text


def test_a_leak_and_the_round(tmp_path: Path, x: np.ndarray) -> None:
    y = x[:, 0] * 1.0
    history: dict = {}
    data = gs.Dataset(x[:300], y[:300])
    callbacks = [gs.early_stopping(2, verbose=False), gs.record_evaluation(history)]
    valid = data.create_valid(x[300:], np.random.default_rng(0).normal(size=len(x) - 300))
    model = gs.train({"verbose": -1}, data, 30, [valid], callbacks=callbacks)
    page = Page(model.report(tmp_path / "a.html", x, y, evals_result=history)).text
    assert "of the gain" in page
    assert f"stopped improving at round {model.best_iteration}" in page


def test_years_have_no_separators(tmp_path: Path) -> None:
    x = np.column_stack([np.arange(200) % 30 + 1990, np.arange(200) % 7])
    page = Page(fit({}, x, x[:, 0] + x[:, 1]).report(tmp_path / "a.html", x)).text
    assert "1990 … 2019" in page
    assert "1,99" not in page


def test_a_notebook_shows_it(x: np.ndarray) -> None:
    model = fit({}, x, x[:, 0])
    page = model.report(data=x)
    assert page._repr_html_().startswith("<iframe srcdoc=")
    assert "&lt;!DOCTYPE html&gt;" in page._repr_html_()
    assert "save(path)" in repr(page)


def test_a_page_is_saved(tmp_path: Path, x: np.ndarray) -> None:
    page = fit({}, x, x[:, 0]).report(data=x)
    assert page.save(tmp_path / "a.html").read_text(encoding="utf-8") == page.html


def test_the_most_frequent_categories(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    towns = [f"t{i:02}" for i in np.minimum(rng.geometric(0.05, 2000), 60)]
    frame = pd.DataFrame({"town": pd.Categorical(towns), "z": rng.normal(size=2000)})
    y = frame["town"].cat.codes % 5 + 0.0
    page = Page(fit({}, frame, y).report(tmp_path / "a.html", frame)).text
    assert "The 20 most frequent of" in page


def test_classes_that_are_wrong_more_often_than_the_most_frequent_one(
    tmp_path: Path, x: np.ndarray
) -> None:
    rng = np.random.default_rng(3)
    chance = np.where(x[:, 0] > 0, 0.35, 0.05)
    y, other = (rng.random(len(x)) < chance for _ in range(2))
    model = fit({"objective": "binary", "is_unbalance": True}, x, y, 5)
    page = Page(model.report(tmp_path / "a.html", x, other)).text
    assert "the most frequent class alone would be wrong for" in page
    model = fit({"objective": "binary"}, x, x[:, 0] > 0, 30)
    page = Page(model.report(tmp_path / "b.html", x, x[:, 0] > 0)).text
    assert "the most frequent class" not in page
