"""Entry point of ``python -m benchmarks.dask``."""

from benchmarks.dask.run import main

raise SystemExit(main())
