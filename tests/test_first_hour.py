"""What newcomers do wrong in their first hour, and what they are told."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gossamer as gs
from gossamer import Booster, Dataset, GossamerClassifier, GossamerRegressor

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
QUIET = {"verbose": -1}

MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "parameters that are not a dict": (
        lambda: gs.train([31], Dataset(X, Y)),  # type: ignore[arg-type]
        "parameters cannot be used: got 'list', expected a dict",
    ),
    "a path instead of parameters": (
        lambda: Booster("model.gsm"),  # type: ignore[arg-type]
        "parameters cannot be used: got 'model.gsm'.*Booster(model_file=...)",
    ),
    "parameters of a data set": (
        lambda: Dataset(X, Y, params="max_bin=3"),  # type: ignore[arg-type]
        "parameters cannot be used",
    ),
    "parameters of cv": (
        lambda: gs.cv(["a"], Dataset(X, Y)),  # type: ignore[arg-type]
        "parameters cannot be used",
    ),
    "arrays to evaluate on": (
        lambda: gs.train(QUIET, Dataset(X, Y), valid_sets=[(X, Y)]),  # type: ignore[list-item]
        "validation data must be a Dataset: got 'tuple', expected "
        "train_set.create_valid(data, label)",
    ),
    "classes 1 and 2": (
        lambda: gs.train({"objective": "binary"}, Dataset(X, Y + 1)),
        "got 2.0, expected 0 or 1. Encode the two classes as 0 and 1",
    ),
    "classes -1 and 2": (
        lambda: gs.train({"objective": "binary"}, Dataset(X, 3 * Y - 1)),
        "got 2.0, expected -1 or 1. Encode the two classes as 0 and 1",
    ),
    "three classes": (
        lambda: gs.train({"objective": "binary"}, Dataset(X, np.arange(60) % 3)),
        "Use objective=multiclass for more than two classes",
    ),
    "text to a regressor": (
        lambda: GossamerRegressor().fit(X, np.where(Y, "a", "b")),
        "label must be numeric.*GossamerClassifier",
    ),
    "a class that is missing": (
        lambda: GossamerClassifier().fit(X, np.array(["a", None] * 30, dtype=object)),
        "label of row 1 is missing: got None",
    ),
    "columns of the same name": (
        lambda: GossamerClassifier().fit(pd.DataFrame(X, columns=["a", "b", "a"]), Y),
        "the columns have the same name twice: got 'a'. Rename one of them.",
    ),
    "a category that is not a column": (
        lambda: GossamerClassifier().fit(
            pd.DataFrame(X, columns=["a", "b", "city"]), Y, categorical_feature=["town"]
        ),
        "categorical_feature names a column that is not there: got 'town', "
        "expected one of 'a', 'b', 'city'",
    ),
    "accuracy": (
        lambda: GossamerClassifier().fit(X, Y, eval_set=[(X, Y)], eval_metric="accuracy"),
        "got 'accuracy'.*Use binary_error or multi_error, which are 1 - accuracy.",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(mistake: str) -> None:
    call, told = MISTAKES[mistake]
    with pytest.raises(gs.GossamerError) as caught:
        call()
    assert re.search(".*".join(map(re.escape, told.split(".*"))), str(caught.value))


def test_folders_that_are_not_there(tmp_path: Path) -> None:
    model = gs.train(QUIET, Dataset(X, Y), 2)
    with pytest.raises(OSError, match=r"The folder .*nowhere. does not exist. Create it first"):
        model.save_model(tmp_path / "nowhere" / "model.gsm")
    with pytest.raises(OSError, match="it is a folder"):
        model.save_model(tmp_path)
    assert list(tmp_path.iterdir()) == []


# ---- models that say the same of every row ----


@pytest.mark.parametrize(
    ("x", "params", "told"),
    [
        (X[:30], {}, "30 rows and min_child_samples=20.*Lower min_child_samples"),
        (np.ones((60, 2)), {}, "columns that have the same value in every row"),
        (X, {"min_split_gain": 1e6}, "these parameters.*min_split_gain"),
    ],
)
@pytest.mark.parametrize("estimator", [False, True])
def test_constant_models(x: Any, params: dict[str, Any], told: str, estimator: bool) -> None:
    y = Y[: len(x)]
    with pytest.warns(UserWarning, match=f"no split is possible with {told}"):
        if estimator:
            GossamerRegressor(n_estimators=3, **params).fit(x, y)
        else:
            gs.train(params, Dataset(x, y), 3)


def test_constant_models_that_are_no_surprise() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gs.train({}, Dataset(X, np.ones(60)), 3)
        gs.train(QUIET, Dataset(X[:30], Y[:30]), 3)
        # There are splits, until there are no more.
        model = gs.train({"learning_rate": 1.0}, Dataset(np.c_[Y], Y), 30)
        assert model.current_iteration() >= 1


# ---- labels that float32 cannot tell apart ----


def test_labels_far_from_zero() -> None:
    with pytest.warns(UserWarning, match=r"lose precision.*float32, here in steps of 64"):
        gs.train(QUIET, Dataset(X, X[:, 0] + 1e9), 2)
    with pytest.warns(UserWarning, match="Subtract a constant"):
        GossamerRegressor(n_estimators=2).fit(X, 1_700_000_000 + np.arange(60))


@pytest.mark.parametrize(
    "label",
    [
        X[:, 0] * 1e-30,
        X[:, 0] * 1e30,
        np.full(60, 0.1),
        np.full(60, 16_777_217),
        1_000_000 + np.arange(60),  # exact
        Y.astype(np.int8),
        X[:, 0] + 100,
    ],
)
def test_labels_that_are_fine(label: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Dataset(X, label).construct()


# ---- labels from a table of mixed types ----


@pytest.mark.parametrize("kind", [int, bool])
def test_numbers_as_objects(kind: type) -> None:
    y = np.array([kind(v) for v in Y], dtype=object)
    model = GossamerClassifier(n_estimators=3).fit(X, y, eval_set=[(X, y)])
    assert model.classes_.dtype == np.dtype(kind)
    plain = GossamerClassifier(n_estimators=3).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.score(X, y) == model.score(X, pd.Series(y)) == plain.score(X, Y)


def money(count: int) -> list[str]:
    return [f"{i // 100 + 1}.{i % 100 + 100},50 €" for i in range(count)]


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ([str(i / 7) for i in range(200)], r"pandas\.to_numeric"),
        # to_numeric(errors="coerce") would make every value missing.
        (money(200), r"pandas\.read_csv has decimal and thousands"),
        ([f"{i % 28 + 1}.{i % 12 + 1}.2024" for i in range(200)], r"pandas\.to_datetime"),
    ],
)
def test_text_that_is_numbers_names_a_conversion_that_works(values: list[str], hint: str) -> None:
    with pytest.warns(UserWarning, match=f"treated as a category.*{hint}"):
        Dataset(pd.DataFrame({"a": values}), np.arange(200) % 2).construct()


def test_warnings_point_to_the_code_that_called() -> None:
    with pytest.warns(UserWarning, match="each of them") as caught:
        table = pd.DataFrame({"a": money(200), "b": np.arange(200)})
        GossamerRegressor(n_estimators=2).fit(table, np.arange(200.0))
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
