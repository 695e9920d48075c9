"""One table of parameters, and `resolve`, which turns a user's dict into checked `Params`."""

from __future__ import annotations

from gossamer.params.param import Param
from gossamer.params.resolve import Context, resolve
from gossamer.params.resolved import Params
from gossamer.params.table import BINNING_PARAMS, CANONICAL, TABLE
from gossamer.params.unused import unused_allowed, warn_of_unused

__all__ = [
    "BINNING_PARAMS",
    "CANONICAL",
    "TABLE",
    "Context",
    "Param",
    "Params",
    "resolve",
    "unused_allowed",
    "warn_of_unused",
]
