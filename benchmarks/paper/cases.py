"""The data sets: what they stand for in the paper, how they are made, how they are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks import synthetic
from benchmarks.paper import generators, real
from benchmarks.paper.problem import Problem

MIN_ROWS = 200


@dataclass(frozen=True)
class Case:
    """One data set.

    Attributes:
        name: What the command line and the tables call it.
        about: One line for ``--list``.
        stands_for: The paper's data set, or "" for one of ours.
        make: Makes the problem; the argument is a factor on its size.
        metric: The metric that counts.
        top_rate: Share of rows with the largest gradients that GOSS keeps.
        other_rate: Share of all rows that GOSS draws from the others.
        left_out: Modes that cannot be run on it.
        in_default: Whether it is run when no cases are named.
        has_curve: Whether accuracy over time is wanted, for the figures.
    """

    name: str
    about: str
    stands_for: str
    make: Callable[[float], Problem]
    metric: str = "auc"
    top_rate: float = 0.1
    other_rate: float = 0.1
    left_out: frozenset[str] = frozenset()
    in_default: bool = True
    has_curve: bool = False

    @property
    def share(self) -> float:
        """Share of the rows that a sampling variant uses."""
        return self.top_rate + self.other_rate


def _n_rows(n_rows: int, scale: float) -> int:
    return max(MIN_ROWS, round(n_rows * scale))


def _allstate(n_rows: int, scale: float) -> Problem:
    return generators.allstate_like(_n_rows(n_rows, scale))


def _kdd(n_rows: int, n_columns: int, scale: float) -> Problem:
    # Columns shrink with the rows: the sparsity of a column is what the case is about.
    return generators.kdd_like(_n_rows(n_rows, scale), _n_rows(n_columns, scale))


def _higgs(n_rows: int, scale: float) -> Problem:
    return Problem.from_split(synthetic.higgs_like(_n_rows(n_rows, scale), seed=0))


def _real(read: Callable[[], Problem], scale: float) -> Problem:
    return read().shrink(scale)


# Dense bins: 4 GiB and half a minute a round on the large Allstate, 10^12 bins on KDD.
_NO_DENSE = frozenset({"dense"})

CASES: dict[str, Case] = {
    case.name: case
    for case in [
        Case(
            "allstate_250k",
            "generated, 250,000 x 4,228 one-hot",
            "Allstate",
            partial(_allstate, 250_000),
            top_rate=0.05,
            other_rate=0.05,
        ),
        Case(
            "allstate_1m",
            "generated, 1,000,000 x 4,228 one-hot",
            "Allstate",
            partial(_allstate, 1_000_000),
            top_rate=0.05,
            other_rate=0.05,
            left_out=_NO_DENSE,
        ),
        Case(
            "allstate_4m",
            "generated, 4,000,000 x 4,228 one-hot",
            "Allstate",
            partial(_allstate, 4_000_000),
            top_rate=0.05,
            other_rate=0.05,
            left_out=_NO_DENSE,
            in_default=False,
        ),
        Case(
            "flights",
            "real: 3,000,000 x 587 one-hot, late by more than 15 minutes",
            "Flight Delay",
            partial(_real, real.flights),
            has_curve=True,
        ),
        Case(
            "mslr",
            "real: MSLR-WEB30K, a sample of 10,000 x 136, labels as numbers",
            "LETOR",
            partial(_real, real.mslr),
            metric="ndcg10",
            has_curve=True,
        ),
        Case(
            "mq2008",
            "real: LETOR MQ2008, 15,211 x 46, labels as numbers",
            "LETOR",
            partial(_real, real.mq2008),
            metric="ndcg10",
            has_curve=True,
        ),
        Case(
            "kdd_1m",
            "generated, 1,000,000 x 1,000,000, 30 non-zeros in a row",
            "KDD10, KDD12",
            partial(_kdd, 1_000_000, 1_000_000),
            left_out=_NO_DENSE,
        ),
        Case(
            "kdd_300k",
            "generated, 300,000 x 100,000, 30 non-zeros in a row",
            "KDD10, KDD12",
            partial(_kdd, 300_000, 100_000),
            left_out=_NO_DENSE,
        ),
        Case(
            "kdd04_bio",
            "real: KDD Cup 2004 protein homology, 145,751 x 74, dense",
            "",
            partial(_real, real.kdd04_bio),
        ),
        Case(
            "news20",
            "real: word counts of 20 newsgroups, 18,846 x 130,108, 20 classes",
            "",
            partial(_real, real.news20),
            metric="mlogloss",
        ),
        Case(
            "higgs_1m",
            "generated, 1,000,000 x 28, dense",
            "",
            partial(_higgs, 1_000_000),
        ),
    ]
}
DEFAULT_CASES = [case.name for case in CASES.values() if case.in_default]
# The paper compares GOSS and SGB on LETOR, of which there is too little here to tell them apart.
SAMPLING_CASES = ["mslr", "mq2008", "kdd04_bio", "allstate_250k"]
