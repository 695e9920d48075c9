"""Files that are either complete or not there, and arrays in them (safetensors)."""

from __future__ import annotations

import base64
import binascii
import errno
import json
import math
import os
import re
import stat
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from gossamer.errors import shorten

Arrays = dict[str, npt.NDArray[Any]]

# Everything that is not an array is one JSON document under this key. One key only: with several,
# the order in which safetensors writes them would differ from run to run.
_KEY: Final = "gossamer"

# Lists in lists that JSON may have. What is nested deeper was made to exhaust the stack.
_MAX_DEPTH: Final = 100

_A_DAY: Final = 86_400.0  # seconds
_MOST_OF_A_DEVICE: Final = 1 << 28  # bytes
# Files that this process is writing, by name. Weak: an interrupt may leave one behind unnoticed.
_BUSY: Final[WeakValueDictionary[str, PartFile]] = WeakValueDictionary()


class BrokenFile(ValueError):
    """The bytes are not what this version, or any version, wrote."""


def to_text(content: bytes, header: str) -> str:
    """Return bytes as text: a header line, then base64.

    Example:
        >>> from_text(to_text(b"abc", "demo 1").partition("\\n")[2])
        b'abc'
    """
    encoded = base64.b64encode(content).decode("ascii")
    lines = (encoded[i : i + 100] for i in range(0, len(encoded), 100))
    return "\n".join([header, *lines, ""])


def from_text(encoded: str) -> bytes:
    """Return the bytes of what `to_text` wrote behind the header line.

    Raises:
        BrokenFile: If it is something else.
    """
    try:
        return base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BrokenFile(str(error)) from None


def to_bytes(arrays: Mapping[str, npt.NDArray[Any]], facts: Mapping[str, Any]) -> bytes:
    """Write arrays and JSON facts; the same contents give the same bytes.

    Example:
        >>> arrays, facts = from_bytes(to_bytes({"a": np.arange(3)}, {"kind": "demo"}))
        >>> arrays["a"], facts
        (array([0, 1, 2]), {'kind': 'demo'})
    """
    whole = {**facts, "checksum": _checksum(arrays, facts)}
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with _panics_as_memory_errors():
        return safetensors.numpy.save(tensors, metadata={_KEY: _json(whole)})


def from_bytes(content: bytes) -> tuple[Arrays, dict[str, Any]]:
    """Read what `to_bytes` wrote.

    Raises:
        BrokenFile: If the bytes are cut off, altered or of another format.
    """
    try:
        with _panics_as_memory_errors():
            arrays = dict(safetensors.numpy.load(content))
        size = int.from_bytes(content[:8], "little")
        facts = parse_json(json.loads(content[8 : 8 + size])["__metadata__"][_KEY])
    except KeyError:
        raise BrokenFile("it was not written by Gossamer") from None
    except (
        *(safetensors.SafetensorError, ValueError, TypeError, RecursionError),
        *(OverflowError, MemoryError),  # of shapes that no array can have
    ) as error:
        raise BrokenFile(f"it is cut off or of another format ({shorten(error)})") from None
    if not isinstance(facts, dict):
        raise BrokenFile("it was not written by Gossamer")
    checksum = facts.pop("checksum", None)
    if checksum != _checksum(arrays, facts):
        raise BrokenFile("its contents were altered: the checksum differs")
    return arrays, facts


@contextmanager
def _panics_as_memory_errors() -> Iterator[None]:
    """Raise MemoryError where safetensors panics: it does when Python has no memory for its bytes.

    The panic is not an Exception, and its class cannot be imported.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise MemoryError("there is not enough memory for the contents of a file") from None
        raise


def parse_json(text: str | bytes) -> Any:
    """Read JSON as the standard has it: no NaN, no key twice in an object, not nested endlessly.

    Raises:
        BrokenFile: If it is something else.

    Example:
        >>> parse_json('{"a": [1, 2.5]}')
        {'a': [1, 2.5]}
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise BrokenFile(str(error)) from None
    _check_depth(value)
    return value


