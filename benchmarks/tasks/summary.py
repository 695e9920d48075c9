"""From runs to figures: means over seeds, paired differences, best times."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from benchmarks.tasks.launch import library_of

OURS = "gossamer"
Run = dict[str, Any]


@dataclass(frozen=True)
class Accuracy:
    """Losses of one objective on one data set.

    Attributes:
        objective: The objective.
        data: The data set.
        losses: Mean held-out loss by contender, over the seeds that all of them finished.
        n_seeds: Their number.
        error_percent: Standard error of `difference_percent` over the seeds; NaN for one seed.
    """

    objective: str
    data: str
    losses: dict[str, float]
    n_seeds: int
    error_percent: float

    @property
    def best_peer(self) -> str | None:
        """The peer of least loss."""
        peers = {name: loss for name, loss in self.losses.items() if name != OURS}
        return min(peers, key=peers.__getitem__) if peers else None

    @property
    def difference_percent(self) -> float | None:
        """Loss above the best peer's, in percent of it; None without a peer."""
        best = self.best_peer
        if best is None or OURS not in self.losses:
            return None
        return 100.0 * (self.losses[OURS] - self.losses[best]) / abs(self.losses[best])


@dataclass(frozen=True)
class Ranked:
    """NDCG@10 of one objective on one data set.

    Attributes:
        objective: The objective.
        data: The data set.
        ndcg: Mean by contender, over the runs that all of them finished.
        n_runs: Their number: seeds times folds.
        differences: Ours less a peer's: mean and standard error, paired by run.
    """

    objective: str
    data: str
    ndcg: dict[str, float]
    n_runs: int
    differences: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Speed:
    """Best times of one contender on one case.

    Attributes:
        objective: The group of figures.
        data: The data set.
        contender: Who.
        round_s: Least seconds a round.
        best_s: Least seconds of training up to the best round.
        n_best: The best round.
        loss: Loss at the best round.
        metric_s: Least seconds of the metric, where it was timed.
    """

    objective: str
    data: str
    contender: str
    round_s: float
    best_s: float
    n_best: int
    loss: float
    metric_s: float | None


def summarise_accuracy(runs: Iterable[Run]) -> list[Accuracy]:
    """One line for each objective and data set, in the order of the runs."""
    found = []
    for (objective, data), by_place in _by_case(runs).items():
        losses = {name: fmean(values) for name, values in by_place.items()}
        found_one = Accuracy(objective, data, losses, _n_values(by_place), math.nan)
        best = found_one.best_peer
        if best is not None and OURS in by_place:
            pairs = zip(by_place[OURS], by_place[best], strict=True)
            error = _standard_error([100.0 * (a - b) / abs(losses[best]) for a, b in pairs])
            found_one = Accuracy(objective, data, losses, found_one.n_seeds, error)
        found.append(found_one)
    return found


def summarise_ranking(runs: Iterable[Run]) -> list[Ranked]:
    """One line for each objective and data set."""
    found = []
    for (objective, data), by_place in _by_case(runs).items():
        ndcg = {name: 1.0 - fmean(values) for name, values in by_place.items()}
        differences = {}
        for name, values in by_place.items():
            if name != OURS and OURS in by_place:
                gains = [b - a for a, b in zip(by_place[OURS], values, strict=True)]
                differences[name] = fmean(gains), _standard_error(gains)
        found.append(Ranked(objective, data, ndcg, _n_values(by_place), differences))
    return found


def summarise_speed(runs: Iterable[Run]) -> list[Speed]:
    """One line for each case and contender; LightGBM's layouts are one, the faster."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        if "error" not in run:
            name = run["contender"]
            who = library_of(name) if name in ("lightgbm_row", "lightgbm_col") else name
            groups.setdefault((run["objective"], run["data"], who), []).append(run)
    found = []
    for (objective, data, who), group in groups.items():
        fastest = min(group, key=lambda run: run["rounds_s"] / run["n_rounds"])
        metric = [run["metric_s"] for run in group if "metric_s" in run]
        found.append(
            Speed(
                objective,
                data,
                who,
                fastest["rounds_s"] / fastest["n_rounds"],
                min(run["best_s"] for run in group),
                fastest["n_best"],
                fastest["loss"],
                min(metric) if metric else None,
            )
        )
    return found


def _by_case(runs: Iterable[Run]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Losses of each contender in one order of (seed, fold), only where none is missing.

    A contender without any result is left out, and does not make the others' vanish.
    """
    cases: dict[tuple[str, str], dict[str, dict[tuple[int, int], float]]] = {}
    for run in runs:
        if "error" not in run:
            case = cases.setdefault((run["objective"], run["data"]), {})
            case.setdefault(run["contender"], {})[run["seed"], run["fold"]] = run["loss"]
    found = {}
    for key, case in cases.items():
        shared = sorted(set.intersection(*(set(places) for places in case.values())))
        if shared:
            found[key] = {name: [places[k] for k in shared] for name, places in case.items()}
    return found


def _n_values(by_place: dict[str, list[float]]) -> int:
    return len(next(iter(by_place.values())))


def _standard_error(values: list[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
