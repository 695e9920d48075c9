"""Folds side by side, and the same members one after another with all threads."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np

from benchmarks.report import make_table

Run = dict[str, Any]
_ROWS: Final = (2_000, 20_000, 200_000)
_COLUMNS: Final = 28
_FOLDS: Final = 8
_ROUNDS: Final = 100


def measure_folds(n_threads: int, repeats: int = 3) -> list[Run]:
    """Times `train_folds` for tables of several sizes; each time is the least of `repeats`."""
    return [_measure(n_rows, n_threads, repeats) for n_rows in _ROWS]


def _measure(n_rows: int, n_threads: int, repeats: int) -> Run:
    import gossamer as gs

    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, _COLUMNS)).astype(np.float32)
    y = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=n_rows)
    parts = np.array_split(rng.permutation(n_rows), _FOLDS)
    folds = [(np.setdiff1d(np.arange(n_rows), part), np.sort(part)) for part in parts]
    params = {"verbose": -1, "num_threads": n_threads, "early_stopping_round": 0}
    data = gs.Dataset(x, y, params=params).construct()

    def train(own: list[Any], **changed: Any) -> Any:
        return gs.train_folds({**params, **changed}, data, _ROUNDS, folds=own)

    together, after_another = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        model = train(folds)
        together.append(time.perf_counter() - began)
        began = time.perf_counter()
        members = [train([fold]) for fold in folds]
        after_another.append(time.perf_counter() - began)
    mean = np.mean([member.predict(x[:1000]) for member in members], axis=0)
    single = train(folds, num_threads=1)
    return {
        "rows": n_rows,
        "threads": n_threads,
        "together": min(together),
        "after_another": min(after_another),
        "same_members": bool(np.allclose(model.predict(x[:1000]), mean, rtol=1e-12, atol=1e-12)),
        "same_trees": bool((single.predict(x) == model.predict(x)).all()),
    }


def format_folds(runs: list[Run]) -> str:
    """Formats times as Markdown."""
    head = ["rows", "threads", "one after another, s", "side by side, s", "ratio", "same members"]
    head.append("same on one thread")
    body = [
        [
            f"{run['rows']:,}",
            str(run["threads"]),
            f"{run['after_another']:.2f}",
            f"{run['together']:.2f}",
            f"{run['together'] / run['after_another']:.2f}",
            "yes" if run["same_members"] else "NO",
            "yes" if run["same_trees"] else "NO",
        ]
        for run in runs
    ]
    return "\n".join(make_table(head, body))
