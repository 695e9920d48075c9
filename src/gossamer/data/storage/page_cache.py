"""Files with the pages of binned tables: written, found again, and removed.

A file holds the pages (see `native/files/page_file.h`), then what is needed to read them
(safetensors), then the length of that and a mark. It gets its name when it is complete, so that a
process that is killed leaves no broken file; what it leaves is deleted by the next one. Several
processes may use one folder: each writes a file of its own, and the last one keeps the name.
"""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native, files
from gossamer.arguments import as_path
from gossamer.binning import Binning
from gossamer.data.storage.binned import BinnedTable
from gossamer.errors import GossamerError

VERSION: Final = 2
_MARK: Final = b"gossamer"
# No space left; the user's share of the disk is used up; a file may not be so large.
_FULL: Final = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)


@dataclass(frozen=True, eq=False)
class Pages:
    """What is known about pages that have been written.

    Attributes:
        binning: The bins.
        layout: An empty table that stores features as the pages do.
        n_rows: Rows of the table.
        page_rows: Rows of a page.
        checksums: One for each page.
        has_missing: By feature: whether some row is missing.
    """

    binning: Binning
    layout: _native.BinMatrix
    n_rows: int
    page_rows: int
    checksums: npt.NDArray[np.uint64]
    has_missing: npt.NDArray[np.int8]

    def open(self, file: int, name: str) -> BinnedTable:
        """Return the table; `file` may be closed then."""
        bins = _native.open_pages(
            self.layout,
            self.n_rows,
            self.page_rows,
            self.checksums,
            self.has_missing,
            file,
            name,
        )
        return BinnedTable(self.binning, bins)


class PageStore:
    """Where the pages of a table go: a file with a name, or a temporary one without.

    Args:
        folder: The folder; empty: the system's folder for temporary files.
        key: What the bins follow from; None: they are not used again.

    Example:
        >>> PageStore("", None).load(n_rows=3, n_columns=1) is None
        True
    """

    def __init__(self, folder: str, key: Mapping[str, Any] | None) -> None:
        self._folder = as_path(folder).expanduser() if folder else None
        self._path: Path | None = None
        if self._folder is not None and key is not None:
            self._path = self._folder / f"{_digest(key)}.pages"

    @property
    def name(self) -> str:
        """What messages call the file."""
        return "the temporary page file" if self._path is None else f"the page file '{self._path}'"

    def load(self, n_rows: int, n_columns: int) -> BinnedTable | None:
        """Return the table that is stored already.

        Args:
            n_rows: Rows of the table.
            n_columns: Its columns.

        Returns:
            None if there is none, or it cannot be used.
        """
        if self._path is None:
            return None
        try:
            descriptor = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError:
            return None
        try:
            pages = _read_facts(descriptor)
            if (pages.n_rows, pages.binning.n_columns) != (n_rows, n_columns):
                return None
            return pages.open(descriptor, self.name)
        except (
            *(OSError, ValueError, KeyError, TypeError, ArithmeticError, GossamerError),
            RuntimeError,  # arrays of types that the native core does not take
        ):
            return None  # damaged, or of another version: it is written again
        finally:
            os.close(descriptor)

    @contextmanager
    def create(self) -> Iterator[Writer]:
        """Give a file to write pages to; nothing is left of it unless it is finished.

        Raises:
            OSError: If the folder cannot be written to, or the disk is full.
        """
        try:
            if self._folder is not None:
                self._folder.mkdir(parents=True, exist_ok=True)
            if self._path is not None:
                part = files.PartFile(self._path)
                try:
                    yield Writer(part.file, self, part)
                finally:
                    part.drop()
                return
            with tempfile.TemporaryFile(dir=self._folder) as file:
                yield Writer(file, self, None)
        except OSError as error:
            if error.errno is not None and error.errno in _FULL:
                raise OSError(
                    error.errno,
                    f"the disk is full: {self.name} could not be written "
                    f"({os.strerror(error.errno)}). Nothing is left of it; choose another folder "
                    "with cache_dir",
                ) from None
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) and self._folder is not None:
                raise type(error)(
                    error.errno,
                    "cache_dir cannot be written to; choose another folder",
                    str(self._folder),
                ) from None
            raise


