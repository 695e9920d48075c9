"""Things to know about a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Dataset
from gossamer.data.findings import columns_of, find_drift, find_in_columns, find_leak

pd = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
N = 300
Y = RNG.integers(0, 3, N)
CLEAN = {
    "size": RNG.normal(size=N),
    "town": RNG.choice(["Rome", "Bern"], N),
    "rooms": RNG.integers(0, 9, N),
}


def find(**further: Any) -> list[tuple[str, tuple[str, ...]]]:
    columns, times = columns_of(pd.DataFrame(CLEAN | further))
    return [(each.kind, each.columns) for each in find_in_columns(columns, times, Y)]


def test_a_clean_table_has_nothing_to_say() -> None:
    assert find() == []


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("constant", np.ones(N)),
        ("constant", ["a"] * N),
        ("missing", np.full(N, np.nan)),
        ("missing", [None] * N),
        ("id", np.arange(N) + 17),
        ("id", [f"user-{i}" for i in range(N)]),
        ("target", Y * 10.0 - 3),
        ("target", np.array(["no", "maybe", "yes"])[Y]),
        ("time", pd.date_range("2024-01-01", periods=N)),
        ("time", pd.date_range("2024-01-01", periods=N)[::-1]),
    ],
)
def test_findings(kind: str, values: Any) -> None:
    assert find(odd=values) == [(kind, ("odd",))]


def test_numbers_that_are_no_ids() -> None:
    assert find(population=RNG.permutation(N) * 7) == []
    assert find(user_id=RNG.permutation(N) * 7) == [("id", ("user_id",))]
    assert find(day=RNG.permutation(pd.date_range("2024-01-01", periods=N))) == []


def test_few_rows() -> None:
    assert find_in_columns({"x": RNG.normal(size=30)})[0].kind == "few rows"


def test_drift() -> None:
    train, _ = columns_of(pd.DataFrame(CLEAN))
    assert find_drift(train, train) == []
    moved = CLEAN | {"size": CLEAN["size"] + 1, "town": ["Rome"] * N}
    found = find_drift(train, columns_of(pd.DataFrame(moved))[0])
    assert found[0].columns == ("size", "town")


def test_a_leak() -> None:
    assert find_leak(["a", "b", "c"], [30, 30, 40]) == []
    assert find_leak(["a", "b"], [99, 1]) == []
    assert "99 % of the gain" in find_leak(["a", "b", "c"], [99, 1, 0])[0].text


def test_a_data_set_says_them() -> None:
    frame = pd.DataFrame(CLEAN | {"id": np.arange(N), "unit": np.ones(N)})
    summary = Dataset(frame, Y, free_raw_data=False).describe()
    assert [each.kind for each in summary.findings] == ["constant", "id"]
    assert "Things to know about your data" in str(summary)
    assert "'unit' has the same value" in str(summary)
    assert Dataset(pd.DataFrame(CLEAN), Y).describe().findings == []
