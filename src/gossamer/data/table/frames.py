"""Data frames, column by column: pandas by its own methods, all others through narwhals."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.table.columns import (
    Column,
    LevelColumn,
    LevelKind,
    check_found,
    is_missing,
    read_objects,
)
from gossamer.data.table.dtypes import NUMERIC_KINDS
from gossamer.data.table.names import check_names
from gossamer.data.table.times import TIME_KINDS, to_seconds
from gossamer.errors import DataError

# Types of Arrow's dates, times and decimals, which pandas would make Python objects.
_ARROW_TYPES: Final = ("timestamp", "date", "time", "duration", "decimal")


def is_frame(data: object) -> bool:
    """Whether this looks like a data frame (pandas, polars, a table of pyarrow)."""
    # The order matters: polars' lazy frames, which have no `to_numpy`, warn when asked for more.
    if all(hasattr(data, name) for name in ("to_numpy", "columns", "dtypes")):
        return True
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(data, pyarrow.Table)


def is_pandas(frame: Any) -> bool:
    """Whether a frame has pandas' methods."""
    return hasattr(frame, "iloc")


def frame_names(frame: Any) -> list[str]:
    """Return the names of a frame's columns, as text."""
    names = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return [str(name) for name in names]


def is_numeric(dtype: Any) -> bool:
    """Whether a frame's column holds numbers as NumPy has them; asks as pandas or polars do."""
    if hasattr(dtype, "kind"):
        return dtype.kind in NUMERIC_KINDS
    ask = getattr(dtype, "is_numeric", None)
    return bool(ask and ask() and not _is_wide(dtype)) or str(dtype) == "Boolean"


def _is_wide(dtype: object) -> bool:
    """Whether these are integers of 128 bits, which NumPy does not have."""
    return str(dtype) in ("Int128", "UInt128")


def read_frame(frame: Any, what: str = "the data frame") -> list[Column]:
    """Read a frame column by column; numbers are not copied where the frame need not.

    Args:
        frame: The frame.
        what: What errors call it.

    Raises:
        DataError: If a column holds neither numbers nor text nor categories.

    Example:
        >>> import pandas
        >>> size, city = read_frame(pandas.DataFrame({"size": [1, 2], "city": ["Rome", None]}))
        >>> size, city.positions, city.found
        (array([1, 2]), array([ 0, -1]), ['Rome'])
    """
    names = frame_names(frame)
    where = [column_in_frame(name, what) for name in names]
    if is_pandas(frame):
        return [_read_pandas(frame.iloc[:, i], each) for i, each in enumerate(where)]
    check_names(names, len(names))  # by name, they must differ
    table = _wrapped(frame)  # once: that takes its time
    return [_read_other(table.get_column(n), each) for n, each in zip(names, where, strict=True)]


def read_column(frame: Any, column: int, where: str) -> Column:
    """Read one column of a frame; see `read_frame`.

    Args:
        frame: The frame.
        column: Which one, from 0.
        where: What errors call it.
    """
    if is_pandas(frame):
        return _read_pandas(frame.iloc[:, column], where)
    return _read_other(_wrapped(frame)[:, column], where)


def _wrapped(frame: Any) -> Any:
    """Return another frame than pandas' as one of narwhals."""
    import narwhals

    return narwhals.from_native(frame, eager_only=True)


def slice_rows(frame: Any, begin: int, end: int) -> Any:
    """Return the rows from `begin` to before `end` as a frame, without a copy."""
    if is_pandas(frame):
        return frame.iloc[begin:end]
    return frame.slice(begin, end - begin)


def select_columns(frame: Any, columns: Sequence[int]) -> Any:
    """Return some columns as a frame."""
    if is_pandas(frame):
        return frame.iloc[:, list(columns)]
    names = frame_names(frame)
    return frame.select([names[column] for column in columns])


