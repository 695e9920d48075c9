"""Derived columns: target statistics of categorical columns, behind the user's own.

Codes of the columns are read from the bins, in training and validation, and from the table itself
in prediction. The derived columns are binned as any others and put next to the user's; the trees do
not know that they are derived.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Table
from gossamer.data.built import BuiltData
from gossamer.data.storage.binned import BinnedTable, bin_table, put_beside
from gossamer.data.storage.on_disk import write_beside
from gossamer.data.storage.row_files import blocks
from gossamer.errors import DataError, ParameterError
from gossamer.model.training.memory import check_statistics
from gossamer.objectives import Objective
from gossamer.params import Params
from gossamer.params.check_method import splits_by_value
from gossamer.params.traits import Kind
from gossamer.threads import map_on_threads, resolve_threads

if TYPE_CHECKING:
    from gossamer.data.categories.target_statistics import Codes, Source, TargetStatistics

# With cat_statistics_l2="auto": the L2 penalty for each row that the prior counts for (the ratio of
# the defaults, 50 and 5), and its bounds: less than the default was never better.
L2_PER_ROW: Final = 10.0
LEAST_L2: Final = 50.0
MOST_L2: Final = 200.0

# Options that speak of the user's columns one by one.
_NOT_WITH: Final = (
    "monotone_constraints",
    "interaction_constraints",
    "feature_contri",
    "feature_weights",
    "cegb_penalty_feature_lazy",
    "cegb_penalty_feature_coupled",
    "forcedsplits_filename",
)


@dataclass(frozen=True, eq=False)
class Derived:
    """How categorical columns become derived ones.

    Attributes:
        columns: The user's columns that are read, increasing.
        categories: The categories of each that were known in training, increasing; the code of a
            category is its place, and the number of everything else is one more.
        statistics: What was learned about the codes.
    """

    columns: tuple[int, ...]
    categories: tuple[npt.NDArray[np.int32], ...]
    statistics: TargetStatistics

    @property
    def n_columns(self) -> int:
        """Derived columns."""
        return self.statistics.n_features

    def sources_of(self, derived: int) -> tuple[int, ...]:
        """Return the user's columns that one of the derived columns is made of."""
        source = self.statistics.sources[derived // self.statistics.n_statistics]
        return tuple(self.columns[i] for i in source)

    def encode(self, values: npt.NDArray[Any], num_threads: int) -> npt.NDArray[np.float32]:
        """Return the derived columns of rows of the user's table (its columns in order)."""
        codes = [
            code_values(values[:, column], known)
            for column, known in zip(self.columns, self.categories, strict=True)
        ]
        return self.statistics.transform(codes, num_threads)

    @classmethod
    def join(cls, parts: Sequence[Derived | None]) -> tuple[Derived | None, list[int]]:
        """Put the derived columns of models over the same bins one after another.

        Returns:
            How all of them are made, and where the columns of each part begin among them.
        """
        there = [part for part in parts if part is not None]
        begin = np.cumsum([0, *(0 if part is None else part.n_columns for part in parts)])
        if not there:
            return None, begin[:-1].tolist()
        from gossamer.data.categories.target_statistics import TargetStatistics

        statistics = TargetStatistics.join([part.statistics for part in there])
        return cls(there[0].columns, there[0].categories, statistics), begin[:-1].tolist()

    @property
    def is_joined(self) -> bool:
        """Whether the columns were learned from several sets of rows."""
        return self.statistics.prior.ndim == 2

    # ---- files ----

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of a model file; `from_arrays` is the way back."""
        sizes = np.cumsum([0, *map(len, self.categories)], dtype=np.int64)
        own: dict[str, npt.NDArray[Any]] = {
            "columns": np.array(self.columns, dtype=np.int32),
            "category_begin": sizes,
            "category": np.concatenate(self.categories).astype(np.int32),
        }
        own |= self.statistics.to_arrays()
        return {f"derived.{name}": array for name, array in own.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], n_columns: int) -> Derived | None:
        """Make it from the arrays of a model file, and check them; None: there are none.

        Raises:
            ValueError: If they are wrong.
        """
        prefix = "derived."
        own = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
        if not own:
            return None
        wanted = {"columns": np.int32, "category_begin": np.int64, "category": np.int32}
        for name, dtype in wanted.items():
            if name not in own or own[name].dtype != dtype or own[name].ndim != 1:
                raise ValueError(f"derived.{name} is missing, or has a wrong type or shape")
        columns, begin, category = own["columns"], own["category_begin"], own["category"]
        if np.any(columns[1:] <= columns[:-1]) or np.any((columns < 0) | (columns >= n_columns)):
            raise ValueError("derived columns are made of columns that do not exist")
        if len(begin) != len(columns) + 1 or begin[0] != 0 or begin[-1] != len(category):
            raise ValueError("categories of derived columns are incomplete")
        if np.any(begin[1:] < begin[:-1]):  # a difference might overflow
            raise ValueError("categories of derived columns are out of order")
        categories = tuple(np.split(category, begin[1:-1]))
        if any(np.any(known[1:] <= known[:-1]) or np.any(known < 0) for known in categories):
            raise ValueError("categories of derived columns are not increasing")
        from gossamer.data.categories.target_statistics import TargetStatistics

        try:
            statistics = TargetStatistics.from_arrays(own)
        except DataError as error:
            raise ValueError(str(error)) from None
        if statistics.n_codes.tolist() != [len(known) + 1 for known in categories]:
            raise ValueError("statistics of derived columns belong to other categories")
        if np.any(statistics.offsets[1:] == statistics.offsets[:-1]):
            # Else few bytes could ask for any number of columns.
            raise ValueError("a source of derived columns knows no categories")
        is_joined = statistics.prior.ndim == 2
        if not is_joined and len(set(statistics.sources)) < len(statistics.sources):
            raise ValueError("two sources of derived columns are the same")
        return cls(tuple(columns.tolist()), categories, statistics)


def code_values(values: npt.NDArray[Any], known: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the codes of numbers: places among known categories, or one more for all others.

    Example:
        >>> code_values(np.array([7.0, 3.0, np.nan, 4.0]), np.array([3, 7], np.int32))
        array([1, 0, 2, 2])
    """
    whole = np.asarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        whole = np.trunc(whole)  # as in bins of categories
    is_number = (whole >= 0) & (whole <= np.iinfo(np.int32).max)
    numbers = np.where(is_number, whole, -1).astype(np.int64)
    places = np.searchsorted(known, numbers)
    found = np.append(known, -2)[places] == numbers
    return np.where(found, places, len(known))


@dataclass(frozen=True, eq=False)
class DerivedTables:
    """Derived columns in a training.

    Attributes:
        derived: How they are made.
        table: The training data, with all columns.
        own: The bins of the derived columns alone; it has no rows.
        params: Where tables on disk go.
    """

    derived: Derived
    table: BinnedTable
    own: BinnedTable
    params: Params

    def extend(self, binned: BinnedTable, n_threads: int) -> BinnedTable:
        """Return the table of other data with its derived columns."""
        features = np.flatnonzero(binned.binning.is_categorical)
        values = self.derived.statistics.transform(_codes_of_bins(binned, features)[1], n_threads)
        if _native.on_disk(binned.bins) is not None:
            return write_beside(binned, self.own, values, self.params, n_threads)
        right = BinnedTable(self.own.binning, _native.bin_like(self.own.bins, values, n_threads))
        return put_beside(binned, right, n_threads)


def derive(params: Params, data: BuiltData, objective: Objective) -> DerivedTables | None:
    """Learn the derived columns of training data, if there are to be any.

    Returns:
        All about them; None: none are derived.

    Raises:
        ParameterError: If they were asked for, but do not fit other parameters or the objective.
    """
    wanted = params.cat_target_statistics
    binned = data.table
    features = np.flatnonzero(binned.binning.is_categorical)
    if wanted == "off" or len(features) == 0:
        return None
    # Most trainings have no statistics of targets: `import gossamer` does not load them.
    from gossamer.data.categories.statistic_columns import choose_encoded, choose_sources
    from gossamer.data.categories.target_statistics import TargetStatistics

    data = data.whole()
    binned = data.table
    why = _why_not(params, data, objective)
    if why:
        if wanted == "auto":
            return None
        raise ParameterError.because(
            f"cat_target_statistics=on does not fit this training: it has {why}",
            got="on",
            expected="auto or off",
        )
    encoded = list(range(len(features)))
    if wanted == "auto":
        n_used = [_count_codes(binned, int(feature)) for feature in features]
        encoded = choose_encoded(n_used, data.n_rows)
    if not encoded:
        return None
    check_statistics(params, data, objective, len(features), 0)
    categories, codes = _codes_of_bins(binned, features)
    n_codes = [len(known) + 1 for known in categories]
    sources = choose_sources(codes, n_codes, encoded, params.cat_combinations)
    n_threads = resolve_threads(params.num_threads, data.n_rows, len(sources))
    targets = _targets(data, objective)
    n_statistics = 1 + (1 if targets.ndim == 1 else len(targets))
    check_statistics(params, data, objective, len(codes), len(sources) * n_statistics)
    rows, l2 = _shrinkage(params, codes, n_codes, sources, targets, data.targets.weight, n_threads)
    statistics, values = TargetStatistics.fit(
        codes,
        n_codes,
        targets,
        data.targets.weight,
        sources=sources,
        counts=True,
        prior_weight=rows,
        seed=params.data_random_seed,
        num_threads=n_threads,
    )
    columns = tuple(int(column) for column in binned.binning.columns[features])
    derived = Derived(columns, tuple(categories), statistics)
    # What the user says of single columns is not said of these.
    plain = params.replace(
        enable_bundle=False, is_enable_sparse=False, max_bin_by_feature=(), forcedbins_filename=""
    )
    right = bin_table(Table(values), plain, weight=data.targets.weight)
    if _native.on_disk(binned.bins) is not None:
        table = write_beside(binned, right, values, params, n_threads)
    else:
        table = put_beside(binned, right, n_threads)
    for i in encoded:  # both kinds of splits together are worse than either
        table.bins.hide(int(features[i]))
    first = binned.binning.n_features
    for feature in range(first, table.binning.n_features):  # a constant statistic is left out
        source = int(right.binning.columns[feature - first]) // statistics.n_statistics
        table.bins.set_l2(feature, l2[source])
    bins = right.binning
    empty = _native.BinMatrix(bins.columns, bins.upper, bins.offsets, int(bins.missing_kind), 0)
    return DerivedTables(derived, table, BinnedTable(bins, empty), params)


def _shrinkage(
    params: Params,
    codes: Codes,
    n_codes: Sequence[int],
    sources: Sequence[Source],
    targets: npt.NDArray[Any],
    weight: npt.NDArray[Any] | None,
    n_threads: int,
) -> tuple[list[float], list[float]]:
    """For each source how many rows the prior counts for, and the L2 penalty of its splits."""
    wanted, l2 = params.cat_prior_weight, params.cat_statistics_l2
    found: list[float] = []
    if "auto" in (wanted, l2):
        from gossamer.data.categories.target_statistics import source_keys
        from gossamer.data.categories.variance_components import find_prior_weight

        def find(s: int) -> float:
            keys = source_keys(codes, np.asarray(n_codes, dtype=np.int64), sources[s])
            return find_prior_weight(keys, targets, weight)

        found = map_on_threads(find, len(sources), n_threads)
    rows = found if wanted == "auto" else [float(wanted)] * len(sources)
    if l2 == "auto":
        return rows, [float(np.clip(L2_PER_ROW * n, LEAST_L2, MOST_L2)) for n in found]
    return rows, [float(l2)] * len(sources)


def check_options(params: Params) -> None:
    """Check new parameters of a training that has derived columns.

    Raises:
        ParameterError: If one of them does not fit.
    """
    for name in _NOT_WITH:
        if params[name]:
            raise ParameterError.because(
                f"{name} cannot be combined with target statistics, which this training has",
                got=params[name],
                hint="Train with cat_target_statistics=off.",
            )


def _codes_of_bins(
    binned: BinnedTable, features: npt.NDArray[np.intp]
) -> tuple[list[npt.NDArray[np.int32]], list[npt.NDArray[np.int32]]]:
    """For each categorical feature its categories, and the code of every row."""
    categories: list[npt.NDArray[np.int32]] = []
    codes: list[npt.NDArray[np.int32]] = []
    for feature in features:
        known, code = _code_by_bin(binned, int(feature))
        categories.append(known)
        codes.append(code[binned.copy_column(int(feature))])
    return categories, codes


def _code_by_bin(
    binned: BinnedTable, feature: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the categories of a feature, and the code of each of its bins."""
    by_bin = binned.binning.categories_of(feature)
    known = by_bin >= 0
    code = np.full(len(by_bin) + 1, int(known.sum()), dtype=np.int32)
    code[:-1][known] = np.arange(known.sum(), dtype=np.int32)
    return by_bin[known], code


def _count_codes(binned: BinnedTable, feature: int) -> int:
    """Return how many codes of a feature occur in its rows."""
    _, code = _code_by_bin(binned, feature)
    bins = binned.copy_column(feature)
    counts = np.zeros(len(code), dtype=np.int64)
    for part in blocks(len(bins)):
        counts += np.bincount(bins[part], minlength=len(code))
    return len(np.unique(code[counts > 0]))


def _targets(data: BuiltData, objective: Objective) -> npt.NDArray[Any]:
    label = data.targets.label
    if objective.traits.kind is Kind.MULTICLASS:
        from gossamer.data.categories.target_sums import class_targets

        return class_targets(label, objective.n_outputs)
    return label


def _why_not(params: Params, data: BuiltData, objective: Objective) -> str:
    """What speaks against statistics; nothing: an empty string."""
    for name in _NOT_WITH:
        if params[name]:
            return name
    if splits_by_value(params):
        return f"tree_method={params.tree_method}"
    if not params.use_missing:
        return "use_missing=false"
    if data.columns.weights is not None:
        return "feature_weights"
    if data.targets.n_targets > 1:
        return "several targets"
    if data.targets.queries is not None:
        return "queries"
    # A mean of times says nothing where some of them are not known.
    if objective.traits.kind is Kind.SURVIVAL:
        return f"objective={objective.name}"
    return ""
