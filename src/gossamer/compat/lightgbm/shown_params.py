"""What `Booster.params` says after a training, and of a loaded model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gossamer.errors import GossamerError
from gossamer.model.formats import lightgbm
from gossamer.model.formats.lightgbm_parameters import listed_parameters
from gossamer.params import CANONICAL, resolve


def shown_params(
    params: Mapping[str, Any], n_rounds: int, categorical: Sequence[int] = ()
) -> dict[str, Any]:
    """Return parameters as LightGBM keeps them: with `num_iterations`, and functions as "none".

    Args:
        params: The parameters of a training, as given.
        n_rounds: `num_boost_round`, for which a number of rounds among the parameters is used
            instead.
        categorical: The categorical columns of the training data.

    Example:
        >>> shown_params({"eta": 0.2, "n_estimators": 5, "objective": lambda p, d: (p, p)}, 100)
        {'eta': 0.2, 'num_iterations': 5, 'objective': 'none'}
        >>> shown_params({"eta": 0.2}, 100)
        {'eta': 0.2, 'num_iterations': 100}
    """
    shown = {}
    for name, value in params.items():
        canonical = CANONICAL.get(name, name)
        if canonical == "early_stopping_round" and value is None:
            continue
        if canonical == "num_iterations":
            shown[canonical] = params.get(canonical, value)
        else:
            shown[name] = "none" if canonical == "objective" and callable(value) else value
    shown.setdefault("num_iterations", n_rounds)
    if categorical:
        shown["categorical_feature"] = list(categorical)
    return shown


def loaded_params(content: str | bytes | None) -> dict[str, Any]:
    """Return all parameters that a model as LightGBM's text lists, as far as they can be used here.

    Example:
        >>> loaded_params("a model in another format")
        {}
    """
    found = content.encode("utf-8", errors="surrogatepass") if isinstance(content, str) else content
    if found is None or not lightgbm.matches(found):
        return {}
    listed = listed_parameters(found.decode("utf-8"))
    return listed if _can_use(listed) else {n: v for n, v in listed.items() if _can_use({n: v})}


def _can_use(params: Mapping[str, Any]) -> bool:
    """Whether parameters have values that this library knows: LightGBM has some more."""
    try:
        resolve(params, context="predict")
    except GossamerError:
        return False
    return True
