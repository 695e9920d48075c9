"""`gossamer train`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gossamer.cli.commands import INTERRUPTED
from gossamer.cli.findings import find_in_source, find_valid_drift, findings_text
from gossamer.cli.interrupts import StopAfterRound, heeding_interrupts
from gossamer.cli.loading import (
    Loaded,
    data_options,
    load,
    make_dataset,
    rounds_of,
    training_params,
    with_target,
)
from gossamer.cli.options import Console, output_options, text_options_of
from gossamer.cli.progress import TrainingBar
from gossamer.cli.read import check_folder, find_column, open_table, read_column, read_table
from gossamer.cli.settings import ParameterCommand, Settings, gather
from gossamer.cli.summary import Timing, peak_memory, training_summary, training_text
from gossamer.cli.task import is_present
from gossamer.data import Dataset
from gossamer.data.categories.levels import NO_LEVELS
from gossamer.data.chunks.source import ChosenRows, Source
from gossamer.data.findings import Finding, find_leak
from gossamer.errors import DataError, GossamerError
from gossamer.model import Booster
from gossamer.params import resolve

_EPILOG = """\
\b
Examples:
  gossamer train flights.parquet --target delayed --valid 0.2 --early-stopping 50
  gossamer train flights.parquet --target delayed --folds 8 learning_rate=0.05
  gossamer train train.csv -t price --valid test.csv num_leaves=63 learning_rate=0.05
  gossamer train "logs/*.parquet" -t clicked --query session --ignore id,day --out rank.gsm
  gossamer train --config train.toml --rounds 500
  gossamer train config=train.conf            (LightGBM's config files work)

Ctrl-C stops after the current round and writes the model with the finished rounds (exit code 130).
Exit codes: 0 success, 1 a problem with data or a model, 2 wrong options or parameters.
"""


@click.command("train", cls=ParameterCommand, epilog=_EPILOG)
@click.argument("arguments", nargs=-1, metavar="FILE... [KEY=VALUE]...")
@data_options
@click.option(
    "--valid",
    metavar="SHARE|FILE",
    help="Validation data: a share of the rows such as 0.2, drawn with --seed (stratified by "
    "class, queries stay whole), or another file.",
)
@click.option(
    "--valid-last",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Validate on the last rows instead, for rows in order of time.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    metavar="N",
    help="Train N models, one per fold, with early stopping on the fold, and write their average. "
    "Folds are stratified by class, queries stay whole.",
)
@click.option(
    "--quality",
    type=click.Choice(["fast", "good", "best"]),
    default="fast",
    show_default=True,
    help="good: choose the number of rounds on held-out rows; best: average eight models over "
    "folds.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop training after this many seconds.",
)
@click.option(
    "--calibration",
    type=click.Choice(["isotonic", "sigmoid", "temperature"]),
    help="With --folds: calibrate probabilities on the held-out rows.",
)
@click.option(
    "--out",
    "-o",
    default="model.gsm",
    show_default=True,
    metavar="FILE",
    help="Model file to write.",
)
@click.option("--report", metavar="FILE", help="Also write an HTML report about the model.")
@click.option("--init-model", metavar="FILE", help="Continue training this model.")
@click.option(
    "--checkpoint", metavar="FILE", help="Save the state of training every minute, for --resume."
)
@click.option("--resume", metavar="FILE", help="Resume from this checkpoint and keep updating it.")
@output_options
@click.pass_context
def command(ctx: click.Context, /, as_json: bool, quiet: bool, **options: Any) -> None:
    """Train a model on a file: Parquet, Feather, Arrow, CSV or LibSVM.

    The task is inferred from the target: two values mean binary classification, text or a few
    whole numbers mean several classes, and other numbers mean regression. With --query it is
    ranking.
    """
    settings = gather(ctx, options["arguments"], options["sets"], options["config"])
    console = Console(is_quiet=quiet, as_json=as_json)
    was_interrupted = run(settings, console)
    if was_interrupted:
        ctx.exit(INTERRUPTED)


def run(settings: Settings, console: Console) -> bool:
    """Train, write, show; returns whether it was interrupted."""
    timing = Timing()
    _check(settings)
    checkpoint = _checkpoint(settings)
    is_validated = settings.valid is not None or _last(settings) or bool(_holds_out(settings))
    with heeding_interrupts():
        loaded = load(settings, console, is_validated=is_validated)
        train_set, valid_set = _valid(settings, loaded, console)
    timing.done("read and bin")
    model, history = _train(settings, console, loaded, train_set, valid_set, checkpoint)
    timing.done("train")
    if loaded.task.named_classes is not None:
        model.set_class_names(loaded.task.named_classes)
    save_trained(model, settings.out)
    summary = training_summary(loaded, train_set, valid_set, model, history, timing)
    summary |= {"model": settings.out, "model_bytes": Path(settings.out).stat().st_size}
    summary["peak_memory_bytes"] = peak_memory()
    if settings.report is not None:
        _report(settings, loaded, model, history, valid_set)
        summary["report"] = settings.report
    findings = _findings(settings, loaded, train_set, valid_set, model)
    summary["findings"] = [finding.text for finding in findings]
    console.show("" if console.is_quiet else training_text(summary), summary)
    if findings:
        console.say(findings_text(findings))
    _advise(settings, console, summary, model)
    return bool(model.was_interrupted)


def save_trained(
    model: Booster, out: str, format: str | None = None, importance_type: str = "split"
) -> None:
    """Write the model; where the format cannot hold it, the training is not lost.

    Args:
        model: What was trained.
        out: The file.
        format: Its format; None: the one that the ending of its name stands for.
        importance_type: The importance in a file of LightGBM.

    Raises:
        GossamerError: If the model is in another file.
        ImportError: If the format needs a package; the model is in another file.
    """
    try:
        model.save_model(out, importance_type=importance_type, format=format)
    except (GossamerError, ImportError) as error:
        kept = str(Path(out).with_suffix(".gsm"))
        model.save_model(kept, format="gossamer")
        raise type(error)(f"{error} The model is in {kept!r}.") from None


def _advise(settings: Settings, console: Console, summary: dict[str, Any], model: Booster) -> None:
    """Say what a newcomer might not think of."""
    if not model.feature_importance("split").any():
        n_least = resolve(training_params(settings)).min_data_in_leaf
        why = (
            f"min_data_in_leaf={n_least} needs at least {2 * n_least} rows to split, and there "
            f"are {summary['rows']:,}"
            if summary["rows"] < 2 * n_least
            else "no column tells the targets apart"
        )
        console.warn(f"the model predicts the same value for every row: {why}.")
    if _holds_out(settings) is not None:
        return
    if summary["valid_rows"] is None:
        console.say(
            "These metrics are from the training rows. "
            "Use --valid 0.2 to see how good the model is."
        )
    elif settings.early_stopping is not None and not summary["interrupted"]:
        n_after = summary["rounds_trained"] - (summary["best_round"] or summary["rounds"])
        if n_after < settings.early_stopping:
            console.say("It was still improving at the end: more --rounds may help.")


def _findings(
    settings: Settings,
    loaded: Loaded,
    train_set: Dataset,
    valid_set: Dataset | None,
    model: Booster,
) -> list[Finding]:
    """Look for things to know about the data."""
    names = model.feature_name()
    is_random = settings.valid is not None and share_of(settings.valid) is not None
    found = []
    if set(names) <= set(loaded.source.names or ()):
        found = find_in_source(loaded.source, names, loaded.label())
        if valid_set is not None and not is_random:
            found += find_valid_drift(loaded.source, names, train_set, valid_set)
    found += find_leak(names, model.feature_importance("gain"))
    if not is_random:
        found = [each for each in found if each.kind != "time"]
    return found


def _last(settings: Settings) -> bool:
    return settings.valid_last is not None


def _check(settings: Settings) -> None:
    """Fail before hours of training rather than after."""
    check_folder(settings.out)
    if settings.report is not None:
        check_folder(settings.report, "--report")
    if settings.valid is not None and _last(settings):
        raise click.UsageError("--valid and --valid-last cannot be combined.")
    _check_folds(settings)
    has_valid = settings.valid is not None or _last(settings) or bool(_holds_out(settings))
    if settings.early_stopping is not None and not has_valid:
        raise click.UsageError(
            "--early-stopping needs validation data: add --valid 0.2 (a share of the rows), "
            "--valid FILE, --valid-last 0.2 or --folds 8."
        )
    if settings.resume is not None and not Path(settings.resume).is_file():
        raise DataError.because(
            f"--resume: there is no checkpoint {settings.resume!r}",
            hint="Use --checkpoint FILE to start one.",
        )


def _holds_out(settings: Settings) -> str | None:
    """Return the option that makes the training hold rows out by itself, if there is one."""
    if settings.folds is not None:
        return "--folds"
    return None if settings.quality == "fast" else f"--quality {settings.quality}"


def _check_folds(settings: Settings) -> None:
    """Refuse what trainings that hold rows out by themselves cannot do."""
    how = _holds_out(settings)
    if settings.calibration is not None and settings.folds is None and settings.quality != "best":
        raise click.UsageError("--calibration needs rows held out: add --folds 8.")
    if settings.folds is not None and settings.quality == "good":
        raise click.UsageError("--folds and --quality good cannot be combined.")
    if how is None:
        return
    for name in ("valid", "valid_last", "init_model", "checkpoint", "resume"):
        if settings.options.get(name) is not None:
            option = f"--{name.replace('_', '-')}"
            why = f": {how} holds rows out by itself" if name.startswith("valid") else ""
            raise click.UsageError(f"{how} and {option} cannot be combined{why}.")


def share_of(valid: str) -> float | None:
    """Return the share that `--valid` asks for; None: it is a file.

    Raises:
        UsageError: If it is a number that is not a share.

    Example:
        >>> share_of("0.2"), share_of("test.csv")
        (0.2, None)
    """
    try:
        share = float(valid)
    except ValueError:
        return None
    if not 0 < share < 1:
        raise click.UsageError(
            f"--valid: got {valid}, expected a share between 0 and 1, as 0.2, or a file."
        )
    return share


def _valid(settings: Settings, loaded: Loaded, console: Console) -> tuple[Dataset, Dataset | None]:
    """Return the rows to train on, and those to evaluate on."""
    if _last(settings):
        return loaded.split(settings.valid_last, 0, is_last=True)
    if settings.valid is None:
        return loaded.data, None
    share = share_of(settings.valid)
    if share is not None:
        return loaded.split(share, settings.seed or 0, is_last=False)
    files = settings.valid.split(",") if not Path(settings.valid).exists() else [settings.valid]
    target = loaded.roles.target
    if target is None:  # LibSVM
        data: Any = files if len(files) > 1 else files[0]
        valid = Dataset(data, reference=loaded.data).construct()
        return loaded.data, valid.set_label(loaded.task.encode(valid.get_label(), "the label"))
    levels, names = loaded.data.levels or NO_LEVELS, loaded.data.get_feature_name()
    text = [names[column] for column in levels.columns if levels.is_text(column)]
    source = open_table(files, settings.header, text, text_options_of(settings.options))
    find_column(source, target, "--valid")
    source, values = with_target(source, target, settings, console)
    label = loaded.task.encode(values, f"the target {target!r} of {source.what}")
    args = (source, loaded.roles, label, loaded.params)
    return loaded.data, make_dataset(*args, reference=loaded.data)


def _checkpoint(settings: Settings) -> Any:
    from gossamer.callbacks import checkpoint

    path = settings.resume or settings.checkpoint
    if path is None:
        return None
    check_folder(path, "--checkpoint")
    return checkpoint(path, resume=settings.resume is not None)


def _train(
    settings: Settings,
    console: Console,
    loaded: Loaded,
    train_set: Dataset,
    valid_set: Dataset | None,
    checkpoint: Any,
) -> tuple[Booster, dict[str, dict[str, list[float]]]]:
    from gossamer.callbacks import record_evaluation
    from gossamer.train import train

    history: dict[str, dict[str, list[float]]] = {}
    if _holds_out(settings) is not None:
        return _train_held_out(settings, console, loaded), history
    stop = StopAfterRound(console.is_quiet)
    # The same ones with and without a terminal: checkpoints ask for that.
    callbacks: list[Any] = [record_evaluation(history), TrainingBar(is_shown=console.is_watched)]
    callbacks += [stop, *([] if checkpoint is None else [checkpoint])]
    if settings.time_limit is not None:
        from gossamer.ensemble.train_quality import TimeLimit

        callbacks.append(TimeLimit(settings.time_limit))
    valid_sets = {"train": train_set} if valid_set is None else {"valid": valid_set}
    if settings.report is not None:  # the page draws both curves
        valid_sets["train"] = train_set
    with stop:
        model = train(
            loaded.params,
            train_set,
            rounds_of(settings),
            valid_sets=list(valid_sets.values()),
            valid_names=list(valid_sets),
            init_model=settings.init_model,
            callbacks=callbacks,
        )
    return model, history


def _train_held_out(settings: Settings, console: Console, loaded: Loaded) -> Booster:
    """Train a model that holds rows out by itself."""
    from gossamer.ensemble import train_folds, train_quality

    n_folds = settings.folds or (8 if settings.quality == "best" else None)
    label = "training" if n_folds is None else f"{n_folds} folds"
    options: dict[str, Any] = {
        "seed": settings.seed or 0,
        "time_limit": settings.time_limit,
        "callbacks": [TrainingBar(label, is_shown=console.is_watched)],
    }
    if settings.rounds is not None:
        options["num_boost_round"] = settings.rounds
    if n_folds is not None:
        options |= {"nfold": n_folds, "calibration": settings.calibration}
    if settings.quality == "fast":
        return train_folds(loaded.params, loaded.data, **options)
    return train_quality(loaded.params, loaded.data, settings.quality, **options)


def _report(
    settings: Settings, loaded: Loaded, model: Any, history: Any, valid_set: Dataset | None
) -> None:
    """Write the page, about the rows that validate where there are some."""
    from gossamer.cli.command_report import write_report

    source: Any = loaded.source
    if valid_set is not None and isinstance(valid_set.data, Source):
        source = valid_set.data
    elif settings.valid is not None and share_of(settings.valid) is None:
        options = text_options_of(settings.options)
        source = open_table(settings.valid.split(","), settings.header, (), options)
        if loaded.roles.target is not None:
            there = is_present(read_column(source, loaded.roles.target))
            source = source if there.all() else ChosenRows(source, there)
    label = None
    if loaded.roles.target is not None:
        label = loaded.task.encode(read_column(source, loaded.roles.target), "the target")
    names = model.feature_name() if source.names is not None else None
    rows = read_table(source, names)
    query = None if loaded.roles.query is None else read_column(source, loaded.roles.query)
    if valid_set is not None and valid_set.used_indices is not None:  # a share of the file
        chosen = valid_set.used_indices
        rows = rows.take(chosen) if hasattr(rows, "take") else rows[chosen]
        label = None if label is None else label[chosen]
        query = None if query is None else query[chosen]
    # Names without their folders: of a long path the page would show the beginning.
    files = ", ".join(path.name for path in source.paths) or source.what
    told = {"target": loaded.roles.target, "source": files, "is_training": valid_set is None}
    write_report(model, settings.report, rows, label, query, evals_result=history, **told)