def read_file(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: If it cannot be read, or is a device that has no end, such as /dev/zero.

    Example:
        >>> read_file(Path(os.devnull))
        b''
    """
    with path.open("rb") as file:
        if not stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
            return file.read()
        content = file.read(_MOST_OF_A_DEVICE)
        if len(content) == _MOST_OF_A_DEVICE:
            raise OSError(errno.EFBIG, "This device gives bytes without end", str(path))
        return content


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a crash leaves the old one or the new one, never a part.

    A named pipe or a device stays what it is: the content is written to it.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "file")
        >>> write_atomically(path, b"new")
        >>> path.read_bytes()
        b'new'

    Raises:
        OSError: If it cannot be written, with the errno, the name and what it needs. The old file
            is unchanged.
    """
    if path.is_dir():
        raise _not_written(IsADirectoryError(errno.EISDIR, "it is a folder"), path, "a file name")
    part = PartFile(path)
    try:
        part.file.write(content)
        part.finish()
    except OSError as error:
        if error.errno == errno.ENOSPC and not part.is_direct:
            raise _not_written(error, path, "room; what was there before is unchanged") from None
        raise
    finally:
        part.drop()


class PartFile:
    """A file that is written under another name and gets its own when it is complete.

    What killed processes left of earlier attempts is deleted. A named pipe or a device is never
    replaced: it is opened and written to.

    Args:
        path: What the file is to be called.

    Attributes:
        file: The open file.
        is_direct: Whether it is a named pipe or a device.

    Raises:
        OSError: If it cannot be made, with what it needs.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "file")
        >>> part = PartFile(path)
        >>> part.file.write(b"new")
        3
        >>> path.exists(), part.finish(), path.read_bytes()
        (False, None, b'new')
    """

    def __init__(self, path: Path) -> None:
        self._name: Path | None = None
        self.is_direct = _is_special(path)
        if self.is_direct:
            # By the name that was given: the real path of /dev/stdout may name no file.
            try:
                self.file: BinaryIO = open(path, "wb", opener=_open_existing)  # noqa: SIM115
            except OSError as error:
                raise _not_written(error, path, "the name of a file") from None
            return
        self._path = Path(os.path.realpath(path))  # a link stays a link
        remove_stale(self._path)
        self._name = self._path.with_name(
            f"{_stem(self._path)}{_machine()}-{os.getpid()}-{os.urandom(4).hex()}.part"
        )
        _BUSY[self._name.name] = self
        # A new file may be read by whom the umask lets; one that replaces another is private
        # until it has the other's permissions.
        self._mode = _mode_of(self._path)
        try:
            opener = _open_new if self._mode is None else _open_privately
            self.file = open(self._name, "xb", opener=opener)  # noqa: SIM115
        except BaseException as error:
            self.drop()
            if isinstance(error, FileNotFoundError):
                raise _no_folder(error, path) from None
            if isinstance(error, OSError):
                raise _not_written(error, path, "a folder that may be written to") from None
            raise

    def finish(self) -> None:
        """Give the file its name, after all that was written is on disk.

        Raises:
            OSError: If it cannot be written.
        """
        if self.is_direct:
            self.file.close()
            return
        assert self._name is not None
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        if self._mode is not None:
            os.chmod(self._name, self._mode)
        os.replace(self._name, self._path)
        self._name = None
        _sync_folder(self._path.parent)

    def drop(self) -> None:
        """Delete what was written, unless the file is finished."""
        if self.is_direct:
            with suppress(OSError):
                self.file.close()
        if self._name is None:
            return
        with suppress(OSError, AttributeError):  # it may never have been opened
            self.file.close()
        with suppress(OSError):
            os.unlink(self._name)
        self._name = None


def remove_stale(path: Path) -> None:
    """Delete what killed processes left half written of a file.

    Example:
        >>> import tempfile
        >>> remove_stale(Path(tempfile.mkdtemp(), "file"))
    """
    path = Path(os.path.realpath(path))
    name_of = re.compile(re.escape(_stem(path)) + r"([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{8}\.part")
    with suppress(OSError):
        for name in os.listdir(path.parent):
            match, found = name_of.fullmatch(name), path.with_name(name)
            if match is not None and name not in _BUSY and _is_stale(found, *match.groups()):
                with suppress(OSError):
                    os.unlink(found)


def _is_stale(path: Path, machine: str, process: str) -> bool:
    """Whether no process writes this file any more: its own has ended, or it is a day old."""
    if machine == _machine() and not _is_running(int(process)):
        return True
    with suppress(OSError):
        return time.time() - path.lstat().st_mtime > _A_DAY
    return False


def _is_running(process: int) -> bool:
    if process == os.getpid():  # and not busy with this file
        return False
    if os.name != "posix":
        return True  # as far as is known
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True


def _machine() -> str:
    """Eight digits for what process ids count in: a machine, or a container on it."""
    name = os.uname().nodename if hasattr(os, "uname") else ""
    with suppress(OSError):
        name += os.readlink("/proc/self/ns/pid")
    return f"{zlib.crc32(os.fsencode(name)):08x}"


def _stem(path: Path) -> str:
    """What names of unfinished files begin with; names of files can be too long to add to."""
    return f".{path.name[:50]}."


def _open_privately(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def _open_existing(name: str, flags: int) -> int:
    return os.open(name, flags & ~os.O_CREAT)


def _open_new(name: str, flags: int) -> int:
    return os.open(name, flags, 0o666)  # less what the umask takes


def _not_written(error: OSError, path: Path, expected: str) -> OSError:
    """Say which file was to be written, not under which name it was made, and what it needs."""
    return type(error)(
        error.errno, f"{error.strerror}; to be written it needs {expected}", str(path)
    )


def _no_folder(error: OSError, path: Path) -> OSError:
    # A link may lead to a folder that is not there.
    folder = os.path.dirname(os.path.realpath(path)) if path.parent.is_dir() else str(path.parent)
    message = f"The folder {folder!r} does not exist. Create it first."
    return type(error)(error.errno, message, str(path))


def _is_special(path: Path) -> bool:
    """Whether there is a pipe, a device or a socket: neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _mode_of(path: Path) -> int | None:
    """Return the permissions of the file to be replaced; None: there is none."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return None


def _sync_folder(folder: Path) -> None:
    """Make the renaming last; not every system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object of the JSON has the same key twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"a number of the JSON is not finite: {text[:20]}")
    return number


def _check_depth(value: Any) -> None:
    level: Iterable[Any] = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            item
            for one in level
            if isinstance(one, (dict, list))
            for item in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise BrokenFile("its JSON is nested too deeply")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _checksum(arrays: Mapping[str, npt.NDArray[Any]], facts: Mapping[str, Any]) -> str:
    from hashlib import sha256  # takes its time

    digest = sha256(_json(facts).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()
