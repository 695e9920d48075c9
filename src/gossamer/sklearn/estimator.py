"""What our estimators and those with XGBoost's names have in common."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from gossamer.sklearn.inputs import Array


class Estimator(BaseEstimator):  # type: ignore[misc]
    """An estimator of tables that may be sparse, with missing values and categories."""

    # Whether labels must be numbers.
    _y_numeric: ClassVar[bool] = True
    # The attribute that keeps parameters which are not arguments of the constructor by name.
    _others_are_in: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may expect: missing values and sparse tables are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = self._takes_categories()
        tags.target_tags.required = True
        return tags

    def _takes_categories(self) -> bool:
        return True

    @property
    def _others(self) -> dict[str, Any]:
        """Parameters that are not arguments of the constructor by name."""
        others: dict[str, Any] = vars(self).get(self._others_are_in, {})
        return others

    def _learn_labels(self, y: Array) -> Array:
        """Return the labels as numbers."""
        return y

    def _encode_labels(self, y: Any, name: str) -> Array:
        """Return the labels of an evaluation set as numbers."""
        labels: Array = y
        return labels


def encode_labels(estimator: Estimator, y: Any, name: str) -> Array:
    """Return labels as the numbers that an estimator trains on."""
    return estimator._encode_labels(y, name)
