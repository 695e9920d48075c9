from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs


def trained(params: dict[str, Any], n_classes: int) -> gs.Booster:
    x = np.arange(300.0).reshape(-1, 1)
    data = gs.Dataset(x, np.arange(300) % n_classes)
    return gs.train({**params, "verbosity": -1, "num_threads": 1}, data, 2)


@pytest.mark.parametrize("names", [["no", "yes"], [False, True], [7, 2.5], ["0", "a,b \n"]])
def test_kept_in_files(names: list[Any], tmp_path: Path) -> None:
    model = trained({"objective": "binary"}, 2)
    assert model.class_names is None
    model.set_class_names(names)
    model.save_model(tmp_path / "model.gsm")
    again = gs.Booster(model_file=tmp_path / "model.gsm")
    text = gs.Booster(model_str=model.model_to_string())
    for one in (model, again, text, pickle.loads(pickle.dumps(model))):
        assert one.class_names == names
    plain = trained({"objective": "binary"}, 2)
    assert again.predict([[3.0]]) == plain.predict([[3.0]])


def test_several_classes() -> None:
    model = trained({"objective": "multiclass", "num_class": 3}, 3)
    assert model.set_class_names(["a", "b", "c"]).class_names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (["a"], "got 1 names, expected 2, the classes of objective=binary"),
        (["a", "a"], "two classes have the same name"),
        ([1, "1"], "two classes have the same name"),
        (["a", None], "the name of a class cannot be used: got None"),
        (["a", float("nan")], "the name of a class cannot be used: got nan"),
        ("ab", "cannot be used: got 'ab'"),
        (3, "cannot be used: got 3"),
    ],
)
def test_wrong_names(names: Any, what: str) -> None:
    with pytest.raises(gs.DataError, match=what):
        trained({"objective": "binary"}, 2).set_class_names(names)


def test_no_classes() -> None:
    with pytest.raises(gs.DataError, match="expected 0, the classes of objective=regression"):
        trained({}, 2).set_class_names(["a", "b"])


def test_in_training() -> None:
    data = gs.Dataset([[0.0], [1.0]] * 30, [0, 1] * 30)
    booster = gs.Booster({"objective": "binary", "verbosity": -1}, data)
    with pytest.raises(gs.DataError, match="belong to a finished model"):
        booster.set_class_names(["a", "b"])


def test_damaged_file(tmp_path: Path) -> None:
    from gossamer import files

    model = trained({"objective": "binary"}, 2).set_class_names(["a", "b"])
    model.save_model(tmp_path / "model.gsm")
    arrays, facts = files.from_bytes((tmp_path / "model.gsm").read_bytes())
    for wrong in ("ab", ["a"], [["a"], ["b"]], 1, {"a": 1}):
        content = files.to_bytes(arrays, {**facts, "class_names": wrong})
        (tmp_path / "model.gsm").write_bytes(content)
        with pytest.raises(gs.ModelFileError, match="is inconsistent"):
            gs.Booster(model_file=tmp_path / "model.gsm")
