"""The Python face of the native grower: parameters in, one tree out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.data.storage.binned import BinnedTable
from gossamer.data.storage.budget import Budget, leaf_bytes, sample_need, samples_rows
from gossamer.data.storage.row_files import RowFiles
from gossamer.data.table.matrix import Values
from gossamer.data.table.names import default_names
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.objectives import Gradients, Objective
from gossamer.params import TABLE, Params
from gossamer.params.check_method import splits_by_value
from gossamer.params.check_monotone import has_monotone
from gossamer.params.column_options import by_column
from gossamer.sampling import Bag, make_key
from gossamer.sampling.keys import Stream
from gossamer.threads import resolve_threads
from gossamer.tree.gathered import SampleGrower
from gossamer.tree.grow_settings import make_grow_params
from gossamer.tree.limits import check_vector_leaves, make_costs, make_limits
from gossamer.tree.tree import Tree

if TYPE_CHECKING:
    from gossamer.cuda.trainer import DeviceTrainer

_COSTS: Final = tuple(name for name, param in TABLE.items() if param.cost)

# Rows have 31 bits in a sorted column.
_MAX_SORTED_ROWS: Final = 2**31 - 1

# Most candidates of a feature with bins of 16 bits.
_MOST_PROPOSED: Final = 2**16 - 2

# Numbers of the native core.
MONOTONE_METHODS: Final = ("basic", "intermediate", "advanced")


class TreeGrower:
    """Grows trees on one binned table."""

    def __init__(
        self,
        table: BinnedTable,
        params: Params,
        objective: Objective,
        names: Sequence[str] | None = None,
        feature_weights: npt.NDArray[np.float64] | None = None,
        raw: Values | None = None,
        held: int = 0,
    ) -> None:
        """Make a grower; nothing is computed yet.

        Args:
            table: The binned training data.
            params: Checked parameters.
            objective: Says how many outputs there are, and how leaf values are found.
            names: Names of the columns, for parameters that use them.
            feature_weights: Sampling weights of the columns that came with the data.
            raw: The user's own table, where leaves are linear or splits found by value.
            held: Of `max_memory`, the bytes that are not for histograms and samples.
        """
        self._table = self._given = table
        self._held = held
        self._uses_files = False
        self._names = default_names(table.binning.n_columns) if names is None else names
        self._objective = objective
        self._params = params
        self._feature_weights = feature_weights
        self._raw = raw
        self._sorted: _native.SortedTable | None = None
        self._proposals: _native.Proposals | None = None
        self._costs: _native.FeatureCosts | None = None
        self._costs_of: list[object] = []  # the parameters they were made from
        if self.has_vector_leaves and table.binning.is_categorical.any():
            raise NotSupportedError.because(
                "trees with several values per leaf do not split categories",
                found="categorical columns",
                expected="multi_strategy=one_output_per_tree, not multi_output_tree",
                hint="Leave multi_strategy out, or encode the categories as numbers.",
            )
        self._native = table.make_grower(self.has_vector_leaves)
        self._samples = SampleGrower(table.bins)
        self._pages = _native.PageKeeper(table.bins)
        self.device: DeviceTrainer | None = None  # where trees grow; None: on the CPU
        self.set_params(params)
        if params.device_type != "cpu":
            self.device = self._find_device()

    def _find_device(self) -> DeviceTrainer | None:
        from gossamer.cuda.supported import find_device  # trainings on the CPU do not wait for it
        from gossamer.cuda.trainer import DeviceTrainer

        params, table = self._params, self._table
        device = find_device(params, self._objective, table.bins, is_whole=table.is_whole)
        if device is None:
            return None
        n_threads = resolve_threads(params.num_threads, table.n_rows, table.binning.n_columns)
        return DeviceTrainer(device, table.bins, self._settings, n_threads)

    @property
    def has_vector_leaves(self) -> bool:
        """Whether one tree serves all outputs, with a value for each of them in every leaf."""
        several = self._objective.n_outputs > 1
        return several and self._params.multi_strategy == "multi_output_tree"

    def with_fields(
        self, objective: Objective, feature_weights: npt.NDArray[np.float64] | None
    ) -> TreeGrower:
        """Return a grower for other labels of the same table; its sorted columns are shared."""
        other = copy(self)
        other._feature_weights = feature_weights
        other.set_objective(objective)
        return other

    def set_objective(self, objective: Objective) -> None:
        """Take another objective for the trees to come."""
        self._objective = objective
        self.set_params(self._params)

    def set_held(self, held: int) -> None:
        """Leave other memory to histograms and samples from now on, see `max_memory`."""
        self._held = held
        self.set_params(self._params)

    def use_row_files(self, files: RowFiles) -> None:
        """Round gradients where they are from now on; see `Placement`."""
        self._uses_files = True
        self.set_params(self._params)
        # Where the largest gradient is far above the others, a row takes four numbers.
        self._native.round_in_place(files.zeros(4 * self._table.n_rows, np.uint32))

    def set_params(self, params: Params) -> None:
        """Take other settings for the trees to come; those before stay where they do not fit."""
        before = vars(self).copy()
        try:
            self._take(params)
        except BaseException:
            vars(self).update(before)
            raise

    def _take(self, params: Params) -> None:
        self._params = params
        if self.device is not None:
            from gossamer.cuda.supported import check_on_gpu

            whole = self._table.is_whole
            check_on_gpu(params, self._objective, self._table.bins, is_whole=whole)
        self._limits = self._make_limits()
        if splits_by_value(params) and self._sorted is None:
            self._sort_columns()
        budget, bins, n_outputs = Budget.of(params), self._given.bins, self._objective.n_outputs
        # Loaded when a tree is grown: until then, validation data may take the memory.
        self._loaded_bytes = 0 if self._uses_files else budget.loaded_bytes(bins, self._held)
        if self._loaded_bytes == 0 and self._table is not self._given:
            self._use_table(self._given)
        self._settings = [self._make_settings(k) for k in range(n_outputs)]
        self._refits_leaves = any(settings.refit for settings in self._settings)
        histograms, held = self._settings[0].max_histogram_bytes, self._held + self._loaded_bytes
        self._for_sample = budget.reserved_for_sample(bins, params, n_outputs, held)
        kept = budget.kept_bytes(held, histograms, self._for_sample)
        self._pages.keep(0 if self._loaded_bytes else kept)
        self._column_seed = params.feature_fraction_seed
        self._threshold_seed = params.extra_seed
        fractions = (
            params.feature_fraction,
            params.feature_fraction_bylevel,
            params.feature_fraction_bynode,
        )
        self._samples_columns = min(fractions) < 1

    def _use_table(self, table: BinnedTable) -> None:
        """Grow trees on other bins of the same rows."""
        self._samples.stats.update(self._native.stats())
        self._table = table
        self._native = table.make_grower(self.has_vector_leaves)

    def _load(self, n_threads: int) -> None:
        """Read bins from disk that fit in memory."""
        rows = np.arange(self._given.n_rows, dtype=np.uint32)
        bins = self._given.bins.take_rows(rows, n_threads, as_sample=True)
        self._use_table(BinnedTable(self._given.binning, bins, self._given.choice))

    def _sort_columns(self) -> None:
        params, binning = self._params, self._table.binning
        if params.tree_method == "exact" and binning.is_categorical.any():
            column = int(binning.columns[binning.is_categorical][0])
            raise ParameterError.because(
                "tree_method=exact does not take categorical columns",
                got=self._names[column],
                expected="numbers",
                hint="Use tree_method=hist or approx, or encode the categories as numbers.",
            )
        if self._table.n_rows > _MAX_SORTED_ROWS:
            raise NotSupportedError.because(
                f"tree_method={params.tree_method} sorts the rows",
                found=f"{self._table.n_rows} rows",
                expected=f"at most {_MAX_SORTED_ROWS}",
                hint="Use tree_method=hist.",
            )
        n_threads = resolve_threads(params.num_threads, self._table.n_rows, binning.n_columns)
        self._sorted = _native.sort_columns(self._table.bins, self._raw, n_threads)
        if self._proposes_bins():
            bins = self._table.bins
            self._proposals = _native.Proposals(bins, self._sorted, params.sketch_eps)
            self._native = _native.Grower(self._proposals.matrix)

    def _proposes_bins(self) -> bool:
        """Whether rows are binned again for every tree; else sorted columns hold the candidates."""
        params = self._params
        if params.tree_method != "approx" or params.proposal != "global":
            return False
        is_sparse = isinstance(self._raw, _native.SparseMatrix)
        return not is_sparse and params.sketch_eps * _MOST_PROPOSED >= 1

    def _make_limits(self) -> _native.FeatureLimits | None:
        params, binning = self._params, self._table.binning
        if self.has_vector_leaves:
            check_vector_leaves(params)
        asked = [params[name] for name in _COSTS]
        if asked != self._costs_of:
            self._costs = make_costs(params, binning, self._names, self._table.bins.n_rows)
            self._costs_of = asked
        return make_limits(params, binning, self._names, self._costs, self._feature_weights)

    def recount(self, trees: Iterable[Any], n_threads: int) -> None:
        """Forget which features have been paid for, but by these trees.

        Args:
            trees: The trees of the model. Rows pay for what they pass; of trees of other bins
                (`Tree`) it is only known which columns they use, which settles coupled costs.
            n_threads: Threads to use.
        """
        if self._costs is None or not self._costs.remembers:
            return
        self._costs.clear()
        for tree in trees:
            found = tree if isinstance(tree, _native.Tree) else self._with_bins(tree)
            if found is not None:
                self._costs.add_tree(self._table.bins, found, n_threads)
                continue
            for feature in np.flatnonzero(np.isin(self._table.binning.columns, tree.column)):
                self._costs.use(int(feature))

    def _with_bins(self, tree: Tree) -> _native.Tree | None:
        """Return a tree of the same bins; None: of others, or without a split."""
        if tree.n_leaves == 1:
            return None
        try:
            return _native.make_tree(self._table.bins, vars(tree), tree.n_values)
        except IndexError:
            return None

    def _make_settings(self, output: int) -> _native.GrowParams:
        settings = make_grow_params(self._params)
        settings.limits = self._limits
        settings.max_histogram_bytes = Budget.of(self._params).histogram_bytes(
            self._table.bins,
            self._params,
            self._held + self._loaded_bytes,
            settings.max_histogram_bytes,
            settings.num_leaves,
        )
        if self._proposals is not None:
            settings.proposals = self._proposals
        elif self._sorted is not None:
            settings.sorted = self._sorted
            if self._params.tree_method == "approx":
                setattr(settings, f"{self._params.proposal}_eps", self._params.sketch_eps)
        if has_monotone(self._params):
            self._set_monotone(settings)
        if self._params.max_delta_step <= 0:  # otherwise the user's own limit holds
            settings.damp_from = self._objective.damp_from
        refit = self._objective.leaf_refit_of(output)
        if refit is not None:
            settings.refit = True
            settings.refit_alpha = refit.alpha
            settings.refit_delta = refit.delta
        return settings

    def set_step(self, learning_rate: float, value_unit: float = 0.0) -> None:
        """Take another learning rate for the trees to come.

        Args:
            learning_rate: Factor of every leaf value, divided by the number of parallel trees.
            value_unit: A power of two that leaf values are rounded to multiples of; 0: none.
        """
        for settings in self._settings:
            settings.learning_rate = learning_rate / self._params.num_parallel_tree
            settings.value_unit = value_unit

    @property
    def refits_leaves(self) -> bool:
        """Whether leaf values are found again from residuals."""
        return self._refits_leaves

    def _set_monotone(self, settings: _native.GrowParams) -> None:
        params = self._params
        if self.has_vector_leaves:
            raise ParameterError.because(
                "monotone_constraints cannot be combined with multi_strategy=multi_output_tree",
                got=params.monotone_constraints,
                expected="one value per leaf",
                hint="Use multi_strategy=one_output_per_tree.",
            )
        what = "monotone_constraints"
        directions = by_column(params.monotone_constraints, self._names, what, 0)
        binning = self._table.binning
        for column in binning.columns[binning.is_categorical]:
            if directions[column] != 0:
                raise ParameterError.because(
                    f"{what} constrains the categorical column {self._names[column]!r}",
                    got=directions[column],
                    expected="0",
                    hint="Categories have no order; give the column as numbers, not in "
                    "categorical_feature, if its values have one.",
                )
        settings.monotone_directions = [directions[c] for c in binning.columns]
        settings.monotone_method = MONOTONE_METHODS.index(params.monotone_constraints_method)
        settings.monotone_penalty = params.monotone_penalty

    @property
    def is_random(self) -> bool:
        """Whether another round may try other splits on the same gradients."""
        return self._samples_columns or self._params.extra_trees

    def grow(
        self,
        gradients: Gradients,
        bag: Bag | None,
        n_round: int,
        score: npt.NDArray[np.float64],
        targets: Targets,
        n_threads: int,
        *,
        is_linear: bool = False,
        n_set: int = 0,
    ) -> list[_native.Tree]:
        """Grow the tree of each output, or one for all, and add its values to the scores.

        A tree that could not split has one leaf and adds nothing.

        Args:
            gradients: Where the loss falls.
            bag: Rows to grow on; None: all.
            n_round: Number of the round: random choices depend on it.
            score: Raw scores, output-major.
            targets: Labels as the loss sees them.
            n_threads: Threads to use; trees do not depend on it.
            is_linear: Whether leaves get linear models.
            n_set: Which of the round's parallel trees these are: random choices depend on it, too.
        """
        if self._loaded_bytes > 0 and self._table is self._given:
            self._load(n_threads)
        settings = self.settings_of(n_round, n_set)
        if is_linear and self._params.linear_check and self._objective.hessian_is_variance:
            weight = targets.weight
            for own in settings:
                own.linear_noise = 1.0 if weight is None else float(np.mean(weight, dtype=float))
        rows = None if bag is None else bag.inside
        label = targets.label if self.refits_leaves else None
        if self.device is not None:
            from gossamer.cuda.refit import Refit

            refit = None if label is None else Refit(gradients.hessian, label, score, n_threads)
            trees = self.device.grow(gradients, rows, settings, refit)
            for own, tree, output in zip(settings, trees, np.split(score, len(trees)), strict=True):
                if own.refit and tree.n_leaves > 1 and bag is not None:
                    self._table.add_tree(tree, output, n_threads, bag.outside)
                elif not own.refit and tree.n_leaves > 1:
                    self._table.add_tree(tree, output, n_threads)
            return trees
        if rows is not None and self.gathers(len(rows)):
            trees = self._samples.grow(gradients, rows, self._settings, label, score, n_threads)
        else:
            adds_to_others = bag is not None and self._raw is None and self._table.is_whole
            trees = self._native.grow(
                gradients.gradient,
                gradients.hessian,
                rows,
                self._settings,
                label,
                score,
                n_threads,
                self._raw if is_linear else None,
                adds_to_others,
            )
            if adds_to_others:
                return trees
        if bag is not None:
            for tree, output in zip(trees, np.split(score, len(trees)), strict=True):
                if tree.n_leaves > 1:
                    self._table.add_tree(tree, output, n_threads, bag.outside, raw=self._raw)
        return trees

    def grow_rounds(
        self,
        n_rounds: int,
        loss: _native.RowLoss,
        gradients: Gradients,
        score: npt.NDArray[np.float64],
        targets: Targets,
        largest: float,
        n_threads: int,
    ) -> list[_native.Tree] | None:
        """Grow the trees of several rounds on all rows, one round after another.

        Ends early after a round with a tree that could not split, or a leaf value above `largest`.

        Args:
            n_rounds: Number of rounds.
            loss: What gradients follow from.
            gradients: Memory for them.
            score: Raw scores, output-major; the trees are added to them.
            targets: Labels and weights as the loss sees them.
            largest: See above.
            n_threads: Threads to use; trees do not depend on it.

        Returns:
            The trees; None: each round needs something of Python.
        """
        if self.device is not None or self.is_random or self._refits_leaves:
            return None
        # Workers grow trees together: another class takes the place of the native grower there.
        grower = self._native
        if not isinstance(grower, _native.Grower) or self._params.linear_tree:
            return None
        if _native.on_disk(self._table.bins) is not None:
            return None
        return grower.grow_rounds(
            n_rounds,
            loss,
            targets.label,
            targets.weight,
            gradients.gradient,
            gradients.hessian,
            self._settings,
            score,
            largest,
            n_threads,
        )

    def settings_of(self, n_round: int, n_set: int = 0) -> list[_native.GrowParams]:
        """Return the settings of the trees of a round; random choices depend on its number."""
        if not self.is_random:
            return self._settings
        for k, settings in enumerate(self._settings, n_set * len(self._settings)):
            if self._samples_columns:
                settings.column_key = make_key(self._column_seed, Stream.COLUMNS, n_round, k)
            if self._params.extra_trees:
                settings.extra_key = make_key(self._threshold_seed, Stream.THRESHOLDS, n_round, k)
        return self._settings

    def gathers(self, n_sampled: int) -> bool:
        """Whether the bins of a sample are read from disk once, and the tree grown in memory."""
        if _native.on_disk(self._table.bins) is None or self._costs is not None:
            return False
        need = sample_need(self._table.bins, n_sampled, self._objective.n_outputs)
        if samples_rows(self._params):
            return need <= self._for_sample
        return need <= Budget.of(self._params).most_for_sample(self._held)

    def memory_between_rounds(self) -> int:
        """Return the bytes of `max_memory` that the training takes between two rounds."""
        if self._params.max_memory == 0:
            return 0
        # On pages, the rows of leaves are known while a tree grows, and no longer.
        is_on_disk = _native.on_disk(self._given.bins) is not None and not self._loaded_bytes
        in_leaves = leaf_bytes(self._table.n_rows, self._params) if is_on_disk else 0
        held = self._held + self._loaded_bytes - in_leaves
        return held + self._settings[0].max_histogram_bytes

    def stats(self) -> dict[str, float]:
        """Return seconds per stage and amounts of work so far."""
        more = self._samples.stats
        return {name: value + more.get(name, 0) for name, value in self._native.stats().items()}
