"""Entry point of ``python -m benchmarks.modes``."""

from benchmarks.modes.cli import main

raise SystemExit(main())
