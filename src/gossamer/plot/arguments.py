"""Checks of the arguments that plots have in common, by their names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from numbers import Real
from typing import Any, Final, TypeVar

from gossamer.arguments import check_count, check_flag
from gossamer.errors import ParameterTypeError

_NUMBERS: Final = ("height", "width_coef")  # None is not among their values
_LARGE: Final = 1e9
F = TypeVar("F", bound=Callable[..., Any])


def checks_arguments(function: F) -> F:
    """Check what a plot is given before anything is drawn.

    Raises:
        ParameterError: When the plot is called with something that cannot be used.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def plot(*args: Any, **kwargs: Any) -> Any:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if name in _CHECKS and (value is not None or name in _NUMBERS):
                _CHECKS[name](name, value)
        return function(*args, **kwargs)

    return plot  # type: ignore[return-value]


def _check_axes(name: str, value: Any) -> None:
    if not hasattr(value, "set_xlim"):
        got = type(value).__name__
        raise ParameterTypeError.because(f"{name} cannot be used", got=got, expected="axes")


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        got = type(value).__name__
        raise ParameterTypeError.because(f"{name} cannot be used", got=got, expected="text")


def _check_texts(name: str, value: Any) -> None:
    if not isinstance(value, (str, list, tuple, set, frozenset)):
        got = type(value).__name__
        raise ParameterTypeError.because(
            f"{name} cannot be used", got=got, expected="a name, or a list of names"
        )
    for each in [value] if isinstance(value, str) else value:
        _check_text(name, each)


def _check_integer(name: str, value: Any) -> None:
    check_count(value, name, least=-(2**31))


def _check_decimals(name: str, value: Any) -> None:
    check_count(value, name, least=0, most=100)


def _check_number(name: str, value: Any) -> None:
    number: Any = value  # may be too large for a float
    if not isinstance(value, Real) or not abs(number) < _LARGE:
        raise ParameterTypeError.because(f"{name} cannot be used", got=value, expected="a number")


_CHECKS: Final[dict[str, Callable[[str, Any], None]]] = {
    "ax": _check_axes,
    **dict.fromkeys(("title", "xlabel", "ylabel", "metric", "kind", "orientation"), _check_text),
    **dict.fromkeys(("grid", "show_grid", "ignore_zero", "percent"), check_flag),
    **dict.fromkeys(("max_num_features", "max_rows", "n_lines", "output"), _check_integer),
    **dict.fromkeys(("show_info", "dataset_names"), _check_texts),
    **dict.fromkeys((*_NUMBERS, "dpi"), _check_number),
    "importance_type": _check_text,
    "precision": _check_decimals,
}
