"""The readers of LightGBM and XGBoost, and ours, on the same files of `mutated_files.py`.

    PYTHONPATH=src:tests python tests/attack/peer_readers.py 3000

Every file is read in a forked child, where a crash is counted. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
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


READERS: Final[dict[str, Callable[[Path], None]]] = {
    "lightgbm": read_lightgbm,
    "xgboost json": read_xgboost,
    "xgboost ubjson": read_xgboost,
}


def read_gossamer(file: File, path: Path) -> None:
    """Read the same file, and use it in every way."""
    if not file.use(path):
        raise ValueError("refused")


def outcome(read: Callable[[Path], None], path: Path) -> str:
    """Read a file in a child; return "read", "refused", "hangs", or the signal that ended it."""
    child = os.fork()
    if child == 0:
        signal.alarm(MOST_SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        try:
            read(path)
        except BaseException:  # every exception is a refusal
            os._exit(1)
        os._exit(0)
    status = wait_for(child)
    return {"exit 0": "read", "exit 1": "refused", "SIGALRM": "hangs"}.get(status, status)


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
            counts[f"{file.format}: {outcome(READERS[file.format], path)}"] += 1
            ours = outcome(partial(read_gossamer, file), path)
            counts[f"gossamer, {file.format}: {ours}"] += 1
    versions: dict[str, Any] = {each.__name__: each.__version__ for each in (lightgbm, xgboost)}
    print(json.dumps({**versions, "counts": dict(sorted(counts.items()))}, indent=1))


if __name__ == "__main__":
    main()
