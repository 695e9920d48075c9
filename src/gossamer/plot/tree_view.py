"""A tree as boxes to draw, and what is written in them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from gossamer.data.table.matrix import Table
from gossamer.errors import DataError, ParameterError, ParameterIndexError
from gossamer.model import Booster
from gossamer.model.model import Model
from gossamer.model.prediction.predict import fitting_table
from gossamer.params.column_options import by_column
from gossamer.params.suggest import did_you_mean
from gossamer.plot.tree_text import (
    Condition,
    column_name,
    condition_of,
    format_number,
    formula_of,
)
from gossamer.tree import Tree

SHOW_INFO: Final = (
    "split_gain",
    "internal_value",
    "internal_weight",
    "internal_count",
    "leaf_weight",
    "leaf_count",
    "data_percentage",
)


@dataclass
class TreeBox:
    """A node or a leaf, or a node whose subtree is left out.

    Attributes:
        kind: Which of them.
        index: Number of the node or the leaf in its tree.
        children: Places of its children among the boxes, the one for "yes" first.
        depth: 0 is the root.
        edge: The label of the edge from its parent.
        count: Training rows.
        share: Of the root's training rows; None where the model does not know how many it has.
        n_leaves: Leaves below.
        on_path: Whether the example goes through it.
        column: Name of the column that a node splits on.
        condition: What a node asks.
        monotone: 1 or -1 where predictions may only rise or fall with the column.
        values: Values of a leaf, one for each output.
        formula: What a linear leaf adds.
        info: Lines that `show_info` asked for.
    """

    kind: Literal["split", "leaf", "cut"]
    index: int
    depth: int
    edge: str
    count: int
    share: float | None
    n_leaves: int
    on_path: bool
    children: list[int] = field(default_factory=list)
    column: str = ""
    condition: Condition | None = None
    monotone: int = 0
    values: tuple[float, ...] = ()
    formula: str = ""
    info: tuple[str, ...] = ()


@dataclass(frozen=True)
class TreeView:
    """The boxes of a tree, each before its children; the first is the root.

    Attributes:
        boxes: The boxes.
        title: Which tree this is.
        has_constraints: Whether the model was trained with monotone constraints.
        largest_value: Largest absolute value of a leaf, also of those that are left out.
    """

    boxes: list[TreeBox]
    title: str
    has_constraints: bool
    largest_value: float


def view_tree(
    booster: Booster,
    tree_index: int,
    show_info: Sequence[str] | None = None,
    precision: int | None = 3,
    example_case: Any = None,
    max_category_values: int = 10,
    max_depth: int | None = None,
) -> TreeView:
    """Look at one tree of a model, up to the best round.

    Args:
        booster: The model.
        tree_index: Number of the tree, from 0.
        show_info: Some of `SHOW_INFO`.
        precision: Decimals; None: all.
        example_case: A table of one row, whose path is marked.
        max_category_values: Where a node has more categories, most are left out.
        max_depth: Subtrees below this depth are left out; None: none.

    Raises:
        ParameterError: If there is no such tree, or an option cannot be used.
        DataError: If the example is not a single row of the model's columns.
    """
    model = booster.used_model(None)
    tree_index = _check_tree_index(tree_index, model)
    wanted = _check_show_info(show_info)
    precision = check_number(precision, "precision", 0)
    max_category_values = check_number(max_category_values, "max_category_values", 1) or 1
    max_depth = check_number(max_depth, "max_depth", 0)
    assert model.forest.native  # its indices have been checked: no loops, no ends in nowhere
    tree = model.forest.tree(tree_index)
    leaf = None if example_case is None else _leaf_of(booster, model, example_case, tree_index)
    marked, n_leaves = _trace(tree, leaf)
    total = int((tree.node_count if len(tree.column) else tree.leaf_count)[0])
    if "data_percentage" in wanted and total <= 0:
        raise ParameterError.because(
            "the model does not store how many rows its nodes have",
            got="data_percentage",
            expected="other show_info",
        )
    given = booster.resolved_params.monotone_constraints
    constraints = by_column(given, model.names, "monotone_constraints", 0) if given else []
    values = tree.node_value.reshape(-1, tree.n_values), tree.leaf_value.reshape(-1, tree.n_values)
    boxes: list[TreeBox] = []
    # An edge: the child, its depth, the edge's label, and the place of its parent.
    ways: list[tuple[int, int, str, int]] = [(0 if len(tree.column) else ~0, 0, "", -1)]
    while ways:
        child, depth, edge, parent = ways.pop()
        if parent >= 0:
            boxes[parent].children.append(len(boxes))
        is_leaf = child < 0
        at = ~child if is_leaf else child
        count = int((tree.leaf_count if is_leaf else tree.node_count)[at])
        box = TreeBox(
            "leaf" if is_leaf else "split" if max_depth is None or depth < max_depth else "cut",
            at,
            depth,
            edge,
            count,
            count / total if total > 0 else None,
            1 if is_leaf else n_leaves[at],
            child in marked,
        )
        boxes.append(box)
        box.info = _info(tree, box, wanted, precision, values[is_leaf])
        if is_leaf:
            box.values = tuple(values[1][at].tolist())
            box.formula = formula_of(model, tree, at, precision)
        else:
            column = int(tree.column[at])
            box.column = column_name(model, column)
            box.condition = condition_of(model, tree, at, precision, max_category_values)
            box.monotone = constraints[column] if column < len(constraints) else 0
        if box.kind == "split":
            assert box.condition is not None
            place = len(boxes) - 1
            # The last one is looked at first.
            ways.append((int(tree.right[at]), depth + 1, box.condition.edge("no"), place))
            ways.append((int(tree.left[at]), depth + 1, box.condition.edge("yes"), place))
    largest = float(abs(tree.leaf_value).max())
    return TreeView(boxes, _title(model, tree_index), any(constraints), largest)


def check_number(value: Any, name: str, least: int) -> Any:
    """Return a whole number that is not below `least`, or None.

    Raises:
        ParameterError: If it is something else.

    Example:
        >>> check_number(3, "precision", 0)
        3
    """
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ParameterError.because(
            f"{name} cannot be used", got=value, expected=f"a whole number >= {least}"
        )
    return number


def _check_tree_index(tree_index: Any, model: Model) -> int:
    n_trees = model.forest.n_trees
    if n_trees == 0:
        raise ParameterError.because(
            "there is no tree to draw: the model has none", hint="Train it for a round."
        )
    number = check_number(tree_index, "tree_index", 0)
    if number is None or number >= n_trees:
        raise ParameterIndexError.because(
            "there is no such tree", got=tree_index, expected=f"0..{n_trees - 1}"
        )
    return int(number)


def _check_show_info(show_info: Any) -> frozenset[str]:
    if isinstance(show_info, str):
        show_info = [show_info]
    for name in show_info or ():
        if name not in SHOW_INFO:
            raise ParameterError.because(
                "show_info is not known",
                got=name,
                expected=f"some of {', '.join(SHOW_INFO)}",
                hint=did_you_mean(str(name), SHOW_INFO),
            )
    return frozenset(show_info or ())


def _leaf_of(booster: Booster, model: Model, example: Any, tree_index: int) -> int:
    """The leaf that the example falls into."""
    table: Table = fitting_table(model, example, False)
    if table.n_rows != 1:
        raise DataError.because(
            "example_case is not a single row",
            found=f"{table.n_rows} rows",
            expected="a table with one row",
        )
    return int(booster.predict(table, pred_leaf=True)[0, tree_index])


def _trace(tree: Tree, leaf: int | None) -> tuple[set[int], list[int]]:
    """The path to a leaf, as children are written, and the number of leaves below each node."""
    n_leaves = [0] * len(tree.column)
    if not n_leaves:
        return ({~0} if leaf is not None else set()), n_leaves
    left, right = tree.left.tolist(), tree.right.tolist()
    order, parent = [0], {}
    for node in order:  # grows as it goes: parents before children
        for child in (left[node], right[node]):
            parent[child] = node
            if child >= 0:
                order.append(child)
    for node in reversed(order):
        n_leaves[node] = sum(1 if c < 0 else n_leaves[c] for c in (left[node], right[node]))
    path: set[int] = set()
    if leaf is not None:
        at = ~leaf
        path.add(at)
        while at != 0:
            at = parent[at]
            path.add(at)
    return path, n_leaves


def _info(
    tree: Tree, box: TreeBox, wanted: frozenset[str], precision: int | None, values: Any
) -> tuple[str, ...]:
    """Lines in LightGBM's words."""
    at, lines = box.index, []
    if box.kind == "leaf":
        numbers = {"leaf_weight": lambda: tree.leaf_weight[at]}
        count = "leaf_count"
    else:
        numbers = {
            "split_gain": lambda: tree.gain[at],
            "internal_weight": lambda: tree.node_weight[at],
        }
        count = "internal_count"
    for name in SHOW_INFO:
        if name not in wanted:
            continue
        if name in numbers:
            lines.append(f"{format_number(numbers[name](), precision)} {name.split('_')[-1]}")
        elif name == "internal_value" and box.kind != "leaf":
            text = format_values(values[at], precision)
            lines.append(f"{text} value" if len(values[at]) == 1 else f"value: {text}")
        elif name == count:
            lines.append(f"count: {box.count}")
        elif name == "data_percentage" and box.share is not None:
            lines.append(f"{format_number(box.share * 100, 2)}% of data")
    return tuple(lines)


def format_values(values: Sequence[float], precision: int | None, most: int = 3) -> str:
    """Write the values of a leaf, the first few of them where there are many.

    Example:
        >>> format_values([1.0, 2.0, 3.0, 4.0, 5.0], 1)
        '1.0, 2.0, … 3 more'
    """
    shown = len(values) if len(values) <= most else most - 1
    text = ", ".join(format_number(value, precision) for value in values[:shown])
    return text if shown == len(values) else f"{text}, … {len(values) - shown} more"


def _title(model: Model, tree_index: int) -> str:
    forest = model.forest
    title = f"Tree {tree_index}"
    if forest.trees_per_round == 1:
        return title
    title += f" (round {tree_index // forest.trees_per_round + 1}"
    if forest.n_values == 1 and forest.n_outputs > 1:
        title += f", output {tree_index % forest.n_outputs}"
    return title + ")"
