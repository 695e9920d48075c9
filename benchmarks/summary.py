"""Raw runs to one row per case and contender: best times, ratios to the reference."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.cases import CASES
from benchmarks.runners import CONTENDERS

REFERENCE = "gossamer"
STAND_IN = "lightgbm"  # the reference where there is no Gossamer


@dataclass(frozen=True)
class Row:
    """The best of one contender's runs on one case; times in seconds.

    Attributes:
        time_s: The time that is compared: training, or the total where the case says so.
        peak_bytes: Median over the runs of the peak memory over the input.
        other_cpus: CPUs that other processes kept busy during the run that gave time_s, if known.
    """

    case: str
    contender: str
    family: str
    n_runs: int
    n_rows: int
    n_columns: int
    build_s: float
    train_s: float
    total_s: float
    predict_s: float
    time_s: float
    peak_bytes: float
    other_cpus: float | None
    metrics: dict[str, float]


def summarise(runs: list[dict[str, Any]]) -> list[Row]:
    """Takes the best of the runs of each contender on each case.

    Args:
        runs: Raw runs; failed ones are left out.

    Returns:
        Rows in the order in which cases were run and contenders are listed.
    """
    cases = list(dict.fromkeys(run["case"] for run in runs))
    rows = []
    for case in cases:
        for contender in CONTENDERS:
            good = [
                run
                for run in runs
                if run["case"] == case and run["contender"] == contender and "error" not in run
            ]
            if good:
                rows.append(_best(case, contender, good))
    return rows


def _best(case: str, contender: str, runs: list[dict[str, Any]]) -> Row:
    timed_total = CASES[case].timed == "total"
    fastest = min(runs, key=_best_total if timed_total else _best_train)
    train_s, total_s = min(map(_best_train, runs)), min(map(_best_total, runs))
    return Row(
        case=case,
        contender=contender,
        family=CONTENDERS[contender].family,
        n_runs=len(runs),
        n_rows=runs[0]["n_rows"],
        n_columns=runs[0]["n_columns"],
        build_s=min(min(run["build_s"]) for run in runs),
        train_s=train_s,
        total_s=total_s,
        predict_s=min(min(run["predict_s"]) for run in runs),
        time_s=total_s if timed_total else train_s,
        peak_bytes=median(run["peak_over_input_bytes"] for run in runs),
        other_cpus=fastest["other_cpus"],
        metrics=runs[0]["metrics"],
    )


def _best_train(run: dict[str, Any]) -> float:
    return float(min(run["train_s"]))


def _best_total(run: dict[str, Any]) -> float:
    pairs = zip(run["build_s"], run["train_s"], strict=True)
    return float(min(build + train for build, train in pairs))


def find_reference(rows: list[Row], case: str) -> Row | None:
    """The row that others are divided by: Gossamer, or else LightGBM's faster layout."""
    for family in (REFERENCE, STAND_IN):
        best = best_of_family(rows, case, family)
        if best is not None:
            return best
    return None


def best_of_family(rows: list[Row], case: str, family: str) -> Row | None:
    """The fastest mode of a library on a case."""
    members = [row for row in rows if row.case == case and row.family == family]
    return min(members, key=lambda row: row.time_s, default=None)


def families_of(rows: list[Row]) -> list[str]:
    """Families in the order of the rows."""
    return list(dict.fromkeys(row.family for row in rows))
