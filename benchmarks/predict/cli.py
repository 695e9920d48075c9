"""Command line: ``python -m benchmarks.predict [run | report]``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.command_line import (
    CommandLine,
    finish,
    read_results,
    write_page,
    write_with_earlier,
)
from benchmarks.launch import say
from benchmarks.paper.launch import run_process
from benchmarks.paper.store import Document, new_document, read_document
from benchmarks.predict.cases import CASES, Case
from benchmarks.predict.contenders import CONTENDERS
from benchmarks.predict.report import format_blocks

DEFAULT_OUT = "benchmarks/results/predict"
DEFAULT_PAGE = "docs/prediction.md"
DEFAULT_MODELS = "build/benchmark-models"
WORKER = "benchmarks.predict.worker"
_FILE = "predict.json"
_KEYS = ("case", "contender", "repeat")


def main(argv: list[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: Arguments; None means those of the process.

    Returns:
        Exit status: 0, or 1 when a run failed or nothing was run.
    """
    return _command_line().run(argv)


def _run(args: argparse.Namespace) -> int:
    """Runs the cases, writing the document after every one."""
    document = new_document("predict", threads=args.threads, rows=args.rows, trees=args.trees)
    path = Path(args.out) / _FILE
    earlier = read_document(path) if args.keep else None
    for name in args.cases:
        for run in _run_case(CASES[name], args):
            document["runs"].append(run)
        if document["runs"]:
            write_with_earlier(path, document, earlier, _KEYS)  # should a later case be stopped
    return finish(document, path, lambda found: _tables(found, args.cases))


def _tables(document: Document, cases: list[str]) -> str:
    blocks = format_blocks(document)
    return "\n\n".join(f"{name}\n\n{blocks[name]}" for name in cases)


def _run_case(case: Case, args: argparse.Namespace) -> list[dict[str, Any]]:
    wanted = [name for name in case.contenders if name in args.contenders]
    names = [name for name in wanted if CONTENDERS[name].is_installed()]
    for name in wanted:
        if name not in names:
            say(f"skipped {name}: {', '.join(CONTENDERS[name].packages)} not installed")
    folder = Path(args.models).resolve() / f"{case.name}-{args.trees}-{args.train_rows}"
    job: dict[str, Any] = {"case": case.name, "folder": str(folder), "threads": args.threads}
    job |= {"rows": args.rows, "train_rows": args.train_rows, "trees": args.trees}
    job["seconds"] = args.seconds
    runs: list[dict[str, Any]] = []

    def act(task: str, name: str, repeat: int) -> bool:
        order = {**job, "task": task, "contender": name}
        found = run_process(WORKER, order, args.threads, args.timeout)
        run = {"case": case.name, "contender": name, "repeat": repeat, **found}
        if task == "time" or "error" in found:
            runs.append(run)
            say(_one_line(run))
        return "error" not in found

    names = [name for name in names if act("make", name, -1)]
    for repeat in range(args.repeats):
        shift = repeat % max(1, len(names))  # none is always first
        for name in names[shift:] + names[:shift]:
            act("time", name, repeat)
    return runs


def _one_line(run: dict[str, Any]) -> str:
    start = f"{run['case']:12} {run['contender']:20} #{run['repeat'] + 1}"
    if "error" in run:
        return f"{start}  FAILED {run['error']}"
    return f"{start}  {run['best_s'] * 1e3:12.4f} ms  ({run['n_calls']} calls)"


def _report(args: argparse.Namespace) -> int:
    documents = read_results(Path(args.out), ["predict"], "python -m benchmarks.predict run")
    return write_page(Path(args.page), format_blocks(documents["predict"]), "predict")


def _command_line() -> CommandLine:
    line = CommandLine("benchmarks.predict", __doc__)
    run = line.add(
        "run",
        _run,
        "times the contenders, in turns",
        **dict.fromkeys(("threads", "repeats", "timeout", "keep")),
        cases=CASES,
        contenders=CONTENDERS,
        out=DEFAULT_OUT,
    )
    run.add_argument("--seconds", type=float, default=5.0, help="to repeat calls for, at least 3")
    run.add_argument("--rows", type=int, default=0, help="rows to predict; 0 for the case's")
    run.add_argument("--train-rows", type=int, default=0, help="0 for the usual number")
    run.add_argument("--trees", type=int, default=0, help="trees; 0 for the case's")
    run.add_argument("--models", default=DEFAULT_MODELS, help="folder that keeps the models")
    line.add_report(
        _report,
        "writes the tables of earlier results into a page",
        out=DEFAULT_OUT,
        page=DEFAULT_PAGE,
    )
    return line
