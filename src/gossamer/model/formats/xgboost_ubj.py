"""XGBoost's UBJSON models. See docs/interchange.md."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from gossamer.model.formats import ubjson
from gossamer.model.formats.xgboost_read import Facts, read_with
from gossamer.model.formats.xgboost_write import to_document
from gossamer.model.model import Model

# An object whose first name is one of those that XGBoost's have, its length before it.
_BEGIN: Final = re.compile(rb"\{[iUIlL]\0*(?:\x07learner|\x07version|\x06Config|\x05Model)")


def matches(content: bytes) -> bool:
    """Whether this looks like one of XGBoost's UBJSON models.

    Example:
        >>> matches(ubjson.dumps({"learner": {}})), matches(b'{"learner":{}}')
        (True, False)
    """
    return _BEGIN.match(content[:64]) is not None


# (Content, what errors call it) -> the model, and what XGBoost keeps next to it; see `read_with`.
read_with_facts: Final = partial(read_with, ubjson.loads)


def read(content: bytes, source: str) -> Model:
    """Read a model; see `read_with`."""
    return read_with_facts(content, source)[0]


def write(model: Model, facts: Facts | None = None) -> bytes:
    """Return a model as XGBoost's UBJSON; raises as `xgboost.write` does."""
    return ubjson.dumps(to_document(model, facts))
