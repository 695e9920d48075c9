"""Entry point of ``python -m benchmarks.explain``."""

from benchmarks.explain.cli import main

raise SystemExit(main())
