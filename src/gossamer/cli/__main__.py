"""`python -m gossamer.cli` is `gossamer`."""

from __future__ import annotations

import sys

from gossamer.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
