"""A model that says the same of every row, where that may be a surprise."""

from __future__ import annotations

from gossamer.data import Dataset
from gossamer.data.dataset import built_data
from gossamer.errors import message
from gossamer.logger import warn
from gossamer.model.booster import Booster


def warn_if_constant(booster: Booster, train_set: Dataset) -> None:
    """Say why nothing could be split, unless there is nothing to learn.

    Args:
        booster: A model whose training ended in its first round.
        train_set: What it was trained on.
    """
    data = built_data(train_set).whole()
    label = data.targets.label
    params, n_rows = booster.resolved_params, data.n_rows
    # A user's own objective may ask for the same everywhere.
    if callable(params.objective) or (label == label[0]).all():
        return
    least = params.min_data_in_leaf
    if n_rows < 2 * least:
        why = f"{n_rows} rows and min_child_samples={least} (min_data_in_leaf)"
        hint = "Lower min_child_samples to learn from so few rows."
    elif data.table.binning.n_features == 0:
        why = "columns that have the same value in every row"
        hint = "Look at the columns: is something missing?"
    else:
        why = "these parameters"
        hint = "Lower min_child_samples, min_child_weight, min_split_gain or the penalties."
    warn(message(f"no split is possible with {why}, so all predictions are the same", hint=hint))
