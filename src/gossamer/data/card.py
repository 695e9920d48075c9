"""A data set as a card for notebooks."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gossamer.data.built import BuiltData
from gossamer.data.summary import shorten, to_html
from gossamer.notebook import side_by_side, table

_MOST_COLUMNS: Final = 12


def to_card(facts: dict[str, Any], built: BuiltData | None) -> str:
    """Return facts about a data set, and its first columns once it is built."""
    if built is None:
        return to_html("Dataset", facts)
    facts["names"] = shorten(built.names)
    label = built.field("label")
    found = None if label is None else np.asarray(label, dtype=np.float64)
    if found is not None and found.shape == (built.n_rows,) and len(found):
        low, middle, high = found.min(), found.mean(), found.max()
        facts["label"] = f"{low:.6g} to {high:.6g}, mean {middle:.6g}"
    return side_by_side(to_html("Dataset", facts), _columns(built))


def _columns(built: BuiltData) -> str:
    """The first columns: what each is, and its bins."""
    categorical = set(built.columns.categorical)
    rows = [
        [
            shorten([name]),
            "categorical" if i in categorical else "numeric",
            f"{built.n_bins_of(i):,}",
        ]
        for i, name in enumerate(built.names[:_MOST_COLUMNS])
    ]
    caption = "Columns"
    if built.n_columns > _MOST_COLUMNS:
        caption = f"Columns (first {_MOST_COLUMNS} of {built.n_columns:,})"
    return table(caption, ["column", "kind", "bins"], rows)
