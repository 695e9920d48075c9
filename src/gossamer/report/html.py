"""Text and tables of the page. Whatever comes from a user goes through `text` or `to_json`."""

from __future__ import annotations

import html
import json
import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

# Longest name or level that is written out.
LONGEST: Final = 60
# Characters that change the direction of all text that follows them.
_DIRECTIONS: Final = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(value: object, most: int = LONGEST) -> str:
    """Return a value as text that fits a page: cut, and without control characters.

    Example:
        >>> clean("age\\x00"), clean("x" * 100, most=5)
        ('age\\ufffd', 'xxxx\\u2026')
    """
    whole = str(value)
    cut = whole if len(whole) <= most else whole[: most - 1] + "\u2026"
    return "".join("\ufffd" if _is_unsafe(c) else c for c in cut)


def _is_unsafe(character: str) -> bool:
    return character in _DIRECTIONS or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def text(value: object, most: int = LONGEST) -> str:
    """Return a value as escaped text.

    Example:
        >>> text("<b>")
        '&lt;b&gt;'
    """
    return html.escape(clean(value, most))


def name(value: object) -> str:
    """Return a name as HTML; of one that is cut, more is shown on demand, and its length.

    Example:
        >>> name("age")
        'age'
    """
    whole = str(value)
    if len(whole) <= LONGEST:
        return text(whole)
    note = f"{clean(whole, 300)} ({len(whole):,} characters)"
    return f'<abbr title="{text(note, 400)}">{text(whole)}</abbr>'


def number(value: float, digits: int = 4) -> str:
    """Return a number with a few significant digits.

    Example:
        >>> number(0.123456), number(1234567.8), number(1e-9), number(3), number(float("nan"))
        ('0.1235', '1,234,568', '1e-09', '3', 'not a number')
    """
    value = float(value)
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "\u221e" if value > 0 else "\u2212\u221e"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-5:
        return f"{value:.{digits - 1}e}".replace(".000e", "e")
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    found = f"{value:,.{decimals}f}"
    return found.rstrip("0").rstrip(".") if "." in found else found


def plain_number(value: float, digits: int = 6) -> str:
    """Return a value of a column: no thousands separators, since it may be a year or a code.

    Example:
        >>> plain_number(2024), plain_number(90210.0), plain_number(0.5)
        ('2024', '90210', '0.5')
    """
    return number(value, digits).replace(",", "")


def many(n: int, word: str) -> str:
    """Return a number of things.

    Example:
        >>> many(1, "row"), many(2000, "row")
        ('1 row', '2,000 rows')
    """
    return f"{n:,} {word}" + ("" if n == 1 else "s")


def percent(share: float) -> str:
    """Return a share in percent.

    Example:
        >>> percent(0.1234), percent(0.00001), percent(1)
        ('12.3 %', '< 0.1 %', '100 %')
    """
    if math.isnan(share):
        return "\u2013"
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", kinds: str = ""
) -> str:
    """Return a table.

    Args:
        head: The headings of the columns, as HTML.
        rows: The cells, as HTML; the first of a row is its heading.
        caption: What the table is.
        kinds: A letter for each column: "n" for numbers, "t" for text, "w" for longer text.
    """
    kinds = kinds or "t" * len(head)
    classes = ["" if kind == "t" else f' class="{kind}"' for kind in kinds]
    parts = ['<div class="wide"><table>']
    if caption:
        parts.append(f"<caption>{caption}</caption>")
    cells = (f'<th scope="col"{c}>{h}</th>' for h, c in zip(head, classes, strict=True))
    parts.append(f"<thead><tr>{''.join(cells)}</tr></thead><tbody>")
    for first, *others in rows:
        line = (f"<td{c}>{cell}</td>" for cell, c in zip(others, classes[1:], strict=True))
        parts.append(f'<tr><th scope="row"{classes[0]}>{first}</th>{"".join(line)}</tr>')
    parts.append("</tbody></table></div>")
    return "".join(parts)


def note(sentence: str) -> str:
    """Return a remark, given as HTML."""
    return f'<p class="note">{sentence}</p>'


def grid(figures: Iterable[str]) -> str:
    """Return charts side by side."""
    return f'<div class="grid">{"".join(figures)}</div>'


def to_json(value: Any) -> str:
    """Return JSON that may stand inside of a script element, whatever is in its strings.

    Example:
        >>> to_json({"name": "</script>"})
        '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    found = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        found = found.replace(character, f"\\u{ord(character):04x}")
    return found
