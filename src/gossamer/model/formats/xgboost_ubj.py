"""XGBoost's UBJSON models. See docs/interchange.md."""

from __future__ import annotations

import re
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


def read(content: bytes, source: str) -> Model:
    """Read a model, and check all of it.

    Raises:
        ModelFileError: If it is damaged.
        NotSupportedError: If it has what trees here do not have.
    """
    return read_with_facts(content, source)[0]


def read_with_facts(content: bytes, source: str) -> tuple[Model, Facts]:
    """Read a model, and what XGBoost keeps with it."""
    return read_with(ubjson.loads, content, source)


def write(model: Model, facts: Facts | None = None) -> bytes:
    """Return a model as XGBoost's UBJSON.

    Raises:
        NotSupportedError: If XGBoost's trees cannot hold it.
    """
    return ubjson.dumps(to_document(model, facts))
