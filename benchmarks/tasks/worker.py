"""One run in a fresh process: ``python -m benchmarks.tasks.worker JOB.json RESULT.json``."""

from __future__ import annotations

import gc
import json
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.load import OtherLoad
from benchmarks.paper.runners import RoundClock
from benchmarks.runners.base import Settings
from benchmarks.split import Array
from benchmarks.tasks.libraries import Fitted, Library, make_library
from benchmarks.tasks.losses import evaluate
from benchmarks.tasks.problem import Part, load_part

WARM_UP_ROUNDS = 2
_METRIC_REPEATS = 5


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Builds, trains, predicts and scores; several models where "options" is a list.

    Args:
        job: "library", "options", "settings", "folder" of the problem, "loss" and its
            "loss_options", "is_raw" (whether the loss takes raw scores), "patience" (of early
            stopping, 0: none), "metric" (time it too), "is_timed" (warm up first).

    Returns:
        The held-out loss, seconds of construction ("build_s"), training ("train_s"), all rounds
        ("rounds_s") and of training up to the best round ("best_s"), and the number of rounds.
    """
    train, test, valid = (load_part(Path(job["folder"]), k) for k in ("train", "test", "valid"))
    assert train is not None and test is not None
    settings = Settings(**job["settings"])
    options = job["options"] if isinstance(job["options"], list) else [job["options"]]
    if job["is_timed"]:
        _warm_up(job["library"], settings, options[0], train)
    result = {"build_s": 0.0, "train_s": 0.0, "rounds_s": 0.0, "best_s": 0.0}
    n_rounds = n_best = 0
    predictions: list[Array] = []
    others = OtherLoad()
    for one in options:
        library = make_library(job["library"], settings, one)
        gc.collect()
        clock, start = RoundClock(), time.perf_counter()
        data = library.build(train, valid)
        built = time.perf_counter()
        fitted = library.train(data, clock, job["patience"])
        end = time.perf_counter()
        result["build_s"] += built - start
        result["train_s"] += end - built
        result["rounds_s"] += sum(clock.seconds()) if clock.ends else end - built
        result["best_s"] += (clock.ends[fitted.n_rounds - 1] if clock.ends else end) - built
        n_rounds += len(clock.ends) or settings.rounds
        n_best += fitted.n_rounds
        predictions.append(library.predict(fitted, test.x, job["is_raw"]))
    prediction = predictions[0] if len(options) == 1 else np.column_stack(predictions)
    return {
        **result,
        "n_rounds": n_rounds,
        "n_best": n_best,
        "other_cpus": others.cpus(),
        "n_rows": len(train.y),
        "n_columns": int(train.x.shape[1]),
        "loss": evaluate(job["loss"], test, prediction, job["loss_options"]),
        **(_time_metric(library, data) if job.get("metric") else {}),
    }


def _warm_up(name: str, settings: Settings, options: dict[str, Any], part: Part) -> None:
    """Trains on the first rows, so that imports, threads and lazy set-up are not timed."""
    few = part.take(np.arange(min(len(part.y), 2_000)))
    library = make_library(name, replace(settings, rounds=WARM_UP_ROUNDS), dict(options))
    fitted: Fitted = library.train(library.build(few, None), RoundClock(), 0)
    library.predict(fitted, few.x, False)


def _time_metric(library: Library, data: Any) -> dict[str, float]:
    """Seconds of evaluating the metric on all training rows: the best of several times."""
    module: Any = library._library  # type: ignore[attr-defined]
    params: Any = library._params  # type: ignore[attr-defined]
    booster = module.Booster(params, data[0])
    booster.update()
    best = float("inf")
    for _ in range(_METRIC_REPEATS):
        booster.update()  # other scores, as after each round of a training
        start = time.perf_counter()
        booster.eval_train()
        best = min(best, time.perf_counter() - start)
    return {"metric_s": best}


def main(job_file: str, result_file: str) -> None:
    """Reads a job, measures it, writes the result."""
    warnings.simplefilter("ignore")
    job = json.loads(Path(job_file).read_text())
    Path(result_file).write_text(json.dumps(measure(job)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
