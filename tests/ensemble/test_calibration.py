"""Calibrated probabilities: from out-of-fold scores, inside the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import gossamer as gs
from gossamer.errors import ModelFileError, NotSupportedError, ParameterError
from gossamer.model.ensemble.calibrate import fit_increasing
from gossamer.model.files import model_file

METHODS = ["isotonic", "sigmoid", "temperature"]
# Far too sure of itself: no early stopping, large steps.
SURE = {"verbose": -1, "learning_rate": 0.5, "early_stopping_round": 0}


def _rows(n: int, seed: int, k: int = 2) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    if k == 2:
        return x, (x[:, 0] + 1.5 * rng.normal(size=n) > 0.5).astype(int)
    return x, np.argmax(x[:, :k] + 1.5 * rng.normal(size=(n, k)), axis=1)


def _model(k: int, method: str | None) -> gs.Booster:
    params = {"objective": "binary"} if k == 2 else {"objective": "multiclass", "num_class": k}
    data = gs.Dataset(*_rows(1500, 0, k))
    return gs.train_folds({**SURE, **params}, data, 30, nfold=4, calibration=method)


def _loss(model: gs.Booster, k: int) -> float:
    x, y = _rows(3000, 1, k)
    p = model.predict(x)
    p = np.column_stack([1 - p, p]) if p.ndim == 1 else p
    assert np.allclose(p.sum(axis=1), 1)
    return float(-np.mean(np.log(np.maximum(p[np.arange(len(y)), y], 1e-12))))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_probabilities_are_better_and_kept(method: str, k: int, tmp_path: Path) -> None:
    plain, model = _model(k, None), _model(k, method)
    assert _loss(model, k) < _loss(plain, k) - 0.02
    x, _ = _rows(100, 2, k)
    assert np.array_equal(model.predict(x, raw_score=True), plain.predict(x, raw_score=True))
    assert not np.array_equal(model.predict(x), plain.predict(x))
    for name in ("model.gsm", "model.json"):
        model.save_model(tmp_path / name)
        again = gs.Booster(model_file=tmp_path / name)
        assert np.array_equal(again.predict(x), model.predict(x))
        assert model_file.to_bytes(again.model) == model_file.to_bytes(model.model)
    one = model.predictor()
    np.testing.assert_allclose(one(x[0]), model.predict(x[:1])[0], rtol=1e-12)
    for _ in range(3):
        np.testing.assert_allclose(model.predict(x[:1])[0], model.predict(x)[0], rtol=1e-12)
    sets = model.predict_set(x)
    assert sets.shape == (100, k)


@pytest.mark.parametrize("ending", ["txt", "ubj", "onnx", "tl", "c"])
def test_other_formats_refuse(ending: str, tmp_path: Path) -> None:
    model = _model(2, "sigmoid")
    with pytest.raises((NotSupportedError, ImportError)):
        model.save_model(tmp_path / f"model.{ending}")


def test_older_versions_cannot_have_it() -> None:
    arrays, facts = model_file.to_parts(_model(2, "temperature").model)
    assert facts["version"] == 4
    with pytest.raises(ModelFileError, match="calibration"):
        model_file.from_parts(arrays, {**facts, "version": 3}, "the file")
    for broken in (
        {"method": "magic"},
        {"method": "isotonic", "knots": [[[1.0, 0.0], [0.0, 1.0]]]},
    ):
        changed = {**facts["objective"], "calibration": broken}
        with pytest.raises(ModelFileError):
            model_file.from_parts(arrays, {**facts, "objective": changed}, "the file")


def test_isotonic_is_scikit_learns() -> None:
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(0)
    x = np.round(rng.uniform(size=400), 2)
    y = (rng.uniform(size=400) < x).astype(float)
    weight = rng.uniform(0.1, 2, size=400)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(x, y, weight)
    grid = np.linspace(-0.1, 1.1, 200)
    found = np.interp(grid, *fit_increasing(x, y, weight))
    np.testing.assert_allclose(found, theirs.predict(grid), atol=1e-9)


def test_classifier_decides_by_probability() -> None:
    x, y = _rows(1500, 0)
    model = gs.GossamerClassifier(folds=4, calibration="isotonic", n_estimators=30, verbose=-1)
    model.fit(x, np.array(["no", "yes"])[y])
    p = model.predict_proba(x)
    assert np.array_equal(model.predict(x) == "yes", p[:, 1] > 0.5)
    with pytest.raises(ParameterError, match="folds=8"):
        gs.GossamerClassifier(calibration="isotonic").fit(x, y)


def test_what_does_not_fit_is_refused() -> None:
    x, y = _rows(200, 0)
    with pytest.raises(ParameterError, match="'isotonic', 'sigmoid' or 'temperature'"):
        gs.train_folds({"objective": "binary"}, gs.Dataset(x, y), 3, calibration="magic")
    with pytest.raises(NotSupportedError, match="binary or multiclass"):
        gs.train_folds({}, gs.Dataset(x, y), 3, calibration="sigmoid")