def without_columns(frame: Any, columns: Collection[int]) -> Any:
    """Return a frame, or columns by name, without some; pandas need not copy the others.

    Example:
        >>> import pandas
        >>> list(without_columns(pandas.DataFrame({"a": [1], "b": [2], "c": [3]}), [1]))
        ['a', 'c']
    """
    if isinstance(frame, Mapping):
        return {name: frame[name] for i, name in enumerate(frame) if i not in columns}
    if is_pandas(frame):
        return frame.drop(columns=frame.columns[sorted(columns)])
    rest = [i for i in range(len(frame_names(frame))) if i not in set(columns)]
    return select_columns(frame, rest)


def take_rows_of(data: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Return some rows of a frame as a frame, of anything else as an array of objects."""
    if not is_frame(data):
        return np.asarray(data, dtype=object)[rows]
    if is_pandas(data):
        return data.iloc[rows]
    return _wrapped(data)[rows.tolist()].to_native()


def first_columns(data: Any, n_columns: int) -> Any:
    """Return a frame or an array without further columns; other tables as they are."""
    if isinstance(data, np.ndarray) and data.ndim == 2:
        return data[:, :n_columns]
    if not is_frame(data):
        return data
    return select_columns(data, range(n_columns))


def column_in_frame(name: object, what: str = "the data frame") -> str:
    """Return what errors call a column."""
    return f"column {name!r} of {what}"


def _read_pandas(series: Any, where: str) -> Column:
    dtype = series.dtype
    if is_numeric(dtype):
        if isinstance(dtype, np.dtype):
            return np.asarray(series.to_numpy())
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        kind: LevelKind = "ordered" if dtype.ordered else "category"
        found = check_found(series.cat.categories.tolist(), where)
        return LevelColumn(series.cat.codes.to_numpy(), found, kind)
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return read_objects(series.to_numpy(), where)
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is not None and str(arrow).startswith(_ARROW_TYPES):
        import narwhals

        return _read_other(narwhals.from_native(_as_arrow(series), series_only=True), where)
    if getattr(dtype, "kind", "") in TIME_KINDS:
        if getattr(dtype, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return to_seconds(series.to_numpy())
    if dtype.type is str:
        positions, levels = series.factorize()
        try:
            return LevelColumn(positions, check_found(levels.tolist(), where), "text")
        except UnicodeDecodeError as error:
            raise _not_text(where, error) from None
    if arrow is not None and str(arrow).startswith("dictionary"):
        return read_dictionary(_as_arrow(series), where)
    raise not_numeric(where, dtype)


def _as_arrow(series: Any) -> Any:
    """Return a column that pandas keeps as Arrow does."""
    return series.array.__arrow_array__()


def _read_other(series: Any, where: str) -> Column:
    """Read a column of a frame that narwhals knows."""
    import narwhals

    dtype = series.dtype
    if dtype == narwhals.Boolean:  # where some are missing, booleans would become objects
        return np.asarray(series.cast(narwhals.UInt8).to_numpy())
    if dtype.is_numeric():
        if dtype == narwhals.Decimal or _is_wide(dtype):
            series = series.cast(narwhals.Float64)
        return np.asarray(series.to_numpy())
    if dtype in (narwhals.Datetime, narwhals.Date, narwhals.Duration):
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return to_seconds(np.asarray(series.to_numpy()))
    if dtype == narwhals.Time:
        return to_seconds(_times_of_day(series.to_list()))
    if dtype == narwhals.Enum:
        return _number_levels(series.cast(narwhals.String), list(dtype.categories), "category")
    if dtype == narwhals.Categorical:
        native = series.to_native()
        if hasattr(native, "dictionary_encode"):  # pyarrow
            return read_dictionary(native, where)
        series = series.cast(narwhals.String)
        return _number_levels(series, sorted(series.drop_nulls().unique().to_list()), "category")
    if dtype == narwhals.String:
        return _read_text(series, where)
    if dtype == narwhals.Object:
        return read_objects(np.array([*series.to_list(), None], dtype=object)[:-1], where)
    if dtype == narwhals.Unknown and series.null_count() == len(series):  # pyarrow's null
        return np.full(len(series), np.nan)
    raise not_numeric(where, dtype)


def _read_text(series: Any, where: str) -> LevelColumn:
    import narwhals

    try:
        if str(getattr(series.to_native(), "type", "")) == "string_view":
            # pyarrow knows it, but cannot look it up.
            series = narwhals.from_native(series.to_native().cast("large_string"), series_only=True)
        return _number_levels(series, series.drop_nulls().unique().to_list(), "text")
    except UnicodeDecodeError as error:
        raise _not_text(where, error) from None


def _not_text(where: str, error: UnicodeDecodeError) -> DataError:
    """pyarrow does not check the bytes of text that it is given."""
    return DataError.because(f"{where} holds text that is not UTF-8 ({error})")


def _times_of_day(times: list[Any]) -> npt.NDArray[np.timedelta64]:
    """Return Python's times of day as spans since midnight."""
    units = [
        None
        if time is None
        else ((time.hour * 60 + time.minute) * 60 + time.second) * 10**6 + time.microsecond
        for time in times
    ]
    return np.array(["NaT" if unit is None else unit for unit in units], dtype="timedelta64[us]")


def _number_levels(series: Any, found: list[str], kind: LevelKind) -> LevelColumn:
    """Let the frame's library look up where each row's level stands."""
    import narwhals

    if not found:
        return LevelColumn(np.full(len(series), -1), [], kind)
    numbers = list(map(float, range(len(found))))
    positions = series.replace_strict(found, numbers, return_dtype=narwhals.Float64).to_numpy()
    return LevelColumn(_positions(positions), list(found), kind)


def read_dictionary(column: Any, where: str, *, in_order: bool = False) -> LevelColumn:
    """Read a column of pyarrow's dictionaries: in order if they are ordered, else by value.

    Each piece of the column has a dictionary of its own, in which values may be twice or missing.
    With `in_order` all of them stay in order.
    """
    kind: LevelKind = "ordered" if column.type.ordered else "category"
    chunks = column.chunks
    try:
        dictionaries = [chunk.dictionary.to_pylist() for chunk in chunks]
    except UnicodeDecodeError as error:
        raise _not_text(where, error) from None
    distinct = dict.fromkeys(v for values in dictionaries for v in values if not is_missing(v))
    found: list[Any] = check_found(distinct, where)
    if kind == "category" and not in_order:
        found.sort()
    place = {level: i for i, level in enumerate(found)}
    parts = [np.empty(0, dtype=np.intp)]
    for chunk, values in zip(chunks, dictionaries, strict=True):
        place_of = np.array([*(place.get(value, -1) for value in values), -1])
        positions = _positions(chunk.indices.to_numpy(zero_copy_only=False))
        if positions.size and not -1 <= positions.min() <= positions.max() < len(values):
            worst = positions.max() if positions.max() >= len(values) else positions.min()
            raise DataError.because(
                f"{where} has codes outside of its dictionary",
                got=int(worst),
                expected=f"0 to {len(values) - 1}",
                hint="Was the Arrow table made with safe=False, or is it damaged?",
            )
        parts.append(place_of[positions])
    return LevelColumn(np.concatenate(parts), found, kind)


def _positions(numbers: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return numbers as positions; NaN: -1."""
    if numbers.dtype.kind == "f":
        numbers = np.where(np.isnan(numbers), -1, numbers)
    return numbers.astype(np.intp)


def not_numeric(where: str, dtype: object) -> DataError:
    """Return the error for a column of a type that cannot be read."""
    return DataError.because(
        f"{where} is not numeric",
        got=str(dtype),
        expected="floats, integers, booleans, dates and times, text or categories",
        hint="Convert it to dates first: column.dt.to_timestamp()."
        if str(dtype).startswith("period")
        else "Split the column into columns of these types first.",
    )
