"""Boundaries as they come from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer.binning import Binning, find_bins
from gossamer.errors import DataError
from gossamer.params import resolve


def good() -> dict[str, Any]:
    matrix = np.random.default_rng(0).normal(size=(50, 3))
    return find_bins(matrix, resolve({})).to_arrays()


def test_round_trip() -> None:
    arrays = good()
    binning = Binning.from_arrays(arrays, 3, 1)
    assert binning.missing_kind.name == "ZERO"
    assert binning.n_features == 3
    for name, array in binning.to_arrays().items():
        np.testing.assert_array_equal(array, arrays[name])


def _swap_bounds(arrays: dict[str, Any]) -> None:
    arrays["upper"][[0, 1]] = arrays["upper"][[1, 0]]


def _nan_bound(arrays: dict[str, Any]) -> None:
    arrays["upper"][1] = np.nan


def _finite_end(arrays: dict[str, Any]) -> None:
    arrays["upper"][-1] = 1e300


def _wrong_type(arrays: dict[str, Any]) -> None:
    arrays["upper"] = arrays["upper"].astype(np.float32)


def _missing_array(arrays: dict[str, Any]) -> None:
    del arrays["offsets"]


def _offset_too_far(arrays: dict[str, Any]) -> None:
    arrays["offsets"][-1] += 1


def _offset_backwards(arrays: dict[str, Any]) -> None:
    arrays["offsets"][1] = arrays["offsets"][2] + 1


def _column_twice(arrays: dict[str, Any]) -> None:
    arrays["columns"][1] = 0


def _no_such_column(arrays: dict[str, Any]) -> None:
    arrays["columns"][-1] = 3


def _offsets_too_short(arrays: dict[str, Any]) -> None:
    arrays["offsets"] = arrays["offsets"][:-1]


@pytest.mark.parametrize(
    "damage",
    [
        _swap_bounds,
        _nan_bound,
        _finite_end,
        _wrong_type,
        _missing_array,
        _offset_too_far,
        _offset_backwards,
        _column_twice,
        _no_such_column,
        _offsets_too_short,
    ],
)
def test_damage_is_noticed(damage: Any) -> None:
    arrays = {name: array.copy() for name, array in good().items()}
    Binning.from_arrays(arrays, 3, 0)
    damage(arrays)
    with pytest.raises(DataError, match=r"the bins (cannot be used|are incomplete)"):
        Binning.from_arrays(arrays, 3, 0)


def test_unknown_kind_of_missing_is_noticed() -> None:
    with pytest.raises(DataError, match=r"the bins (cannot be used|are incomplete)"):
        Binning.from_arrays(good(), 3, 5)
