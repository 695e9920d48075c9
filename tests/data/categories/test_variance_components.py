"""How many rows the mean of all labels counts for: variance within and between categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gossamer.data.categories.variance_components import (
    LEAST_ROWS,
    MOST_ROWS,
    find_prior_weight,
)

Array = npt.NDArray[Any]


def _rows(between: float, within: float, seed: int = 0) -> tuple[Array, Array]:
    """Labels whose categories (of very different sizes) differ with these deviations."""
    rng = np.random.default_rng(seed)
    keys = np.minimum(rng.exponential(60.0, 20_000), 400).astype(np.int64)
    effect = between * rng.normal(size=401)
    return keys, 100.0 + effect[keys] + within * rng.normal(size=len(keys))


@pytest.mark.parametrize("within", [1.0, 3.0, 8.0])
def test_the_ratio_of_the_variances_is_found(within: float) -> None:
    found = [find_prior_weight(*_rows(1.0, within, seed)) for seed in range(5)]
    assert np.mean(found) == pytest.approx(within**2, rel=0.3)


def test_the_answer_has_bounds() -> None:
    keys, label = _rows(1.0, 0.01)
    assert find_prior_weight(keys, label) == LEAST_ROWS
    assert find_prior_weight(keys, np.random.default_rng(1).permutation(label)) == MOST_ROWS
    assert find_prior_weight(np.arange(len(keys)), label) == MOST_ROWS  # each row on its own
    assert find_prior_weight(np.zeros(len(keys)), label) == MOST_ROWS  # nothing to tell apart
    assert find_prior_weight(keys, np.ones(len(keys))) == MOST_ROWS  # nothing to tell


def test_weights_count_as_rows() -> None:
    keys, label = _rows(1.0, 3.0)
    weight = np.random.default_rng(2).integers(0, 3, len(keys))
    plain = find_prior_weight(keys, label)
    assert find_prior_weight(keys, label, np.full(len(keys), 0.25)) == plain
    repeated = find_prior_weight(np.repeat(keys, weight), np.repeat(label, weight))
    assert find_prior_weight(keys, label, weight) == pytest.approx(repeated, rel=0.3)


def test_several_targets_share_one_answer() -> None:
    keys, label = _rows(1.0, 3.0)
    plain = find_prior_weight(keys, label)
    assert find_prior_weight(keys, np.stack([label, label])) == plain
    noise = np.random.default_rng(3).normal(size=len(keys))
    assert find_prior_weight(keys, np.stack([label, 10.0 * noise])) > plain


def test_units_and_names_do_not_matter() -> None:
    keys, label = _rows(1.0, 3.0)
    plain = find_prior_weight(keys, label)
    assert find_prior_weight(1000 - keys, 8.0 * label) == plain
