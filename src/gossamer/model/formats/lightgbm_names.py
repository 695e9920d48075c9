"""Names of columns in LightGBM's text format: separated by spaces, and part of its JSON dumps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gossamer.errors import NotSupportedError
from gossamer.logger import warn

# What would end a name, or the text of a JSON dump. LightGBM itself refuses them in its data sets,
# or, of spaces, makes underscores.
_NOT_IN_NAMES: Final = re.compile(r'[\s\x00-\x1f",:\[\]{}\\]')


def written_names(names: Sequence[str]) -> list[str]:
    """Return the names as LightGBM can hold them, all different; warns if that changes any.

    Raises:
        NotSupportedError: If a name cannot be written as UTF-8.

    Example:
        >>> written_names(["age", "größe"])
        ['age', 'größe']
    """
    written: list[str] = []
    taken = set(names)
    for name in names:
        found = _NOT_IN_NAMES.sub("_", name) or "_"
        if found != name:
            base, n = found, 2
            while found in taken:
                found, n = f"{base}_{n}", n + 1
            taken.add(found)
        written.append(found)
    try:
        " ".join(written).encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotSupportedError.because(
            "a name of a column cannot be written as UTF-8", got=error.object[:40]
        ) from None
    changed = [(old, new) for old, new in zip(names, written, strict=True) if old != new]
    if changed:
        old, new = changed[0]
        warn(
            "LightGBM's format has no white space and no special characters of JSON in names of "
            f"columns: {len(changed)} are written with underscores, e.g. {new!r} for {old!r}."
        )
    return written
