"""From raw runs to figures: best times, means over seeds, paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, median, stdev
from typing import Any

from benchmarks.paper.metrics import HIGHER_IS_BETTER
from benchmarks.paper.variants import family_members

WARM_UP_ROUNDS = 10  # GOSS uses all rows in the first 1 / learning_rate rounds
NO_EFFECT = "sampling had no effect: the trees are those of all rows"
_AFTER_FIRST = 1  # the first round makes what later ones find ready


@dataclass(frozen=True)
class Mean:
    """A mean, the standard deviation of the values and the number of them."""

    value: float
    deviation: float
    n: int

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.deviation / math.sqrt(self.n)


def mean_of(values: Iterable[float]) -> Mean:
    """Mean and standard deviation; the deviation of a single value is NaN."""
    listed = list(values)
    return Mean(mean(listed), stdev(listed) if len(listed) > 1 else float("nan"), len(listed))


def mean_gain(metric: str, ours: dict[int, float], theirs: dict[int, float]) -> Mean | None:
    """Mean difference, paired by seed; above 0: ours is better, whichever way the metric points."""
    shared = sorted(ours.keys() & theirs.keys())
    sign = 1.0 if metric in HIGHER_IS_BETTER else -1.0
    return mean_of(sign * (ours[s] - theirs[s]) for s in shared) if shared else None


def good_runs(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs whose figures count: they ended, and sampling had an effect where asked for."""
    failed = {id(run) for run, _ in failed_runs(document)}
    return [run for run in document["runs"] if id(run) not in failed]


