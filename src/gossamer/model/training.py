"""The state of a training, and what happens in a round."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Dataset, Targets
from gossamer.data.binned import BinnedTable
from gossamer.data.dataset import BINNING_PARAMS
from gossamer.data.matrix import Values
from gossamer.errors import (
    DataError,
    GossamerError,
    NotSupportedError,
    ParameterError,
    message,
)
from gossamer.metrics import CustomMetric, EvalResult, evaluate_custom, make_metrics
from gossamer.model.base_model import BaseModel, RawRows
from gossamer.model.boosting import Boosting
from gossamer.model.dart import Dart
from gossamer.model.derived import DerivedTables, check_options, derive
from gossamer.model.model import Model
from gossamer.model.random_forest import RandomForest
from gossamer.objectives import (
    LARGEST_GRADIENT,
    Custom,
    Gradients,
    make_custom,
    make_objective,
)
from gossamer.objectives.custom import CustomFunction
from gossamer.objectives.several import check_same_targets
from gossamer.params import Params
from gossamer.params.check_method import keeps_raw_values, splits_by_value
from gossamer.sampling import make_row_sampler
from gossamer.threads import resolve_threads
from gossamer.tree import Forest, Tree, TreeGrower

_MODES: Final[dict[str, type[Boosting]]] = {
    "gbdt": Boosting,
    "dart": Dart,
    "rf": RandomForest,
}

# What a training cannot change half-way.
_FIXED: Final = (
    "seed",  # before those that follow from it
    "tree_method",  # likewise
    "num_iterations",
    "early_stopping_round",
    "early_stopping_min_delta",
    "first_metric_only",
    "is_provide_training_metric",
    "objective",
    "num_class",
    "boosting",
    "num_parallel_tree",
    "multi_strategy",
    "boost_from_average",
    "sigmoid",
    "is_unbalance",
    "scale_pos_weight",
    "base_score",
    "reg_sqrt",
    "alpha",
    "fair_c",
    "poisson_max_delta_step",
    "tweedie_variance_power",
    "huber_slope",
    "expectile_alpha",
    "focal_gamma",
    "focal_alpha",
    "quantile_alpha",
    "aft_loss_distribution",
    "aft_loss_distribution_scale",
    "objective_seed",
    "label_gain",
    "lambdarank_truncation_level",
    "lambdarank_norm",
    "lambdarank_position_bias_regularization",
    "lambdarank_pair_method",
    "lambdarank_num_pair_per_sample",
    "lambdarank_normalization",
    "lambdarank_score_normalization",
    "ndcg_exp_gain",
    "monotone_constraints",
    "proposal",
    "categorical_feature",
    "cat_target_statistics",
    "cat_combinations",
    "cat_prior_weight",
    "cat_statistics_l2",
    *BINNING_PARAMS,
    "sketch_eps",  # may follow from max_bin
)


# About the machine that trained, and no part of a model.
_OF_MACHINE: Final = ("max_memory", "cache_dir")

P = ParamSpec("P")
R = TypeVar("R")


def one_at_a_time(
    function: Callable[Concatenate[Training, P], R],
) -> Callable[Concatenate[Training, P], R]:
    """Let one thread at a time into whatever reads or changes a training.

    The thread that is in may enter again: a metric of the user's may ask for a prediction.
    """

    @wraps(function)
    def locked(training: Training, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with training.lock:
            return function(training, *args, **kwargs)

    return locked


@dataclass(frozen=True, eq=False)
class ScoredSet:
    """A data set with the current raw scores of its rows (class-major)."""

    name: str
    data: Dataset
    # The bins that the trees were grown on; the data set may get others later.
    binned: BinnedTable
    score: npt.NDArray[np.float64]
    n_threads: int
    version: int  # how often fields had been set
    # Scores before the first tree: init_score, or predictions of the model that training continues
    # from; None: zeros.
    base: npt.NDArray[np.float64] | None = None
    raw: Values | None = None  # where leaves are linear, or splits found by value
    derived: BinnedTable | None = None  # the table with derived columns

    @property
    def targets(self) -> Targets:
        """Labels and weights."""
        return self.data.targets

    @property
    def table(self) -> BinnedTable:
        """The binned columns, derived ones included."""
        return self.binned if self.derived is None else self.derived

    def output(self, k: int) -> npt.NDArray[np.float64]:
        """Scores of one output."""
        n_rows = self.binned.n_rows
        return self.score[k * n_rows : (k + 1) * n_rows]


class Training:
    """One training: data, objective, metrics, scores, and the trees so far.

    Several threads may use it. What takes more than one call takes `lock` around them.
    """

    def __init__(self, params: Params, train_set: Dataset, base: BaseModel | None = None) -> None:
        """Bin the data if need be, check the labels, make room for scores and gradients."""
        if train_set.asks_for_linear_tree and "linear_tree" not in params.given:
            params = params.replace(linear_tree=True)
        self.lock = RLock()
        self.params = params
        self._most_threads: int | None = None
        self.base = base
        table = None if base is None else RawRows.of(train_set)
        train_set.use_params(params).make_trainable()
        self.objective = make_objective(params, train_set)
        self.metrics = make_metrics(params, self.objective, train_set.targets.n_targets)
        self.n_outputs = self.objective.n_outputs
        self.boosting = _MODES[params.boosting](params)
        self.train = self._scored(train_set, "training", table)
        self.valid: list[ScoredSet] = []
        self.start = np.zeros(self.n_outputs)
        # As they were grown (native trees, or constant ones that replace them): the model may weigh
        # them, see `Boosting.weigh`.
        self.trees: list[Any] = []
        # Whether a round in which no tree can split ends the training, as in LightGBM; else its
        # trees are constants, as in XGBoost.
        self.ends_without_split = True
        self._is_started = False
        self._is_stale = False  # whether scores must be made again from the trees
        self._derived: DerivedTables | None = None
        if base is None:
            self._derive()
        self._prepare()
        self._model: Model | None = None
        if base is not None:
            base.check_mode(self.boosting.averages)
            base.check_derived(params)
            base.check_values_per_leaf(self.n_outputs // self.trees_per_set)
            base.check_parallel(params.num_parallel_tree)
            self._recount()

    def _prepare(self, grower: TreeGrower | None = None) -> None:
        """Make what follows from the training data, its fields and the objective.

        Args:
            grower: One for the same table, whose sorted columns are used again.
        """
        data, params, objective = self.train.data, self.params, self.objective
        if grower is not None:
            self._grower = grower.with_fields(objective, data.feature_weights)
        else:
            self._grower = TreeGrower(
                self.train.table,
                params,
                objective,
                data.get_feature_name(),
                data.feature_weights,
                self.train.raw,
            )
        self._labels = data.targets  # as the user gave them
        self._targets = objective.prepare(self._labels)
        # What the objective had learned before each round, and after the last. It is about the
        # training data: trees of other data leave nothing behind.
        self._states = [objective.start_state(self._targets)] * (self.n_rounds + 1)
        weight = self._targets.weight
        self._largest_value = LARGEST_GRADIENT / (1.0 if weight is None else float(weight.max()))
        self._sampler = make_row_sampler(params, self._targets, self.n_outputs)
        self._gradients = self._make_gradients(self._sampler.weighs_rows)

    def _derive(self) -> None:
        """Learn derived columns from the training data, and give them to all data sets."""
        self._derived = derive(self.params, self.train.data, self.objective)
        table = None if self._derived is None else self._derived.table
        self.train = replace(self.train, derived=table)
        self.valid = [self._with_derived(scored) for scored in self.valid]

    def _with_derived(self, scored: ScoredSet) -> ScoredSet:
        derived = self._derived
        table = None if derived is None else derived.extend(scored.binned, scored.n_threads)
        return replace(scored, derived=table)

    @property
    def trees_per_set(self) -> int:
        """One for each output, or one for all of them."""
        return 1 if self._grower.has_vector_leaves else self.n_outputs

    @property
    def trees_per_round(self) -> int:
        """As many sets as there are parallel trees."""
        return self.trees_per_set * self.params.num_parallel_tree

    @property
    def n_rounds(self) -> int:
        """Rounds of this training, without those it continues from."""
        return len(self.trees) // self.trees_per_round

    @property
    def n_base_trees(self) -> int:
        """Trees of the model that training continues from."""
        return 0 if self.base is None else self.base.model.forest.n_trees

    # ---- a round ----

    @one_at_a_time
    def train_round(self) -> bool:
        """Do one round, or none: whatever is raised in it, the model is that of the rounds before.

        Returns:
            Whether training is finished: no tree could be split, and another round would not do
            better.
        """
        self.refresh()
        n_trees, n_states = len(self.trees), len(self._states)
        is_started, start, mark = self._is_started, self.start.copy(), self.boosting.mark()
        try:
            return self._train_round()
        except BaseException:
            del self.trees[n_trees:], self._states[n_states:]
            self._is_started, self.start, self._is_stale = is_started, start, True
            self.boosting.back_to(mark)
            raise

    def _train_round(self) -> bool:
        if not self._is_started:
            self._add_start()
        train, n_round = self.train, self.n_rounds
        if self.base is not None:  # random choices go on where the model's ended
            n_round += self.base.model.forest.n_rounds
        scores = self.boosting.begin_round(self, n_round)
        objective = self.objective.for_round(n_round, self._states[-1])
        objective.fill_gradients(scores.at, self._targets, self._gradients, train.n_threads)
        state = objective.next_state(self._states[-1], self._targets, self._gradients)
        trees = self._grow(n_round, scores.into)
        is_finished = False
        if any(tree.n_leaves == 1 for tree in trees):
            can_differ = self._sampler.is_on or self._grower.is_random
            is_finished = not can_differ and all(tree.n_leaves == 1 for tree in trees)
            is_finished &= self.ends_without_split
            # As in LightGBM, a model that cannot be split at all has one round of constant trees.
            if is_finished and (self.trees or self.base is not None):
                return True
            keeps_value = not self.ends_without_split and self.params.boosting == "gbdt"
            trees = [_constant(tree, keeps_value) if tree.n_leaves == 1 else tree for tree in trees]
            if keeps_value:
                self._add_constants(trees, scores.into)
        self._check_size(trees)
        self.boosting.end_round(self, trees)
        self.trees += trees
        self._states.append(state)
        return is_finished

    def _grow(self, n_round: int, score: npt.NDArray[np.float64]) -> list[Any]:
        """Grow the trees of a round and add them to scores; none knows of the others."""
        train, n_sets = self.train, self.params.num_parallel_tree
        # As in LightGBM, leaves of the first round are plain.
        is_linear = self.params.linear_tree and n_round > 0
        weighs_rows = n_sets > 1 and self._sampler.weighs_rows
        finds_residuals = n_sets > 1 and self._grower.refits_leaves
        trees: list[Any] = []
        for i in range(n_sets):
            gradients = self._gradients.copy() if weighs_rows else self._gradients
            bag = self._sampler.draw(n_round, gradients, train.n_threads, i)
            # Residuals are those from the scores before the round.
            into = score.copy() if finds_residuals else score
            trees += self._grower.grow(
                gradients,
                bag,
                n_round,
                into,
                self._targets,
                train.n_threads,
                is_linear=is_linear,
                n_set=i,
            )
        if finds_residuals:
            k = self.trees_per_set
            for t, tree in enumerate(trees):
                if tree.n_leaves > 1:
                    _native.add_tree_to_scores(
                        train.table.bins,
                        tree,
                        None,
                        np.split(score, k)[t % k],
                        train.n_threads,
                        raw=train.raw,
                    )
        return trees

    def _add_constants(self, trees: Sequence[Any], score: npt.NDArray[np.float64]) -> None:
        """Add trees without a split to scores: the grower has added the others."""
        outputs = np.split(score, self.trees_per_set)
        for t, tree in enumerate(trees):
            if tree.n_leaves == 1:
                outputs[t % len(outputs)] += np.repeat(tree.leaf_value, self._targets.n_rows)

    def _add_start(self) -> None:
        """Start from the best constant, unless there are scores to start from."""
        self._is_started = True
        base_score = self.params.base_score
        if self.train.base is not None:
            return
        if base_score is not None:
            self.start[:] = self.objective.start_at(base_score)
        elif self.params.boost_from_average:
            self.start[:] = self.objective.start_scores(self._targets)
        else:
            return
        for scored in (self.train, *self.valid):
            self.boosting.start_scores(self, scored)

    def start_at(self, scores: npt.NDArray[np.float64]) -> None:
        """Start from these scores, one for each output, before the first round.

        Raises:
            ParameterError: If there is not one for each.
        """
        if len(scores) != self.n_outputs:
            raise ParameterError(
                message(
                    "there is not one score to start from for each output",
                    got=scores.tolist(),
                    expected=f"{self.n_outputs}",
                )
            )
        self._is_started = True
        if self.train.data.init_score is not None or self.base is not None:
            return
        self.start[:] = scores
        for scored in (self.train, *self.valid):
            self.boosting.start_scores(self, scored)

    def _check_size(self, trees: Sequence[Any]) -> None:
        """Stop before scores grow so large that gradients no longer fit float32."""
        for tree in trees:
            largest = tree.largest_value
            if not largest <= self._largest_value:
                raise GossamerError(
                    message(
                        f"training diverged in round {self.n_rounds + 1}",
                        got=f"a leaf value of {largest:g}",
                        hint="Lower learning_rate, raise lambda_l2, or check the custom objective.",
                    )
                )

    @one_at_a_time
    def use_function(self, function: CustomFunction) -> None:
        """Train with a custom objective from now on."""
        if isinstance(self.objective, Custom) and self.objective.function is function:
            return
        self.boosting.check_function()
        custom = make_custom(function, self.train.data, self.n_outputs)
        changed = copy(self)
        if self.params.metric is not None:
            changed.metrics = make_metrics(self.params, custom, self.train.targets.n_targets)
        elif self.objective.metrics is not None:
            changed.metrics = []  # its own metric reads no scores but its own
        changed.objective = custom
        changed._targets = self.train.targets
        changed._states = [None] * len(self._states)
        changed._grower = self._grower.with_fields(custom, self.train.data.feature_weights)
        changed._gradients = changed._make_gradients(self._sampler.weighs_rows)
        changed._is_started = True
        changed._model = None
        vars(self).update(vars(changed))

    def _make_gradients(self, weighable: bool) -> Gradients:
        n_rows = self._targets.n_rows
        return Gradients.empty(
            n_rows,
            self.n_outputs,
            has_hessian=self.objective.has_hessian(self._targets),
            weighable=weighable,
        )

    @property
    def grower(self) -> TreeGrower:
        """Grows the trees."""
        return self._grower

    def native_tree(self, arrays: Mapping[str, Any], n_values: int) -> _native.Tree:
        """Return a tree of this training from its arrays by name."""
        by_value = splits_by_value(self.params)
        return _native.make_tree(self.train.table.bins, dict(arrays), n_values, by_value)

    def stage_stats(self) -> dict[str, float]:
        """Return seconds per stage and amounts of work of all trees so far."""
        return self._grower.stats()

    # ---- data sets ----

    @one_at_a_time
    def add_valid(self, data: Dataset, name: str) -> ScoredSet:
        """Add a data set to evaluate; the trees so far are added to its scores."""
        train_set = self.train.data
        table = None if self.base is None else RawRows.of(data)
        data.use_params(self.params).set_reference(train_set).construct()
        if not data.binned.binning.is_same(self.train.binned.binning):
            raise DataError(
                message(
                    f"the data set {name!r} has other bins than the training data",
                    hint="Make it with reference=train_set, or train_set.create_valid().",
                )
            )
        self._check_labels(data.targets, name)
        scored = self._with_derived(self._scored(data, name, table))
        if self._is_started:
            self.boosting.start_scores(self, scored)
        self.boosting.add_rounds(self, scored)
        self.valid.append(scored)
        return scored

    def _check_labels(self, targets: Targets, name: str) -> None:
        check_same_targets(targets, self._labels, name)
        self.objective.check_valid(targets, self._labels, name)

    def _scored(self, data: Dataset, name: str, table: RawRows | None = None) -> ScoredSet:
        self.boosting.check_data(data, name)
        n_rows, n_threads = data.num_data(), self._threads_for(data)
        score, base, raw = np.zeros(n_rows * self.n_outputs), data.first_scores, None
        if keeps_raw_values(self.params):
            method = f"tree_method={self.params.tree_method}"
            raw = data.raw_values(method if splits_by_value(self.params) else "linear_tree")
        if self.base is not None:
            self.base.check_fits(data, self.objective)
            self.base.check_levels(data)
            base = self.base.scores(data, name, table, n_threads)
        elif base is not None and len(base) != len(score):
            raise DataError(
                message(
                    f"init_score of the data set {name!r} does not fit the objective",
                    got=f"{len(base)} numbers",
                    expected=f"{n_rows} rows x {self.n_outputs} outputs",
                )
            )
        if base is not None:
            score[:] = base
        return ScoredSet(name, data, data.binned, score, n_threads, data.version, base, raw)

    def _threads_for(self, data: Dataset) -> int:
        found = resolve_threads(self.params.num_threads, data.num_data(), data.num_feature())
        return found if self._most_threads is None else min(found, self._most_threads)

    @one_at_a_time
    def limit_threads(self, n_threads: int | None) -> None:
        """Use no more threads than this, whatever the parameters say; None: no limit."""
        self._most_threads = n_threads
        self._choose_threads()

    def _choose_threads(self) -> None:
        self.train, *self.valid = (
            replace(scored, n_threads=self._threads_for(scored.data))
            for scored in (self.train, *self.valid)
        )

    @one_at_a_time
    def evaluate(
        self,
        scored: ScoredSet,
        name: str,
        feval: CustomMetric | Sequence[CustomMetric] | None = None,
    ) -> list[EvalResult]:
        """Evaluate all metrics on one of the data sets."""
        self.refresh()
        score, targets = self.boosting.current(self, scored), scored.targets
        if scored.data.version != scored.version:
            self._check_labels(targets, name)
        results = [
            EvalResult(
                name,
                metric.name,
                metric.evaluate(score, targets, self.objective, scored.n_threads),
                metric.maximize,
            )
            for metric in self.metrics
        ]
        if feval is not None:
            predictions = self.objective.to_predictions(score.copy(), scored.n_threads)
            results += evaluate_custom(feval, predictions, scored.data, name)
        return results

    # ---- changes ----

    @one_at_a_time
    def use_data(self, train_set: Dataset) -> None:
        """Train on other data from now on, or on the same data whose fields have changed.

        All of it is made beside this training, which stays as it is where something does not fit.

        Raises:
            DataError: If the data has other bins, or labels that do not fit.
            NotSupportedError: If trees have learned from statistics of the labels so far.
        """
        if self._derived is not None and self.trees:
            raise NotSupportedError(
                message(
                    "update() cannot change labels or data of a training with target statistics",
                    hint="Train with cat_target_statistics=off.",
                )
            )
        changed = copy(self)
        changed._take_data(train_set)
        changed._is_stale = True  # scores of the trees are still to be added
        vars(self).update(vars(changed))
        self.refresh()

    def _take_data(self, train_set: Dataset) -> None:
        before, table = self.train, None if self.base is None else RawRows.of(train_set)
        if train_set is not before.data:
            train_set.use_params(self.params).set_reference(before.data)
        train_set.make_trainable()
        if not train_set.binned.binning.is_same(before.binned.binning):
            raise DataError(
                message(
                    "the new training data has other bins than the data so far",
                    hint="Make it with reference=train_set, or take a subset().",
                )
            )
        check_same_targets(train_set.targets, self._labels, "training")
        function = getattr(self.objective, "function", None)
        if isinstance(self.objective, Custom) and function is not None:
            self.objective = make_custom(function, train_set, self.n_outputs)
        else:
            self.objective = make_objective(self.params, train_set)
            if not self.trees:  # the best constant is found again
                self._is_started, self.start = False, np.zeros(self.n_outputs)
        if train_set is not before.data or table is not None or self.base is None:
            # (otherwise: scored by the base when its table was still there)
            self.train = self._scored(train_set, "training", table)
        if self.base is None and not self.trees:
            self._derive()
        is_same = self.train.table is before.table and self.train.raw is before.raw
        self._prepare(self._grower if is_same else None)

    @one_at_a_time
    def reset_params(self, params: Params) -> None:
        """Go on with other parameters.

        Raises:
            ParameterError: If one of them cannot change during a training.
        """
        for name in _FIXED:
            if params[name] != self.params[name]:
                raise ParameterError(
                    message(
                        f"{name} cannot change during a training",
                        got=params[name],
                        expected=repr(self.params[name]),
                    )
                )
        if self._derived is not None:
            check_options(params)
        # Nothing is changed before all of it is known to fit.
        sampler, metrics = self._sampler, self.metrics
        names = ("data_sample_strategy", *sampler.uses)
        if any(params[name] != self.params[name] for name in names):
            sampler = make_row_sampler(params, self._targets, self.n_outputs)
        if params.metric is not None or not isinstance(self.objective, Custom):
            n_targets = self.train.targets.n_targets
            metrics = make_metrics(params, self.objective, n_targets)
        gradients = self._gradients
        if sampler.weighs_rows != self._sampler.weighs_rows:
            gradients = self._make_gradients(sampler.weighs_rows)
        self._grower.set_params(params)
        self.params, self._sampler, self.metrics = params, sampler, metrics
        self._gradients = gradients
        self.boosting.set_params(params)
        self._recount()
        self._choose_threads()
        self._model = None

    def _recount(self) -> None:
        """Costs of features are paid by the trees so far, those of the base model among them."""
        base = () if self.base is None else self.base.trees()
        is_stale, self._is_stale = self._is_stale, True  # a count that fails is done again
        self._grower.recount(itertools.chain(base, self.trees), self.train.n_threads)
        self._is_stale = is_stale

    @one_at_a_time
    def rollback(self) -> None:
        """Take the last round back; scores become what they were, bit for bit."""
        if self.trees:
            self.rewind(self.n_rounds - 1)

    @one_at_a_time
    def rewind(self, n_rounds: int, *, with_scores: bool = True) -> None:
        """Go back to the state after so many rounds.

        Args:
            n_rounds: Rounds that stay.
            with_scores: Whether training or evaluation will go on from there.
        """
        self._is_stale = True  # until all of it is done, whatever happens
        try:
            self.boosting.rewind(self, n_rounds, with_scores)
        finally:
            del self._states[self.n_rounds + 1 :]
        self._is_stale = not with_scores
        self._recount()
        self._model = None

    @one_at_a_time
    def refresh(self) -> None:
        """Make scores again where a round was left half-way."""
        if self._is_stale:
            self.replay()

    @one_at_a_time
    def replay(self) -> None:
        """Make the scores again from the trees, in the order of the rounds: bit for bit."""
        self._model = None
        self._is_stale = True  # until all of it is done, whatever happens
        for scored in (self.train, *self.valid):
            self.boosting.start_scores(self, scored)
            self.boosting.add_rounds(self, scored)
        self._is_stale = False
        self._recount()

    def _table_names(self) -> list[str] | None:
        found = self.train.data.table_names
        return self.base.model.table_names if found is None and self.base is not None else found

    @one_at_a_time
    def to_model(self) -> Model:
        """Return the model so far."""
        model, n_columns = self._model, self.train.table.binning.n_columns
        n_base, names = self.n_base_trees, self.train.data.get_feature_name()
        if model is not None and model.forest.n_trees == n_base + len(self.trees):
            return model
        if model is not None and not self.boosting.rescales:
            forest = model.forest.extend(self.trees[model.forest.n_trees - n_base :])
        elif self.base is not None:
            forest = self.base.model.forest.extend(self.trees)
        else:
            n_parallel = self.params.num_parallel_tree
            forest = Forest.from_trees(self.trees, self.n_outputs, n_columns, n_parallel)
        self._model = Model(
            self.objective.for_prediction(),
            names if self.base is None else self.base.names(names),
            self.start.copy() if self.base is None else self.base.model.start,
            self.boosting.weigh(forest),
            {k: v for k, v in self.params.to_dict(given_only=True).items() if k not in _OF_MACHINE},
            self.train.data.levels,
            self.boosting.averages,
            None if self._derived is None else self._derived.derived,
            table_names=self._table_names(),
        )
        return self._model


def _constant(tree: Any, keeps_value: bool) -> Tree:
    """Return a tree that could not split; without its value it counts for nothing."""
    found = Tree.constant(0.0, float(tree.leaf_weight[0]), int(tree.leaf_count[0]), tree.n_values)
    return replace(found, leaf_value=tree.leaf_value) if keeps_value else found
