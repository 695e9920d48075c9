"""`gossamer params`."""

from __future__ import annotations

import re
import sys
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from gossamer.cli.options import debug_option, to_json
from gossamer.cli.settings import OPTION_OF
from gossamer.cli.terminal import fit_lines
from gossamer.cli.text_table import format_facts, format_table
from gossamer.errors import ParameterError
from gossamer.params.param import KINDS, Param
from gossamer.params.peer_names import names_in_lightgbm, names_in_xgboost
from gossamer.params.suggest import did_you_mean
from gossamer.params.table import CANONICAL, TABLE

_EPILOG = """\
\b
Examples:
  gossamer params num_leaves
  gossamer params eta                 (any library's name will do)
  gossamer params --search categor
  gossamer params --changed model.gsm
"""


@click.command("params", epilog=_EPILOG)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option(
    "--search", "-s", metavar="WORD", help="Parameters with this word in name or description."
)
@click.option("--changed", metavar="FILE", help="Only parameters that a model or config file sets.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def command(names: tuple[str, ...], search: str | None, changed: str | None, as_json: bool) -> None:
    """Look up parameters by name or by a word, or show the parameters of a model.

    Without arguments, all parameters are listed, one per line.
    """
    if bool(names) + (search is not None) + (changed is not None) > 1:
        raise click.UsageError("NAME, --search and --changed cannot be combined.")
    if changed is not None:
        values = changed_values(changed)
        click.echo(to_json(values) if as_json else _changed_text(values))
        return
    found = [_find(name) for name in names]
    if search is not None:
        found = [param for param in TABLE.values() if _matches(param, search.lower())]
        if not found:
            raise ParameterError.because("no parameter matches this word", got=search)
    if as_json:
        click.echo(to_json([facts_of(param) for param in found or TABLE.values()]))
    elif names:
        click.echo("\n\n".join(describe(param) for param in found))
    else:
        click.echo(_list(found or list(TABLE.values())))


def _find(name: str) -> Param:
    plain = name.strip().lstrip("-").replace("-", "_")
    if plain not in CANONICAL:
        raise ParameterError.because(
            "there is no such parameter",
            got=name,
            hint=did_you_mean(plain, CANONICAL)
            or f"Try `gossamer params --search {plain.split('_')[0]}`.",
        )
    return TABLE[CANONICAL[plain]]


def _matches(param: Param, word: str) -> bool:
    texts = (param.name, *param.aliases, param.doc, param.group, *param.choices)
    return any(word in text.lower() for text in texts)


def facts_of(param: Param) -> dict[str, Any]:
    """Return everything that the table has of a parameter."""
    return {
        "name": param.name,
        "group": param.group,
        "aliases": list(param.aliases),
        "type": param.kind,
        "default": param.default,
        "range": param.range_text or None,
        "choices": list(param.choices) or None,
        "lightgbm": next(iter(names_in_lightgbm(param)), None),
        "xgboost": names_in_xgboost(param),
        "supported": param.supported,
        "doc": param.doc,
    }


def describe(param: Param) -> str:
    """Return a parameter for people.

    Example:
        >>> print(describe(TABLE["num_leaves"]).splitlines()[0])
        num_leaves
    """
    facts: dict[str, object] = {
        "type": KINDS[param.kind].expected + (f" {param.range_text}" if param.range_text else ""),
        "default": _shown(param.default),
    }
    if param.choices:
        facts["values"] = _wrap(", ".join(c for c in param.choices if param.supports(c)), 11)
    if param.aliases:
        facts["aliases"] = _wrap(", ".join(param.aliases), 11)
    facts["LightGBM"] = next(iter(names_in_lightgbm(param)), "has none")
    facts["XGBoost"] = ", ".join(names_in_xgboost(param)) or "has none"
    facts["group"] = param.group
    doc = param.doc
    if param.name in OPTION_OF:
        option = OPTION_OF[param.name].replace("_", "-")
        facts["option"] = f"gossamer train {'FILE' if option == 'data' else f'--{option}'}"
    elif not param.supported:
        doc = f"Not in this version. {param.doc}"
    return f"{param.name}\n{textwrap.indent(_wrap(doc, 2), '  ')}\n\n{format_facts(facts)}"


def plain_text(doc: str) -> str:
    """Return a doc line without Markdown.

    Example:
        >>> plain_text("See `dart`, and [modes](modes.md).")
        'See dart, and modes.'
    """
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", doc).replace("`", "")


def _wrap(text: str, indent: int) -> str:
    lines = textwrap.wrap(plain_text(text), 88 - indent)
    return ("\n" + " " * (indent + 1)).join(lines) if indent > 2 else "\n".join(lines)


def _shown(value: object) -> str:
    if value is None or value in ("", ()):
        return "none"
    if isinstance(value, tuple) and len(value) > 5:
        return f"{', '.join(map(str, value[:4]))}, ..."
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(params: list[Param]) -> str:
    parts = []
    for group, some in groupby(params, key=lambda param: param.group):
        rows = [(p.name, _shown(p.default), _first_sentence(p)) for p in some]
        table = fit_lines(format_table(["", "", ""], rows), sys.stdout)
        parts.append(f"{group}\n{table}")
    return "\n\n".join(parts)


def _first_sentence(param: Param) -> str:
    doc = plain_text(param.doc).partition(". ")[0].rstrip(".")
    doc = doc if len(doc) <= 70 else doc[:67] + "..."
    return doc if param.supported or param.name in OPTION_OF else f"(not yet) {doc}"


def changed_values(path: str) -> dict[str, Any]:
    """Return the parameters of a model or a config file whose values are not the defaults.

    Raises:
        ParameterError: If a config file cannot be used.
        ModelFileError: If a model cannot be read.
    """
    from gossamer.params.resolve import resolve

    if Path(path).suffix.lower() in (".toml", ".conf", ".cfg", ".ini"):
        from gossamer.cli.config_file import read_config

        pairs = ((n.replace("-", "_"), v) for n, v in read_config(path))
        given = {name: value for name, value in pairs if name in CANONICAL}
    else:
        from gossamer.cli.models import load_model

        given = load_model(path).params
    resolved = resolve(
        {
            n: v
            for n, v in given.items()
            if (param := TABLE[CANONICAL[n]]).supported and not param.is_file
        },
        context="predict",
    )
    return {
        name: resolved[name]
        for name, param in TABLE.items()
        if name in resolved.given and resolved[name] != param.default
    }


def _changed_text(values: dict[str, Any]) -> str:
    if not values:
        return "All parameters have their defaults."
    rows = [(name, _shown(value), _shown(TABLE[name].default)) for name, value in values.items()]
    return format_table(["parameter", "value", "default"], rows)
