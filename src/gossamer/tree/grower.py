"""The Python face of the native grower: parameters in, one tree out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.data.binned import BinnedTable
from gossamer.objectives import Objective
from gossamer.params import Params
from gossamer.sampling import Bag, make_key
from gossamer.sampling.keys import Stream


def make_grow_params(params: Params) -> _native.GrowParams:
    """Turn parameters into the typed settings of the native grower.

    Example:
        >>> from gossamer.params import resolve
        >>> make_grow_params(resolve({"num_leaves": 7})).num_leaves
        7
    """
    grow = _native.GrowParams()
    grow.num_leaves = params.num_leaves
    grow.max_depth = max(params.max_depth, 0)
    grow.depthwise = params.grow_policy == "depthwise"
    grow.extra_trees = params.extra_trees
    grow.learning_rate = params.learning_rate
    grow.lambda_l1 = params.lambda_l1
    grow.lambda_l2 = params.lambda_l2
    grow.min_gain_to_split = params.min_gain_to_split
    grow.min_sum_hessian = params.min_sum_hessian_in_leaf
    grow.min_data = params.min_data_in_leaf
    grow.max_delta_step = max(params.max_delta_step, 0.0)
    grow.path_smooth = params.path_smooth
    grow.fraction_by_tree = params.feature_fraction
    grow.fraction_by_level = params.feature_fraction_bylevel
    grow.fraction_by_node = params.feature_fraction_bynode
    if params.histogram_pool_size > 0:
        grow.max_histogram_bytes = int(params.histogram_pool_size * 2**20)
    return grow


class TreeGrower:
    """Grows trees on one binned table."""

    def __init__(self, table: BinnedTable, params: Params, objective: Objective) -> None:
        """Make a grower; nothing is computed yet."""
        self._table = table
        self._objective = objective
        self._native = _native.Grower(table.bins)
        self.set_params(params)

    def set_objective(self, objective: Objective) -> None:
        """Take another objective for the trees to come."""
        self._objective = objective
        self.set_params(self._params)

    def set_params(self, params: Params) -> None:
        """Take other settings for the trees to come."""
        self._params = params
        self._grow_params = make_grow_params(params)
        if params.max_delta_step <= 0:  # otherwise the user's own limit holds
            self._grow_params.damp_from = self._objective.damp_from
        self._column_seed = params.feature_fraction_seed
        self._threshold_seed = params.extra_seed
        fractions = (
            params.feature_fraction,
            params.feature_fraction_bylevel,
            params.feature_fraction_bynode,
        )
        self._samples_columns = min(fractions) < 1

    @property
    def is_random(self) -> bool:
        """Whether another round may try other splits on the same gradients."""
        return self._samples_columns or self._grow_params.extra_trees

    def grow(
        self,
        gradient: npt.NDArray[np.float32],
        hessian: npt.NDArray[np.float32] | None,
        bag: Bag | None,
        n_round: int,
        output: int,
        score: npt.NDArray[np.float64],
        targets: Targets,
        n_threads: int,
    ) -> _native.Tree:
        """Grow one tree and add its values to the scores of all rows.

        A tree that could not split has one leaf and adds nothing.
        """
        settings = self._grow_params
        if self._samples_columns:
            settings.column_key = make_key(self._column_seed, Stream.COLUMNS, n_round, output)
        if settings.extra_trees:
            settings.extra_key = make_key(self._threshold_seed, Stream.THRESHOLDS, n_round, output)
        rows = None if bag is None else bag.inside
        label = None
        refit = self._objective.leaf_refit_of(output)
        if refit is not None:
            settings.refit_alpha, settings.refit_delta = refit.alpha, refit.delta
            label = targets.label if targets.n_targets == 1 else targets.target(output).label
        tree = self._native.grow(gradient, hessian, rows, settings, label, score, n_threads)
        if bag is not None and tree.n_leaves > 1:
            _native.add_tree_to_scores(self._table.bins, tree, bag.outside, score, n_threads)
        return tree

    def stats(self) -> dict[str, float]:
        """Return seconds per stage and amounts of work so far."""
        return self._native.stats()
