"""Real data sets as parts; read from the folder that GOSSAMER_DATA names.

Texts become codes in sorted order, so that every library sees the same numbers.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from benchmarks.paper.real import _codes as codes_of
from benchmarks.paper.real import _read_parquet as read_table
from benchmarks.real import _folder as data_folder
from benchmarks.split import Array
from benchmarks.tasks.problem import Part, Problem, divide

_ALWAYS_OUT = ("split", "fold_part")
N_FOLDS = 5


def read_part(name: str, target: str | None = None, without: tuple[str, ...] = ()) -> Part:
    """Reads all rows of a data set.

    Args:
        name: Its folder.
        target: Column of the labels; None means the one that ``meta.json`` names.
        without: Columns to leave out, besides those that tell the label.

    Returns:
        Its rows; labels that are no numbers, or classes that do not start at 0, are codes.
    """
    meta = json.loads((data_folder(name) / "meta.json").read_text())
    table = read_table(name)
    query = meta.get("group")
    left_out = {meta["target"], target, query, *meta.get("leaky", []), *_ALWAYS_OUT, *without}
    x = np.column_stack([_numbers(table[key]) for key in table.column_names if key not in left_out])
    label = table[target or meta["target"]]
    is_class = meta["task"].startswith(("binary", "multiclass")) or not _is_numeric(label)
    y = codes_of(label) if is_class else label.to_numpy()
    part = Part(x, y.astype(np.float64), query=table[query].to_numpy() if query else None)
    return part.sort_by_query()


def plain(name: str) -> Part:
    """A data set as it is."""
    return read_part(name)


def share_of_range() -> Part:
    """House values as shares of their range: labels from 0 to 1."""
    part = read_part("california_housing")
    low, high = part.y.min(), part.y.max()
    return Part(part.x, (part.y - low) / (high - low))


def claim_rate() -> Part:
    """Claims a year of exposure, weighted by exposure: the same as counts with log(exposure)."""
    part = read_part("be_mtpl97", without=("expo",))
    exposure = read_table("be_mtpl97")["expo"].to_numpy().astype(np.float64)
    return Part(part.x, part.y / exposure, exposure)


def claim_amount() -> Part:
    """What a policy cost: zero for most."""
    return read_part("be_mtpl97", target="amount")


def claim_size() -> Part:
    """Mean cost of a claim, of the policies that have one."""
    part = read_part("be_mtpl97", target="average")
    return part.take(np.flatnonzero(part.y > 0.0))


def one_hot_letter() -> Part:
    """The 26 letters as 26 targets of 0 and 1."""
    part = read_part("letter")
    return Part(part.x, np.eye(int(part.y.max()) + 1)[part.y.astype(np.int64)])


def ranked(name: str, seed: int, fold: int) -> Problem:
    """A ranking problem.

    Args:
        name: "mslr_sample10k" (its own split), "mq2008" (LETOR's folds: fold N trains with parts
            N to N + 2, stops with N + 3, tests with N + 4) or one that is split by query.
        seed: Seed of a random split.
        fold: Fold of mq2008, from 0.

    Returns:
        The problem, rows of a query together.
    """
    part = read_part(name)
    if name not in ("mslr_sample10k", "mq2008"):
        return divide(part, seed)
    table = read_table(name)
    order = np.argsort(table["qid"].to_numpy(), kind="stable")  # as `read_part` did
    if name == "mslr_sample10k":
        is_test = (table["split"].to_numpy() == "test")[order]
        return Problem(part.take(np.flatnonzero(~is_test)), part.take(np.flatnonzero(is_test)))
    place = (table["fold_part"].to_numpy()[order] - 1 - fold) % N_FOLDS
    rows = [np.flatnonzero(np.isin(place, wanted)) for wanted in ([0, 1, 2], [4], [3])]
    return Problem(*(part.take(found) for found in rows))


def _numbers(column: Any) -> Array:
    values: Array = column.to_numpy() if _is_numeric(column) else codes_of(column)
    return values.astype(np.float32)


def _is_numeric(column: Any) -> bool:
    return not str(column.type).startswith(("dictionary", "string", "large_string"))
