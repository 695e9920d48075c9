"""`linear_tree` with lists of arrays, files of `save_binary`, and `refit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

import gossamer.compat.lightgbm as lgb

RNG = np.random.default_rng(3)
X = RNG.normal(size=(600, 3))
Y = X[:, 0] * 2 + np.where(X[:, 1] > 0, X[:, 2], -X[:, 2])
PARAMS = {"linear_tree": True, "verbosity": -1, "num_leaves": 5}
EXPECTED = lgb.train(PARAMS, lgb.Dataset(X, Y, params=PARAMS), 5).predict(X)


def test_a_list_of_arrays() -> None:
    data = lgb.Dataset([X[:250], X[250:]], Y, params=PARAMS)
    valid = data.create_valid([X[:100], X[100:300]], Y[:300], params=PARAMS)
    found: dict[str, Any] = {}
    calls = [lgb.record_evaluation(found)]
    model = lgb.train(PARAMS, data, 5, valid_sets=[valid], callbacks=calls)
    np.testing.assert_array_equal(model.predict(X), EXPECTED)
    error = np.mean((EXPECTED[:300] - Y[:300]) ** 2)
    assert found["valid_0"]["l2"][-1] == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("free_raw_data", [True, False])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_file_of_save_binary(tmp_path: Path, free_raw_data: bool, kind: Any) -> None:
    path, x = tmp_path / "data.bin", X.astype(kind)
    lgb.Dataset(x, Y, params=PARAMS, free_raw_data=free_raw_data).save_binary(path)
    expected = lgb.train(PARAMS, lgb.Dataset(x, Y, params=PARAMS), 5).predict(X)
    for params in (PARAMS, {"verbosity": -1}):
        model = lgb.train(PARAMS, lgb.Dataset(path, params=params), 5)
        np.testing.assert_array_equal(model.predict(X), expected)
    plain = {**PARAMS, "linear_tree": False}
    again = lgb.train(plain, lgb.Dataset(path), 5).predict(X)
    np.testing.assert_array_equal(again, lgb.train(plain, lgb.Dataset(x, Y), 5).predict(X))


def test_a_file_without_values_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    lgb.Dataset(X, Y, params={"verbosity": -1}).save_binary(path)
    with pytest.raises(lgb.basic.LightGBMError, match="write the file from a Dataset with this"):
        lgb.train(PARAMS, lgb.Dataset(path), 5)


def test_refit_learns_slopes_too() -> None:
    # What the check keeps of the slopes is not learned again.
    params = {**PARAMS, "linear_check": False}
    model = lgb.train(params, lgb.Dataset(X, Y, params=params), 20)
    # Squared errors are linear in the labels, and so are leaves and slopes.
    moved = model.refit(X, 3 * Y, decay_rate=0.0)
    np.testing.assert_allclose(moved.predict(X), 3 * model.predict(X), rtol=1e-3, atol=1e-3)
    errors = [np.std(model.refit(X, 3 * Y, decay_rate=d).predict(X) - 3 * Y) for d in (0.1, 0.5, 1)]
    assert errors[0] < errors[1] < errors[2]
    kept = model.refit(X, 3 * Y, decay_rate=1.0)
    np.testing.assert_allclose(kept.predict(X), model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("library", [lgb, lightgbm])
def test_refit_comes_closer_to_new_labels(library: Any) -> None:
    model = library.train(PARAMS, library.Dataset(X, Y, params=PARAMS), 20)
    before, after = (m.predict(X) for m in (model, model.refit(X, 3 * Y)))
    assert np.std(after - 3 * Y) < 0.95 * np.std(before - 3 * Y)
