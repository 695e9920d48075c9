"""Checks of arguments that many functions share."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from gossamer.errors import ParameterError, ParameterTypeError

_Function = TypeVar("_Function", bound=Callable[..., Any])


def check_flags(function: _Function) -> _Function:
    """Refuse values of a function's boolean parameters that are neither true nor false.

    Numbers, strings and None can be read as booleans and are let through. Arrays cannot.

    Raises:
        ParameterTypeError: When the function is called with such a value.

    Example:
        >>> @check_flags
        ... def add(a: int, twice: bool = False) -> int:
        ...     return a + a if twice else a
        >>> add(1, twice=1)
        2
    """
    parameters = inspect.signature(function).parameters.values()
    flags = {p.name: i for i, p in enumerate(parameters) if _is_flag(p.annotation)}
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    known = {p.name for p in parameters}
    first = min(flags.values())

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) > first:  # predictions of one row must not wait for the loop
            for name, place in flags.items():
                value = args[place] if place < len(args) else kwargs.get(name)
                if value is not True and value is not False and value is not None:
                    check_flag(name, value)
            if not takes_all and not kwargs.keys() <= known:
                refuse_unknown(function.__name__, kwargs.keys() - known)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


# Arguments of other libraries, and what takes their place here.
_STOP: Final = "callbacks=[gossamer.early_stopping(50)]"
_LOG: Final = "callbacks=[gossamer.log_evaluation(10)]"
_EVALUATE: Final = "eval_set=[(X, y)] in fit(), valid_sets=[Dataset(...)] in train()"
_ELSEWHERE: Final = {
    "early_stopping_rounds": _STOP,
    "early_stopping_round": _STOP,
    "early_stopping": _STOP,
    "verbose": f"verbose=... of the constructor (a parameter in train()), or {_LOG}",
    "verbose_eval": _LOG,
    "evals": _EVALUATE,
    "eval_set": _EVALUATE,
    "valid_sets": _EVALUATE,
    "evals_result": "callbacks=[gossamer.record_evaluation(result)]",
    "cat_features": "categorical_feature",
    "categorical_feature": "Dataset(..., categorical_feature=...)",
    "feature_name": "Dataset(..., feature_name=...)",
    "learning_rates": "callbacks=[gossamer.reset_parameter(learning_rate=...)]",
    "fobj": "the parameter objective, which may be a function",
    "obj": "the parameter objective, which may be a function",
    "custom_metric": "feval",
    "xgb_model": "init_model",
    "num_round": "num_boost_round",
}


def refuse_unknown(function: str, names: Iterable[str]) -> None:
    """Raise an error about arguments that a function does not have.

    Raises:
        TypeError: Always; with what to use instead, if that is known.

    Example:
        >>> refuse_unknown("train", ["verbose_eval"])
        Traceback (most recent call last):
        ...
        TypeError: train() got an unexpected keyword argument 'verbose_eval'. Use \
callbacks=[gossamer.log_evaluation(10)] instead.
    """
    name = min(names)
    hint = f". Use {_ELSEWHERE[name]} instead." if name in _ELSEWHERE else ""
    raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def _is_flag(annotation: object) -> bool:
    return annotation in ("bool", "bool | None", bool)


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither true nor false.

    Raises:
        ParameterTypeError: If it is something like an array.

    Example:
        >>> check_flag("grid", True)
    """
    try:
        bool(value)
    except (TypeError, ValueError):
        raise ParameterTypeError.because(
            f"{name} cannot be used", got=value, expected="True or False"
        ) from None


def check_function(name: str, given: object) -> None:
    """Refuse what is neither a function nor None.

    Raises:
        ParameterTypeError: If it is something else.

    Example:
        >>> check_function("feval", print)
    """
    if given is not None and not callable(given):
        raise ParameterTypeError.because(f"{name} must be a function", got=given)


def check_count(value: object, name: str, least: int, most: int = 2**31 - 1) -> int:
    """Return a whole number that is neither too small nor too large.

    Raises:
        ParameterError: If it is anything else.

    Example:
        >>> check_count(5, "n_repeats", least=1)
        5
    """
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or not least <= int(value) <= most:  # type: ignore[call-overload]
        expected = f"a whole number >= {least}"
        if is_whole and int(value) > most:  # type: ignore[call-overload]
            expected = f"a whole number from {least} to {most}"
        raise ParameterError.because(f"{name} cannot be used", got=value, expected=expected)
    return int(value)  # type: ignore[call-overload, no-any-return]


def as_list(name: str, values: Any) -> list[Any]:
    """Return what was given as a list; None: nothing was given.

    Raises:
        ParameterTypeError: If it cannot be iterated over.

    Example:
        >>> as_list("callbacks", (print,)), as_list("callbacks", None)
        ([<built-in function print>], [])
    """
    try:
        return [] if values is None else list(values)
    except TypeError:
        raise ParameterTypeError.because(f"{name} must be a list", got=values) from None


def length_of(values: Any) -> int:
    """Return how many there are; -1: these are not several.

    Example:
        >>> length_of([1, 2]), length_of(5), length_of(np.array(5))
        (2, -1, -1)
    """
    try:
        return len(values)
    except TypeError:
        return -1


def as_path(path: Any) -> Path:
    """Return the path of a file.

    Raises:
        ParameterTypeError: If it is not a path.
        ParameterError: If no file can have such a name.

    Example:
        >>> as_path("model.gossamer").suffix
        '.gossamer'
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterTypeError.because("the path cannot be used", got=path, expected="a path")
    try:
        found = Path(path)
        is_name = b"\0" not in os.fsencode(found)
    except (TypeError, UnicodeEncodeError):  # bytes, or half of a surrogate pair
        is_name = False
    if not is_name:
        raise ParameterError.because(
            "no file can have this name", got=os.fspath(path), expected="a path"
        )
    return found
