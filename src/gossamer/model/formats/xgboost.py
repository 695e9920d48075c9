"""XGBoost's JSON models, and its models in memory. See docs/interchange.md."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any, Final

from gossamer.errors import ParameterError
from gossamer.model.formats import xgboost_ubj
from gossamer.model.formats.xgboost_read import Facts, read_with
from gossamer.model.formats.xgboost_write import to_document, to_lists
from gossamer.model.model import Model

_BEGIN: Final = re.compile(rb'\s*\{\s*"')
_LEARNER: Final = re.compile(rb'"learner"\s*:\s*\{')
# The learner comes first, or behind the version.
_HEAD: Final = 1024


def matches(content: bytes) -> bool:
    """Whether this looks like one of XGBoost's JSON models.

    Example:
        >>> matches(b'{"learner":{"attributes":{}}}'), matches(b'{"oblivious_trees":[]}')
        (True, False)
    """
    head = content[:_HEAD]
    return _BEGIN.match(head) is not None and _LEARNER.search(head) is not None


# (Content, what errors call it) -> the model, and what XGBoost keeps next to it; see `read_with`.
read_with_facts: Final = partial(read_with, json.loads)


def read(content: bytes, source: str) -> Model:
    """Read a model; see `read_with`."""
    return read_with_facts(content, source)[0]


def write(model: Model, facts: Facts | None = None) -> bytes:
    """Return a model as XGBoost's JSON.

    Raises:
        NotSupportedError: If XGBoost's trees cannot hold it.
    """
    return json.dumps(
        to_lists(to_document(model, facts)), ensure_ascii=False, separators=(",", ":")
    ).encode("utf-8", errors="surrogatepass")


def model_of(found: Any) -> Model:
    """Return the model of a `Booster`, or of an estimator as far as it predicts with it.

    Raises:
        ParameterError: If it is neither.
        NotSupportedError: If it has what trees here do not have.
    """
    booster = found.get_booster() if hasattr(found, "get_booster") else found
    if not hasattr(booster, "save_raw"):
        raise ParameterError.because(
            "this is not a trained model of XGBoost",
            got=type(found).__name__,
            expected="a Booster, or an estimator that was fitted",
        )
    model = xgboost_ubj.read(bytes(booster.save_raw("ubj")), "the XGBoost model")
    best = booster.attr("best_iteration") if booster is not found else None
    return model if best is None else model.rounds(0, int(best) + 1)
