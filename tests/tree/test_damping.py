"""Newton steps that overshoot are damped: scores of the log losses stay moderate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Dataset, train

N_FEW = 40


def leaf_value_of_few(**params: Any) -> float:
    """Leaf value (before shrinkage) of 40 positive rows that start out far on the wrong side."""
    is_few = np.arange(1000) < N_FEW
    model = train(
        {"objective": "binary", "num_leaves": 2, "learning_rate": 1.0, "verbosity": -1, **params},
        Dataset(is_few[:, None].astype(float), is_few, init_score=np.full(1000, -7.0)),
        1,
    )
    return float(model.predict([[1.0]], raw_score=True)[0])


def test_a_step_that_overshoots_is_damped() -> None:
    # Undamped it is -G/H = 1/p, about 1,100; the best one is about 14.
    assert 8 < leaf_value_of_few() < 16


def test_the_limit_of_the_user_goes_first() -> None:
    assert leaf_value_of_few(max_delta_step=100.0) == pytest.approx(100.0)


def test_ordinary_steps_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(2000, 3))
    label = table[:, 0] + rng.normal(size=2000) > 0
    params = {"objective": "binary", "verbosity": -1}
    data = Dataset(table, label)
    ours = train(params, data, 20).predict(table)
    unlimited = train({**params, "max_delta_step": 1e9}, data, 20).predict(table)
    np.testing.assert_allclose(ours, unlimited, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_scores_stay_moderate_with_rare_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(6000, 8))
    label = np.digitize(table[:, 0] + 0.5 * table[:, 1] + 0.3 * rng.normal(size=6000), [1.5, 2.3])
    params = {"objective": "multiclass", "num_class": 3, "verbosity": -1, "learning_rate": 0.3}
    model = train(params, Dataset(table[:4000], label[:4000]), 100)
    assert np.abs(model.predict(table[4000:], raw_score=True)).max() < 60