def failed_runs(document: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """The runs that do not count, each with the reason.

    A library that takes the parameters of sampling and uses all rows nevertheless would look
    accurate. So a sampled run whose trees are those of all rows has failed, unless it ended
    before GOSS starts to sample.
    """
    all_rows = {
        (run["case"], run["library"], rounds, digest)
        for run in document["runs"]
        if "error" not in run and not run["sampling"]
        for rounds, digest in run["digests"].items()
        if digest is not None and int(rounds) > WARM_UP_ROUNDS
    }
    failed = []
    for run in document["runs"]:
        if "error" in run:
            failed.append((run, str(run["error"])))
        elif run["sampling"] and any(
            (run["case"], run["library"], *item) in all_rows for item in run["digests"].items()
        ):
            failed.append((run, NO_EFFECT))
    return failed


class Results:
    """The runs of a document by case and variant; failed ones are left out."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.data: dict[str, dict[str, Any]] = document["data"]
        self._runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for run in good_runs(document):
            self._runs.setdefault((run["case"], run["variant"]), []).append(run)

    def cases(self) -> list[str]:
        """Cases with at least one run, in the order in which they were first run."""
        return list(dict.fromkeys(case for case, _ in self._runs))

    def runs(self, case: str, variant: str) -> list[dict[str, Any]]:
        """All runs of a variant."""
        return self._runs.get((case, variant), [])

    def timed(self, case: str, variant: str) -> list[dict[str, Any]]:
        """The runs whose times count."""
        return [run for run in self.runs(case, variant) if run["is_timed"]]

    def n_rounds(self, case: str, variant: str) -> int:
        """Rounds that all timed runs of a variant did; 0 where there are none."""
        return min((len(run["round_s"]) for run in self.timed(case, variant)), default=0)

    def round_seconds(
        self, case: str, variant: str, first: int = _AFTER_FIRST, last: int | None = None
    ) -> float | None:
        """Mean seconds of a round, of the best run.

        Args:
            case: The case.
            variant: The variant.
            first: Rounds before this one do not count.
            last: Rounds from this one on do not count.

        Returns:
            Seconds, or None where there is nothing to average.
        """
        spans = [run["round_s"][first:last] for run in self.timed(case, variant)]
        return min((mean(span) for span in spans if span), default=None)

    def speed_up(self, case: str, slow: str, fast: str, first: int = _AFTER_FIRST) -> float | None:
        """Seconds of a round of one variant / of another, over the rounds that both did."""
        last = min(self.n_rounds(case, slow), self.n_rounds(case, fast))
        numerator = self.round_seconds(case, slow, first, last)
        denominator = self.round_seconds(case, fast, first, last)
        return numerator / denominator if numerator and denominator else None

    def best_of(self, case: str, family: str) -> str:
        """The fastest variant of those that do the same work; the family's name without runs."""
        found = {
            name: seconds
            for name in family_members(family)
            if (seconds := self.train_seconds(case, name)) is not None
        }
        return min(found, key=found.__getitem__) if found else family

    def train_seconds(self, case: str, variant: str) -> float | None:
        """Seconds of a whole training, of the best run."""
        return min((run["train_s"] for run in self.timed(case, variant)), default=None)

    def build_seconds(self, case: str, variant: str) -> float | None:
        """Seconds to construct the data set, of the best run."""
        return min((run["build_s"] for run in self.timed(case, variant)), default=None)

    def peak_bytes(self, case: str, variant: str) -> float | None:
        """Peak memory over the input, the median of the runs."""
        found = [run["peak_over_input_bytes"] for run in self.timed(case, variant)]
        return median(found) if found else None

    def least(self, what: str, case: str, family: str) -> float | None:
        """The least "build_seconds", "train_seconds" or "peak_bytes" in a family."""
        found = [getattr(self, what)(case, name) for name in family_members(family)]
        return min((value for value in found if value is not None), default=None)

    def scores(self, case: str, variant: str, metric: str) -> dict[int, float]:
        """Seed to metric; runs over fewer rounds than the case's others do not count."""
        everything = [run for (name, _), runs in self._runs.items() if name == case for run in runs]
        rounds = max((run["rounds"] for run in everything), default=0)
        return {
            run["seed"]: run["metrics"][metric]
            for run in self.runs(case, variant)
            if run["rounds"] == rounds and metric in run["metrics"]
        }

    def digest(self, case: str, variant: str, rounds: int) -> str | None:
        """Digest of the model after some rounds, of the run with the first seed."""
        for run in self.runs(case, variant):
            if run["seed"] == 0 and str(rounds) in run["digests"]:
                found: str | None = run["digests"][str(rounds)]
                return found
        return None

    def other_cpus(self) -> list[float]:
        """CPUs that other processes kept busy during each timed run, where known."""
        runs = [run for found in self._runs.values() for run in found if run["is_timed"]]
        return [run["other_cpus"] for run in runs if run["other_cpus"] is not None]


@dataclass(frozen=True)
class Share:
    """GOSS beside SGB at one share of the rows.

    Attributes:
        case: The case.
        library: The library.
        share: Share of the rows that are used; 1 is all of them.
        metric: What is compared.
        scores: Way to draw rows to its mean; "all" is all rows.
        gain: Mean gain of "goss" over "sgb", paired by seed.
    """

    case: str
    library: str
    share: float
    metric: str
    scores: dict[str, Mean]
    gain: Mean | None


def compare_sampling(document: dict[str, Any], at: str = "best") -> list[Share]:
    """Compares ways to draw rows at equal shares.

    Args:
        document: What ``goss-vs-sgb`` wrote.
        at: "best" takes each run's best round, as the paper does; "final" the last one.

    Returns:
        One entry for each case, library and share, by share.
    """
    found: dict[tuple[str, str, float], dict[str, dict[int, float]]] = {}
    metric_of: dict[str, str] = {}
    for run in good_runs(document):
        metric_of[run["case"]] = metric = run["metric"]
        ways = found.setdefault((run["case"], run["library"], run["share"]), {})
        ways.setdefault(run["sampling"] or "all", {})[run["seed"]] = _score(run, metric, at)
    return [
        Share(
            case,
            library,
            share,
            metric_of[case],
            {way: mean_of(scores.values()) for way, scores in ways.items()},
            mean_gain(metric_of[case], ways.get("goss", {}), ways.get("sgb", {})),
        )
        for (case, library, share), ways in sorted(found.items(), key=lambda item: item[0][2])
    ]


def _score(run: dict[str, Any], metric: str, at: str) -> float:
    values = [run["metrics"][metric]]
    if at == "best":
        values += [point[metric] for point in run["curve"]]
    return float(max(values) if metric in HIGHER_IS_BETTER else min(values))
