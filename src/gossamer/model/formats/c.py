"""C source of a model, which is only written: see `gossamer.model.c_code`."""

from __future__ import annotations

from gossamer.model.c_code import c_source
from gossamer.model.model import Model


def write(model: Model) -> bytes:
    """Return the source, whose functions are called `gossamer_model_...`."""
    return c_source(model, "gossamer_model").encode("ascii")
