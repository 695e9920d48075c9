"""Entry point of ``python -m benchmarks.paper``."""

from benchmarks.paper.cli import main

raise SystemExit(main())
