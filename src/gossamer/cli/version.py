"""What `gossamer --version` says."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from gossamer import _native


def package_version() -> str:
    """Return the installed version.

    Example:
        >>> package_version()[:2]
        '0.'
    """
    try:
        return version("gossamer")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"


def version_text() -> str:
    """Return the versions that matter in a report of a problem.

    Example:
        >>> version_text().split()[0]
        'gossamer'
    """
    python, machine = platform.python_version(), platform.machine()
    kernels = _native.kernel_level()
    return f"gossamer {package_version()} (Python {python}, {machine}, kernels {kernels})"
