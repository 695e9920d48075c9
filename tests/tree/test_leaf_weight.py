"""Rows of next to no weight do not make a leaf of their own, however large their gradients."""

from __future__ import annotations

import numpy as np
import pytest

from gossamer import Dataset, train


def one_split(hessian_of_few: float, min_data_in_leaf: int = 20) -> np.ndarray:
    """Leaf counts of a tree with two leaves on 1,000 rows, 40 of which stand out."""
    is_few = np.arange(1000) < 40
    table = np.where(is_few, 0.0, 1.0)[:, None] + np.linspace(0, 1e-3, 1000)[:, None]
    gradient = np.where(is_few, -1.0, np.where(np.arange(1000) % 2, 0.1, -0.1))
    hessian = np.where(is_few, hessian_of_few, 0.25)
    model = train(
        {
            "objective": lambda scores, data: (gradient, hessian),
            "num_leaves": 2,
            "min_data_in_leaf": min_data_in_leaf,
            "verbosity": -1,
        },
        Dataset(table, np.zeros(1000)),
        1,
    )
    leaves = model.predict(table, pred_leaf=True).ravel()
    return np.sort(np.bincount(leaves.astype(int)))


def test_rows_with_ordinary_weight_are_split_off() -> None:
    assert one_split(hessian_of_few=0.25).tolist() == [40, 960]


def test_rows_with_next_to_no_weight_are_not_split_off_alone() -> None:
    # Their weight is 40 * 2e-3, above min_sum_hessian_in_leaf, and they are 40 > 20 rows.
    assert one_split(hessian_of_few=2e-3)[0] > 40


def test_the_rule_belongs_to_min_data_in_leaf() -> None:
    assert one_split(hessian_of_few=2e-3, min_data_in_leaf=0)[0] <= 40


@pytest.mark.parametrize("seed", range(3))
def test_scores_stay_moderate_with_rare_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(6000, 8))
    label = np.digitize(table[:, 0] + 0.5 * table[:, 1] + 0.3 * rng.normal(size=6000), [1.5, 2.3])
    params = {"objective": "multiclass", "num_class": 3, "verbosity": -1}
    model = train(params, Dataset(table[:4000], label[:4000]), 100)
    assert np.abs(model.predict(table[4000:], raw_score=True)).max() < 60
