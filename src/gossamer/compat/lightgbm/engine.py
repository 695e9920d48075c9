"""`lightgbm.engine`: training and cross-validation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any, Final

from gossamer.compat.lightgbm.basic import Booster
from gossamer.compat.lightgbm.conflicts import read_params
from gossamer.compat.lightgbm.shown_params import shown_params
from gossamer.cv import cv as gossamer_cv
from gossamer.data import Dataset
from gossamer.errors import ParameterError
from gossamer.model import CVBooster
from gossamer.objectives.binary import any_label
from gossamer.params import unused_allowed
from gossamer.train import raises_interrupts
from gossamer.train import train as gossamer_train

__all__ = ["CVBooster", "cv", "train"]

_DEFAULT_ROUNDS: Final = 100


def _check_rounds(n_rounds: Any) -> None:
    if isinstance(n_rounds, int) and n_rounds <= 0:
        raise ParameterError.because(
            "num_boost_round is out of range", got=n_rounds, expected="a number above 0"
        )


@functools.wraps(gossamer_train, assigned=())
def train(
    params: Mapping[str, Any] | None, train_set: Dataset, *args: Any, **kwargs: Any
) -> Booster:
    """Train a model; see `gossamer.train`.

    Raises:
        KeyboardInterrupt: After Ctrl-C, as in LightGBM; `gossamer.train` returns the model so far.

    Example:
        >>> data = Dataset([[float(i)] for i in range(100)], range(100))
        >>> train({"verbosity": -1}, data, 2).num_trees()
        2
    """
    params = read_params(params)
    n_rounds = args[0] if args else kwargs.get("num_boost_round", _DEFAULT_ROUNDS)
    _check_rounds(n_rounds)
    with any_label(), unused_allowed(), raises_interrupts():
        booster = gossamer_train(params, train_set, *args, **kwargs)
    if booster.was_interrupted:
        raise KeyboardInterrupt
    columns = train_set.categorical_columns
    booster.params = shown_params(booster.params, n_rounds, columns)
    return Booster.adopt(booster)


@functools.wraps(gossamer_cv, assigned=())
def cv(
    params: Mapping[str, Any] | None, train_set: Dataset, *args: Any, **kwargs: Any
) -> dict[str, Any]:
    """Cross-validate; see `gossamer.cv`.

    As in LightGBM, scikit-learn's `GroupKFold` divides queries.

    Example:
        >>> data = Dataset([[float(i)] for i in range(100)], range(100))
        >>> list(cv({"verbosity": -1}, data, 2, stratified=False))
        ['valid l2-mean', 'valid l2-stdv']
    """
    params = read_params(params)
    n_rounds = args[0] if args else kwargs.get("num_boost_round", _DEFAULT_ROUNDS)
    _check_rounds(n_rounds)
    given = inspect.signature(gossamer_cv).bind(params, train_set, *args, **kwargs)
    given.apply_defaults()
    if given.arguments["folds"] is None:
        given.arguments["folds"] = _query_folds(train_set, given.arguments["nfold"])
    with any_label(), unused_allowed(), raises_interrupts():
        found = gossamer_cv(*given.args, **given.kwargs)
    if "cvbooster" in found:
        models = found["cvbooster"]
        models.boosters = [Booster.adopt(booster) for booster in models.boosters]
        for booster in models.boosters:
            booster.params = shown_params(booster.params, n_rounds, train_set.categorical_columns)
    return found


def _query_folds(train_set: Any, n_folds: Any) -> Any:
    """Return what divides queries in LightGBM; None: leave it to `gossamer.cv`."""
    sizes = train_set.get_group() if isinstance(train_set, Dataset) else None
    if sizes is None or not isinstance(n_folds, int) or not 2 <= n_folds <= len(sizes):
        return None
    try:
        from sklearn.model_selection import GroupKFold
    except ImportError:
        return None
    return GroupKFold(n_folds)
