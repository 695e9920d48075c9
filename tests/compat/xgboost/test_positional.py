"""Arguments by position that XGBoost wants by name: it takes them, and warns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer.compat.xgboost as ours


def test_train(xgb: Any, few_values: Any, capsys: Any) -> None:
    data = xgb.DMatrix(few_values.x, few_values.y)
    with pytest.warns(FutureWarning, match=r"Pass `evals` as keyword args"):
        model = xgb.train({"nthread": 1}, data, 3, [(data, "train")])
    assert model.num_boosted_rounds() == 3
    assert "[2]\ttrain-rmse" in capsys.readouterr().out


def test_cv(xgb: Any, few_values: Any) -> None:
    data = xgb.DMatrix(few_values.x, few_values.y)
    with pytest.warns(FutureWarning, match="Pass `nfold, stratified"):
        found = xgb.cv({"nthread": 1}, data, 2, 4, False, None, "mae")
    assert next(iter(found)) == "train-mae-mean" and len(found) == 2


@pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix"])
def test_data(xgb: Any, few_values: Any, kind: str) -> None:
    weight = np.arange(500.0)
    with pytest.warns(FutureWarning, match="Pass `weight` as keyword args"):
        data = getattr(xgb, kind)(few_values.x, few_values.y, weight)
    np.testing.assert_array_equal(data.get_weight(), weight)


def test_predict(xgb: Any, few_values: Any) -> None:
    data = xgb.DMatrix(few_values.x, few_values.y > 9)
    model = xgb.train({"objective": "binary:logistic", "nthread": 1}, data, 3)
    with pytest.warns(FutureWarning, match="Pass `output_margin`"):
        found = model.predict(data, True)
    np.testing.assert_array_equal(found, model.predict(data, output_margin=True))
    with pytest.warns(FutureWarning, match="Pass `iteration_range`"):
        model.inplace_predict(few_values.x, (0, 2))


def test_estimators(xgb: Any, few_values: Any) -> None:
    weight = np.where(few_values.y > 30, 100.0, 1.0)
    with pytest.warns(FutureWarning, match="Pass `objective`"):
        model = xgb.XGBRegressor("reg:absoluteerror", n_estimators=3, n_jobs=1)
    assert model.objective == "reg:absoluteerror"
    with pytest.warns(FutureWarning, match="Pass `sample_weight`"):
        model.fit(few_values.x, few_values.y, weight)
    with pytest.warns(FutureWarning, match="Pass `output_margin`"):
        model.predict(few_values.x, True)


def test_more_than_there_are() -> None:
    with pytest.raises(TypeError, match="positional argument"):
        ours.callback.EarlyStopping(*range(9))
