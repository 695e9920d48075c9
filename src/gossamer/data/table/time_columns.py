"""Which columns of a table are dates or times, and whether another table has the same kinds there.

Dates are seconds to the trees. Plain numbers in a column that was a date in training would be
compared with thresholds that mean something else, so they are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Final

import numpy as np

from gossamer.data.table.columns import is_missing
from gossamer.data.table.frames import is_pandas
from gossamer.data.table.times import TIME_KINDS, is_time
from gossamer.errors import DataError

# Column, from 0 -> one of KINDS; of a table that is predicted also TEXT.
TimeKinds = Mapping[int, str]

DATE: Final = "date"  # without a time zone
UTC: Final = "date in UTC"  # the same numbers as without a zone, and as in another zone
ZONED: Final = "date with time zone"
SPAN: Final = "duration"
CLOCK: Final = "time of day"
KINDS: Final = (DATE, UTC, ZONED, SPAN, CLOCK)
DATES: Final = (DATE, UTC, ZONED)
TEXT: Final = "text"

_UTC: Final = ("UTC", "utc", "Etc/UTC", "UTC+00:00", "+00:00", "GMT", "Z")
_PLURALS: Final = {
    DATE: "dates without a time zone",
    UTC: "dates in UTC",
    ZONED: "dates with a time zone",
    SPAN: "durations",
    CLOCK: "times of day",
}


def find_times(data: Any) -> dict[int, str]:
    """Return the columns of a frame, of columns by name or of an array that are dates or times.

    Columns of text are listed too: they may hold dates.

    Example:
        >>> find_times({"a": [1.5, 2.5], "day": [None, date(2024, 1, 2)]})
        {1: 'date'}
        >>> find_times(np.array([["12:30", 1]], dtype=object))
        {0: 'text'}
    """
    if isinstance(data, Mapping):
        kinds: list[str | None] = [_kind_of_values(values) for values in data.values()]
    elif isinstance(data, np.ndarray):
        if data.ndim != 2 or data.dtype.kind not in f"{TIME_KINDS}OUT":
            return {}
        kinds = [_kind_of_values(data[:, i]) for i in range(data.shape[1])]
    elif is_pandas(data):
        kinds = [_kind_of_pandas(dtype, data, i) for i, dtype in enumerate(data.dtypes)]
    else:
        kinds = _kinds_of_other(data)
    return {column: kind for column, kind in enumerate(kinds) if kind is not None}


def without_text(kinds: TimeKinds) -> dict[int, str]:
    """Return the dates and times alone, as they are known of training data.

    Example:
        >>> without_text({0: TEXT, 1: DATE})
        {1: 'date'}
    """
    return {column: kind for column, kind in kinds.items() if kind != TEXT}


def check_times(
    known: TimeKinds | None,
    found: TimeKinds | None,
    values: Any,
    names: Sequence[object],
    with_levels: Collection[int] = (),
    of_table: str = "",
    *,
    is_text_file: bool = False,
) -> None:
    """Check that dates are where the training data had dates.

    Args:
        known: Of the training data; None: not known.
        found: Of this table; None: not known.
        values: The table as numbers: an array, or the native core's sparse matrix.
        names: Names of the columns.
        with_levels: Columns that were text or categories in training.
        of_table: What errors call the table, " of the file ..."; empty: only the column is named.
        is_text_file: Whether the table was read from text: dates may then have lost their zone.

    Raises:
        DataError: If numbers are where dates were, the other way round, or kinds differ.

    Example:
        >>> check_times({0: DATE}, {}, np.array([[45_000.0]]), ["day"])
        Traceback (most recent call last):
        ...
        gossamer.errors.DataError: column 'day' has another type than in the training data: \
