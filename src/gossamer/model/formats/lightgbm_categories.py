"""Categories of LightGBM's splits: bits of words of 32 there, sorted codes here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError
from gossamer.model.formats.lightgbm_text import Block, numbers, whole_number

LARGEST_CATEGORY: Final = 2**31 - 1
_WORD: Final = 32
# Of all splits that are written. A word is at least two characters of the file.
_MOST_WORDS: Final = 2**25


def read_categories(
    trees: Sequence[Block],
    tree_of_node: npt.NDArray[np.int64],
    is_category: npt.NDArray[np.bool_],
    threshold: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return `category_begin` and `category` of all nodes.

    Args:
        trees: The trees.
        tree_of_node: The tree of each node.
        is_category: Which nodes split categories.
        threshold: Of these nodes the number of their set of categories within the tree.

    Raises:
        ValueError: If a set is not there, belongs to two nodes, or its bits are damaged.
    """
    n_sets = [whole_number(tree, "num_cat", 0, LARGEST_CATEGORY, default=0) for tree in trees]
    # As many sets as nodes at most, and a bound more than sets: the lists are as long as they say.
    sizes = [n + 1 if n else 0 for n in n_sets]
    bounds = numbers(trees, "cat_boundaries", sizes, int)
    last = np.cumsum(sizes, dtype=np.int64) - 1
    n_words = [int(bounds[i]) if n else 0 for n, i in zip(n_sets, last, strict=True)]
    words = numbers(trees, "cat_threshold", n_words, int)
    if ((words < 0) | (words >= 2**_WORD)).any():
        raise ValueError("cat_threshold has a number of more than 32 bits")
    starts = bounds[[i + 1 - size for size, i in zip(sizes, last, strict=True) if size]]
    first_word = np.cumsum([0, *n_words], dtype=np.int64)[:-1]
    has_next = np.ones(len(bounds), np.bool_)
    has_next[last[np.array(sizes, np.int64) > 0]] = False
    begin = bounds + np.repeat(first_word, sizes)
    ends = begin[1:][has_next[:-1]]
    begin = begin[has_next]
    if starts.any() or (ends < begin).any():
        raise ValueError("cat_boundaries do not begin at 0, or decrease")

    set_of_node = _set_of_node(n_sets, tree_of_node, is_category, threshold)
    bits = np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))
    set_of_bit = np.searchsorted(ends, bits // _WORD, side="right")
    category = bits - begin[set_of_bit] * _WORD
    if len(category) and category.max() > LARGEST_CATEGORY:
        raise ValueError(f"a category is above {LARGEST_CATEGORY}")
    n_found = np.bincount(set_of_bit, minlength=len(begin))
    first = np.cumsum(n_found) - n_found
    n_of_node = np.zeros(len(is_category), np.int64)
    n_of_node[is_category] = n_found[set_of_node]
    category_begin = np.concatenate([[0], np.cumsum(n_of_node)])
    # Sets stand in the order of the nodes, unless someone has changed it.
    move = first[set_of_node] - category_begin[:-1][is_category]
    places = np.repeat(move, n_found[set_of_node]) + np.arange(category_begin[-1])
    return category_begin, category[places].astype(np.int32)


def _set_of_node(
    n_sets: list[int],
    tree_of_node: npt.NDArray[np.int64],
    is_category: npt.NDArray[np.bool_],
    threshold: npt.NDArray[np.float64],
) -> npt.NDArray[np.int64]:
    """Return the set of each node that has one, counted over all trees."""
    number, tree = threshold[is_category], tree_of_node[is_category]
    if not ((number >= 0) & (number < np.array(n_sets, np.float64)[tree])).all():
        raise ValueError("a node splits categories that are not there")
    first_set = np.cumsum([0, *n_sets], dtype=np.int64)[:-1]
    found: npt.NDArray[np.int64] = number.astype(np.int64) + first_set[tree]
    if len(np.unique(found)) < len(found):
        raise ValueError("two nodes share a set of categories")
    return found


def write_sets(
    begin: npt.NDArray[np.int64], category: npt.NDArray[np.int32]
) -> tuple[list[int], list[list[int]]]:
    """Return how many words each node's set has, and the words; of nodes without one none.

    Raises:
        NotSupportedError: If codes are so large that their bits would fill the memory.

    Example:
        >>> write_sets(np.array([0, 2, 2]), np.array([1, 33], np.int32))
        ([2, 0], [[2, 2], []])
    """
    sizes = np.zeros(len(begin) - 1, np.int64)
    has_some = begin[1:] > begin[:-1]
    sizes[has_some] = category[begin[1:][has_some] - 1] // _WORD + 1  # the last is the largest
    if sizes.sum() > _MOST_WORDS:
        raise NotSupportedError.because(
            "LightGBM's format has a bit for every category up to a split's largest one, and "
            "these are too many",
            got=int(category.max()),
            expected="smaller codes of categories",
            hint="Number the categories from 0 on, or pass them as text or pandas categories.",
        )
    first = np.cumsum(sizes) - sizes
    bits = np.zeros(int(sizes.sum()) * _WORD, np.uint8)
    bits[category + np.repeat(first, np.diff(begin)) * _WORD] = 1
    words: list[Any] = np.packbits(bits, bitorder="little").view("<u4").tolist()
    return sizes.tolist(), [words[a : a + n] for a, n in zip(first, sizes, strict=True)]
