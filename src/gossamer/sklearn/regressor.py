"""`GossamerRegressor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import RegressorMixin

from gossamer.sklearn.base import GossamerModel
from gossamer.sklearn.fit_options import FitOptions, takes
from gossamer.sklearn.scores import score_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


class GossamerRegressor(RegressorMixin, GossamerModel):  # type: ignore[misc]
    """Gradient boosted trees for regression.

    It accepts the arguments of `GossamerModel`. The default objective is "regression" (squared
    error). If the labels have several columns, it predicts as many numbers.

    Further arguments train more than one model, or choose the number of rounds:

    - `quality="good"` or `"best"` chooses settings; `time_limit` is the time for it in seconds.
    - `folds=8` trains on folds and averages the models. `predict_interval(X, coverage=0.9)` then
      returns prediction intervals, and `oof_score_` is the score on rows that were held out.
      (`calibration` of probabilities is for `GossamerClassifier`.)
    - `early_stopping="auto"` holds rows out to find the number of rounds, then trains on all rows.
    - `objective="quantile", quantile_alpha=[0.05, 0.95]` predicts quantiles.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> model = GossamerRegressor(learning_rate=0.3).fit(x, x[:, 0] ** 2)
        >>> model.predict([[0.6]]).round(1)
        array([0.4])
    """

    def _metric_of_function(self) -> str | None:
        return "l2"

    def __sklearn_tags__(self) -> Any:
        """Say that there may be several targets."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _default_objective(self) -> str:
        return "regression"

    @takes(
        "sample_weight init_score eval_set eval_names eval_sample_weight eval_init_score "
        "eval_metric feature_name categorical_feature callbacks init_model",
        "eval_X eval_y",
    )
    def fit(self, X: Any, y: Any, *args: Any, **options: Unpack[FitOptions]) -> GossamerRegressor:
        """Train the model; see `GossamerModel.fit` for the arguments.

        Returns:
            The estimator itself.
        """
        super().fit(X, y, **options)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return how good the predictions are; 1 is perfect.

        The score is R^2. It is Harrell's concordance index with `cox` and `aft`, R^2 of the mean
        with `gaussian`, and the mean D^2 (explained pinball loss) with several quantiles.

        Args:
            X: Rows x columns, as in `fit`.
            y: Labels, or the name of their column, as in `fit`.
            sample_weight: One number >= 0 per row, or the name of a column.
        """
        parts = self._take_columns(X, y=y, sample_weight=sample_weight)
        x, label, weight = parts.table, parts.fields["y"], parts.fields["sample_weight"]
        found = score_of(
            self.booster_.model.objective, self.predict(x, raw_score=True), label, weight
        )
        return float(super().score(x, label, weight)) if found is None else found
