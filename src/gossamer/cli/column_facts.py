"""What is in the columns of a file, found in one pass over its chunks."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.cli.read import read_all
from gossamer.data.chunks.source import ColumnsChanged, Source

# Beyond so many different values they are not counted any more.
_MOST_DISTINCT: Final = 100_000
_N_TOP: Final = 4


class ColumnFacts:
    """Collects what is known of one column, chunk by chunk."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind = "number"
        self._missing = self._n = 0
        self._sum = 0.0
        self._low: Any = None
        self._high: Any = None
        self._counts: dict[Any, int] | None = {}

    def add(self, column: Any) -> None:
        """Look at some rows: a column of pyarrow."""
        import pyarrow
        import pyarrow.compute

        kind, types, compute = column.type, pyarrow.types, pyarrow.compute
        if types.is_dictionary(kind):
            self.kind = "category"
            column = column.cast(kind.value_type)
            kind = column.type
        elif str(kind) in ("string", "large_string", "string_view"):
            self.kind = "text"
        elif types.is_boolean(kind):
            self.kind = "boolean"
        elif types.is_temporal(kind):
            self.kind = "time"
        elif types.is_decimal(kind):
            column = column.cast(pyarrow.float64())
        elif types.is_integer(kind):
            self.kind = "integer" if self.kind != "float" else "float"
        elif types.is_floating(kind):
            self.kind = "float"
        elif not types.is_null(kind):
            self.kind = str(kind)
        if types.is_floating(column.type):
            column = compute.if_else(compute.is_nan(column), None, column)
        self._missing += column.null_count
        there = column.drop_null()
        self._n += len(there)
        if not len(there):
            return
        self._count(there)
        if self.kind in ("integer", "float", "boolean", "time", "number"):
            ends = compute.min_max(there).as_py()
            self._low = ends["min"] if self._low is None else min(self._low, ends["min"])
            self._high = ends["max"] if self._high is None else max(self._high, ends["max"])
        if self.kind in ("integer", "float"):
            self._sum += float(np.sum(there.to_numpy(), dtype=np.float64))

    def _count(self, column: Any) -> None:
        if self._counts is None:
            return
        try:
            found = column.value_counts()
        except NotImplementedError:  # lists and the like
            self._counts = None
            return
        for value, count in zip(found.field("values"), found.field("counts"), strict=True):
            plain = value.as_py()
            self._counts[plain] = self._counts.get(plain, 0) + count.as_py()
            if len(self._counts) > _MOST_DISTINCT:
                self._counts = None
                return

    def facts(self) -> dict[str, Any]:
        """Return what was found."""
        found: dict[str, Any] = {
            "name": self.name,
            "type": self.kind,
            "missing": self._missing,
            "distinct": None if self._counts is None else len(self._counts),
            "min": self._low,
            "max": self._high,
            "mean": self._sum / self._n if self._n and self.kind in ("integer", "float") else None,
        }
        if self.kind in ("text", "category"):
            by_count = sorted((self._counts or {}).items(), key=lambda pair: (-pair[1], pair[0]))
            found["top"] = by_count[:_N_TOP]
        return found


def describe_columns(source: Source) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of rows of a file, and what is in each column."""
    if source.names is None:
        return _describe_sparse(source)
    names = source.names
    facts: list[ColumnFacts] = []
    n_rows = 0

    def look(chunk: Any) -> int:
        for each, column in zip(facts, chunk.columns, strict=True):
            each.add(column)
        return int(chunk.num_rows)

    while True:
        facts = [ColumnFacts(name) for name in names]
        try:
            n_rows = sum(look(chunk) for chunk in source.read())
        except ColumnsChanged:
            continue
        return n_rows, [each.facts() for each in facts]


def _describe_sparse(source: Source) -> tuple[int, list[dict[str, Any]]]:
    """Columns of LibSVM files have numbers for names; most values are zero."""
    parts = read_all(source, None, _look_at_sparse)
    n_rows = sum(part.n_rows for part in parts)
    width = max((len(part.entries) for part in parts), default=0)
    entries, total = np.zeros(width, np.int64), np.zeros(width)
    low, high = np.zeros(width), np.zeros(width)
    for part in parts:
        here = slice(0, len(part.entries))
        entries[here] += part.entries
        total[here] += part.total
        low[here] = np.minimum(low[here], part.low)
        high[here] = np.maximum(high[here], part.high)
    columns = [
        {
            "name": str(i),
            "type": "float",
            "missing": 0,
            "distinct": None,
            "min": float(low[i]),
            "max": float(high[i]),
            "mean": float(total[i] / max(n_rows, 1)),
            "non_zero": int(entries[i]),
        }
        for i in range(width)
    ]
    return n_rows, columns


class _SparsePart(NamedTuple):
    """What is in a chunk; zeros that are not written count for `low` and `high`."""

    n_rows: int
    entries: npt.NDArray[np.int64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    total: npt.NDArray[np.float64]


def _look_at_sparse(chunk: Any) -> _SparsePart:
    by_column = chunk.tocsc()
    low = np.asarray(by_column.min(axis=0).todense()).ravel()
    high = np.asarray(by_column.max(axis=0).todense()).ravel()
    total = np.asarray(by_column.sum(axis=0)).ravel()
    return _SparsePart(chunk.shape[0], np.diff(by_column.indptr), low, high, total)
