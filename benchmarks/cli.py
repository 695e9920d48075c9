"""Command line: ``python -m benchmarks run | accuracy | stages | scaling | report``.

The other benchmarks are groups: ``python -m benchmarks GROUP ...`` runs ``benchmarks.GROUP``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.accuracy import format_accuracy
from benchmarks.cases import ACCURACY_CASES, CASES, TABLE_CASES
from benchmarks.command_line import CommandLine
from benchmarks.launch import Plan, run_case, say
from benchmarks.machine import describe_machine, find_versions
from benchmarks.plot import plot_ratios
from benchmarks.report import format_report, write_json
from benchmarks.runners import CONTENDERS, select_contenders
from benchmarks.scaling import print_scaling
from benchmarks.stages import format_header, format_row, measure_stages
from benchmarks.summary import summarise

DEFAULT_OUT = "benchmarks/results/local"
# Groups of benchmarks with commands of their own.
GROUPS = {
    "dask": "benchmarks.dask.run",
    "explain": "benchmarks.explain.cli",
    "files": "benchmarks.files.run",
    "gpu": "benchmarks.gpu.run",
    "inputs": "benchmarks.inputs.cli",
    "methods": "benchmarks.methods.cli",
    "modes": "benchmarks.modes.cli",
    "options": "benchmarks.options.cli",
    "out_of_core": "benchmarks.out_of_core.run",
    "paper": "benchmarks.paper.cli",
    "predict": "benchmarks.predict.cli",
    "quality": "benchmarks.quality.cli",
    "speed": "benchmarks.speed.run",
    "tasks": "benchmarks.tasks.cli",
}
QUICK_SCALE = 0.2
QUICK_REPEATS = 2
QUICK_BUDGET_S = 570.0  # ten minutes, less the making of the data and the report


def main(argv: list[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: Arguments; None means those of the process.

    Returns:
        Exit status: 0, or 1 when a run failed or nothing was run.
    """
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in GROUPS:
        module = import_module(GROUPS[words[0]])
        status: int = module.main(words[1:])
        return status
    return _command_line().run(words, _print_lists)


def _run(args: argparse.Namespace) -> int:
    if args.quick:
        args.scale, args.repeats = QUICK_SCALE * args.scale, min(args.repeats, QUICK_REPEATS)
    plan = _plan(args, args.repeats, QUICK_BUDGET_S if args.quick else float("inf"))
    document = _document(args, "run")
    out = Path(args.out)
    for name in args.cases or TABLE_CASES:
        for result in run_case(plan, CASES[name]):
            document["runs"].append(result)
            write_json(out / "results.json", document)  # kept should a later run be stopped
    return _publish(document, out)


def _accuracy(args: argparse.Namespace) -> int:
    plan = _plan(args, 1, float("inf"))
    document = _document(args, "accuracy")
    for name in args.cases or ACCURACY_CASES:
        for seed in range(args.seeds):
            produced = list(run_case(plan, CASES[name], seed))
            document["runs"] += produced
            if not produced:  # the data is not here, whatever the seed
                break
    out = Path(args.out)
    write_json(out / "accuracy.json", document)
    table = format_accuracy(document["runs"])
    (out / "accuracy.md").write_text(table + "\n")
    print(table)
    return _status(document)


def _stages(args: argparse.Namespace) -> int:
    print(f"milliseconds per tree, {args.threads} threads")
    print(format_header("case"))
    for name in args.cases or ("higgs_1m_31", "higgs_1m_255"):
        case = CASES[name]
        found = measure_stages(case, case.load(0, args.scale), args.threads)
        print(format_row(name, found), flush=True)
    return 0


def _scaling(args: argparse.Namespace) -> int:
    for name in args.cases or ("higgs_1m_255",):
        case = CASES[name]
        print_scaling(case, case.load(0, args.scale), args.threads, args.repeats)
    return 0


def _report(args: argparse.Namespace) -> int:
    documents = [json.loads(Path(name).read_text()) for name in args.results]
    document = documents[0]
    if any((d["kind"], d["threads"]) != (document["kind"], document["threads"]) for d in documents):
        raise SystemExit("error: only results of one kind and number of threads go together")
    document["runs"] = [run for each in documents for run in each["runs"]]
    if document["kind"] == "accuracy":
        print(format_accuracy(document["runs"]))
        return _status(document)
    return _publish(document, Path(args.out or Path(args.results[0]).parent))


def _publish(document: dict[str, Any], out: Path) -> int:
    """Prints the tables and writes the JSON, the tables and the plot."""
    write_json(out / "results.json", document)
    text = format_report(document)
    (out / "results.md").write_text(text + "\n")
    print(text)
    note = f"{document['machine']['cpu']}, {document['threads']} threads"
    if not plot_ratios(summarise(document["runs"]), out / "ratios.png", note):
        say("no plot: nothing to draw, or matplotlib is not installed")
    say(f"written to {out}")
    return _status(document)


def _status(document: dict[str, Any]) -> int:
    runs = document["runs"]
    return 1 if not runs or any("error" in run for run in runs) else 0


def _plan(args: argparse.Namespace, repeats: int, budget_s: float) -> Plan:
    try:
        contenders, messages = select_contenders(args.contenders)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None
    for message in messages:
        say(message)
    if not contenders:
        raise SystemExit("error: none of the contenders is installed")
    return Plan(contenders, args.threads, repeats, args.scale, args.timeout, budget_s)


def _document(args: argparse.Namespace, kind: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "machine": describe_machine(),
        "versions": find_versions(),
        "threads": args.threads,
        "scale": args.scale,
        "runs": [],
    }


def _print_lists() -> None:
    print("cases (* = in the default table, + = in the accuracy run):")
    for case in CASES.values():
        marks = "*" * (case.name in TABLE_CASES) + "+" * (case.name in ACCURACY_CASES)
        print(f"  {case.name:20} {marks:2} {case.about}, {case.rounds} rounds")
    print("contenders (name, family, installed):")
    for contender in CONTENDERS.values():
        state = "yes" if contender.is_installed() else "no"
        print(f"  {contender.name:24} {contender.family:20} {state}")


def _command_line() -> CommandLine:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    about = f"{__doc__} Groups: {', '.join(GROUPS)}."
    line = CommandLine(
        "benchmarks",
        about,
        **dict.fromkeys(("scale", "timeout", "list")),
        threads=usable,
        out=DEFAULT_OUT,
    )
    line.shared.add_argument("--cases", nargs="+", choices=list(CASES), metavar="CASE", default=[])
    run = line.add("run", _run, "time the contenders", repeats=3)
    run.add_argument("--contenders", nargs="+", default=[], help="names or families")
    run.add_argument("--quick", action="store_true", help="at most ten minutes: rows x 0.2")

    accuracy = line.add("accuracy", _accuracy, "accuracy over seeds", seeds=5)
    accuracy.add_argument("--contenders", nargs="+", default=["gossamer", "lightgbm_row"])

    line.add("stages", _stages, "gossamer's time by stage")
    about = "gossamer on 1, 2, 4 ... threads, LightGBM on all"
    line.add("scaling", _scaling, about, repeats=2)

    report = line.add_report(_report, "print and plot earlier results again")
    report.add_argument("results", nargs="+", help="JSON files; several are put together")
    report.add_argument("--out", help="folder for the tables and the plot")
    return line
