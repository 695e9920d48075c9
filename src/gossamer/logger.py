"""Where messages go.

The package is silent unless asked: it logs to `logging.getLogger("gossamer")`, which has only a
`NullHandler`. `register_logger` sends the messages elsewhere.
"""

from __future__ import annotations

import inspect
import logging
import warnings
from collections.abc import Callable
from typing import NamedTuple

from gossamer.errors import ParameterTypeError, escape_controls

LOGGER = logging.getLogger("gossamer")
LOGGER.addHandler(logging.NullHandler())


class _Registered(NamedTuple):
    info: Callable[[str], object]
    warning: Callable[[str], object]


_registered: _Registered | None = None


def register_logger(
    logger: object,
    info_method_name: str = "info",
    warning_method_name: str = "warning",
) -> None:
    """Send all messages to your own logger.

    Args:
        logger: Any object with the two methods, each of which accepts a string. None undoes an
            earlier call.
        info_method_name: Name of the method for information.
        warning_method_name: Name of the method for warnings.

    Example:
        >>> class Notebook(list):
        ...     info = warning = list.append
        >>> notes = Notebook()
        >>> register_logger(notes)
        >>> show("3 rounds done")
        >>> notes
        ['3 rounds done']
        >>> register_logger(None)
    """
    global _registered
    if logger is None:
        _registered = None
        return
    info_method = getattr(logger, info_method_name, None)
    warning_method = getattr(logger, warning_method_name, None)
    if not (callable(info_method) and callable(warning_method)):
        raise ParameterTypeError.because(
            "The logger lacks a method",
            got=logger,
            expected=f"an object with {info_method_name!r} and {warning_method_name!r}",
            hint="Name its methods with info_method_name and warning_method_name.",
        )
    _registered = _Registered(info_method, warning_method)


def info(text: str) -> None:
    """Log something good to know.

    Example:
        >>> info("shown only if logging is set up")
    """
    log = _registered.info if _registered else LOGGER.info
    log(escape_controls(text))


def warn(text: str) -> None:
    """Warn: a Python warning, unless a logger is registered.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     warn("the labels are constant")
        >>> str(caught[0].message)
        'the labels are constant'
    """
    text = escape_controls(text)
    if _registered:
        _registered.warning(text)
    else:
        warnings.warn(text, UserWarning, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """Return the stack level, for `warnings.warn` in `warn`, of the code that called Gossamer."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gossamer."):
        level, frame = level + 1, frame.f_back
    return level if frame is not None else level - 1


def show(text: str) -> None:
    """Show what the user asked to see: printed, unless a handler receives INFO.

    Example:
        >>> show("round 1 done")
        round 1 done
    """
    if _registered or _is_info_heard():
        info(text)
    else:
        print(escape_controls(text))


def _is_info_heard() -> bool:
    """Whether some handler, here or further up, would write a message at INFO."""
    if not LOGGER.isEnabledFor(logging.INFO):
        return False
    logger: logging.Logger | None = LOGGER
    while logger is not None:
        for handler in logger.handlers:
            if handler.level <= logging.INFO and not isinstance(handler, logging.NullHandler):
                return True
        logger = logger.parent if logger.propagate else None
    return False
