"""`prepare`: what grows trees on the training data, at the start and after a change of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.data import Targets
from gossamer.data.built import BuiltData
from gossamer.data.storage.binned import RowWindow
from gossamer.data.storage.row_files import RowFiles
from gossamer.errors import GossamerError
from gossamer.model.training.boosting import Boosting
from gossamer.model.training.memory import place_rows
from gossamer.model.training.scored_set import ScoredSet
from gossamer.objectives import LARGEST_GRADIENT, Gradients, Objective
from gossamer.params import Params
from gossamer.sampling import make_row_sampler
from gossamer.sampling.base import RowSampler
from gossamer.tree import Tree, TreeGrower


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything that follows from the training data, its fields, the objective and parameters.

    Attributes:
        objective: The loss.
        labels: Labels and weights as the user gave them.
        targets: Labels and weights as the objective takes them.
        sampler: Chooses the rows of a round.
        gradients: Buffers, filled in every round.
        grower: Grows the trees.
        largest_leaf: Larger leaf values would lead to gradients that do not fit float32.
        window: Which of all workers' rows these are; None: all of them.
        files: Where gradients may be; None: in memory.
        holds_gradients: Whether they are in memory all the same.
    """

    objective: Objective
    labels: Targets
    targets: Targets
    sampler: RowSampler
    gradients: Gradients
    grower: TreeGrower
    largest_leaf: float
    window: RowWindow | None = None
    files: RowFiles | None = None
    holds_gradients: bool = False

    @property
    def trees_per_set(self) -> int:
        """One for each output, or one for all of them."""
        return 1 if self.grower.has_vector_leaves else self.objective.n_outputs

    def with_params(self, params: Params, before: Params) -> Prepared:
        """Return what other parameters lead to; the grower is told of them by the caller."""
        sampler = self.sampler
        names = ("data_sample_strategy", *sampler.uses)
        if any(params[name] != before[name] for name in names):
            sampler = make_row_sampler(params, self.targets, self.objective.n_outputs, self.window)
        changed = replace(self, sampler=sampler)
        is_same = sampler.weighs_rows == self.sampler.weighs_rows
        return changed if is_same else changed.with_gradients()

    def with_function(self, objective: Objective, train: ScoredSet) -> Prepared:
        """Return what an objective of the user's leads to; it takes labels as they are."""
        grower = self.grower.with_fields(objective, train.data.columns.weights)
        changed = replace(self, objective=objective, targets=train.targets, grower=grower)
        return changed.with_gradients()

    def with_scores(self, train: ScoredSet, held: int) -> Prepared:
        """Return what follows from scores that may have moved to files; gradients go there, too.

        Args:
            train: The training data.
            held: Of `max_memory`, the bytes that are not for histograms and samples.
        """
        self.grower.set_held(held)
        files = train.files
        if files is None:
            return self
        if self.files is None:
            self.grower.use_row_files(files)
        elif self.holds_gradients == files.holds_gradients:
            return self
        return replace(self, files=files).with_gradients()

    def with_gradients(self) -> Prepared:
        """Return the same with other buffers of gradients."""
        files = self.files
        gradients = _make_gradients(self.objective, self.targets, self.sampler, files)
        holds = files is not None and files.holds_gradients
        return replace(self, gradients=gradients, holds_gradients=holds)

    def grow(
        self, params: Params, train: ScoredSet, n_round: int, score: npt.NDArray[np.float64]
    ) -> list[Any]:
        """Grow the trees of a round and add them to scores; none knows of the others."""
        n_sets = params.num_parallel_tree
        # As in LightGBM, leaves of the first round are plain.
        is_linear = params.linear_tree and n_round > 0
        weighs_rows = n_sets > 1 and self.sampler.weighs_rows
        finds_residuals = n_sets > 1 and self.grower.refits_leaves
        trees: list[Any] = []
        for i in range(n_sets):
            gradients = self.gradients.copy() if weighs_rows else self.gradients
            bag = self.sampler.draw(n_round, gradients, train.n_threads, i)
            # Residuals are those from the scores before the round.
            into = score.copy() if finds_residuals else score
            trees += self.grower.grow(
                gradients,
                bag,
                n_round,
                into,
                self.targets,
                train.n_threads,
                is_linear=is_linear,
                n_set=i,
            )
            self.sampler.give_back(bag)
        if finds_residuals:
            k = self.trees_per_set
            for t, tree in enumerate(trees):
                if tree.n_leaves > 1:
                    into = np.split(score, k)[t % k]
                    train.table.add_tree(tree, into, train.n_threads, raw=train.raw)
        return trees

    def grow_rounds(
        self, params: Params, objective: Objective, train: ScoredSet, n_rounds: int
    ) -> list[Any] | None:
        """Do several rounds in one native call; see `TreeGrower.grow_rounds`."""
        loss = objective.row_loss
        if loss is None or self.sampler.is_on or params.num_parallel_tree > 1:
            return None
        if self.files is not None:
            return None
        return self.grower.grow_rounds(
            n_rounds,
            loss,
            self.gradients,
            train.score,
            self.targets,
            self.largest_leaf,
            train.n_threads,
        )

    def grow_on_device(
        self,
        params: Params,
        boosting: Boosting,
        objective: Objective,
        train: ScoredSet,
        n_round: int,
    ) -> list[Any] | None:
        """Do the whole round on a GPU.

        Returns:
            The trees, which have been added to the scores; None: gradients or rows must be found on
            the CPU.
        """
        device = self.grower.device
        if device is None or not boosting.adds_trees:
            return None
        loss = objective.device_loss
        if loss is None:
            return None
        if params.num_parallel_tree > 1 or self.grower.refits_leaves:
            return None
        if self.gradients.has_hessian != objective.has_hessian(self.targets):
            return None
        sampler = self.sampler
        if sampler.is_on and not sampler.draws_on_device:
            return None
        draw = partial(sampler.draw_on_device, n_round) if sampler.is_on else None
        return list(
            device.train(
                loss,
                self.targets,
                train.on_device,
                train.host_score,
                draw,
                self.grower.settings_of(n_round),
                has_hessian=self.gradients.has_hessian,
                weighs_rows=sampler.weighs_rows,
            )
        )

    def as_constants(
        self, trees: Sequence[Any], score: npt.NDArray[np.float64] | None
    ) -> list[Any]:
        """Replace trees that could not split.

        Args:
            trees: The trees of a round; the grower has added those that split to the scores.
            score: Scores that the values of the others are added to; None: they count for nothing.
        """
        found = []
        outputs = [] if score is None else np.split(score, self.trees_per_set)
        for t, tree in enumerate(trees):
            if tree.n_leaves > 1:
                found.append(tree)
                continue
            weight, count = float(tree.leaf_weight[0]), int(tree.leaf_count[0])
            constant = Tree.constant(0.0, weight, count, tree.n_values)
            if outputs:
                constant = replace(constant, leaf_value=tree.leaf_value)
                outputs[t % len(outputs)] += np.repeat(tree.leaf_value, self.targets.n_rows)
            found.append(constant)
        return found

    def check_size(self, trees: Sequence[Any], n_round: int) -> None:
        """Stop before scores grow so large that gradients no longer fit float32.

        Raises:
            GossamerError: If they would.
        """
        for tree in trees:
            largest = tree.largest_value
            if not largest <= self.largest_leaf:
                raise GossamerError.because(
                    f"training diverged in round {n_round + 1}",
                    found=f"a leaf value of {largest:g}",
                    hint="Lower learning_rate, raise lambda_l2, or check the custom objective.",
                )


