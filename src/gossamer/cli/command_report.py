"""`gossamer report`."""

from __future__ import annotations

from typing import Any

import click

from gossamer.cli.models import classes_of, load_model, text_columns
from gossamer.cli.options import Console, table_options, text_options_of
from gossamer.cli.read import check_folder, find_column, open_table, read_column, read_table
from gossamer.cli.task import Task, is_present
from gossamer.data.chunks.source import ChosenRows

_EPILOG = """\
\b
Examples:
  gossamer report model.gsm test.parquet --target delayed --out report.html
  gossamer report model.gsm --out report.html

Pass rows that the model was not trained on. On its training rows, any model looks better than it
is.
"""


@click.command("report", epilog=_EPILOG)
@click.argument("model", metavar="MODEL")
@click.argument("files", nargs=-1, metavar="[FILE...]")
@click.option(
    "--target", "-t", metavar="COL", help="Column with the true values, to evaluate predictions."
)
@click.option("--query", metavar="COL", help="Column with the query of each row.")
@click.option(
    "--out",
    "-o",
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="HTML file to write.",
)
@click.option("--title", help="Heading of the page.")
@table_options
def command(
    model: str,
    files: tuple[str, ...],
    target: str | None,
    query: str | None,
    out: str,
    title: str | None,
    header: bool | None,
    as_json: bool,
    quiet: bool,
    **text: Any,
) -> None:
    """Write a report about a model, as a single HTML file.

    Without data files, the report shows what is stored in the model. With data files it also shows
    predictions, Shapley values and partial dependence, and with --target how good the predictions
    are.
    """
    console = Console(is_quiet=quiet, as_json=as_json)
    check_folder(out)
    booster = load_model(model)
    rows = label = queries = None
    if files:
        source = open_table(files, header, text_columns(booster), text_options_of(text))
        source = source.be_like(booster.num_feature())
        if target is not None:
            name = find_column(source, target, "--target")
            classes = classes_of(booster)
            task = Task("binary", "", None if classes is None else tuple(classes))
            values = read_column(source, name)
            there = is_present(values)
            if not there.all():
                console.say(f"{int((~there).sum()):,} rows have no target: they are left out.")
                source, values = ChosenRows(source, there), values[there]
            label = task.encode(values, f"the target {name!r}")
        elif source.names is None:  # LibSVM has labels of its own
            label = source.take_fields().get("label")
        if query is not None:
            queries = read_column(source, find_column(source, query, "--query"))
        rows = read_table(source, booster.feature_name())
    elif target is not None or query is not None:
        raise click.UsageError("--target and --query are columns of a file: name the file first.")
    extra: dict[str, Any] = {} if title is None else {"title": title}
    extra |= {"target": target, "source": ", ".join(files) or None}
    write_report(booster, out, rows, label, queries, **extra)
    console.show("" if quiet else out, {"report": out})


def write_report(
    model: Any, path: str, rows: Any, label: Any, query: Any = None, **options: Any
) -> None:
    """Write a page about a model.

    Args:
        model: The model.
        path: Where to.
        rows: Rows to explain and predict; None: none.
        label: Their labels; None: not known.
        query: Their queries.
        **options: Of `Booster.report`.
    """
    if model.class_names is not None:
        options["class_names"] = [str(name) for name in model.class_names]
    if query is not None:
        options["query"] = query
    model.report(path, rows, label, **options)
