"""Every float64 goes the same way by XGBoost's threshold and by ours."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.formats.xgboost_threshold import to_ours, to_theirs

LARGEST = np.finfo(np.float32).max
SMALLEST = np.float32(1e-45)
SPECIAL = [0.0, -0.0, SMALLEST, -SMALLEST, 2 * SMALLEST, 1.0, -1.0, np.float32(0.1)]
SPECIAL += [LARGEST, -LARGEST, np.inf, np.finfo(np.float32).tiny, -np.finfo(np.float32).tiny]
SPECIAL += [1 + 2**-23, 1 - 2**-24, 16777216.0, 3e-39]

pytestmark = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")

float32 = st.floats(width=32, allow_nan=False) | st.sampled_from([float(x) for x in SPECIAL])


def around(values: list[float]) -> npt.NDArray[np.float64]:
    """Numbers where rounding changes: float32s, what is halfway, and their neighbours."""
    near = np.array(values, np.float32)
    near = np.concatenate([near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf)])
    wide = np.concatenate(
        [np.clip(near.astype(np.float64), -(2.0**128), 2.0**128), np.clip(values, -1e300, 1e300)]
    )
    middle = (wide[:, None] + wide).ravel() / 2
    found = np.concatenate([wide, middle, [np.inf, -np.inf, 2.0**128 - 2.0**103, -1e300]])
    return np.concatenate([found, np.nextafter(found, -np.inf), np.nextafter(found, np.inf)])


@given(
    float32.filter(lambda t: t > -np.inf),
    st.lists(st.floats(allow_nan=False, allow_infinity=False)),
)
def test_ours_decides_as_theirs(threshold: float, values: list[float]) -> None:
    t = np.array([threshold], np.float32)
    x = around([threshold, *values])
    np.testing.assert_array_equal(x <= to_ours(t), x.astype(np.float32) < t)


@pytest.mark.parametrize("threshold", SPECIAL)
def test_special_thresholds(threshold: float) -> None:
    test_ours_decides_as_theirs.hypothesis.inner_test(float(threshold), [])  # type: ignore[attr-defined]


@given(st.floats(allow_nan=False), st.lists(float32))
def test_theirs_decides_as_ours(threshold: float, values: list[float]) -> None:
    x = around([threshold, *values]).astype(np.float32)
    x = x[np.isfinite(x)]
    np.testing.assert_array_equal(
        x < to_theirs(np.array([threshold])), x.astype(float) <= threshold
    )


@given(float32.filter(lambda t: t > -np.inf))
def test_there_and_back(threshold: float) -> None:
    t = np.array([threshold], np.float32)
    assert to_theirs(to_ours(t)) == t
