"""What is searched through."""

from __future__ import annotations

from typing import Any

from gossamer.data import Dataset


def default_space(trial: Any, data: Dataset) -> dict[str, Any]:
    """Suggest parameters that matter most, within ranges that fit the size of the data.

    Args:
        trial: A trial of Optuna.
        data: The training data; constructed if it is not.

    Returns:
        Parameters of one training.
    """
    n_rows = data.num_data()
    most_leaves = max(8, min(512, n_rows // 20))
    most_rows = max(2, min(300, n_rows // 10))
    params = {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 4, most_leaves, log=True),
        "min_data_in_leaf": trial.suggest_int("min_data_in_leaf", 1, most_rows, log=True),
        "feature_fraction": trial.suggest_float("feature_fraction", 0.4, 1.0),
        "bagging_fraction": trial.suggest_float("bagging_fraction", 0.5, 1.0),
        "bagging_freq": 1,
        "lambda_l1": trial.suggest_float("lambda_l1", 1e-8, 10.0, log=True),
        "lambda_l2": trial.suggest_float("lambda_l2", 1e-8, 10.0, log=True),
    }
    if data.categorical_columns:
        params["cat_smooth"] = trial.suggest_float("cat_smooth", 1.0, 100.0, log=True)
        params["cat_l2"] = trial.suggest_float("cat_l2", 1e-2, 100.0, log=True)
    return params
