"""Train on a `LocalCluster` of workers with one thread each: `python -m benchmarks dask`.

Gossamer, LightGBM and XGBoost get the same partitions, synthetic and in the shape of Higgs. Each
training runs in a process of its own, one after the other. Gossamer's model on the cluster must
have the bytes of the one that a single process with as many threads makes.

`python -m benchmarks dask voting` compares tree_learner=voting with data on real data sets.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, astuple, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.dask import voting
from benchmarks.dask.runners import N_COLUMNS, RUNNERS, Found, Sizes
from benchmarks.launch import say
from benchmarks.machine import describe_machine, find_versions

CASES: Final = {
    "two": Sizes(rows=1_000_000, leaves=255, rounds=50, workers=2),
    "sixteen": Sizes(rows=10_000_000, leaves=255, rounds=10, workers=16),
}
ALONE: Final = "gossamer"  # one process: what the others are compared with


def read_arguments(argv: list[str]) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dask", description=__doc__)
    about = "two: 2 workers, 1 million rows; sixteen: 16 workers, 10 million rows"
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=["two"], help=about)
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of rows")
    parser.add_argument("--rounds", type=int, help="instead of the case's own")
    parser.add_argument("--repeats", type=int, default=3, help="the fastest one counts")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one training")
    parser.add_argument("--only", nargs="+", choices=list(RUNNERS), default=list(RUNNERS))
    parser.add_argument("--out", type=Path, help="where to write JSON; by default nowhere")
    return parser.parse_args(argv)


def run_one(name: str, sizes: Sizes, timeout: float) -> Found:
    """Train in a process of its own; returns what it printed last."""
    numbers = map(str, astuple(sizes))
    command = [sys.executable, "-m", "benchmarks.dask.runners", name, *numbers]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"not ready after {timeout:g} seconds"}
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr else "no output"}
    found: Found = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def run_case(sizes: Sizes, given: argparse.Namespace) -> dict[str, Found]:
    """Run all trainings of a case, in turns; the fastest try of each counts."""
    results: dict[str, Found] = {}
    for turn in range(given.repeats):
        for name in given.only:
            if name.endswith("memory") and turn > 0:
                continue
            found = run_one(name, sizes, given.timeout)
            say(f"{name}: {found.get('error') or format(found['seconds'], '.2f') + ' s'}")
            best = results.get(name)
            if best is None or "error" in best or found.get("seconds", 1e9) < best["seconds"]:
                results[name] = found
    return results


def format_case(sizes: Sizes, results: dict[str, Found]) -> str:
    """Return the tables of a case: seconds, then memory."""
    facts = f"{sizes.rows:,} x {N_COLUMNS}, {sizes.leaves} leaves, {sizes.rounds} rounds"
    lines = [f"{facts}, {sizes.workers} workers with one thread each", ""]
    alone = results.get(ALONE, {})
    for name, found in results.items():
        if "error" in found:
            lines.append(f"{name:18} {found['error']}")
        elif not name.endswith("memory"):
            share = found["seconds"] / alone.get("seconds", float("nan"))
            line = f"{name:18} {found['seconds']:8.2f} s {share:6.2f} x one process"
            lines.append(f"{line}  {_notes(found, alone)}".rstrip())
    # A worker's rows as float32 with their label, and a byte for each value in bins.
    rows = sizes.rows / sizes.workers
    partitions, bins = 4 * (N_COLUMNS + 1) * rows / 1e6, N_COLUMNS * rows / 1e6
    lines += ["", f"a worker's partitions are {partitions:.0f} MB, their bins {bins:.0f} MB"]
    lines.append(f"bins and 1.2 x partitions: {bins + 1.2 * partitions:.0f} MB")
    for name, found in results.items():
        if name.endswith("memory") and "error" not in found:
            lines.append(f"{name:18} a worker grows by {found['growth'] / 1e6:.0f} MB at most")
    return "\n".join(lines) + "\n"


def _notes(found: Found, alone: Found) -> str:
    if "bytes_per_tree" not in found:
        return ""
    same = "the same bytes" if found["digest"] == alone.get("digest") else "OTHER BYTES"
    collectives = f"{found['collectives_per_tree']:.0f} collectives"
    return f"{same}, {collectives} and {found['bytes_per_tree'] / 1e6:.2f} MB a tree"


def main(argv: list[str] | None = None) -> int:
    """Run all trainings, and print what they took."""
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["voting"]:
        return voting.main(words[1:])
    given = read_arguments(words)
    document: dict[str, Any] = {
        "machine": describe_machine(),
        "versions": find_versions(),
        "cases": {},
    }
    for name in given.cases:
        case = CASES[name]
        rounds = given.rounds or case.rounds
        sizes = replace(case, rows=int(case.rows * given.scale), rounds=rounds)
        results = run_case(sizes, given)
        document["cases"][name] = {"sizes": asdict(sizes), "results": results}
        print(format_case(sizes, results), flush=True)
        if given.out is not None:
            given.out.write_text(json.dumps(document, indent=1) + "\n")
    failed = any(
        "error" in found
        for case in document["cases"].values()
        for found in case["results"].values()
    )
    return 1 if failed else 0
