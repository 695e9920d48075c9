"""The boosters of all folds: forwarding, files, copies."""

from __future__ import annotations

import copy
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import Booster, CVBooster, Dataset, ModelFileError, cv, files, train
from gossamer.model.files import cv_file, model_file

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(300, 4))
LABEL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] + RNG.normal(size=300)
PARAMS: dict[str, Any] = {"num_leaves": 7, "learning_rate": 0.4, "verbosity": -1}


def make_models(n_rounds: int = 6, **params: Any) -> CVBooster:
    data = Dataset(TABLE, LABEL)
    result = cv(PARAMS | params, data, n_rounds, nfold=3, return_cvbooster=True)
    models: CVBooster = result["cvbooster"]
    return models


def check_same(found: CVBooster, expected: CVBooster) -> None:
    assert found.best_iteration == expected.best_iteration
    assert len(found.boosters) == len(expected.boosters)
    for one, other in zip(found.predict(TABLE), expected.predict(TABLE), strict=True):
        np.testing.assert_array_equal(one, other)


class TestForwarding:
    """What a booster can do, all of them do."""

    def test_methods_return_lists(self) -> None:
        models = make_models()
        assert models.num_trees() == [6, 6, 6]
        predictions = models.predict(TABLE[:5], num_iteration=2)
        assert [p.shape for p in predictions] == [(5,)] * 3
        np.testing.assert_array_equal(
            predictions[1], models.boosters[1].predict(TABLE[:5], num_iteration=2)
        )

    def test_training_goes_on(self) -> None:
        models = make_models()
        assert models.update() == [False] * 3
        assert models.current_iteration() == [7, 7, 7]
        assert [[r.metric_name for r in results] for results in models.eval_valid()] == [["l2"]] * 3
        models.free_dataset()
        assert models.train_set == [None] * 3
        assert models.num_trees() == [7, 7, 7]

    def test_attributes_are_lists(self) -> None:
        assert [p["num_leaves"] for p in make_models().params] == [7, 7, 7]

    def test_without_boosters(self) -> None:
        empty = CVBooster()
        assert (empty.boosters, empty.best_iteration, empty.num_trees()) == ([], -1, [])

    def test_no_such_attribute(self) -> None:
        with pytest.raises(AttributeError, match="neither 'CVBooster' nor 'Booster' has"):
            make_models().no_such  # noqa: B018
        with pytest.raises(AttributeError, match="_n_rounds"):
            make_models()._n_rounds  # noqa: B018


