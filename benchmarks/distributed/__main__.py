"""Entry point of ``python -m benchmarks.distributed``."""

from benchmarks.distributed.run import main

raise SystemExit(main())
