"""`DaskDataset`: a table and what belongs to its rows, in partitions on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dask.array
import dask.dataframe
import numpy as np
from dask.delayed import Delayed, delayed

from gossamer.dask.workers import Part
from gossamer.distributed import ShardData
from gossamer.distributed.train import ROW_FIELDS
from gossamer.errors import DataError, DataTypeError


@dataclass(eq=False)
class DaskDataset:
    """A table in partitions, with its labels. Nothing is computed before it is trained on.

    The rows of the partitions, one partition after the other, are the table. All fields must have
    the partitions of the table.

    Attributes:
        data: A Dask array (of dense or sparse chunks), a Dask frame, or a list of delayed tables.
        label: One number per row, or rows x targets, as a Dask array, series or frame or a list of
            delayed values. Of a frame also the name of a column, which is then no feature; so may
            be `weight` and `query`.
        weight: One number >= 0 per row.
        group: For ranking: the rows of each query; no query spans two partitions.
        query: Instead of `group`: the query of each row. Queries may span partitions.
        init_score: Scores to start from.
        position: For ranking: where each row was shown.
        feature_name: Names of the columns; "auto": the frame's own.
        categorical_feature: Names or positions of the categorical columns; see `Dataset`.

    Example:
        >>> import dask.array
        >>> table = dask.array.ones((100, 3), chunks=(30, 3))
        >>> DaskDataset(table, label=table[:, 0]).n_partitions
        4
    """

    data: Any
    label: Any = None
    weight: Any = None
    group: Any = None
    query: Any = None
    init_score: Any = None
    position: Any = None
    feature_name: Sequence[str] | Literal["auto"] = "auto"
    categorical_feature: Sequence[str | int] | str | None = "auto"

    def __post_init__(self) -> None:
        named = [f for f in ("label", "weight", "query") if isinstance(getattr(self, f), str)]
        if not named:
            return
        if not isinstance(self.data, dask.dataframe.DataFrame):
            raise DataTypeError.because(
                f"{named[0]} names a column, and the data has no names",
                got=type(self.data).__name__,
                expected="a Dask frame",
            )
        columns = [getattr(self, field) for field in named]
        for field, column in zip(named, columns, strict=True):
            if column not in self.data.columns:
                raise DataError.because(f"{field} is not a column of the frame", got=column)
            setattr(self, field, self.data[column])
        self.data = self.data.drop(columns=columns)

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(split(self.data, "data"))

    @property
    def is_frame(self) -> bool:
        """Whether the columns have names."""
        return isinstance(self.data, dask.dataframe.DataFrame)

    def to_parts(self) -> list[Delayed]:
        """Return a delayed part for each partition: the table and its fields by name.

        Raises:
            DataError: If a field has other partitions than the table.
        """
        columns = {"data": split(self.data, "data")}
        for name in ROW_FIELDS:
            values = getattr(self, name)
            if values is None:
                continue
            columns[name] = split(values, name)
            if len(columns[name]) != len(columns["data"]):
                raise DataError.because(
                    f"{name} and the table differ in partitions",
                    got=len(columns[name]),
                    expected=str(len(columns["data"])),
                    hint="Rechunk or repartition one of them.",
                )
        make = delayed(make_part, pure=False)
        names = list(columns)
        return [make(names, *parts) for parts in zip(*columns.values(), strict=True)]

    def to_shard(self, parts: Sequence[Part]) -> ShardData:
        """Return the parts of one worker as its rows. `data` need not be there any more."""
        return to_shard(parts, self.feature_name, self.categorical_feature)


def to_shard(
    parts: Sequence[Part],
    feature_name: Sequence[str] | Literal["auto"],
    categorical_feature: Sequence[str | int] | str | None,
) -> ShardData:
    """Return parts as the rows of one worker.

    The tables are taken out, to be freed early, and so are labels and the like: they may be columns
    of the same memory.
    """
    fields = {
        name: np.concatenate([part.pop(name) for part in parts])
        for name in ROW_FIELDS
        if parts and name in parts[0]
    }
    return ShardData(
        [part.pop("data") for part in parts],
        **fields,
        feature_name=feature_name,
        categorical_feature=categorical_feature,
    )


def check_part(rows: object) -> None:
    """Refuse a partition that is not a table.

    Raises:
        DataTypeError: If it is something else.
    """
    if not isinstance(getattr(rows, "shape", None), tuple):
        raise DataTypeError.because(
            "a partition is not a table", got=type(rows).__name__, expected="an array or a frame"
        )


def make_part(names: Sequence[str], *values: Any) -> Part:
    """Put a table and its fields together, and check their lengths.

    Raises:
        DataError: If they differ in rows.
    """
    part: Part = {}
    for name, value in zip(names, values, strict=True):
        part[name] = value if name == "data" else _as_array(name, value)
    check_part(part["data"])
    n_rows = part["data"].shape[0]
    for name, value in part.items():
        if name not in ("data", "group") and len(value) != n_rows:
            raise DataError.because(
                f"{name} and the table differ in rows in one of the partitions",
                got=len(value),
                expected=str(n_rows),
                hint="Rechunk or repartition one of them.",
            )
    if "group" in part and int(part["group"].sum()) != n_rows:
        raise DataError.because(
            "the queries of a partition do not have its rows",
            got=int(part["group"].sum()),
            expected=str(n_rows),
            hint="Pass query, the query of each row, if queries span partitions.",
        )
    return part


def _as_array(name: str, value: Any) -> Any:
    """A frame of one column is a column."""
    array = np.asarray(value)
    is_one = array.ndim == 2 and array.shape[1] == 1
    return array[:, 0] if is_one and name != "init_score" else array


def split(values: Any, name: str) -> list[Any]:
    """Return the partitions of a collection, delayed.

    Raises:
        DataTypeError: If it has none; the message calls it `name`.
    """
    if isinstance(values, dask.array.Array):
        if values.ndim == 2 and values.numblocks[1] > 1:
            values = values.rechunk({1: -1})
        return list(values.to_delayed().ravel())
    if isinstance(values, (dask.dataframe.DataFrame, dask.dataframe.Series)):
        return [_with_whole_graph(part) for part in values.to_delayed()]
    if isinstance(values, (list, tuple)) and values and all(map(_is_delayed, values)):
        return list(values)
    raise DataTypeError.because(
        f"{name} is not in partitions",
        got=type(values).__name__,
        expected="a Dask array, frame or series, or a list of delayed values",
        hint="dask.array.from_array() makes partitions of an array.",
    )


def _with_whole_graph(part: Delayed) -> Delayed:
    """Repair the aliases of frames from `dask.dataframe.from_delayed`.

    Dask 2026.8 stores an alias of the delayed table under the name of the frame's partition; the
    alias calls itself by the table's name. Fusing such a graph fails: it seems to have a cycle.
    """
    graph = {
        key: type(node)(key, node.target) if hasattr(node, "target") and node.key != key else node
        for key, node in dict(part.__dask_graph__()).items()
    }
    return Delayed(part.key, graph)


def _is_delayed(value: Any) -> bool:
    return isinstance(value, Delayed)