class TestFiles:
    """Files and texts."""

    def test_file(self, tmp_path: Path) -> None:
        models = make_models(30, early_stopping_round=3)
        assert 0 < models.best_iteration < 30
        path = tmp_path / "models"
        assert models.save_model(path) is models
        loaded = CVBooster(model_file=path)
        check_same(loaded, models)
        assert loaded.num_trees() == [models.best_iteration] * 3  # as LightGBM's
        assert CVBooster(os.fspath(path)).boosters[0].params["num_leaves"] == 7
        assert os.listdir(tmp_path) == ["models"]

    def test_some_rounds(self, tmp_path: Path) -> None:
        models = make_models()
        models.save_model(tmp_path / "models", num_iteration=2, start_iteration=1)
        loaded = CVBooster(tmp_path / "models")
        assert loaded.num_trees() == [2, 2, 2]
        text = models.model_to_string(num_iteration=2, start_iteration=1)
        check_same(CVBooster().model_from_string(text), loaded)

    def test_text(self) -> None:
        models = make_models(4)
        check_same(CVBooster().model_from_string(models.model_to_string()), models)

    def test_equal_models_give_equal_bytes(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            make_models().save_model(tmp_path / name)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()

    def test_a_failed_write_leaves_the_old_file(self, tmp_path: Path, monkeypatch: Any) -> None:
        path = tmp_path / "models"
        make_models(2).save_model(path)
        before = path.read_bytes()
        monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            make_models(3).save_model(path)
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["models"]

    def test_something_else(self, tmp_path: Path) -> None:
        model = train(PARAMS, Dataset(TABLE, LABEL), 2)
        model.save_model(tmp_path / "one")
        with pytest.raises(
            ModelFileError, match=r"holds no models of cv.*Booster\(model_file=...\)"
        ):
            CVBooster(tmp_path / "one")
        with pytest.raises(
            ModelFileError, match=r"holds no models of cv.*Booster\(model_str=...\)"
        ):
            CVBooster().model_from_string(model.model_to_string())
        make_models(2).save_model(tmp_path / "several")
        with pytest.raises(ModelFileError, match="is not a model: got 'gossamer cv models'"):
            Booster(model_file=tmp_path / "several")
        with pytest.raises(FileNotFoundError):
            CVBooster(tmp_path / "nothing")

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"version": 2}, "has a version that this Gossamer cannot read: got 2"),
            ({"n_folds": 4}, "not 4 models"),
            ({"n_folds": -1}, "not -1 models"),
            ({"n_folds": "3"}, "are not numbers"),
            ({"best_iteration": None}, "are not numbers"),
            ({"format": "x"}, "holds no models of cv"),
        ],
    )
    def test_inconsistent(self, change: dict[str, Any], text: str) -> None:
        arrays, facts = files.from_bytes(cv_file.to_bytes(self._models(), 1))
        with pytest.raises(ModelFileError, match=text):
            cv_file.from_bytes(files.to_bytes(arrays, facts | change))

    def test_broken_models_inside(self) -> None:
        arrays, facts = files.from_bytes(cv_file.to_bytes(self._models(), 1))
        cut = arrays | {"fold_1": arrays["fold_1"][:-9]}
        with pytest.raises(ModelFileError, match="fold 1 of the file cannot be read"):
            cv_file.from_bytes(files.to_bytes(cut, facts))
        wide = arrays | {"fold_1": arrays["fold_1"].astype(np.int64)}
        with pytest.raises(ModelFileError, match="not made of bytes"):
            cv_file.from_bytes(files.to_bytes(wide, facts))
        renamed = {name.replace("1", "7"): array for name, array in arrays.items()}
        with pytest.raises(ModelFileError, match="not 3 models"):
            cv_file.from_bytes(files.to_bytes(renamed, facts))

    @settings(deadline=None)
    @given(data=st.data())
    def test_damage_is_noticed(self, data: st.DataObject) -> None:
        content = bytearray(CONTENT)
        if data.draw(st.booleans()):
            del content[data.draw(st.integers(0, len(content) - 1)) :]
        else:
            place = data.draw(st.integers(0, len(content) - 1))
            content[place] ^= data.draw(st.integers(1, 255))
        with pytest.raises(ModelFileError):
            cv_file.from_bytes(bytes(content))

    def test_damaged_text(self) -> None:
        text = make_models(1).model_to_string()
        for broken in (text[: len(text) // 2], text.replace("A", "!", 1), "", "tree\n"):
            with pytest.raises(ModelFileError):
                CVBooster().model_from_string(broken)

    @staticmethod
    def _models() -> list[Any]:
        return [model_file.from_text(booster.model_to_string()) for booster in MODELS.boosters]


MODELS = make_models(2)
CONTENT = cv_file.to_bytes(TestFiles._models(), -1)


class TestCopies:
    """Copies hold the models, not the data."""

    @pytest.mark.parametrize(
        "make", [copy.copy, copy.deepcopy, lambda models: pickle.loads(pickle.dumps(models))]
    )
    def test_copies(self, make: Any) -> None:
        models = make_models(20, early_stopping_round=3)
        copied = make(models)
        check_same(copied, models)
        assert copied.train_set == [None] * 3
        assert copied.num_trees() == models.num_trees()
        models.boosters.clear()
        assert len(copied.boosters) == 3
