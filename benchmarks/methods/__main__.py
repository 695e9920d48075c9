"""Entry point of ``python -m benchmarks.methods``."""

from benchmarks.methods.cli import main

raise SystemExit(main())