got numbers such as 45000, expected dates without a time zone. Convert it first, for instance with \
pandas.to_datetime(column, unit='s') for seconds since 1970, or with format='%Y%m%d' for numbers \
such as 20240131.
    """
    if known is None or found is None or not (known or found):
        return
    if not isinstance(values, np.ndarray):
        refuse_numbers(known, names)
        return
    for column in sorted(known.keys() | found.keys()):
        if column >= min(len(names), values.shape[1]) or column in with_levels:
            continue
        before, now = known.get(column), found.get(column)
        if before == now or (now == TEXT and before is not None):
            continue
        if before in DATES and now in DATES and (is_text_file or UTC in (before, now)):
            continue
        numbers = values[:, column]
        is_there = ~np.isnan(numbers) if numbers.dtype.kind == "f" else np.ones(len(numbers), bool)
        if is_there.any():
            first = float(numbers[is_there][0])
            raise _other_kind(f"column {names[column]!r}{of_table}", before, now, f"{first:.15g}")


def refuse_numbers(known: TimeKinds | None, names: Sequence[object]) -> None:
    """Raise if there are dates in the training data: this table can hold numbers only."""
    for column, kind in (known or {}).items():
        raise _other_kind(f"column {names[column]!r}", kind, None)


def _other_kind(where: str, before: str | None, now: str | None, first: str = "") -> DataError:
    if now is None:
        got = f"numbers such as {first}" if first else "numbers"
    else:
        got = "dates or times as text" if now == TEXT else _PLURALS[now]
    return DataError.because(
        f"{where} has another type than in the training data",
        found=got,
        expected="numbers" if before is None else _PLURALS[before],
        hint=_hint(before, now),
    )


def _hint(before: str | None, now: str | None) -> str:
    if before in DATES and now is None:
        return (
            "Convert it first, for instance with pandas.to_datetime(column, unit='s') for seconds "
            "since 1970, or with format='%Y%m%d' for numbers such as 20240131."
        )
    if before == SPAN and now is None:
        return "Convert it first, for instance with pandas.to_timedelta(column, unit='s')."
    if before == ZONED and now == DATE:
        return "Say which zone the dates are in: column.dt.tz_localize('UTC'), or another zone."
    if before == DATE and now == ZONED:
        return (
            "Convert the column to the clock of the training data and drop the zone: "
            "column.dt.tz_convert('Europe/Berlin').dt.tz_localize(None), or another zone."
        )
    if before is None:
        return "Give the column as in training, for instance the year with column.dt.year."
    return "Give the column as in training."


def _kind_of_values(values: Any) -> str | None:
    """Return the kind of an array, a series or a list."""
    if hasattr(values, "to_frame"):
        frame = values.to_frame()
        return find_times(frame).get(0)
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        if dtype.kind in TIME_KINDS:
            return DATE if dtype.kind == "M" else SPAN
        if dtype.kind != "O":
            return TEXT if dtype.kind in "UT" else None
    return _kind_of_objects(values)


def _kind_of_objects(values: Any) -> str | None:
    """Return the kind of the first value that is there."""
    first = next((v for v in values if not is_missing(v)), None)
    if isinstance(first, str):
        return TEXT
    if first is None or not is_time(type(first)):
        return None
    if isinstance(first, datetime):  # of pandas too
        return _date_in(first.tzinfo)
    if isinstance(first, time):
        return CLOCK
    return DATE if isinstance(first, (date, np.datetime64)) else SPAN


def _kind_of_pandas(dtype: Any, frame: Any, column: int) -> str | None:
    """Return the kind of a column; the column itself, which takes long to get, is seldom needed."""
    if isinstance(dtype, np.dtype) and dtype.kind not in f"{TIME_KINDS}O":
        return None
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is not None:
        return _kind_of_arrow(str(arrow))
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return _kind_of_objects(frame.iloc[:, column].to_numpy())
    if hasattr(dtype, "categories"):
        return None
    kind = getattr(dtype, "kind", "")
    if kind == "M":
        return _date_in(getattr(dtype, "tz", None))
    if kind == "m":
        return SPAN
    return TEXT if dtype.type is str else None


def _date_in(zone: object) -> str:
    return DATE if zone is None else UTC if str(zone) in _UTC else ZONED


def _kind_of_arrow(name: str) -> str | None:
    if name.startswith("timestamp"):
        return _date_in(name.partition("tz=")[2].rstrip("]") or None)
    if name.startswith("time"):
        return CLOCK
    if name.startswith("duration"):
        return SPAN
    return DATE if name.startswith("date") else TEXT if "string" in name[:12] else None


def _kinds_of_other(frame: Any) -> list[str | None]:
    import narwhals

    found: list[str | None] = []
    for dtype in narwhals.from_native(frame, eager_only=True).schema.values():
        if dtype == narwhals.Datetime:
            found.append(_date_in(getattr(dtype, "time_zone", None)))
        elif dtype == narwhals.Date:
            found.append(DATE)
        elif dtype == narwhals.Duration:
            found.append(SPAN)
        elif dtype == narwhals.Time:
            found.append(CLOCK)
        else:
            found.append(TEXT if dtype in (narwhals.String, narwhals.Object) else None)
    return found
