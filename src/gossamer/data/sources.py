"""`find_source`: whether a user's table comes in chunks, and from where."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

from gossamer.data.chunk_source import find_chunks
from gossamer.data.files import names_files, open_files
from gossamer.data.kinds import as_known
from gossamer.data.source import Source
from gossamer.data.sparse import is_sparse


def find_source(
    data: Any, header: bool | None = None, text_columns: Collection[str] = ()
) -> Source | None:
    """Return where the rows of a table come from; None: it is in memory as a whole.

    Args:
        data: Files, chunks, or a table.
        header: Whether the first line of text files has names; None: found out.
        text_columns: Names of columns that are text in text files, whatever they look like.

    Raises:
        DataError: If files cannot be read, or chunks can be read only once.
    """
    if names_files(data):
        return open_files(data, header, text_columns)
    return find_chunks(data)


def whole_table(data: Any) -> Any:
    """Return what can be read only once, or is not known, as a table that can; others as they are.

    pyarrow's streams and lazy frames are read, records become columns by name.
    """
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(data, pyarrow.RecordBatchReader):
        return data.read_all()
    return data if is_sparse(data) else as_known(data)
