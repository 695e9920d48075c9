"""The readers of LightGBM and XGBoost, and ours, on the same files of `mutated_files.py`.

    PYTHONPATH=src:tests python tests/attack/peer_readers.py 3000

Every file is read in a forked child, where a crash is counted. A file is refused where the
library's own error says so; any other exception came from its inside and is counted under its name.
Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import lightgbm
import numpy as np
import xgboost
from attack.children import wait_for
from attack.mutated_files import File, draw, make_files

from gossamer import GossamerError

MOST_SECONDS: Final = 20
MOST_BYTES: Final = 8 << 30  # of memory, which a damaged length must not take from the machine
ROWS: Final = np.random.default_rng(1).normal(size=(9, 40))


def read_lightgbm(path: Path) -> None:
    """Read a model as text, and predict."""
    booster = lightgbm.Booster(model_file=str(path), params={"verbosity": -1})
    booster.predict(ROWS[:, : booster.num_feature()], num_threads=1)


def read_xgboost(path: Path) -> None:
    """Read a model in JSON or UBJSON, and predict."""
    booster = xgboost.Booster({"nthread": 1, "verbosity": 0})
    booster.load_model(str(path))
    table = xgboost.DMatrix(ROWS[:, : booster.num_features()], nthread=1)
    booster.predict(table, validate_features=False)


class Refused(Exception):
    """What our own reader says of a file without an error."""


Reader = Callable[[Path], None]
# The reader of a format, and the errors with which its library refuses.
READERS: Final[dict[str, tuple[Reader, type[Exception]]]] = {
    "lightgbm": (read_lightgbm, lightgbm.basic.LightGBMError),
    "xgboost json": (read_xgboost, xgboost.core.XGBoostError),
    "xgboost ubjson": (read_xgboost, xgboost.core.XGBoostError),
}
OURS: Final = (GossamerError, Refused)


def read_gossamer(file: File, path: Path) -> None:
    """Read the same file, and use it in every way."""
    if not file.use(path):
        raise Refused


def outcome(
    read: Reader, path: Path, refusals: type[Exception] | tuple[type[Exception], ...]
) -> str:
    """Read a file in a child.

    Returns:
        "read"; "refused" for one of these errors; "bare" and the name of any other one; "hangs"; or
        the signal that ended the child.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        signal.alarm(MOST_SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        try:
            read(path)
            found = "read"
        except refusals:
            found = "refused"
        except BaseException as error:  # an assertion about what was read, too
            found = f"bare {type(error).__name__}"
        os.write(sink, found.encode())
        os._exit(0)
    os.close(sink)
    with os.fdopen(source) as stream:
        found = stream.read()
    status = wait_for(child)
    return found or {"SIGALRM": "hangs"}.get(status, status)


def main() -> None:
    """Read the command line; print how many files were read, were refused, or crashed a reader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_files", type=int, nargs="?", default=3_000)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        files = [file for file in make_files(Path(folder)) if file.format in READERS]
        for i in range(wanted.n_files):
            _, content, file = draw(wanted.seed, i, [], files)
            path = Path(folder, f"last{file.suffix}")
            path.write_bytes(content)
            theirs = outcome(READERS[file.format][0], path, READERS[file.format][1])
            counts[f"{file.format}: {theirs}"] += 1
            ours = outcome(partial(read_gossamer, file), path, OURS)
            counts[f"gossamer, {file.format}: {ours}"] += 1
            if ours not in ("read", "refused"):
                print(f"file {i} of seed {wanted.seed}, {file.format}: {ours}", file=sys.stderr)
    versions: dict[str, Any] = {each.__name__: each.__version__ for each in (lightgbm, xgboost)}
    print(json.dumps({**versions, "counts": dict(sorted(counts.items()))}, indent=1))


if __name__ == "__main__":
    main()
