"""`XGBClassifier`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.sklearn.base import XGBModel
from gossamer.objectives.links import link_named
from gossamer.objectives.several import SeveralTargets
from gossamer.sklearn.class_labels import ClassLabels


class XGBClassifier(ClassLabels, ClassifierMixin, XGBModel):  # type: ignore[misc]
    """Gradient boosted trees that predict a class.

    The arguments are the same as for `XGBModel`. With more than two classes the objective is
    "multi:softprob". Classes may be numbers, strings, booleans (XGBoost's are 0, 1, ...). With
    several columns of 0 and 1 a row may have any of these labels.

    Attributes:
        classes_: The classes, sorted.
        n_classes_: How many there are.

    Example:
        >>> x = np.arange(200.0).reshape(-1, 1)
        >>> XGBClassifier(n_estimators=20).fit(x, x[:, 0] > 99).predict([[10.0], [190.0]])
        array([False,  True])
    """

    _y_numeric: ClassVar[bool] = False

    @warn_of_positions
    def __init__(self, *, objective: Any = "binary:logistic", **kwargs: Any) -> None:
        super().__init__(objective=objective, **kwargs)

    def __sklearn_tags__(self) -> Any:
        """Say that a row may have several labels."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _choose_objective(self, params: dict[str, Any]) -> str:
        if self._n_labels == 1 and self.n_classes_ > 2:
            params["num_class"] = self.n_classes_
            is_softmax = params.get("objective") == "multi:softmax"  # own metrics see classes
            return "multi:softmax" if is_softmax else "multi:softprob"
        name = params.get("objective")
        return name if isinstance(name, str) else "binary:logistic"

    def _predict_values(self, x: Any, *, output_margin: bool, **options: Any) -> npt.NDArray[Any]:
        margin = self._predict(x, output_margin=True, **options)
        return margin if output_margin else self._decide(margin, 0.0)

    def predict_proba(
        self,
        X: Any,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Predict the probability of each class; see `XGBModel.predict` for the arguments.

        Returns:
            Rows x classes, in the order of `classes_`; with several labels, rows x labels.
        """
        link = self.get_booster().link_of_classes
        found = self._predict(
            X,
            base_margin=base_margin,
            iteration_range=iteration_range,
            output_margin=link is not None,
        )
        if link is not None:
            n_outputs = found.shape[1] if found.ndim == 2 else 1
            found = link_named(link).predict(found.T.astype(np.float64).ravel(), n_outputs, 1)
        found = found.astype(np.float32)
        if self.n_classes_ == 1:
            return np.ones((len(found), 1), dtype=np.float32)
        return found if found.ndim == 2 else np.column_stack([1 - found, found])

    def _facts_for_file(self) -> dict[str, Any]:
        classes = {"classes": self.classes_.tolist()} if self._n_labels == 1 else {}
        return {**super()._facts_for_file(), **classes}

    def _use_facts(self, kept: dict[str, Any]) -> None:
        """Learn the classes; a model of XGBoost's has the classes 0, 1, ..."""
        objective = self._Booster.model.objective
        if isinstance(objective, SeveralTargets):
            self._learn_labels(np.zeros((1, objective.n_outputs), dtype=np.int64))
            return
        self._n_labels, n_classes = 1, max(objective.n_outputs, 2)
        self.classes_ = np.array(kept.get("classes", range(n_classes)))
        self.n_classes_ = len(self.classes_)
