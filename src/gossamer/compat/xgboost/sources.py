"""Data that is not a table yet: text files, and iterators over batches (`DataIter`)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qsl

import numpy as np

from gossamer.compat.xgboost import binary_file
from gossamer.compat.xgboost.table import check_numeric, read_table, shape_of, to_dense
from gossamer.data.chunks.program_source import FunctionSource
from gossamer.data.files.svm import SvmFiles
from gossamer.data.table.frames import is_frame, is_pandas
from gossamer.data.table.sparse import is_sparse
from gossamer.errors import DataError

# One value for all batches; the other fields have one per row or query.
_NOT_BY_ROW: Final = ("feature_names", "feature_types", "feature_weights")


class DataIter(ABC):
    """Gives a table batch by batch.

    A `DMatrix` puts batches together in memory; an `ExtMemQuantileDMatrix` reads them again and
    again, one at a time.

    Args:
        cache_prefix: For `ExtMemQuantileDMatrix`: bins that do not fit in memory go to the folder
            that this path is in; None: to a temporary file.
        release_data: Has no effect.
        on_host: Has no effect.
        min_cache_page_bytes: Has no effect.

    Example:
        >>> class Halves(DataIter):
        ...     def reset(self):
        ...         self.n = 0
        ...
        ...     def next(self, input_data):
        ...         self.n += 1
        ...         if self.n <= 2:
        ...             input_data(data=np.full((3, 2), self.n), label=np.full(3, self.n))
        ...         return self.n <= 2
        >>> table, fields = collect(Halves())
        >>> table.shape, fields["label"]
        ((6, 2), array([1, 1, 1, 2, 2, 2]))
    """

    def __init__(
        self,
        cache_prefix: str | None = None,
        release_data: bool = True,
        *,
        on_host: bool = True,
        min_cache_page_bytes: int | None = None,
    ) -> None:
        self.cache_prefix = cache_prefix

    @abstractmethod
    def reset(self) -> None:
        """Begin with the first batch again."""

    @abstractmethod
    def next(self, input_data: Callable[..., None]) -> bool:
        """Pass the next batch to `input_data`, by the arguments of a `DMatrix`.

        Returns:
            False where there is none any more.
        """


def each_batch(batches: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Read all batches from the first on: the table of each, and its fields by name.

    Raises:
        DataError: If a column has categories in some batches only.
    """
    found: list[tuple[Any, dict[str, Any]]] = []
    first: list[int] | None = None

    def input_data(*args: Any, data: Any = None, **fields: Any) -> None:
        if args:
            raise TypeError("Keyword arguments are needed: input_data(data=..., label=...)")
        found.append((data, {name: value for name, value in fields.items() if value is not None}))

    batches.reset()
    while batches.next(input_data):
        for data, fields in found:
            columns = _columns_of_categories(data)
            first = columns if first is None else first
            if columns != first:
                raise DataError.because(
                    "Inconsistent feature types: batches have categories in different columns",
                    got=f"columns {columns}",
                    expected=f"columns {first}, as in the first batch",
                )
            yield data, fields
        found.clear()


def _columns_of_categories(data: Any) -> list[int]:
    types = data.dtypes if is_frame(data) and hasattr(data, "dtypes") else ()
    return [i for i, dtype in enumerate(types) if str(dtype).lower().startswith("categor")]


