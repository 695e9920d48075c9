"""The rows of one learning task, and their form on disk: what a worker loads."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from benchmarks.split import Array

LEAST_ROWS = 200


@dataclass(frozen=True)
class Part:
    """Rows of one part.

    Attributes:
        x: Features (n_rows, n_columns), float32.
        y: Labels (n_rows,) or (n_rows, n_targets).
        weight: Weights, if there are any.
        query: Query of each row where rows are ranked; rows of a query stand together.
    """

    x: Array
    y: Array
    weight: Array | None = None
    query: Array | None = None

    def take(self, rows: Array) -> Part:
        """Some of the rows, in the order given."""
        return Part(
            self.x[rows],
            self.y[rows],
            None if self.weight is None else self.weight[rows],
            None if self.query is None else self.query[rows],
        )

    def sort_by_query(self) -> Part:
        """The same rows, those of a query together."""
        if self.query is None:
            return self
        return self.take(np.argsort(self.query, kind="stable"))

    def group(self) -> Array | None:
        """Rows of each query."""
        if self.query is None:
            return None
        first = np.flatnonzero(np.r_[True, self.query[1:] != self.query[:-1]])
        return np.asarray(np.diff(np.r_[first, len(self.query)]))


@dataclass(frozen=True)
class Problem:
    """Training rows, held-out rows, and rows for early stopping where a case has them."""

    train: Part
    test: Part
    valid: Part | None = None

    def shrink(self, scale: float) -> Problem:
        """Keeps a share of the rows from the start of each part, at least 200; whole queries."""
        if scale >= 1.0:
            return self
        valid = None if self.valid is None else _shrink(self.valid, scale)
        return replace(
            self, train=_shrink(self.train, scale), test=_shrink(self.test, scale), valid=valid
        )

    def save(self, folder: Path) -> None:
        """Writes the arrays into a folder."""
        for name in ("train", "test", "valid"):
            part: Part | None = getattr(self, name)
            if part is not None:
                found = {field.name: getattr(part, field.name) for field in fields(part)}
                arrays = {key: value for key, value in found.items() if value is not None}
                np.savez(folder / f"{name}.npz", **arrays)


def load_part(folder: Path, name: str) -> Part | None:
    """Reads "train", "test" or "valid"; None where the problem has no such part."""
    path = folder / f"{name}.npz"
    if not path.is_file():
        return None
    with np.load(path) as arrays:
        return Part(**{key: arrays[key] for key in arrays.files})


def divide(part: Part, seed: int, test_share: float = 0.25) -> Problem:
    """Holds rows out at random; whole queries where rows belong to queries."""
    rng = np.random.default_rng(seed)
    if part.query is None:
        order = rng.permutation(len(part.y))
        n_test = int(len(order) * test_share)
        return Problem(part.take(order[n_test:]), part.take(order[:n_test]))
    queries = rng.permutation(np.unique(part.query))
    is_test = np.isin(part.query, queries[: max(1, int(len(queries) * test_share))])
    return Problem(part.take(np.flatnonzero(~is_test)), part.take(np.flatnonzero(is_test)))


def _shrink(part: Part, scale: float) -> Part:
    n_rows = min(len(part.y), max(LEAST_ROWS, int(len(part.y) * scale)))
    if part.query is not None:
        is_end = np.r_[part.query[1:] != part.query[:-1], True]
        n_rows = n_rows + int(np.argmax(is_end[n_rows - 1 :]))
    return part.take(np.arange(n_rows))
