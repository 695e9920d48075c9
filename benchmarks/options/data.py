"""The tables that options are tried on: at most some thousand rows each, real or generated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.modes.data import CATEGORIES
from benchmarks.paper.real import LATE_MINUTES
from benchmarks.split import Array
from benchmarks.tasks.problem import Part, Problem, divide
from benchmarks.tasks.tables import claim_size, read_part


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        read: Reads or makes its rows.
        task: "regression", "binary" or "multiclass".
        categories: Columns whose numbers are codes.
        n_classes: Classes of "multiclass".
    """

    read: Callable[[], Part]
    task: str
    categories: tuple[int, ...] = ()
    n_classes: int = 0

    def params(self) -> dict[str, object]:
        """Parameters that follow from the table."""
        found: dict[str, object] = {"objective": self.task}
        if self.n_classes:
            found["num_class"] = self.n_classes
        if self.categories:
            found["categorical_feature"] = list(self.categories)
        return found


def make_problem(name: str, seed: int, most_rows: int) -> Problem:
    """Draws at most so many rows of a table and holds a quarter of them out, by the seed."""
    part = _rows_of(name)
    order = np.random.default_rng([seed, 24]).permutation(len(part.y))
    return divide(part.take(order[:most_rows]), seed)


@cache
def _rows_of(name: str) -> Part:
    return TABLES[name].read()


def _real(name: str) -> Callable[[], Part]:
    return lambda: read_part(name)


def _late_flights() -> Part:
    part = read_part("flights3m")
    return Part(part.x, (part.y > LATE_MINUTES).astype(np.float64))


def _log_label(read: Callable[[], Part]) -> Callable[[], Part]:
    def make() -> Part:
        part = read()
        return Part(part.x, np.log1p(part.y))

    return make


def many_levels(spread: float, n_levels: int, n_rows: int = 20_000) -> Part:
    """One column of many levels whose effects have this spread, two numbers and noise."""
    rng = np.random.default_rng([n_levels, 7])
    level = np.minimum(rng.exponential(n_levels / 3.0, n_rows), n_levels - 1).astype(np.int64)
    few = rng.integers(0, 12, n_rows)
    number = rng.normal(size=(n_rows, 2))
    effect = spread * rng.normal(size=n_levels)
    y = effect[level] + 0.5 * (few % 3) + np.sin(2.0 * number[:, 0]) * (number[:, 1] > 0.0)
    y += rng.normal(size=n_rows)
    return Part(np.column_stack([level, few, number]).astype(np.float32), y)


def smooth(n_rows: int = 12_000) -> Part:
    """A smooth function of five numbers (Friedman's first), and five columns of noise."""
    rng = np.random.default_rng(24)
    x = rng.uniform(size=(n_rows, 10))
    y = 10.0 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20.0 * (x[:, 2] - 0.5) ** 2
    y += 10.0 * x[:, 3] + 5.0 * x[:, 4] + rng.normal(size=n_rows)
    return Part(x.astype(np.float32), y)


def steps(n_rows: int = 12_000) -> Part:
    """Steps of four numbers whose tails are heavy, with much noise: slopes can only hurt."""
    rng = np.random.default_rng(25)
    x = rng.standard_cauchy(size=(n_rows, 6))
    y = 2.0 * (x[:, 0] > 0.3) * (x[:, 1] < 1.0) + (np.abs(x[:, 2]) > 1.0) - 1.5 * (x[:, 3] > 2.0)
    return Part(x.astype(np.float32), y + 2.0 * rng.normal(size=n_rows))


def _as_categories(name: str) -> tuple[int, ...]:
    return tuple(CATEGORIES[name])


TABLES: dict[str, Table] = {
    "california_housing": Table(_real("california_housing"), "regression"),
    "bike_sharing_hour": Table(_real("bike_sharing_hour"), "regression"),
    "protein_casp": Table(_real("protein_casp"), "regression"),
    "diamonds": Table(_real("diamonds"), "regression", (1, 2, 3)),
    "house_16h": Table(_real("house_16h"), "regression"),
    "claim_size": Table(_log_label(claim_size), "regression"),
    "mslr_sample10k": Table(_real("mslr_sample10k"), "regression"),
    "higgs_small": Table(_real("higgs_small"), "binary"),
    "credit_default": Table(_real("credit_default"), "binary"),
    "kdd04_bio": Table(_real("kdd04_bio"), "binary"),
    "adult": Table(_real("adult"), "binary", _as_categories("adult")),
    "flights": Table(_late_flights, "binary", _as_categories("flights3m")),
    "amazon_access": Table(_real("amazon_access"), "binary", _as_categories("amazon_access")),
    "covertype_93k": Table(_real("covertype_93k"), "multiclass", (), 7),
    "letter": Table(_real("letter"), "multiclass", (), 26),
    "connect4": Table(_real("connect4"), "multiclass", _as_categories("connect4"), 3),
    "smooth": Table(smooth, "regression"),
    "steps": Table(steps, "regression"),
    "levels_3000_only": Table(lambda: many_levels(20.0, 3000), "regression", (0, 1)),
    "levels_3000_strong": Table(lambda: many_levels(2.0, 3000), "regression", (0, 1)),
    "levels_3000_weak": Table(lambda: many_levels(0.2, 3000), "regression", (0, 1)),
    "levels_300_strong": Table(lambda: many_levels(2.0, 300), "regression", (0, 1)),
    "levels_60_strong": Table(lambda: many_levels(2.0, 60), "regression", (0, 1)),
}
WITH_NUMBERS = tuple(name for name in TABLES if name not in ("amazon_access", "connect4"))
WITH_CATEGORIES = tuple(name for name, table in TABLES.items() if table.categories)


def loss_of(task: str, y: Array, p: Array) -> float:
    """Root of the mean squared error, or the log loss."""
    if task == "regression":
        return float(np.sqrt(np.mean((p - y) ** 2)))
    chance = p[np.arange(len(y)), y.astype(np.int64)] if p.ndim == 2 else np.where(y > 0, p, 1 - p)
    return float(-np.mean(np.log(np.clip(chance, 1e-15, 1.0))))
