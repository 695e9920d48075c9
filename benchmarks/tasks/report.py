"""The tables in Markdown."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

from benchmarks.report import make_table
from benchmarks.tasks.libraries import LIBRARIES
from benchmarks.tasks.plan import PER_TARGET, VECTOR
from benchmarks.tasks.summary import (
    OURS,
    Speed,
    summarise_accuracy,
    summarise_ranking,
    summarise_speed,
)

KINDS = ("accuracy", "ranking", "speed")
LARGEST_PERCENT = 0.5
BLOCKS = ("accuracy", "ranking", "lambdarank", "multiclass", "vector", "auc", "failed")
_NONE = "-"
Document = dict[str, Any]


def format_blocks(documents: dict[str, Document]) -> dict[str, str]:
    """All tables of what was run.

    Args:
        documents: Kind ("accuracy", "ranking", "speed") to what the command wrote.

    Returns:
        Name of a block to its Markdown; "Not run." where there is nothing.
    """
    blocks = dict.fromkeys(BLOCKS, "Not run.")
    if "accuracy" in documents:
        blocks["accuracy"] = _with_machine(documents["accuracy"], _accuracy)
    if "ranking" in documents:
        blocks["ranking"] = _with_machine(documents["ranking"], _ranking)
    if "speed" in documents:
        speed = documents["speed"]
        lines = summarise_speed(speed["runs"])
        makers = {"lambdarank": _faster, "multiclass": _faster, "vector": _vector, "auc": _auc}
        for name, make in makers.items():
            chosen = [line for line in lines if line.objective == name]
            if chosen:
                blocks[name] = "\n".join([*make(chosen), "", format_machine(speed)])
    blocks["failed"] = "\n".join(_failed(documents)) or "None."
    return blocks


def format_machine(document: Document) -> str:
    """What the figures were measured on and with."""
    machine, settings = document["machine"], document["settings"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    busy = [run["other_cpus"] for run in document["runs"] if run.get("other_cpus") is not None]
    others = (
        f"{median(busy):.2f} CPUs (at most {max(busy):.2f})"
        if busy
        else "an unknown number of CPUs"
    )
    # No limit on rows or trees is 0, which would read as none of them.
    given = {k: v for k, v in settings.items() if v or k not in ("rows", "trees")}
    said = ", ".join(f"{name} {value:g}" for name, value in given.items())
    return (
        f"{machine['cpu']}, {machine['cpus_usable']} CPUs, {machine['system']}, "
        f"{machine['date'][:10]}, commit {machine['commit']}. {versions}. {said}. "
        f"Other processes used {others}."
    )


def _with_machine(document: Document, make: Any) -> str:
    return "\n".join([*make(document), "", format_machine(document)])


def _accuracy(document: Document) -> list[str]:
    """Lines above the limit are marked; two standard errors say whether that is noise."""
    head = ["objective", "data", *LIBRARIES, "seeds", "to best peer, %", "error", "mark"]
    body = []
    for line in summarise_accuracy(document["runs"]):
        losses = [_number(line.losses.get(name)) for name in LIBRARIES]
        found = line.difference_percent
        mark = "**above**" if found is not None and found > LARGEST_PERCENT else ""
        difference = "no peer" if found is None else f"{found:+.2f}"
        error = _NONE if math.isnan(line.error_percent) else f"{line.error_percent:.2f}"
        body.append(
            [line.objective, line.data, *losses, str(line.n_seeds), difference, error, mark]
        )
    note = (
        f"Mean held-out loss, less is better. **above**: more than {LARGEST_PERCENT:g} % above the "
        "best peer. Error: standard error of the difference, paired by seed."
    )
    return [*make_table(head, body), "", note]


def _ranking(document: Document) -> list[str]:
    head = ["objective", "data", "runs", OURS, "lightgbm", "xgboost", "minus lightgbm", "error"]
    head += ["minus xgboost", "error", "mark"]
    body = []
    for line in summarise_ranking(document["runs"]):
        cells = [line.objective, line.data, str(line.n_runs)]
        cells += [_number(line.ndcg.get(name)) for name in (OURS, "lightgbm", "xgboost")]
        for peer in ("lightgbm", "xgboost"):
            mean, error = line.differences.get(peer, (math.nan, math.nan))
            cells += [_NONE if math.isnan(mean) else f"{mean:+.5f}"]
            cells += [_NONE if math.isnan(error) else f"{error:.5f}"]
        is_below = line.differences.get("lightgbm", (0.0, 0.0))[0] < 0.0
        body.append([*cells, "**below**" if is_below else ""])
    note = (
        "Mean NDCG@10 of held-out queries over seeds and folds. Error: standard error of the "
        "difference, paired by run. **below**: less than LightGBM's."
    )
    return [*make_table(head, body), "", note]


def _faster(lines: list[Speed]) -> list[str]:
    """Milliseconds a round; LightGBM's faster layout."""
    names = [OURS, "lightgbm", "xgboost"]
    head = ["data", *(f"{name}, ms a round" for name in names), "lightgbm / gossamer"]
    head += ["xgboost / gossamer", *(f"{name}, loss" for name in names)]
    body = []
    for data, by_name in _by_data(lines).items():
        times = {name: line.round_s for name, line in by_name.items()}
        ratios = [_ratio(times.get(peer), times.get(OURS)) for peer in names[1:]]
        losses = [by_name[name].loss if name in by_name else None for name in names]
        body.append(
            [
                data,
                *(_milliseconds(times.get(name)) for name in names),
                *(_NONE if ratio is None else f"{ratio:.2f}" for ratio in ratios),
                *(_number(loss) for loss in losses),
            ]
        )
    return make_table(head, body)


