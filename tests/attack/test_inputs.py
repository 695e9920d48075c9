"""Malformed tables, labels and fields: refused with an error of ours, or used like any other."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from attack.conftest import Tally
from attack.scale import share

from gossamer import Booster, Dataset, GossamerError, train

Rng = np.random.Generator
SMALL = {"num_leaves": 4, "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 1}
N = 30
N_PARTS = share(1, 10)  # that run side by side


class Hostile:
    """Looks like an array, and answers nothing."""

    shape = (N, 3)
    dtype = np.dtype(float)

    def __len__(self) -> int:
        return N

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError("no array")


class Changing:
    """An array of another length every time."""

    def __init__(self) -> None:
        self._n = N

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        self._n += 1
        return np.zeros((self._n, 3))


def _sparse(rng: Rng, change: Callable[[Any], None], kind: str = "csr") -> Any:
    matrix = scipy.sparse.random_array((N, 3), density=0.4, rng=rng).asformat(kind)
    change(matrix)
    return matrix


def _set(name: str, value: Any) -> Callable[[Any], None]:
    def change(matrix: Any) -> None:
        object.__setattr__(matrix, name, value)

    return change


def _poke(name: str, place: int, value: float) -> Callable[[Any], None]:
    def change(matrix: Any) -> None:
        getattr(matrix, name)[place] = value

    return change


def tables(rng: Rng) -> dict[str, Callable[[], Any]]:
    """Tables, whole and malformed, of every kind that is read."""
    good = rng.normal(size=(N, 3))
    words = np.array(["a", "b", ""], object)[rng.integers(0, 3, N)]
    frame = pd.DataFrame(good, columns=["a", "b", "c"])
    found: dict[str, Callable[[], Any]] = {
        "array": lambda: good,
        "no rows": lambda: good[:0],
        "no columns": lambda: good[:, :0],
        "one row": lambda: good[:1],
        "one column": lambda: good[:, :1],
        "no dimensions": lambda: np.array(1.0),
        "one dimension": lambda: good[:, 0],
        "three dimensions": lambda: good.reshape(N, 3, 1),
        "ragged": lambda: [[1, 2, 3], [1, 2]] * (N // 2),
        "list": good.tolist,
        "tuple": lambda: tuple(map(tuple, good)),
        "nested": lambda: [[[1.0]]] * N,
        "text": lambda: [["a", "b"]] * N,
        "bytes": lambda: [[b"a", b"b"]] * N,
        "mixed": lambda: [[1.0, "a"], [None, 2]] * (N // 2),
        "objects": lambda: good.astype(object),
        "odd objects": lambda: np.array([[object(), 1]] * N, object),
        "dicts": lambda: [{"a": 1.0}] * N,
        "dict": lambda: {"a": good[:, 0], "b": good[:, 1]},
        "dict of other lengths": lambda: {"a": good[:, 0], "b": good[:5, 1]},
        "empty dict": lambda: {},
        "empty list": lambda: [],
        "None": lambda: None,
        "number": lambda: 5,
        "path": lambda: "/nowhere/rows.csv",
        "folder": lambda: "/proc/self/fdinfo",
        "bytes path": lambda: b"/nowhere/rows.csv",
        "odd path": lambda: "rows\0.csv",
        "generator": lambda: (row for row in good),
        "set": lambda: {1, 2},
        "class": lambda: dict,
        "complex": lambda: good + 1j,
        "float16": lambda: good.astype(np.float16),
        "longdouble": lambda: good.astype(np.longdouble),
        "float128 large": lambda: np.full((N, 2), np.finfo(np.longdouble).max),
        "bool": lambda: good > 0,
        "uint64": lambda: np.full((N, 2), 2**64 - 1, np.uint64),
        "int64": lambda: rng.integers(-(2**63), 2**63 - 1, (N, 2)),
        "big endian": lambda: good.astype(">f8"),
        "dates": lambda: np.full((N, 2), np.datetime64("2024-01-01")),
        "no date": lambda: np.full((N, 2), np.datetime64("NaT")),
        "durations": lambda: np.full((N, 2), np.timedelta64(5, "s")),
        "structured": lambda: np.zeros(N, [("a", float), ("b", int)]),
        "record": lambda: np.zeros(N, [("a", float, (2,))]),
        "strings": lambda: np.full((N, 2), "a"),
        "void": lambda: np.zeros((N, 2), "V8"),
        "masked": lambda: np.ma.masked_less(good, 0),
        "matrix": lambda: np.asmatrix(good),
        "backwards": lambda: good[::-1, ::-1],
        "strided": lambda: np.repeat(good, 2, axis=0)[::2],
        "broadcast": lambda: np.broadcast_to(good[0], (N, 3)),
        "unaligned": lambda: np.frombuffer(b"\0" + good.tobytes(), np.float64, N * 3, 1).reshape(
            N, 3
        ),
        "read only": lambda: np.frombuffer(good.tobytes()).reshape(N, 3),
        "missing": lambda: np.full((N, 3), np.nan),
        "infinite": lambda: np.full((N, 3), np.inf),
        "both infinite": lambda: np.where(good > 0, np.inf, -np.inf),
        "hostile": Hostile,
        "changing": Changing,
        "decimals": lambda: [[decimal.Decimal("1.5"), fractions.Fraction(1, 3)]] * N,
        "large decimals": lambda: [[decimal.Decimal("1e999")]] * N,
        "large integers": lambda: [[10**400]] * N,
        "python dates": lambda: [[datetime.date(2024, 1, 1)]] * N,
        "frame": lambda: frame,
        "frame of text": lambda: frame.assign(d=words),
        "frame of categories": lambda: frame.assign(d=pd.Categorical(words)),
        "frame without rows": lambda: frame[:0],
        "frame without columns": lambda: frame[[]],
        "frame with names twice": lambda: pd.DataFrame(good, columns=["a", "a", "b"]),
        "frame with odd names": lambda: pd.DataFrame(good, columns=[1, None, ("x", 2)]),
        "frame with levels": lambda: pd.DataFrame(
            good, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
        ),
        "frame of nothing": lambda: frame.assign(d=None),
        "frame of objects": lambda: frame.assign(d=[{}] * N),
        "frame of lists": lambda: frame.assign(d=[[1, 2]] * N),
        "frame of intervals": lambda: frame.assign(d=pd.cut(frame["a"], 3)),
        "frame of periods": lambda: frame.assign(d=pd.period_range("2024", periods=N, freq="D")),
        "frame with zones": lambda: frame.assign(d=pd.date_range("2024", periods=N, tz="UTC")),
        "frame of nullable": lambda: frame.astype("Float64"),
        "frame of complex": lambda: frame.assign(d=good[:, 0] + 1j),
        "frame of sparse": lambda: frame.astype(pd.SparseDtype(float, 0.0)),
        "series": lambda: frame["a"],
        "index": lambda: pd.Index([1, 2]),
        "polars": lambda: pl.DataFrame({"a": good[:, 0], "b": words}),
        "polars lists": lambda: pl.DataFrame({"a": [[1, 2]] * N}),
        "polars structs": lambda: pl.DataFrame({"a": [{"x": 1}] * N}),
        "polars nothing": lambda: pl.DataFrame({"a": [None] * N}),
        "arrow": lambda: pa.table({"a": good[:, 0], "b": pa.array(words.tolist())}),
        "arrow names twice": lambda: pa.table([good[:, 0], good[:, 1]], names=["a", "a"]),
        "arrow lists": lambda: pa.table({"a": pa.array([[1], None] * (N // 2))}),
        "arrow nulls": lambda: pa.table({"a": pa.nulls(N)}),
        "arrow binary": lambda: pa.table({"a": pa.array([b"\xff"] * N)}),
        "arrow decimals": lambda: pa.table({"a": pa.array([decimal.Decimal("1.5")] * N)}),
        "arrow chunks": lambda: pa.table({"a": pa.chunked_array([good[:5, 0], good[5:, 0]])}),
        "arrow without rows": lambda: pa.table({"a": pa.array([], pa.float64())}),
        "arrow codes": lambda: pa.table(
            {"a": pa.DictionaryArray.from_arrays(pa.array([0, 1] * (N // 2)), ["x", "x"])}
        ),
        "arrow wild codes": lambda: pa.table(
            {
                "a": pa.DictionaryArray.from_arrays(
                    pa.array([0, 77] * (N // 2)), ["x", "y"], safe=False
                )
            }
        ),
    }
    for kind in ("csr", "csc", "coo", "bsr", "dok", "lil", "dia"):
        found[f"sparse {kind}"] = partial(_sparse, rng, lambda _: None, kind)
    for kind in ("csr", "csc"):
        for part, place, value in (
            *(
                ("indices", 0, 99),
                ("indices", 0, -1),
                ("indices", -1, 2**30),
                ("data", 0, math.nan),
            ),
            *(("indptr", 0, 5), ("indptr", 1, -3), ("indptr", -1, 10**6), ("data", 0, math.inf)),
        ):
            found[f"sparse {kind} {part}[{place}]={value}"] = (
                lambda p=part, i=place, v=value, k=kind: _sparse(rng, _poke(p, i, v), k)
            )
        for part in ("indices", "indptr", "data"):
            for name, value in (
                ("none", None),
                ("short", np.zeros(1)),
                ("text", np.array(["a"])),
                ("floats", np.full(200, 0.5)),
                ("empty", np.zeros(0, int)),
            ):
                change = _set(part, value)
                found[f"sparse {kind} {part} {name}"] = partial(_sparse, rng, change, kind)
    return found


def vectors(rng: Rng) -> dict[str, Callable[[], Any]]:
    """Labels, weights, ... of N rows, whole and malformed."""
    good = rng.random(N)
    return {
        "good": lambda: good,
        "classes": lambda: np.arange(N) % 2,
        "none": lambda: None,
        "short": lambda: good[:-1],
        "long": lambda: np.append(good, 1),
        "empty": lambda: [],
        "column": lambda: good[:, None],
        "row": lambda: good[None],
        "two columns": lambda: np.column_stack([good, good]),
        "no columns": lambda: np.empty((N, 0)),
        "three dimensions": lambda: good.reshape(N, 1, 1),
        "text": lambda: ["a"] * N,
        "numbers as text": lambda: ["1"] * N,
        "objects": lambda: [object()] * N,
        "nothing": lambda: [None] * N,
        "missing": lambda: np.full(N, np.nan),
        "one missing": lambda: np.append(good[:-1], np.nan),
        "infinite": lambda: np.append(good[:-1], np.inf),
        "negative": lambda: -good,
        "zeros": lambda: np.zeros(N),
        "huge": lambda: np.full(N, 1e300),
        "tiny": lambda: np.full(N, 1e-320),
        "huge integers": lambda: [10**400] * N,
        "complex": lambda: good + 1j,
        "bools": lambda: good > 0.5,
        "dates": lambda: np.full(N, np.datetime64("2024-01-01")),
        "series": lambda: pd.Series(good, index=np.arange(N)[::-1]),
        "categories": lambda: pd.Series(pd.Categorical(["a", "b"] * (N // 2))),
        "nullable": lambda: pd.Series([None, 1.0] * (N // 2), dtype="Float64"),
        "frame": lambda: pd.DataFrame({"y": good}),
        "polars": lambda: pl.Series(good),
        "arrow": lambda: pa.array(good),
        "arrow chunks": lambda: pa.chunked_array([good[:3], good[3:]]),
        "scalar": lambda: 1.0,
        "name": lambda: "a",
        "other name": lambda: "nowhere",
        "dict": lambda: {"a": good},
        "generator": lambda: (v for v in good),
        "sparse": lambda: scipy.sparse.csr_array(good[:, None]),
        "hostile": Hostile,
        "sizes": lambda: [10, 20],
        "sizes that do not fit": lambda: [10, 21],
        "negative sizes": lambda: [-10, 40],
        "fractions": lambda: [10.5, 19.5],
        "zero sizes": lambda: [0, 30],
        "huge sizes": lambda: [2**40, 30 - 2**40],
    }


FIELDS = (
    "label",
    "weight",
    "init_score",
    "group",
    "position",
    "feature_name",
    "categorical_feature",
)
OBJECTIVES = ("regression", "binary", "multiclass", "lambdarank", "poisson", "gamma", "cox", "aft")


def use(rng: Rng, model: Booster) -> None:
    """Draw an input, and use it in one of the ways there are; what is accepted gives numbers."""
    choices = tables(rng)
    name = list(choices)[rng.integers(len(choices))] if rng.random() < 0.6 else "array"
    if rng.random() < 0.25:
        found = model.predict(choices[name](), **_options(rng))
        assert np.isfinite(np.asarray(_dense(found), float)).all()
        return
    fields: dict[str, Any] = {"label": rng.random(N)}
    drawn = vectors(rng)
    for field in rng.choice(FIELDS, int(rng.integers(0, 3)), replace=False):
        fields[str(field)] = list(drawn.values())[rng.integers(len(drawn))]()
    objective = str(rng.choice(OBJECTIVES))
    params = {**SMALL, "objective": objective}
    if objective == "multiclass":
        params["num_class"] = 2
    data = Dataset(choices[name](), **fields)
    booster = train(params, data, 2)
    found = booster.predict(np.zeros((2, booster.num_feature())), validate_features=False)
    assert np.isfinite(np.asarray(found, float)).all(), "predictions are not numbers"


def _dense(found: Any) -> Any:
    return found.toarray() if hasattr(found, "toarray") else found


def _options(rng: Rng) -> dict[str, Any]:
    options: list[dict[str, Any]] = [
        *({}, {"raw_score": True}, {"pred_leaf": True}, {"pred_contrib": True}),
        *({"num_iteration": 0}, {"num_iteration": -5}, {"start_iteration": 7}),
    ]
    return options[rng.integers(len(options))]


def describe(seed: int) -> str:
    return f"use(np.random.default_rng({seed}), model)"


@pytest.mark.parametrize("part", range(N_PARTS))
def test_malformed_inputs(part: int, tally: Tally) -> None:
    model = train(SMALL, Dataset(np.random.default_rng(0).normal(size=(N, 3)), np.arange(N)), 3)
    for seed in range(part, share(200, 2_500), N_PARTS):
        with tally.run(describe(seed)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                use(np.random.default_rng(seed), model)
            except GossamerError as error:
                assert 10 < len(str(error)) < 3000, f"an error that nobody reads: {error}"
            except FileNotFoundError:
                pass
            except RuntimeError as error:  # what the user's own object raised
                assert str(error) == "no array"
