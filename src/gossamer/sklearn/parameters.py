"""`Parameters`: the arguments of the estimators, and parameters by any other name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from sklearn.utils.validation import check_is_fitted

from gossamer.errors import ParameterError, check_choice
from gossamer.model import Booster
from gossamer.model.inspection.importance import IMPORTANCE_TYPES
from gossamer.params import CANONICAL, TABLE, Params, resolve
from gossamer.params.coerce import did_you_mean
from gossamer.sklearn.arguments import training_params
from gossamer.sklearn.estimator import Estimator

if TYPE_CHECKING:
    from typing_extensions import Self


class Parameters(Estimator):
    """An estimator that keeps its parameters as they were given; see `GossamerModel`.

    Example:
        >>> found = Parameters(num_leaves=7, max_bin=15).get_params()
        >>> found["num_leaves"], found["max_bin"], found["n_estimators"]
        (7, 15, 100)
    """

    _others_are_in: ClassVar[str] = "_other_params"

    def __init__(
        self,
        *,
        boosting_type: str = "gbdt",
        num_leaves: int = 31,
        max_depth: int = -1,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample_for_bin: int = 200000,
        objective: Any = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        min_split_gain: float = 0.0,
        min_child_weight: float = 0.001,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        subsample_freq: int = 0,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        importance_type: str = "split",
        **kwargs: Any,
    ) -> None:
        self.boosting_type = boosting_type
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample_for_bin = subsample_for_bin
        self.objective = objective
        self.class_weight = class_weight
        self.min_split_gain = min_split_gain
        self.min_child_weight = min_child_weight
        self.min_child_samples = min_child_samples
        self.subsample = subsample
        self.subsample_freq = subsample_freq
        self.colsample_bytree = colsample_bytree
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.importance_type = importance_type
        if kwargs:
            self._other_params = kwargs

    def __getattr__(self, name: str) -> Any:
        """Return a parameter that was given as one of `**kwargs`.

        Raises:
            NotFittedError: If `fit` must be called before there is such an attribute.
            AttributeError: If there is none.
        """
        if name in self._others:
            return self._others[name]
        if name in _LEARNED or hasattr(type(self), name):  # a property that needs a model
            check_is_fitted(self)
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if not name.startswith("_") and callable(getattr(Booster, name, None)):
            text += f". The model has it: use booster_.{name}"
        raise AttributeError(text, name=name)

    def _own(self, name: str) -> Any:
        """Return an argument that is not a parameter of a training; None: not given."""
        return self._others.get(name)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, those given as `**kwargs` included.

        Args:
            deep: Has no effect: no parameter is an estimator.
        """
        params: dict[str, Any] = super().get_params(deep)
        kinds = [p.kind for p in inspect.signature(type(self).__init__).parameters.values()]
        if inspect.Parameter.VAR_KEYWORD in kinds:  # a subclass may pass arguments on
            params = {**{name: getattr(self, name) for name in _DEFAULTS}, **params}
        return {**params, **self._others}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by any of their names.

        Raises:
            ParameterError: If there is no such parameter.
        """
        known = self.get_params(deep=False)
        for name in params:
            if name not in {*CANONICAL, *OWN} and name.partition("__")[0] not in known:
                raise ParameterError.because(
                    f"unknown parameter of {type(self).__name__}",
                    got=name,
                    hint=did_you_mean(name, {*CANONICAL, *OWN, *known}),
                )
        others = {
            name: value
            for name, value in params.items()
            if name in self._others or (name not in known and name in {*CANONICAL, *OWN})
        }
        if others:
            self._other_params = {**self._others, **others}
        super().set_params(**{name: v for name, v in params.items() if name not in others})
        return self

    def _checked_params(self) -> dict[str, Any]:
        """Return the parameters that were given, after checking names and values."""
        arguments = {name: getattr(self, name) for name in _DEFAULTS}
        others = {
            name: value
            for name, value in self._known_others().items()
            if name not in OWN
            and not (name == "early_stopping" and isinstance(value, str) and value == "auto")
        }
        if others.get("early_stopping") is True:
            raise ParameterError.because(
                "early_stopping must be 'auto' or a number of rounds",
                got=True,
                hint="early_stopping='auto' holds rows out and stops by itself; with an eval_set, "
                "early_stopping=50 stops after 50 rounds without improvement.",
            )
        params = training_params(arguments, _DEFAULTS, others)
        for name in [n for n in params if CANONICAL.get(n) == "categorical_feature"]:
            if isinstance(params[name], str) and params[name] == _FROM_TYPES:
                del params[name]
        resolve(params, context="dataset")
        check_choice("importance_type", self.importance_type, IMPORTANCE_TYPES)
        return params

    def _known_others(self) -> dict[str, Any]:
        """Return the parameters that were given as `**kwargs`."""
        return self._others

    def _prediction_params(self, given: Mapping[str, Any], trained_with: Params) -> dict[str, Any]:
        """Return parameters of predictions that were set, also after `fit`, and are not given."""
        known = {CANONICAL.get(name) for name in given}
        found = {
            CANONICAL[name]: value
            for name, value in self._others.items()
            if name in CANONICAL
            and name not in OWN
            and TABLE[CANONICAL[name]].group == "Prediction"
            and CANONICAL[name] not in known
        }
        resolved = resolve(found, context="predict")
        return {name: v for name, v in found.items() if resolved[name] != trained_with[name]}


# Arguments of the estimators that say how to train, and are not parameters of a training.
OWN: Final = ("folds", "calibration", "quality", "time_limit")

# scikit-learn's word for: columns of categories are categorical, as here by default.
_FROM_TYPES: Final = "from_dtype"

# Attributes that `fit` sets; before, there are none.
_LEARNED: Final = ("n_features_in_", "feature_names_in_", "classes_", "n_classes_")

# The arguments of the constructor and their defaults.
_DEFAULTS: Final[Mapping[str, Any]] = {
    name: parameter.default
    for name, parameter in inspect.signature(Parameters.__init__).parameters.items()
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY
}
