"""Models of scikit-learn: which of its estimators are taken over, and by what."""

from __future__ import annotations

from typing import Any

from gossamer.errors import DataError, NotSupportedError
from gossamer.model.formats import sklearn_hgb, sklearn_trees
from gossamer.model.model import Model


def model_of(estimator: Any) -> Model:
    """Return the model of a fitted estimator.

    Raises:
        DataError: If it is not fitted.
        NotSupportedError: If it is of another kind.
    """
    from sklearn import ensemble, tree
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    kinds = {
        (
            ensemble.HistGradientBoostingRegressor,
            ensemble.HistGradientBoostingClassifier,
        ): sklearn_hgb.model_of,
        (
            ensemble.GradientBoostingRegressor,
            ensemble.GradientBoostingClassifier,
        ): sklearn_trees.boosted_model_of,
        (
            ensemble.RandomForestRegressor,
            ensemble.RandomForestClassifier,
            ensemble.ExtraTreesRegressor,
            ensemble.ExtraTreesClassifier,
            tree.DecisionTreeRegressor,
            tree.DecisionTreeClassifier,
        ): sklearn_trees.mean_model_of,
    }
    for classes, take_over in kinds.items():
        if isinstance(estimator, classes):
            try:
                check_is_fitted(estimator)
            except NotFittedError:
                raise DataError.because(
                    "the estimator is not fitted",
                    got=type(estimator).__name__,
                    hint="Call fit() first.",
                ) from None
            return take_over(estimator)
    raise NotSupportedError.because(
        "this estimator of scikit-learn cannot be taken over",
        got=type(estimator).__name__,
        expected=", ".join(kind.__name__ for classes in kinds for kind in classes),
        hint="Of a pipeline or a search, pass the fitted estimator in it.",
    )
