"""Sizes of memory as users write them: bytes, "500MB", "4GB", "50%"."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_UNITS: Final = {
    "": 1,
    "b": 1,
    **{f"{prefix}b": 1000 ** (i + 1) for i, prefix in enumerate("kmgt")},
    **{f"{prefix}ib": 1024 ** (i + 1) for i, prefix in enumerate("kmgt")},
}
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z%]*)\s*", re.IGNORECASE)


def parse_memory(value: object) -> int:
    """Return a size of memory in bytes; 0 means no limit.

    Args:
        value: Bytes, or text: "500MB", "1.5GiB", "50%" of the memory that this process may use.

    Raises:
        ValueError: If it is not such a size.

    Example:
        >>> parse_memory("500MB"), parse_memory("1KiB"), parse_memory(10**9)
        (500000000, 1024, 1000000000)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError
    match = _SIZE.fullmatch(str(value) if not isinstance(value, float) else f"{value:.0f}")
    if match is None:
        raise ValueError
    number, unit = float(match[1]), match[2].lower()
    if unit == "%":
        if not 0 < number <= 100:
            raise ValueError
        return int(machine_memory() * number / 100)
    if unit not in _UNITS:
        raise ValueError
    return int(number * _UNITS[unit])


def machine_memory() -> int:
    """Return the memory that this process may use: the machine's, limited by its cgroup.

    Example:
        >>> machine_memory() > 2**20
        True
    """
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            limit = int(Path("/sys/fs/cgroup", name).read_text(encoding="ascii"))
        except (OSError, ValueError):  # no such file, or "max"
            continue
        found = min(found, limit) if limit > 0 else found
    return found


def write_memory(n_bytes: int) -> str:
    """Return a size as text that `parse_memory` reads, rounded up.

    Example:
        >>> write_memory(123_456_789), write_memory(999)
        ('124MB', '1MB')
    """
    return f"{-(-n_bytes // 10**6)}MB"
