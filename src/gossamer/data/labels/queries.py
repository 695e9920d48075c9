"""Which rows belong to one query, and where rows were shown: checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.data.labels.fields import as_array
from gossamer.data.table.columns import is_missing
from gossamer.errors import DataError
from gossamer.logger import warn

# Whole numbers: int32 as in LightGBM, int64 where they do not fit.
Sizes = npt.NDArray[np.int32] | npt.NDArray[np.int64]


def as_int32(numbers: npt.NDArray[Any]) -> Sizes:
    """Return whole numbers as int32, or as int64 where they do not fit.

    Example:
        >>> as_int32(np.array([1, 2])).dtype, as_int32(np.array([2**40])).dtype
        (dtype('int32'), dtype('int64'))
    """
    limits = np.iinfo(np.int32)
    fits = limits.min <= numbers.min(initial=0) and numbers.max(initial=0) <= limits.max
    return numbers.astype(np.int32) if fits else numbers.astype(np.int64)


def check_group(group: object, n_rows: int) -> Sizes:
    """Return the rows of each query, one number >= 1 per query.

    Raises:
        DataError: If they are no such numbers, or do not add up to the rows.

    Example:
        >>> check_group([2, 3], 5)
        array([2, 3], dtype=int32)
    """
    sizes = _as_column(group, "group")
    if sizes.dtype.kind not in "biuf" or len(sizes) == 0:
        raise DataError.because(
            "group cannot be used",
            got=str(sizes.dtype) if len(sizes) else [],
            expected="the number of rows of each query",
            hint="Pass one id per row as query.",
        )
    # One id per row adds up to anything, or has zeros: say so first.
    hint = "If these are ids of queries, one per row, pass them as query." * (len(sizes) == n_rows)
    is_bad = ~np.isfinite(sizes) | (sizes < 1) | (sizes != np.floor(sizes))
    if is_bad.any():
        place = int(np.argmax(is_bad))
        raise DataError.because(
            f"size of query {place} in group cannot be used",
            got=sizes[place].item(),
            expected="a whole number of rows, 1 or more",
            hint=hint,
        )
    # As Python integers: huge sizes must not wrap around to the right sum.
    if (total := sum(sizes.tolist())) != n_rows:
        raise DataError.because(
            "sizes in group do not add up to the rows of the data",
            got=int(total),
            expected=f"{n_rows}",
            hint=hint,
        )
    return as_int32(sizes)


def check_query(query: object, n_rows: int) -> Sizes:
    """Return the rows of each query from one id per row; rows of a query are contiguous.

    Raises:
        DataError: If there is not one id per row, or a query's rows are apart.

    Example:
        >>> check_query(["a", "a", "b", "b", "b"], 5)
        array([2, 3], dtype=int32)
    """
    ids = _as_column(query, "query")
    _check_length("query", ids, n_rows)
    _check_present("query", ids)
    _check_ids(ids)
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    first_of: dict[Any, int] = {}
    for start, value in zip(starts.tolist(), ids[starts].tolist(), strict=True):
        if first_of.setdefault(value, start) != start:
            raise DataError.because(
                f"rows of query {value!r} are not next to each other",
                found=f"rows from {first_of[value]} and again from {start}",
                expected="all rows of a query in one piece",
                hint="Sort the rows by query first, with a stable sort.",
            )
    return as_int32(np.diff(np.append(starts, n_rows)))


def check_position(
    position: object, n_rows: int
) -> tuple[npt.NDArray[np.int32], tuple[int | float | str, ...]]:
    """Return where rows were shown, as numbers from 0, and what these stand for.

    Raises:
        DataError: If there is not one number or name per row.

    Example:
        >>> check_position([1, 10, 1], 3)
        (array([0, 1, 0], dtype=int32), (1, 10))
    """
    values = _as_column(position, "position")
    _check_length("position", values, n_rows)
    _check_present("position", values)
    if values.dtype.kind not in "biuf":
        try:
            values = values.astype(str)
        except ValueError:  # lists, say
            raise DataError.because(
                "position is not made of numbers or names", got=values[0]
            ) from None
    found, codes = np.unique(values, return_inverse=True)
    return codes.reshape(-1).astype(np.int32), tuple(found.tolist())


def number_positions(positions: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return positions as numbers from 0, in the order of their first rows.

    Example:
        >>> number_positions(np.array([15, 15, 8, 27, 15]))
        array([0, 0, 1, 2, 0])
    """
    _, first, codes = np.unique(positions, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), dtype=np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    return ranks[codes.reshape(-1)]


def take_queries(sizes: Sizes, rows: npt.NDArray[np.int64]) -> Sizes:
    """Return the sizes of the queries that some rows (increasing) consist of.

    Rows of a query that is cut become a smaller query; a warning says so.

    Example:
        >>> take_queries(np.array([2, 3, 1]), np.array([2, 3, 4, 5]))
        array([3, 1], dtype=int32)
    """
    n_taken = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[rows], minlength=len(sizes))
    is_cut = (n_taken > 0) & (n_taken != sizes)
    if is_cut.any():
        query = int(np.argmax(is_cut))
        warn(
            f"used_indices take {is_cut.sum()} queries apart, the first of which is query {query}: "
            f"{n_taken[query]} of its {sizes[query]} rows are a query of their own."
        )
    return as_int32(n_taken[n_taken > 0])


def _as_column(values: object, name: str) -> npt.NDArray[Any]:
    array = np.asarray(as_array(values, name))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError.because(f"{name} has shape {array.shape}", expected="a list")
    return array


def _check_length(name: str, values: npt.NDArray[Any], n_rows: int) -> None:
    if len(values) != n_rows:
        raise DataError.because(
            f"{name} and data differ in length",
            got=len(values),
            expected=f"{n_rows}, one per row of the data",
            hint="Pass sizes of queries as group." if name == "query" else "",
        )


def _check_present(name: str, values: npt.NDArray[Any]) -> None:
    if values.dtype == object:
        missing = np.array([_is_missing(value) for value in values], dtype=bool)
    else:
        missing = values != values  # NaN
    if missing.any():
        row = int(np.argmax(missing))
        raise DataError.because(
            f"{name} of row {row} is missing", got=values[row], expected="a value per row"
        )


def _check_ids(ids: npt.NDArray[Any]) -> None:
    """Check that ids can be compared: lists and arrays cannot, nor tuples that have some."""
    if ids.dtype != object:
        return
    for value in ids:
        if type(value) in (str, int):
            continue
        try:
            hash(value)
        except TypeError:
            raise DataError.because(
                "query cannot be used", got=value, expected="a number or text for each row"
            ) from None


def _is_missing(value: Any) -> bool:
    return not isinstance(value, str) and getattr(value, "ndim", 0) == 0 and is_missing(value)
