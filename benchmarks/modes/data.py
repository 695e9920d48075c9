"""The problems: real tables with their categories as codes, and generators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.paper.real import LATE_MINUTES
from benchmarks.split import Array, Task
from benchmarks.synthetic import higgs_like
from benchmarks.tasks.problem import Part, Problem, divide
from benchmarks.tasks.tables import N_FOLDS, read_part

FLIGHT_TEST_SHARE = 0.1
# Positions after the target is taken out; numbers in them are codes.
CATEGORIES: dict[str, list[int]] = {
    "flights3m": [0, 1, 2, 3, 6, 7],  # month, day, dow, hour, origin, destination
    "amazon_access": list(range(9)),
    "adult": [1, 3, 5, 6, 7, 8, 9, 13],
    "connect4": list(range(42)),
}
N_CLASSES = {"amazon_access": 2, "adult": 2, "connect4": 3, "covertype_93k": 7}


def flights(seed: int) -> Problem:
    """Is a flight more than 15 minutes late? Airports and parts of the date are codes."""
    part = read_part("flights3m")
    late = (part.y > LATE_MINUTES).astype(np.float64)
    return divide(Part(part.x, late), seed, FLIGHT_TEST_SHARE)


def fold_of(name: str, fold: int) -> Problem:
    """One fold of five; each has the same share of every class."""
    part = read_part(name)
    is_test = stratified_folds(part.y) == fold
    return Problem(part.take(np.flatnonzero(~is_test)), part.take(np.flatnonzero(is_test)))


def stratified_folds(label: Array, seed: int = 0) -> Array:
    """The fold of every row, at random; classes are dealt out evenly."""
    rng = np.random.default_rng(seed)
    folds = np.empty(len(label), np.int64)
    for value in np.unique(label):
        rows = rng.permutation(np.flatnonzero(label == value))
        folds[rows] = np.arange(len(rows)) % N_FOLDS
    return folds


def rising_and_falling(seed: int, n_rows: int = 20_000) -> Problem:
    """Rises with columns 0 and 2, falls with column 4, anything in the others; much noise."""
    rng = np.random.default_rng([seed, 5])
    x = rng.uniform(-1.0, 1.0, (n_rows, 8)).astype(np.float32)
    y = 2.0 * x[:, 0] + 0.5 * np.sin(3.0 * x[:, 0]) * (x[:, 1] > 0.0)
    y += np.exp(x[:, 2] * np.maximum(x[:, 3], 0.0)) - x[:, 4] ** 3 * (1.0 + x[:, 5])
    y += np.sin(4.0 * x[:, 6]) + rng.normal(size=n_rows)
    return divide(Part(x, y.astype(np.float64)), seed)


def higgs_rows(seed: int, n_rows: int = 40_000) -> Problem:
    """The Higgs-like table of the other benchmarks."""
    split = higgs_like(n_rows, seed)
    return Problem(Part(split.x_train, split.y_train), Part(split.x_test, split.y_test))


def real(name: str) -> Callable[[int], Problem]:
    """Maker of a real data set's problem from the seed of its split."""
    return lambda seed: divide(read_part(name), seed)


MONOTONE: dict[str, tuple[Callable[[int], Problem], list[int]]] = {
    # Value rises with income and rooms, falls with the people of a house.
    "california_housing": (real("california_housing"), [1, 0, 1, 0, 0, -1, 0, 0]),
    "generator": (rising_and_falling, [1, 0, 1, 0, -1, 0, 0, 0]),
}
BOOSTERS: dict[str, tuple[Callable[[int], Problem], Task]] = {
    "california_housing": (real("california_housing"), "regression"),
    "higgs_like": (higgs_rows, "binary"),
    "covertype_93k": (real("covertype_93k"), "multiclass"),
    "protein_casp": (real("protein_casp"), "regression"),
    "bike_sharing_hour": (real("bike_sharing_hour"), "regression"),
}
