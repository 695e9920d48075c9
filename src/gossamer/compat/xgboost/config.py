"""Settings of the whole process: how much is said, and how many threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from gossamer.errors import ParameterError

_DEFAULTS: Final[dict[str, Any]] = {"verbosity": 1, "nthread": 0, "use_rmm": False}
_config: ContextVar[dict[str, Any]] = ContextVar("config", default=_DEFAULTS)


def set_config(**new_config: Any) -> None:
    """Change settings: `verbosity` (0 is silent) and `nthread`; None leaves one as it is.

    Raises:
        ParameterError: If there is no such setting.

    Example:
        >>> with config_context():
        ...     set_config(verbosity=0)
        ...     get_config()["verbosity"]
        0
    """
    for name in new_config:
        if name not in _DEFAULTS:
            raise ParameterError.because(
                "there is no such setting", got=name, expected=", ".join(_DEFAULTS)
            )
    given = {name: value for name, value in new_config.items() if value is not None}
    _config.set({**_config.get(), **given})


def get_config() -> dict[str, Any]:
    """Return all settings.

    Example:
        >>> get_config()["nthread"]
        0
    """
    return dict(_config.get())


@contextmanager
def config_context(**new_config: Any) -> Iterator[None]:
    """Change settings for a while.

    Example:
        >>> with config_context(nthread=1):
        ...     get_config()["nthread"]
        1
    """
    before = _config.get()
    try:
        set_config(**new_config)
        yield
    finally:
        _config.set(before)
