"""The errors that Gossamer raises for problems that the user can fix.

Every message says what is wrong, what was given, what was expected and how to fix it.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typing_extensions import Self


class _NothingGot:
    """Marks a message that has no offending value to show (None may be such a value)."""


_NOTHING_GOT: Final = _NothingGot()

# Control characters but tab and line feed, and what changes the direction of text.
# Among them: marks of direction, the byte order mark, and halves of surrogates, which cannot be
# printed at all.
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


class GossamerError(ValueError):
    """Base of all errors raised on purpose by Gossamer.

    It takes the place of `lightgbm.basic.LightGBMError` and `xgboost.core.XGBoostError`, so ported
    code may say `from gossamer.errors import GossamerError as LightGBMError`. It is a `ValueError`,
    so `except ValueError` works as well.
    """

    @classmethod
    def because(
        cls,
        what: str,
        *,
        got: object = _NOTHING_GOT,
        found: str = "",
        expected: str = "",
        hint: str = "",
    ) -> Self:
        """Make an error whose text `message` puts together from these arguments.

        Example:
            >>> str(DataError.because("labels are missing", hint="Pass label."))
            'labels are missing. Pass label.'
        """
        return cls(message(what, got=got, found=found, expected=expected, hint=hint))


class ParameterError(GossamerError):
    """A parameter is unknown, of the wrong type, out of range, or contradicts another one."""


class DataError(GossamerError):
    """The data handed in cannot be used as it is."""


class ModelFileError(GossamerError):
    """A model file is damaged, of another format, or written by a newer version."""


class NotSupportedError(GossamerError, NotImplementedError):
    """The request is understood, but this version of Gossamer cannot do it."""


class DeviceError(GossamerError):
    """There is no GPU that can be used, or it failed."""


class DataTypeError(DataError, TypeError):
    """The data handed in is of a type that cannot be used; also a `TypeError`, as in LightGBM."""


class ParameterIndexError(ParameterError, IndexError):
    """There is nothing of this number; also an `IndexError`, as in LightGBM."""


class ParameterTypeError(ParameterError, TypeError):
    """An argument is of a type that cannot be used; also a `TypeError`, as in LightGBM."""


def import_needed(module: str, what: str, extra: str) -> Any:
    """Return a module of a package that is installed on demand.

    Args:
        module: Its name.
        what: What needs the package.
        extra: The extra of Gossamer that installs it.

    Raises:
        ImportError: If the package is not installed.

    Example:
        >>> import_needed("json", "this example", "all").loads("[1]")
        [1]
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{what} needs {package}: pip install "gossamer[{extra}]"') from error


def shorten(reason: object, most: int = 300) -> str:
    """Return a reason as text that fits a message: files may have names of a megabyte.

    Example:
        >>> shorten("x" * 1000, most=9)
        'xxxx...xx'
        >>> shorten(MemoryError("std::bad_alloc"))
        'there is not enough memory'
    """
    text = "there is not enough memory" if isinstance(reason, MemoryError) else str(reason)
    if len(text) <= most:
        return text
    n_last = (most - 3) // 3
    return f"{text[: most - 3 - n_last]}...{text[len(text) - n_last :]}"


def escape_controls(text: str) -> str:
    """Return text that a terminal only shows: what would control the terminal is written out.

    Line breaks and tabs stay. Names of columns, metrics and files may hold anything.

    Example:
        >>> print(escape_controls("age\\x1b[2J\\u202e"))
        age\\x1b[2J\\u202e
    """
    return text if text.isprintable() else _CONTROLS.sub(lambda m: ascii(m[0])[1:-1], text)


def message(
    what: str,
    *,
    got: object = _NOTHING_GOT,
    found: str = "",
    expected: str = "",
    hint: str = "",
) -> str:
    """Put an error message together: what, got, expected, what to do.

    Args:
        what: What is wrong, without a full stop.
        got: The offending value; its (shortened) repr is shown, or the shape of an array.
        found: Instead of `got`: what was given, in words.
        expected: What would have been right.
        hint: A full sentence that says what to do.

    Example:
        >>> message("num_leaves is out of range", got=1, expected="an integer >= 2")
        'num_leaves is out of range: got 1, expected an integer >= 2.'
        >>> message("a file is empty", found="0 rows", expected="one or more")
        'a file is empty: got 0 rows, expected one or more.'
    """
    details = []
    if found:
        details.append(f"got {shorten(found)}")
    elif got is not _NOTHING_GOT:
        details.append(f"got {_shown(got)}")
    if expected:
        details.append(f"expected {expected}")
    text = f"{what}: {', '.join(details)}." if details else f"{what}."
    return escape_controls(f"{text} {hint}" if hint else text)


def _shown(got: object) -> str:
    shape = getattr(got, "shape", ())
    if isinstance(shape, tuple) and shape and hasattr(got, "dtype"):
        return f"an array of shape {shape}"
    return reprlib.repr(got)


def check_choice(name: str, given: object, choices: Collection[str]) -> str:
    """Return what the user chose.

    Args:
        name: What the user chose it for.
        given: The choice.
        choices: What there is to choose from.

    Raises:
        ParameterError: If there is no such choice.

    Example:
        >>> check_choice("quality", "best", ("fast", "good", "best"))
        'best'
    """
    if isinstance(given, str) and given in choices:
        return given
    *names, last = map(repr, choices)
    raise ParameterError.because(
        f"{name} is not known", got=given, expected=f"{', '.join(names)} or {last}"
    )
