"""Facts as one line of text, and as a table for notebooks."""

from __future__ import annotations

from collections.abc import Mapping

from gossamer.errors import escape_controls


def to_line(kind: str, facts: Mapping[str, object]) -> str:
    """Return facts in one line.

    Example:
        >>> to_line("Dataset", {"rows": 1000, "columns": 3})
        '<Dataset: rows 1,000, columns 3>'
    """
    listed = ", ".join(f"{name} {_text(value)}" for name, value in facts.items())
    return escape_controls(f"<{kind}: {listed}>")


def to_html(kind: str, facts: Mapping[str, object]) -> str:
    """Return facts as a table of HTML; whatever is in them is shown as text.

    Example:
        >>> print(to_html("Dataset", {"<b>": 1000}))
        <table><caption>Dataset</caption><tr><th>&lt;b&gt;</th><td>1,000</td></tr></table>
    """
    from html import escape  # only notebooks need it

    rows = (
        f"<tr><th>{escape(name)}</th><td>{escape(_text(value))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<table><caption>{escape(kind)}</caption>{''.join(rows)}</table>"


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"{value:,}"


def shorten(names: list[str], most: int = 6) -> str:
    """Return names in one line, the rest counted.

    Example:
        >>> shorten(["a", "b", "c"], most=2)
        'a, b and 1 more'
    """
    shown = ", ".join(name if len(name) <= 40 else f"{name[:37]}..." for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
