"""Entry point of ``python -m benchmarks.options``."""

from benchmarks.options.cli import main

raise SystemExit(main())