class Writer:
    """An open file that pages are being written to."""

    def __init__(self, file: Any, store: PageStore, part: files.PartFile | None) -> None:
        self._file: BinaryIO = file
        self._store, self._part = store, part

    def start(self) -> int:
        """Empty the file, and return its descriptor."""
        self._file.seek(0)
        self._file.truncate()
        return self._file.fileno()

    def finish(self, pages: Pages) -> BinnedTable:
        """Complete the file and open the table in it."""
        descriptor = self._file.fileno()
        if self._part is None:
            return pages.open(descriptor, self._store.name)
        footer = _to_bytes(pages)
        os.lseek(descriptor, 0, os.SEEK_END)
        self._file.write(footer + len(footer).to_bytes(8, "little") + _MARK)
        self._file.flush()
        # Opened before it gets its name: another process may replace the file at any time.
        own = os.open(self._file.name, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            self._part.finish()
            return pages.open(own, self._store.name)
        finally:
            os.close(own)


def file_facts(paths: Sequence[Path]) -> list[list[object]]:
    """Return what tells a file from another, or from itself after a change.

    Example:
        >>> path = Path(tempfile.mkdtemp(), "a")
        >>> _ = path.write_text("x")
        >>> file_facts([path])[0][1]
        1
    """
    found: list[list[object]] = []
    for path in paths:
        status = path.stat()
        found.append([str(path.resolve()), status.st_size, status.st_mtime_ns, status.st_ino])
    return found


def _digest(key: Mapping[str, Any]) -> str:
    from hashlib import sha256  # takes its time

    return sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _to_bytes(pages: Pages) -> bytes:
    arrays = {f"binning.{k}": v for k, v in pages.binning.to_arrays().items()}
    arrays |= {f"storage.{k}": v for k, v in pages.layout.storage().items()}
    arrays |= {"checksums": pages.checksums, "has_missing": pages.has_missing}
    facts = {
        "version": VERSION,
        "n_rows": pages.n_rows,
        "page_rows": pages.page_rows,
        "n_columns": pages.binning.n_columns,
        "missing_kind": int(pages.binning.missing_kind),
        "share_lanes": pages.layout.shares_lanes,
    }
    return files.to_bytes(arrays, facts)


def _read_facts(descriptor: int) -> Pages:
    """Read the end of a page file.

    Raises:
        ValueError: If it is not one that `Writer` completed.
    """
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, max(size - 16, 0), os.SEEK_SET)
    end = os.read(descriptor, 16)
    length = int.from_bytes(end[:8], "little")
    if end[8:] != _MARK or not 0 < length <= size - 16:
        raise ValueError("not a page file")
    os.lseek(descriptor, size - 16 - length, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        arrays, facts = files.from_bytes(file.read(length))
    if facts.get("version") != VERSION:
        raise ValueError("another version")
    part = {n.removeprefix("binning."): a for n, a in arrays.items() if n.startswith("binning.")}
    binning = Binning.from_arrays(part, facts["n_columns"], facts["missing_kind"])
    layout = _native.BinMatrix(
        binning.columns,
        binning.upper,
        binning.offsets,
        int(binning.missing_kind),
        1,
        arrays["storage.may_miss"],
        binning.category,
        bool(facts["share_lanes"]),
        arrays["storage.bundled"],
        arrays["storage.bundle_ends"],
        arrays["storage.loose"],
        arrays.get("storage.zero_share"),
    )
    n_rows, page_rows = int(facts["n_rows"]), int(facts["page_rows"])
    if size != n_rows * layout.row_bytes + length + 16:
        raise ValueError("cut off")
    return Pages(binning, layout, n_rows, page_rows, arrays["checksums"], arrays["has_missing"])
