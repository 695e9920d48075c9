"""Operands: the values of columns as nodes compare them.

A node that sends missing values left needs another number than one that sends them right, so a
column may have several operands. `model.c` fills them kind after kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gossamer.model.model import Model

KINDS: Final = (
    "NAN_LEFT",
    "NAN_RIGHT",
    "ZERO_LEFT",
    "ZERO_RIGHT",
    "NAN_IS_ZERO",
    "SET_NAN",
    "SET_ZERO",
    "SET_NAN_IS_ZERO",
)
_AS_IT_IS: Final = KINDS.index("NAN_RIGHT")
FIRST_SET: Final = KINDS.index("SET_NAN")
# By missing kind and default_left; of sets, by missing kind.
_NUMBERS: Final = np.array([[1, 0], [3, 2], [4, 4]])


@dataclass(frozen=True, eq=False)
class Operands:
    """The operands of a model.

    Attributes:
        used: Columns of the row that are read, increasing.
        place: For each operand, the index of its used column; derived columns follow the used ones.
        ends: The number of operands up to each kind.
        of_node: The operand of each node.
        of_term: The operand of each term of linear leaves.
    """

    used: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    of_node: npt.NDArray[np.int64]
    of_term: npt.NDArray[np.int64]

    @property
    def n_operands(self) -> int:
        """Number of operands."""
        return len(self.place)


def splits_sets(model: Model) -> npt.NDArray[np.bool_]:
    """Return which nodes split categories."""
    begin = model.forest.arrays.get("category_begin")
    if begin is None:
        return np.zeros(len(model.forest.arrays["column"]), dtype=np.bool_)
    return np.asarray(np.diff(begin) > 0)


def make_operands(model: Model) -> Operands:
    """Find the operands of a model; at least one is a number, for leaves to read."""
    forest = model.forest
    missing = forest.arrays["missing_kind"].astype(np.int64)
    kind = np.where(
        splits_sets(model),
        FIRST_SET + missing,
        _NUMBERS[missing, forest.arrays["default_left"].astype(np.int64)],
    )
    width = forest.n_columns
    asked = kind * width + forest.arrays["column"]
    terms = (
        _AS_IT_IS * width + forest.linear["linear_column"].astype(np.int64)
        if forest.linear is not None
        else np.empty(0, np.int64)
    )
    keys = np.unique(np.concatenate([asked, terms]))
    if len(keys) == 0 or keys[0] >= FIRST_SET * width:
        keys = np.concatenate([[_AS_IT_IS * width + (keys[0] % width if len(keys) else 0)], keys])
    columns = keys % width
    read = [columns[columns < model.n_columns]]
    if model.derived is not None:
        read.append(np.array(model.derived.columns, dtype=np.int64))
    used = np.unique(np.concatenate(read))
    place = np.where(
        columns < model.n_columns,
        np.searchsorted(used, columns),
        len(used) + columns - model.n_columns,
    )
    ends = np.searchsorted(keys, (np.arange(len(KINDS)) + 1) * width)
    return Operands(used, place, ends, np.searchsorted(keys, asked), np.searchsorted(keys, terms))
