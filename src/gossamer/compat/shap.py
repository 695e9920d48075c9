"""Lets `shap.TreeExplainer` take our boosters and estimators, as it takes other libraries'."""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from typing import Any

_MARK = "takes_gossamer_models"


def register() -> None:
    """Make `shap.TreeExplainer(model)` work for boosters and estimators of this package.

    Models that were trained under the names of LightGBM and XGBoost do this by themselves where
    `shap` was imported before the training. It changes `shap` for our models only; calling it
    twice has no effect.

    Raises:
        ImportError: If the package is not installed.

    Example:
        >>> import numpy as np, gossamer
        >>> x = np.arange(200.0).reshape(-1, 2)
        >>> model = gossamer.GossamerRegressor(n_estimators=2).fit(x, x[:, 0])
        >>> register()  # doctest: +SKIP
        >>> shap.TreeExplainer(model).shap_values(x).shape  # doctest: +SKIP
        (100, 2)
    """
    ensemble = import_module("shap.explainers._tree").TreeEnsemble
    original = ensemble.__init__
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def init(self: Any, model: Any, *args: Any, **kwargs: Any) -> None:
        trees = trees_of(model)
        original(self, model if trees is None else trees, *args, **kwargs)

    setattr(init, _MARK, True)
    ensemble.__init__ = init


def register_if_imported() -> None:
    """Do what `register` does, if the script has imported `shap`."""
    if "shap.explainers._tree" in sys.modules:
        register()


def trees_of(model: Any) -> dict[str, Any] | None:
    """Return the trees of a model of ours as `shap` takes them; None: it is another library's.

    Raises:
        NotSupportedError: If the package cannot describe the trees.

    Example:
        >>> from gossamer import Dataset, train
        >>> model = train({"verbosity": -1}, Dataset([[1.0], [2.0]] * 20, [0, 1] * 20), 2)
        >>> len(trees_of(model)["trees"]), trees_of("a model")
        (2, None)
    """
    if not any(each.__module__.startswith("gossamer.") for each in type(model).__mro__):
        return None
    if hasattr(type(model), "booster_"):
        model = model.booster_
    elif hasattr(type(model), "get_booster"):  # an estimator under XGBoost's names
        model = model.get_booster()
    model = getattr(model, "fitted", model)  # XGBoost's booster holds one of ours
    found: dict[str, Any] | None = model.to_shap() if hasattr(model, "to_shap") else None
    return found
