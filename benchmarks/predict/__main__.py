"""Entry point of ``python -m benchmarks.predict``."""

from benchmarks.predict.cli import main

raise SystemExit(main())
