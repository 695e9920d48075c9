"""LightGBM's text format as sections: a header, trees, parameters, levels of pandas categories.

Lines are `key=value`, lists are separated by spaces. A `ValueError` says what is damaged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

FIRST_LINE: Final = "tree"
END_OF_TREES: Final = "end of trees"
END_OF_PARAMETERS: Final = "end of parameters"
PANDAS: Final = "pandas_categorical:"
_BLANKS: Final = " \t\r\f\v"  # no others: a name may begin or end with them

Block = dict[str, str]


@dataclass(frozen=True, eq=False)
class Sections:
    """What a file says, still as text.

    Attributes:
        header: Its lines; one without a value, such as `average_output`, has an empty one.
        trees: The lines of each tree.
        parameters: What the model was trained with.
        pandas: Levels of the pandas categories, as JSON gave them; None: there are none.
    """

    header: Block
    trees: list[Block]
    parameters: Block
    pandas: Any


def split_sections(text: str) -> Sections:
    r"""Take a file apart.

    Raises:
        ValueError: If it is cut off, or a line is none.

    Example:
        >>> found = split_sections("tree\nversion=v4\n\nTree=0\nnum_leaves=1\n\nend of trees\n")
        >>> found.header, found.trees
        ({'version': 'v4'}, [{'num_leaves': '1'}])
    """
    lines = iter(text.split("\n"))
    if next(lines).strip() != FIRST_LINE:
        raise ValueError(f"it does not begin with the line {FIRST_LINE!r}")
    header: Block = {}
    trees: list[Block] = []
    block, ended = header, False
    for line in lines:
        line = line.strip(_BLANKS)
        if not line:
            continue
        key, has_value, value = line.partition("=")
        if key == "Tree" and has_value:
            block = {}
            trees.append(block)
        elif line == END_OF_TREES:
            ended = True
            break
        elif trees and not has_value:
            break  # files of before "end of trees": what comes next is not a tree
        elif key in block:
            raise ValueError(f"{_place(trees)} has {_short(key)} twice")
        else:
            block[key] = value
    if not ended and not (header.get("version") == "v2" and "shrinkage" in block):
        raise ValueError(f"it is cut off: there is no line {END_OF_TREES!r}")
    rest = [line.strip() for line in lines]
    return Sections(header, trees, _parameters(rest), _pandas(rest))


def _place(trees: list[Block]) -> str:
    return f"tree {len(trees) - 1}" if trees else "the header"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _parameters(lines: list[str]) -> Block:
    found: Block = {}
    for line in lines:
        if line == END_OF_PARAMETERS:
            break
        if line.startswith("[") and line.endswith("]"):
            name, _, value = line[1:-1].partition(":")
            found[name.strip()] = value.strip()
    return found


def _pandas(lines: list[str]) -> Any:
    """Return the levels of the last lines, where the Python package writes them."""
    for line in reversed(lines):
        if line.startswith(PANDAS):
            try:
                return json.loads(line[len(PANDAS) :])
            except (ValueError, RecursionError):
                raise ValueError("the levels of pandas categories are not JSON") from None
    return None


def whole_number(block: Block, key: str, low: int, high: int, default: int | None = None) -> int:
    """Return a number of a block.

    Raises:
        ValueError: If it is not there, no whole number, or not between `low` and `high`.

    Example:
        >>> whole_number({"num_leaves": "31"}, "num_leaves", 1, 100)
        31
    """
    if key not in block and default is not None:
        return default
    try:
        number = int(block[key])
    except KeyError:
        raise ValueError(f"{key} is missing") from None
    except ValueError:
        raise ValueError(f"{key} is not a whole number: {_short(block[key])}") from None
    if not low <= number <= high:
        raise ValueError(f"{key} is out of range: {_short(block[key])}")
    return number


def numbers(
    trees: Sequence[Block],
    key: str,
    sizes: Iterable[int],
    convert: Callable[[str], Any] = float,
    *,
    optional: bool = False,
) -> npt.NDArray[Any]:
    """Return a list of each tree, one after another, as float64 or int64.

    Args:
        trees: The trees.
        key: Name of the list.
        sizes: How many numbers each tree must have.
        convert: float, or int.
        optional: Whether a list may be missing or empty; its numbers are 0 then.

    Raises:
        ValueError: If there are more or fewer, or something is not a number.

    Example:
        >>> numbers([{"leaf_value": "0.5 1"}, {"leaf_value": "2"}], "leaf_value", [2, 1])
        array([0.5, 1. , 2. ])
    """
    words: list[str] = []
    for t, (tree, size) in enumerate(zip(trees, sizes, strict=True)):
        found = tree.get(key, "").split()
        if optional and not found:
            found = ["0"] * size
        if len(found) != size:
            raise ValueError(f"tree {t} has {len(found)} numbers of {key}, not {size}")
        words += found
    dtype = np.int64 if convert is int else np.float64
    try:
        return np.fromiter(map(convert, words), dtype, count=len(words))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{key} is not a list of numbers ({error})") from None


def words_of(values: npt.NDArray[Any]) -> list[str]:
    """Return whole numbers as text.

    Example:
        >>> words_of(np.array([1, -2]))
        ['1', '-2']
    """
    return [str(value) for value in values.tolist()]


def floats_text(values: npt.NDArray[np.float64]) -> str:
    """Return a list of numbers as text, with all digits that tell them apart.

    Example:
        >>> floats_text(np.array([0.1, 1e-40]))
        '0.1 1e-40'
    """
    return " ".join([repr(value) for value in values.tolist()])
