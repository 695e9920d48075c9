"""Parameters that a training cannot change."""

from __future__ import annotations

from typing import Final

from gossamer.errors import ParameterError
from gossamer.params import TABLE, Params

# What a training cannot change half-way.
_FIXED: Final = tuple(name for name, param in TABLE.items() if not param.can_change)


def check_fixed(params: Params, before: Params) -> None:
    """Raise if other parameters for the rounds to come change what is fixed.

    Raises:
        ParameterError: If one of them cannot change during a training.
    """
    changed = [name for name in _FIXED if params[name] != before[name]]
    if not changed:
        return
    # A value that was given, rather than those that follow from it.
    name = next((name for name in changed if name in params.given), changed[0])
    raise ParameterError.because(
        f"{name} cannot change during a training",
        got=params[name],
        expected=repr(before[name]),
    )
