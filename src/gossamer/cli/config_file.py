"""Files of options and parameters: TOML, or LightGBM's lines of key=value."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gossamer.errors import ParameterError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Pairs = list[tuple[str, Any]]


def read_config(path: str) -> Pairs:
    """Read the options and parameters of a file.

    Sections of TOML are for the reader: what is in `[data]` might as well be in `[params]`.
    Of a section of a section, as `[params.monotone_constraints]`, the last word is the name, and
    what is in it the value.

    Args:
        path: A TOML file, or one with lines of key=value, where # begins a comment.

    Returns:
        Names and values, in order.

    Raises:
        ParameterError: If it is neither.
        OSError: If it cannot be read.
    """
    content = Path(path).read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError.because("the config file is not UTF-8 text", got=path) from None
    if Path(path).suffix.lower() == ".toml":
        return _from_toml(text, path)
    return from_lines(text.splitlines(), path)


def _from_toml(text: str, path: str) -> Pairs:
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ParameterError.because(
            f"the config file {path!r} is not TOML ({error})",
            hint='Text needs quotes: target = "price".',
        ) from None
    pairs: Pairs = []
    for name, value in whole.items():
        pairs += value.items() if isinstance(value, dict) else [(name, value)]
    return pairs


def from_lines(lines: Iterable[str], path: str) -> Pairs:
    """Read lines of key=value.

    Raises:
        ParameterError: If a line is something else.

    Example:
        >>> from_lines(["# of last week", "num_leaves = 63  # more", "metric=l2,l1"], "train.conf")
        [('num_leaves', '63'), ('metric', 'l2,l1')]
    """
    pairs: Pairs = []
    for number, line in enumerate(lines, start=1):
        stripped = line.partition("#")[0].strip()
        if not stripped:
            continue
        name, found, value = stripped.partition("=")
        if not found or not name.strip():
            raise ParameterError.because(
                f"line {number} of the config file {path!r} cannot be used",
                got=stripped,
                expected="key = value",
                hint="TOML files must be called .toml." if stripped.startswith("[") else "",
            )
        pairs.append((name.strip(), value.strip()))
    return pairs
