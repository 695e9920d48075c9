"""The model that a training has come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.model.derived import DerivedTables
from gossamer.model.model import Model
from gossamer.tree import Forest

if TYPE_CHECKING:
    from gossamer.model.training.training import Training


def current_model(training: Training, before: Model | None, derived: DerivedTables | None) -> Model:
    """Return the model so far.

    Args:
        training: The training.
        before: The model of some of its rounds, whose trees are used again; None: there is none.
        derived: Columns that the trainer made.
    """
    base, trees, train = training.base, training.trees, training.train
    n_base = training.n_base_trees
    if before is not None and before.forest.n_trees == n_base + len(trees):
        return before
    if before is not None and not training.boosting.rescales:
        forest = before.forest.extend(trees[before.forest.n_trees - n_base :])
    elif base is not None:
        forest = base.model.forest.extend(trees)
    else:
        n_columns, n_parallel = train.table.binning.n_columns, training.params.num_parallel_tree
        forest = Forest.from_trees(trees, training.n_outputs, n_columns, n_parallel)
    names, table_names = train.data.names, train.data.columns.table_names
    if table_names is None and base is not None:
        table_names = base.model.table_names
    times = train.data.columns.times
    if times is None and base is not None:
        times = base.model.times
    return Model(
        training.objective.for_prediction(),
        names if base is None else base.names(names),
        training.start.copy() if base is None else base.model.start,
        training.boosting.weigh(forest),
        training.params.to_dict(given_only=True),
        train.data.columns.levels,
        training.boosting.averages,
        None if derived is None else derived.derived,
        table_names=table_names,
        times=times,
    )
