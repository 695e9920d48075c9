"""Entry point of ``python -m benchmarks.speed``."""

from benchmarks.speed.run import main

raise SystemExit(main())
