"""Entry point of ``python -m benchmarks.files``."""

from benchmarks.files.run import main

raise SystemExit(main())
