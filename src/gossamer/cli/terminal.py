"""Text for terminals: some colour where it is welcome, bars, sizes and times."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from typing import TextIO

from gossamer.errors import escape_controls

_BAR = "█"
_CODES = re.compile("(\x1b\\[(?:0|1|2|36|1;32)m)")  # the codes of `Style`


@dataclass(frozen=True)
class Style:
    """How text may look.

    Attributes:
        has_colour: Whether escape codes are understood.
        bar: What bars are made of.
    """

    has_colour: bool = False
    bar: str = "#"

    @classmethod
    def of(cls, stream: TextIO) -> Style:
        """Find out what a stream can show; https://no-color.org is respected."""
        is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        try:
            _BAR.encode(stream.encoding or "ascii")
            bar = _BAR
        except (UnicodeEncodeError, LookupError):
            bar = "#"
        return cls(is_terminal and not os.environ.get("NO_COLOR"), bar)

    def bold(self, text: str) -> str:
        """Make text bold.

        Example:
            >>> Style().bold("plain"), Style(has_colour=True).bold("bold")
            ('plain', '\\x1b[1mbold\\x1b[0m')
        """
        return self._code("1", text)

    def dim(self, text: str) -> str:
        """Make text less prominent."""
        return self._code("2", text)

    def good(self, text: str) -> str:
        """Make text green and bold."""
        return self._code("1;32", text)

    def draw_bar(self, share: float, width: int = 24) -> str:
        """Draw a bar of a share of the width, padded to the full width.

        Example:
            >>> Style().draw_bar(0.5, width=6)
            '###   '
        """
        length = max(round(share * width), 1) if share > 0 else 0
        return self._code("36", self.bar * length) + " " * (width - length)

    def _code(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.has_colour else text


def printable(text: str, stream: TextIO) -> str:
    """Return text with "?" for what a stream cannot show: "±", names in other scripts.

    Control characters in it are written out, but for the codes of `Style`.

    Example:
        >>> import io
        >>> printable("3 ± 1", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
        '3 ? 1'
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    parts = _CODES.split(text)  # what is between codes, and the codes
    text = "".join(part if i % 2 else escape_controls(part) for i, part in enumerate(parts))
    return text.encode(encoding, errors="replace").decode(encoding)


def fit_lines(text: str, stream: TextIO) -> str:
    """Cut lines that a terminal would wrap; other streams get all of them.

    Example:
        >>> import io
        >>> fit_lines("a" * 1000, io.StringIO()) == "a" * 1000
        True
    """
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        line if len(line) <= width or "\x1b" in line else f"{line[: width - 1]}…"
        for line in text.splitlines()
    )


def format_size(n_bytes: int) -> str:
    """Write a size for people.

    Example:
        >>> format_size(812), format_size(34_500), format_size(2_300_000)
        ('812 B', '34.5 kB', '2.3 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes} B"
    return f"{n_bytes / 1000:.1f} kB" if n_bytes < 1_000_000 else f"{n_bytes / 1e6:.1f} MB"


def format_time(seconds: float) -> str:
    """Write a time for people.

    Example:
        >>> format_time(0.0000042), format_time(0.0123), format_time(4.567)
        ('4.2 µs', '12.3 ms', '4.57 s')
    """
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
