"""Entry point of ``python -m benchmarks.quality``."""

from benchmarks.quality.cli import main

raise SystemExit(main())
