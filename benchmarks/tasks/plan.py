"""What each command runs: cases of one data set and one objective, and who takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.tasks import generators, tables
from benchmarks.tasks.libraries import Options
from benchmarks.tasks.objectives import (
    DATA,
    N_CLASSES,
    OBJECTIVES,
    RANKING_DATA,
    Make,
    ranking_contenders,
)
from benchmarks.tasks.problem import Problem, divide

SPEED_CASES = ("lambdarank", "multiclass", "vector", "auc")
PATIENCE = 20
STOPPED_ROUNDS = 500
PER_TARGET, VECTOR = "gossamer", "gossamer_vector"
_LAYOUTS = {"lightgbm_row": {"force_row_wise": True}, "lightgbm_col": {"force_col_wise": True}}


@dataclass(frozen=True)
class Case:
    """One problem and its contenders.

    Attributes:
        objective: Name of the objective, or of the group of figures.
        data: Name of the data set.
        make: Makes the problem.
        contenders: Parameters by name; a name begins with its library.
        loss: What is compared, a name of `LOSSES`.
        loss_options: Its arguments.
        is_raw: Whether it takes raw scores.
        seed: Seed of the problem or the parameters.
        fold: Fold of the data.
        patience: Rounds of early stopping, 0 for none.
        max_rounds: Limit on the rounds instead of the command's.
        metric: Whether the evaluation of the metric is timed too.
    """

    objective: str
    data: str
    make: Callable[[], Problem]
    contenders: dict[str, Options | list[Options]]
    loss: str
    loss_options: dict[str, Any] = field(default_factory=dict)
    is_raw: bool = False
    seed: int = 0
    fold: int = 0
    patience: int = 0
    max_rounds: int = 0
    metric: bool = False


def plan_accuracy(objectives: list[str], seeds: int) -> Iterator[Case]:
    """Every objective on its data sets, for each seed another split."""
    for name in objectives:
        objective = OBJECTIVES[name]
        for data in objective.data:
            for seed in range(seeds):
                yield Case(
                    name,
                    data,
                    partial(DATA[data], seed),
                    objective.contenders(data),
                    objective.loss,
                    objective.loss_options,
                    objective.is_raw,
                    seed,
                )


def plan_ranking(objectives: list[str], data_sets: list[str], seeds: int) -> Iterator[Case]:
    """Ranking objectives on each data set, fold and seed."""
    for objective in objectives:
        for data in data_sets:
            for fold in range(tables.N_FOLDS if data == RANKING_DATA[1] else 1):
                for seed in range(seeds):
                    make = partial(tables.ranked, data, seed, fold)
                    yield Case(
                        objective,
                        data,
                        make,
                        dict(ranking_contenders(objective, seed)),
                        "one_minus_ndcg10",
                        is_raw=True,
                        seed=seed,
                        fold=fold,
                    )


def plan_speed(names: list[str]) -> Iterator[Case]:
    """The cases whose time counts."""
    plans = {
        "lambdarank": _lambdarank,
        "multiclass": _multiclass,
        "vector": _vector,
        "auc": _auc,
    }
    for name in names:
        yield from plans[name]()


def _beside(options: Options, theirs: Options | None) -> dict[str, Options | list[Options]]:
    """Gossamer, LightGBM in both layouts, and XGBoost."""
    found: dict[str, Options | list[Options]] = {"gossamer": options}
    found.update({name: {**options, **layout} for name, layout in _LAYOUTS.items()})
    return found if theirs is None else {**found, "xgboost": theirs}


def _lambdarank() -> Iterator[Case]:
    def make() -> Problem:
        part = tables.plain("kdd04_bio")
        return Problem(part, part)  # all rows are trained with: only time counts

    theirs = {"objective": "rank:ndcg", "min_child_weight": 1e-3}
    contenders = _beside({"objective": "lambdarank"}, theirs)
    yield Case("lambdarank", "kdd04_bio", make, contenders, "one_minus_ndcg10", is_raw=True)


def _multiclass() -> Iterator[Case]:
    for data in ("covertype_93k", "letter"):
        classes = {"num_class": N_CLASSES[data]}
        ours, theirs = {"objective": "multiclass"}, {"objective": "multi:softprob"}
        contenders = _beside({**ours, **classes}, {**theirs, **classes})
        yield Case("multiclass", data, partial(DATA[data], 0), contenders, "multi_logloss")


def _vector() -> Iterator[Case]:
    ours = {"objective": "regression"}
    theirs = {"objective": "reg:squarederror", "min_child_weight": 20}
    together = {"multi_strategy": "multi_output_tree"}
    contenders: dict[str, Options | list[Options]] = {
        PER_TARGET: ours,
        VECTOR: {**ours, **together},
        "xgboost": theirs,
        "xgboost_vector": {**theirs, **together},
    }
    makes: dict[str, Make] = {"horizons": generators.horizons, "letter_one_hot": _letter}
    for data, make in makes.items():
        yield Case(
            "vector",
            data,
            partial(make, 0),
            contenders,
            "squared",
            patience=PATIENCE,
            max_rounds=STOPPED_ROUNDS,
        )


def _letter(seed: int) -> Problem:
    outer = divide(tables.one_hot_letter(), seed)
    inner = divide(outer.train, seed)
    return Problem(inner.train, outer.test, inner.test)


def _auc() -> Iterator[Case]:
    contenders = _beside({"objective": "binary", "metric": "auc"}, None)
    make = partial(generators.binary_rows, 0)
    yield Case("auc", "higgs_like_1m", make, contenders, "cross_entropy", metric=True)
