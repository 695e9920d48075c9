"""How busy the rest of the machine was during a measurement."""

from __future__ import annotations

import os
import time
from pathlib import Path

_STAT = Path("/proc/stat")
_IDLE_FIELDS = (3, 4)  # idle and waiting for disk


class OtherLoad:
    """CPUs that other processes kept busy, on average, since construction.

    A library whose threads wait for each other at every step can slow down tenfold when one of
    its CPUs is taken, so a time measured beside other work says little.
    """

    def __init__(self) -> None:
        self._busy = _busy_seconds()
        self._own = time.process_time()
        self._start = time.perf_counter()

    def cpus(self) -> float | None:
        """Mean number of CPUs in use by others, or None where the system does not tell."""
        busy = _busy_seconds()
        wall = time.perf_counter() - self._start
        if busy is None or self._busy is None or wall <= 0:
            return None
        own = time.process_time() - self._own
        return max(0.0, busy - self._busy - own) / wall


def _busy_seconds() -> float | None:
    """CPU seconds used by the whole machine since it started."""
    try:
        fields = _STAT.read_text().splitlines()[0].split()[1:9]
    except (OSError, IndexError):
        return None
    ticks = sum(int(value) for i, value in enumerate(fields) if i not in _IDLE_FIELDS)
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else None
