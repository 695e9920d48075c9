"""Our own model as JSON: to be read by people and other programs, and back (docs/model_format.md).

Facts and arrays are the same as in the model file, with arrays of each tree by themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import files
from gossamer.model.ensemble.fold_record import ARRAYS as FOLD_ARRAYS
from gossamer.model.files import model_file
from gossamer.model.formats import no_model
from gossamer.model.model import Model
from gossamer.tree.linear import LINEAR_ARRAYS, plain_leaves
from gossamer.tree.tree import CATEGORY_ARRAYS, LEAF_ARRAYS, NODE_ARRAYS

FORMAT: Final = "gossamer model json"
_PATTERN: Final = re.compile(rb'"format"\s*:\s*"gossamer model json"')
_INFINITE: Final = {"inf": np.inf, "-inf": -np.inf}
# Arrays that count something from the tree's first item on.
_BEGINS: Final = ("category_begin", "linear_begin")
_GROUPS: Final = (CATEGORY_ARRAYS, LINEAR_ARRAYS)
_DERIVED: Final[Mapping[str, npt.DTypeLike]] = {
    "columns": np.int32,
    "category_begin": np.int64,
    "category": np.int32,
    "n_codes": np.int64,
    "sources": np.int32,
    "source_offsets": np.int64,
    "offsets": np.int64,
    "keys": np.uint64,
    "values": np.float32,
    "prior": np.float64,
}
_FACTS: Final = ("start", "trees", "derived", "fold_arrays")  # that are arrays in the model file


def matches(content: bytes) -> bool:
    """Whether this looks like a model of ours as JSON."""
    return content[:64].lstrip()[:1] == b"{" and _PATTERN.search(content) is not None


def write(model: Model) -> bytes:
    """Return the model as JSON, a line for each fact and each array of a tree."""
    arrays, facts = model_file.to_parts(model)
    head = {**facts, "format": FORMAT, "start": arrays["start"].tolist()}
    derived = {n: arrays[f"derived.{n}"] for n in _DERIVED if f"derived.{n}" in arrays}
    lines = [f"{_text(key)}: {_text(value)}" for key, value in head.items()]
    if derived:
        lines.append(f'"derived": {_object(derived, "  ")}')
    of_folds = {n: arrays[f"folds.{n}"] for n in FOLD_ARRAYS if f"folds.{n}" in arrays}
    if of_folds:
        lines.append(f'"fold_arrays": {_object(of_folds, "  ")}')
    forest = model.forest
    trees = [_object(_arrays_of(forest.tree(t)), "    ") for t in range(forest.n_trees)]
    lines.append('"trees": [' + ",".join(f"\n    {tree}" for tree in trees) + "]")
    return ("{\n  " + ",\n  ".join(lines) + "\n}\n").encode("ascii")


def read(content: bytes, source: str) -> Model:
    """Read what `write` gave, and check all of it.

    Raises:
        ModelFileError: If it is cut off, or no model of this version.
    """
    try:
        facts = files.parse_json(content)
    except files.BrokenFile as error:
        raise no_model(source, "Gossamer JSON", error) from None
    if not isinstance(facts, dict):
        raise no_model(source, "Gossamer JSON", "it is not an object")
    try:
        arrays = _read_arrays(facts)
    except KeyError as error:
        raise no_model(source, "Gossamer JSON", f"{error} is missing") from None
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise no_model(source, "Gossamer JSON", error) from None
    facts = {name: value for name, value in facts.items() if name not in _FACTS}
    return model_file.from_parts(arrays, facts, source, FORMAT)


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _object(arrays: Mapping[str, npt.NDArray[Any]], indent: str) -> str:
    lines = ",".join(f"\n{indent}  {_text(n)}: {_numbers(a)}" for n, a in arrays.items())
    return "{" + lines + f"\n{indent}}}"


def _numbers(array: npt.NDArray[Any]) -> str:
    if array.ndim == 2:
        return "[" + ", ".join(map(_numbers, array)) + "]"
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return _text([v if np.isfinite(v) else str(v) for v in array.tolist()])
    return _text(array.tolist())


def _arrays_of(tree: Any) -> dict[str, npt.NDArray[Any]]:
    names = (*NODE_ARRAYS, *LEAF_ARRAYS, *CATEGORY_ARRAYS)
    own = {name: getattr(tree, name) for name in names}
    return {name: array for name, array in own.items() if array is not None} | (tree.linear or {})


# ---- reading ----


def _read_arrays(facts: dict[str, Any]) -> files.Arrays:
    trees = facts["trees"]
    if not isinstance(trees, list) or not all(isinstance(tree, dict) for tree in trees):
        raise ValueError("trees is not a list of objects")
    arrays = {"start": _array(facts["start"], np.float64, "start")}
    n_values = facts.get("n_values", 1)
    if type(n_values) is not int or n_values < 1:
        raise ValueError("n_values is not a whole number above 0")
    parts = [_read_tree(tree, t, n_values) for t, tree in enumerate(trees)]
    for name, dtype in (NODE_ARRAYS | LEAF_ARRAYS).items():
        arrays[name] = np.concatenate([np.empty(0, dtype), *(part[name] for part in parts)])
    for name, by in (("node_begin", "column"), ("leaf_begin", "leaf_count")):
        arrays[name] = np.cumsum([0, *(len(part[by]) for part in parts)], dtype=np.int64)
    for group in _GROUPS:
        if any(name in part for part in parts for name in group):
            arrays |= _join(parts, group)
    if "derived" in facts:
        if not isinstance(facts["derived"], dict):
            raise ValueError("derived is not an object")
        for name, dtype in _DERIVED.items():
            found = facts["derived"][name]
            is_matrix = name == "values" or (name == "prior" and _is_matrix(found))
            arrays[f"derived.{name}"] = (_matrix if is_matrix else _array)(found, dtype, name)
    if "fold_arrays" in facts:
        arrays |= _read_folds(facts["fold_arrays"])
    return arrays


def _read_folds(found: Any) -> files.Arrays:
    """Read what an ensemble over folds knows about its members."""
    if not isinstance(found, dict):
        raise ValueError("fold_arrays is not an object")
    return {
        f"folds.{name}": (_matrix if n_dims == 2 else _array)(found[name], dtype, name)
        for name, (dtype, n_dims) in FOLD_ARRAYS.items()
        if name in found
    }


def _read_tree(tree: dict[str, Any], t: int, n_values: int) -> files.Arrays:
    """Read the arrays of a tree; they must fit each other, or they would slide into the next."""
    kinds = NODE_ARRAYS | LEAF_ARRAYS
    for group in _GROUPS:
        if any(name in tree for name in group):
            kinds |= group
    part = {name: _array(tree[name], dtype, f"{name} of tree {t}") for name, dtype in kinds.items()}
    n_nodes, n_leaves = len(part["column"]), len(part["leaf_count"])
    sizes = dict.fromkeys(NODE_ARRAYS, n_nodes) | dict.fromkeys(LEAF_ARRAYS, n_leaves)
    sizes |= {"node_value": n_nodes * n_values, "leaf_value": n_leaves * n_values}
    sizes |= {"category_begin": n_nodes + 1, "linear_begin": n_leaves + 1}
    sizes |= dict.fromkeys(("linear_constant", "linear_low", "linear_high"), n_leaves)
    if "linear_column" in part:
        sizes |= dict.fromkeys(("linear_coefficient", "linear_centre"), len(part["linear_column"]))
    for name, array in part.items():
        if len(array) != sizes.get(name, len(array)):
            raise ValueError(f"{name} of tree {t} has {len(array)} numbers, not {sizes[name]}")
    return part


def _join(parts: list[files.Arrays], group: Mapping[str, npt.DTypeLike]) -> files.Arrays:
    """Put categories or linear leaves of trees one after another, as the model file has them."""
    (begin,) = (name for name in group if name in _BEGINS)
    filled = [part if begin in part else part | _nothing(part, begin) for part in parts]
    joined = {name: np.concatenate([part[name] for part in filled]) for name in group}
    items = "category" if begin == "category_begin" else "linear_column"
    first = 0
    ends = [np.zeros(1, np.int64)]
    for t, part in enumerate(filled):
        own, n_items = part[begin], len(part[items])
        if not len(own) or own[0] != 0 or own[-1] != n_items or np.any(own[1:] < own[:-1]):
            raise ValueError(f"{begin} of tree {t} does not fit")
        ends.append(own[1:] + first)
        first += n_items
    return joined | {begin: np.concatenate(ends)}


def _nothing(part: files.Arrays, begin: str) -> files.Arrays:
    """What a tree has whose nodes split no categories, or whose leaves are plain."""
    if begin == "category_begin":
        n_nodes = len(part["column"])
        return {begin: np.zeros(n_nodes + 1, np.int64), "category": np.empty(0, np.int32)}
    return dict(plain_leaves(part["leaf_value"]))


def _array(found: Any, dtype: npt.DTypeLike, name: str) -> npt.NDArray[Any]:
    kind = np.dtype(dtype)
    if not isinstance(found, list):
        raise ValueError(f"{name} is not a list")
    if kind.kind == "f":
        values = [_INFINITE[v] if type(v) is str and v in _INFINITE else v for v in found]
        if not all(type(v) in (int, float) for v in values):
            raise ValueError(f"{name} has something that is not a number")
        return np.array(values, dtype=kind)
    limits = np.iinfo(kind)
    if not all(type(v) is int and limits.min <= v <= limits.max for v in found):
        raise ValueError(f"{name} has something that is not a whole number of {kind}")
    return np.array(found, dtype=kind)


def _is_matrix(found: Any) -> bool:
    return isinstance(found, list) and bool(found) and isinstance(found[0], list)


def _matrix(found: Any, dtype: npt.DTypeLike, name: str) -> npt.NDArray[Any]:
    if not isinstance(found, list) or not found:
        raise ValueError(f"{name} is not a list of lists")
    rows = [_array(row, np.float64, name) for row in found]
    if len({len(row) for row in rows}) != 1:
        raise ValueError(f"the lists of {name} differ in length")
    largest = np.finfo(np.dtype(dtype)).max
    if any(np.any(np.isfinite(row) & (np.abs(row) > largest)) for row in rows):
        raise ValueError(f"{name} has a number that is too large")
    return np.array(rows, dtype=dtype)
