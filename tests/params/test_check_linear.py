"""`linear_tree` with what it cannot do."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.errors import ParameterError
from gossamer.params import resolve


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"objective": "mae"}, "regression_l1"),
        ({"objective": "quantile", "quantile_alpha": [0.1, 0.9]}, "quantile"),
        ({"objective": "mape"}, "mape"),
        ({"zero_as_missing": True}, "zero_as_missing"),
        ({"multi_strategy": "multi_output_tree"}, "vector leaves"),
    ],
)
def test_refused_by_name(given: dict[str, Any], words: str) -> None:
    resolve(given)
    with pytest.raises(ParameterError, match=f"linear_tree.*{words}"):
        resolve({**given, "linear_trees": True})


def test_penalty_and_range_are_checked() -> None:
    params = resolve({"linear_tree": True, "linear_lambda": "0.5", "linear_extrapolation": 0})
    assert (params.linear_lambda, params.linear_extrapolation) == (0.5, 0.0)
    for given in (
        {"linear_lambda": -1},
        {"linear_extrapolation": -1},
        {"linear_extrapolation": 2e9},
    ):
        with pytest.raises(ParameterError, match=next(iter(given))):
            resolve(given)
