"""Estimators that continue from a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gossamer import (
    DataError,
    GossamerClassifier,
    GossamerRanker,
    GossamerRegressor,
    ParameterError,
)

RNG = np.random.default_rng(19)
TABLE = RNG.normal(size=(300, 4))
LABEL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2]
CLASSES = np.array(["low", "mid", "top"])[np.digitize(LABEL, [-0.7, 0.7])]
SMALL: dict[str, Any] = {"num_leaves": 6, "verbosity": -1}


@pytest.mark.parametrize(
    ("kind", "label", "fields"),
    [
        (GossamerRegressor, LABEL, {}),
        (GossamerClassifier, LABEL > 0, {}),
        (GossamerClassifier, CLASSES, {}),
        (GossamerRanker, np.digitize(LABEL, [-0.7, 0.7]), {"group": [10] * 30}),
    ],
    ids=["regressor", "two classes", "three classes", "ranker"],
)
def test_two_halves_make_the_whole(kind: Any, label: Any, fields: Any, tmp_path: Path) -> None:
    whole = kind(n_estimators=10, **SMALL).fit(TABLE, label, **fields)
    half = kind(n_estimators=4, **SMALL).fit(TABLE, label, **fields)
    half.booster_.save_model(tmp_path / "half")
    expected = whole.booster_.model.forest.arrays
    for init_model in (half, half.booster_, tmp_path / "half", str(tmp_path / "half")):
        more = kind(n_estimators=6, **SMALL).fit(TABLE, label, init_model=init_model, **fields)
        assert more.n_estimators_ == 10
        for name, array in more.booster_.model.forest.arrays.items():
            np.testing.assert_array_equal(array, expected[name])
        np.testing.assert_array_equal(more.predict(TABLE), whole.predict(TABLE))


def test_from_itself() -> None:
    model = GossamerClassifier(n_estimators=4, **SMALL).fit(TABLE, CLASSES)
    model.fit(TABLE, CLASSES, init_model=model)
    whole = GossamerClassifier(n_estimators=8, **SMALL).fit(TABLE, CLASSES)
    np.testing.assert_array_equal(model.predict_proba(TABLE), whole.predict_proba(TABLE))


def test_evaluation_sets_know_the_old_trees() -> None:
    half = GossamerRegressor(n_estimators=4, **SMALL).fit(TABLE, LABEL)
    model = GossamerRegressor(n_estimators=3, **SMALL)
    model.fit(TABLE, LABEL, eval_set=[(TABLE[:50], LABEL[:50])], init_model=half)
    history = model.evals_result_["valid_0"]["l2"]
    assert len(history) == 3
    expected = np.mean((model.predict(TABLE[:50]) - LABEL[:50].astype(np.float32)) ** 2)
    assert history[-1] == pytest.approx(expected)


class TestBadInput:
    """Precise errors."""

    def test_not_fitted(self) -> None:
        with pytest.raises(NotFittedError):
            GossamerRegressor().fit(TABLE, LABEL, init_model=GossamerRegressor())

    def test_something_else(self) -> None:
        with pytest.raises(ParameterError, match="init_model cannot be used: got 'dict'"):
            GossamerRegressor().fit(TABLE, LABEL, init_model={})

    def test_other_classes(self) -> None:
        old = GossamerClassifier(n_estimators=2, **SMALL).fit(TABLE, CLASSES)
        renamed = np.where(CLASSES == "low", "bad", CLASSES)
        with pytest.raises(DataError, match="init_model has learned other classes"):
            GossamerClassifier().fit(TABLE, renamed, init_model=old)
        two = CLASSES != "low"
        with pytest.raises(DataError, match="The new data must have every class"):
            GossamerClassifier().fit(TABLE[two], CLASSES[two], init_model=old)

    def test_another_kind(self) -> None:
        old = GossamerRegressor(n_estimators=2, **SMALL).fit(TABLE, LABEL)
        with pytest.raises(ParameterError, match="scores mean something else"):
            GossamerClassifier().fit(TABLE, LABEL > 0, init_model=old)
