"""Contributions of columns, as XGBoost's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import gossamer.compat.xgboost as ours

theirs = pytest.importorskip("xgboost")

KINDS: list[dict[str, bool]] = [
    {"pred_contribs": True},
    {"pred_contribs": True, "approx_contribs": True},
    {"pred_interactions": True},
]
PARAMS: list[dict[str, Any]] = [
    {},
    {"objective": "binary:logistic", "scale_pos_weight": 2},
    {"objective": "multi:softprob", "num_class": 3},
    {"num_parallel_tree": 2, "subsample": 0.5},
    {"booster": "dart", "rate_drop": 0.5},
]


@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_contributions(few_values: Any, params: dict[str, Any], kind: dict[str, bool]) -> None:
    objective = params.get("objective", "")
    y = few_values.y
    label = np.digitize(y, [10, 30]) if "num_class" in params else y > 20 if objective else y
    data = theirs.DMatrix(few_values.x, label)
    model = theirs.train({"nthread": 1, "max_depth": 3, **params}, data, 4)
    loaded = ours.Booster(model_file=model.save_raw())
    rows, our_rows = theirs.DMatrix(few_values.x), ours.DMatrix(few_values.x)
    for more in ({}, {"strict_shape": True}, {"iteration_range": (0, 2)}):
        expected = model.predict(rows, **kind, **more)
        found = loaded.predict(our_rows, **kind, **more)
        assert found.shape == expected.shape and found.dtype == np.float32
        scale = 1e-6 * max(1, np.abs(expected).max())
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=10 * scale)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_they_add_up_to_the_score(few_values: Any, kind: dict[str, bool]) -> None:
    x = np.nan_to_num(few_values.x)
    margin = np.arange(len(x), dtype=float)
    for table in (x, scipy.sparse.csr_matrix(x)):
        data = ours.DMatrix(table, few_values.y)
        model = ours.train({"max_depth": 3}, data, 4)
        for rows in (data, ours.DMatrix(table, base_margin=margin)):
            found = model.predict(rows, **kind).astype(float)
            total = found.reshape(len(x), -1).sum(axis=1)
            score = model.predict(rows, output_margin=True)
            np.testing.assert_allclose(total, score, rtol=1e-5, atol=1e-4)


def test_vector_leaves(few_values: Any) -> None:
    label = np.column_stack([few_values.y, -few_values.y])
    data = ours.DMatrix(few_values.x, label)
    model = ours.train({"multi_strategy": "multi_output_tree", "max_depth": 3}, data, 3)
    score = model.predict(data, output_margin=True)
    for kind in KINDS[:2]:
        found = model.predict(data, **kind)
        assert found.shape == (len(label), 2, 5)
        np.testing.assert_allclose(found.sum(axis=2), score, rtol=1e-4, atol=1e-4)