def place_scores(
    params: Params,
    objective: Objective,
    train: ScoredSet,
    valid: Sequence[BuiltData],
    base: object | None,
) -> tuple[ScoredSet, int]:
    """Move scores to files where memory is too small for them; see `place_rows`.

    Returns:
        The training data, and the bytes of `max_memory` that are not for histograms and samples.

    Raises:
        ParameterError: If `max_memory` is too small.
    """
    in_files = train.files is not None
    placed = place_rows(params, objective, train.data, valid, base, in_files=in_files)
    if placed.in_files and not in_files:
        train = train.to_files(RowFiles(params.cache_dir))
    if train.files is not None:
        train.files.holds_gradients = placed.holds_gradients
    return train, placed.held


def prepare(
    params: Params,
    train: ScoredSet,
    objective: Objective,
    before: TreeGrower | None = None,
    held: int = 0,
) -> Prepared:
    """Make sampler, gradients and grower of training data.

    Args:
        params: Checked parameters.
        train: The training data.
        objective: The loss, made for this data.
        before: A grower of the same table, whose sorted columns are used again.
        held: Of `max_memory`, the bytes that are not for histograms and samples.
    """
    data, labels, files = train.data, train.targets, train.files
    weights = data.columns.weights
    if before is not None:
        grower = before.with_fields(objective, weights)
        grower.set_held(held)
    else:
        grower = TreeGrower(train.table, params, objective, data.names, weights, train.raw, held)
    targets = objective.prepare(labels)
    weight = targets.weight
    heaviest = 1.0 if weight is None or len(weight) == 0 else float(weight.max())
    window = train.table.window
    sampler = make_row_sampler(params, targets, objective.n_outputs, window)
    if files is not None:
        grower.use_row_files(files)
    gradients = _make_gradients(objective, targets, sampler, files)
    largest = LARGEST_GRADIENT / heaviest
    holds = files is not None and files.holds_gradients
    return Prepared(
        objective, labels, targets, sampler, gradients, grower, largest, window, files, holds
    )


def _make_gradients(
    objective: Objective, targets: Targets, sampler: RowSampler, files: RowFiles | None
) -> Gradients:
    return Gradients.empty(
        targets.n_rows,
        objective.n_outputs,
        has_hessian=objective.has_hessian(targets),
        weighable=sampler.weighs_rows,
        allocate=np.empty if files is None else files.for_gradients,
    )
