"""`Scene`: rows of two columns and a label; and the examples that the page offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

N_ROWS: Final = 700
HELD_OUT: Final = 0.3


@dataclass(frozen=True, eq=False)
class Scene:
    """Rows of two columns and a label.

    Attributes:
        title: What the page calls it.
        task: "binary": labels are 0 and 1; "regression": labels are numbers.
        names: Names of the two columns.
        values: (n, 2) finite numbers.
        label: (n,) labels.
        held_out: Which rows are kept for validation.
        label_names: What the labels mean: of 0 and 1, or of low and high numbers.
        note: A sentence about the rows, for the page.
    """

    title: str
    task: Literal["binary", "regression"]
    names: tuple[str, str]
    values: Array
    label: Array
    held_out: npt.NDArray[np.bool_]
    label_names: tuple[str, str]
    note: str = ""

    @property
    def extent(self) -> list[list[float]]:
        """The part of the plane that is drawn: [low, high] of each column, with a margin."""
        low, high = self.values.min(axis=0), self.values.max(axis=0)
        margin = np.where(high > low, 0.05 * (high - low), 0.5)
        return [[float(a), float(b)] for a, b in zip(low - margin, high + margin, strict=True)]

    @property
    def label_range(self) -> list[float]:
        """The labels that get the two ends of the colour scale."""
        if self.task == "binary":
            return [0.0, 1.0]
        low, high = np.percentile(self.label, [1, 99])
        return [float(low), float(high if high > low else low + 1)]


def choose_held_out(n_rows: int) -> npt.NDArray[np.bool_]:
    """Choose the rows that are kept for validation: always the same ones.

    Example:
        >>> int(choose_held_out(100).sum())
        30
    """
    held_out = np.zeros(n_rows, dtype=bool)
    order = np.random.default_rng(0).permutation(n_rows)
    held_out[order[: int(HELD_OUT * n_rows)]] = True
    return held_out


def _moons(rng: np.random.Generator) -> tuple[Array, Array]:
    angle = rng.uniform(0, np.pi, N_ROWS)
    label = rng.integers(0, 2, N_ROWS)
    x = np.where(label == 1, 1 - np.cos(angle), np.cos(angle))
    y = np.where(label == 1, 0.5 - np.sin(angle), np.sin(angle))
    return np.column_stack([x, y]) + rng.normal(0, 0.2, (N_ROWS, 2)), label.astype(float)


def _circles(rng: np.random.Generator) -> tuple[Array, Array]:
    angle, label = rng.uniform(0, 2 * np.pi, N_ROWS), rng.integers(0, 2, N_ROWS)
    radius = np.where(label == 1, 0.5, 1.0) + rng.normal(0, 0.13, N_ROWS)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), label.astype(float)


def _spirals(rng: np.random.Generator) -> tuple[Array, Array]:
    turn, label = np.sqrt(rng.uniform(0.02, 1, N_ROWS)), rng.integers(0, 2, N_ROWS)
    angle = 3 * np.pi * turn + np.pi * label
    values = np.column_stack([turn * np.cos(angle), turn * np.sin(angle)])
    return values + rng.normal(0, 0.03, (N_ROWS, 2)), label.astype(float)


def _checkerboard(rng: np.random.Generator) -> tuple[Array, Array]:
    values = rng.uniform(0, 4, (N_ROWS, 2))
    label = (np.floor(values).sum(axis=1) % 2).astype(float)
    flipped = rng.random(N_ROWS) < 0.05
    return values, np.where(flipped, 1 - label, label)


def _diagonal(rng: np.random.Generator) -> tuple[Array, Array]:
    values = rng.uniform(-1, 1, (N_ROWS, 2))
    return values, (values.sum(axis=1) + rng.normal(0, 0.15, N_ROWS) > 0).astype(float)


def _waves(rng: np.random.Generator) -> tuple[Array, Array]:
    values = rng.uniform(-3, 3, (N_ROWS, 2))
    label = np.sin(2 * values[:, 0]) + 0.5 * values[:, 1] + rng.normal(0, 0.25, N_ROWS)
    return values, label


def _hill(rng: np.random.Generator) -> tuple[Array, Array]:
    values = rng.uniform(-2, 2, (N_ROWS, 2))
    label = 3 * np.exp(-(values**2).sum(axis=1)) + rng.normal(0, 0.2, N_ROWS)
    return values, label


# Name -> what the page calls it, what it is for, how rows are drawn.
EXAMPLES: Final[
    dict[
        str,
        tuple[
            str,
            Literal["binary", "regression"],
            Callable[[np.random.Generator], tuple[Array, Array]],
        ],
    ]
] = {
    "moons": ("Two moons (classes)", "binary", _moons),
    "circles": ("Circles (classes)", "binary", _circles),
    "spirals": ("Spirals (classes)", "binary", _spirals),
    "checkerboard": ("Checkerboard (classes)", "binary", _checkerboard),
    "diagonal": ("Diagonal (classes)", "binary", _diagonal),
    "waves": ("Waves (numbers)", "regression", _waves),
    "hill": ("A hill (numbers)", "regression", _hill),
}


def make_example(name: str) -> Scene:
    """Draw the rows of an example: always the same ones.

    Example:
        >>> scene = make_example("moons")
        >>> scene.values.shape, scene.task, int(scene.held_out.sum())
        ((700, 2), 'binary', 210)
    """
    title, task, draw = EXAMPLES[name]
    values, label = draw(np.random.default_rng(7))
    meanings = ("class 0", "class 1") if task == "binary" else ("low", "high")
    held_out = choose_held_out(len(label))
    return Scene(title, task, ("x", "y"), values, label, held_out, meanings)


def as_numbers(values: Any) -> Array | None:
    """Return a column as numbers; None where it holds text, dates or other things.

    Example:
        >>> as_numbers(np.array([True, False]))
        array([1., 0.])
        >>> as_numbers(np.array(["a", "b"], dtype=object)) is None
        True
    """
    found = np.asarray(values)
    return found.astype(np.float64) if found.dtype.kind in "biuf" else None
