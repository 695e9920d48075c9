"""`gossamer describe`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from gossamer.cli.column_facts import describe_columns
from gossamer.cli.findings import find_in_source, findings_text
from gossamer.cli.models import DATA_SUFFIXES, classes_of, load_model
from gossamer.cli.options import Console, table_options, text_options_of
from gossamer.cli.read import find_column, notes_of, open_table, read_column
from gossamer.cli.task import find_task, is_present
from gossamer.cli.terminal import Style, fit_lines, format_size
from gossamer.cli.text_table import format_facts, format_number, format_table
from gossamer.data.chunks.source import Source
from gossamer.errors import DataError, GossamerError, ModelFileError
from gossamer.model import Booster

_EPILOG = """\
\b
Examples:
  gossamer describe flights.parquet
  gossamer describe flights.csv --target delayed     (what would be learnt?)
  gossamer describe model.gsm
"""


@click.command("describe", epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--target", "-t", metavar="COL", help="Show the task if this column were the target.")
@table_options
def command(
    files: tuple[str, ...],
    target: str | None,
    header: bool | None,
    as_json: bool,
    quiet: bool,
    **text: Any,
) -> None:
    """Summarise a data file (columns, types, missing values, ranges) or a model file."""
    console = Console(is_quiet=quiet, as_json=as_json)
    style = Style.of(sys.stdout)
    model = _as_model(files)
    if model is not None:
        facts = model_facts(model, files[0])
        console.show(_model_text(facts, style), facts)
        return
    source = open_table(files, header, options=text_options_of(text))
    facts = _data_facts(source, files, target)
    console.show(_data_text(facts, style), facts)


def _as_model(files: tuple[str, ...]) -> Booster | None:
    """Return the model, if the file holds one."""
    path = Path(files[0])
    is_data = path.suffix.lower() in DATA_SUFFIXES or len(files) > 1 or not path.is_file()
    if is_data:
        return None
    try:
        return load_model(files[0])
    except ModelFileError:
        try:
            open_table(files)
        except GossamerError:
            pass
        else:
            if path.suffix.lower() not in (".gsm", ".safetensors", ".json", ".ubj", ".onnx"):
                return None
        raise


def model_facts(model: Booster, path: str) -> dict[str, Any]:
    """Return what a model file holds."""
    inner = model.model
    gain = model.feature_importance("gain")
    share = gain / max(gain.sum(), 1e-300)
    order = (-share).argsort(kind="stable")
    names = model.feature_name()
    return {
        "kind": "model",
        "file": path,
        "bytes": Path(path).stat().st_size,
        "objective": inner.objective.name,
        "classes": classes_of(model),
        "rounds": model.current_iteration(),
        "trees": model.num_trees(),
        "columns": len(names),
        "text_columns": [] if model.levels is None else [names[c] for c in model.levels.columns],
        "parameters": dict(model.params),
        "importance": [{"column": names[i], "gain": float(share[i])} for i in order],
    }


def _model_text(facts: dict[str, Any], style: Style) -> str:
    shown: dict[str, object] = {
        "model": f"{facts['file']} ({format_size(facts['bytes'])})",
        "objective": facts["objective"],
    }
    if facts["classes"] is not None:
        shown["classes"] = ", ".join(map(str, facts["classes"][:10]))
    shown["rounds"] = f"{facts['rounds']} ({facts['trees']} trees)"
    shown["columns"] = facts["columns"]
    if facts["text_columns"]:
        shown["categories"] = ", ".join(facts["text_columns"][:10])
    if facts["parameters"]:
        pairs = (f"{name}={value}" for name, value in facts["parameters"].items())
        shown["parameters"] = ", ".join(pairs)
    top = facts["importance"][:10]
    highest = max([each["gain"] for each in top], default=0) or 1
    rows = [
        (each["column"], f"{each['gain']:.1%}", style.draw_bar(each["gain"] / highest))
        for each in top
    ]
    return f"{format_facts(shown)}\n\n{format_table(['column', 'gain', ''], rows, style)}"


def _data_facts(source: Source, files: tuple[str, ...], target: str | None) -> dict[str, Any]:
    n_rows, columns = describe_columns(source)
    facts: dict[str, Any] = {
        "kind": "data",
        "files": list(files),
        "rows": n_rows,
        "columns": columns,
    }
    facts["notes"] = notes_of(source)
    if n_rows == 0:
        raise DataError(f"{source.what} has no rows.")
    features, label = None, None
    if target is not None:
        name = find_column(source, target, "--target")
        values = read_column(source, name)
        there = is_present(values)
        facts["task"] = {"target": name, "missing": int((~there).sum())}
        try:
            task = find_task(values[there], f"the target {name!r}")
        except DataError as error:  # the file is described all the same
            facts["task"] |= {"task": None, "reason": str(error)}
        else:
            facts["task"] |= {"task": task.name, "reason": task.reason}
            if there.all():
                label = task.encode(values, name)
        features = [column for column in source.names or () if column != name]
    facts["findings"] = [each.text for each in find_in_source(source, features, label)]
    return facts


def _data_text(facts: dict[str, Any], style: Style) -> str:
    rows = []
    for each in facts["columns"]:
        missing = each["missing"] / facts["rows"]
        if each["type"] in ("text", "category"):
            values = ", ".join(f"{v} ({c / facts['rows']:.0%})" for v, c in each["top"])
            values += ", ..." if (each["distinct"] or 1e9) > len(each["top"]) else ""
        elif each["min"] is None:
            values = ""
        else:
            ends = [_shown(each[name]) for name in ("min", "max")]
            values = f"{ends[0]} to {ends[1]}"
            if each.get("mean") is not None:
                values += f", mean {_shown(each['mean'])}"
        distinct = "many" if each["distinct"] is None else f"{each['distinct']}"
        share = f"{missing:.1%}" if each["missing"] else ""
        rows.append((each["name"], each["type"], share, distinct, values))
    table = format_table(["column", "type", "missing", "distinct", "values"], rows, style)
    head = f"{', '.join(facts['files'])}: {facts['rows']:,} rows, {len(rows)} columns"
    parts = [style.bold(head), "", fit_lines(table, sys.stdout)]
    if facts["notes"]:
        parts += ["", *facts["notes"]]
    if "task" in facts:
        parts += ["", _target_text(facts["task"], facts["rows"])]
    if facts["findings"]:
        parts += ["", findings_text(facts["findings"])]
    return "\n".join(parts)


def _target_text(found: dict[str, Any], n_rows: int) -> str:
    if found["task"] is None:
        text = f"Target {found['target']}: nothing can be learnt from it. {found['reason']}"
    else:
        text = f"Target {found['target']}: {found['task']} ({found['reason']})."
    if found["missing"]:
        text += (
            f"\n{found['missing']:,} of {n_rows:,} rows have no target: `train` leaves them out."
        )
    return text


def _shown(value: Any) -> str:
    return format_number(value) if isinstance(value, (int, float)) else str(value)
