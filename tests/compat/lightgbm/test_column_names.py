"""Names of columns that estimators say, and that they look for when they predict."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import gossamer.compat.lightgbm as lgb

X = np.random.default_rng(1).normal(size=(80, 3))
Y = X[:, 0] - X[:, 1]
NAMES = ["size", "age", "floor"]
FRAME = pd.DataFrame(X, columns=NAMES)


def fit(table: Any, **kwargs: Any) -> lgb.LGBMRegressor:
    return lgb.LGBMRegressor(n_estimators=3, verbose=-1).fit(table, Y, **kwargs)


@pytest.mark.parametrize(
    ("table", "given"),
    [(FRAME, None), (FRAME, ["a", "b", "c"]), (X, ["a", "b", "c"]), (pd.DataFrame(X), None)],
)
def test_names_are_lightgbms(table: Any, given: list[str] | None) -> None:
    kwargs = {} if given is None else {"feature_name": given}
    ours = fit(table, **kwargs)
    theirs = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1).fit(table, Y, **kwargs)
    np.testing.assert_array_equal(ours.feature_names_in_, theirs.feature_names_in_, strict=True)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.feature_names_in_, theirs.feature_names_in_, strict=True)
    assert ours.feature_name_ == theirs.feature_name_


def test_arrays_have_no_names() -> None:
    model = fit(X)
    assert model.feature_name_ == ["Column_0", "Column_1", "Column_2"]
    assert not hasattr(model, "feature_names_in_")
    for unfitted in (lgb.LGBMRegressor(), clone(fit(FRAME))):
        with pytest.raises(NotFittedError):
            unfitted.feature_names_in_  # noqa: B018


def test_names_are_of_the_last_fit(tmp_path: Path) -> None:
    model = fit(X, feature_name=["a", "b", "c"])
    model.fit(FRAME, Y)
    assert list(model.feature_names_in_) == NAMES
    model.fit(X, Y, feature_name=["a", "b", "c"]).fit(X, Y)
    assert not hasattr(model, "feature_names_in_")
    fit(FRAME).booster_.save_model(tmp_path / "model.txt")
    model.fit(X, Y, feature_name=["a", "b", "c"]).load_model(tmp_path / "model.txt")
    assert list(model.feature_names_in_) == NAMES


def test_frames_of_either_names_are_predicted() -> None:
    renamed = FRAME.set_axis(["a", "b", "c"], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table, given in ((FRAME, ["a", "b", "c"]), (X, ["a", "b", "c"]), (X, "auto")):
            model = fit(table, feature_name=given)
            expected = model.booster_.predict(X)
            for rows in (FRAME, renamed):
                np.testing.assert_array_equal(model.predict(rows), expected)
        # Columns of a known frame are found by name, in any order.
        model = fit(FRAME)
        np.testing.assert_array_equal(model.predict(FRAME[NAMES[::-1]]), model.predict(FRAME))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(renamed)


def test_a_frame_with_another_number_of_columns() -> None:
    model = fit(X)
    with pytest.raises(ValueError, match="columns"):
        model.predict(FRAME.iloc[:, :2])


@pytest.mark.parametrize("header", [False, True])
def test_the_first_column_of_a_text_file_is_the_label(header: bool, tmp_path: Path) -> None:
    path = tmp_path / "regression.train"
    rows = pd.DataFrame(np.column_stack([Y, X]).round(4), columns=["y", *NAMES])
    rows.to_csv(path, sep="\t", index=False, header=header)
    label, table = rows["y"].to_numpy(), rows[NAMES].to_numpy()
    params = {"verbosity": -1, "header": header}
    data = lgb.Dataset(path, params=params)
    assert data.label is None
    assert "label_column" not in data.params
    theirs = lightgbm.Dataset(str(path), params=params).construct()
    assert data.construct().num_feature() == theirs.num_feature() == 3
    np.testing.assert_array_equal(data.get_label(), theirs.get_label())
    if header:
        assert data.get_feature_name() == theirs.get_feature_name() == NAMES
    model = lgb.train(params, data, 3)
    expected = lgb.train(params, lgb.Dataset(table, label), 3)
    np.testing.assert_array_equal(model.predict(table), expected.predict(table))
    valid = data.create_valid(path).construct()
    np.testing.assert_array_equal(valid.get_label(), theirs.get_label())


def test_another_column_of_a_text_file_is_the_label(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    FRAME.assign(y=Y).to_csv(path, index=False)
    for params in ({"label": "name:y"}, {"label_column": 3}):
        data = lgb.Dataset(path, params={"header": True, **params}).construct()
        assert data.get_feature_name() == NAMES
    assert lgb.Dataset(path, label="y").construct().get_feature_name() == NAMES
    late = lgb.Dataset(path, params={"header": True})
    lgb.train({"verbosity": -1, "label_column": "name:y"}, late, 1)
    assert late.get_feature_name() == NAMES
    with pytest.raises(lgb.basic.LightGBMError, match="there is no file"):
        lgb.Dataset(tmp_path / "gone.csv").construct()
