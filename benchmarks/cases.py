"""The named cases: which data, how many leaves and rounds, and which time counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from benchmarks import synthetic
from benchmarks.real import load_real
from benchmarks.split import Split


@dataclass(frozen=True)
class Case:
    """One benchmark case.

    Attributes:
        name: What the command line calls it.
        about: One line for ``--list``.
        load: Makes the split from (seed, scale); scale multiplies the number of rows.
        num_leaves: Leaves per tree.
        rounds: Boosting rounds.
        fits: Fits inside one worker, of which the best counts.
        timed: "train" compares training alone, "total" the data set build and training.
    """

    name: str
    about: str
    load: Callable[[int, float], Split]
    num_leaves: int = 31
    rounds: int = 100
    fits: int = 1
    timed: Literal["train", "total"] = "train"


def _rows(make: Callable[[int, int], Split], n_rows: int, seed: int, scale: float) -> Split:
    return make(max(200, round(n_rows * scale)), seed)


def _higgs(name: str, n_rows: int, num_leaves: int) -> Case:
    about = f"higgs_like {n_rows:,} x 28, binary, {num_leaves} leaves"
    return Case(name, about, partial(_rows, synthetic.higgs_like, n_rows), num_leaves)


def _real(name: str, about: str) -> Case:
    return Case(name, f"real: {about}", partial(load_real, name))


CASES: dict[str, Case] = {
    case.name: case
    for case in [
        _higgs("higgs_1m_31", 1_000_000, 31),
        _higgs("higgs_1m_255", 1_000_000, 255),
        Case(
            "wide_100k_63",
            "wide_regression 100,000 x 200, 63 leaves",
            partial(_rows, synthetic.wide_regression, 100_000),
            num_leaves=63,
        ),
        Case(
            "small_2k",
            "small 2,000 x 20, binary, 31 leaves, build and training, best of 20 fits",
            partial(_rows, synthetic.small, 2_000),
            fits=20,
            timed="total",
        ),
        _higgs("higgs_10m_31", 10_000_000, 31),
        _higgs("higgs_10m_255", 10_000_000, 255),
        Case(
            "wide_100k_255",
            "wide_regression 100,000 x 200, 255 leaves",
            partial(_rows, synthetic.wide_regression, 100_000),
            num_leaves=255,
        ),
        _higgs("higgs_2m_31", 2_000_000, 31),
        _higgs("higgs_2m_255", 2_000_000, 255),
        _higgs("higgs_50k_31", 50_000, 31),
        Case(
            "wide_10k_31",
            "wide_regression 10,000 x 200, 31 leaves",
            partial(_rows, synthetic.wide_regression, 10_000),
        ),
        Case(
            "heavy_tail",
            "regression 50,000 x 20, target over ten orders of magnitude",
            partial(_rows, synthetic.heavy_tail, 50_000),
        ),
        _real("higgs_small", "7,601 x 28, binary"),
        _real("california_housing", "20,640 x 8, regression"),
        _real("covertype_93k", "92,962 x 54, 7 classes"),
        _real("adult", "48,842 x 6 numeric columns, binary"),
    ]
}

TABLE_CASES = ["higgs_1m_31", "higgs_1m_255", "wide_100k_63", "small_2k"]
ACCURACY_CASES = [
    "higgs_small",
    "california_housing",
    "covertype_93k",
    "adult",
    "higgs_50k_31",
    "wide_10k_31",
    "small_2k",
    "heavy_tail",
]
