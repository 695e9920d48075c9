"""The tables in Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from benchmarks.modes.summary import Line, loss_of, metric, summarise
from benchmarks.report import make_table
from benchmarks.tasks.report import format_machine
from benchmarks.tasks.summary import OURS

KINDS = ("categories", "cardinality", "monotone", "boosters", "cv")
BLOCKS = (*KINDS, "failed")
_ONLY_CATBOOST = "amazon_access"  # the only one that the others are not to be compared with
_PEER = "lightgbm"
_NONE = "-"
Document = dict[str, Any]


def format_blocks(documents: dict[str, Document]) -> dict[str, str]:
    """All tables of what was run.

    Args:
        documents: Kind to what the command wrote.

    Returns:
        Name of a block to its Markdown; "Not run." where there is nothing.
    """
    makers: dict[str, Callable[[list[Line]], list[str]]] = {
        "categories": _categories,
        "cardinality": _cardinality,
        "monotone": _monotone,
        "boosters": _boosters,
        "cv": _cv,
    }
    blocks = dict.fromkeys(BLOCKS, "Not run.")
    for kind, document in documents.items():
        lines = makers[kind](summarise(document["runs"]))
        blocks[kind] = "\n".join([*lines, "", format_machine(document)])
    failed = [
        f"- {run['mode']} on {run['data']}, {run['contender']}: {run['error']}"
        for document in documents.values()
        for run in document["runs"]
        if "error" in run
    ]
    blocks["failed"] = "\n".join(dict.fromkeys(failed)) or "None."
    return blocks


def _categories(lines: list[Line]) -> list[str]:
    head = ["data", "seeds", f"{OURS}, s", f"{_PEER}, s", "times faster", f"{OURS}, build s"]
    head += [f"{_PEER}, build s", f"{OURS}, AUC", f"{_PEER}, AUC", "difference, %", "error"]
    body = []
    for line in lines:
        ratio = line.time_ratio(_PEER, "train_s")
        mean, error = line.difference(_PEER, metric("auc"))
        body.append(
            [
                line.data,
                str(len(line.places())),
                *_seconds(line, "train_s"),
                _ratio(ratio),
                *_seconds(line, "build_s"),
                *(_fixed(line.mean(name, metric("auc")), 5) for name in (OURS, _PEER)),
                _percent(mean, 3),
                _fixed(error, 3),
            ]
        )
    note = (
        "Training time in seconds, the best of the seeds and of LightGBM's two layouts. AUC on "
        "held-out rows. Error: standard error of the difference, paired by seed."
    )
    return [*make_table(head, body), "", note]


def _cardinality(lines: list[Line]) -> list[str]:
    names = (OURS, _PEER, "catboost")
    head = [
        "data",
        "metric",
        "folds",
        *names,
        "peer",
        "difference, %",
        "error",
    ]
    body = []
    for line in lines:
        is_binary = "auc" in next(iter(line.runs.values()))[0]["metrics"]
        chosen = metric("auc" if is_binary else "accuracy")
        means = {name: line.mean(name, chosen) for name in names if name in line.runs}
        among = ("catboost",) if line.data == _ONLY_CATBOOST else names[1:]
        peers = {name: value for name, value in means.items() if name in among}
        best = max(peers, key=peers.__getitem__) if peers else _NONE
        mean, error = line.difference(best, chosen)
        cells = [line.data, "AUC" if is_binary else "accuracy", str(len(line.places()))]
        cells += [_number(means.get(name)) for name in names]
        body.append([*cells, best, _percent(mean, 2), _fixed(error, 2)])
        losses = {name: line.mean(name, loss_of) for name in means}
        mean, error = line.difference(best, loss_of)
        cells = [line.data, "log loss", str(len(line.places()))]
        cells += [_number(losses.get(name)) for name in names]
        body.append([*cells, best, _percent(mean, 2), _fixed(error, 2)])
    note = (
        "Means over folds, each library with its defaults: 100 rounds, and 1,000 for CatBoost. "
        "Where 1,000 rounds are named, all libraries train 1,000. The difference is to the better "
        f"of the other libraries (on {_ONLY_CATBOOST}, to CatBoost), and the error is its standard "
        "error, paired by fold. Larger is better for AUC and accuracy, smaller for log loss."
    )
    return [*make_table(head, body), "", note]


def _monotone(lines: list[Line]) -> list[str]:
    head = ["data", "method", "seeds", f"{OURS}, RMSE", f"{_PEER}, RMSE", "difference, %", "error"]
    head += [f"violations, {OURS}", f"violations, {_PEER}", "s", f"{_PEER}, s"]
    head += ["times faster"]
    body = []
    for line in lines:
        mean, error = line.difference(_PEER, metric("rmse"))
        violations = line.total(OURS, "violations")
        body.append(
            [
                line.data,
                line.mode,
                str(len(line.places())),
                *(_number(line.mean(name, metric("rmse"))) for name in (OURS, _PEER)),
                _percent(mean, 2),
                _fixed(error, 2),
                f"**{violations}**" if violations else "0",
                str(line.total(_PEER, "violations")) if _PEER in line.runs else _NONE,
                *_seconds(line, "train_s"),
                _ratio(line.time_ratio(_PEER, "train_s")),
            ]
        )
    note = (
        "Violations: each constrained column is moved over its range in 200 held-out rows of every "
        "seed, and steps in the wrong direction are counted."
    )
    return [*make_table(head, body), "", _MEANS_NOTE + note]


def _boosters(lines: list[Line]) -> list[str]:
    head = ["mode", "data", "seeds", f"{OURS}, loss", f"{_PEER}, loss", "difference, %", "error"]
    head += ["s", f"{_PEER}, s", "times faster"]
    body = []
    for line in lines:
        mean, error = line.difference(_PEER, loss_of)
        body.append(
            [
                line.mode,
                line.data,
                str(len(line.places())),
                *(_number(line.mean(name, loss_of)) for name in (OURS, _PEER)),
                _percent(mean, 2),
                _fixed(error, 2),
                *_seconds(line, "train_s"),
                _ratio(line.time_ratio(_PEER, "train_s")),
            ]
        )
    note = "The loss is squared error or log loss."
    return [*make_table(head, body), "", _MEANS_NOTE + note]


def _cv(lines: list[Line]) -> list[str]:
    head = ["data", "rows", f"{OURS}, s", f"{_PEER}, s", "times faster"]
    head += ["times faster with construction", f"{OURS}, MiB", f"{_PEER}, MiB", f"{OURS}, loss"]
    head += [f"{_PEER}, loss"]
    body = []
    for line in lines:
        body.append(
            [
                line.data,
                f"{next(iter(line.runs.values()))[0]['n_rows']:,}",
                *_seconds(line, "train_s"),
                _ratio(line.time_ratio(_PEER, "train_s")),
                _ratio(line.time_ratio(_PEER, "build_s", "train_s")),
                *(_mebibytes(line, name) for name in (OURS, _PEER)),
                *(_number(line.mean(name, loss_of)) for name in (OURS, _PEER)),
            ]
        )
    note = (
        "Five folds; best of the repeats and of LightGBM's two layouts. MiB: peak memory beyond "
        "the input array, data set included. The loss is the mean over folds after the last round."
    )
    return [*make_table(head, body), "", note]


_MEANS_NOTE = (
    "Means over seeds. Error: standard error of the difference, paired by seed. Seconds: training "
    "time, the best of the seeds. "
)


def _seconds(line: Line, key: str) -> list[str]:
    return [_fixed(line.best(name, key), 2) for name in (OURS, _PEER)]


def _mebibytes(line: Line, library: str) -> str:
    return _fixed(line.best(library, "peak_over_input_bytes") / 2**20, 0)


def _ratio(value: float) -> str:
    return _fixed(value, 2)


def _fixed(value: float, digits: int) -> str:
    return _NONE if math.isnan(value) else f"{value:.{digits}f}"


def _percent(value: float, digits: int) -> str:
    return _NONE if math.isnan(value) else f"{value:+.{digits}f}"


def _number(value: float | None) -> str:
    return _NONE if value is None or math.isnan(value) else f"{value:.5g}"