def join_fields(batches: Any, given: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put the fields of batches together.

    Raises:
        DataError: If there is no batch, or batches have different fields.
    """
    if not given:
        raise DataError.because("there are no batches", got=type(batches).__name__)
    for i, fields in enumerate(given):
        if fields.keys() != given[0].keys():
            raise DataError.because(
                f"batch {i} has other fields than the first",
                got=sorted(fields),
                expected=f"{sorted(given[0])}",
            )
    return {
        name: given[0][name]
        if name in _NOT_BY_ROW
        else np.concatenate([np.asarray(fields[name]) for fields in given])
        for name in given[0]
    }


def collect(batches: Any) -> tuple[Any, dict[str, Any]]:
    """Return the table that batches make up, and its fields by name.

    Raises:
        DataError: If there is no batch, or batches have different fields.
    """
    read = list(each_batch(batches))
    batches.reset()
    found = join_fields(batches, [fields for _, fields in read])
    return _stack([table for table, _ in read]), found


class BatchSource(FunctionSource):
    """The rows of a `DataIter`, read again for each pass: one batch is in memory at a time.

    Args:
        batches: Gives the batches.
        missing: A number that means a missing value, in addition to NaN.
        enable_categorical: Whether columns of categories are welcome.

    Attributes:
        fields: Labels, weights, ... by name, from a first pass.
    """

    def __init__(self, batches: Any, missing: Any, enable_categorical: bool) -> None:
        self._batches, self._missing = batches, missing
        given: list[dict[str, Any]] = []
        n_rows = 0
        for data, fields in each_batch(batches):
            if not enable_categorical:
                check_numeric(data)
            n_rows += shape_of(read_table(data, None))[0]
            given.append(fields)
        self.fields = join_fields(batches, given)
        super().__init__(self._tables, f"the {type(batches).__name__}")
        self.n_rows = n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return cast(int, self.n_rows), self.n_columns

    def _tables(self) -> Iterator[Any]:
        for data, _ in each_batch(self._batches):
            table = read_table(data, self._missing)
            yield to_dense(table) if is_sparse(table) else table


def _stack(tables: Sequence[Any]) -> Any:
    first = tables[0]
    if len(tables) == 1:
        return first
    if all(is_sparse(table) for table in tables):
        import scipy.sparse

        return scipy.sparse.vstack(tables, format="csr")
    if any(is_sparse(table) for table in tables):  # what is not stored is missing
        return np.concatenate([to_dense(table) if is_sparse(table) else table for table in tables])
    if is_frame(first) and is_pandas(first):
        import pandas

        return pandas.concat(tables, ignore_index=True)
    if is_frame(first) and hasattr(first, "vstack"):  # polars
        import polars

        return polars.concat(tables)
    return np.concatenate([np.asarray(table) for table in tables])


def read_file(uri: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read a file: the table, and labels, queries and the like by name.

    Args:
        uri: What `DMatrix.save_binary` wrote, or the path of a text file with its format:
            "train.txt?format=libsvm", or "train.csv?format=csv&label_column=0"; "weight_column"
            is known, too. "indexing_mode" says what the first column of libsvm files is: 0, 1, or
            -1 (1 where no row has a 0).

    Raises:
        DataError: If the format is not given, or the file is something else.
    """
    text = os.fspath(uri).removeprefix("file://").partition("#")[0]
    name, _, query = text.partition("?")
    options = dict(parse_qsl(query))
    path = Path(name).expanduser()
    if not path.is_file():
        raise DataError.because("there is no such file", got=name)
    if binary_file.matches(path):
        return binary_file.load(path)
    if options.get("format") == "libsvm":
        return _read_svm(path, options.get("indexing_mode", "0"))
    if options.get("format") == "csv":
        return _read_csv(path, options)
    raise DataError.because(
        "the format of the text file is not given",
        got=os.fspath(uri),
        expected=f"'{name}?format=libsvm' or '{name}?format=csv'",
    )


def _read_svm(path: Path, indexing_mode: str) -> tuple[Any, dict[str, Any]]:
    import scipy.sparse

    if indexing_mode not in ("-1", "0", "1"):
        raise DataError.because(
            "indexing_mode cannot be used", got=indexing_mode, expected="-1, 0 or 1"
        )

    files = SvmFiles([path])
    fields: dict[str, Any] = dict(files.take_fields())
    if "query" in fields:
        fields["qid"] = fields.pop("query")
    table = scipy.sparse.vstack(list(files.read()), format="csr")
    has_zero = (table.indices == 0).any()
    if indexing_mode == "1" and has_zero:
        raise DataError.because("a column is numbered 0", got=str(path), expected="1, 2, ...")
    is_from_one = indexing_mode == "1" or (indexing_mode == "-1" and not has_zero)
    return table[:, 1:] if is_from_one else table, fields


def _read_csv(path: Path, options: dict[str, str]) -> tuple[Any, dict[str, Any]]:
    table = np.genfromtxt(path, delimiter=",", dtype=np.float32, ndmin=2)
    columns = {"label": options.get("label_column"), "weight": options.get("weight_column")}
    places = {name: _column(value, table.shape[1]) for name, value in columns.items() if value}
    fields = {name: table[:, place] for name, place in places.items()}
    return np.delete(table, list(places.values()), axis=1), fields


def _column(text: str, n_columns: int) -> int:
    if text.isdecimal() and int(text) < n_columns:
        return int(text)
    raise DataError.because(
        "there is no such column", got=text, expected=f"a number in 0..{n_columns - 1}"
    )
