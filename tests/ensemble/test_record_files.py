"""What a model file says about folds is checked before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer import files
from gossamer.errors import ModelFileError
from gossamer.model.files import model_file

Parts = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def content() -> bytes:
    x = np.random.default_rng(0).normal(size=(90, 2))
    data = gs.Dataset(x, x[:, 0], weight=np.ones(90))
    return model_file.to_bytes(gs.train_folds({"verbose": -1}, data, 4, nfold=3).model)


def _set(name: str, change: Callable[[Any], Any]) -> Callable[[Parts], None]:
    def apply(parts: Parts) -> None:
        parts[0][f"folds.{name}"] = change(parts[0][f"folds.{name}"].copy())

    return apply


def _fact(**changes: Any) -> Callable[[Parts], None]:
    def apply(parts: Parts) -> None:
        parts[1]["folds"] = {**parts[1]["folds"], **changes}

    return apply


def _at(place: Any, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("round_begin", lambda a: a[:-1]),
        _set("round_begin", _at(1, 10_000)),
        _set("round_begin", lambda a: a.astype(np.int32)),
        _set("row_begin", _at(0, 1)),
        _set("row_begin", lambda a: np.append(a, a[-1])),
        _set("row", _at(3, 4_000_000_000)),
        _set("row", lambda a: a[:-1]),
        _set("score", lambda a: a[:, :-1]),
        _set("score", _at((0, 0), np.nan)),
        _set("start", _at((0, 0), np.inf)),
        _set("start", lambda a: a[:2]),
        _set("label", _at((0, 0), np.nan)),
        _set("label", lambda a: a[0]),
        _set("weight", lambda a: a[:-1]),
        _set("weight", _at(0, -1.0)),
        lambda parts: parts[0].pop("folds.score"),
        _fact(metrics=[1]),
        _fact(metrics={"l2": "many"}),
        _fact(metrics={}),
        _fact(metrics={"l1": 1.0}),
        _fact(by_member={}),
        _fact(by_member={"l2": [1.0]}),
        _fact(member_parameters=[{}]),
        _fact(member_parameters=[{"nonsense": 1}, {}, {}]),
        lambda parts: parts[1].update(folds=3),
    ],
)
def test_what_does_not_fit_is_refused(content: bytes, change: Callable[[Parts], Any]) -> None:
    parts = files.from_bytes(content)
    change(parts)
    with pytest.raises(ModelFileError):
        model_file.from_bytes(files.to_bytes(*parts))


def test_readers_may_ignore_it(content: bytes) -> None:
    """Without the section it is the same model: what older readers see."""
    arrays, facts = files.from_bytes(content)
    assert facts["version"] == 1
    plain = {name: array for name, array in arrays.items() if not name.startswith("folds.")}
    facts = {name: value for name, value in facts.items() if name != "folds"}
    model = gs.Booster(model_str=model_file.to_text(model_file.from_parts(plain, facts, "it")))
    whole = gs.Booster(model_str=model_file.to_text(model_file.from_bytes(content)))
    x = np.random.default_rng(1).normal(size=(20, 2))
    assert np.array_equal(model.predict(x), whole.predict(x))
