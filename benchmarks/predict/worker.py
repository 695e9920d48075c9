"""One run in a fresh process: ``python -m benchmarks.predict.worker JOB.json RESULT.json``."""

from __future__ import annotations

import json
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.load import OtherLoad
from benchmarks.predict.cases import CASES, make_table
from benchmarks.predict.contenders import CONTENDERS

_LEAST_CALLS, _MOST_CALLS = 3, 100_000


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Makes a model, or times predictions with one.

    Args:
        job: "task" ("make" or "time"), "case", "contender", "threads", "folder" of the models,
            "rows" (instead of the case's; 0: these), "train_rows" and "trees" likewise, and
            "seconds" to go on for.

    Returns:
        "made": True; or seconds of the fastest call ("best_s"), how many there were, the mean
        prediction, and how busy the machine was.
    """
    case = CASES[job["case"]]
    case = replace(case, n_trees=job["trees"] or case.n_trees)
    if case.n_rows > 1 and job["rows"]:
        case = replace(case, n_rows=job["rows"])
    contender, folder = CONTENDERS[job["contender"]], Path(job["folder"])
    if job["task"] == "make":
        folder.mkdir(parents=True, exist_ok=True)
        contender.make(case, folder, job["threads"], job["train_rows"])
        return {"made": True}
    x = make_table(case, case.n_rows, seed=3)
    predict = contender.load(case, folder, 1 if case.n_rows == 1 else job["threads"], x)
    for _ in range(2):
        mean = float(np.mean(predict()))
    others = OtherLoad()
    seconds: list[float] = []
    end = time.perf_counter() + job["seconds"]
    while len(seconds) < _LEAST_CALLS or (time.perf_counter() < end and len(seconds) < _MOST_CALLS):
        start = time.perf_counter()
        predict()
        seconds.append(time.perf_counter() - start)
    return {
        "best_s": min(seconds),
        "median_s": float(np.median(seconds)),
        "n_calls": len(seconds),
        "n_rows": case.n_rows,
        "mean": mean,
        "other_cpus": others.cpus(),
    }


def main(job_file: str, result_file: str) -> None:
    """Reads a job, measures it, writes the result."""
    warnings.simplefilter("ignore")
    job = json.loads(Path(job_file).read_text())
    Path(result_file).write_text(json.dumps(measure(job)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
