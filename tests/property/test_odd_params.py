"""No value of a parameter, however odd, gets anything but a model or one of our errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer import Dataset, GossamerError, train
from gossamer.params import TABLE

RNG = np.random.default_rng(8)
ROWS = np.column_stack([RNG.normal(size=(60, 3)).round(1), RNG.integers(0, 6, 60)])
LABEL = ROWS[:, 0] + np.sin(ROWS[:, 3] * 3)
BASE = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "num_leaves": 4}
# Of these the number of rounds and threads would cost time, and tell nothing.
NAMES = sorted(
    name
    for name, param in TABLE.items()
    if param.supported and name not in ("num_iterations", "num_threads", "verbosity")
)
MODES: list[dict[str, Any]] = [
    {},
    {"cat_target_statistics": "on"},
    {"linear_tree": True},
    {"boosting": "dart"},
    {"boosting": "rf", "feature_fraction": 0.5},
    {"monotone_constraints": [1, 0, 0, 0], "monotone_constraints_method": "advanced"},
    {"data_sample_strategy": "mvs", "bagging_fraction": 0.5},
]
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 2, 3, -1, 2**31, 2**62, 2**63, 10**400, 0.5, 1e300, 1e-300, -1e300]),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(
        ["auto", "on", "goss", "dart", "rf", "advanced", "huber", "1,0,0,0", "{", "[["]
    ),
)
columns = st.sampled_from([0, 1, 3, 4, -1, "Column_0", "Column_3", "nope"])
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=5),
    st.lists(st.lists(columns, max_size=3), max_size=3),
    st.dictionaries(columns, st.one_of(scalars, st.lists(st.floats(), max_size=3)), max_size=3),
    st.fixed_dictionaries({"feature": columns, "threshold": st.one_of(st.floats(-2, 2), scalars)}),
)


@pytest.mark.filterwarnings("ignore::UserWarning")  # a model with a warning is an answer too
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(MODES), st.dictionaries(st.sampled_from(NAMES), values, max_size=2))
def test_any_value_trains_or_is_explained(mode: dict[str, Any], odd: dict[str, Any]) -> None:
    try:
        model = train({**BASE, **mode, **odd}, Dataset(ROWS, LABEL, categorical_feature=[3]), 2)
    except GossamerError:
        return
    assert len(model.predict(ROWS)) == 60


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("value", [2**31, 2**62, 1e300, 1e-300])
def test_numbers_of_any_size(mode: dict[str, Any], value: float) -> None:
    for name in NAMES:
        if type(TABLE[name].default) not in (int, float):
            continue
        try:
            train({**BASE, **mode, name: value}, Dataset(ROWS, LABEL, categorical_feature=[3]), 2)
        except GossamerError:
            continue
