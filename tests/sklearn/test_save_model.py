"""Estimators in files, and the names of classes in their models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
TWO = np.where(X[:, 0] > 0, "yes", "no")
THREE = np.select([X[:, 0] < -0.5, X[:, 0] < 0.5], ["low", "middle"], "high")
FEW: dict[str, Any] = {"n_estimators": 5, "num_leaves": 4}


@pytest.mark.parametrize(
    ("label", "names"),
    [
        (TWO, ["no", "yes"]),
        (THREE, ["high", "low", "middle"]),
        (TWO == "yes", [False, True]),
        (np.array([3, 7])[(TWO == "yes").astype(int)], [3, 7]),
        (TWO.astype(object), ["no", "yes"]),
        ((TWO == "yes").astype(int), None),
        ((TWO == "yes").astype(float), None),
        (np.where(TWO == "yes", np.datetime64("2020"), np.datetime64("2021")), None),
    ],
)
@pytest.mark.parametrize("ending", ["gsm", "json"])
def test_classes_are_kept(label: Any, names: Any, ending: str, tmp_path: Path) -> None:
    model = gs.GossamerClassifier(**FEW).fit(X, label)
    assert model.booster_.class_names == names
    path = tmp_path / f"model.{ending}"
    model.booster_.save_model(path)
    assert gs.Booster(model_file=path).class_names == names
    again = gs.GossamerClassifier().load_model(path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    if names is not None or label.dtype.kind != "M":
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.classes_, model.classes_)
        assert again.score(X, label) == model.score(X, label)


def test_the_model_does_not_change_for_its_classes() -> None:
    model = gs.GossamerClassifier(**FEW).fit(X, TWO).booster_
    plain = gs.GossamerClassifier(**FEW).fit(X, TWO == "yes").booster_
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model[:2].class_names == model.refit(X, TWO == "yes").class_names == ["no", "yes"]


@pytest.mark.parametrize(
    ("estimator", "label"),
    [
        (gs.GossamerRegressor, X[:, 1]),
        (gs.GossamerRegressor, X[:, :2]),
        (gs.GossamerClassifier, (X[:, :2] > 0).astype(int)),
        (gs.GossamerClassifier, THREE),
    ],
)
def test_a_loaded_estimator_is_fitted(estimator: Any, label: Any, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = estimator(**FEW).fit(frame, label)
    path = tmp_path / "model.gsm"
    assert model.save_model(path) is model
    new = estimator()
    assert new.load_model(path) is new
    np.testing.assert_array_equal(new.predict(frame), model.predict(frame))
    assert new.n_features_in_ == 3 and new.n_estimators_ == 5
    assert list(new.feature_names_in_) == ["a", "b", "c"]
    assert new.evals_result_ == {}
    with pytest.raises(ValueError, match="feature names"):
        new.predict(frame.rename(columns={"a": "d"}))


def test_rankers_and_rounds(tmp_path: Path) -> None:
    model = gs.GossamerRanker(**FEW).fit(X, (X[:, 0] > 0).astype(int), group=[30] * 10)
    path = tmp_path / "model.txt"
    model.save_model(path, num_iteration=3)
    assert path.read_text().startswith("tree\n")
    again = gs.GossamerRanker().load_model(path)
    assert again.n_estimators_ == 3
    np.testing.assert_array_equal(again.predict(X), model.predict(X, num_iteration=3))


def test_a_model_of_numbers_is_no_classifier(tmp_path: Path) -> None:
    path = tmp_path / "model.gsm"
    gs.GossamerRegressor(**FEW).fit(X, X[:, 0]).save_model(path)
    with pytest.raises(gs.DataError, match=r"not one for classes: got 'objective=regression'"):
        gs.GossamerClassifier().load_model(path)


def test_objectives_of_ones_own(tmp_path: Path) -> None:
    def squared(y_true: Any, y_pred: Any) -> Any:
        return y_pred - y_true, np.ones_like(y_true)

    path = tmp_path / "model.gsm"
    model = gs.GossamerRegressor(objective=squared, **FEW).fit(X, X[:, 0])
    model.save_model(path)
    again = gs.GossamerRegressor(objective=squared).load_model(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(gs.DataError, match=r"GossamerRegressor\(objective=\.\.\.\)"):
        gs.GossamerRegressor().load_model(path)


@pytest.mark.parametrize("label", [TWO, TWO.tolist(), TWO == "yes", THREE])
def test_reports_of_the_booster_take_the_labels_of_fit(label: Any, tmp_path: Path) -> None:
    model = gs.GossamerClassifier(**FEW).fit(X, label)
    by_name = model.booster_.report(tmp_path / "a.html", X, label).read_text()
    codes = np.searchsorted(model.classes_, label)
    by_number = model.booster_.report(tmp_path / "b.html", X, codes).read_text()
    assert by_name == by_number
    assert str(model.classes_[0]) in by_name


def test_reports_with_classes_that_are_other_numbers(tmp_path: Path) -> None:
    codes = (X[:, 0] > 0).astype(int)
    model = gs.GossamerClassifier(**FEW).fit(X, codes + 1)
    pages = [
        model.booster_.report(tmp_path / "a.html", X, codes + 1),
        model.booster_.report(tmp_path / "b.html", X, codes),
        model.booster_.report(tmp_path / "c.html", X, codes, class_names=["1", "2"]),
    ]
    assert len({page.read_text() for page in pages}) == 1
    with pytest.raises(gs.DataError, match="label has a class that the model does not know"):
        model.booster_.report(tmp_path / "d.html", X, np.where(codes, "a", "b"))
