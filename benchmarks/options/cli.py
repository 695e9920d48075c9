"""Command line: ``python -m benchmarks.options linear | extra | statistics``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np

import gossamer as gs
from benchmarks.command_line import CommandLine, finish, write_with_earlier
from benchmarks.launch import say
from benchmarks.options.data import TABLES, WITH_CATEGORIES, WITH_NUMBERS, loss_of, make_problem
from benchmarks.paper.store import Document, new_document, read_document
from benchmarks.real import CaseUnavailableError
from benchmarks.tasks.problem import Part

DEFAULT_OUT: Final = "benchmarks/results/options"
BASE: Final = "without"
_KEYS: Final = ("data", "variant", "seed")
# Parameters by command and variant; the first variant is what the others are compared with.
VARIANTS: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "linear": {
        BASE: {},
        "checked": {"linear_tree": True},
        "unchecked": {"linear_tree": True, "linear_check": False},
    },
    "extra": {BASE: {}, "extra": {"extra_trees": True}},
    "statistics": {
        BASE: {},
        "prior": {"cat_prior_weight": "auto"},
        "l2": {"cat_statistics_l2": "auto"},
        "both": {"cat_prior_weight": "auto", "cat_statistics_l2": "auto"},
    },
}
ABOUT: Final = {
    "linear": ("linear leaves against constant ones", WITH_NUMBERS),
    "extra": ("random thresholds against the best ones", tuple(TABLES)),
    "statistics": ("how strongly category statistics are shrunk", WITH_CATEGORIES),
}


def main(argv: list[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: Arguments; None means those of the process.

    Returns:
        Exit status: 0, or 1 when nothing was run.
    """
    return _command_line().run(argv)


def _compare(kind: str, args: argparse.Namespace) -> int:
    """Trains every variant on every split, and writes the losses after each table."""
    names = ("rounds", "rows", "learning_rate", "patience")
    settings = {name: getattr(args, name) for name in names}
    document = new_document(kind, **settings)
    path = Path(args.out) / f"{kind}.json"
    earlier = read_document(path) if args.keep else None
    variants = VARIANTS[kind]
    chosen = {name: variants[name] for name in (BASE, *(args.variants or variants))}
    shared = {"verbosity": -1, "num_threads": args.threads, "learning_rate": args.learning_rate}
    for name in args.data:
        for seed in range(args.seeds):
            try:
                runs = list(_runs_of(name, seed, args, chosen, shared))
            except CaseUnavailableError as error:
                say(f"{name}: skipped, {error}")
                break
            document["runs"] += runs
        write_with_earlier(path, document, earlier, _KEYS)
    return finish(document, path, format_table)


def _runs_of(
    name: str,
    seed: int,
    args: argparse.Namespace,
    variants: dict[str, dict[str, Any]],
    shared: dict[str, Any],
) -> Iterable[dict[str, Any]]:
    table = TABLES[name]
    problem = make_problem(name, seed, args.rows)
    for variant, options in variants.items():
        params = {**shared, **table.params(), **options, "seed": seed}
        begin = time.perf_counter()
        model = _train(params, problem.train, args)
        seconds = time.perf_counter() - begin
        loss = loss_of(table.task, problem.test.y, np.asarray(model.predict(problem.test.x)))
        say(f"{name:20} {seed} {variant:16} {loss:10.5g} {seconds:6.2f} s")
        yield {"data": name, "variant": variant, "seed": seed, "loss": loss, "seconds": seconds}


def _train(params: dict[str, Any], part: Part, args: argparse.Namespace) -> gs.Booster:
    """Trains on all rows, or with `--patience` stops on a fifth of them."""
    if not args.patience:
        return gs.train(params, gs.Dataset(part.x, part.y), args.rounds)
    order = np.random.default_rng(params["seed"]).permutation(len(part.y))
    n_valid = len(order) // 5
    train, valid = part.take(np.sort(order[n_valid:])), part.take(np.sort(order[:n_valid]))
    data = gs.Dataset(train.x, train.y)
    return gs.train(
        params,
        data,
        args.rounds,
        valid_sets=[gs.Dataset(valid.x, valid.y, reference=data)],
        callbacks=[gs.early_stopping(args.patience, verbose=False)],
    )


def format_table(document: Document) -> str:
    """The mean loss of the first variant, and how much more the others lose, in percent.

    In brackets: its standard error over the seeds, if there are several.
    """
    losses: dict[str, dict[str, list[float]]] = {}
    for run in document["runs"]:
        losses.setdefault(run["data"], {}).setdefault(run["variant"], []).append(run["loss"])
    variants = list(dict.fromkeys(run["variant"] for run in document["runs"]))
    base, others = variants[0], variants[1:]
    lines = [f"| data | {' | '.join(variants)} |", "|---" * (len(variants) + 1) + "|"]
    change: dict[str, list[float]] = {name: [] for name in others}
    for name, found in losses.items():
        mean = float(np.mean(found[base]))
        cells = [f"{mean:.5g}"]
        for other in others:
            change[other].append(100.0 * (float(np.mean(found[other])) / mean - 1.0))
            by_seed = np.divide(found[other], found[base])
            error = 100.0 * float(np.std(by_seed)) / max(len(by_seed) - 1, 1) ** 0.5
            shown = f" ({error:.2f})" if len(by_seed) > 1 else ""
            cells.append(f"{change[other][-1]:+.2f} %{shown}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    for title, summary in (("mean", np.mean), ("worst", np.max)):
        cells = [f"{float(summary(change[other])):+.2f} %" for other in others]
        lines.append(f"| {title} | | {' | '.join(cells)} |")
    return "\n".join(lines)


def _command_line() -> CommandLine:
    line = CommandLine(
        "benchmarks.options", __doc__, threads=1, rounds=100, seeds=3, keep=None, out=DEFAULT_OUT
    )
    line.shared.add_argument("--rows", type=int, default=16_000, help="most rows of a table")
    line.shared.add_argument("--learning-rate", type=float, default=0.1)
    line.shared.add_argument(
        "--patience", type=int, default=0, help="stop after so many rounds, on a fifth of the rows"
    )
    for kind, (about, tables) in ABOUT.items():
        parser = line.add(kind, lambda args, kind=kind: _compare(kind, args), about, data=tables)
        parser.add_argument("--variants", nargs="+", choices=list(VARIANTS[kind])[1:])
    return line
