"""The trees of a model as tables of `model.c`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError
from gossamer.model.c_code.operands import Operands, splits_sets
from gossamer.model.c_code.text import doubles, integers, words
from gossamer.model.model import Model

_CHILD_BITS: Final = 22
_OPERAND_BITS: Final = 20
_WORD_BITS: Final = 32  # categories of a word of a set


def write_trees(model: Model, operands: Operands) -> list[str]:
    """Write nodes, where trees begin, sets of categories, and what leaves add."""
    forest = model.forest
    n_inner = np.diff(forest.node_begin)
    begin = forest.node_begin + forest.leaf_begin  # leaves follow the nodes of their tree
    _check_size(int(n_inner.max(initial=0)) * 2 + 1, operands.n_operands)
    tables = [
        integers("uint32_t", "MODEL_tree_begin", begin[:-1].tolist()),
        integers("uint32_t", "MODEL_tree_inner", n_inner.tolist()),
        words("MODEL_nodes", _nodes(model, operands).ravel().tolist()),
    ]
    if splits_sets(model).any():
        tables += _sets(forest.arrays["category_begin"], forest.arrays["category"])
    values = forest.arrays["leaf_value"]
    if forest.linear is not None:
        tables += _linear(forest.linear, values, operands)
    elif forest.n_values > 1:
        tables.append(doubles("MODEL_vectors", values.tolist()))
    return tables


def _check_size(n_nodes: int, n_operands: int) -> None:
    if n_nodes >= 2**_CHILD_BITS or n_operands >= 2**_OPERAND_BITS:
        raise NotSupportedError.because(
            "the model is too large for C code",
            found=f"a tree of {n_nodes} nodes and leaves, {n_operands} operands",
            expected=f"fewer than {2**_CHILD_BITS} and {2**_OPERAND_BITS}",
        )


def _nodes(model: Model, operands: Operands) -> npt.NDArray[np.uint64]:
    """Two words of each node and leaf, tree after tree, a tree's leaves behind its nodes."""
    forest, arrays = model.forest, model.forest.arrays
    n_inner, n_leaves = np.diff(forest.node_begin), np.diff(forest.leaf_begin)
    begin = forest.node_begin + forest.leaf_begin
    nodes = np.empty((int(begin[-1]), 2), dtype=np.uint64)

    # Inner nodes.
    first = np.repeat(forest.leaf_begin[:-1], n_inner)
    at = np.arange(len(first)) + first
    behind = np.repeat(n_inner, n_inner)
    left, right = (
        np.where(arrays[side] >= 0, arrays[side], behind + ~arrays[side]).astype(np.uint64)
        for side in ("left", "right")
    )
    is_set = splits_sets(model)
    # Of a set, its members go where missing values do not.
    swaps = is_set & (arrays["default_left"] != 0)
    yes, no = np.where(swaps, right, left), np.where(swaps, left, right)
    number = np.cumsum(is_set) - 1
    nodes[at, 0] = np.where(is_set, number.astype(np.uint64), arrays["threshold"].view(np.uint64))
    nodes[at, 1] = _links(no, yes, operands.of_node)

    # Leaves.
    tree = np.repeat(np.arange(len(n_leaves)), n_leaves)
    leaf = np.arange(len(tree))
    own = (leaf - forest.leaf_begin[:-1][tree] + n_inner[tree]).astype(np.uint64)
    at = begin[:-1][tree] + own.astype(np.int64)
    is_plain = forest.linear is None and forest.n_values == 1
    nodes[at, 0] = arrays["leaf_value"].view(np.uint64) if is_plain else leaf.astype(np.uint64)
    nodes[at, 1] = _links(own, own, np.zeros(len(own), np.int64))
    return nodes


def _links(
    no: npt.NDArray[np.uint64], yes: npt.NDArray[np.uint64], operand: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint64]:
    child_bits, operand_at = np.uint64(_CHILD_BITS), np.uint64(2 * _CHILD_BITS)
    return np.asarray(no | (yes << child_bits) | (operand.astype(np.uint64) << operand_at))


def _sets(begin: npt.NDArray[np.int64], category: npt.NDArray[np.int32]) -> list[str]:
    """Sets as words of 32 categories: of each its place above, its bits below."""
    sizes = np.diff(begin)
    owner = np.repeat(np.arange(np.count_nonzero(sizes)), sizes[sizes > 0])
    place, bit = np.divmod(category.astype(np.int64), _WORD_BITS)
    is_new = np.ones(len(owner), dtype=np.bool_)
    is_new[1:] = (np.diff(owner) != 0) | (np.diff(place) != 0)
    starts = np.flatnonzero(is_new)
    bits = np.bitwise_or.reduceat(np.int64(1) << bit, starts)
    first = np.searchsorted(owner[starts], np.arange(owner[-1] + 2))
    return [
        integers("uint32_t", "MODEL_set_begin", first.tolist()),
        words("MODEL_set_words", ((place[starts] << _WORD_BITS) | bits).tolist()),
    ]


def _linear(linear: Any, values: npt.NDArray[np.float64], operands: Operands) -> list[str]:
    leaves = np.column_stack(
        [linear["linear_constant"], linear["linear_low"], linear["linear_high"], values]
    )
    terms = np.column_stack([linear["linear_coefficient"], linear["linear_centre"]])
    return [
        doubles("MODEL_linear", leaves.ravel().tolist()),
        integers("uint32_t", "MODEL_term_begin", linear["linear_begin"].tolist()),
        integers("int32_t", "MODEL_term_operand", operands.of_term.tolist()),
        doubles("MODEL_terms", terms.ravel().tolist()),
    ]
