"""Thousands of repeated calls take no memory with them, those that fail neither."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack.children import in_child
from attack.conftest import Tally
from attack.scale import share

from gossamer import Booster, Dataset, GossamerError, train
from gossamer.data.storage.budget import Budget
from gossamer.model.training.memory import Placement, may_be_in_files, place_rows

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory as Linux counts it")
ROWS = np.random.default_rng(0).normal(size=(2000, 8))
LABEL = (ROWS[:, 0] > 0).astype(float)
PARAMS = {"verbosity": -1, "num_threads": 2, "objective": "binary"}
LEAST = 200_000  # bytes of a table: what a call leaves behind is much less


def used() -> int:
    """Bytes of memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def calls() -> dict[str, Callable[[], Any]]:
    booster = train(PARAMS, Dataset(ROWS, LABEL), 5)
    text = booster.model_to_string()

    def fail() -> None:
        with pytest.raises(GossamerError):
            train(PARAMS, Dataset(ROWS, np.append(LABEL[:-1], np.nan)), 2)

    def refuse() -> None:
        with pytest.raises(GossamerError):
            Booster(model_str=text[: len(text) // 2])

    def leave() -> None:
        def stop(_: Any) -> None:
            raise KeyError

        with pytest.raises(KeyError):
            train(PARAMS, Dataset(ROWS, LABEL), 5, callbacks=[stop])

    def train_on_disk() -> None:
        """With bins, scores and gradients in files."""

        def place(params: Any, objective: Any, data: Any, *rest: Any, **options: Any) -> Placement:
            placed = place_rows(params, objective, data, *rest, **options)
            in_files = may_be_in_files(params, objective, data)
            return replace(placed, in_files=in_files, holds_gradients=False)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Budget, "holds_table", lambda *_: False)
            patch.setattr(Budget, "loaded_bytes", lambda *_: 0)
            patch.setattr("gossamer.model.training.prepared.place_rows", place)
            train({**PARAMS, "max_memory": "1GB"}, Dataset(ROWS, LABEL), 2)

    return {
        "train on disk": train_on_disk,
        "train": lambda: train(PARAMS, Dataset(ROWS, LABEL), 2),
        "exact": lambda: train({**PARAMS, "tree_method": "exact"}, Dataset(ROWS, LABEL), 1),
        "predict": lambda: booster.predict(ROWS),
        "explain": lambda: booster.predict(ROWS[:50], pred_contrib=True),
        "load": lambda: Booster(model_str=text),
        "bad label": fail,
        "bad file": refuse,
        "callback": leave,
    }


@pytest.mark.parametrize(
    "name",
    [
        *("train", "exact", "train on disk", "predict", "explain", "load"),
        *("bad label", "bad file", "callback"),
    ],
)
def test_memory_does_not_grow(name: str, tally: Tally) -> None:
    n_calls = share(30, 3_500)

    def work() -> dict[str, Any]:
        warnings.simplefilter("ignore")
        call = calls()[name]
        for _ in range(20):
            call()
        before = used()
        for _ in range(n_calls):
            call()
        return {"grown": used() - before}

    found = in_child(work)
    failures = [found["wrong"]] if "wrong" in found else []
    if found.get("grown", 0) > 20 * LEAST + n_calls * LEAST // 100:
        failures.append(f"{found['grown']:,} bytes more after {n_calls} calls")
    tally.add(n_calls, failures)
