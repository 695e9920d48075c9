"""Styles and scripts that pages have inside them."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files


def read_asset(name: str, package: str = "gossamer.report") -> str:
    """Return a style or a script from the folder `assets` of a package.

    Example:
        >>> "layOut" in read_asset("tree_layout.js")
        True
    """
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")


def script_digest(script: str) -> str:
    """Return what the browser compares a script with before it runs the script.

    Example:
        >>> script_digest("")
        'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
