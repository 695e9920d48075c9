"""`gossamer demo`: train, show, write."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gossamer.callbacks import CallbackEnv, early_stopping, progress_bar, record_evaluation
from gossamer.cli.demo_data import Array, DemoData, load_data
from gossamer.cli.terminal import Style, format_size, format_time
from gossamer.cli.version import package_version
from gossamer.data import Dataset
from gossamer.model import Booster
from gossamer.plot import plot_metric
from gossamer.train import train

PARAMS = {
    "objective": "binary",
    "metric": ["binary_logloss", "auc"],
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 10,
}
PATIENCE = 40
N_TABLE_ROWS = 10
N_TOP_COLUMNS = 6


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out of a training."""

    model: Booster
    history: dict[str, dict[str, list[float]]]
    metrics: dict[str, float]
    seconds: dict[str, float]
    n_test_rows: int


def run_demo(out: Path, *, n_rounds: int, quiet: bool = False) -> None:
    """Train on a small data set, show what came out, write the model and a plot.

    Args:
        out: Folder for the files; made if it is not there.
        n_rounds: Most rounds to train.
        quiet: Whether to print the result only.
    """
    out.mkdir(parents=True, exist_ok=True)
    data = load_data()
    style = Style.of(sys.stdout)
    if not quiet:
        _show_data(data, n_rounds, style)
    outcome = train_and_test(data, n_rounds, [] if quiet else _watchers(n_rounds, style))
    files, missing = write_files(outcome, out)
    files.append(
        outcome.model.report(
            out / "report.html",
            *data.split()["test"],
            evals_result=outcome.history,
            title="Gossamer demo",
            target=data.question,
            source=data.title,
        )
    )
    if quiet:
        found = ", ".join(f"{name} {value:.4f}" for name, value in outcome.metrics.items())
        print(f"test {found}; wrote {', '.join(map(str, files))}")
        return
    _show_outcome(outcome, style)
    _show_files(files, missing, style)


def train_and_test(
    data: DemoData, n_rounds: int, watchers: list[Callable[[CallbackEnv], Any]]
) -> Outcome:
    """Train with early stopping, and judge the model by rows it has never seen."""
    parts = data.split()
    start = time.perf_counter()
    train_set = Dataset(*parts["train"], feature_name=data.columns).construct()
    valid_set = train_set.create_valid(*parts["valid"]).construct()
    binned = time.perf_counter()
    history: dict[str, dict[str, list[float]]] = {}
    model = train(
        PARAMS,
        train_set,
        n_rounds,
        valid_sets=[train_set, valid_set],
        valid_names=["train", "valid"],
        callbacks=[
            record_evaluation(history),
            early_stopping(PATIENCE, first_metric_only=True, verbose=False),
            *watchers,
        ],
    )
    trained = time.perf_counter()
    values, label = parts["test"]
    probability = model.predict(values)
    seconds = {
        "put into bins": binned - start,
        "train": trained - binned,
        "predict a row": (time.perf_counter() - trained) / len(label),
    }
    return Outcome(model, history, judge(label, probability), seconds, len(label))


def judge(label: Array, probability: Array) -> dict[str, float]:
    """Compare probabilities with the truth.

    Example:
        >>> judge(np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.7, 0.9]))["AUC"]
        1.0
    """
    is_one = label == 1
    n_ones = int(is_one.sum())
    _, place, count = np.unique(probability, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]  # equal values share the mean rank
    n_pairs_right = rank[is_one].sum() - n_ones * (n_ones + 1) / 2
    of_truth = np.where(is_one, probability, 1 - probability)
    return {
        "accuracy": float(((probability > 0.5) == is_one).mean()),
        "AUC": float(n_pairs_right / (n_ones * (len(label) - n_ones))),
        "logloss": float(-np.log(np.maximum(of_truth, 1e-15)).mean()),
    }


def write_files(outcome: Outcome, out: Path) -> tuple[list[Path], list[str]]:
    """Write the model and, where matplotlib is installed, the learning curve.

    Returns:
        The files, and what to install for more.
    """
    files = [out / "model.gsm"]
    outcome.model.save_model(files[0])
    try:
        figure = import_module("matplotlib.figure").Figure(figsize=(7, 4), layout="constrained")
    except ImportError:
        return files, ['learning_curve.png needs matplotlib: pip install "gossamer[plot]"']
    ax = figure.add_subplot()
    plot_metric(outcome.history, ax=ax, title="Learning curve", xlabel="round", ylabel="logloss")
    best = outcome.model.best_iteration
    if best > 0:
        ax.axvline(best, color="0.4", linewidth=1, linestyle=":")
        ax.annotate(
            f"best round: {best}",
            (best, 0.5),
            xycoords=("data", "axes fraction"),
            xytext=(-4, 0),
            textcoords="offset points",
            rotation=90,
            ha="right",
            va="center",
            color="0.4",
        )
    files.append(out / "learning_curve.png")
    figure.savefig(files[-1], dpi=150)
    return files, []


