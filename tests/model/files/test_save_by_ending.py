"""The ending of a file's name decides the format of a model."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import gossamer as gs
from gossamer.model.formats import BY_ENDING, OWN, to_bytes, written

X = np.random.default_rng(0).normal(size=(200, 3))


@pytest.fixture(scope="module")
def model() -> gs.Booster:
    data = gs.Dataset(X, (X[:, 0] > 0).astype(int))
    return gs.train({"objective": "binary", "num_leaves": 4, "verbose": -1}, data, 3)


@pytest.mark.parametrize("ending", [ending for ending in BY_ENDING if ending != ".cbm"])
def test_every_ending(model: gs.Booster, ending: str, tmp_path: Path) -> None:
    if ending in (".onnx", ".tl"):
        pytest.importorskip("onnx" if ending == ".onnx" else "treelite")
    path = tmp_path / f"model{ending.upper()}"
    model.save_model(path)
    assert path.read_bytes() == to_bytes(model.model, BY_ENDING[ending])


@pytest.mark.parametrize("name", ["model", "model.gsm", "model.bin", "model.v2", ".json"])
def test_other_names_are_our_own_format(model: gs.Booster, name: str, tmp_path: Path) -> None:
    model.save_model(tmp_path / name)
    assert (tmp_path / name).read_bytes() == to_bytes(model.model, OWN)


def test_the_format_by_name_wins(model: gs.Booster, tmp_path: Path) -> None:
    model.save_model(tmp_path / "model.json", format="xgboost")
    assert (tmp_path / "model.json").read_bytes() == to_bytes(model.model, "xgboost")
    model.save_model(tmp_path / "model.txt", format="gossamer")
    assert (tmp_path / "model.txt").read_bytes() == to_bytes(model.model, OWN)


def test_formats_that_are_only_read(model: gs.Booster, tmp_path: Path) -> None:
    with pytest.raises(gs.ParameterError, match="got 'catboost', expected one of gossamer, json"):
        model.save_model(tmp_path / "model.cbm")
    assert "c" in written() and "catboost" not in written()


def test_names_of_classes_are_not_lost_in_silence(model: gs.Booster, tmp_path: Path) -> None:
    named = model[:]
    named.set_class_names(["no", "yes"])
    with pytest.warns(UserWarning, match=r"'lightgbm', which does not keep the names of classes"):
        named.save_model(tmp_path / "model.txt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named.save_model(tmp_path / "model.json")
        named.save_model(tmp_path / "model.txt", format="lightgbm")


def test_a_format_that_cannot_hold_the_model(tmp_path: Path) -> None:
    data = gs.Dataset(X, X[:, 0])
    model = gs.train({"linear_tree": True, "verbose": -1}, data, 2)
    with pytest.raises(gs.NotSupportedError, match=r"'model\.ubj' asks for .* end with \.gsm can"):
        model.save_model(tmp_path / "model.ubj")
    assert not list(tmp_path.iterdir())
