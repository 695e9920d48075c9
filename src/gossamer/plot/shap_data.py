"""Shapley values of a few rows, and what is drawn next to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.table.date_text import date_text
from gossamer.errors import DataError, ParameterError
from gossamer.model import Booster
from gossamer.model.inspection.changed_columns import values_of
from gossamer.model.inspection.partial import category_labels, is_categorical
from gossamer.model.model import Model
from gossamer.model.prediction.predict import fitting_table
from gossamer.plot.tree_text import format_threshold
from gossamer.plot.tree_view import check_number

Floats = npt.NDArray[np.float64]

# Values that may be held at a time: 1 GiB.
_MOST_VALUES: Final = 2**27


@dataclass(frozen=True, eq=False)
class Explained:
    """Rows and their Shapley values.

    Attributes:
        model: The model.
        matrix: The rows, an array or a sparse one.
        values: (rows, outputs, columns), the Shapley values.
        expected: (outputs,), the expected raw score over all rows.
    """

    model: Model
    matrix: Any
    values: Floats
    expected: Floats

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.values.shape[1])

    def column(self, column: int) -> Floats:
        """Return the values of a column of the table: categories as their codes."""
        return values_of(self.matrix, column).astype(np.float64)

    def is_categorical(self, column: int) -> bool:
        """Whether the values of a column are categories."""
        return is_categorical(self.model, column)

    def text(self, column: int, row: int) -> str:
        """Return the value of a row in a column, as a reader knows it."""
        value = float(self.column(column)[row])
        if np.isnan(value):
            return "missing"
        if self.is_categorical(column):
            label = category_labels(self.model, column, np.array([value])).tolist()[0]
            return f"{label:g}" if isinstance(label, float) else str(label)
        if self.model.is_date(column):
            return date_text(value)
        return format_threshold(float(f"{value:.4g}") if abs(value) < 1e4 else value, 4)

    def output(self, output: Any) -> int:
        """Check which output is to be drawn.

        Raises:
            ParameterError: If there is no such output, or several and none was chosen.
        """
        if output is None and self.n_outputs > 1:
            raise ParameterError.because(
                f"the model has {self.n_outputs} outputs",
                expected=f"output=0..{self.n_outputs - 1}",
                hint="Say which one to draw.",
            )
        number = check_number(output, "output", 0) or 0
        if number >= self.n_outputs:
            raise ParameterError.because(
                "there is no such output", got=output, expected=f"0..{self.n_outputs - 1}"
            )
        return int(number)


def explain(
    booster: Booster, data: Any, max_rows: int | None, background: Any, kwargs: Mapping[str, Any]
) -> Explained:
    """Compute the Shapley values of the rows of a table, or of some evenly spread over it.

    Args:
        booster: The model.
        data: Rows x columns, as for `predict`.
        max_rows: How many rows at most; None: all.
        background: As for `Booster.shap_values`.
        kwargs: More of its arguments.

    Raises:
        DataError: If the table has no rows, or is too large.
    """
    model = booster.model
    table = fitting_table(model, data, False)
    if table.n_rows == 0:
        raise DataError.because("the data has no rows", expected="one row or more")
    most = check_number(max_rows, "max_rows", 1)
    if most is not None and table.n_rows > most:
        table = table.take_rows(np.linspace(0, table.n_rows - 1, most).round().astype(np.int64))
    n_outputs = model.objective.n_outputs
    if table.n_rows * n_outputs * (model.n_columns + 1) > _MOST_VALUES:
        raise DataError.because(
            "there are too many Shapley values to draw",
            found=f"{table.n_rows} rows, {n_outputs} outputs and {model.n_columns} columns",
            expected=f"at most {_MOST_VALUES:,} values",
            hint="Set max_rows to less.",
        )
    found = booster.shap_values(table, background, **kwargs)
    values = found.reshape(table.n_rows, n_outputs, model.n_columns + 1)
    return Explained(model, table.matrix, values[..., :-1], values[0, :, -1])


def strongest(strength: Floats, most: int | None) -> npt.NDArray[np.intp]:
    """Return the columns with the largest numbers, the largest first, columns of 0 left out.

    Example:
        >>> strongest(np.array([1.0, 3.0, 0.0, 2.0]), 2)
        array([1, 3])
    """
    order = np.argsort(-strength, kind="stable")
    order = order[strength[order] > 0]
    return order if most is None or most <= 0 else order[:most]
