"""Arrays by row in files: scores and gradients of trainings that do not fit `max_memory`."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import Any, Final
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.storage.page_cache import PageStore
from gossamer.errors import NotSupportedError

# Windows has no way to map a file and give its memory back.
AVAILABLE: Final = os.name == "posix"
# Numbers of an array that are looked at between two releases of memory.
_BLOCK: Final = 2**19
# Kernels may read a few bytes after the last number.
_SLACK: Final = 64


class RowFiles:
    """Makes arrays in temporary files without names; nothing is left of them.

    Args:
        folder: The folder; empty: the system's folder for temporary files.

    Attributes:
        holds_gradients: Whether gradients are in memory, and only scores in files.

    Example:
        >>> RowFiles("").zeros(3, np.float32)
        array([0., 0., 0.], dtype=float32)
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._process = os.getpid()
        self._made: WeakSet[_native.RowFile] = WeakSet()
        self.holds_gradients = False

    def check_process(self) -> None:
        """Raise in a forked process, which would change the arrays of the one that made them.

        Raises:
            NotSupportedError: If this is another process.
        """
        if os.getpid() != self._process:
            raise NotSupportedError.because(
                "a training whose scores are in files cannot be continued in a forked process",
                found=f"process {os.getpid()}",
                expected=f"process {self._process}, which began the training",
                hint="Train in one process, or raise max_memory until the scores fit.",
            )

    def zeros(self, size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array of zeros, which is a file as long as it is used.

        Raises:
            OSError: If the folder cannot be written to, or the disk is full.
        """
        n_bytes = size * np.dtype(dtype).itemsize
        with PageStore(self._folder, None).create() as file:
            made = _native.RowFile(file.start(), n_bytes + _SLACK)
        self._made.add(made)
        return made.array()[:n_bytes].view(dtype)

    def for_gradients(self, size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array that is about to be filled with gradients.

        Raises:
            OSError: See `zeros`.
        """
        return np.empty(size, dtype) if self.holds_gradients else self.zeros(size, dtype)

    def check_contents(self) -> None:
        """Raise where the disk lost a part of an array: what was computed from it is wrong.

        Raises:
            OSError: If a file could not be read or written, or was cut off.
        """
        for made in self._made:
            try:
                made.check()
            except OSError as error:
                text = (
                    f"{error.strerror or error}. The rounds before are in the model, but the "
                    "training cannot go on: continue it with init_model, and choose another disk "
                    "with cache_dir"
                )
                raise OSError(error.errno or errno.EIO, text) from error


def blocks(size: int) -> Iterator[slice]:
    """Go through the places of an array that may be in a file, a part of it at a time.

    Example:
        >>> list(blocks(5))
        [slice(0, 5, None)]
    """
    for begin in range(0, size, _BLOCK):
        yield slice(begin, min(begin + _BLOCK, size))
        _native.release_row_files()


def take_rows(
    values: npt.NDArray[Any], n_rows: int, rows: npt.NDArray[np.uint32]
) -> npt.NDArray[Any]:
    """Return the values of some rows, output after output.

    Args:
        values: Output-major; may be in a file.
        n_rows: Rows of an output.
        rows: Increasing.

    Example:
        >>> take_rows(np.array([1, 2, 3, 10, 20, 30]), 3, np.array([0, 2], np.uint32))
        array([ 1,  3, 10, 30])
    """
    outputs = values.reshape(-1, n_rows)
    taken = np.empty((len(outputs), len(rows)), values.dtype)
    for own, output in zip(taken, outputs, strict=True):
        for part in _parts_of(rows, n_rows):
            own[part] = output[rows[part]]
    return taken.reshape(-1)


def put_rows(
    taken: npt.NDArray[Any], n_rows: int, rows: npt.NDArray[np.uint32], into: npt.NDArray[Any]
) -> None:
    """Put the values of some rows back; the reverse of `take_rows`.

    Example:
        >>> values = np.array([1, 2, 3])
        >>> put_rows(np.array([7, 8]), 3, np.array([0, 2], np.uint32), values)
        >>> values
        array([7, 2, 8])
    """
    outputs = into.reshape(-1, n_rows)
    for own, output in zip(taken.reshape(len(outputs), -1), outputs, strict=True):
        for part in _parts_of(rows, n_rows):
            output[rows[part]] = own[part]


def _parts_of(rows: npt.NDArray[np.uint32], n_rows: int) -> Iterator[slice]:
    """Go through increasing row numbers, one block of the array at a time."""
    for block in blocks(n_rows):
        begin, end = np.searchsorted(rows, np.array([block.start, block.stop], rows.dtype))
        yield slice(int(begin), int(end))
