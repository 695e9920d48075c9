"""Parameters: those that were given, and all others on demand."""

from __future__ import annotations

import re
from typing import Any

from gossamer.params import CANONICAL, TABLE
from gossamer.report.given import Given
from gossamer.report.html import note, table, text


def parameters(given: Given) -> str:
    """Return a table of the parameters that were given, and one of the defaults."""
    own = given.booster.params
    names = {CANONICAL.get(str(name), str(name)): (name, value) for name, value in own.items()}
    rows = [(_told(key, name), _value(value)) for key, (name, value) in sorted(names.items())]
    parts = []
    if rows:
        parts.append(table(("parameter", "value"), rows))
    else:
        parts.append(note("No parameter was set, or the model does not store parameters."))
    others = [
        (text(param.name), _value(param.default), _from_markdown(param.doc))
        for param in TABLE.values()
        if param.name not in names
    ]
    parts.append(
        f"<details><summary>The other {len(others)} parameters, with their defaults</summary>"
        f"{table(('parameter', 'default', 'meaning'), others, kinds='ttw')}</details>"
    )
    return "".join(parts)


def _from_markdown(doc: str) -> str:
    """Return a description of the parameters page as HTML: code stays code, links become text."""
    plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", doc).replace("**", "")
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(plain, 1000))


def _told(key: str, name: Any) -> str:
    return text(key) if key == name else f"{text(key)} <small>(given as {text(name)})</small>"


def _value(value: Any) -> str:
    if callable(value):
        return f"<code>{text(getattr(value, '__name__', type(value).__name__))}()</code>"
    if value is None or value == () or value == "":
        return "\u2013"
    shown = ", ".join(map(str, value)) if isinstance(value, tuple) else value
    return f"<code>{text(shown, 200)}</code>"
