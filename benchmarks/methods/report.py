"""The tables in Markdown."""

from __future__ import annotations

from statistics import fmean

from benchmarks.methods.data import ACCURACY
from benchmarks.methods.plan import (
    EPSILONS,
    EXACT,
    HIST,
    METHODS,
    PEER,
    PROPOSALS,
    approx_name,
    speed_name,
)
from benchmarks.paper.metrics import HIGHER_IS_BETTER
from benchmarks.paper.store import Document
from benchmarks.paper.summary import Results, mean_gain
from benchmarks.report import make_table
from benchmarks.tasks.report import format_machine

KINDS = ("accuracy", "speed")
BLOCKS = ("accuracy", "candidates", "speed", "failed")
_OURS, _THEIRS = "gossamer", "xgboost"
_TITLES = {EXACT: "exact", HIST: "hist, 255 bins", PEER: "XGBoost exact"}
_APPROX = [approx_name(p, eps) for eps in EPSILONS for p in PROPOSALS]
_MIB = 2**20
_NONE = "-"


def format_blocks(documents: dict[str, Document]) -> dict[str, str]:
    """All tables of what was run.

    Args:
        documents: Kind ("accuracy", "speed") to what the command wrote.

    Returns:
        Name of a block to its Markdown; "Not run." where there is nothing.
    """
    blocks = dict.fromkeys(BLOCKS, "Not run.")
    makers = {"accuracy": _accuracy, "speed": _speed}
    for kind, document in documents.items():
        lines = makers[kind](Results(document))
        blocks[kind] = "\n".join([*lines, "", format_machine(document)])
        if kind == "accuracy":
            blocks["candidates"] = "\n".join(_candidates(Results(document)))
    failed = [
        f"- {run['variant']} on {run['case']}: {run['error']}"
        for document in documents.values()
        for run in document["runs"]
        if "error" in run
    ]
    blocks["failed"] = "\n".join(dict.fromkeys(failed)) or "None."
    return blocks


def accuracy_cases(results: Results) -> list[str]:
    """The data sets that were run, in the order of the plan."""
    return [case for case in ACCURACY if case in results.cases()]


def shared_seeds(results: Results, case: str) -> set[int]:
    """The splits of a data set that all who were run on it have finished."""
    metric, variants = ACCURACY[case][0], [EXACT, HIST, *_APPROX, PEER]
    found = [set(results.scores(case, variant, metric)) for variant in variants]
    return set.intersection(*filter(None, found)) if any(found) else set()


def shared_scores(results: Results, case: str, variant: str) -> dict[int, float]:
    """Seed to the metric after the last round, of the splits that all have finished."""
    seeds = shared_seeds(results, case)
    found = results.scores(case, variant, ACCURACY[case][0])
    return {seed: value for seed, value in found.items() if seed in seeds}


def title_of(variant: str) -> str:
    """What tables and the figure call a contender of the accuracy benchmark."""
    if variant in _TITLES:
        return _TITLES[variant]
    _, proposal, eps = variant.split("_")
    return f"{proposal}, eps {eps}"


def _accuracy(results: Results) -> list[str]:
    cases = accuracy_cases(results)
    head = ["split candidates"]
    for case in cases:
        head += [f"{case}, {metric_title(case)}", "to exact, %", "error"]
    body = []
    for variant in [EXACT, HIST, *_APPROX, PEER]:
        cells = [title_of(variant)]
        for case in cases:
            metric = ACCURACY[case][0]
            scores = shared_scores(results, case, variant)
            exact = shared_scores(results, case, EXACT)
            gain = mean_gain(metric, scores, exact)
            if gain is None:
                cells += [f"{fmean(scores.values()):.5f}" if scores else _NONE, _NONE, _NONE]
                continue
            percent = 100.0 / fmean(exact[seed] for seed in scores.keys() & exact.keys())
            difference = "" if variant == EXACT else f"{percent * gain.value:+.2f}"
            error = "" if variant == EXACT or gain.n < 2 else f"{percent * gain.error:.2f}"
            cells += [f"{fmean(scores.values()):.5f}", difference, error]
        if any(cell not in ("", _NONE) for cell in cells[1:]):
            body.append(cells)
    seeds = ", ".join(f"{case} {len(shared_seeds(results, case))}" for case in cases)
    note = (
        "Held-out rows after the last round, mean over random splits of the data "
        f"({seeds}); to exact: above 0 is better than `exact`, whichever way the metric points; "
        "error: standard error of that difference, paired by split."
    )
    return [*make_table(head, body), "", note]


