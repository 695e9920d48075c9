"""UBJSON (https://ubjson.org), as far as XGBoost writes it: read with limits, and written."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

from gossamer.errors import NotSupportedError

# Numbers: their type as struct and NumPy know it, big-endian.
_NUMBERS: Final = {
    b"i": ">i1",
    b"U": ">u1",
    b"I": ">i2",
    b"l": ">i4",
    b"L": ">i8",
    b"d": ">f4",
    b"D": ">f8",
}
_STRUCTS: Final = {
    b"i": struct.Struct(">b"),
    b"U": struct.Struct(">B"),
    b"I": struct.Struct(">h"),
    b"l": struct.Struct(">i"),
    b"L": struct.Struct(">q"),
    b"d": struct.Struct(">f"),
    b"D": struct.Struct(">d"),
}
_INTEGERS: Final = b"iUIlL"
_CONSTANTS: Final[dict[bytes, Any]] = {b"T": True, b"F": False, b"Z": None}
# XGBoost's models are nested about ten deep.
_DEEPEST: Final = 50


def loads(content: bytes) -> Any:
    """Read a value; arrays that say their type become NumPy arrays.

    Memory is bounded by the length of the content: what says to be longer than that is damaged.

    Raises:
        ValueError: If it is damaged, or has what XGBoost does not write.

    Example:
        >>> loads(dumps({"names": ["a", None], "values": np.array([1, 2], dtype=np.int32)}))
        {'names': ['a', None], 'values': array([1, 2], dtype=int32)}
    """
    reader = _Reader(content)
    value = reader.value(reader.marker(), 0)
    if reader.place != len(content):
        raise ValueError(f"there are bytes after the end, from {reader.place} on")
    return value


class _Reader:
    """A place in the content."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        if size < 0 or size > len(self.content) - self.place:
            raise ValueError(f"it ends before the {size} bytes that follow byte {self.place}")
        self.place += size
        return self.content[self.place - size : self.place]

    def marker(self) -> bytes:
        """Return the next marker."""
        marker = self.take(1)
        while marker == b"N":  # says nothing
            marker = self.take(1)
        return marker

    def value(self, marker: bytes, depth: int) -> Any:
        """Read the value that begins with a marker."""
        if marker in _STRUCTS:
            form = _STRUCTS[marker]
            return form.unpack(self.take(form.size))[0]
        if marker == b"S":
            return self.text(self.marker())
        if marker == b"C":
            return self.take(1).decode("ascii")
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker not in b"[{":
            raise ValueError(f"an unknown marker {marker!r} before byte {self.place}")
        if depth == _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} deep")
        return self.array(depth + 1) if marker == b"[" else self.object(depth + 1)

    def size(self, marker: bytes) -> int:
        """Read a length; it cannot be more than there are bytes left."""
        if marker not in _INTEGERS:
            raise ValueError(f"a length is not an integer before byte {self.place}")
        size = int(self.value(marker, 0))
        if not 0 <= size <= len(self.content) - self.place:
            raise ValueError(f"a length of {size} before byte {self.place}")
        return size

    def text(self, marker: bytes) -> str:
        """Read text, its length first."""
        return self.take(self.size(marker)).decode("utf-8")

    def array(self, depth: int) -> Any:
        """Read an array behind its bracket."""
        marker = self.marker()
        if marker == b"$":
            kind = self.take(1)
            if kind not in _NUMBERS or self.take(1) != b"#":
                raise ValueError(f"a typed array of no numbers before byte {self.place}")
            dtype = np.dtype(_NUMBERS[kind])
            size = self.size(self.marker())
            found = np.frombuffer(self.take(size * dtype.itemsize), dtype)
            return found.astype(dtype.newbyteorder("="))
        if marker == b"#":
            return [self.value(self.marker(), depth) for _ in range(self.size(self.marker()))]
        values = []
        while marker != b"]":
            values.append(self.value(marker, depth))
            marker = self.marker()
        return values

    def object(self, depth: int) -> dict[str, Any]:
        """Read pairs behind their brace."""
        marker = self.marker()
        found: dict[str, Any] = {}
        if marker == b"#":
            for _ in range(self.size(self.marker())):
                name = self.text(self.marker())
                found[name] = self.value(self.marker(), depth)
            return found
        while marker != b"}":
            name = self.text(marker)
            found[name] = self.value(self.marker(), depth)
            marker = self.marker()
        return found


def dumps(value: Any) -> bytes:
    """Write a value: dicts, lists, text, numbers, None, and NumPy arrays as typed arrays.

    Raises:
        NotSupportedError: If a text cannot be written as UTF-8.

    Example:
        >>> dumps({"a": [1, "b"]})
        b'{L\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01a[#L\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02L\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01SL\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01b}'
    """
    parts: list[bytes] = []
    _write(value, parts)
    return b"".join(parts)


def _write(value: Any, out: list[bytes]) -> None:
    if isinstance(value, dict):
        out.append(b"{")
        for name, each in value.items():
            out.append(_text(name))
            _write(each, out)
        out.append(b"}")
    elif isinstance(value, list):
        out.append(b"[#" + _size(len(value)))
        for each in value:
            _write(each, out)
    elif isinstance(value, np.ndarray):
        dtype = value.dtype.newbyteorder(">")
        kind = next(kind for kind, known in _NUMBERS.items() if dtype == known)
        out += [b"[$", kind, b"#", _size(len(value)), value.astype(dtype).tobytes()]
    elif isinstance(value, str):
        out += [b"S", _text(value)]
    elif value is None or isinstance(value, bool):
        out.append({True: b"T", False: b"F", None: b"Z"}[value])
    elif isinstance(value, int):
        out.append(_size(value))
    else:
        out.append(b"D" + _STRUCTS[b"D"].pack(value))


def _size(value: int) -> bytes:
    return b"L" + _STRUCTS[b"L"].pack(value)


def _text(value: str) -> bytes:
    try:
        encoded = value.encode("utf-8")
    except UnicodeEncodeError:
        raise NotSupportedError.because(
            "a name or level cannot be written as UTF-8", got=value[:40]
        ) from None
    return _size(len(encoded)) + encoded
