"""`gossamer cv`."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from gossamer.cli.interrupts import heeding_interrupts
from gossamer.cli.loading import data_options, load, rounds_of
from gossamer.cli.options import Console, output_options
from gossamer.cli.progress import TrainingBar
from gossamer.cli.read import check_folder
from gossamer.cli.settings import ParameterCommand, gather
from gossamer.cli.summary import peak_memory
from gossamer.cli.terminal import Style, format_size, format_time
from gossamer.cli.text_table import format_facts, format_number

_EPILOG = """\
\b
Examples:
  gossamer cv flights.parquet --target delayed --folds 10 --early-stopping 50
  gossamer cv flights.parquet -t delayed num_leaves=63 --json
"""


@click.command("cv", cls=ParameterCommand, epilog=_EPILOG)
@click.argument("arguments", nargs=-1, metavar="FILE... [KEY=VALUE]...")
@data_options
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of folds.",
)
@click.option("--no-shuffle", is_flag=True, help="Make folds of consecutive rows, not random ones.")
@click.option("--out", "-o", metavar="FILE", help="Write the models of all folds to a file.")
@output_options
@click.pass_context
def command(ctx: click.Context, /, as_json: bool, quiet: bool, **options: Any) -> None:
    """Cross-validate: train on all folds of a file but one, and evaluate on that one, in turn.

    It has the options and parameters of `gossamer train`. Folds are stratified by class, and
    queries stay whole.
    """
    from gossamer.cv import cv

    settings = gather(ctx, options["arguments"], options["sets"], options["config"])
    console = Console(is_quiet=quiet, as_json=as_json)
    if settings.out is not None:
        check_folder(settings.out)
    begin = time.perf_counter()
    with heeding_interrupts():
        loaded = load(settings, console, is_validated=True)
    result = cv(
        loaded.params,
        loaded.data,
        rounds_of(settings),
        nfold=settings.folds,
        shuffle=not settings.no_shuffle,
        seed=settings.seed or 0,
        callbacks=[TrainingBar(f"{settings.folds} folds")] if console.is_watched else [],
        return_cvbooster=True,
    )
    models = result.pop("cvbooster")
    metrics = _at_the_end(result)
    n_done = max(len(values) for values in result.values())
    best = models.best_iteration if models.best_iteration > 0 else None
    summary = {
        "task": loaded.task.name,
        "reason": loaded.task.reason,
        "rows": loaded.data.num_data(),
        "columns": loaded.data.num_feature(),
        "folds": settings.folds,
        "rounds": n_done,
        "best_round": best,
        "metrics": metrics,
        "seconds": time.perf_counter() - begin,
        "peak_memory_bytes": peak_memory(),
        "history": result,
    }
    if settings.out is not None:
        models.save_model(settings.out)
        summary["models"] = settings.out
    console.show(_text(summary), summary)


def _at_the_end(result: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Return mean and deviation of every metric after the last round that counts."""
    found: dict[str, dict[str, float]] = {}
    for name, values in result.items():
        metric, _, kind = name.rpartition("-")
        word = {"mean": "mean", "stdv": "deviation"}[kind]
        found.setdefault(metric, {})[word] = values[-1]
    return found


def _text(summary: dict[str, Any]) -> str:
    style = Style.of(sys.stdout)
    rounds = str(summary["rounds"])
    if summary["best_round"] is not None:
        rounds += ", the best on average"
    facts: dict[str, object] = {
        "rows": f"{summary['rows']:,} in {summary['folds']} folds",
        "columns": summary["columns"],
        "rounds": rounds,
    }
    for name, found in summary["metrics"].items():
        mean, deviation = format_number(found["mean"]), format_number(found["deviation"])
        facts[name] = f"{style.good(mean)} ± {deviation}"
    facts["time"] = format_time(summary["seconds"])
    if summary["peak_memory_bytes"]:
        facts["peak memory"] = format_size(summary["peak_memory_bytes"])
    if "models" in summary:
        facts["models"] = summary["models"]
    return format_facts(facts)
