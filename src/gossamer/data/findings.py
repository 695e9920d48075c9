"""Things to know about a table: ids, constants, copies of the target, time order, drift."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.summary import shorten
from gossamer.data.table.columns import Column, LevelColumn
from gossamer.data.table.frames import (
    frame_names,
    is_frame,
    is_pandas,
    read_column,
    slice_rows,
)
from gossamer.errors import GossamerError

HEADING: Final = "Things to know about your data"
# Rows that are looked at.
MOST_ROWS: Final = 20_000
_FEW_ROWS: Final = 100
_FEWEST_FOR_IDS: Final = 20
_FEWEST_FOR_DRIFT: Final = 50
_MOST_OF_THE_GAIN: Final = 0.75
_ID_NAME: Final = re.compile(
    r"(^|.*[_\s.-])(id|uuid|guid|key|index|idx|row|nr|rownum)$|unnamed: \d+$", re.I
)
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Finding:
    """Something to know about a table.

    Attributes:
        kind: "few rows", "missing", "constant", "id", "target", "time", "drift" or "leak".
        columns: The columns that it is about.
        text: A sentence.
    """

    kind: str
    columns: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def columns_of(
    data: Any, names: Sequence[str] | None = None
) -> tuple[dict[str, Column], list[str]]:
    """Return the first rows of a table by column, and which columns are dates.

    Args:
        data: A data frame, or an array of two dimensions; other tables have no columns here.
        names: Names of the columns of an array.

    Example:
        >>> import pandas
        >>> columns_of(pandas.DataFrame({"a": [1], "day": pandas.to_datetime(["2024-01-01"])}))[1]
        ['day']
    """
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "biuf":
        known = list(names or (f"Column_{i}" for i in range(data.shape[1])))
        return {name: data[:MOST_ROWS, i] for i, name in enumerate(known)}, []
    if not is_frame(data):
        return {}, []
    head = slice_rows(data, 0, MOST_ROWS)
    columns: dict[str, Column] = {}
    for i, name in enumerate(frame_names(head)):
        try:
            columns[name] = read_column(head, i, name)
        except GossamerError:  # of a type that training refuses with a better message
            continue
    return columns, [name for name in date_names(head) if name in columns]


def date_names(data: Any) -> list[str]:
    """Return the names of the columns of a data frame that are dates; other tables have none.

    Example:
        >>> import pandas
        >>> date_names(pandas.DataFrame({"a": [1], "day": pandas.to_datetime(["2024-01-01"])}))
        ['day']
    """
    if not is_frame(data):
        return []
    return [
        name
        for i, name in enumerate(frame_names(data))
        if re.match(r"datetime|date|timestamp", str(_type_of(data, i)).lower())
    ]


def _type_of(frame: Any, column: int) -> Any:
    if is_pandas(frame):
        return frame.dtypes.iloc[column]
    schema = frame.schema
    return schema.types[column] if hasattr(schema, "types") else list(schema.values())[column]


def find_in_columns(
    columns: Mapping[str, Column], times: Sequence[str] = (), label: Any = None
) -> list[Finding]:
    """Look for columns that cannot help, or help too much.

    Args:
        columns: The columns, all of the same length.
        times: Names of the columns that are dates.
        label: The target as numbers, for the same rows; None: not known.

    Example:
        >>> columns = {"id": np.arange(200), "size": np.arange(200) % 7, "unit": np.ones(200)}
        >>> for finding in find_in_columns(columns, label=np.arange(200) % 7 * 2):
        ...     print(finding)
        The column 'unit' has the same value in every row: it cannot help.
        The column 'id' has a different value in every row, like an id. Leave it out.
        The column 'size' has the same information as the target: is it known when predicting?
    """
    found: dict[str, list[str]] = {}
    label = None if label is None else np.asarray(label, np.float64).reshape(-1)
    n_rows = 0
    for name, column in columns.items():
        codes = _codes(column)
        n_rows = len(codes)
        kind = _kind_of(name, column, codes, None if label is None else label[:n_rows])
        if kind:
            found.setdefault(kind, []).append(name)
    findings = []
    if 0 < n_rows < _FEW_ROWS:
        text = (
            f"There are only {n_rows} rows. Metrics of a single split vary a lot: use "
            "cross-validation."
        )
        findings.append(Finding("few rows", (), text))
    sentences = {
        "missing": (
            "has no values at all: it cannot help",
            "have no values at all: they cannot help",
        ),
        "constant": (
            "has the same value in every row: it cannot help",
            "have the same value in every row: they cannot help",
        ),
        "id": (
            "has a different value in every row, like an id. Leave it out",
            "have a different value in every row, like ids. Leave them out",
        ),
        "target": (
            "has the same information as the target: is it known when predicting?",
            "have the same information as the target: are they known when predicting?",
        ),
    }
    for kind, (one, several) in sentences.items():
        if names := found.get(kind):
            findings.append(Finding(kind, tuple(names), _sentence(names, one, several)))
    ordered = [name for name in times if name in columns and _is_in_order(columns[name])]
    if ordered:
        text = (
            f"The rows are in order of {ordered[0]!r}: with a random split, validation rows lie "
            "between training rows. To predict the future, validate on the last rows."
        )
        findings.append(Finding("time", tuple(ordered), text))
    return findings


def find_drift(train: Mapping[str, Column], valid: Mapping[str, Column]) -> list[Finding]:
    """Look for columns whose values differ between training and validation rows.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> before, after = {"x": rng.normal(size=500)}, {"x": rng.normal(2, 1, size=200)}
        >>> print(find_drift(before, after)[0])
        The column 'x' differs between training and validation rows.
    """
    names = []
    for name, column in train.items():
        other = valid.get(name)
        if other is None or isinstance(column, LevelColumn) != isinstance(other, LevelColumn):
            continue
        first, second = _values(column), _values(other)
        n, m = len(first), len(second)
        if min(n, m) < _FEWEST_FOR_DRIFT:
            continue
        if _distance(first, second) > max(0.2, 2.5 * np.sqrt((n + m) / (n * m))):
            names.append(name)
    if not names:
        return []
    one = "differs between training and validation rows"
    return [Finding("drift", tuple(names), _sentence(names, one, one.replace("ers", "er", 1)))]


def find_leak(names: Sequence[str], gains: npt.ArrayLike) -> list[Finding]:
    """Look for one column that does nearly all the work.

    Args:
        names: The columns.
        gains: Their importance by gain.

    Example:
        >>> print(find_leak(["a", "b", "c"], [90, 5, 5])[0])
        The column 'a' has 90 % of the gain: check that it is known when predicting (a leak?).
    """
    gain = np.asarray(gains, np.float64)
    total = float(gain.sum())
    if len(names) < 3 or total <= 0:
        return []
    best = int(np.argmax(gain))
    share = float(gain[best]) / total
    if share < _MOST_OF_THE_GAIN:
        return []
    text = (
        f"The column {names[best]!r} has {share:.0%} of the gain: check that it is known when "
        "predicting (a leak?)."
    ).replace("% of", " % of", 1)
    return [Finding("leak", (names[best],), text)]


def _sentence(names: Sequence[str], one: str, several: str) -> str:
    if len(names) == 1:
        return f"The column {names[0]!r} {one}" + ("" if one.endswith("?") else ".")
    return f"The columns {shorten(list(names))} {several}" + ("" if several.endswith("?") else ".")


def _codes(column: Column) -> Array:
    return column.positions if isinstance(column, LevelColumn) else column


def _is_there(codes: Array, column: Column) -> npt.NDArray[np.bool_]:
    if isinstance(column, LevelColumn):
        return np.asarray(codes >= 0)
    return np.asarray(codes == codes)


def _kind_of(name: str, column: Column, codes: Array, label: Array | None) -> str:
    there = _is_there(codes, column)
    if not there.any():
        return "missing" if len(codes) else ""
    values = codes[there]
    distinct = np.unique(values)
    if len(distinct) == 1:
        return "constant" if there.all() else ""
    is_unique = there.all() and len(distinct) == len(codes) >= _FEWEST_FOR_IDS
    if label is not None and len(label) == len(codes) and there.all() and _is_copy(codes, label):
        return "target"
    if is_unique:
        if isinstance(column, LevelColumn):
            return "id"
        is_whole = bool(np.all(values == np.floor(values)))
        is_counted = is_whole and bool(np.all(np.diff(values.astype(np.float64)) == 1))
        if is_counted or (is_whole and _ID_NAME.fullmatch(name)):
            return "id"
        if is_whole and values.max() - values.min() == len(values) - 1:  # counted, then shuffled
            return "id"
    return ""


def _is_copy(codes: Array, label: Array) -> bool:
    """Whether a column and the target determine each other, other than by having no repeats."""
    if not np.isfinite(label).all():
        return False
    first = np.unique(codes, return_inverse=True)[1].reshape(-1)
    second = np.unique(label, return_inverse=True)[1].reshape(-1)
    n_first, n_second = int(first.max()) + 1, int(second.max()) + 1
    if n_first != n_second or n_first < 2:
        return False
    if n_first > len(codes) // 2:  # nearly no repeats: only the order tells
        return bool((first == second).all() or (first == n_second - 1 - second).all())
    return len(np.unique(first * n_second + second)) == n_first


def _is_in_order(column: Column) -> bool:
    if isinstance(column, LevelColumn):
        return False
    values = column[column == column]
    if len(values) < _FEWEST_FOR_IDS or values[0] == values[-1]:
        return False
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _values(column: Column) -> Array:
    if not isinstance(column, LevelColumn):
        return np.asarray(column[column == column], np.float64)
    rows = column.positions[column.positions >= 0]
    found: Array = np.array([str(level) for level in column.found])[rows]
    return found


def _distance(first: Array, second: Array) -> float:
    """The largest distance of the two distributions (of categories: the sum of surpluses)."""
    grid = np.unique(np.concatenate([first, second]))
    if first.dtype.kind == "U":
        shares = [
            np.bincount(np.searchsorted(grid, part), minlength=len(grid)) / len(part)
            for part in (first, second)
        ]
        if len(grid) > 50:
            return 0.0  # too many categories to compare their shares
        return float(np.abs(shares[0] - shares[1]).sum() / 2)
    ends = [np.searchsorted(np.sort(part), grid, "right") / len(part) for part in (first, second)]
    return float(np.abs(ends[0] - ends[1]).max())
