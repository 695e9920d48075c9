"""From runs to figures: best times, means over seeds and folds, paired differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmarks.tasks.launch import library_of
from benchmarks.tasks.summary import OURS
from benchmarks.tasks.summary import _standard_error as standard_error

Run = dict[str, Any]
Figure = Callable[[Run], float]
Place = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """The libraries on one mode and data set.

    Attributes:
        mode: What is shown.
        data: The data set.
        runs: Runs by library; a library's contenders (LightGBM's layouts) are one.
    """

    mode: str
    data: str
    runs: dict[str, list[Run]]

    def best(self, library: str, *keys: str) -> float:
        """Least sum of a run's figures; NaN where a library has no run."""
        sums = [sum(run[key] for key in keys) for run in self.runs.get(library, [])]
        return min(sums, default=math.nan)

    def time_ratio(self, peer: str, *keys: str) -> float:
        """A peer's best seconds divided by ours: above 1, ours are fewer."""
        ours = self.best(OURS, *keys)
        return self.best(peer, *keys) / ours if ours else math.nan

    def mean(self, library: str, figure: Figure) -> float:
        """Mean over the places that all libraries finished; NaN where a library has no run."""
        values, places = self._by_place(library, figure), self.places()
        return fmean([values[place] for place in places]) if values and places else math.nan

    def places(self) -> list[Place]:
        """Seeds and folds that all libraries finished."""
        found = [set(self._by_place(name, lambda run: 0.0)) for name in self.runs]
        return sorted(set.intersection(*found)) if found else []

    def difference(self, peer: str, figure: Figure) -> tuple[float, float]:
        """Ours to a peer's in percent of the peer's: mean of the pairs, and its standard error."""
        if not {OURS, peer} <= set(self.runs):
            return math.nan, math.nan
        ours, theirs = self._by_place(OURS, figure), self._by_place(peer, figure)
        percent = [100.0 * (ours[k] / theirs[k] - 1.0) for k in sorted(set(ours) & set(theirs))]
        return (fmean(percent), standard_error(percent)) if percent else (math.nan, math.nan)

    def total(self, library: str, key: str) -> int:
        """Sum of a figure over all runs."""
        return int(sum(run[key] for run in self.runs.get(library, [])))

    def _by_place(self, library: str, figure: Figure) -> dict[Place, float]:
        """A figure at each seed and fold, over repeats and layouts."""
        found: dict[Place, list[float]] = {}
        for run in self.runs.get(library, []):
            found.setdefault((run["seed"], run["fold"]), []).append(figure(run))
        return {place: fmean(values) for place, values in found.items()}


def summarise(runs: Iterable[Run]) -> list[Line]:
    """One line for each mode and data set, in the order of the runs; failed runs do not count."""
    found: dict[tuple[str, str], dict[str, list[Run]]] = {}
    for run in runs:
        if "error" not in run:
            libraries = found.setdefault((run["mode"], run["data"]), {})
            libraries.setdefault(library_of(run["contender"]), []).append(run)
    return [Line(mode, data, libraries) for (mode, data), libraries in found.items()]


def loss_of(run: Run) -> float:
    """The held-out loss; less is better."""
    return float(run["loss"])


def metric(name: str) -> Figure:
    """One of the metrics."""
    return lambda run: float(run["metrics"][name])
