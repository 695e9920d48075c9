"""What is searched through."""

from __future__ import annotations

from typing import Any

from gossamer.data import Dataset
from gossamer.ensemble.presets import choose_preset


def starting_points(data: Dataset) -> list[dict[str, Any]]:
    """Return points of `default_space` to try first: the defaults and the presets.

    Args:
        data: The training data; it is constructed if necessary.

    Returns:
        Values for the parameters that `default_space` suggests: the defaults ("fast"), the settings
        of "good", and one for each kind of member of "best".

    Example:
        >>> import numpy as np
        >>> data = Dataset(np.random.default_rng(0).normal(size=(700, 3)), np.arange(700.0))
        >>> [(point["learning_rate"], point["num_leaves"]) for point in starting_points(data)]
        [(0.1, 31), (0.1, 31), (0.04, 31), (0.04, 15), (0.08, 31), (0.04, 35)]
    """
    most_leaves, most_rows = _limits(data)
    has_categories = bool(data.categorical_columns)
    first: dict[str, Any] = {
        "learning_rate": 0.1,
        "num_leaves": 31,
        "min_data_in_leaf": min(20, most_rows),
        "feature_fraction": 1.0,
        "bagging_fraction": 1.0,
        "lambda_l1": 1e-8,
        "lambda_l2": 1e-8,
        "path_smooth": 0.0,
        "extra_trees": False,
    }
    if has_categories:
        first |= {"cat_smooth": 10.0, "cat_l2": 10.0, "cat_shrinkage": "fixed"}
    good, best = (
        choose_preset(quality, {}, has_categories=has_categories) for quality in ("good", "best")
    )
    points = [first, {**first, **good.params}]
    points += [{**first, **best.params, **member} for member in best.members]
    return [
        {
            name: min(most_leaves, point[name]) if name == "num_leaves" else point[name]
            for name in first
        }
        for point in points
    ]


def _limits(data: Dataset) -> tuple[int, int]:
    """Return the most leaves, and the most rows that a leaf may be asked to have."""
    n_rows = data.num_data()
    return max(8, min(512, n_rows // 20)), max(2, min(300, n_rows // 10))


def default_space(trial: Any, data: Dataset) -> dict[str, Any]:
    """Suggest the parameters that matter most, within ranges for the size of the data.

    Args:
        trial: A trial of Optuna.
        data: The training data; it is constructed if necessary.

    Returns:
        Parameters for one training.
    """
    most_leaves, most_rows = _limits(data)
    params = {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 4, most_leaves, log=True),
        "min_data_in_leaf": trial.suggest_int("min_data_in_leaf", 1, most_rows, log=True),
        "feature_fraction": trial.suggest_float("feature_fraction", 0.4, 1.0),
        "bagging_fraction": trial.suggest_float("bagging_fraction", 0.5, 1.0),
        "bagging_freq": 1,
        "lambda_l1": trial.suggest_float("lambda_l1", 1e-8, 10.0, log=True),
        "lambda_l2": trial.suggest_float("lambda_l2", 1e-8, 10.0, log=True),
        "path_smooth": trial.suggest_float("path_smooth", 0.0, 50.0),
        "extra_trees": trial.suggest_categorical("extra_trees", [False, True]),
    }
    if data.categorical_columns:
        params["cat_smooth"] = trial.suggest_float("cat_smooth", 1.0, 100.0, log=True)
        params["cat_l2"] = trial.suggest_float("cat_l2", 1e-2, 100.0, log=True)
        if trial.suggest_categorical("cat_shrinkage", ["fixed", "auto"]) == "auto":
            params |= {"cat_prior_weight": "auto", "cat_statistics_l2": "auto"}
    return params
