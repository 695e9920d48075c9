"""`XGBRFClassifier` and `XGBRFRegressor`: random forests."""

from __future__ import annotations

from typing import Any

from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.sklearn.base import XGBModel
from gossamer.compat.xgboost.sklearn.classifier import XGBClassifier
from gossamer.compat.xgboost.sklearn.regressor import XGBRegressor
from gossamer.errors import NotSupportedError


class _Forest(XGBModel):
    """Trees that are grown side by side: `n_estimators` parallel trees of one round."""

    @warn_of_positions
    def __init__(
        self,
        *,
        learning_rate: float = 1.0,
        subsample: float = 0.8,
        colsample_bynode: float = 0.8,
        reg_lambda: float = 1e-5,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            subsample=subsample,
            colsample_bynode=colsample_bynode,
            reg_lambda=reg_lambda,
            **kwargs,
        )

    def _training_params(self) -> tuple[dict[str, Any], Any]:
        for name in ("early_stopping_rounds", "callbacks"):
            if getattr(self, name) is not None:
                raise NotSupportedError.because(
                    f"{name} cannot be used with random forests", got=getattr(self, name)
                )
        return super()._training_params()

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters of a training; None: XGBoost's default."""
        n_trees = super().get_num_boosting_rounds()
        return {**super().get_xgb_params(), "num_parallel_tree": n_trees}

    def get_num_boosting_rounds(self) -> int:
        """Return the number of rounds to train: all trees belong to one."""
        return 1


class XGBRFRegressor(_Forest, XGBRegressor):
    """A random forest that predicts a number.

    It takes the arguments of `XGBModel`; each tree sees 0.8 of the rows, and each node 0.8 of
    the columns, unless others are given.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> XGBRFRegressor(n_estimators=20).fit(x, np.sqrt(x[:, 0])).predict([[0.25]]).round(1)
        array([0.5], dtype=float32)
    """


class XGBRFClassifier(_Forest, XGBClassifier):
    """A random forest that predicts a class; the arguments are the same as for `XGBRFRegressor`.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> model = XGBRFClassifier(n_estimators=20).fit(x, x[:, 0] > 0.5)
        >>> model.predict([[0.6], [0.1]])
        array([ True, False])
    """
