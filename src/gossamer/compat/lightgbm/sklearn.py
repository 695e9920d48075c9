"""`lightgbm.sklearn`: the estimators under LightGBM's names."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.compat.lightgbm.basic import Booster, LGBMDeprecationWarning
from gossamer.compat.lightgbm.conflicts import warn_of_conflicts, without_unknown
from gossamer.compat.lightgbm.shown_params import shown_params
from gossamer.data.table.frames import frame_names, is_frame
from gossamer.logger import warn
from gossamer.params import CANONICAL, unused_allowed
from gossamer.sklearn import (
    GossamerClassifier,
    GossamerModel,
    GossamerRanker,
    GossamerRegressor,
)
from gossamer.sklearn.parameters import OWN
from gossamer.train import raises_interrupts

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LGBMClassifier", "LGBMModel", "LGBMRanker", "LGBMRegressor"]


def _warn_of_arguments(params: dict[str, Any]) -> None:
    """Warn of other names of `objective`, and of `eval_at`, which win over the arguments."""
    for name, value in params.items():
        for argument in ("objective", "eval_at"):
            if name != "objective" and value is not None and CANONICAL.get(name) == argument:
                warn(f"Found {name!r} in params: using it instead of the {argument!r} argument.")
    # Arguments at their defaults are not given: the estimator passes over them.
    others = {name: value for name, value in params.items() if name not in _ARGUMENTS}
    warn_of_conflicts(others)


_ARGUMENTS: Final = tuple(GossamerModel().get_params())
# LightGBM looks for other names of these, and uses what they say.
_WON_BY_ALIASES: Final = frozenset({"objective", "num_iterations", "num_threads"})


class LGBMModel(GossamerModel):
    """`GossamerModel` with LightGBM's name, warnings and text of models.

    Example:
        >>> x = [[float(i)] for i in range(200)]
        >>> model = LGBMModel(objective="regression", n_estimators=2).fit(x, range(200))
        >>> model.booster_.model_to_string().startswith("tree")
        True
    """

    _has_given_names: bool = False  # names of columns that no frame had

    def __sklearn_tags__(self) -> Any:
        """Say what LightGBM's estimators say: labels are one column."""
        tags = super().__sklearn_tags__()
        tags.target_tags.one_d_labels = True
        return tags

    def fit(self, *args: Any, **kwargs: Any) -> Self:
        """Train the model; see `GossamerModel.fit`."""
        if kwargs.get("eval_set") is not None:
            text = "eval_set is deprecated in LightGBM: use eval_X and eval_y instead."
            warnings.warn(text, LGBMDeprecationWarning, stacklevel=3)
        self._fit_by(super().fit, *args, **kwargs)
        return self

    def _fit_by(self, fit: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Train the model with LightGBM's warnings, and without ours."""
        _warn_of_arguments(self.get_params())
        self._has_given_names = False
        with unused_allowed(), raises_interrupts():
            fit(*args, **kwargs)
        self._booster = Booster.adopt(self._booster)
        self._booster.params = self._shown_params(self._booster)
        names = self._booster.model.names
        made_up = [f"Column_{i}" for i in range(len(names))]
        self._has_given_names = list(names) != list(vars(self).get("feature_names_in_", made_up))

    @property
    def feature_names_in_(self) -> npt.NDArray[np.str_]:
        """Names of the columns as text; those given as `feature_name` win over a frame's.

        Raises:
            AttributeError: If the training data had no names.
        """
        if self._has_given_names:
            return np.array(self.feature_name_)
        try:
            return np.array([str(name) for name in vars(self)["feature_names_in_"]])
        except KeyError:
            raise AttributeError("feature_names_in_") from None

    @feature_names_in_.setter
    def feature_names_in_(self, names: npt.NDArray[Any]) -> None:
        self.__dict__["feature_names_in_"] = names  # a frame's: scikit-learn and `fit` set them

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        self.__dict__.pop("feature_names_in_", None)

    def _check_rows(self, x: Any, validate_features: bool | None) -> Any:
        """Check rows to predict; frames only where the model was fitted on one.

        The columns have the names of that frame, or those that were given as `feature_name`.
        """
        if validate_features is None and is_frame(x):
            known = vars(self).get("feature_names_in_")
            names = frame_names(x)
            if known is None or names in (list(known), self.feature_name_):
                validate_features = False
        return super()._check_rows(x, validate_features)

    def _checked_params(self) -> dict[str, Any]:
        """Return the parameters that were given.

        As in LightGBM, an argument of the constructor wins over its other names, whatever its
        value, where it is the parameter's own name.
        """
        params = super()._checked_params()
        arguments = [name for name in _ARGUMENTS if CANONICAL.get(name) == name]
        for name in set(arguments) - _WON_BY_ALIASES - params.keys():
            others = [other for other in params if CANONICAL.get(other) == name]
            if others:
                value = getattr(self, name)
                listed = ", ".join(f"{other}={params[other]!r}" for other in others)
                warn(f"{name} is set to {value!r}: {listed} is ignored. Use {name} instead.")
                params[name] = value
        return params

    def _shown_params(self, booster: Booster) -> dict[str, Any]:
        """Return what LightGBM's `booster_.params` says: all arguments of the constructor."""
        given = {CANONICAL.get(name) for name in booster.params}
        trained_with = booster.resolved_params
        shown = {
            name: trained_with[CANONICAL[name]]
            for name in _ARGUMENTS
            if name in CANONICAL and CANONICAL[name] not in given
        }
        return shown_params({**shown, **booster.params}, self.n_estimators)

    def _known_others(self) -> dict[str, Any]:
        """Return the parameters that are known; as in LightGBM, others are passed over."""
        own = {name: value for name, value in self._others.items() if name in OWN}
        others = {name: value for name, value in self._others.items() if name not in OWN}
        return {**without_unknown(others), **own}

    def load_model(self, filename: str | os.PathLike[str]) -> Self:
        """Take a model from a file; see `GossamerModel.load_model`."""
        self._has_given_names = False
        super().load_model(filename)
        self._booster = Booster.adopt(self._booster)
        return self


# scikit-learn looks for `sample_weight` in the signature.
functools.update_wrapper(LGBMModel.fit, GossamerModel.fit, assigned=())


class LGBMClassifier(GossamerClassifier, LGBMModel):
    """`GossamerClassifier` with LightGBM's name, warnings and text of models.

    Example:
        >>> x = [[float(i)] for i in range(200)]
        >>> model = LGBMClassifier(n_estimators=20).fit(x, [i > 99 for i in range(200)])
        >>> model.predict([[10.0], [190.0]])
        array([False,  True])
    """

    def __sklearn_tags__(self) -> Any:
        """Say what LightGBM's classifier says: a row has one label."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


class LGBMRegressor(GossamerRegressor, LGBMModel):
    """`GossamerRegressor` with LightGBM's name, warnings and text of models."""


class LGBMRanker(GossamerRanker, LGBMModel):
    """`GossamerRanker` with LightGBM's name, warnings and text of models."""
