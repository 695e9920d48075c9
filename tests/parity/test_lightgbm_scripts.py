"""What ordinary scripts of LightGBM's users do, under `import gossamer as lgb`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gossamer as lgb

PARAMS: dict[str, Any] = {"verbose": -1, "num_leaves": 7, "min_data_in_leaf": 5}
RNG = np.random.default_rng(7)
TABLE = RNG.normal(size=(300, 3))
LABEL = TABLE[:, 0] - 2 * (TABLE[:, 1] > 0) + 0.1 * RNG.normal(size=300)
FRAME = pd.DataFrame(TABLE, columns=["x", "y", "z"])


class TestNamesOfTheDataSet:
    """`Dataset(frame, feature_name=...)`: the frame keeps its own names."""

    NAMES = ("p", "q", "r")

    def _train(self, frame: Any = FRAME, **options: Any) -> lgb.Booster:
        data = lgb.Dataset(frame, LABEL, feature_name=list(self.NAMES))
        return lgb.train(PARAMS, data, 5, **options)

    def test_the_frame_of_the_training_is_predicted(self) -> None:
        model = self._train()
        expected = model.predict(TABLE)
        assert model.feature_name() == list(self.NAMES)
        np.testing.assert_array_equal(model.predict(FRAME), expected)
        np.testing.assert_array_equal(model.predict(FRAME[["z", "x", "y"]]), expected)
        renamed = FRAME.set_axis(list(self.NAMES), axis=1)
        np.testing.assert_array_equal(model.predict(renamed[["r", "q", "p"]]), expected)
        with pytest.raises(lgb.DataError, match="not those of the training data"):
            model.predict(FRAME.rename(columns={"x": "other"}))

    def test_a_saved_model_knows_them(self) -> None:
        model = self._train()
        again = lgb.Booster(model_str=model.model_to_string())
        np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))

    def test_categories(self) -> None:
        frame = FRAME.assign(z=pd.Categorical(np.where(TABLE[:, 2] > 0, "a", "b")))
        model = self._train(frame)
        turned = frame[["z", "y", "x"]]
        np.testing.assert_array_equal(model.predict(turned), model.predict(frame))
        assert len(np.unique(model.predict(frame))) > 2

    def test_validation_sets(self) -> None:
        data = lgb.Dataset(FRAME, LABEL, feature_name=list(self.NAMES))
        same, turned = (data.create_valid(f, LABEL) for f in (FRAME, FRAME[["z", "y", "x"]]))
        found: dict[str, Any] = {}
        lgb.train(
            PARAMS,
            data,
            5,
            valid_sets=[data, same, turned],
            valid_names=["train", "same", "turned"],
            callbacks=[lgb.record_evaluation(found)],
        )
        assert found["same"] == found["turned"]
        np.testing.assert_allclose(found["same"]["l2"], found["train"]["l2"])

    def test_refit_and_continued_training(self) -> None:
        model = self._train()
        moved = model.refit(FRAME, LABEL + 1, decay_rate=0.0)
        assert moved.predict(FRAME).mean() == pytest.approx(LABEL.mean() + 1, abs=0.1)
        longer = self._train(init_model=model)
        assert longer.num_trees() == 10
        np.testing.assert_array_equal(longer.predict(FRAME), longer.predict(TABLE))

    def test_estimators(self) -> None:
        model = lgb.LGBMRegressor(n_estimators=5).fit(FRAME, LABEL, feature_name=list(self.NAMES))
        np.testing.assert_array_equal(model.predict(FRAME), model.booster_.predict(TABLE))


class TestValidateFeatures:
    """One meaning of `validate_features` everywhere."""

    def test_boosters(self) -> None:
        model = lgb.train(PARAMS, lgb.Dataset(FRAME, LABEL), 5)
        expected = model.predict(TABLE)
        other = FRAME.rename(columns={"z": "other"})
        np.testing.assert_array_equal(model.predict(other, validate_features=False), expected)
        np.testing.assert_array_equal(model.predict(FRAME, validate_features=True), expected)
        with pytest.raises(lgb.DataError, match="Expected 'z' at position 2 but found 'other'"):
            model.predict(other, validate_features=True)
        with pytest.raises(lgb.DataError, match="Expected 'x' at position 0 but found 'z'"):
            model.predict(FRAME[["z", "y", "x"]], validate_features=True)
        model.refit(other, LABEL, validate_features=False)
        with pytest.raises(lgb.DataError, match="other"):
            model.refit(other, LABEL, validate_features=True)

    def test_estimators(self) -> None:
        model = lgb.LGBMRegressor(n_estimators=5).fit(FRAME, LABEL)
        other = FRAME.rename(columns={"z": "other"})
        found = model.predict(other, validate_features=False)
        np.testing.assert_array_equal(found, model.predict(FRAME))
        with pytest.raises(ValueError, match="other"):
            model.predict(other)


def test_alpha_does_not_change_other_objectives() -> None:
    """One dict of parameters serves several objectives."""
    plain = lgb.train(PARAMS, lgb.Dataset(TABLE, LABEL), 5).predict(TABLE)
    found = lgb.train({**PARAMS, "alpha": 0.9}, lgb.Dataset(TABLE, LABEL), 5).predict(TABLE)
    np.testing.assert_array_equal(found, plain)


def test_the_label_in_a_file_without_header_is_no_feature(tmp_path: Path) -> None:
    """As in LightGBM it is the first column, where the file has one more than the model."""
    path = tmp_path / "rows.tsv"
    np.savetxt(path, np.column_stack([LABEL, TABLE]), delimiter="\t", fmt="%.17g")
    model = lgb.train(PARAMS, lgb.Dataset(TABLE, LABEL), 5)
    np.testing.assert_array_equal(model.predict(str(path)), model.predict(TABLE))
