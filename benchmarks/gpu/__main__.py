"""Entry point of ``python -m benchmarks.gpu``."""

from benchmarks.gpu.run import main

raise SystemExit(main())
