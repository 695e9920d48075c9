"""`lightgbm.sklearn`: the estimators under LightGBM's names."""

from __future__ import annotations

import functools
import os
import warnings
from typing import TYPE_CHECKING, Any, Final

from gossamer.compat.lightgbm.basic import Booster, LGBMDeprecationWarning
from gossamer.compat.lightgbm.conflicts import warn_of_conflicts, without_unknown
from gossamer.compat.lightgbm.shown_params import shown_params
from gossamer.logger import warn
from gossamer.params import CANONICAL, unused_allowed
from gossamer.sklearn import (
    GossamerClassifier,
    GossamerModel,
    GossamerRanker,
    GossamerRegressor,
)
from gossamer.sklearn.parameters import OWN

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

    def __sklearn_tags__(self) -> Any:
        """Say what LightGBM's estimators say: labels are one column."""
        tags = super().__sklearn_tags__()
        tags.target_tags.one_d_labels = True
        return tags

    def fit(self, *args: Any, **kwargs: Any) -> Self:
        """Train the model; see `GossamerModel.fit`."""
        _warn_of_arguments(self.get_params())
        if kwargs.get("eval_set") is not None:
            text = "eval_set is deprecated in LightGBM: use eval_X and eval_y instead."
            warnings.warn(text, LGBMDeprecationWarning, stacklevel=3)
        with unused_allowed():
            super().fit(*args, **kwargs)
        self._booster = Booster.adopt(self._booster)
        self._booster.params = self._shown_params(self._booster)
        return self

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
