"""`find_source`: whether a user's table comes in chunks, and from where."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

import numpy as np

from gossamer.data.chunks.program_source import find_chunks
from gossamer.data.chunks.source import Source
from gossamer.data.files import names_files, open_files
from gossamer.data.table.sparse import is_sparse
from gossamer.data.table.table_kinds import as_known


def find_source(
    data: Any, header: bool | None = None, text_columns: Collection[str] = ()
) -> Source | None:
    """Return where the rows of a table come from; None: it is in memory as a whole.

    Args:
        data: Files, chunks, a source, or a table.
        header: Whether the first line of text files has names; None: found out.
        text_columns: Names of columns that are text in text files, whatever they look like.

    Raises:
        DataError: If files cannot be read, or chunks can be read only once.
    """
    if isinstance(data, Source):
        return data
    if names_files(data):
        return open_files(data, header, text_columns)
    dataset = sys.modules.get("pyarrow.dataset")
    if dataset is not None and isinstance(data, dataset.Dataset):
        from gossamer.data.files.columnar import ArrowDataset

        return ArrowDataset(data)
    return find_chunks(data)


def join_arrays(data: Any) -> Any:
    """Return a list of arrays, which are in memory anyway, as one array; others as they are.

    Example:
        >>> join_arrays([np.zeros((2, 3)), np.ones((1, 3))]).shape
        (3, 3)
    """
    is_list = isinstance(data, list) and len(data) > 0
    if is_list and all(isinstance(part, np.ndarray) and part.ndim == 2 for part in data):
        return np.concatenate(data)
    return data


def whole_table(data: Any) -> Any:
    """Return a table that can be read as often as needed; most already are.

    Streams and lazy frames are read, records become columns by name. Whatever reads a table twice
    calls this first: a stream is empty the second time, and a query would run again.

    Raises:
        DataError: If it is a stream without rows.
    """
    return data if is_sparse(data) else as_known(data)
