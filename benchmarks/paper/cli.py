"""Command line: ``python -m benchmarks.paper [run | goss-vs-sgb | report]``; nothing means all."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.command_line import CommandLine
from benchmarks.launch import say
from benchmarks.paper.cases import CASES, DEFAULT_CASES, SAMPLING_CASES, Case
from benchmarks.paper.figures import CAPTIONS, draw_figures
from benchmarks.paper.launch import (
    Amount,
    Job,
    Limits,
    curve_rounds,
    find_problem,
    plan_case,
    run_jobs,
)
from benchmarks.paper.problem import load_facts
from benchmarks.paper.report import format_blocks, format_report, update_page
from benchmarks.paper.store import (
    RUNS_FILE,
    SAMPLING_FILE,
    Document,
    keep_others,
    new_document,
    read_document,
    write_document,
)
from benchmarks.paper.summary import NO_EFFECT, failed_runs
from benchmarks.paper.variants import (
    PACKAGES,
    VARIANTS,
    sampling_options,
    seed_options,
    select_variants,
)

DEFAULT_OUT = "benchmarks/results/local/paper"
SHARES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
METHODS = ("sgb", "goss", "goss_auto", "mvs")
_CURVE_STEP = 5  # rounds between those of which the best counts
_MEMORY_SHARE = 0.9
_RUN_KEYS = ("case", "variant", "repeat")
_SAMPLING_KEYS = ("case", "library", "sampling", "share", "seed")


def main(argv: list[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: Arguments; None means those of the process.

    Returns:
        Exit status: 0, or 1 when a run failed or nothing was run.
    """
    line = _command_line()
    if getattr(line.parser.parse_args(argv), "command", None) is None:
        steps = ("run", "goss-vs-sgb", "report")
        return max([main([step]) for step in steps])
    return line.run(argv, _print_lists)


def _run(args: argparse.Namespace) -> int:
    try:
        variants, messages = select_variants(args.variants)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None
    for message in messages:
        say(message)
    if not variants:
        raise SystemExit("error: none of the variants is installed")
    amount = Amount(args.seeds, args.repeats, args.rounds, args.slow_rounds)
    document = new_document("paper", **_settings(args), slow_rounds=args.slow_rounds)
    plans = ((CASES[name], plan_case(CASES[name], variants, amount)) for name in args.cases)
    return _measure(args, document, plans, RUNS_FILE, _RUN_KEYS)


def _goss_vs_sgb(args: argparse.Namespace) -> int:
    document = new_document("goss_vs_sgb", **_settings(args), top_share=args.top_share)
    plans = ((CASES[name], _plan_sampling(CASES[name], args)) for name in args.cases)
    return _measure(args, document, plans, SAMPLING_FILE, _SAMPLING_KEYS)


