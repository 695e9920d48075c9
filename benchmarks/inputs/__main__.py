"""Entry point of ``python -m benchmarks.inputs``."""

from benchmarks.inputs.cli import main

raise SystemExit(main())
