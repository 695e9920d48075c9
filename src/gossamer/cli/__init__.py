"""The command line: `gossamer demo`, `gossamer --version`."""

from __future__ import annotations

from gossamer.cli.commands import main

__all__ = ["main"]
