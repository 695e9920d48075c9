"""LightGBM's own command line: `gossamer config=train.conf key=value ...`.

Files, defaults and output are LightGBM's: the label is the first column, the objective is
regression, models are text, and predictions are numbers without a header.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import click
import numpy as np

from gossamer.callbacks import CallbackEnv, log_evaluation
from gossamer.cli.command_train import save_trained
from gossamer.cli.config_file import Pairs, read_config
from gossamer.cli.interrupts import heeding_interrupts
from gossamer.cli.read import check_folder, open_table, read_table
from gossamer.cli.settings import plain_name, read_pair
from gossamer.cli.terminal import printable
from gossamer.data import Dataset
from gossamer.data.labels.roles import asked_by_params, find_roles
from gossamer.errors import DataError, NotSupportedError, ParameterError
from gossamer.logger import register_logger
from gossamer.model import Booster
from gossamer.model.formats import format_of
from gossamer.params import CANONICAL, TABLE, resolve
from gossamer.params.coerce import coerce
from gossamer.params.suggest import did_you_mean
from gossamer.train import train

# Parameters that the tasks themselves use: data sets and trainings are not given them.
_OF_TASKS: Final[tuple[str, ...]] = (
    *("task", "config", "data", "valid", "input_model", "output_model", "output_result"),
    *("snapshot_freq", "saved_feature_importance_type", "refit_decay_rate", "save_binary"),
    *("convert_model", "convert_model_language"),
)
_PREDICTION: Final = {
    "predict_raw_score": "raw_score",
    "predict_leaf_index": "pred_leaf",
    "predict_contrib": "pred_contrib",
    "start_iteration_predict": "start_iteration",
    "num_iteration_predict": "num_iteration",
}
# Parameters that say what the columns of a file are.
_COLUMNS: Final[tuple[str, ...]] = (
    "header",
    "label_column",
    "weight_column",
    "group_column",
    "ignore_column",
)
# By `saved_feature_importance_type`.
_IMPORTANCE: Final = ("split", "gain")
_MODEL: Final = "LightGBM_model.txt"
_RESULT: Final = "LightGBM_predict_result.txt"


class Settings:
    """What a task is to do.

    Args:
        pairs: Names and values; of several values of a parameter the first counts.

    Raises:
        ParameterError: If a name is unknown.

    Example:
        >>> settings = Settings([("num_trees", "5"), ("n_iter", "7"), ("data", "a.csv")])
        >>> settings.params, settings.get("data", ""), settings.get("snapshot_freq", -1)
        ({'label_column': '0', 'num_iterations': '5'}, 'a.csv', -1)
    """

    def __init__(self, pairs: Pairs) -> None:
        values: dict[str, Any] = {}
        for given, value in pairs:
            name = plain_name(given)
            if name not in CANONICAL:
                raise ParameterError.because(
                    "unknown parameter", got=given, hint=did_you_mean(name, CANONICAL)
                )
            values.setdefault(CANONICAL[name], value)
        self._of_task = {name: values.pop(name) for name in _OF_TASKS if name in values}
        self.params = {"label_column": "0", **values}

    def get(self, name: str, default: Any) -> Any:
        """Return a parameter of the task, of its proper type."""
        value = self._of_task.get(name)
        return default if value in (None, "") else coerce(TABLE[name], value)

    def files(self, name: str) -> list[str]:
        """Return the files that a parameter lists."""
        value = self.get(name, "")
        listed = value.split(",") if isinstance(value, str) else value
        return [str(file).strip() for file in listed if str(file).strip()]

    def file(self, name: str) -> str:
        """Return the file that a task needs.

        Raises:
            ParameterError: If there is none.
        """
        files = self.files(name)
        if not files:
            task = self.get("task", "train")
            raise ParameterError.because(
                f"task={task} needs {name}", hint=f"Add {name}=FILE to the config file."
            )
        return files[0]

    @property
    def quiet(self) -> bool:
        """Whether nothing is to be printed."""
        return bool(resolve(self.params, context="predict").verbosity < 0)


def run(arguments: Sequence[str]) -> None:
    """Do what a command line of LightGBM asks for.

    Raises:
        GossamerError: If files or parameters cannot be used.
    """
    pairs: Pairs = []
    if arguments[0] in ("train", "predict"):
        pairs, arguments = [("task", arguments[0])], arguments[1:]
    pairs += [read_pair(argument) for argument in arguments]
    for name, value in list(pairs):
        if CANONICAL.get(plain_name(name)) == "config":
            pairs += read_config(str(value))
    settings = Settings(pairs)
    register_logger(_Printer(settings.quiet))
    with heeding_interrupts():
        _TASKS[settings.get("task", "train")](settings)


class _Printer:
    """Messages of the library, as lines."""

    def __init__(self, is_quiet: bool) -> None:
        self._is_quiet = is_quiet

    def info(self, text: str) -> None:
        if not self._is_quiet:
            click.echo(printable(text, sys.stdout))

    def warning(self, text: str) -> None:
        if not self._is_quiet:
            click.echo(printable(f"warning: {text}", sys.stderr), err=True)


class _Snapshots:
    """A callback that writes the model every so many rounds."""

    order = 100

    def __init__(self, every: int, save: Callable[[Booster, str], None], out: str) -> None:
        self._every, self._save, self._out = every, save, out

    def __call__(self, env: CallbackEnv) -> None:
        n_rounds = env.iteration + 1
        if n_rounds % self._every == 0:
            self._save(env.model, f"{self._out}.snapshot_iter_{n_rounds}")


def _train(settings: Settings) -> None:
    out = settings.get("output_model", _MODEL)
    check_folder(out, "output_model")
    path = settings.file("data")
    data = Dataset(path, params=settings.params)
    valid_files = settings.files("valid")
    valid_sets = [_valid_set(settings, data, file) for file in valid_files]
    format = format_of(out) or "lightgbm"
    kind = settings.get("saved_feature_importance_type", 0)
    if kind not in range(len(_IMPORTANCE)):
        raise ParameterError.because(
            "saved_feature_importance_type is out of range", got=kind, expected="0 or 1"
        )

    def save(model: Booster, name: str) -> None:
        save_trained(model, name, format, _IMPORTANCE[kind])

    every = settings.get("snapshot_freq", -1)
    callbacks: list[Any] = [_Snapshots(every, save, out)] if every > 0 else []
    if not settings.quiet:
        callbacks.append(log_evaluation(int(settings.params.get("metric_freq", 1))))
    if settings.get("save_binary", False):
        _write_binary(data, path)
        for file, valid in zip(valid_files, valid_sets, strict=True):
            _write_binary(valid, file)
    model = train(
        settings.params,
        data,
        valid_sets=valid_sets,
        valid_names=[f"valid_{i}" for i in range(1, len(valid_sets) + 1)],
        init_model=settings.get("input_model", None),
        callbacks=callbacks,
    )
    save(model, out)
    if not settings.quiet:
        click.echo(f"{model.current_iteration()} rounds: {out}")
    if model.was_interrupted:
        raise KeyboardInterrupt


def _valid_set(settings: Settings, data: Dataset, file: str) -> Dataset:
    """Return a validation set; a binary training set does not say which column is the label."""
    params = {name: settings.params[name] for name in _COLUMNS if name in settings.params}
    return data.create_valid(file, params=params)


def _predict(settings: Settings) -> None:
    out = settings.get("output_result", _RESULT)
    check_folder(out, "output_result")
    booster = Booster(model_file=settings.get("input_model", _MODEL))
    params = dict(settings.params)
    resolved = resolve({n: params[n] for n in _PREDICTION if n in params}, context="predict")
    options: dict[str, Any] = {
        option: resolved[name] for name, option in _PREDICTION.items() if name in params
    }
    known = [n for n in params if TABLE[n].group == "Prediction" and n not in _PREDICTION]
    rows = _rows(settings, booster)
    values: Any = booster.predict(
        rows, validate_features=False, **options, **{name: params[name] for name in known}
    )
    parts = [values] if not isinstance(values, list) else values
    dense = [part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in parts]
    table = np.concatenate([part.reshape(len(part), -1) for part in dense], axis=1)
    format = "%d" if options.get("pred_leaf") else "%.17g"
    np.savetxt(out, table, fmt=format, delimiter="\t")
    if not settings.quiet:
        click.echo(f"{len(table):,} predictions: {out}")


def _rows(settings: Settings, booster: Booster) -> Any:
    """Return the columns of the data file that are the model's."""
    resolved = resolve(settings.params, context="dataset")
    source = open_table([settings.file("data")], True if resolved.header else None)
    source.be_like(booster.num_feature())
    n_features = booster.num_feature()
    if source.names is None or source.n_columns == n_features:
        return read_table(source)
    roles = find_roles(source.names, {}, asked_by_params(resolved), {}, source.what)
    if len(roles.features) != n_features and not resolved.predict_disable_shape_check:
        raise DataError.because(
            f"{source.what} does not have the columns of the model",
            found=f"{len(roles.features)} besides the label",
            expected=str(n_features),
            hint="label_column, weight_column, group_column and ignore_column say which "
            "columns are not features.",
        )
    return read_table(source, [source.names[column] for column in roles.features])


