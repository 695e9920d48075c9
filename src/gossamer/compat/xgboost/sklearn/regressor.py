"""`XGBRegressor`."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin

from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.sklearn.base import XGBModel


class XGBRegressor(RegressorMixin, XGBModel):  # type: ignore[misc]
    """Gradient boosted trees that predict a number, or several.

    It takes the arguments of `XGBModel`.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> model = XGBRegressor(max_depth=3).fit(x, x[:, 0] ** 2)
        >>> model.predict([[0.6]]).round(1)
        array([0.4], dtype=float32)
    """

    @warn_of_positions
    def __init__(self, *, objective: Any = "reg:squarederror", **kwargs: Any) -> None:
        super().__init__(objective=objective, **kwargs)

    def __sklearn_tags__(self) -> Any:
        """Say that there may be several targets."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
