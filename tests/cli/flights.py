"""The table of most tests here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

N_ROWS = 300


def make_frame(n_rows: int = N_ROWS, seed: int = 0) -> Any:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    hour = rng.integers(0, 24, n_rows)
    rain = np.where(rng.random(n_rows) < 0.1, np.nan, rng.exponential(2, n_rows).round(2))
    carrier = rng.choice(["AA", "BB", "CC"], n_rows)
    score = (hour - 12) / 4 + np.nan_to_num(rain) / 2 + (carrier == "BB") - 1
    score += rng.normal(size=n_rows) / 2
    return pandas.DataFrame(
        {
            "id": np.arange(n_rows),
            "hour": hour,
            "rain": rain,
            "carrier": carrier,
            "delayed": np.where(score > 0.5, "yes", "no"),
            "minutes": (10 * score).round(3),
            "grade": np.digitize(score, [-1, 1]),
            "session": np.arange(n_rows) // 10,
            "importance": rng.integers(1, 4, n_rows),
        }
    )


# Columns that would give the answer away, where it is `delayed`.
OTHERS = "id,minutes,grade,session,importance"
