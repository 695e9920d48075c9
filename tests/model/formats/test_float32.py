"""Thresholds for values that are rounded to float32 first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.formats.float32 import before_rounding, round_down

FLOATS = st.floats(allow_nan=False) | st.floats(allow_nan=False, width=32)


def rounded(x: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(x)


@given(FLOATS, FLOATS)
def test_float32_values_decide_as_before(threshold: float, value: float) -> None:
    x = rounded(value)
    assert (x <= round_down(threshold)) == (float(x) <= threshold)


@given(FLOATS, FLOATS)
def test_float64_values_decide_as_their_float32(threshold: float, value: float) -> None:
    new = float(before_rounding(threshold))
    near = [np.nextafter(new, -np.inf), new, np.nextafter(new, np.inf)]
    for x in [value, threshold, *near]:
        assert (x <= new) == (float(rounded(x)) <= threshold)
