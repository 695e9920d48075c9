"""One library, one kind of table: ``python -m benchmarks.inputs.try_one LIBRARY KIND``."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.inputs.kinds import KINDS, N_ROWS, label

Fit = Callable[[Any, Any], Any]


def _gossamer(x: Any, y: Any) -> Any:
    import gossamer

    return gossamer.train({"verbose": -1}, gossamer.Dataset(x, y), 20).predict(x)


def _lightgbm(x: Any, y: Any) -> Any:
    import lightgbm

    return lightgbm.train({"verbose": -1}, lightgbm.Dataset(x, y), 20).predict(x)


def _xgboost(x: Any, y: Any) -> Any:
    import xgboost

    data = xgboost.DMatrix(x, y, enable_categorical=True)
    return xgboost.train({}, data, 20).predict(xgboost.DMatrix(x, enable_categorical=True))


def _catboost(x: Any, y: Any) -> Any:
    import catboost

    model = catboost.CatBoostRegressor(iterations=20, verbose=False, allow_writing_files=False)
    return model.fit(x, y).predict(x)


def _sklearn(x: Any, y: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype")
    return model.fit(x, y).predict(x)


LIBRARIES: dict[str, Fit] = {
    "gossamer": _gossamer,
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "catboost": _catboost,
    "sklearn": _sklearn,
}


def main(library: str, kind: str) -> dict[str, str]:
    """Trains and predicts; returns how it went."""
    warnings.simplefilter("ignore")
    y = label()
    try:
        x = KINDS[kind]()
    except ImportError as error:
        return {"result": "absent", "detail": str(error)}
    try:
        found = np.asarray(LIBRARIES[library](x, y), dtype=np.float64)
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        return {"result": "error", "detail": f"{type(error).__name__}: {lines[0][:200]}"}
    if found.shape != (N_ROWS,) or not np.isfinite(found).all():
        return {"result": "wrong", "detail": f"predictions of shape {found.shape}"}
    # Far from the label: the table was misread.
    error = float(np.mean((found - y) ** 2) / np.var(y))
    return {"result": "ok" if error < 0.5 else "wrong", "detail": f"error {error:.3f} of 1"}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2])))
