"""What all estimators of scikit-learn say about their columns."""

from __future__ import annotations

from typing import Any

from gossamer.data.table.names import check_names, default_names


def names_of(estimator: Any, n_columns: int) -> list[str]:
    """Return the names of the columns, or default names."""
    names = getattr(estimator, "feature_names_in_", None)
    return default_names(n_columns) if names is None else check_names(list(names), n_columns)
