"""Models of other libraries as they are in memory."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, cast

from gossamer.errors import ParameterError
from gossamer.model.model import Model

# Package that an object's class (or a class that it inherits from) is of: the module whose
# `model_of(object)` gives a `Model`.
PACKAGES: Final[dict[str, str]] = {
    "lightgbm": "gossamer.model.formats.lightgbm",
    "xgboost": "gossamer.model.formats.xgboost",
    "catboost": "gossamer.model.formats.catboost",
    "sklearn": "gossamer.model.formats.sklearn_models",
}


def model_of(found: object) -> Model:
    """Return the model of another library's object, or one of Gossamer's own as it is.

    Raises:
        ParameterError: If it is of no library that is known.
    """
    if isinstance(found, Model):
        return found
    for kind in type(found).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in PACKAGES:
            module: Any = import_module(PACKAGES[package])
            return cast(Model, module.model_of(found))
    raise ParameterError.because(
        "this is not a model that Gossamer can take over",
        got=type(found).__name__,
        expected=f"a trained model of {', '.join(PACKAGES)}",
    )
