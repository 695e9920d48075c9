"""Time a training on a `LocalCluster`: `python -m benchmarks.distributed`.

Each training runs in a process of its own, one after the other. Gossamer's model on the cluster
must have the bytes of the one that a single process makes. Prints a table and writes JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.distributed.runners import RUNNERS
from benchmarks.machine import describe_machine


def read_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distributed", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--leaves", type=int, default=255)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2, help="with one thread each")
    parser.add_argument("--repeats", type=int, default=3, help="the fastest one counts")
    parser.add_argument("--only", nargs="*", choices=list(RUNNERS), default=list(RUNNERS))
    parser.add_argument("--out", type=Path, help="where to write JSON; by default nowhere")
    return parser.parse_args(argv)


def run_one(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """Train in a process of its own; returns what it printed last."""
    sizes = [given.rows, given.columns, given.leaves, given.rounds, given.workers]
    command = [sys.executable, "-m", "benchmarks.distributed.runners", name, *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr else "no output"}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main(argv: list[str] | None = None) -> int:
    """Run all trainings, and print what they took."""
    given = read_arguments(argv)
    results: dict[str, dict[str, Any]] = {}
    for name in given.only:
        tries = [run_one(name, given) for _ in range(given.repeats)]
        good = [each for each in tries if "error" not in each]
        results[name] = min(good, key=lambda each: float(each["seconds"])) if good else tries[0]
    alone = results.get("gossamer", {})
    print(f"{given.rows} x {given.columns}, {given.leaves} leaves, {given.rounds} rounds")
    print(f"{'':32} {'seconds':>8} {'of one process':>15} {'worker peak':>12}  notes")
    for name, found in results.items():
        if "error" in found:
            print(f"{name:32} {found['error']}")
            continue
        share = found["seconds"] / alone["seconds"] if "seconds" in alone else float("nan")
        notes = ""
        if "bytes_per_tree" in found:
            same = "the same bytes" if found["digest"] == alone.get("digest") else "OTHER BYTES"
            notes = f"{same}, {found['collectives_per_tree']:.0f} collectives and "
            notes += f"{found['bytes_per_tree'] / 1e6:.2f} MB a tree"
        peak = f"{found['peak'] / 1e6:.0f} MB"
        print(f"{name:32} {found['seconds']:8.2f} {share:14.2f}x {peak:>12}  {notes}")
    if given.out is not None:
        facts = {name: value for name, value in vars(given).items() if name != "out"}
        content = {"machine": describe_machine(), "sizes": facts, "results": results}
        given.out.write_text(json.dumps(content, indent=1) + "\n")
    return 0