def _refit(settings: Settings) -> None:
    out = settings.get("output_model", _MODEL)
    check_folder(out, "output_model")
    booster = Booster(model_file=settings.get("input_model", _MODEL))
    data = Dataset(settings.file("data"), params=settings.params).construct()
    refitted = booster.refit(
        _rows(settings, booster),
        data.get_label(),
        settings.get("refit_decay_rate", TABLE["refit_decay_rate"].default),
        weight=data.get_weight(),
        group=data.get_group(),
        init_score=data.get_init_score(),
        validate_features=False,
    )
    refitted.save_model(out, format=format_of(out) or "lightgbm")
    if not settings.quiet:
        click.echo(f"{refitted.num_trees()} trees refitted: {out}")


def _convert_model(settings: Settings) -> None:
    language = settings.get("convert_model_language", "cpp")
    if language not in ("c", "cpp"):
        raise NotSupportedError.because(
            "convert_model_language is not supported", got=language, expected="cpp or c"
        )
    out = settings.get("convert_model", TABLE["convert_model"].default)
    check_folder(out, "convert_model")
    Booster(model_file=settings.get("input_model", _MODEL)).to_c(out)
    if not settings.quiet:
        click.echo(f"Source of the model: {out}")


def _save_binary(settings: Settings) -> None:
    path = settings.file("data")
    data = Dataset(path, params=settings.params)
    _write_binary(data, path)
    for file in settings.files("valid"):
        _write_binary(_valid_set(settings, data, file), file)


def _write_binary(data: Dataset, path: str) -> None:
    data.save_binary(f"{path}.bin")


_TASKS: Final[dict[str, Callable[[Settings], None]]] = {
    "train": _train,
    "predict": _predict,
    "refit": _refit,
    "convert_model": _convert_model,
    "save_binary": _save_binary,
}
