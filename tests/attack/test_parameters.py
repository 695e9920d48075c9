"""Odd values of every parameter: refused with an error of ours, or a model that can be used."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack.conftest import Tally
from attack.scale import share

from gossamer import Dataset, GossamerError, train
from gossamer.params import CANONICAL, TABLE

RNG = np.random.default_rng(0)
N_PARTS = share(1, 16)  # that run side by side
ROWS = RNG.normal(size=(60, 3))
LABELS = {
    "regression": ROWS[:, 0] + 0.1 * RNG.normal(size=60),
    "binary": (ROWS[:, 0] > 0).astype(float),
    "multiclass": np.arange(60) % 3,
    "lambdarank": np.arange(60) % 4,
}


class Odd:
    """An object that means nothing, and whose text is not there."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32, 2**63, 2**64),
    *(10**30, -(2**31), -(2**63), 0.0, -0.0, 0.5, 1.0, 1.5, -0.5, 1e-300, 5e-324, 1e300, -1e300),
    *(1e38, 1e-38, math.nan, math.inf, -math.inf, True, False, 1 + 1e-16, 0.999999),
)
WORDS: tuple[Any, ...] = (
    *("", " ", "0", "1", "-1", "1e400", "nan", "inf", "true", "none", "None", "auto", "a", "a,b"),
    *("1,2", "[1,2]", "[[0,1],[2]]", "{}", '{"feature": 0}', "\0", "\x1b[31m", "ü", "\ud800"),
    *("a" * 10_000, "%s%n", "${x}", "../../x", "binary", "off", "on", "0:1", "name:a", "1 2"),
)
OBJECTS: tuple[Any, ...] = (
    *(None, (), [], {}, set(), [1], [1, 2], [0, 0, 0], [0.5] * 3, ["a"], [None], [[]], [[0, 1]]),
    *([[0], [0]], {"a": 1}, {0: [1.0]}, {"feature": 0, "threshold": math.nan}, b"", b"1", 1j),
    *(np.nan, np.int8(3), np.float32(0.5), np.float16(1), np.bool_(True), np.array(1)),
    *(np.array([1, -1, 0]), np.empty(0), np.zeros((2, 2)), Ellipsis, object(), Odd(), int, len),
    *(lambda *_: None, range(3), iter([1]), Path("x"), {"a": {"b": []}}, [math.nan] * 3),
)
VALUES = (*NUMBERS, *WORDS, *OBJECTS)
# What a value like this asks for is done: files are read or written, or memory is taken.
LARGE = 2**31 - 1


def draw(n: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Draw parameters with one odd value, now and then several, and an objective."""
    rng = np.random.default_rng(1)
    names = list(TABLE)
    others = [name for name in CANONICAL if name not in TABLE]
    for i in range(n):
        objective = list(LABELS)[i % len(LABELS)]
        chosen = [names[i // 2 % len(names)]]
        if rng.random() < 0.2:
            pool = names if rng.random() < 0.5 else others
            chosen += [pool[rng.integers(len(pool))] for _ in range(int(rng.integers(1, 4)))]
        yield {name: VALUES[rng.integers(len(VALUES))] for name in chosen}, objective


def try_params(params: dict[str, Any], objective: str) -> None:
    """Train with them; what is accepted must predict numbers."""
    group = [20, 20, 20] if objective == "lambdarank" else None
    base = {"objective": objective, "verbosity": -1, "num_threads": 1, "num_leaves": 4}
    if objective == "multiclass":
        base["num_class"] = 3
    canonical = {CANONICAL[name] for name in params}
    given = {**{name: value for name, value in base.items() if name not in canonical}, **params}
    n_rounds = {} if "num_iterations" in canonical else {"num_boost_round": 2}
    data = Dataset(ROWS, LABELS[objective], group=group)
    try:
        booster = train(given, data, valid_sets=[data], **n_rounds)
        found = booster.predict(ROWS)
    except GossamerError as error:
        assert 10 < len(str(error)) < 3000, f"an error that nobody reads: {error}"
        return
    except TypeError as error:  # that of a function given as objective or metric
        assert "objective" in canonical or "metric" in canonical, error
        return
    assert np.isfinite(np.asarray(found, float)).all(), "predictions are not numbers"


def takes_too_much(params: dict[str, Any]) -> bool:
    """Whether the work asked for is endless: many rounds, trees or folds are the user's wish."""
    endless = {"num_iterations", "num_parallel_tree", "num_threads", "num_grad_quant_bins"}
    for name, value in params.items():
        number = value if type(value) in (int, float) else 0
        if CANONICAL[name] in endless and abs(number) > 300:
            return True
    return False


def describe(params: dict[str, Any]) -> str:
    texts = []
    for name, value in params.items():
        text = "Odd()" if isinstance(value, Odd) else ascii(value)[:60]
        texts.append(f"{name}={text}")
    return ", ".join(texts)


@pytest.mark.parametrize("part", range(N_PARTS))
def test_odd_values(
    part: int, tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for params, objective in islice(draw(share(500, 14_200)), part, None, N_PARTS):
        if takes_too_much(params):
            continue
        with tally.run(f"{objective}: {describe(params)}"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try_params(params, objective)
    assert os.listdir(tmp_path) == []
