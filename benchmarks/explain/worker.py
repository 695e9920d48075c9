"""One run in a fresh process: ``python -m benchmarks.explain.worker JOB.json RESULT.json``."""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.load import OtherLoad
from benchmarks.synthetic import higgs_like

_WARM_UP_ROWS = 64


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Trains a model and explains rows that it has not seen.

    Args:
        job: "library", "what" ("values", "background" or "interactions"), "leaves", "rounds",
            "threads", "train_rows", "rows".

    Returns:
        Microseconds per row ("row_us"), and how far the values are from the raw score ("off").
    """
    library: Any = importlib.import_module(job["library"])
    split = higgs_like(job["train_rows"], seed=0)
    unseen = higgs_like(max(job["rows"], 1_000), seed=1).x_train[: job["rows"]]
    params = {"objective": "binary", "num_leaves": job["leaves"], "verbose": -1}
    params |= {"num_threads": job["threads"]}
    model = library.train(params, library.Dataset(split.x_train, split.y_train), job["rounds"])
    background = split.x_train[:100]

    def explain(rows: Any) -> Any:
        if job["what"] == "background":
            return model.shap_values(rows, background=background)
        if job["what"] == "interactions":
            return model.shap_interactions(rows).sum(axis=-1)
        return model.predict(rows, pred_contrib=True, num_threads=job["threads"])

    explain(unseen[:_WARM_UP_ROWS])
    others, start = OtherLoad(), time.perf_counter()
    values = explain(unseen)
    seconds = time.perf_counter() - start
    raw = model.predict(unseen, raw_score=True)
    return {
        "row_us": 1e6 * seconds / len(unseen),
        "off": float(np.abs(values.sum(axis=1) - raw).max()),
        "other_cpus": others.cpus(),
    }


if __name__ == "__main__":
    order = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps(measure(order)))
