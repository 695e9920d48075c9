"""What a command was asked to do: options, parameters and files, from wherever they come.

What counts more wins: options, then `--set` and key=value, then the config file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from gossamer.cli.config_file import Pairs, read_config
from gossamer.errors import ParameterError
from gossamer.params import CANONICAL, TABLE
from gossamer.params.suggest import did_you_mean

# Parameters that are options here: LightGBM's name -> ours.
OPTION_OF: Final = {
    "data": "data",
    "valid": "valid",
    "label_column": "target",
    "weight_column": "weight",
    "group_column": "query",
    "ignore_column": "ignore",
    "categorical_feature": "categorical",
    "num_iterations": "rounds",
    "early_stopping_round": "early_stopping",
    "num_threads": "threads",
    "seed": "seed",
    "objective": "objective",
    "metric": "metric",
    "header": "header",
    "output_model": "out",
    "output_result": "out",
    "input_model": "init_model",
    "config": "config",
}
_TRUE: Final = ("true", "1", "+", "yes")


@dataclass(frozen=True)
class Settings:
    """What was asked for.

    Attributes:
        options: By the name of the option; `data` has the files.
        params: Parameters of training, as given.
    """

    options: dict[str, Any]
    params: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.options[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def files(self) -> list[str]:
        """The data files."""
        return list(self.options["data"])


class ParameterCommand(click.Command):
    """A command with parameters; those who write them as options learn how they are written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = plain_name(error.option_name)
            if name not in CANONICAL:
                raise
            raise click.UsageError(
                f"{name} is a parameter: write {name}=VALUE after the file, or use --set.",
                ctx,
            ) from None


def gather(
    ctx: click.Context, arguments: Iterable[str], sets: Iterable[str], config: str | None
) -> Settings:
    """Put together options, key=value and the config file.

    Args:
        ctx: Has the options.
        arguments: Files, and key=value.
        sets: What `--set` was given.
        config: The config file.

    Raises:
        ParameterError: If a name is unknown, or a value cannot be used.
        OSError: If the config file cannot be read.
    """
    files, pairs = split_arguments(arguments)
    pairs = pairs + [read_pair(text) for text in sets]
    for name, value in pairs:
        if CANONICAL.get(plain_name(name)) == "config":  # as in LightGBM: config=train.conf
            config = config or str(value)
    known = {p.name: p for p in ctx.command.params if p.name is not None}
    options = dict(ctx.params)
    is_given = {
        name for name in known if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    options["data"] = files
    if files:
        is_given.add("data")
    params: dict[str, Any] = {}
    found = read_config(config) if config else []
    for part in (found, pairs):
        for name, value in part:
            _use(ctx, known, options, params, is_given, name, value)
    return Settings(options, params)


def _use(
    ctx: click.Context,
    known: dict[str, click.Parameter],
    options: dict[str, Any],
    params: dict[str, Any],
    is_given: set[str],
    name: str,
    value: Any,
) -> None:
    """Use one pair of a name and a value."""
    plain = plain_name(name)
    canonical = CANONICAL.get(plain)
    option = plain if plain in known else OPTION_OF.get(canonical or "")
    if canonical == "task" and _is_command(value):
        _check_task(ctx, value)
    elif option == "config":
        pass
    elif option == "data":
        if "data" not in is_given:
            options["data"] = _files(name, value)
    elif option in known and option != "arguments":
        if option not in is_given:
            options[option] = _cast(ctx, known[option], value, name)
    elif canonical is None:
        names = [*CANONICAL, *(n.replace("_", "-") for n in known if n not in ("sets", "as_json"))]
        raise ParameterError.because(
            "there is no such parameter or option",
            got=name,
            hint=did_you_mean(plain, names) or "`gossamer params` lists the parameters.",
        )
    elif option is None:
        params[plain] = value


def split_arguments(arguments: Iterable[str]) -> tuple[list[str], Pairs]:
    """Tell files from key=value.

    Example:
        >>> split_arguments(["a.csv", "num_leaves=7", "year=2024/a.csv"])
        (['a.csv', 'year=2024/a.csv'], [('num_leaves', '7')])
    """
    files, pairs = [], []
    for argument in arguments:
        is_pair = re.match(r"[A-Za-z_][\w:-]*=", argument) is not None
        name, _, value = argument.partition("=")
        # Folders of Hive partitions are called key=value too.
        if is_pair and not ("/" in argument and CANONICAL.get(plain_name(name)) is None):
            is_pair = not Path(argument).exists()
        else:
            is_pair = False
        if is_pair:
            pairs.append((name, value))
        else:
            files.append(argument)
    return files, pairs


def read_pair(text: str) -> tuple[str, Any]:
    """Read key=value.

    Raises:
        ParameterError: If it is something else.

    Example:
        >>> read_pair("num_leaves = 7")
        ('num_leaves', '7')
    """
    name, found, value = text.partition("=")
    if not found or not name.strip():
        raise ParameterError.because(
            "--set cannot be used", got=text, expected="key=value, as num_leaves=63"
        )
    return name.strip(), value.strip()


def plain_name(name: str) -> str:
    """Return a name as parameters are written.

    Example:
        >>> plain_name("--num-leaves")
        'num_leaves'
    """
    return name.strip().lstrip("-").replace("-", "_").lower() if ":" not in name else name.strip()


def _is_command(value: Any) -> bool:
    return str(value) in TABLE["task"].choices or str(value) in ("train", "predict", "refit")


def _check_task(ctx: click.Context, value: Any) -> None:
    """LightGBM's `task` is our command."""
    spellings = {"training": "train", "prediction": "predict", "test": "predict"}
    asked = spellings.get(str(value), str(value))
    if asked != ctx.info_name and not (asked == "train" and ctx.info_name == "cv"):
        raise ParameterError.because(
            f"the config asks for task={value}, and this is `gossamer {ctx.info_name}`",
            hint=f"Use `gossamer {asked}`."
            if asked in ("train", "predict")
            else f"Use `gossamer config=FILE task={asked}`.",
        )


def _items(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [item.strip() for item in value.split(",") if item.strip()]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _files(name: str, value: Any) -> list[str]:
    found = _items(value)
    for item in found:
        if not isinstance(item, str):
            raise ParameterError.because(
                f"{name} cannot be used", got=item, expected="names of files"
            )
    return found


def _cast(ctx: click.Context, option: click.Parameter, value: Any, name: str) -> Any:
    """Read the value of an option from a config file, as click reads the command line."""
    if isinstance(value, str) and value.startswith("name:"):
        value = value.removeprefix("name:")
    if option.multiple:
        value = [str(item) for item in _items(value)]
    elif isinstance(option, click.Option) and option.is_flag:
        value = value if isinstance(value, bool) else str(value).lower() in _TRUE
    elif isinstance(value, (list, tuple)):
        value = ",".join(map(str, value))
    elif not isinstance(value, (bool, int, float)):
        value = str(value)
    try:
        return option.type_cast_value(ctx, value)
    except click.UsageError as error:
        raise ParameterError.because(
            f"{name} cannot be used ({error.message.rstrip('.')})", got=value
        ) from None


def columns_of(values: Iterable[str]) -> list[str]:
    """Return the columns of an option that may be given several times, or once with commas.

    Example:
        >>> columns_of(["id", "day,month"])
        ['id', 'day', 'month']
    """
    return [name.strip() for value in values for name in value.split(",") if name.strip()]
