"""What each command runs: cases of one problem, and who takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from benchmarks.modes import data
from benchmarks.split import Task
from benchmarks.tasks.libraries import Options
from benchmarks.tasks.plan import _LAYOUTS as LAYOUTS
from benchmarks.tasks.problem import Problem
from benchmarks.tasks.tables import N_FOLDS

CARDINALITY_DATA = ("amazon_access", "adult", "connect4")
MORE_ROUNDS = ("connect4",)  # where 100 rounds are far too few for anyone
CATBOOST_ROUNDS = 1_000  # its default
METHODS = ("basic", "intermediate", "advanced")
BOOSTER_DATA = {
    "dart": ("california_housing", "higgs_like", "covertype_93k"),
    "rf": ("california_housing", "higgs_like", "covertype_93k"),
    "linear_tree": ("california_housing", "protein_casp", "bike_sharing_hour"),
}
BOOSTERS: dict[str, Options] = {
    "dart": {"boosting": "dart"},
    "rf": {"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1, "feature_fraction": 0.8},
    "linear_tree": {"linear_tree": True},
}
_NOISY = "dart"  # which trees are dropped is luck: twice the seeds


@dataclass(frozen=True)
class Case:
    """One problem and its contenders.

    Attributes:
        mode: What is shown: "categories", "intermediate", "dart", ...
        data: Name of the data set.
        make: Makes the problem.
        contenders: Parameters by name; a name begins with its library.
        task: Kind of target.
        n_classes: Classes of "multiclass".
        num_leaves: Leaves of a tree.
        seed: Seed of the problem and the parameters.
        fold: Fold of the data.
        constraints: Direction of each column, where violations are counted.
        n_folds: Folds of ``cv`` where that is measured, 0 for a training.
        is_cached: Whether earlier runs of CatBoost count.
        rounds: Boosting rounds; 0 for those of the command.
    """

    mode: str
    data: str
    make: Callable[[], Problem]
    contenders: dict[str, Options]
    task: Task
    n_classes: int = 0
    num_leaves: int = 31
    seed: int = 0
    fold: int = 0
    constraints: list[int] = field(default_factory=list)
    n_folds: int = 0
    is_cached: bool = False
    rounds: int = 0


def plan_categories(seeds: int, num_leaves: int) -> Iterator[Case]:
    """Late flights, another split for each seed."""
    options: Options = {"categorical_feature": data.CATEGORIES["flights3m"]}
    for seed in range(seeds):
        make = partial(data.flights, seed)
        yield Case(
            "categories",
            "flights3m",
            make,
            _both_layouts(options),
            "binary",
            num_leaves=num_leaves,
            seed=seed,
        )


def plan_cardinality(names: list[str]) -> Iterator[Case]:
    """Five folds of each data set, every library as it comes; some also with CatBoost's rounds."""
    for name in names:
        yield from _plan_folds(name, name, 0)
        if name in MORE_ROUNDS:
            yield from _plan_folds(name, f"{name}, {CATBOOST_ROUNDS} rounds", CATBOOST_ROUNDS)


def _plan_folds(name: str, title: str, rounds: int) -> Iterator[Case]:
    options: Options = {"categorical_feature": data.CATEGORIES[name]}
    contenders = {library: options for library in ("gossamer", "lightgbm", "catboost")}
    n_classes = data.N_CLASSES[name]
    task: Task = "binary" if n_classes == 2 else "multiclass"
    for fold in range(N_FOLDS):
        make = partial(data.fold_of, name, fold)
        yield Case(
            "cardinality",
            title,
            make,
            contenders,
            task,
            n_classes,
            fold=fold,
            is_cached=True,
            rounds=rounds,
        )


def plan_monotone(names: list[str], methods: list[str], seeds: int) -> Iterator[Case]:
    """Each method on each data set, another split or other rows for each seed."""
    for name in names:
        make, constraints = data.MONOTONE[name]
        for method in methods:
            options = {"monotone_constraints": constraints, "monotone_constraints_method": method}
            for seed in range(seeds):
                yield Case(
                    method,
                    name,
                    partial(make, seed),
                    _one_layout(options, seed),
                    "regression",
                    seed=seed,
                    constraints=constraints,
                )


def plan_boosters(modes: list[str], names: list[str] | None, seeds: int) -> Iterator[Case]:
    """Each way to boost on its data sets, another split or other rows for each seed."""
    for mode in modes:
        for name in names or BOOSTER_DATA[mode]:
            make, task = data.BOOSTERS[name]
            for seed in range(2 * seeds if mode == _NOISY else seeds):
                yield Case(
                    mode,
                    name,
                    partial(make, seed),
                    _one_layout({**BOOSTERS[mode], "seed": seed + 1}, seed),
                    task,
                    data.N_CLASSES.get(name, 0),
                    seed=seed,
                )


def plan_cv(n_rows: int) -> Iterator[Case]:
    """``cv`` of five folds on made-up rows."""
    make = partial(data.higgs_rows, 0, n_rows)
    yield Case("cv", "higgs_like", make, _both_layouts({}), "binary", n_folds=N_FOLDS)


def _both_layouts(options: Options) -> dict[str, Options]:
    """Gossamer, and LightGBM in both layouts, of which the faster counts."""
    theirs = {name: {**options, **layout} for name, layout in LAYOUTS.items()}
    return {"gossamer": options, **theirs}


def _one_layout(options: Options, seed: int) -> dict[str, Options]:
    """Gossamer, and LightGBM in a layout that changes with the seed: the best time is of both."""
    name = sorted(LAYOUTS)[seed % 2]
    return {"gossamer": options, name: {**options, **LAYOUTS[name]}}
