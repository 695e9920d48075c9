"""Model files with attributes: our own format, which has room for more facts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gossamer import files
from gossamer.errors import ModelFileError, NotSupportedError, message
from gossamer.model import model_file
from gossamer.model.model import Model

_KEY = "xgboost"


def to_bytes(model: Model, facts: dict[str, Any]) -> bytes:
    """Return a model file that `gossamer.Booster` reads as well.

    Args:
        model: The model.
        facts: What else is to be kept: attributes, types of columns.
    """
    arrays, found = files.from_bytes(model_file.to_bytes(model))
    return files.to_bytes(arrays, {**found, _KEY: facts})


def from_bytes(content: bytes, source: str) -> tuple[Model, dict[str, Any]]:
    """Read a model file of ours, whoever wrote it.

    Raises:
        NotSupportedError: If it is one of XGBoost's own.
        ModelFileError: If it is damaged, or something else.
    """
    if _is_xgboosts(content):
        raise NotSupportedError(
            message(
                f"{source} was written by XGBoost, whose models this version does not read",
                expected="a model written by Gossamer",
                hint="Train it again, or predict with XGBoost.",
            )
        )
    model = model_file.from_bytes(content, source)
    facts = files.from_bytes(content)[1].get(_KEY, {})
    if not isinstance(facts, dict):
        raise ModelFileError(message(f"{source} is inconsistent (its attributes are no pairs)"))
    return model, facts


def _is_xgboosts(content: bytes) -> bool:
    """Whether this is JSON or UBJSON with a learner, or the old binary format."""
    head = content[:4096].lstrip()
    return head.startswith((b"binf", b"bs64")) or (head.startswith(b"{") and b"learner" in head)


def load(path: str | os.PathLike[str]) -> tuple[Model, dict[str, Any]]:
    """Read a model file.

    Raises:
        NotSupportedError: If it is one of XGBoost's own.
        ModelFileError: If it is damaged, or something else.
        OSError: If it cannot be read.
    """
    return from_bytes(Path(path).read_bytes(), f"the file {os.fspath(path)!r}")
