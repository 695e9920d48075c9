"""Whether the rows of a page are those that the model was trained on."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gossamer.data import Table, Targets
from gossamer.model.model import Model
from gossamer.model.prediction.predict import PredictOptions, predict

# Rounds whose leaves are counted: other rows do not fill all leaves with the same counts.
_ROUNDS: Final = 5


def are_training_rows(model: Model, table: Table, targets: Targets, n_threads: int) -> bool:
    """Return whether a model was trained on these rows, as far as it can tell.

    A model over folds keeps the labels of its training rows. Other models keep the number of rows
    in each leaf, which tell as long as trees are grown from all rows and not from a sample.

    Args:
        model: The model.
        table: All rows, columns as in training.
        targets: Their labels.
        n_threads: Threads to predict with.
    """
    if model.folds is not None:
        return np.array_equal(model.folds.label.ravel(), targets.label.ravel())
    forest = model.forest
    n_trees = min(_ROUNDS, forest.n_rounds) * (forest.n_trees // max(forest.n_rounds, 1))
    begin = forest.leaf_begin[: n_trees + 1]
    counts = forest.arrays["leaf_count"][: begin[-1]]
    if begin[-1] == n_trees or counts[: begin[1]].sum() != table.n_rows:
        return False
    options = PredictOptions(last_round=_ROUNDS, pred_leaf=True, num_threads=n_threads)
    leaves = predict(model, table, options).reshape(table.n_rows, n_trees)
    found = np.bincount((leaves + begin[:-1]).ravel(), minlength=begin[-1])
    return np.array_equal(found, counts)


def held_out_scores(model: Model, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64] | None:
    """Return out-of-fold raw scores of some training rows, outputs x rows; None: not of all."""
    if model.folds is None or model.folds.has_init_score:
        return None
    found = model.folds.mean_scores()[:, rows]
    return np.ascontiguousarray(found) if np.isfinite(found).all() else None
