"""Time training and prediction beside the peers: `python -m benchmarks.speed`.

Every run is a fresh process, and contenders take turns. The best of the repeats counts; of
LightGBM the faster layout counts. `--out FILE` adds the runs to a file, `--report FILE` only
prints the table of what is in one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.launch import say
from benchmarks.machine import describe_machine, find_versions
from benchmarks.real import CaseUnavailableError
from benchmarks.speed.cases import CASES, GOSSAMER, Case
from benchmarks.speed.worker import save_table

CACHE = "GOSSAMER_BENCH_CACHE"
COLUMNS = ("lightgbm", "lightgbm_quantized", "xgboost", "gossamer_goss")


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns 1 when a run failed."""
    parser = argparse.ArgumentParser(prog="benchmarks.speed", description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--contenders", nargs="+", default=[], help="names or their beginnings")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=0, help="instead of each case's own")
    parser.add_argument("--prepare", action="store_true", help="only make the tables")
    parser.add_argument("--out", type=Path, help="a file of JSON lines; runs are added to it")
    parser.add_argument("--report", type=Path, help="print what is in a file")
    args = parser.parse_args(argv)
    if args.report:
        print(format_table([json.loads(line) for line in args.report.read_text().splitlines()]))
        return 0
    runs: list[dict[str, Any]] = []
    for name in args.cases:
        runs += run_case(CASES[name], args)
    print(format_table(runs))
    return int(any("error" in run for run in runs))


def run_case(case: Case, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Runs all contenders on one case, in turns."""
    try:
        folder = table_folder(case)
    except CaseUnavailableError as error:
        say(f"skipped case {case.name}: {error}")
        return []
    if args.prepare:
        return []
    contenders = {**case.ours, **case.peers}
    if args.contenders:
        contenders = {
            name: options
            for name, options in contenders.items()
            if any(name.startswith(wanted) for wanted in args.contenders)
        }
    runs = []
    for repeat in range(args.repeats):
        for name, options in contenders.items():
            run = {
                "case": case.name,
                "contender": name,
                "repeat": repeat,
                "threads": args.threads,
                "rounds": args.rounds or case.rounds,
                "skipped": case.skipped,
                "timed": case.timed,
                "options": {**case.options, **options},
            }
            run |= _run_worker(run, folder, case.kernels)
            say(f"{case.name:14} {name:24} {run.get('seconds', run.get('error'))}")
            if args.out:
                _add(args.out, run)
            runs.append(run)
    return runs


def table_folder(case: Case) -> Path:
    """Where the table of a case is; makes it if need be. Cases may share one."""
    root = Path(os.environ.get(CACHE) or Path(tempfile.gettempdir()) / "gossamer-bench-cache")
    folder = root / "speed" / case.name.removesuffix("_avx2")
    if not (folder / "y.npy").is_file():
        table = case.make()
        folder.mkdir(parents=True, exist_ok=True)
        save_table(table, folder)
    return folder


def _run_worker(run: dict[str, Any], folder: Path, kernels: str) -> dict[str, Any]:
    environment = {**os.environ, "OMP_NUM_THREADS": str(run["threads"])}
    if kernels:
        environment["GOSSAMER_KERNELS"] = kernels
    with tempfile.TemporaryDirectory(prefix="gossamer-speed-") as name:
        job, result = Path(name) / "job.json", Path(name) / "result.json"
        job.write_text(json.dumps({**run, "folder": str(folder)}))
        command = [sys.executable, "-m", "benchmarks.speed.worker", str(job), str(result)]
        root = Path(__file__).resolve().parent.parent.parent
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0 or not result.is_file():
            return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
        loaded: dict[str, Any] = json.loads(result.read_text())
        return loaded


def _add(path: Path, run: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        facts = {"machine": describe_machine(), "versions": find_versions()}
        path.write_text(json.dumps(facts) + "\n")
    with path.open("a") as file:
        file.write(json.dumps(run) + "\n")


def best(runs: list[dict[str, Any]], case: str, family: str, key: str) -> float | None:
    """The least of one figure over the repeats and layouts of a contender; None: there is none."""
    found = [
        run[key]
        for run in runs
        if run.get("case") == case and _family(run["contender"]) == family and run.get(key)
    ]
    return min(found) if found else None


def _family(contender: str) -> str:
    return contender.removesuffix("_row").removesuffix("_col")


def format_table(runs: list[dict[str, Any]]) -> str:
    """Time of each peer divided by Gossamer's, then the same for building the data set."""
    lines = ["| | ms | " + " | ".join(COLUMNS) + " | data set | MiB, Gossamer / LightGBM |"]
    lines.append("|---|" + "---:|" * (len(COLUMNS) + 3))
    for name in dict.fromkeys(run["case"] for run in runs if "case" in run):
        case = CASES[name]
        own = best(runs, name, GOSSAMER, "seconds")
        if own is None:
            continue
        counted = next(r["rounds"] - r["skipped"] for r in runs if r.get("case") == name)
        unit = own * 1e3 / (counted if case.timed == "rounds" else 1)
        cells = [case.about, f"{unit:.2f}"]
        cells += [_ratio(best(runs, name, peer, "seconds"), own) for peer in COLUMNS]
        theirs, ours = (best(runs, name, who, "build_s") for who in ("lightgbm", GOSSAMER))
        cells.append(_ratio(theirs, ours))
        peaks = (best(runs, name, who, "peak_over_input_bytes") for who in (GOSSAMER, "lightgbm"))
        cells.append(" / ".join("" if peak is None else f"{peak / 2**20:.0f}" for peak in peaks))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _ratio(theirs: float | None, ours: float | None) -> str:
    return f"{theirs / ours:.2f}" if theirs and ours else ""
