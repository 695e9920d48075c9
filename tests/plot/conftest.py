from __future__ import annotations

import os

# Before anything imports pyplot: no window, wherever the tests run.
os.environ["MPLBACKEND"] = "Agg"
