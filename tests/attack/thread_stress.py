"""What `test_schedules.py` does, without children: for a native module that TSan watches.

`make stress` builds the module and runs this. A data race ends the process with TSan's report.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from attack.test_schedules import run, train_at_once

from gossamer import _native


def main() -> None:
    """Read the command line; print how much was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_schedules", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new one after it")
    wanted = parser.parse_args()
    begin = time.monotonic()
    n_done = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(wanted.seed, wanted.seed + wanted.n_schedules):
            if time.monotonic() - begin > wanted.seconds:
                break
            run(seed, Path(folder))
            train_at_once(seed)
            n_done += 1
    print(
        f"{_native.__file__}: {n_done} schedules and {3 * n_done} trainings at once, no data race"
    )


if __name__ == "__main__":
    main()
