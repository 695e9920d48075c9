"""`gossamer explain`."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any, Final

import click
import numpy as np
import numpy.typing as npt

from gossamer.cli.models import classes_of, gives_probabilities, load_model, text_columns
from gossamer.cli.options import Console, table_options, text_options_of, threads_option
from gossamer.cli.read import check_folder, open_table, read_table
from gossamer.cli.terminal import Style
from gossamer.cli.text_table import format_number, format_table
from gossamer.data.table.date_text import date_text
from gossamer.data.table.names import no_such_column
from gossamer.data.table.times import to_seconds
from gossamer.errors import DataError
from gossamer.model import Booster
from gossamer.params.suggest import did_you_mean

Array = npt.NDArray[Any]
# Rows that are looked at, unless the user says otherwise: enough for means.
_MOST_ROWS: Final = 10_000

_EPILOG = """\
\b
Examples:
  gossamer explain model.gsm                              importance of the columns
  gossamer explain model.gsm flights.parquet --shap       by Shapley values of its rows
  gossamer explain model.gsm flights.parquet --row 17     why this row is predicted so
  gossamer explain model.gsm flights.parquet --pdp hour --plot hour.png
"""


@click.command("explain", epilog=_EPILOG)
@click.argument("model", metavar="MODEL")
@click.argument("files", nargs=-1, metavar="[FILE...]")
@click.option("--shap", is_flag=True, help="Mean absolute Shapley value of each column.")
@click.option(
    "--row", type=click.IntRange(min=0), metavar="N", help="Explain one row, counted from 0."
)
@click.option("--pdp", metavar="COL", help="Partial dependence on this column.")
@click.option(
    "--top", type=click.IntRange(min=1), default=20, show_default=True, help="Number of columns."
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=1),
    default=_MOST_ROWS,
    show_default=True,
    metavar="N",
    help="Use only the first rows of the file.",
)
@click.option(
    "--class", "class_name", metavar="NAME", help="Class to explain, if there are several."
)
@click.option(
    "--plot", metavar="FILE", help="Draw importance or --pdp to a .png, .svg or .pdf file."
)
@threads_option
@table_options
def command(
    model: str,
    files: tuple[str, ...],
    shap: bool,
    row: int | None,
    pdp: str | None,
    top: int,
    max_rows: int,
    class_name: str | None,
    plot: str | None,
    threads: int | None,
    header: bool | None,
    as_json: bool,
    quiet: bool,
    **text: Any,
) -> None:
    """Explain a model: importance, Shapley values, partial dependence, or a single row."""
    console = Console(is_quiet=quiet, as_json=as_json)
    wanted = {"--shap": shap, "--row": row is not None, "--pdp": pdp is not None}
    asked = [name for name, is_asked in wanted.items() if is_asked]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} cannot be combined.")
    if asked and not files:
        raise click.UsageError(f"{asked[0]} needs rows: gossamer explain MODEL FILE {asked[0]}.")
    if plot is not None:
        check_folder(plot, "--plot")
    booster = load_model(model)
    explanation: _Explanation
    if not asked:
        explanation = _Importance(booster, top)
    else:
        n_rows = max_rows if row is None else row + 1
        source = open_table(files, header, text_columns(booster), text_options_of(text))
        source = source.be_like(booster.num_feature())
        rows = read_table(source, booster.feature_name(), n_rows)
        options = {} if threads is None else {"num_threads": threads}
        output = _output(booster, class_name)
        if pdp is not None:
            explanation = _Dependence(booster, rows, pdp, output, options)
        elif row is not None:
            explanation = _Row(booster, rows, row, output, options, top)
        else:
            explanation = _Shap(booster, rows, options, top)
    if plot is not None:
        explanation.draw(plot)
    console.show(explanation.text(Style.of(sys.stdout)), explanation.facts())


def _output(model: Booster, class_name: str | None) -> int | None:
    """Return which output is explained: the chosen class; None: no class was chosen."""
    classes = classes_of(model)
    n_outputs = model.model.objective.n_outputs
    if class_name is None:
        return None
    names = [] if classes is None or n_outputs == 1 else [str(name) for name in classes]
    if class_name not in names:
        raise DataError.because(
            "--class: there is no such class among several",
            got=class_name,
            expected=", ".join(names) or "none: the model has one output",
            hint=did_you_mean(class_name, names),
        )
    return names.index(class_name)


class _Explanation(ABC):
    @abstractmethod
    def facts(self) -> Any:
        """For programs."""

    @abstractmethod
    def text(self, style: Style) -> str:
        """For people."""

    def draw(self, path: str) -> None:
        raise click.UsageError("--plot draws importance or --pdp.")


class _Importance(_Explanation):
    """How much columns matter by what the trees do with them."""

    def __init__(self, model: Booster, top: int) -> None:
        self._model = model
        self._names = model.feature_name()
        self._kinds = {k: model.feature_importance(k) for k in ("gain", "split", "cover")}
        self._order = np.argsort(-self._kinds["gain"], kind="stable")
        self._top = top

    def facts(self) -> Any:
        return [
            {"column": self._names[i], **{k: values[i] for k, values in self._kinds.items()}}
            for i in self._order
        ]

    def text(self, style: Style) -> str:
        gain = self._kinds["gain"]
        share = gain / max(gain.sum(), 1e-300)
        cover = self._kinds["cover"] / max(self._kinds["cover"].sum(), 1e-300)
        highest = max(share.max(initial=0), 1e-300)
        rows = [
            (
                self._names[i],
                f"{share[i]:.1%}",
                int(self._kinds["split"][i]),
                f"{cover[i]:.1%}",
                style.draw_bar(share[i] / highest),
            )
            for i in self._order[: self._top]
        ]
        table = format_table(["column", "gain", "splits", "cover", ""], rows, style)
        return table + _and_more(len(self._names) - len(rows))

    def draw(self, path: str) -> None:
        from gossamer.plot import plot_importance

        ax = _axes()
        plot_importance(
            self._model,
            ax=ax,
            importance_type="gain",
            max_num_features=self._top,
            xlabel="gain",
            ylabel="",
        )
        ax.figure.savefig(path, dpi=150)


class _Shap(_Explanation):
    """How much columns matter to the predictions of rows."""

    def __init__(self, model: Booster, rows: Any, options: dict[str, Any], top: int) -> None:
        values = model.shap_values(rows, **options)
        sizes = np.abs(values[..., :-1])
        self._means = sizes.reshape(-1, sizes.shape[-1]).mean(axis=0)
        self._names, self._top, self._n_rows = model.feature_name(), top, len(values)
        self._order = np.argsort(-self._means, kind="stable")

    def facts(self) -> Any:
        columns = [{"column": self._names[i], "mean_abs_shap": self._means[i]} for i in self._order]
        return {"rows": self._n_rows, "columns": columns}

    def text(self, style: Style) -> str:
        highest = max(self._means.max(initial=0), 1e-300)
        rows = [
            (
                self._names[i],
                format_number(self._means[i]),
                style.draw_bar(self._means[i] / highest),
            )
            for i in self._order[: self._top]
        ]
        table = format_table(["column", "mean |shap|", ""], rows, style)
        head = f"Mean size of Shapley values (of raw scores) over {self._n_rows:,} rows:\n\n"
        return head + table + _and_more(len(self._names) - len(rows))


class _Row(_Explanation):
    """Why one row is predicted so."""

    def __init__(
        self,
        model: Booster,
        rows: Any,
        row: int,
        output: int | None,
        options: dict[str, Any],
        top: int,
    ) -> None:
        if row >= rows.shape[0]:
            raise DataError.because(
                "--row: the file has no such row",
                got=row,
                expected=f"0 to {rows.shape[0] - 1}",
            )
        one = rows[row : row + 1] if not hasattr(rows, "slice") else rows.slice(row, 1)
        values = model.shap_values(one, **options)[0]
        predicted = np.asarray(model.predict(one, **options)).reshape(-1)
        classes = classes_of(model)
        if output is None:  # the class that is predicted
            output = int(values.sum(axis=-1).argmax()) if classes and values.ndim == 2 else 0
        values = values if values.ndim == 1 else values[output]
        self._values, self._names, self._top = values, model.feature_name(), top
        cells = one.toarray()[0] if hasattr(one, "toarray") else _cells(one)
        self._cells = [None if cell is None else cell for cell in cells]
        self._order = np.argsort(-np.abs(values[:-1]), kind="stable")
        self._prediction = predicted[output] if len(predicted) > 1 else predicted[0]
        self._of = ""
        if classes is not None and gives_probabilities(model):
            self._of = f" (probability of {classes[output if len(predicted) > 1 else 1]})"
        self._row = row

    def facts(self) -> Any:
        return {
            "row": self._row,
            "prediction": self._prediction,
            "raw_score": self._values.sum(),
            "expected": self._values[-1],
            "columns": [
                {"column": self._names[i], "value": self._cells[i], "shap": self._values[i]}
                for i in self._order
            ],
        }

    def text(self, style: Style) -> str:
        largest = max(np.abs(self._values[:-1]).max(initial=0), 1e-300)
        rows: list[tuple[object, ...]] = [("(expected over all rows)", "", self._signed(-1), "")]
        for i in self._order[: self._top]:
            bar = style.draw_bar(abs(self._values[i]) / largest)
            cell = "missing" if _is_missing(self._cells[i]) else self._cells[i]
            rows.append((self._names[i], cell, self._signed(i), bar))
        rest = self._values[:-1][self._order[self._top :]].sum()
        if len(self._order) > self._top:
            rows.append((f"({len(self._order) - self._top} more columns)", "", f"{rest:+.4f}", ""))
        rows.append(("raw score", "", f"{self._values.sum():+.4f}", ""))
        prediction = format_number(float(self._prediction))
        head = f"Row {self._row}: prediction {style.good(prediction)}{self._of}\n\n"
        return head + format_table(["column", "value", "adds", ""], rows, style)

    def _signed(self, i: int) -> str:
        return f"{self._values[i]:+.4f}"


class _Dependence(_Explanation):
    """What is predicted as a column takes one value after another."""

    def __init__(
        self, model: Booster, rows: Any, column: str, output: int | None, options: dict[str, Any]
    ) -> None:
        names = model.feature_name()
        if output is None and classes_of(model) and model.model.objective.n_outputs > 1:
            listed = ", ".join(map(str, classes_of(model) or ()))
            raise click.UsageError(f"--pdp needs a class: add --class with one of {listed}.")
        output = output or 0
        if column not in names:
            raise no_such_column("--pdp: the model has no such column", column, names)
        self._model, self._rows, self._column, self._output = model, rows, column, output
        found = model.partial_dependence(rows, column, grid_resolution=20, **options)
        self._grid = _levels_of(model, names.index(column), found.grid[0])
        values = np.asarray(found.values)
        self._values = values if values.ndim == 1 else values[:, output]

    def facts(self) -> Any:
        return {"column": self._column, "values": self._grid, "predictions": self._values}

    def text(self, style: Style) -> str:
        low, high = self._values.min(), self._values.max()
        span = max(high - low, 1e-300)
        rows = [
            (_shown(cell), format_number(float(value)), style.draw_bar((value - low) / span))
            for cell, value in zip(self._grid, self._values, strict=True)
        ]
        return format_table([self._column, "prediction", ""], rows, style)

    def draw(self, path: str) -> None:
        from gossamer.plot import plot_partial_dependence

        ax = _axes()
        several = self._model.model.objective.n_outputs > 1
        plot_partial_dependence(
            self._model, self._rows, self._column, output=self._output if several else None, ax=ax
        )
        ax.figure.savefig(path, dpi=150)


def _levels_of(model: Booster, column: int, grid: Any) -> list[Any]:
    """Return the values of a grid as the user wrote them."""
    levels = model.levels
    if model.model.is_date(column):
        return [date_text(seconds) for seconds in to_seconds(np.asarray(grid)).tolist()]
    if levels is None or column not in levels.by_column:
        return list(np.asarray(grid).tolist())
    names = levels.by_column[column]
    return [
        names[int(code)] if not isinstance(code, str) and code == code and code >= 0 else code
        for code in (c.item() if hasattr(c, "item") else c for c in grid)
    ]


def _cells(table: Any) -> list[Any]:
    return [column[0].as_py() for column in table.columns]


def _is_missing(cell: Any) -> bool:
    return cell is None or cell != cell


def _shown(cell: Any) -> str:
    if _is_missing(cell):
        return "missing"
    return format_number(cell) if isinstance(cell, (int, float)) else str(cell)


def _and_more(n_columns: int) -> str:
    return f"\n  ... and {n_columns} more (--top)" if n_columns > 0 else ""


def _axes() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('--plot needs matplotlib: pip install "gossamer[plot]"') from error
    return Figure(figsize=(7, 4.5), layout="constrained").add_subplot()
