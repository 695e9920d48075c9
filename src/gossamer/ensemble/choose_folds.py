"""The folds of an ensemble: given, or made to fit the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gossamer.arguments import check_count
from gossamer.cv import make_folds
from gossamer.data.built import BuiltData
from gossamer.data.folds import Fold, read_folds, split_groups, split_queries, split_time
from gossamer.errors import ParameterError
from gossamer.params import Params


@dataclass(frozen=True, eq=False)
class FoldOptions:
    """How rows are divided; see `train_folds` for the arguments."""

    folds: Any
    n_folds: int
    stratified: bool
    shuffle: bool
    groups: Any
    time: Any
    repeats: int
    seed: int

    def check(self) -> None:
        """Refuse options that contradict each other.

        Raises:
            ParameterError: If some do.
        """
        check_count(self.repeats, "repeats", least=1)
        check_count(self.seed, "seed", least=0, most=2**32 - 1)
        is_divided = self.folds is not None or self.time is not None
        if is_divided and self.repeats > 1:
            other = "time" if self.folds is None else "folds"
            raise ParameterError.because(
                f"repeats cannot be combined with {other}, which says how rows are divided",
                got=self.repeats,
                expected="1",
                hint="List all folds in folds: a row may be held out several times.",
            )
        if self.time is not None and (self.groups is not None or self.folds is not None):
            raise ParameterError.because(
                "time cannot be combined with groups or folds",
                expected="one of them",
                hint="Pass pairs of rows as folds to divide rows by both.",
            )


def choose_folds(data: BuiltData, params: Params, options: FoldOptions) -> list[Fold]:
    """Return the folds of an ensemble.

    Raises:
        DataError: If folds, groups or times do not fit the rows.
        ParameterError: If options contradict each other.
    """
    options.check()
    if options.folds is not None:
        label, sizes = data.rows.label, data.rows.group
        return read_folds(options.folds, data.n_rows, label, sizes, options.groups)
    is_ranking = data.rows.group is not None
    if is_ranking and (options.groups is not None or options.time is not None):
        raise ParameterError.because(
            "groups and time cannot be combined with queries, which are held out as a whole",
            hint="Pass pairs of rows as folds.",
        )
    if options.time is not None:
        return split_time(options.time, data.n_rows, options.n_folds)
    folds: list[Fold] = []
    for i in range(options.repeats):
        folds += _divide(data, params, options, i)
    return folds


def _divide(data: BuiltData, params: Params, options: FoldOptions, repeat: int) -> list[Fold]:
    seed, n_folds = options.seed + repeat, options.n_folds
    order = None if repeat == 0 else seed
    if data.rows.group is not None:
        return split_queries(data.rows.group, n_folds, order)
    if options.groups is not None:
        return split_groups(options.groups, data.n_rows, n_folds, order)
    quiet = params.replace(verbosity=-1)  # labels that are not classes are nothing to mention
    return make_folds(data, quiet, None, n_folds, options.stratified, options.shuffle, seed)