def _candidates(results: Results) -> list[str]:
    """For each eps of global proposals, the coarsest local ones that are as good."""
    head = ["at least as good as", *(f"global, eps {eps:g}" for eps in EPSILONS)]
    body = []
    for case in accuracy_cases(results):
        cells = [case]
        for eps in EPSILONS:
            match = matching_local(results, case, eps)
            cells.append(_NONE if match is None else f"local, eps {match:g}")
        body.append(cells)
    return make_table(head, body)


def matching_local(results: Results, case: str, eps: float) -> float | None:
    """The largest eps of local proposals that is, on average, as good as a global one."""
    metric = ACCURACY[case][0]
    theirs = shared_scores(results, case, approx_name("global", eps))
    for candidate in EPSILONS:
        ours = shared_scores(results, case, approx_name("local", candidate))
        gain = mean_gain(metric, ours, theirs)
        if gain is not None and gain.value >= 0.0:
            return candidate
    return None


def _speed(results: Results) -> list[str]:
    head = ["data", "method", "ms a round", "XGBoost", "times faster"]
    head += ["ms a round with set-up", "XGBoost", "times faster", "peak MiB", "XGBoost"]
    head += ["log loss", "XGBoost"]
    body = []
    for case in results.cases():
        for method in METHODS:
            names = [speed_name(library, method) for library in (_OURS, _THEIRS)]
            if not any(results.runs(case, name) for name in names):
                continue
            rounds = [results.round_seconds(case, name) for name in names]
            whole = [_whole_seconds(results, case, name) for name in names]
            peaks = [results.peak_bytes(case, name) for name in names]
            losses = [results.scores(case, name, "logloss").get(0) for name in names]
            body.append(
                [
                    case,
                    method,
                    *map(_milliseconds, rounds),
                    _times(_ratio(rounds)),
                    *map(_milliseconds, whole),
                    _times(_ratio(whole)),
                    *(_NONE if peak is None else f"{peak / _MIB:,.0f}" for peak in peaks),
                    *(_NONE if loss is None else f"{loss:.5f}" for loss in losses),
                ]
            )
    note = (
        "Best of the repeats. A round: the mean over all rounds but the first. With set-up: the "
        "time to construct the data set and train, divided by the number of rounds. Peak: memory "
        "beyond the input. Log loss on held-out rows."
    )
    return [*make_table(head, body), "", note]


def _whole_seconds(results: Results, case: str, variant: str) -> float | None:
    """Construction and training of the best run, divided by its rounds."""
    found = [
        (run["build_s"] + run["train_s"]) / run["rounds"] for run in results.timed(case, variant)
    ]
    return min(found, default=None)


def metric_title(case: str) -> str:
    """The metric of a data set, and which way it points."""
    titles = {"auc": "AUC", "rmse": "RMSE", "mlogloss": "log loss"}
    metric = ACCURACY[case][0]
    arrow = "more" if metric in HIGHER_IS_BETTER else "less"
    return f"{titles[metric]} ({arrow} is better)"


def _ratio(ours_theirs: list[float | None]) -> float | None:
    ours, theirs = ours_theirs
    return theirs / ours if ours and theirs else None


def _times(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"


def _milliseconds(value: float | None) -> str:
    return _NONE if value is None else f"{1000.0 * value:.1f}"
