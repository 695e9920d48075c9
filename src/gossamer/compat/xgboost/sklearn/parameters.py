"""`XGBParameters`: the arguments of XGBoost's estimators, and its parameters by other names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.sklearn.arguments import to_seed
from gossamer.sklearn.estimator import Estimator

if TYPE_CHECKING:
    from typing_extensions import Self

# Arguments of the constructor that are not parameters of a training.
_NOT_FOR_TRAINING: Final = (
    "callbacks",
    "early_stopping_rounds",
    "enable_categorical",
    "feature_types",
    "feature_weights",
    "importance_type",
    "missing",
    "n_estimators",
)
_DEFAULT_ROUNDS: Final = 100


class XGBParameters(Estimator):
    """An estimator that keeps its parameters as they were given; see `XGBModel`.

    Example:
        >>> found = XGBParameters(max_depth=3, max_cached_hist_node=9).get_xgb_params()
        >>> found["max_depth"], found["max_cached_hist_node"], found["reg_lambda"]
        (3, 9, None)
    """

    _others_are_in: ClassVar[str] = "kwargs"

    @warn_of_positions
    def __init__(
        self,
        *,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        max_bin: int | None = None,
        grow_policy: str | None = None,
        learning_rate: float | None = None,
        n_estimators: int | None = None,
        verbosity: int | None = None,
        objective: Any = None,
        booster: str | None = None,
        tree_method: str | None = None,
        n_jobs: int | None = None,
        gamma: float | None = None,
        min_child_weight: float | None = None,
        max_delta_step: float | None = None,
        subsample: float | None = None,
        sampling_method: str | None = None,
        colsample_bytree: float | None = None,
        colsample_bylevel: float | None = None,
        colsample_bynode: float | None = None,
        reg_alpha: float | None = None,
        reg_lambda: float | None = None,
        scale_pos_weight: float | None = None,
        base_score: Any = None,
        random_state: Any = None,
        missing: float = np.nan,
        num_parallel_tree: int | None = None,
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        importance_type: str | None = None,
        device: str | None = None,
        validate_parameters: bool | None = None,
        enable_categorical: bool = False,
        feature_types: Sequence[str] | None = None,
        feature_weights: Any = None,
        max_cat_to_onehot: int | None = None,
        max_cat_threshold: int | None = None,
        multi_strategy: str | None = None,
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        callbacks: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.max_bin = max_bin
        self.grow_policy = grow_policy
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.verbosity = verbosity
        self.objective = objective
        self.booster = booster
        self.tree_method = tree_method
        self.n_jobs = n_jobs
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling_method = sampling_method
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.colsample_bynode = colsample_bynode
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.scale_pos_weight = scale_pos_weight
        self.base_score = base_score
        self.random_state = random_state
        self.missing = missing
        self.num_parallel_tree = num_parallel_tree
        self.monotone_constraints = monotone_constraints
        self.interaction_constraints = interaction_constraints
        self.importance_type = importance_type
        self.device = device
        self.validate_parameters = validate_parameters
        self.enable_categorical = enable_categorical
        self.feature_types = feature_types
        self.feature_weights = feature_weights
        self.max_cat_to_onehot = max_cat_to_onehot
        self.max_cat_threshold = max_cat_threshold
        self.multi_strategy = multi_strategy
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.callbacks = callbacks
        if kwargs:
            self.kwargs = kwargs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, those given as `**kwargs` included.

        Args:
            deep: Has no effect: no parameter is an estimator.
        """
        return {**{name: getattr(self, name) for name in sorted(_ARGUMENTS)}, **self._others}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those with other names than the constructor's are kept for training."""
        others = {name: value for name, value in params.items() if name not in _ARGUMENTS}
        for name in params.keys() - others.keys():
            setattr(self, name, params[name])
        if others:
            self.kwargs = {**self._others, **others}
        return self

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters of a training; None: XGBoost's default."""
        params = {
            name: value
            for name, value in self.get_params().items()
            if name not in _NOT_FOR_TRAINING
        }
        return params | {"random_state": to_seed(self.random_state)}

    def get_num_boosting_rounds(self) -> int:
        """Return the number of rounds to train."""
        return _DEFAULT_ROUNDS if self.n_estimators is None else self.n_estimators


# The arguments of the constructor.
_ARGUMENTS: Final[Mapping[str, Any]] = {
    name: parameter.default
    for name, parameter in inspect.signature(XGBParameters.__init__).parameters.items()
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY
}
