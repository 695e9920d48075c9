"""Train from a large Parquet file in a process of its own, and measure its peak memory."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.files.make import make_parquet

# What the child process runs. VmHWM is the peak of resident memory, files that are mapped included;
# unlike ru_maxrss it does not begin at the size of the process that started this one.
_CHILD = """
import json, sys, time
from pathlib import Path

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

import numpy, pyarrow.parquet
import gossamer as gs
path, rounds, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
base, start = peak(), time.perf_counter()
params = {"num_leaves": 63, "num_threads": threads, "verbose": -1}
data = gs.Dataset(path, label="target", params=params).construct()
binned, at_bins = peak(), time.perf_counter()
model = gs.train(params, data, rounds)
trained, at_end = peak(), time.perf_counter()
n_predicted = len(model.predict(path, num_threads=threads))
assert n_predicted == data.num_data()
print(json.dumps({"rows": n_predicted, "columns": data.num_feature(), "base": base,
    "binned": binned, "trained": trained, "predicted": peak(),
    "construct_s": at_bins - start, "train_s": at_end - at_bins,
    "predict_s": time.perf_counter() - at_end}))
"""


def measure(path: Path, rounds: int, threads: int) -> dict[str, float]:
    """Train and predict in a child process; sizes in bytes, times in seconds."""
    command = [sys.executable, "-c", _CHILD, str(path), str(rounds), str(threads)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(result.stdout)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Make the file, train, and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files", description=__doc__)
    parser.add_argument("--gb", type=float, default=0.1, help="size of the file")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compression", default="none", choices=["none", "snappy", "zstd"])
    parser.add_argument("--folder", type=Path, help="where the file is written for a while")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder, "rows.parquet")
        start = time.perf_counter()
        make_parquet(path, int(options.gb * 1e9), options.compression)
        size, seconds = path.stat().st_size, time.perf_counter() - start
        print(f"file: {size / 1e6:,.0f} MB, written in {seconds:.0f} s")
        found = measure(path, options.rounds, options.threads)
    figures = {**found, "file": float(size)}
    print(f"{found['rows']:,.0f} rows x {found['columns']:.0f} columns")
    print(f"{'':12}{'peak MB':>10}{'above base':>12}{'of the file':>13}{'seconds':>9}")
    stages = (("base", None), ("binned", "construct_s"), ("trained", "train_s"))
    for name, timed in (*stages, ("predicted", "predict_s")):
        peak = found[name]
        took = f"{found[timed]:9.1f}" if timed else ""
        above = (peak - found["base"]) / 1e6
        print(f"{name:12}{peak / 1e6:10,.0f}{above:12,.0f}{peak / size:13.0%}{took}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0
