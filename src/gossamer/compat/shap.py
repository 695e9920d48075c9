"""Lets `shap.TreeExplainer` take our boosters and estimators, as it takes other libraries'."""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_MARK: Final = "takes_gossamer_models"
_TREES: Final = "shap.explainers._tree"


def register() -> None:
    """Make `shap.TreeExplainer(model)` work for boosters and estimators of this package.

    `import gossamer` and `import shap` in the same program, in any order, are enough: this is for
    programs that take the finders of others off `sys.meta_path`. It changes `shap` for our models
    only; calling it twice has no effect.

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
    ensemble = import_module(_TREES).TreeEnsemble
    original = ensemble.__init__
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def init(self: Any, model: Any, *args: Any, **kwargs: Any) -> None:
        trees = trees_of(model)
        original(self, model if trees is None else trees, *args, **kwargs)

    setattr(init, _MARK, True)
    ensemble.__init__ = init


def register_with_import() -> None:
    """Do what `register` does as soon as the program imports `shap`; at once if it already has."""
    if _TREES in sys.modules:
        register()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Waits for the import of the module that reads models; other modules are not its concern."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != _TREES:
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            loader: Any = _Loader(spec.loader)  # (the class of loaders takes long to import)
            spec.loader = loader
        return spec


class _Loader:
    """Loads the module as its own loader does, and registers our models."""

    def __init__(self, own: Loader) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        module.__loader__ = self._own
        self._own.exec_module(module)
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
