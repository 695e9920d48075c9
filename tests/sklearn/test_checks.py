"""scikit-learn's own checks: every one, with no failure and no expected failure."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import (
    check_estimator,
    estimator_checks_generator,
    parametrize_with_checks,
)

from gossamer import GossamerClassifier, GossamerModel, GossamerRegressor

# Many checks use so few rows that the defaults cannot split; that is said, see test_few_rows.py.
few_rows = pytest.mark.filterwarnings("ignore:no split is possible:UserWarning")
no_array_api = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@few_rows
@parametrize_with_checks(
    [GossamerClassifier(), GossamerRegressor(), GossamerModel(objective="regression")]
)
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        GossamerClassifier(min_child_samples=1, subsample=0.7, max_bin=15),
        GossamerRegressor(min_child_samples=1, colsample_bytree=0.5, grow_policy="depthwise"),
    ],
    ids=repr,
)
def test_checks_where_trees_split(estimator: Any) -> None:
    """With leaves so small that every model has trees."""
    for model, check in estimator_checks_generator(estimator):
        # Weights against repetitions hold up to bins and rounding: see test_weights.py.
        if check.func.__name__ not in (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
            "check_array_api_input",
        ):
            check(model)


@few_rows
@no_array_api
@pytest.mark.parametrize("estimator", [GossamerClassifier(), GossamerRegressor()], ids=repr)
def test_check_estimator(estimator: Any) -> None:
    results = check_estimator(estimator)
    others = {r["check_name"] for r in results if r["status"] != "passed"}
    assert len(results) > 50
    assert others <= {"check_array_api_input"}, "only that one needs an environment variable"
    assert not [r["check_name"] for r in results if r["expected_to_fail"]]


@pytest.mark.slow
def test_no_check_is_skipped_nor_warns() -> None:
    """With SCIPY_ARRAY_API, which must be set before scipy is imported, not one is left out."""
    script = """
import warnings
from sklearn.utils.estimator_checks import check_estimator
from gossamer import GossamerClassifier, GossamerRegressor
warnings.simplefilter("error")
for estimator in (GossamerClassifier(verbose=-1), GossamerRegressor(verbose=-1)):
    statuses = {result["status"] for result in check_estimator(estimator)}
    assert statuses == {"passed"}, statuses
"""
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