def _plan_sampling(case: Case, args: argparse.Namespace) -> Iterator[Job]:
    """Seeds outermost, so that a run that is stopped has all shares.

    All rows are used once for each seed: sampling must lead to other trees than that.
    """
    curve = curve_rounds(args.rounds, max(1, args.rounds // _CURVE_STEP))

    def plan(library: str, sampling: str, share: float, seed: int) -> Job:
        top_rate = round(share * args.top_share, 6)
        rates = top_rate, round(share - top_rate, 6)
        options = {**sampling_options(sampling, *rates), **seed_options(library, seed)}
        labels = {"library": library, "sampling": sampling, "share": share, "metric": case.metric}
        digests = (args.rounds,)
        return Job(case.name, library, options, args.rounds, seed, labels, curve, digests)

    for seed in range(args.seeds):
        for library in args.libraries:
            yield plan(library, "", 1.0, seed)
        for share in args.shares:
            for library in args.libraries:
                for method in args.methods:
                    if method in ("sgb", "goss") or library == "gossamer":
                        yield plan(library, method, share, seed)


def _measure(
    args: argparse.Namespace,
    document: Document,
    plans: Iterator[tuple[Case, Iterator[Job]]],
    file_name: str,
    keys: tuple[str, ...],
) -> int:
    """Runs the plans, writing the document after every run."""
    path = Path(args.out) / file_name
    earlier = read_document(path) if args.keep else None
    limits = Limits(args.threads, args.num_leaves, args.timeout, _memory_bytes(args.memory_gib))
    whole = document
    for case, jobs in plans:
        folder = find_problem(case, args.scale)
        if folder is None:
            continue
        document["data"][case.name] = load_facts(folder)
        for result in run_jobs(jobs, folder, limits):
            document["runs"].append(result)
            whole = {**document}
            if earlier is not None:
                try:
                    keep_others(whole, earlier, keys)
                except ValueError as error:
                    raise SystemExit(f"error: {error}; leave out --keep") from None
            write_document(path, whole)  # kept should a later run be stopped
    say(f"written to {path}" if document["runs"] else "nothing was run")
    return _status(document)


def _report(args: argparse.Namespace) -> int:
    folder = Path(args.out)
    document, sampling = read_document(folder / RUNS_FILE), read_document(folder / SAMPLING_FILE)
    if document is None:
        raise SystemExit(f"error: no {RUNS_FILE} in {folder}; run `python -m benchmarks.paper run`")
    blocks = format_blocks(document, sampling, args.at)
    text = format_report(blocks)
    (folder / "results.md").write_text(text + "\n")
    print(text)
    figures = draw_figures(document, folder)
    if not figures:
        say("no figures: no curves, or matplotlib is not installed")
    if args.docs:
        _publish(Path(args.docs), folder, figures, blocks)
    return _status(document)


def _publish(docs: Path, folder: Path, figures: list[Path], blocks: dict[str, str]) -> None:
    """Puts results, figures and tables into the documentation."""
    target = docs / "assets" / "paper"
    target.mkdir(parents=True, exist_ok=True)
    for path in [folder / RUNS_FILE, folder / SAMPLING_FILE, *figures]:
        if path.is_file() and path.parent.resolve() != target.resolve():
            shutil.copyfile(path, target / path.name)
    drawn = {path.name for path in figures}
    pictures = {
        Path(name).stem: f"![{caption}](assets/paper/{name})" if name in drawn else "Not drawn yet."
        for name, caption in CAPTIONS.items()
    }
    homeless = update_page(docs / "paper.md", {**blocks, **pictures})
    for name in homeless:
        say(f"{docs / 'paper.md'} has no place for {name}")
    say(f"published in {docs}")


def _status(document: Document) -> int:
    failed = failed_runs(document)
    for run, reason in failed:
        if reason == NO_EFFECT:
            say(f"FAILED {run['case']} {run['library']} {run['sampling']}: {reason}")
    return 1 if failed or not document["runs"] else 0


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    names = ("threads", "num_leaves", "rounds", "scale")
    return {name: getattr(args, name) for name in names}


def _memory_bytes(gib: float | None) -> int:
    if gib is not None:
        return int(gib * 2**30)
    try:
        return int(_MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError):
        return 0


def _print_lists() -> None:
    print("cases (* = by default, + = in goss-vs-sgb by default):")
    for case in CASES.values():
        marks = "*" * case.in_default + "+" * (case.name in SAMPLING_CASES)
        rates = f"a = {case.top_rate:g}, b = {case.other_rate:g}"
        print(f"  {case.name:14} {marks:2} {case.about}; {rates}")
    print("variants (* = by default), and whether they are installed:")
    for variant in VARIANTS.values():
        state = "yes" if variant.is_installed() else "no"
        print(f"  {variant.name:24} {'*' * variant.in_default:1} {state}")


def _command_line() -> CommandLine:
    line = CommandLine(
        "benchmarks.paper",
        __doc__,
        needs_command=False,
        **dict.fromkeys(("threads", "rounds", "scale", "timeout", "keep", "list")),
        out=DEFAULT_OUT,
    )
    line.shared.add_argument("--num-leaves", type=int, default=63)
    line.shared.add_argument(
        "--memory-gib", type=float, help="limit for one process; 0: none, default: 0.9 of all"
    )
    run = line.add("run", _run, "Tables 1 to 3, Figures 1 and 2", seeds=5, repeats=3)
    run.add_argument("--cases", nargs="+", choices=CASES, metavar="CASE", default=DEFAULT_CASES)
    run.add_argument("--variants", nargs="+", default=[], help="names or libraries")
    run.add_argument("--slow-rounds", type=int, default=30, help="rounds of dense and sparse")

    sampling = line.add("goss-vs-sgb", _goss_vs_sgb, "Table 4", libraries=PACKAGES[:2], seeds=10)
    sampling.add_argument(
        "--cases", nargs="+", choices=CASES, metavar="CASE", default=SAMPLING_CASES
    )
    sampling.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS[:2])
    sampling.add_argument("--shares", nargs="+", type=float, default=SHARES)
    sampling.add_argument(
        "--top-share", type=float, default=0.5, help="a / (a + b) of GOSS, 0 to 1"
    )
    report = line.add_report(_report, "tables and figures of earlier results", out=DEFAULT_OUT)
    report.add_argument("--docs", help="documentation folder to publish them in")
    report.add_argument(
        "--at", choices=("best", "final"), default="best", help="round that counts in Table 4"
    )
    return line
