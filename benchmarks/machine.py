"""What a result was measured on: processor, memory, versions, load."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from importlib import metadata
from pathlib import Path

PACKAGES = ("gossamer", "lightgbm", "xgboost", "scikit-learn", "catboost", "numpy")
_OTHER_NAMES = {"xgboost": "xgboost-cpu", "gossamer": "gossamer-gbdt"}


def describe_machine() -> dict[str, object]:
    """Collects what a reader needs to judge a figure; no names of hosts or users."""
    return {
        "cpu": _cpu_name(),
        "cpus": os.cpu_count(),
        "cpus_usable": _usable_cpus(),
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_average": _load_average(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": _commit(),
    }


def find_versions() -> dict[str, str]:
    """Versions of the libraries that are installed."""
    found = {}
    for package in PACKAGES:
        for name in (package, _OTHER_NAMES.get(package, package)):
            try:
                found[package] = metadata.version(name)
                break
            except metadata.PackageNotFoundError:
                continue
    return found


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _usable_cpus() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError):
        return None


def _load_average() -> list[float] | None:
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None


def _commit() -> str | None:
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
