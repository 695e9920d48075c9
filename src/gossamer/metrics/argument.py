"""What follows "@" in the name of a metric: a number."""

from __future__ import annotations

import math

from gossamer.errors import ParameterError


def read_share(metric: str, argument: str) -> float:
    """Return the number from 0 to 1 that follows "@".

    Raises:
        ParameterError: If it is anything else.

    Example:
        >>> read_share("binary_error", "0.7")
        0.7
    """
    value = _read(argument)
    if not 0 <= value <= 1:
        raise _wrong(metric, argument, "a number from 0 to 1", f"{metric}@0.7")
    return value


def read_count(metric: str, argument: str) -> int:
    """Return the whole number above 0 that follows "@".

    Raises:
        ParameterError: If it is anything else.

    Example:
        >>> read_count("multi_error", "2")
        2
    """
    value = _read(argument)
    if not (1 <= value < 2**31 and value.is_integer()):
        raise _wrong(metric, argument, "a whole number, 1 or more", f"{metric}@2")
    return int(value)


def with_argument(metric: str, value: float) -> str:
    """Return the name in results: two spellings of one number give one name.

    Example:
        >>> with_argument("binary_error", float(".70"))
        'binary_error@0.7'
    """
    return f"{metric}@{value:.15g}"


def _read(argument: str) -> float:
    try:
        return float(argument)
    except ValueError:
        return math.nan  # outside of every range


def _wrong(metric: str, argument: str, expected: str, example: str) -> ParameterError:
    return ParameterError.because(
        f"the metric {metric} cannot use what follows @",
        got=argument,
        expected=expected,
        hint=f"For example metric={example!r}.",
    )
