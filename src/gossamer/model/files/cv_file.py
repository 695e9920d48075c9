"""Files of a `CVBooster`: one model file per fold, in one file. See docs/model_format.md."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

import numpy as np

from gossamer import files
from gossamer.arguments import as_path
from gossamer.errors import ModelFileError, shorten
from gossamer.model.files import model_file
from gossamer.model.model import Model

FORMAT: Final = "gossamer cv models"
VERSION: Final = 1
TEXT_HEADER: Final = f"{FORMAT} {VERSION}"


def to_bytes(models: Sequence[Model], best_iteration: int) -> bytes:
    """Return the bytes of the file; equal models give equal bytes."""
    arrays = {
        f"fold_{i}": np.frombuffer(model_file.to_bytes(model), dtype=np.uint8)
        for i, model in enumerate(models)
    }
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "n_folds": len(models),
        "best_iteration": best_iteration,
    }
    return files.to_bytes(arrays, facts)


def from_bytes(content: bytes, source: str = "the file") -> tuple[list[Model], int]:
    """Read the models of all folds and the best round, and check all of it.

    Raises:
        ModelFileError: If the bytes are cut off, altered, or something else.
    """
    try:
        arrays, facts = files.from_bytes(content)
    except files.BrokenFile as error:
        raise ModelFileError.because(f"{source} cannot be read: {shorten(error)}") from None
    hints = {model_file.FORMAT: "Booster(model_file=...) reads a single model."}
    model_file.check_format(facts, FORMAT, f"{source} holds no models of cv()", hints)
    if facts.get("version") != VERSION:
        raise ModelFileError.because(
            f"{source} has a version that this Gossamer cannot read",
            got=facts.get("version"),
            expected=f"{VERSION}",
            hint="Update Gossamer, or save the models again with this version.",
        )
    n_folds, best_iteration = facts.get("n_folds"), facts.get("best_iteration")
    if type(n_folds) is not int or type(best_iteration) is not int:
        raise ModelFileError.because(
            f"{source} is inconsistent (folds or best round are not numbers)"
        )
    names = [f"fold_{i}" for i in range(min(n_folds, len(arrays)))]
    if n_folds != len(arrays) or any(name not in arrays for name in names):
        raise ModelFileError.because(f"{source} is inconsistent (not {n_folds} models)")
    if any(arrays[name].dtype != np.uint8 or arrays[name].ndim != 1 for name in names):
        raise ModelFileError.because(f"{source} is inconsistent (a model is not made of bytes)")
    models = [
        model_file.from_bytes(arrays[name].tobytes(), f"{name.replace('_', ' ')} of {source}")
        for name in names
    ]
    return models, best_iteration


def save(path: str | os.PathLike[str], models: Sequence[Model], best_iteration: int) -> None:
    """Write the file; it is complete or not there."""
    files.write_atomically(as_path(path), to_bytes(models, best_iteration))


def load(path: str | os.PathLike[str]) -> tuple[list[Model], int]:
    """Read a file.

    Raises:
        ModelFileError: If it is cut off, altered, or something else.
        OSError: If it cannot be read.
    """
    return from_bytes(files.read_file(as_path(path)), source=f"the file {os.fspath(path)!r}")


def to_text(models: Sequence[Model], best_iteration: int) -> str:
    """Return the models as text: a header line, then the file's bytes in base64."""
    return files.to_text(to_bytes(models, best_iteration), TEXT_HEADER)


def from_text(text: str) -> tuple[list[Model], int]:
    """Read what `to_text` wrote.

    Raises:
        ModelFileError: If it is something else.
    """
    header, _, encoded = text.partition("\n")
    if header.strip() != TEXT_HEADER:
        raise ModelFileError.because(
            "the string holds no models of cv() of this version",
            got=header,
            expected=f"a first line {TEXT_HEADER!r}",
            hint="Booster(model_str=...) reads a single model."
            if header.strip() in model_file.TEXT_HEADERS
            else "",
        )
    try:
        content = files.from_text(encoded)
    except files.BrokenFile as error:
        raise ModelFileError.because(f"the string is damaged ({error})") from None
    return from_bytes(content, source="the string")
