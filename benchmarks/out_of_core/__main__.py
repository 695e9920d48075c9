"""Entry point of ``python -m benchmarks.out_of_core``."""

from benchmarks.out_of_core.run import main

raise SystemExit(main())
