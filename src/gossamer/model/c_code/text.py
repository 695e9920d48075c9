"""ChunkedTable of C text that nothing a user wrote can break out of."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z0-9 _.,-]")


def number(value: float) -> str:
    """Write a double, exactly.

    Example:
        >>> number(0.1), number(-2.0), number(math.inf)
        ('0x1.999999999999ap-4', '-0x1.0000000000000p+1', 'HUGE_VAL')
    """
    if math.isinf(value):
        return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
    return float(value).hex()


def string(text: str) -> str:
    """Write a string: UTF-8, all but letters, digits and a few signs as octal numbers.

    Example:
        >>> print(string('a"??/ü'))
        "a\\042\\077\\077\\057\\303\\274"
    """
    content = "".join(
        chr(byte) if _PLAIN.match(chr(byte)) else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogatepass")
    )
    return f'"{content}"'


def in_comment(text: object) -> str:
    """Write something within a comment.

    Example:
        >>> print(in_comment("a*/b"))
        a<2a><2f>b
    """
    return "".join(c if _PLAIN.match(c) else f"<{ord(c):x}>" for c in str(text))


def table(kind: str, name: str, items: Iterable[str]) -> str:
    """Write a constant array; C has none without items, so that an empty one gets a zero.

    Example:
        >>> table("int32_t", "MODEL_x", ["1", "2"])
        'static const int32_t MODEL_x[] = {\\n1,2};\\n'
    """
    written: Sequence[str] = list(items) or ["0"]
    lines = (",".join(written[i : i + 16]) for i in range(0, len(written), 16))
    return f"static const {kind} {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def integers(kind: str, name: str, values: Iterable[int]) -> str:
    """Write a constant array of whole numbers below 2^31."""
    return table(kind, name, map(str, values))


def words(name: str, values: Iterable[int]) -> str:
    """Write a constant array of 64 bits each."""
    return table("uint64_t", name, (f"0x{value:x}" for value in values))


def doubles(name: str, values: Iterable[float]) -> str:
    """Write a constant array of doubles."""
    return table("double", name, map(number, values))