# ---- what the user sees ----


@dataclass(eq=False)
class _Table:
    """A callback that prints a line of metrics every `period` rounds."""

    order: ClassVar[int] = 14  # before the bar moves on
    before_iteration: ClassVar[bool] = False

    period: int
    style: Style
    write: Callable[[str], Any]
    lowest: float = field(default=float("inf"))

    def __call__(self, env: CallbackEnv) -> None:
        results = {(r.dataset_name, r.metric_name): r.metric_value for r in _results(env)}
        train_loss = results["train", "binary_logloss"]
        valid_loss = results["valid", "binary_logloss"]
        if env.iteration == env.begin_iteration:
            header = (
                f"  {'round':>5}  {'train logloss':>13}  {'valid logloss':>13}  {'valid AUC':>9}"
            )
            self.write(self.style.dim(header))
        is_better = valid_loss < self.lowest
        self.lowest = min(self.lowest, valid_loss)
        n_done = env.iteration + 1
        if n_done != 1 and n_done % self.period and n_done != env.end_iteration:
            return
        loss = f"{valid_loss:13.4f}"
        line = f"  {n_done:5d}  {train_loss:13.4f}  {self.style.good(loss) if is_better else loss}"
        self.write(f"{line}  {results['valid', 'auc']:9.4f}")


def _results(env: CallbackEnv) -> list[Any]:
    return list(env.evaluation_result_list or [])


def _watchers(n_rounds: int, style: Style) -> list[Callable[[CallbackEnv], Any]]:
    """A table of metrics; and a progress bar below it where tqdm is installed."""
    period = max(n_rounds // N_TABLE_ROWS, 1)
    if find_spec("tqdm") is None:
        return [_Table(period, style, print)]
    tqdm = import_module("tqdm.auto").tqdm
    # disable=None: no bar where standard error is not a terminal.
    bar = progress_bar("  training", show_metrics=False, disable=None, ncols=72)
    return [_Table(period, style, lambda line: tqdm.write(line, file=sys.stdout)), bar]


def _show_data(data: DemoData, n_rounds: int, style: Style) -> None:
    n_rows, n_columns = data.values.shape
    sizes = {name: len(label) for name, (_, label) in data.split().items()}
    print("\n" + style.bold(f"Gossamer {package_version()}") + "\n")
    print(f"  data      {data.title}")
    print(f"            {n_rows} rows x {n_columns} columns; {data.question}")
    print("  split     " + ", ".join(f"{size} {name}" for name, size in sizes.items()))
    shown = (f"{name}={PARAMS[name]}" for name in ("objective", "learning_rate", "num_leaves"))
    print(f"  model     {', '.join(shown)}, at most {n_rounds} rounds")
    if data.note:
        print(style.dim(f"  note      {data.note}"))
    print(flush=True)


def _heading(text: str, style: Style) -> None:
    print("\n  " + style.bold(text))


def _show_outcome(outcome: Outcome, style: Style) -> None:
    n_done = len(outcome.history["valid"]["binary_logloss"])
    best = outcome.model.best_iteration
    why = f"; stopped after {n_done}, no better for {PATIENCE}" if n_done - best == PATIENCE else ""
    print(f"\n  Best round {style.bold(str(best))}{why}")
    _heading(f"On {outcome.n_test_rows} rows it has never seen", style)
    for name, value in outcome.metrics.items():
        text = f"{value:.1%}" if name == "accuracy" else f"{value:.4f}"
        print(f"    {name:<10} {style.good(text)}")
    _heading("What matters most (share of the gain)", style)
    gain = outcome.model.feature_importance("gain")
    names, share = outcome.model.feature_name(), gain / max(gain.sum(), 1e-300)
    top = np.argsort(-share, kind="stable")[:N_TOP_COLUMNS]
    width = max(len(names[i]) for i in top)
    for i in top:
        bar = style.draw_bar(share[i] / max(share[top[0]], 1e-300))
        print(f"    {names[i]:<{width}}  {bar} {share[i]:6.1%}")
    times = (f"{format_time(seconds)} to {what}" for what, seconds in outcome.seconds.items())
    _heading("Time", style)
    print(f"    {', '.join(times)}")


def _show_files(files: list[Path], missing: list[str], style: Style) -> None:
    _heading("Files", style)
    width = max(len(str(path)) for path in files)
    for path in files:
        print(f"    {path!s:<{width}}  {format_size(path.stat().st_size):>8}")
    for text in missing:
        print(style.dim(f"    {text}"))
    model = files[0].as_posix()
    _heading("Next", style)
    commands = {
        f"gossamer describe {model}": "what is in the model",
        f"gossamer explain {model}": "which columns matter",
        "gossamer playground": "watch boosting learn, in a browser",
    }
    width = max(map(len, commands))
    for command, what in commands.items():
        print(f"    {command:<{width}}  {what}")
    print(f"\n  {style.bold('Report')}: open {files[-1].absolute()} in a browser\n")
