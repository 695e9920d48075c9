"""`lightgbm.sklearn`: the estimators under LightGBM's names."""

from __future__ import annotations

import functools
import os
import warnings
from typing import TYPE_CHECKING, Any

from gossamer.compat.lightgbm.basic import Booster, LGBMDeprecationWarning
from gossamer.compat.lightgbm.conflicts import warn_of_conflicts, without_unknown
from gossamer.logger import warn
from gossamer.params import CANONICAL
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


_ARGUMENTS = frozenset(GossamerModel().get_params())


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
        super().fit(*args, **kwargs)
        self._booster = Booster.adopt(self._booster)
        return self

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


class LGBMRegressor(GossamerRegressor, LGBMModel):
    """`GossamerRegressor` with LightGBM's name, warnings and text of models."""


class LGBMRanker(GossamerRanker, LGBMModel):
    """`GossamerRanker` with LightGBM's name, warnings and text of models."""
