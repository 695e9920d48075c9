"""`gossamer bench`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import click
import numpy as np
import numpy.typing as npt

from gossamer.cli.options import Console, output_options, threads_option
from gossamer.cli.terminal import Style, format_time
from gossamer.cli.text_table import format_table

Array = npt.NDArray[Any]
STAGES: Final = ("bin", "train", "predict")

_EPILOG = """\
\b
Examples:
  gossamer bench
  gossamer bench --rows 1000000 --columns 50 --rounds 20 --threads 4

Times on synthetic data say little about your data, and times on a busy machine mean nothing. The
documentation has benchmarks on real data.
"""


@click.command("bench", epilog=_EPILOG)
@click.option("--rows", type=click.IntRange(min=100), default=200_000, show_default=True)
@click.option("--columns", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--alone", is_flag=True, help="Do not measure LightGBM and XGBoost.")
@threads_option
@output_options
def command(
    rows: int,
    columns: int,
    rounds: int,
    seed: int,
    alone: bool,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure the speed of binning, training and prediction on synthetic data.

    LightGBM and XGBoost are measured too if they are installed, with the same rounds and leaves.
    """
    console = Console(is_quiet=quiet, as_json=as_json)
    table, label = make_table(rows, columns, seed)
    n_threads = threads or 0
    runs: dict[str, Callable[..., dict[str, float]]] = {"gossamer": _run_gossamer}
    if not alone:
        runs |= {name: run for name, run in _PEERS.items() if find_spec(name) is not None}
    results: dict[str, dict[str, float]] = {}
    for name, run in runs.items():
        console.say(f"{name}: {rows:,} rows x {columns} columns, {rounds} rounds ...")
        run(*make_table(1000, columns, seed), 1, n_threads)  # what happens once: imports, threads
        results[name] = run(table, label, rounds, n_threads)
    facts = {
        "rows": rows,
        "columns": columns,
        "rounds": rounds,
        "seconds": results,
        "rows_per_second": {
            name: {stage: _rate(rows, rounds, stage, found[stage]) for stage in STAGES}
            for name, found in results.items()
        },
    }
    console.show(_text(facts), facts)


def make_table(n_rows: int, n_columns: int, seed: int) -> tuple[Array, Array]:
    """Make data up: a few columns matter, the target is a class.

    Example:
        >>> table, label = make_table(100, 3, seed=0)
        >>> table.shape, sorted(set(label.tolist()))
        ((100, 3), [0.0, 1.0])
    """
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    score = table[:, 0] + np.sin(3 * table[:, n_columns // 2]) * table[:, -1]
    label = score + rng.normal(size=n_rows) > 0
    return table, label.astype(np.float64)


def _run_gossamer(table: Array, label: Array, rounds: int, threads: int) -> dict[str, float]:
    from gossamer.data import Dataset
    from gossamer.train import train

    params = {"objective": "binary", "num_threads": threads, "verbosity": -1}
    return _laps(
        lambda: Dataset(table, label, params=params).construct(),
        lambda data: train(params, data, rounds),
        lambda model: model.predict(table, num_threads=threads),
    )


def _run_lightgbm(table: Array, label: Array, rounds: int, threads: int) -> dict[str, float]:
    lightgbm: Any = import_module("lightgbm")
    params = {"objective": "binary", "num_threads": threads, "verbosity": -1}
    return _laps(
        lambda: lightgbm.Dataset(table, label, params=params).construct(),
        lambda data: lightgbm.train(params, data, rounds),
        lambda model: model.predict(table, num_threads=threads),
    )


def _run_xgboost(table: Array, label: Array, rounds: int, threads: int) -> dict[str, float]:
    xgboost: Any = import_module("xgboost")
    params = {
        **{"objective": "binary:logistic", "tree_method": "hist", "eta": 0.1, "verbosity": 0},
        **{"max_depth": 0, "max_leaves": 31, "grow_policy": "lossguide", "nthread": threads},
    }
    return _laps(
        lambda: xgboost.QuantileDMatrix(table, label, nthread=threads or None),
        lambda data: xgboost.train(params, data, rounds),
        lambda model: model.inplace_predict(table),
    )


_PEERS: Final[dict[str, Callable[..., dict[str, float]]]] = {
    "lightgbm": _run_lightgbm,
    "xgboost": _run_xgboost,
}


def _laps(
    make: Callable[[], Any], learn: Callable[[Any], Any], predict: Callable[[Any], Any]
) -> dict[str, float]:
    times = [time.perf_counter()]
    data = make()
    times.append(time.perf_counter())
    model = learn(data)
    times.append(time.perf_counter())
    predict(model)
    times.append(time.perf_counter())
    return dict(zip(STAGES, np.diff(times).tolist(), strict=True))


def _rate(rows: int, rounds: int, stage: str, seconds: float) -> float:
    """Rows per second; in training a row counts in every round."""
    return rows * (rounds if stage == "train" else 1) / max(seconds, 1e-9)


def _text(facts: dict[str, Any]) -> str:
    style = Style.of(sys.stdout)
    rows = []
    for stage in STAGES:
        line: list[object] = [stage]
        for name, seconds in facts["seconds"].items():
            rate = facts["rows_per_second"][name][stage]
            line.append(f"{format_time(seconds[stage])}  {_millions(rate)}")
        rows.append(line)
    names = list(facts["seconds"])
    note = "Million rows per second; in training a row counts once a round."
    return f"{format_table(['', *names], rows, style)}\n\n  {note}"


def _millions(rate: float) -> str:
    return f"({rate / 1e6:.2f} M/s)"
