"""The state of a training, and what happens in a round."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Dataset, Targets
from gossamer.data.built import BuiltData, GivenRows
from gossamer.data.storage.on_disk import check_training
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.metrics import CustomMetric, EvalResult, make_metrics
from gossamer.model.derived import DerivedTables, check_options, derive
from gossamer.model.model import Model
from gossamer.model.training.base_model import BaseModel
from gossamer.model.training.boosting import Boosting
from gossamer.model.training.current_model import current_model
from gossamer.model.training.fixed_params import check_fixed
from gossamer.model.training.memory import place_rows
from gossamer.model.training.one_at_a_time import one_at_a_time
from gossamer.model.training.prepared import place_scores, prepare
from gossamer.model.training.random_forest import RandomForest
from gossamer.model.training.rounds import train_round, train_rounds
from gossamer.model.training.scored_set import ScoredSet, evaluate_scores, make_scored
from gossamer.objectives import Custom, make_custom, make_objective
from gossamer.objectives.custom import CustomFunction
from gossamer.objectives.several import check_same_targets
from gossamer.params import Params
from gossamer.threads import threads_to_train


class Training:
    """One training: data, objective, metrics, scores, and the trees so far.

    Several threads may use it. What takes more than one call takes `lock` around them.
    """

    def __init__(
        self,
        params: Params,
        data: BuiltData,
        given: Dataset,
        base: BaseModel | None = None,
        table: GivenRows | None = None,
    ) -> None:
        """Check the labels, make buffers for scores and gradients.

        Args:
            params: Checked parameters.
            data: The training data.
            given: The user's data set, which functions of the user are called with.
            base: A model to continue from.
            table: The user's table, which the base is applied to; None: it is released.
        """
        if data.source.own.linear_tree and "linear_tree" not in params.given:
            params = params.replace(linear_tree=True)
        check_training(params, data.table)
        self.lock = RLock()
        self.params = params
        self._most_threads: int | None = None
        self.base = base
        self.objective = make_objective(params, data.whole().targets, given)
        self.metrics = make_metrics(params, self.objective, data.targets.n_targets)
        self.n_outputs = self.objective.n_outputs
        place_rows(params, self.objective, data, (), base)  # raises before anything is made
        self.boosting = _make_boosting(params)
        self.valid: list[ScoredSet] = []
        train = self._scored(data, given, "training", table)
        self.train, held = place_scores(params, self.objective, train, (), base)
        self.start = np.zeros(self.n_outputs)
        # As they were grown (native trees, or constant ones that replace them): the model may weigh
        # them, see `Boosting.weigh`.
        self.trees: list[Any] = []
        # Whether a round in which no tree can split ends the training, as in LightGBM; else its
        # trees are constants, as in XGBoost.
        self.ends_without_split = True
        self.is_started = False  # whether scores start from something
        self.is_stale = False  # whether scores must be made again from the trees
        self._derived: DerivedTables | None = None
        if base is None:
            self._derive()
        self.prepared = prepare(params, self.train, self.objective, held=held)
        self._reset_states()
        self._model: Model | None = None
        if base is not None:
            base.check_training(self)
            self._recount()

    def _reset_states(self) -> None:
        """Forget what the objective has learned.

        There is one state before each round, and one after the last. They are about the training
        data: trees of other data leave nothing behind.
        """
        state = self.objective.start_state(self.prepared.targets)
        self.states = [state] * (self.n_rounds + 1)

    def _derive(self) -> None:
        """Learn derived columns from the training data, and give them to all data sets."""
        self._derived = derive(self.params, self.train.data, self.objective)
        table = None if self._derived is None else self._derived.table.own()
        self.train = replace(self.train, derived=table)
        self.valid = [self._with_derived(scored) for scored in self.valid]

    def _with_derived(self, scored: ScoredSet) -> ScoredSet:
        derived, table = self._derived, scored.data.table.whole()
        extended = None if derived is None else derived.extend(table, scored.n_threads).own()
        return replace(scored, derived=extended)

    @property
    def trees_per_set(self) -> int:
        """One for each output, or one for all of them."""
        return self.prepared.trees_per_set

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

    # ---- rounds: see `rounds.py` ----

    def train_round(self) -> bool:
        """Do one round, or none: whatever is raised in it, the model keeps the rounds before.

        Returns:
            Whether training is finished: no tree could be split, and another round would not do
            better.
        """
        return train_round(self)

    def train_rounds(self, n_rounds: int) -> bool:
        """Do several rounds, without a look at the scores in between; at least one is done.

        If something is raised in one of them, the model keeps the rounds before it, or before all
        of them.

        Args:
            n_rounds: Rounds to do at the most.

        Returns:
            As `train_round` does.
        """
        return train_rounds(self, n_rounds)

    def add_start(self) -> None:
        """Start from the best constant, unless there are scores to start from."""
        self.is_started = True
        base_score = self.params.base_score
        if self.train.base is not None:
            return
        if base_score is not None:
            self.start[:] = self.objective.start_at(base_score)
        elif self.params.boost_from_average:
            self.start[:] = self.objective.start_scores(self._whole_targets())
        else:
            return
        for scored in (self.train, *self.valid):
            self.boosting.start_scores(self, scored)

    def _whole_targets(self) -> Targets:
        """Labels of all workers' rows as the objective takes them."""
        data = self.train.data
        whole = data.whole()
        return self.prepared.targets if whole is data else self.objective.prepare(whole.targets)

    def start_at(self, scores: npt.NDArray[np.float64]) -> None:
        """Start from these scores, one for each output, before the first round.

        Raises:
            ParameterError: If there is not one for each.
        """
        if len(scores) != self.n_outputs:
            what = "there is not one score to start from for each output"
            raise ParameterError.because(what, got=scores.tolist(), expected=f"{self.n_outputs}")
        self.is_started = True
        if self.train.data.rows.init_score is not None or self.base is not None:
            return
        self.start[:] = scores
        for scored in (self.train, *self.valid):
            self.boosting.start_scores(self, scored)

    @one_at_a_time
    def use_function(self, function: CustomFunction) -> None:
        """Train with a custom objective from now on."""
        if isinstance(self.objective, Custom) and self.objective.function is function:
            return
        self.boosting.check_function()
        custom = make_custom(function, self.train.given, self.n_outputs)
        changed = copy(self)
        if self.params.metric is not None:
            changed.metrics = make_metrics(self.params, custom, self.train.targets.n_targets)
        elif self.objective.metrics is not None:
            changed.metrics = []  # its own metric reads no scores but its own
        changed.objective = custom
        changed.prepared = self.prepared.with_function(custom, self.train)
        changed.states = [None] * len(self.states)
        changed.is_started = True
        changed._model = None
        vars(self).update(vars(changed))

    def stage_stats(self) -> dict[str, float]:
        """Return seconds per stage and amounts of work of all trees so far."""
        return self.prepared.grower.stats()

    def is_on_disk(self) -> bool:
        """Whether the bins of the training data are on disk."""
        return _native.on_disk(self.train.table.bins) is not None

    def n_passes(self) -> int:
        """Return how often the training data was read from disk; 0: its bins are in memory."""
        pages = _native.on_disk(self.train.table.bins)
        return 0 if pages is None else int(pages["passes"])

    def could_sample(self, share: float) -> bool:
        """Whether trees use all rows, and a sample of them would be read from disk just once."""
        n_sampled = int(share * self.train.data.n_rows)
        return not self.prepared.sampler.is_on and self.prepared.grower.gathers(n_sampled)

    # ---- data sets ----

    @one_at_a_time
    def add_valid(
        self, data: BuiltData, given: Dataset, name: str, table: GivenRows | None = None
    ) -> ScoredSet:
        """Add data to evaluate; the trees so far are added to its scores.

        Args:
            data: The data, in the bins of the training data.
            given: The user's data set, which functions of the user are called with.
            name: What results call it.
            table: The user's table, which the base is applied to; None: it is released.

        Raises:
            DataError: If its bins or labels do not fit.
        """
        data.check_same_bins(
            self.train.data,
            f"the data set {name!r} has other bins than the training data",
            "Make it with reference=train_set, or train_set.create_valid().",
        )
        self._check_labels(data.targets, name)
        every = [*(scored.data for scored in self.valid), data]
        self.train, held = place_scores(self.params, self.objective, self.train, every, self.base)
        self.prepared = self.prepared.with_scores(self.train, held)
        scored = self._with_derived(self._scored(data, given, name, table))
        if self.is_started:
            self.boosting.start_scores(self, scored)
        self.boosting.add_rounds(self, scored)
        self.valid.append(scored)
        return scored

    def _check_labels(self, targets: Targets, name: str) -> None:
        check_same_targets(targets, self.prepared.labels, name)
        self.objective.check_valid(targets, self.prepared.labels, name)

    def _scored(
        self, data: BuiltData, given: Dataset, name: str, table: GivenRows | None
    ) -> ScoredSet:
        self.boosting.check_data(data, name)
        n_threads, base = self._threads_for(data), None
        if self.base is not None:
            self.base.check_fits(data, self.objective)
            self.base.check_levels(data)
            base = self.base.scores(data, name, table, n_threads)
        return make_scored(self.params, data, given, name, self.n_outputs, n_threads, base)

    def _threads_for(self, data: BuiltData) -> int:
        found = threads_to_train(self.params.num_threads, data.n_rows, data.n_columns)
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
        targets: Targets | None = None,
    ) -> list[EvalResult]:
        """Evaluate all metrics on one of the data sets.

        Args:
            scored: The data set.
            name: What results call it.
            feval: Metrics of the user's.
            targets: Labels and weights that were set since; None: as they were.
        """
        self.refresh()
        score = self.boosting.current(self, scored)
        if targets is None or targets is scored.targets:
            targets = scored.targets
        else:
            self._check_labels(targets, name)
        if scored.table.window is not None:
            score, targets = scored.table.gather_scores(score), scored.data.whole().targets
        return evaluate_scores(self.metrics, self.objective, scored, name, score, targets, feval)

    # ---- changes ----

    @one_at_a_time
    def use_data(self, data: BuiltData, given: Dataset, table: GivenRows | None = None) -> None:
        """Train on other data from now on, or on the same data whose fields have changed.

        All of it is made apart from this training, which stays as it is if something does not fit.

        Args:
            data: The data, in the bins of the training data so far.
            given: The user's data set, which functions of the user are called with.
            table: The user's table, which the base is applied to; None: it is released.

        Raises:
            DataError: If the data has other bins, or labels that do not fit.
            NotSupportedError: If trees have learned from statistics of the labels so far.
        """
        if self._derived is not None and self.trees:
            raise NotSupportedError.because(
                "update() cannot change labels or data of a training with target statistics",
                hint="Train with cat_target_statistics=off.",
            )
        changed = copy(self)
        changed._take_data(data, given, table)
        changed.is_stale = True  # scores of the trees are still to be added
        vars(self).update(vars(changed))
        self.refresh()

    def _take_data(self, data: BuiltData, given: Dataset, table: GivenRows | None) -> None:
        before = self.train
        check_training(self.params, data.table)
        data.check_same_bins(
            before.data,
            "the new training data has other bins than the data so far",
            "Make it with reference=train_set, or take a subset().",
        )
        check_same_targets(data.targets, self.prepared.labels, "training")
        function = getattr(self.objective, "function", None)
        if isinstance(self.objective, Custom) and function is not None:
            self.objective = make_custom(function, given, self.n_outputs)
        else:
            self.objective = make_objective(self.params, data.targets, given)
            if not self.trees:  # the best constant is found again
                self.is_started, self.start = False, np.zeros(self.n_outputs)
        if given is not before.given or table is not None or self.base is None:
            self.train = self._scored(data, given, "training", table)
        else:  # scored by the base when its table was still there
            self.train = replace(before, data=data)
        if self.base is None and not self.trees:
            self._derive()
        is_same = self.train.table is before.table and self.train.raw is before.raw
        grower = self.prepared.grower if is_same else None
        every = [scored.data for scored in self.valid]
        self.train, held = place_scores(self.params, self.objective, self.train, every, self.base)
        self.prepared = prepare(self.params, self.train, self.objective, grower, held)
        self._reset_states()

    @one_at_a_time
    def reset_params(self, params: Params) -> None:
        """Go on with other parameters.

        Raises:
            ParameterError: If one of them cannot change during a training.
        """
        check_fixed(params, self.params)
        if self._derived is not None:
            check_options(params)
        # Nothing is changed before all of it is known to fit.
        prepared, metrics = self.prepared.with_params(params, self.params), self.metrics
        if params.metric is not None or not isinstance(self.objective, Custom):
            n_targets = self.train.targets.n_targets
            metrics = make_metrics(params, self.objective, n_targets)
        prepared.grower.set_params(params)
        self.params, self.prepared, self.metrics = params, prepared, metrics
        self.boosting.set_params(params)
        self._recount()
        self._choose_threads()
        self._model = None

    def _recount(self) -> None:
        """Costs of features are paid by the trees so far, including the base model's trees."""
        base = () if self.base is None else self.base.trees()
        is_stale, self.is_stale = self.is_stale, True  # a count that fails is done again
        self.prepared.grower.recount(itertools.chain(base, self.trees), self.train.n_threads)
        self.is_stale = is_stale

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
            with_scores: Whether training or evaluation will resume from there.
        """
        self.is_stale = True  # until all of it is done, whatever happens
        try:
            self.boosting.rewind(self, n_rounds, with_scores)
        finally:
            del self.states[self.n_rounds + 1 :]
        self.is_stale = not with_scores
        self._recount()
        self._model = None

    @one_at_a_time
    def refresh(self) -> None:
        """Make scores again where a round was left half-way."""
        if self.is_stale:
            self.replay()

    @one_at_a_time
    def replay(self) -> None:
        """Make the scores again from the trees, in the order of the rounds: bit for bit."""
        self._model = None
        self.is_stale = True  # until all of it is done, whatever happens
        for scored in (self.train, *self.valid):
            self.boosting.start_scores(self, scored)
            self.boosting.add_rounds(self, scored)
        self.is_stale = False
        self._recount()

    @one_at_a_time
    def to_model(self) -> Model:
        """Return the model so far."""
        self._model = current_model(self, self._model, self._derived)
        return self._model


def _make_boosting(params: Params) -> Boosting:
    if params.boosting == "dart":
        from gossamer.model.training.dart import Dart  # only `dart` waits for it

        return Dart(params)
    return RandomForest(params) if params.boosting == "rf" else Boosting(params)