def _vector(lines: list[Speed]) -> list[str]:
    head = ["data", "contender", "ms a round", "best round", "s to the best round", "loss there"]
    body, verdicts = [], []
    for data, by_name in _by_data(lines).items():
        for name, line in by_name.items():
            cells = [data, name, _milliseconds(line.round_s), str(line.n_best)]
            body.append([*cells, f"{line.best_s:.2f}", _number(line.loss)])
        if PER_TARGET in by_name and VECTOR in by_name:
            apart, together = by_name[PER_TARGET], by_name[VECTOR]
            per_round, total = apart.round_s / together.round_s, apart.best_s / together.best_s
            worse = 100.0 * (together.loss / apart.loss - 1.0)
            verdicts.append(
                f"- {data}: with vector leaves a round is {per_round:.2f} times as fast, training "
                f"up to the best round {total:.2f} times; the loss differs by {worse:+.2f} %."
            )
    return [*make_table(head, body), "", *verdicts]


def _auc(lines: list[Speed]) -> list[str]:
    head = ["data", "contender", "AUC, ms", "one tree, ms", "AUC / tree"]
    body = []
    for line in lines:
        ratio = _ratio(line.metric_s, line.round_s)
        times = [_milliseconds(line.metric_s), _milliseconds(line.round_s)]
        shown = _NONE if ratio is None else f"{ratio:.2f}"
        body.append([line.data, line.contender, *times, shown])
    return make_table(head, body)


def _failed(documents: dict[str, Document]) -> list[str]:
    found = [
        f"- {run['objective']} on {run['data']}, {run['contender']}: {run['error']}"
        for document in documents.values()
        for run in document["runs"]
        if "error" in run
    ]
    return list(dict.fromkeys(found))


def _by_data(lines: list[Speed]) -> dict[str, dict[str, Speed]]:
    found: dict[str, dict[str, Speed]] = {}
    for line in lines:
        found.setdefault(line.data, {})[line.contender] = line
    return found


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.6g}"


def _milliseconds(value: float | None) -> str:
    return _NONE if value is None else f"{1000.0 * value:.2f}"
