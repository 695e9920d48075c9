"""What is summed over the rows of a leaf does not depend on the splits that threads try ahead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Dataset, threads, train

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(3000, 3))
LABEL = ROWS[:, 0] + ROWS[:, 1] * ROWS[:, 2]
WEIGHT = RNG.random(3000) + 0.1


@pytest.mark.parametrize("num_leaves", [12, 20, 31, 50])
@pytest.mark.parametrize(
    "params",
    [
        {"linear_tree": True},
        {"linear_tree": True, "objective": "huber", "alpha": 0.3},
        {"linear_tree": True, "bagging_fraction": 0.7},
        {"objective": "huber", "alpha": 0.1},
        {"objective": "fair"},
        {"objective": "quantile", "alpha": 0.3},
    ],
    ids=str,
)
def test_same_bytes(
    params: dict[str, Any], num_leaves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
    params = {"verbosity": -1, "num_leaves": num_leaves, **params}
    texts = {
        train(
            {**params, "num_threads": n}, Dataset(ROWS, LABEL, weight=WEIGHT), 4
        ).model_to_string()
        for n in (1, 2, 3, 8)
    }
    assert len(texts) == 1
