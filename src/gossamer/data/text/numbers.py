"""Numbers in text: decimal commas, thousands separators, money signs, percent."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_MONEY: Final = r"(?:[$€£¥₹₽₩]|(?:USD|EUR|GBP|CHF|JPY|SEK|NOK|DKK|PLN|kr|Fr|Rs)\b\.?)"
_SIGN: Final = r"[-+\u2212]"
_SPACES: Final = r"\u00a0\u202f\u2009 "
# What may separate thousands, by the decimal sign.
_GROUPS: Final = {".": rf"[,'\u2019{_SPACES}]", ",": rf"[.'\u2019{_SPACES}]"}
_NOT_KEPT: Final = re.compile(r"[^0-9.eE+-]")


@cache  # compiled when the first text is read
def _pattern(decimal: str) -> re.Pattern[str]:
    group, point = _GROUPS[decimal], re.escape(decimal)
    whole = rf"(?:[1-9]\d{{0,2}}(?P<group>{group})\d{{3}}(?:(?P=group)\d{{3}})*|\d+)"
    return re.compile(
        rf"\s*(?P<open>\()?\s*{_SIGN}?\s*(?P<before>{_MONEY})?\s*{_SIGN}?"
        rf"(?P<number>(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?)"
        rf"\s*(?P<after>{_MONEY}|%)?\s*(?P<close>\))?\s*"
    )


def match_number(text: str, decimal: str) -> re.Match[str] | None:
    """Match a number whose decimal sign is "." or ",".

    The groups `before` and `after` are its unit, a money sign or "%"; `group` is what separates
    thousands.
    """
    match = _pattern(decimal).fullmatch(text)
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    return None if match["before"] and match["after"] else match


def read_number(text: str, decimal: str = ".") -> float | None:
    """Read a number; None: the text is something else.

    Example:
        >>> read_number("$1,234.50"), read_number("1.234,50 €", ","), read_number("(12 %)")
        (1234.5, 1234.5, -12.0)
        >>> read_number("12.5.2024") is None
        True
    """
    match = match_number(text, decimal)
    if match is None:
        return None
    number = match["number"]
    if match["group"]:
        number = number.replace(match["group"], "")
    value = float(_NOT_KEPT.sub("", number.replace(decimal, ".")))
    sign_part = text[: match.start("number")]
    return -value if match["open"] or "-" in sign_part or "\u2212" in sign_part else value
