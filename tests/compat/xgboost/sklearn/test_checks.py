"""scikit-learn's own checks."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import estimator_checks_generator

import gossamer.compat.xgboost as xgb

LEFT_OUT = (
    # Weights against repetitions hold up to bins and rounding, as in our own estimators.
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    # Predictions are float32, as XGBoost's; this one wants float64.
    "check_regressor_multioutput",
    # Needs an environment variable.
    "check_array_api_input",
    # There is no such method, as in XGBoost.
    "check_classifiers_multilabel_output_format_decision_function",
)


@pytest.mark.parametrize(
    "estimator",
    [
        xgb.XGBClassifier(n_estimators=20),
        xgb.XGBRegressor(n_estimators=20),
        xgb.XGBRFClassifier(n_estimators=10),
        xgb.XGBRFRegressor(n_estimators=10),
        xgb.XGBModel(objective="reg:squarederror", subsample=0.7, max_bin=15, n_estimators=20),
    ],
    ids=lambda each: type(each).__name__,
)
def test_checks_of_scikit_learn(estimator: Any) -> None:
    n_checks = 0
    for model, check in estimator_checks_generator(estimator):
        if check.func.__name__ not in LEFT_OUT:
            check(model)
            n_checks += 1
    assert n_checks > 40
