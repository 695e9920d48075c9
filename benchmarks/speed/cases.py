"""What is timed: tables, parameters, and who takes part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from benchmarks import synthetic
from benchmarks.modes.data import CATEGORIES, flights
from benchmarks.paper import generators, real
from benchmarks.real import load_real
from benchmarks.split import Array
from benchmarks.tasks import tables

Matrix = Any  # a float32 array in row order, or a csr_matrix
Options = dict[str, Any]
GOSSAMER = "gossamer"
LIGHTGBM: dict[str, Options] = {
    "lightgbm_row": {"force_row_wise": True},
    "lightgbm_col": {"force_col_wise": True},
}
QUANTIZED: dict[str, Options] = {
    f"lightgbm_quantized_{name[-3:]}": {**layout, "use_quantized_grad": True}
    for name, layout in LIGHTGBM.items()
}
GOSS: Options = {"data_sample_strategy": "goss", "top_rate": 0.1, "other_rate": 0.1}
DENSE_PEERS = {**LIGHTGBM, "lightgbm_quantized_row": QUANTIZED["lightgbm_quantized_row"]}


@dataclass(frozen=True)
class Table:
    """Rows to train with.

    Attributes:
        x: Columns.
        y: Labels.
        group: Rows of each query, where rows are ranked.
    """

    x: Matrix
    y: Array
    group: Array | None = None


@dataclass(frozen=True)
class Case:
    """One row of the table.

    Attributes:
        name: What the command line calls it.
        about: What it is, in words.
        make: Makes the table.
        options: LightGBM's parameters, which Gossamer takes too.
        rounds: Boosting rounds.
        skipped: First rounds that do not count: GOSS starts in the eleventh.
        timed: "rounds": seconds of the rounds after these; "total": building the data set and
            training, best of many fits; "predict": prediction with trees that were trained before.
        peers: Parameters by name; a name begins with its library.
        ours: Parameters of our own variants by name; each begins with "gossamer".
        kernels: GOSSAMER_KERNELS of our runs.
    """

    name: str
    about: str
    make: Callable[[], Table]
    options: Options = field(default_factory=dict)
    rounds: int = 20
    skipped: int = 1
    timed: Literal["rounds", "total", "predict"] = "rounds"
    peers: dict[str, Options] = field(default_factory=lambda: dict(LIGHTGBM))
    ours: dict[str, Options] = field(default_factory=lambda: {GOSSAMER: {}})
    kernels: str = ""


def _split(make: Callable[[int, int], Any], n_rows: int) -> Table:
    split = make(n_rows, 0)
    return Table(split.x_train, split.y_train)


def _small(n_rows: int, n_columns: int) -> Table:
    split = synthetic.small(n_rows, 0)
    return Table(np.ascontiguousarray(split.x_train[:, :n_columns]), split.y_train)


def _real(name: str) -> Table:
    split = load_real(name, 0, 1.0)
    return Table(split.x_train, split.y_train)


def _sparse(make: Callable[[], Any]) -> Table:
    problem = make()
    return Table(problem.x_train, problem.y_train)


def _flights() -> Table:
    part = flights(0).train
    return Table(part.x.astype(np.float32), part.y.astype(np.float32))


def _ranked(copies: int = 20) -> Table:
    """Every query of the sample many times, with a little noise."""
    part = tables.plain("mslr_sample10k")
    assert part.query is not None
    rng = np.random.default_rng(0)
    x = np.tile(part.x.astype(np.float32), (copies, 1))
    x *= 1.0 + 0.05 * rng.standard_normal(x.shape, dtype=np.float32)
    _, group = np.unique(part.query, return_counts=True)
    return Table(x, np.tile(part.y, copies).astype(np.float32), np.tile(group, copies))


def _one_hot(n_rows: int = 80_000, n_columns: int = 76_000) -> Table:
    """Eight variables of many categories, of which the first are frequent."""
    rng = np.random.default_rng(0)
    size = n_columns // 8
    codes = (size * rng.random((n_rows, 8)) ** 4).astype(np.int32)
    columns = codes + size * np.arange(8, dtype=np.int32)
    begin = np.arange(0, columns.size + 1, 8)
    values = np.ones(columns.size, np.float32)
    x = sp.csr_matrix((values, columns.ravel(), begin), shape=(n_rows, n_columns))
    effect = rng.standard_normal((8, size)).astype(np.float32)
    signal = effect[np.arange(8), codes].sum(axis=1) + rng.standard_normal(n_rows)
    return Table(x, (signal > 0).astype(np.float32))


_BINARY: Options = {"objective": "binary"}
_REGRESSION: Options = {"objective": "regression"}


def _classes(n: int) -> Options:
    return {"objective": "multiclass", "num_class": n}


def _dense(name: str, about: str, make: Callable[[], Table], **others: Any) -> Case:
    return Case(name, about, make, peers={**DENSE_PEERS, "xgboost": {}}, **others)


def _predict(trees: int) -> Case:
    return Case(
        f"predict_{trees}",
        f"prediction of 80,000 x 76,000 one-hot, {trees} trees",
        _one_hot,
        _BINARY,
        rounds=trees,
        timed="predict",
        peers={"lightgbm": {}, "xgboost": {}},
    )


_higgs = partial(_split, synthetic.higgs_like, 1_000_000)
_wide = partial(_split, synthetic.wide_regression, 100_000)
_flights_one_hot = partial(_sparse, real.flights)
_ROUNDS_OF_SMALL = 100

CASES: dict[str, Case] = {
    case.name: case
    for case in [
        _dense("higgs_31", "1,000,000 x 28, binary, 31 leaves", _higgs, options=_BINARY, rounds=40),
        _dense(
            "higgs_255",
            "1,000,000 x 28, binary, 255 leaves",
            _higgs,
            options={**_BINARY, "num_leaves": 255},
        ),
        _dense(
            "wide_63",
            "100,000 x 200, regression, 63 leaves",
            _wide,
            options={**_REGRESSION, "num_leaves": 63},
            rounds=30,
        ),
        _dense(
            "wide_255",
            "100,000 x 200, regression, 255 leaves",
            _wide,
            options={**_REGRESSION, "num_leaves": 255},
        ),
        _dense(
            "small_2k",
            "2,000 x 20, binary, 31 leaves, data set included",
            partial(_small, 2_000, 20),
            options=_BINARY,
            rounds=_ROUNDS_OF_SMALL,
            timed="total",
        ),
        _dense(
            "small_500",
            "500 x 10, binary, 31 leaves, data set included",
            partial(_small, 500, 10),
            options=_BINARY,
            rounds=_ROUNDS_OF_SMALL,
            timed="total",
        ),
        _dense(
            "covertype",
            "covertype, 69,722 x 54, 7 classes",
            partial(_real, "covertype_93k"),
            options=_classes(7),
            rounds=15,
        ),
        _dense(
            "letter",
            "letter, 15,000 x 16, 26 classes",
            partial(_real, "letter"),
            options=_classes(26),
            rounds=15,
        ),
        Case(
            "flights",
            "flights, 2,700,000 x 587 one-hot",
            _flights_one_hot,
            _BINARY,
            rounds=22,
            skipped=11,
            ours={GOSSAMER: {}, "gossamer_goss": GOSS},
        ),
        Case(
            "allstate",
            "Allstate-like, 250,000 x 4,228 one-hot",
            partial(_sparse, partial(generators.allstate_like, 250_000)),
            _BINARY,
            rounds=12,
        ),
        Case(
            "news20",
            "news20, 11,314 x 130,108, 20 classes",
            partial(_sparse, real.news20),
            _classes(20),
            rounds=4,
        ),
        Case(
            "categories",
            "flights with native categories, 2,700,000 x 8, 255 leaves",
            _flights,
            {**_BINARY, "num_leaves": 255, "categorical_feature": CATEGORIES["flights3m"]},
            rounds=8,
        ),
        Case(
            "lambdarank",
            "lambdarank, MSLR's sample 20 times, 200,000 x 136",
            _ranked,
            {"objective": "lambdarank"},
            peers={**LIGHTGBM, "xgboost": {"objective": "rank:ndcg"}},
        ),
        *(_predict(trees) for trees in (20, 100, 500)),
        Case(
            "higgs_31_avx2",
            "1,000,000 x 28, binary, 31 leaves, Gossamer with AVX2",
            _higgs,
            _BINARY,
            rounds=40,
            kernels="v3",
        ),
    ]
}
