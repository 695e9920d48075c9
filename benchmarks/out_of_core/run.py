"""Time per round and peak memory of trainings on a file that is larger than their memory."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.machine import describe_machine, find_versions
from benchmarks.out_of_core.limit import limited
from benchmarks.out_of_core.make import check_disk, make_parquet

CONTENDERS: Final = (
    "gossamer",
    "gossamer_depthwise",
    "gossamer_bagging",
    "gossamer_valid",
    "gossamer_loaded",
    "gossamer_kept",
    "gossamer_in_memory",
    "xgboost_lossguide",
    "xgboost_depthwise",
    "lightgbm",
)
# Not under the limit, but under one that follows from what a training in memory takes.
_PARTS_OF_NEED: Final = {"gossamer_loaded": 1.0, "gossamer_kept": 0.8}
_FREE: Final = ("gossamer_in_memory", *_PARTS_OF_NEED)
_WARM_ROWS: Final = 2000
# Size of the validation data / size of the training data.
_VALID_SHARE: Final = 0.1


def main(arguments: list[str] | None = None) -> int:
    """Make the file, run the contenders one after the other, and print a table."""
    options = _parse(arguments)
    cap = _bytes(options.max_memory)
    n_bytes = int(options.gb * 1e9) if options.gb else int(options.times * cap)
    document: dict[str, Any] = {"machine": describe_machine(), "versions": find_versions()}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        check_disk(Path(folder), n_bytes)
        path = Path(folder, "rows.parquet")
        start = time.perf_counter()
        n_rows = make_parquet(path, n_bytes, options.columns, n_levels=options.text)
        make_parquet(_warm_path(path), 0, options.columns, _WARM_ROWS, options.text)
        if "gossamer_valid" in (options.contenders or CONTENDERS):
            valid_bytes = int(n_bytes * _VALID_SHARE)
            make_parquet(_valid_path(path), valid_bytes, options.columns, n_levels=options.text)
        size, seconds = path.stat().st_size, time.perf_counter() - start
        print(f"{size / 1e6:,.0f} MB, {n_rows:,} rows, written in {seconds:.0f} s", flush=True)
        document |= {"rows": n_rows, "file_mb": size / 1e6, "options": vars(options)}
        document["runs"] = {}
        for name in options.contenders or CONTENDERS:
            figures = _run(name, path, n_rows, cap, options)
            document["runs"][name] = figures
            print(f"{name}: {json.dumps(figures)}", flush=True)
    text = format_table(document)
    print(text)
    if options.out:
        out = Path(options.out)
        out.mkdir(parents=True, exist_ok=True)
        (out / "results.json").write_text(json.dumps(document, indent=2, default=str) + "\n")
        (out / "results.md").write_text(text + "\n")
    return 0 if all("round_s" in run for run in document["runs"].values()) else 1


def _valid_path(path: Path) -> Path:
    """The file of validation data."""
    return path.with_name("valid.parquet")


def _warm_path(path: Path) -> Path:
    """A small file of the same kind."""
    return path.with_name("warm.parquet")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.out_of_core", description=__doc__)
    parser.add_argument("--max-memory", default="200MB", help="the limit, as the parameter")
    parser.add_argument("--times", type=float, default=5.0, help="size of the file / limit")
    parser.add_argument("--gb", type=float, help="size of the file, instead of --times")
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--text", type=int, default=0, help="levels of one more column of text")
    parser.add_argument("--leaves", type=int, default=255)
    parser.add_argument("--depth", type=int, default=8, help="of trees that grow depth-wise")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=7200.0, help="seconds for one contender")
    parser.add_argument("--slack", type=float, default=1.1, help="of the control group's limit")
    parser.add_argument(
        "--drop-caches",
        action="store_true",
        help="before each round, the system forgets the files that it has in memory (as root)",
    )
    parser.add_argument(
        "--rest",
        type=float,
        default=0.0,
        help="seconds before the rounds: a disk may be slow for a while after much was written",
    )
    parser.add_argument("--no-group", action="store_true", help="without a control group")
    parser.add_argument("--folder", help="where file and caches are written for a while")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS)
    parser.add_argument("--out", help="folder for results.json and results.md")
    return parser.parse_args(arguments)


def _bytes(text: str) -> int:
    from gossamer.params.memory import parse_memory

    return parse_memory(text)


def just_too_little(n_rows: int, n_columns: int) -> int:
    """Return the largest limit, about, under which the bins of so many rows are on pages."""
    from gossamer.data.storage.budget import Budget, widest_row

    limit = 10**6
    while not Budget(limit).holds_table(n_rows, widest_row(n_columns)):
        limit += limit // 64
    return limit - limit // 32


def _run(name: str, path: Path, n_rows: int, cap: int, options: argparse.Namespace) -> Any:
    """Run one contender; what went wrong where it did not finish."""
    limit = 0 if options.no_group or name in _FREE else int(cap * options.slack)
    with tempfile.TemporaryDirectory(dir=path.parent) as cache:
        job = {
            "contender": name,
            "path": str(path),
            "cache": cache,
            "rows": n_rows,
            "max_memory": cap,
            "valid": str(_valid_path(path)),
            "warm": {
                "path": str(_warm_path(path)),
                "valid": str(_warm_path(path)),
                "rows": _WARM_ROWS,
                "rounds": 1,
                "rest": 0.0,
            },
            "group": "",
            **{n: getattr(options, n) for n in ("leaves", "depth", "rounds", "threads")},
            "drop_caches": options.drop_caches,
            "rest": options.rest,
        }
        if name in _PARTS_OF_NEED:
            most = just_too_little(n_rows, options.columns + bool(options.text))
            job["max_memory"] = int(_PARTS_OF_NEED[name] * most)
        if limit == 0:
            return call(job, options.timeout)
        with limited(limit) as group:
            job["group"] = "" if group is None else str(group)
            found = call(job, options.timeout)
            return found | {"limited": group is not None}


def call(job: dict[str, Any], timeout: float) -> dict[str, Any]:
    """Run a job in a process of its own; what went wrong where it did not finish."""
    command = [sys.executable, "-m", "benchmarks.out_of_core.worker", json.dumps(job)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {timeout:.0f} s"}
    if done.returncode == -9:
        return {"error": "killed: out of memory"}
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["?"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def format_table(document: dict[str, Any]) -> str:
    """Return a table of the runs; a round is the median, and its ratio that of Gossamer's."""
    runs, limit = document["runs"], document["options"]["max_memory"]
    mine = {name: median(run["round_s"]) for name, run in runs.items() if "round_s" in run}
    lines = [
        "| contender | build s | MB/s | s per round | / gossamer | CPU s per round "
        f"| passes per round | peak MB (limit {limit}) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, run in runs.items():
        if "error" in run:
            lines.append(f"| {name} | {run['error']} | | | | | | |")
            continue
        like = "gossamer_depthwise" if name.endswith("depthwise") else "gossamer"
        ratio = f"{mine[name] / mine[like]:.2f}" if like in mine else ""
        passes = f"{median(run['passes']):.0f}" if "passes" in run else ""
        build = run["build_s"]
        cpu = median(run["round_cpu_s"])
        lines.append(
            f"| {name} | {build:.1f} | {document['file_mb'] / build:.0f} | {mine[name]:.2f} "
            f"| {ratio} | {cpu:.2f} | {passes} | {run['peak_mb']:.0f} |"
        )
    return "\n".join(lines)


def median(values: list[float]) -> float:
    """Return the middle of some numbers.

    Example:
        >>> median([3.0, 1.0, 2.0])
        2.0
    """
    found = sorted(values)
    return found[len(found) // 2]
