"""Binned tables: what happens if a table changes while it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Dataset, train
from gossamer.data.storage import binned
from gossamer.errors import DataError


def test_a_value_that_is_lost_between_two_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread writes NaN after the bins were found and before they are filled."""
    rng = np.random.default_rng(0)
    table, label = rng.normal(size=(500, 4)), rng.normal(size=500)
    find_bins = binned.find_bins

    def find_and_write(*args: Any) -> Any:
        found = find_bins(*args)
        table[7, 2] = np.nan
        return found

    monkeypatch.setattr(binned, "find_bins", find_and_write)
    with pytest.raises(DataError, match="changed while it was read") as caught:
        train({"verbosity": -1}, Dataset(table, label), 2)
    assert "pass a copy" in str(caught.value)
