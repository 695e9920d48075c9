"""Resident memory of this process: now, and at its peak since a mark."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")


class PeakMemory:
    """Peak resident memory above the resident memory at construction.

    Attributes:
        how: "VmHWM, reset" (exact), "VmHWM" (the mark could not be reset; exact when the peak
            is above every earlier one) or "ru_maxrss" (as before, and Linux starts it at the
            parent's size).
    """

    def __init__(self) -> None:
        self.how = "VmHWM" if _status("VmHWM") is not None else "ru_maxrss"
        if self.how == "VmHWM":
            try:
                _CLEAR_REFS.write_text("5")  # 5 resets the peak to the present size
                self.how = "VmHWM, reset"
            except OSError:
                pass
        self._base = _status("VmRSS") or _max_rss()

    def over_base(self) -> int:
        """Bytes by which the peak so far exceeds the base."""
        peak = _status("VmHWM") if self.how != "ru_maxrss" else None
        return max(0, (peak if peak is not None else _max_rss()) - self._base)


def _status(field: str) -> int | None:
    """One field of /proc/self/status in bytes, or None where there is none."""
    if not _STATUS.is_file():
        return None
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return None


def _max_rss() -> int:
    value = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return value if sys.platform == "darwin" else value * 1024
