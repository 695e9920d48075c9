"""The command line: `gossamer train`, `gossamer predict`, ... See docs/command_line.md."""

from __future__ import annotations

from gossamer.cli.commands import main

__all__ = ["main"]
