"""`gossamer predict`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from gossamer.cli.interrupts import heeding_interrupts
from gossamer.cli.models import (
    classes_of,
    gives_probabilities,
    load_model,
    output_names,
    text_columns,
)
from gossamer.cli.options import (
    Console,
    columns_option,
    table_options,
    text_options_of,
    threads_option,
)
from gossamer.cli.read import check_folder, chunks_of, find_column, notes_of, open_table
from gossamer.cli.settings import columns_of
from gossamer.cli.terminal import format_time
from gossamer.cli.write import STDOUT, TableWriter
from gossamer.data.chunks.source import Source
from gossamer.errors import NotSupportedError
from gossamer.model import Booster
from gossamer.model.prediction.predict_chunks import find_features

Array = npt.NDArray[Any]

_EPILOG = """\
\b
Examples:
  gossamer predict model.gsm new_flights.parquet
  gossamer predict model.gsm new_flights.csv --labels --keep id --out predictions.csv
  gossamer predict model.gsm "logs/*.parquet" --contrib --out why.parquet
  zcat new_flights.csv.gz | gossamer predict model.gsm -

Columns are found by name, and the file may have other columns. It is read and predicted in chunks,
so it can be larger than memory.
"""


@click.command("predict", epilog=_EPILOG)
@click.argument("model", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--out",
    "-o",
    default=STDOUT,
    metavar="FILE",
    help="File to write (.parquet, .feather, .csv, .tsv). Default: CSV to standard output.",
)
@columns_option("--keep", help="Columns of the file to copy to the output, such as ids.")
@click.option("--labels", is_flag=True, help="Add the name of the most probable class.")
@click.option("--raw", is_flag=True, help="Write raw scores instead.")
@click.option("--leaf", is_flag=True, help="Write the leaf of every tree instead.")
@click.option("--contrib", is_flag=True, help="Write Shapley values instead.")
@click.option(
    "--rounds", type=click.IntRange(min=1), metavar="N", help="Use the first N rounds of the model."
)
@threads_option
@table_options
def command(
    model: str,
    files: tuple[str, ...],
    out: str,
    keep: tuple[str, ...],
    labels: bool,
    raw: bool,
    leaf: bool,
    contrib: bool,
    rounds: int | None,
    threads: int | None,
    header: bool | None,
    as_json: bool,
    quiet: bool,
    **written: Any,
) -> None:
    """Predict the rows of a file.

    The output has a column `prediction`, or with several classes a column `probability_NAME` for
    each class.
    """
    if raw + leaf + contrib > 1:
        raise click.UsageError("--raw, --leaf and --contrib cannot be combined.")
    if labels and (leaf or contrib):
        raise click.UsageError("--labels cannot be combined with --leaf or --contrib.")
    if as_json and out == STDOUT:
        raise click.UsageError("--json needs --out FILE: both would go to standard output.")
    console = Console(is_quiet=quiet, as_json=as_json)
    if out != STDOUT:
        check_folder(out)
    booster = load_model(model)
    options: dict[str, Any] = {"raw_score": raw, "pred_leaf": leaf, "pred_contrib": contrib}
    if rounds is not None:
        options["num_iteration"] = rounds
    if threads is not None:
        options["num_threads"] = threads
    predictor = _Predictor(booster, options, labels)
    begin = time.perf_counter()
    source = open_table(files, header, text_columns(booster), text_options_of(written))
    source = source.be_like(booster.num_feature())
    with heeding_interrupts(), TableWriter(out) as writer:
        predictor.run(source, columns_of(keep), writer)
    for line in notes_of(source):
        console.say(line)
    if out == STDOUT:
        return
    seconds = time.perf_counter() - begin
    names = list(predictor.columns)
    facts = {"rows": writer.n_rows, "columns": names, "seconds": seconds, "out": out}
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    text = f"{writer.n_rows:,} rows in {format_time(seconds)}: {out} ({shown})"
    console.show("" if quiet else text, facts)


class _Predictor:
    """Predicts chunks of rows, and names what comes out."""

    def __init__(self, model: Booster, options: dict[str, Any], with_labels: bool) -> None:
        self._model, self._options, self._with_labels = model, options, with_labels
        self._classes = classes_of(model)
        if with_labels and self._classes is None:
            raise NotSupportedError.because(
                "--labels is for models of classes",
                got=f"objective={model.model.objective.name}",
                hint="Leave it out.",
            )
        self.columns: dict[str, None] = {}

    def run(self, source: Source, keep: Sequence[str], writer: TableWriter) -> None:
        """Predict all rows."""
        kept = [find_column(source, name, "--keep") for name in keep]
        features = self._features(source)
        wanted = None if features is None else list(dict.fromkeys([*features, *kept]))
        for chunk in chunks_of(source, wanted, writer.restart):
            if not chunk.shape[0]:
                continue
            rows = chunk if features is None else self._rows_of(chunk, features)
            writer.write(self._table(chunk, kept, rows))
        if not self.columns:  # a file with a header and no rows gives one
            empty: dict[str, Any] = {name: np.empty(0) for name in kept}
            empty |= self._predict(np.empty((0, self._model.num_feature())))
            self.columns = dict.fromkeys(empty)
            writer.write(empty)

    def _features(self, source: Source) -> list[str] | None:
        """Return the columns of the file that the model knows, in its order."""
        at = find_features(self._model.model, source)
        return None if at is None or source.names is None else [source.names[i] for i in at]

    def _rows_of(self, chunk: Any, features: list[str]) -> Any:
        rows = chunk.select(features)
        names = self._model.feature_name()
        return rows if len(features) != len(names) else rows.rename_columns(names)

    def _table(self, chunk: Any, kept: Sequence[str], rows: Any) -> dict[str, Any]:
        columns: dict[str, Any] = {name: chunk.column(name) for name in kept}
        columns |= self._predict(rows)
        self.columns = dict.fromkeys(columns)
        return columns

    def _predict(self, rows: Any) -> dict[str, Array]:
        values: Any = self._model.predict(rows, **self._options)
        if isinstance(values, list):  # of sparse rows, one matrix for each class
            values = np.concatenate([part.toarray() for part in values], axis=1)
        values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
        values = values if values.ndim == 2 else values.reshape(-1, 1)
        found = dict(zip(self._names(values.shape[1]), values.T, strict=True))
        if self._with_labels:
            found["label"] = self._labels(values)
        return found

    def _names(self, n_columns: int) -> list[str]:
        model = self._model
        if self._options["pred_leaf"]:
            return [f"leaf_{i}" for i in range(n_columns)]
        if self._options["pred_contrib"]:
            parts = [*model.feature_name(), "expected"]
            outputs = output_names(model, "")
            if len(outputs) == 1:
                return parts
            return [f"{part}{output}" for output in outputs for part in parts]
        is_classes = self._classes is not None and not self._options["raw_score"]
        word = "raw_score" if self._options["raw_score"] else "prediction"
        names = output_names(model, "probability" if is_classes else word)
        if n_columns == 1:
            return [word]
        return names if len(names) == n_columns else [f"{word}_{i}" for i in range(n_columns)]

    def _labels(self, values: Array) -> Array:
        assert self._classes is not None
        if values.shape[1] > 1:
            codes = values.argmax(axis=1)
        elif self._model.model.objective.n_outputs > 1:  # multi:softmax
            codes = values[:, 0].astype(np.int64)
        else:
            codes = (values[:, 0] > self._threshold()).astype(np.int64)
        names = self._classes
        if not all(type(name) is type(names[0]) for name in names):
            names = [str(name) for name in names]
        found: Array = np.array(names)[codes]
        return found

    def _threshold(self) -> float:
        """Scores of some objectives are not probabilities."""
        is_probability = gives_probabilities(self._model) and not self._options["raw_score"]
        return 0.5 if is_probability else 0.0
