"""File formats of models: our own, and other libraries'.

A format is a module. It reads if it has `matches(content)`, whether bytes look like it, and
`read(content, source)`, which gives a checked `Model`; it writes if it has `write(model)`, which
gives bytes. To add one: the module, and a line in `FORMATS`. Modules are imported when needed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, Protocol, cast

from gossamer.arguments import as_path
from gossamer.data.files.find import similar_files
from gossamer.errors import ModelFileError, NotSupportedError, ParameterError, shorten
from gossamer.files import read_file, write_atomically
from gossamer.logger import warn
from gossamer.model.files import model_file
from gossamer.model.model import Model

# Name, as in `Booster.save_model(format=)`: module. Read in this order, after our own.
FORMATS: Final[dict[str, str]] = {
    "json": "gossamer.model.formats.json",
    "lightgbm": "gossamer.model.formats.lightgbm",
    "xgboost": "gossamer.model.formats.xgboost",
    "xgboost_ubj": "gossamer.model.formats.xgboost_ubj",
    "catboost": "gossamer.model.formats.catboost",
    "onnx": "gossamer.model.formats.onnx",
    "treelite": "gossamer.model.formats.treelite",
    "c": "gossamer.model.formats.c",
}
OWN: Final = "gossamer"
# Ending of a file's name: format. Files with other names are our own.
BY_ENDING: Final[dict[str, str]] = {
    ".gsm": OWN,
    ".safetensors": OWN,
    ".json": "json",
    ".txt": "lightgbm",
    ".ubj": "xgboost_ubj",
    ".cbm": "catboost",
    ".onnx": "onnx",
    ".tl": "treelite",
    ".c": "c",
}
# Formats that keep all that a model has.
COMPLETE: Final = (OWN, "json")


class MissingModelError(ModelFileError, FileNotFoundError):
    """There is no such model file."""


class Reader(Protocol):
    """A module that reads a format."""

    def matches(self, content: bytes) -> bool:
        """Whether this looks like a file of the format."""

    def read(self, content: bytes, source: str) -> Model:
        """Read a model, and check all of it."""


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file of any format that is known.

    Raises:
        ModelFileError: If it is damaged, or of no known format.
        MissingModelError: If there is no such file; it is a `FileNotFoundError` too.
        OSError: If the file cannot be read.
    """
    try:
        content = read_file(as_path(path))
    except FileNotFoundError:
        raise MissingModelError.because(
            f"there is no file {os.fspath(path)!r}", hint=similar_files(as_path(path))
        ) from None
    return from_bytes(content, f"the file {os.fspath(path)!r}")


def from_bytes(content: bytes, source: str = "the model") -> Model:
    """Read a model from the bytes of a file of any format that is known.

    Raises:
        ModelFileError: If they are damaged, or of no known format.
    """
    reader = _find_reader(content)
    if reader is None:
        return model_file.from_bytes(content, source)
    return reader.read(content, source)


def from_text(text: str) -> Model:
    """Read a model from text: what `model_file.to_text` wrote, or a format that is text.

    Raises:
        ModelFileError: If it is damaged, or of no known format.
    """
    if not isinstance(text, str):
        raise ModelFileError.because("a model as text must be a str", got=text)
    content = text.encode("utf-8", errors="surrogatepass")
    reader = _find_reader(content)
    if reader is None:
        return model_file.from_text(text)
    return reader.read(content, "the string")


def save(
    path: str | os.PathLike[str],
    model: Model,
    format: str | None = None,
    importance_type: str = "split",
    params: Mapping[str, Any] | None = None,
) -> None:
    """Write a model file in a format; it is complete or not there.

    Args:
        path: The file.
        model: The model.
        format: Its format; None: the one that the ending of its name stands for.
        importance_type: The importance that LightGBM's format lists.
        params: The parameters that LightGBM's format lists; None: those that the model keeps.

    Raises:
        ParameterError: If there is no such format.
        NotSupportedError: If the format cannot hold this model.
    """
    path = as_path(path)
    if format is not None:
        write_atomically(path, to_bytes(model, format, importance_type, params))
        return
    format = format_of(path) or OWN
    try:
        content = to_bytes(model, format, importance_type, params)
    except NotSupportedError as error:
        raise NotSupportedError(
            f"{error} The name {path.name!r} asks for the format {format!r}; files that end with "
            ".gsm can store every model."
        ) from None
    write_atomically(path, content)
    if model.class_names is not None and format not in COMPLETE:
        warn(
            f"{path.name!r} is a file of the format {format!r}, which does not keep the names of "
            f"classes: {list(model.class_names)}. Files that end with .gsm or .json do."
        )


def format_of(path: str | os.PathLike[str]) -> str | None:
    """Return the format that the ending of a file's name stands for; None: any.

    Example:
        >>> format_of("model.TXT"), format_of("model.gsm"), format_of("model.2")
        ('lightgbm', 'gossamer', None)
    """
    return BY_ENDING.get(as_path(path).suffix.lower())


def to_bytes(
    model: Model,
    format: str = OWN,
    importance_type: str = "split",
    params: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the bytes of a model file in a format.

    Raises:
        ParameterError: If there is no such format.
        NotSupportedError: If the format cannot hold this model.
    """
    if isinstance(format, str) and format == OWN:
        return model_file.to_bytes(model)
    is_known = isinstance(format, str) and format in FORMATS
    module: Any = import_module(FORMATS[format]) if is_known else None
    if not hasattr(module, "write"):
        raise ParameterError.because(
            "models cannot be written as this",
            got=format,
            expected=f"one of {', '.join(written())}",
        )
    if format == "lightgbm":
        return cast(bytes, module.write(model, importance_type, params))
    return cast(bytes, module.write(model))


def to_text(
    model: Model,
    format: str = OWN,
    importance_type: str = "split",
    params: Mapping[str, Any] | None = None,
) -> str:
    """Return a model as text in a format; our own is base64 behind a header line.

    Raises:
        ParameterError: If there is no such format, or it is not text.
        NotSupportedError: If the format cannot hold this model.
    """
    if isinstance(format, str) and format == OWN:
        return model_file.to_text(model)
    try:
        return to_bytes(model, format, importance_type, params).decode("utf-8")
    except UnicodeDecodeError:
        raise ParameterError.because(
            "the format is not text", got=format, hint="Write a file with save_model()."
        ) from None


def written() -> list[str]:
    """Return the formats that can be written; others are only read.

    Example:
        >>> written()[:2]
        ['gossamer', 'json']
    """
    return [OWN, *(n for n, m in FORMATS.items() if hasattr(import_module(m), "write"))]


def _find_reader(content: bytes) -> Reader | None:
    """Return the format of another library that the bytes look like, if any."""
    for name in FORMATS.values():
        module: Any = import_module(name)
        if hasattr(module, "matches") and module.matches(content):
            return cast(Reader, module)
    return None


def no_model(source: str, library: str, reason: object) -> ModelFileError:
    """Return the error for a damaged file of another library.

    Example:
        >>> print(no_model("the file 'a.txt'", "LightGBM", "tree 3 has no leaf_value"))
        the file 'a.txt' is a damaged LightGBM model (tree 3 has no leaf_value).
    """
    return ModelFileError.because(f"{source} is a damaged {library} model ({shorten(reason)})")
