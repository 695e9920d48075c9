"""Dates and times of day in text, in several notations."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Final

# The orders in which day, month and year are written; "time": a time of day without a date.
DATE_ORDERS: Final = ("ymd", "dmy", "mdy", "time")

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        [
            ("jan", "january", "januar"),
            ("feb", "february", "februar"),
            ("mar", "march", "mär", "märz", "mrz"),
            ("apr", "april"),
            ("may", "mai"),
            ("jun", "june", "juni"),
            ("jul", "july", "juli"),
            ("aug", "august"),
            ("sep", "sept", "september"),
            ("oct", "october", "okt", "oktober"),
            ("nov", "november"),
            ("dec", "december", "dez", "dezember"),
        ],
        start=1,
    )
    for name in names
}
_CLOCK: Final = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[-+]\d\d:?(?:\d\d)?)?"
)
_WORD: Final = r"[A-Za-zäÄ]{3,9}"
_DAY: Final = (
    r"(?P<y1>\d{4})(?P<s1>[-/.])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})",
    r"(?P<a2>\d{1,2})(?P<s2>[-/.])(?P<b2>\d{1,2})(?P=s2)(?P<y2>\d{4}|\d\d)",
    rf"(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.)?[-\s/]*(?P<m3>{_WORD})\.?,?[-\s/]*(?P<y3>\d{{4}}|\d\d)",
    rf"(?P<m4>{_WORD})\.?\s*(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y4>\d{{4}})",
)
_DATE: Final = rf"\s*(?:(?:{_WORD})\.?,\s+)?(?:{'|'.join(_DAY)})(?:(?:T|,?\s+)(?:{_CLOCK}))?\s*"
_TIME: Final = rf"\s*{_CLOCK}\s*"
# Compiled when the first text is read: it takes longer than many an import.
_compiled: Final = cache(re.compile)
_EPOCH: Final = datetime(1970, 1, 1)


def date_orders(text: str) -> tuple[str, ...]:
    """Return the orders of day, month and year that a text may be written in; none: no date.

    Example:
        >>> date_orders("29.2.2024"), date_orders("03/04/2024"), date_orders("2024-02-29")
        (('dmy',), ('dmy', 'mdy'), ('ymd', 'dmy', 'mdy'))
        >>> date_orders("3 Apr 2024"), date_orders("12:30"), date_orders("30/30/2024")
        (('ymd', 'dmy', 'mdy'), ('time',), ())
    """
    return tuple(order for order in DATE_ORDERS if read_date(text, order) is not None)


def read_date(text: str, order: str) -> float | None:
    """Read a date as seconds since 1970, or a time of day as seconds since midnight.

    Args:
        text: The date; months may be English or German words.
        order: One of `DATE_ORDERS`. Dates with a word for the month, or the year in front, are
            read whatever the order of day and month is.

    Returns:
        Seconds, in UTC where the text has a time zone; None: this is not a date in this order.

    Example:
        >>> read_date("02.01.1970", "dmy"), read_date("Jan 2, 1970 1:00 am", "mdy")
        (86400.0, 90000.0)
    """
    if order == "time":
        match = _compiled(_TIME).fullmatch(text)
        return None if match is None else _clock(match)
    match = _compiled(_DATE).fullmatch(text)
    if match is None:
        return None
    day = _year_month_day(match, order)
    clock = _clock(match) if match["hour"] else 0.0
    if day is None or clock is None:
        return None
    try:
        return (datetime(*day) - _EPOCH).total_seconds() + clock
    except ValueError:  # the 30th of February
        return None


def _year_month_day(match: re.Match[str], order: str) -> tuple[int, int, int] | None:
    if match["y1"]:
        return int(match["y1"]), int(match["m1"]), int(match["d1"])
    if match["y2"]:
        if order == "ymd" or (match["s2"] == "." and order == "mdy"):
            return None  # only countries that write the day first write dots
        day, month = int(match["a2"]), int(match["b2"])
        return _year(match["y2"]), *((month, day) if order == "dmy" else (day, month))
    number = "3" if match["y3"] else "4"
    named = _MONTHS.get(match[f"m{number}"].lower())
    return None if named is None else (_year(match[f"y{number}"]), named, int(match[f"d{number}"]))


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else year + (2000 if year < 69 else 1900)


def _clock(match: re.Match[str]) -> float | None:
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"] in "Pp" else 0)
    if hour > 23 or minute > 59 or second > 60:
        return None
    seconds = hour * 3600 + minute * 60 + second + float(f"0.{match['fraction'] or 0}")
    zone = match["zone"] or "Z"
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        offset = timezone(timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))).utcoffset(None)
        seconds -= offset.total_seconds() * (-1 if zone[0] == "-" else 1)
    return float(seconds)
