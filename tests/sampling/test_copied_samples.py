"""Small samples of large tables are copied to a table of their own: the models stay the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer as gs

N_ROWS = 60_000  # a sample of 0.3 has enough rows to be copied
SAMPLES: dict[str, dict[str, Any]] = {
    "bagging": {"bagging_fraction": 0.3, "bagging_freq": 1},
    "bagging, kept for two rounds": {"bagging_fraction": 0.3, "bagging_freq": 2},
    "by class": {"pos_bagging_fraction": 0.2, "neg_bagging_fraction": 0.4, "bagging_freq": 1},
    "goss": {"data_sample_strategy": "goss", "learning_rate": 0.5, "top_rate": 0.2},
    "mvs": {"data_sample_strategy": "mvs", "bagging_fraction": 0.3},
    "columns, too": {"bagging_fraction": 0.3, "bagging_freq": 1, "feature_fraction": 0.5},
}


def make_table() -> tuple[np.ndarray, np.ndarray]:
    """Numbers, zeros in the same rows, missing values and categories."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((N_ROWS, 9)).astype(np.float32)
    x[rng.random(N_ROWS) < 0.7, 2:6] = 0.0
    x[rng.random(N_ROWS) < 0.2, 6] = np.nan
    x[:, 7] = rng.integers(0, 12, N_ROWS)
    score = x[:, 0] * x[:, 1] + x[:, 3] + 0.5 * (x[:, 7] == 3) + rng.standard_normal(N_ROWS)
    return x, score


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("objective", ["binary", "multiclass"])
def test_copies_do_not_change_models(name: str, objective: str) -> None:
    if name == "by class" and objective != "binary":
        pytest.skip("the fractions are those of two classes")
    x, score = make_table()
    params = {"objective": objective, "verbosity": -1, "num_leaves": 15, **SAMPLES[name]}
    if objective == "multiclass":
        params["num_class"] = 4
    label = np.digitize(score, [-1.0, 0.5, 1.0]) if objective == "multiclass" else score > 0
    models = []
    # No sample is copied where memory is limited.
    for more in ({"num_threads": 1}, {"num_threads": 3}, {"max_memory": "2GB", "num_threads": 2}):
        data = gs.Dataset(x, label.astype(float), categorical_feature=[7])
        model = gs.train({**params, **more}, data, 6)
        models.append((model.trees_to_dataframe(), model.predict(x[:2000])))
    for trees, predicted in models[1:]:
        assert trees.equals(models[0][0])
        np.testing.assert_array_equal(predicted, models[0][1])
