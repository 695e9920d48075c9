"""`GossamerClassifier`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gossamer.arguments import check_flags
from gossamer.data.table.columns import is_level
from gossamer.data.table.times import TIME_KINDS
from gossamer.errors import DataError, NotSupportedError, ParameterError
from gossamer.logger import warn
from gossamer.model import Booster
from gossamer.model.prediction.on_device import on_host
from gossamer.objectives import Binary, Custom, CustomObjective, Multiclass, SeveralTargets
from gossamer.params import TABLE
from gossamer.params.coerce import coerce
from gossamer.params.traits import OBJECTIVE_CHOICES, Kind, Traits, traits_of
from gossamer.sklearn.arguments import take_out
from gossamer.sklearn.base import GossamerModel
from gossamer.sklearn.class_labels import ClassLabels, plain_labels
from gossamer.sklearn.fit_options import FitOptions, takes

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The same metric for two and for several classes.
_METRIC_PAIRS: Final = (("binary_logloss", "multi_logloss"), ("binary_error", "multi_error"))


class GossamerClassifier(ClassLabels, ClassifierMixin, GossamerModel):  # type: ignore[misc]
    """Gradient boosted trees for classification.

    It accepts the arguments of `GossamerModel`. The default objective is "binary" for two classes
    and "multiclass" for more. Classes may be numbers, strings or booleans.

    If `y` has several columns of 0 and 1, a row may have any combination of these labels
    (multi-label, an indicator matrix). `predict` then returns such a matrix, and `predict_proba`
    the probability of each label, rows x labels.

    Attributes:
        classes_: The sorted classes; with several labels, a list with the classes of each, 0 and 1.
        n_classes_: The number of classes; 2 with several labels, because each label has two.

    Example:
        >>> x = np.arange(200.0).reshape(-1, 1)
        >>> y = np.where(x[:, 0] > 99, "high", "low")
        >>> model = GossamerClassifier(n_estimators=20).fit(x, y)
        >>> model.predict([[10.0], [190.0]])
        array(['low', 'high'], dtype='<U4')
        >>> model.predict_proba([[10.0], [190.0]]).round(1)
        array([[0.1, 0.9],
               [0.9, 0.1]])
    """

    _y_numeric: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:
        """Say that a row may have several labels."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    # ---- fitting ----

    @takes(
        "sample_weight init_score eval_set eval_names eval_sample_weight eval_class_weight "
        "eval_init_score eval_metric feature_name categorical_feature callbacks init_model",
        "eval_X eval_y",
    )
    def fit(self, X: Any, y: Any, *args: Any, **options: Unpack[FitOptions]) -> GossamerClassifier:
        """Train the model; see `GossamerModel.fit` for the arguments.

        Objective and metric functions receive labels as numbers: 0 for `classes_[0]`, and so on.

        Returns:
            The estimator itself.
        """
        super().fit(X, y, **options)
        return self

    def _check_same_classes(self, known: Any) -> None:
        if known is None or self._n_labels > 1:
            return
        if not np.array_equal(known, self.classes_):
            raise DataError.because(
                "init_model has learned other classes than there are in y",
                got=self.classes_.tolist(),
                expected=f"{np.asarray(known).tolist()}",
                hint="The new data must have every class of the old.",
            )

    def _name_classes(self, booster: Booster) -> None:
        if self._n_labels > 1 or self.n_classes_ != booster.model.objective.n_classes:
            return
        names = self.classes_.tolist()
        is_counted = self.classes_.dtype.kind != "b" and names == list(range(len(names)))
        # Days and the like would come back as numbers.
        is_time = self.classes_.dtype.kind in TIME_KINDS
        if not (is_counted or is_time) and all(map(is_level, names)):
            booster.set_class_names(names)

    def _learn_classes(self, booster: Booster) -> None:
        objective = booster.model.objective
        if isinstance(objective, SeveralTargets):
            self._n_labels, self.n_classes_ = len(objective.parts), 2
            self.classes_ = [np.array([0, 1])] * self._n_labels
            return
        if not isinstance(objective, Custom) and not objective.traits.is_for_classes:
            raise DataError.because(
                "the model is not one for classes",
                got=f"objective={objective.name}",
                expected=f"one of {_class_objectives()}",
                hint="Use GossamerRegressor, GossamerRanker or Booster(model_file=...).",
            )
        n_classes = max(objective.n_outputs, 2)
        self._n_labels = 1
        self.classes_ = np.array(booster.class_names or range(n_classes))
        self.n_classes_ = n_classes

    def _default_objective(self) -> str:
        return "multiclass" if self.n_classes_ > 2 else "binary"

    def _choose_objective(self, params: dict[str, Any]) -> None:
        super()._choose_objective(params)
        n_classes = take_out(params, "num_class")
        objective = self._objective
        traits = self._traits
        is_custom, is_multiclass = traits.kind is Kind.CUSTOM, traits.kind is Kind.MULTICLASS
        if not is_custom and not traits.is_for_classes:
            raise ParameterError.because(
                "the objective is not one for classes",
                got=objective,
                expected=f"one of {_class_objectives()}, or a function",
            )
        if not is_custom and not is_multiclass and self.n_classes_ > 2:
            raise ParameterError.because(
                f"objective={_canonical(objective)} does not fit the labels",
                found=f"{self.n_classes_} classes",
                expected="2 classes",
                hint="Use objective=multiclass, or leave it out.",
            )
        if is_multiclass and self._n_labels > 1:
            raise ParameterError.because(
                f"objective={_canonical(objective)} does not fit the labels",
                found=f"{self._n_labels} columns",
                expected="one class per row",
                hint="Use objective=binary, or leave it out.",
            )
        if n_classes is not None:
            n_classes = coerce(TABLE["num_class"], n_classes, "num_class")
        if n_classes not in (None, 1, self.n_classes_):
            raise ParameterError.because(
                "num_class is not the number of classes among the labels",
                got=n_classes,
                expected=str(self.n_classes_),
                hint="Leave it out.",
            )
        if is_multiclass or (is_custom and self._is_multiclass):
            params["num_class"] = max(self.n_classes_, 2)

    @property
    def _is_multiclass(self) -> bool:
        """Whether there is a raw score for each class."""
        objective = self._objective
        if self._n_labels > 1 or self.n_classes_ > 2:
            return self._n_labels == 1
        if isinstance(objective, CustomObjective):
            return objective.n_outputs == 2 or (
                objective.n_outputs is None and objective.link == "softmax"
            )
        return self._traits.kind is Kind.MULTICLASS

    @property
    def _traits(self) -> Traits:
        """The traits of the objective."""
        objective = self._objective
        return traits_of(objective if callable(objective) else _canonical(objective))

    @property
    def _has_own_link(self) -> bool:
        """Whether predictions are what the link of a user's objective gives."""
        objective = getattr(self, "_objective", None)
        return isinstance(objective, CustomObjective) and objective.link != "identity"

    @property
    def _decides_by_probability(self) -> bool:
        """Whether classes follow from predictions rather than from raw scores."""
        link = self.booster_.model.objective.traits.link
        return self._has_own_link or link == "calibrated"

    def _metric_of_function(self) -> str | None:
        return "multi_logloss" if self._is_multiclass else "binary_logloss"

    def _rename_metric(self, name: str) -> str:
        metric = _canonical(name, "metric")
        for binary, multi in _METRIC_PAIRS:
            if metric in (binary, multi):
                return multi if self._is_multiclass else binary
        return name

    # ---- prediction ----

    @check_flags
    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> npt.NDArray[Any]:
        """Predict the class of each row; see `GossamerModel.predict` for the arguments.

        Returns:
            One of `classes_` per row; with several labels, rows x labels of 0 and 1; raw scores or
            leaves if requested. With an objective function, always raw scores, because only its
            author knows what they mean. With a `CustomObjective` that has a link, the class with
            the highest probability, or, with a single output, `classes_[1]` if the output is above
            one half.
        """
        is_plain = not (raw_score or pred_leaf or pred_contrib)
        result = super().predict(
            X,
            raw_score=raw_score or (is_plain and not self._decides_by_probability),
            start_iteration=start_iteration,
            num_iteration=num_iteration,
            pred_leaf=pred_leaf,
            pred_contrib=pred_contrib,
            validate_features=validate_features,
            **kwargs,
        )
        if not is_plain or self._is_raw_only():
            return result
        border = 0.5 if self._decides_by_probability else 0.0
        return on_host(result, lambda scores: self._decide(scores, border))

    @check_flags
    def predict_proba(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> npt.NDArray[Any]:
        """Predict the probability of each class; see `GossamerModel.predict` for the arguments.

        Returns:
            Rows x classes, in the order of `classes_` (they may not sum to 1 with
            objective=multiclassova); with several labels, rows x labels: the probability of each
            label; raw scores or leaves if requested. With an objective function, always raw scores;
            with a `CustomObjective`, the result of its link.

        Raises:
            NotSupportedError: If the objective has no probabilities, such as hinge.
        """
        check_is_fitted(self)
        is_plain = not (raw_score or pred_leaf or pred_contrib)
        traits = self._traits
        is_hidden = is_plain and bool(traits.probabilities)
        is_known = is_hidden or traits.gives_probabilities or traits.kind is Kind.CUSTOM
        if is_plain and not is_known:
            raise NotSupportedError.because(
                f"objective={_canonical(self._objective)} has no probabilities",
                hint="Use predict or decision_function, or objective=binary.",
            )
        result = super().predict(
            X,
            raw_score=raw_score or is_hidden,
            start_iteration=start_iteration,
            num_iteration=num_iteration,
            pred_leaf=pred_leaf,
            pred_contrib=pred_contrib,
            validate_features=validate_features,
            **kwargs,
        )
        if not is_plain or self._is_raw_only():
            return result

        def finish(result: npt.NDArray[Any]) -> npt.NDArray[Any]:
            if is_hidden:
                result = self._probabilities_of(result)
            if self.n_classes_ == 1:
                return np.ones((len(result), 1))
            return result if result.ndim == 2 else np.column_stack([1 - result, result])

        return on_host(result, finish)

    def _probabilities_of(self, score: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Probabilities from raw scores, by the link that the objective itself leaves out."""
        if not self._is_multiclass:
            objective = self.booster_.model.objective
            assert isinstance(objective, Binary)
            return Binary(objective.sigmoid).to_predictions(score, 1)
        return Multiclass(score.shape[1]).to_predictions(np.ascontiguousarray(score.T).ravel(), 1)

    def decision_function(
        self,
        X: Any,
        *,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> npt.NDArray[Any]:
        """Return raw scores; see `GossamerModel.predict` for the arguments.

        Returns:
            With two classes, one number per row, above 0 for `classes_[1]`; with more, rows x
            classes; with several labels, rows x labels.
        """
        score = super().predict(
            X,
            raw_score=True,
            start_iteration=start_iteration,
            num_iteration=num_iteration,
            validate_features=validate_features,
            **kwargs,
        )
        if self._is_multiclass and self.n_classes_ <= 2:
            return on_host(score, lambda both: both[:, 1] - both[:, 0])
        return score

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted correctly; 1 is perfect.

        Args:
            X: Rows x columns, as in `fit`.
            y: Labels, or the name of their column, as in `fit`.
            sample_weight: One number >= 0 per row, or the name of a column.
        """
        parts = self._take_columns(X, y=y, sample_weight=sample_weight)
        label, weight = plain_labels(parts.fields["y"]), parts.fields["sample_weight"]
        return float(super().score(parts.table, label, weight))

    def _is_raw_only(self) -> bool:
        """Whether raw scores are all there is; warns if so."""
        if callable(self._objective) and not self._has_own_link:
            warn(
                "An objective function has no probabilities and no classes: "
                "raw scores are returned instead."
            )
            return True
        return False


def _class_objectives() -> str:
    """The objectives that a classifier may be trained with."""
    return ", ".join(name for name in OBJECTIVE_CHOICES if traits_of(name).is_for_classes)


def _canonical(name: Any, parameter: str = "objective") -> Any:
    """The canonical name of an objective or a metric."""
    found = coerce(TABLE[parameter], name)
    return found[0] if isinstance(found, tuple) and found else found
