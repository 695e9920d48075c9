"""Positional arguments where XGBoost wants keywords: taken, with a warning."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def warn_of_positions(
    function: Callable[P, T], order: Sequence[str] | None = None
) -> Callable[P, T]:
    """Let a function take its keyword-only arguments by position, in their order.

    Args:
        function: The function.
        order: The order, where the function has some of these arguments in `**kwargs`.

    Example:
        >>> @warn_of_positions
        ... def scale(x, *, by=2):
        ...     return x * by
        >>> with warnings.catch_warnings(record=True) as found:
        ...     warnings.simplefilter("always")
        ...     scale(3, 5)
        15
        >>> str(found[0].message), found[0].category.__name__
        ('Pass `by` as keyword args.', 'FutureWarning')
    """
    parameters = inspect.signature(function).parameters.values()
    n_positional = sum(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)
    own = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    keywords = own if order is None else list(order)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> T:
        extra = args[n_positional:]
        if not extra:
            return function(*args, **kwargs)
        names = keywords[: len(extra)]
        if len(extra) > len(keywords) or not kwargs.keys().isdisjoint(names):
            return function(*args, **kwargs)  # Python says what is wrong
        warnings.warn(f"Pass `{', '.join(names)}` as keyword args.", FutureWarning, stacklevel=2)
        by_name: dict[str, Any] = dict(zip(names, extra, strict=True))
        return function(*args[:n_positional], **by_name, **kwargs)

    return call
