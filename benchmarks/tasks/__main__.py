"""Entry point of ``python -m benchmarks.tasks``."""

from benchmarks.tasks.cli import main

raise SystemExit(main())
