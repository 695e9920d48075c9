"""Small tables with odd values, drawn by hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


def draw_table(data: st.DataObject) -> tuple[np.ndarray, np.ndarray]:
    """Draws a table of few rows, with missing and infinite values, and its labels."""
    n_rows = data.draw(st.integers(1, 40), "rows")
    n_columns = data.draw(st.integers(1, 3), "columns")
    value = st.sampled_from([0.0, 1.0, 2.0, 3.0, -1.0, np.nan, np.inf, -np.inf])
    rows = st.lists(value, min_size=n_columns, max_size=n_columns)
    table = np.array(data.draw(st.lists(rows, min_size=n_rows, max_size=n_rows)))
    label = st.integers(-3, 3).map(float)
    labels = np.array(data.draw(st.lists(label, min_size=n_rows, max_size=n_rows)))
    return table, labels
