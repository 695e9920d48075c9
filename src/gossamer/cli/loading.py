"""From files and options to data sets, labels and parameters: what `train` and `cv` begin with."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import numpy.typing as npt

from gossamer.cli.options import Console, columns_option, parameter_options, text_options_of
from gossamer.cli.read import (
    find_column,
    notes_of,
    open_table,
    read_column,
    read_table,
    some_of,
)
from gossamer.cli.settings import Settings, columns_of
from gossamer.cli.split import split_rows
from gossamer.cli.task import TASKS, Task, find_task, is_present
from gossamer.data import Dataset
from gossamer.data.chunks.source import ChosenRows, Source
from gossamer.data.dataset import built_data
from gossamer.errors import DataError, ParameterError
from gossamer.metrics.order import metric_of_two_classes
from gossamer.params import CANONICAL, resolve, warn_of_unused
from gossamer.params.check_method import keeps_raw_values
from gossamer.params.traits import Kind, traits_of

Array = npt.NDArray[Any]
_ROUNDS: Final = 100
_MOST_ROUNDS: Final = 1000


def data_options(command: Any) -> Any:
    """The options of `train` and `cv` that say what is learnt from which columns."""
    options: tuple[Callable[[Any], Any], ...] = (
        click.option("--target", "-t", metavar="COL", help="Column to predict: name or position."),
        click.option(
            "--missing-target",
            type=click.Choice(["drop", "error"]),
            default="drop",
            show_default=True,
            help="What to do with rows that have no target.",
        ),
        click.option("--weight", metavar="COL", help="Column with row weights."),
        click.option(
            "--query", metavar="COL", help="Column with the query of each row, for ranking."
        ),
        columns_option("--ignore", help="Columns to ignore; repeatable, or separated by commas."),
        columns_option(
            "--categorical", help="Numeric columns that are categories. Text always is."
        ),
        click.option(
            "--rounds",
            "-n",
            type=click.IntRange(min=1),
            metavar="N",
            help=f"Number of rounds.  [default: {_ROUNDS}; with --early-stopping at most "
            f"{_MOST_ROUNDS}]",
        ),
        click.option(
            "--task",
            type=click.Choice(TASKS),
            default="auto",
            help="Kind of model. Default: inferred from the target.",
        ),
        click.option("--objective", help="Loss to minimise. Default: depends on the task."),
        click.option(
            "--metric", help="Metrics, separated by commas. Default: depends on the task."
        ),
        click.option(
            "--early-stopping",
            type=click.IntRange(min=1),
            metavar="N",
            help="Stop if the metric has not improved for N rounds.",
        ),
        parameter_options,
    )
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True, eq=False)
class Roles:
    """Which columns are what, by name."""

    target: str | None
    weight: str | None
    query: str | None
    ignore: list[str]
    categorical: list[str]

    @classmethod
    def of(cls, source: Source, settings: Settings) -> Roles:
        """Look up the columns that options name.

        Raises:
            DataError: If one is not there.
        """

        def find(option: str) -> str | None:
            wanted = settings.options.get(option)
            return None if wanted is None else find_column(source, wanted, f"--{option}")

        target = find("target")
        if target is None and source.names is not None:
            raise click.UsageError(
                "--target is missing. Name the column to predict. The columns are "
                f"{some_of(source.names)}."
            )
        ignore, categorical = (
            [find_column(source, c, f"--{option}") for c in columns_of(settings.options[option])]
            for option in ("ignore", "categorical")
        )
        return cls(target, find("weight"), find("query"), ignore, categorical)


@dataclass(eq=False)
class Loaded:
    """A file that is ready to be trained on.

    Attributes:
        source: Where its rows are, without those that have no target.
        data: All its rows.
        task: What is learnt.
        params: Parameters of training.
        roles: Which columns are what.
        seconds: Time it took.
    """

    source: Source
    data: Dataset
    task: Task
    params: dict[str, Any]
    roles: Roles
    seconds: float

    def label(self) -> Array:
        """The labels as numbers."""
        found: Array = np.asarray(self.data.get_label())
        return found

    def split(self, share: float, seed: int, *, is_last: bool) -> tuple[Dataset, Dataset]:
        """Set a share of the rows apart."""
        sizes = self.data.get_group() if self.roles.query or self._has_queries() else None
        rows = split_rows(
            self.data.num_data(),
            share,
            seed,
            classes=None if self.task.classes is None else self.label(),
            query_sizes=sizes,
            is_last=is_last,
        )
        train, valid = (self.data.subset(part) for part in rows)
        return train, valid

    def _has_queries(self) -> bool:
        return self.data.get_group() is not None


def load(settings: Settings, console: Console, *, is_validated: bool) -> Loaded:
    """Read files, find out the task, and put the rows into bins.

    Raises:
        GossamerError: If files, columns or parameters cannot be used.
    """
    if not settings.files:
        raise click.UsageError("Which file? `gossamer describe FILE` shows what is in one.")
    begin = time.perf_counter()
    files = settings.files
    for file in files[1:]:
        if re.fullmatch(r"\w+", file) and not Path(file).exists():
            raise click.UsageError(
                f"There is no file {file!r}. If it is the column to predict: --target {file}."
            )
    source = open_table(files, settings.header, options=text_options_of(settings.options))
    roles = Roles.of(source, settings)
    params = training_params(settings)
    console.say(f"Reading {source.what} ...")
    if roles.target is None:
        data, task = _load_svm(files, source, params, settings)
    else:
        what = f"the target {roles.target!r}"
        source, values = with_target(source, roles.target, settings, console)
        task = _task(values, what, settings, params, has_queries=roles.query is not None)
        params = task.fill_in(params, is_validated=is_validated)
        label = task.encode(values, what)
        data = make_dataset(source, roles, label, params)
    if task.name == "ranking" and roles.query is None and data.get_group() is None:
        raise click.UsageError(
            "Ranking needs queries: --query names the column with the query of each row."
        )
    params = task.fill_in(params, is_validated=is_validated)
    resolved = resolve(params)  # fails now rather than after binning
    if (metric := metric_of_two_classes(resolved, data.get_label())) is not None:
        raise ParameterError.because(
            f"the metric {metric} is for two classes, and the target has other numbers",
            hint="Use --metric rmse or l1, or make classes of the target first.",
        )
    console.say(f"Task: {task.title} ({task.reason}).")
    is_asked = any(CANONICAL.get(name) == "verbosity" for name in settings.params)
    warn_of_unused(params if is_asked else {**params, "verbosity": 0})
    traits = traits_of(resolved.objective)
    if traits.kind is Kind.BINARY and traits.gives_probabilities and task.named_classes:
        console.say(f"Predictions are probabilities of {str(task.named_classes[1])!r}.")
    built_data(data, resolved)
    for line in notes_of(source):
        console.say(line)
    return Loaded(source, data, task, params, roles, time.perf_counter() - begin)


def with_target(
    source: Source, target: str, settings: Settings, console: Console
) -> tuple[Source, Array]:
    """Return the rows that have a target, and the target.

    Raises:
        DataError: If some have none, and --missing-target is "error".
    """
    values = read_column(source, target)
    there = is_present(values)
    if there.all():
        return source, values
    n_missing, n_rows = int((~there).sum()), len(values)
    text = f"{n_missing:,} of {n_rows:,} rows of {source.what} have no target {target!r}"
    if settings.missing_target == "error":
        raise DataError.because(text, hint="Use --missing-target drop to leave them out.")
    if n_missing < n_rows:
        console.say(f"{text}. They are dropped (--missing-target error stops instead).")
    return ChosenRows(source, there), values[there]


def rounds_of(settings: Settings) -> int:
    """Return how many rounds to train: more where early stopping ends them."""
    default = _ROUNDS if settings.early_stopping is None else _MOST_ROUNDS
    return int(settings.rounds or default)


def training_params(settings: Settings) -> dict[str, Any]:
    """Return the parameters, those that have options of their own included.

    Raises:
        ParameterError: If one is given twice.
    """
    params: dict[str, Any] = {}
    for name, value in settings.params.items():
        canonical = name if name == "alpha" else CANONICAL.get(name, name)
        if canonical in params:
            raise ParameterError.because("a parameter is given twice", got=name)
        params[canonical] = value
    by_option = {
        "objective": settings.objective,
        "metric": settings.metric,
        "seed": settings.seed,
        "num_threads": settings.threads,
        "early_stopping_round": settings.options.get("early_stopping"),
    }
    params |= {name: value for name, value in by_option.items() if value is not None}
    params.setdefault("verbosity", -1)  # the command itself says what there is to say
    return params


def make_dataset(
    source: Source,
    roles: Roles,
    label: Array,
    params: dict[str, Any],
    reference: Dataset | None = None,
) -> Dataset:
    """Make a data set of files; read in chunks, unless training needs the values themselves."""
    dropped = [name for name in (roles.target, *roles.ignore) if name is not None]
    own: dict[str, Any] = {"ignore_column": [f"name:{dropped[0]}", *dropped[1:]]}
    table: Any = read_table(source) if keeps_raw_values(resolve(params)) else source
    fields: dict[str, Any] = {"weight": roles.weight, "query": roles.query}
    if reference is not None:  # takes over what columns are
        there = set(source.names or ())
        fields = {field: name if name in there else None for field, name in fields.items()}
        own.pop("ignore_column")  # these columns need not be there
        return Dataset(table, label, reference=reference, params=own, **fields)
    categorical: Any = "auto"
    if roles.categorical:  # in addition to text, which always is
        others = {*dropped, roles.weight, roles.query, *roles.categorical}
        text = [n for i, n in enumerate(source.names or ()) if source.may_have_levels(i)]
        categorical = [*roles.categorical, *(name for name in text if name not in others)]
    return Dataset(
        table, label, categorical_feature=categorical, params={**params, **own}, **fields
    )


def _task(
    values: Array, what: str, settings: Settings, params: dict[str, Any], *, has_queries: bool
) -> Task:
    num_class = params.get("num_class")
    return find_task(
        values,
        what,
        settings.task,
        settings.objective,
        has_queries,
        None if num_class is None else int(num_class),
    )


def _load_svm(
    files: Sequence[str], source: Source, params: dict[str, Any], settings: Settings
) -> tuple[Dataset, Task]:
    """LibSVM files say themselves what the label is."""
    table: Any = list(files) if len(files) > 1 else files[0]
    data = Dataset(table, params=dict(params)).construct()
    label = np.asarray(data.get_label(), dtype=np.float64)
    has_queries = data.get_group() is not None
    task = _task(label, "the label", settings, params, has_queries=has_queries)
    data.set_label(task.encode(label, "the label"))
    return data, task
