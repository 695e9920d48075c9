"""Trees as text, JSON and dot, in the words of XGBoost's `get_dump`.

The trees are the same as in the model file that XGBoost would read, numbers of nodes included.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gossamer.compat.xgboost.model_file import read_bytes, with_absent_entries
from gossamer.errors import DataError, NotSupportedError, ParameterError
from gossamer.model.formats.xgboost_read import Facts
from gossamer.model.formats.xgboost_write import to_document
from gossamer.model.model import Model

# Types of columns, as feature maps have them.
_TYPES: Final = ("i", "q", "int", "float", "c")


@dataclass(frozen=True)
class Columns:
    """What dumps call the columns.

    Attributes:
        names: One for each column.
        types: "i" (indicator), "int", "c", or anything else for numbers.
    """

    names: Sequence[str]
    types: Sequence[str]

    @classmethod
    def of(cls, n: int, names: Sequence[str] | None, types: Sequence[str] | None) -> Columns:
        """Return names and types of a model's columns, made up where it has none."""
        return cls(names or [f"f{i}" for i in range(n)], types or ["q"] * n)

    @classmethod
    def read(cls, path: str | os.PathLike[str], n: int) -> Columns:
        """Read a feature map: lines of number, name and type.

        Raises:
            DataError: If a line is something else, or a column has none.
        """
        found: dict[int, tuple[str, str]] = {}
        for line in read_bytes(path).decode("utf-8").splitlines():
            parts = line.split()
            if not parts:
                continue
            if len(parts) != 3 or not parts[0].isdecimal() or parts[2] not in _TYPES:
                raise DataError.because(
                    f"a line of the feature map {os.fspath(path)!r} cannot be read",
                    got=line,
                    expected=f"number, name and type ({', '.join(_TYPES)})",
                )
            found[int(parts[0])] = (parts[1], parts[2])
        absent = [i for i in range(n) if i not in found]
        if absent:
            raise DataError.because(
                f"the feature map {os.fspath(path)!r} does not name all columns",
                found=f"no line for column {absent[0]}",
                expected=f"0..{n - 1}",
            )
        return cls([found[i][0] for i in range(n)], [found[i][1] for i in range(n)])


def one_per_column(name: str, values: Sequence[str], n_columns: int | None) -> list[str]:
    """Return names or types of columns as text.

    Raises:
        DataError: If there are not as many as columns (None: any number will do).

    Example:
        >>> one_per_column("feature_names", ["size", 1], 2)
        ['size', '1']
    """
    found = [str(value) for value in values]
    if n_columns is not None and len(found) != n_columns:
        raise DataError.because(f"{name} do not fit the model", got=found, expected=f"{n_columns}")
    return found


@dataclass(frozen=True)
class Node:
    """A node of a dumped tree; those without children are leaves.

    Attributes:
        number: Its number.
        depth: How many splits lead to it.
        value: The value of a leaf.
        feature: Name of the column.
        kind: Type of the column.
        threshold: Rows with smaller values go to `yes`; None: see `categories`.
        categories: Codes of the categories that go to `yes`.
        yes: Where rows go that fulfil the condition.
        no: Where the others go.
        missing: Where rows without a value go.
        children: Left and right.
        gain: By how much the split lowers the loss.
        cover: Sum of the hessians.
    """

    number: int
    depth: int
    value: Any
    feature: str
    kind: str
    threshold: float | None
    categories: list[int]
    yes: int
    no: int
    missing: int
    children: tuple[int, ...]
    gain: float
    cover: float

    @property
    def condition(self) -> str:
        """The threshold as a number; of whole numbers, the least that is not below it."""
        assert self.threshold is not None
        if self.kind == "int" and math.isfinite(self.threshold):
            return str(math.ceil(self.threshold))
        return _g(self.threshold)

    def test(self, *, rounds: bool) -> str:
        """Return the condition of a node; `rounds`: thresholds of whole numbers are whole."""
        if self.kind == "i":
            return self.feature
        if self.threshold is None:
            return f"{self.feature}:{{{','.join(map(str, self.categories))}}}"
        return f"{self.feature}<{self.condition if rounds else _g(self.threshold)}"

    @property
    def has_missing(self) -> bool:
        """Whether dumps say where missing values go: missing indicators go to `no`."""
        return self.kind != "i"


def nodes_of(model: Model, columns: Columns) -> list[list[Node]]:
    """Return the nodes of all trees, each before its children, left ones first.

    Raises:
        NotSupportedError: If XGBoost's trees cannot hold the model.
    """
    document = to_document(with_absent_entries(model), Facts({}, list(columns.types)))
    trees = document["learner"]["gradient_booster"]["model"]["trees"]
    n_trees = model.forest.n_trees  # a model without rounds is written with one
    return [list(_walk(tree, columns)) for tree in trees[:n_trees]]


def _walk(tree: Mapping[str, Any], columns: Columns) -> Iterator[Node]:
    by_node = {name: values.tolist() for name, values in tree.items() if hasattr(values, "tolist")}
    lists = dict(
        zip(
            by_node["categories_nodes"],
            zip(by_node["categories_segments"], by_node["categories_sizes"], strict=True),
            strict=True,
        )
    )
    waiting = [(0, 0)]
    while waiting:
        i, depth = waiting.pop()
        left, right = by_node["left_children"][i], by_node["right_children"][i]
        is_leaf = left < 0
        column = by_node["split_indices"][i]
        begin, size = lists.get(i, (0, 0))
        by_default = left if by_node["default_left"][i] else right
        kind = columns.types[column]
        yes, no = (right, left) if i in lists else (left, right)
        if kind == "i":
            yes, no = (left if by_default == right else right), by_default
        yield Node(
            i,
            depth,
            _value(tree, i),
            columns.names[column],
            kind,
            None if i in lists else by_node["split_conditions"][i],
            by_node["categories"][begin : begin + size],
            yes,
            no,
            by_default,
            () if is_leaf else (left, right),
            by_node["loss_changes"][i],
            by_node["sum_hessian"][i],
        )
        if not is_leaf:
            waiting += [(right, depth + 1), (left, depth + 1)]


def _value(tree: Mapping[str, Any], i: int) -> Any:
    n_values = int(tree["tree_param"]["size_leaf_vector"])
    values = tree["base_weights"][i * n_values : (i + 1) * n_values].tolist()
    return values[0] if n_values == 1 else values


def _g(value: Any) -> str:
    """A float32 with all its digits."""
    if isinstance(value, list):
        return f"[{', '.join(map(_g, value))}]"
    return f"{value:.9g}"


def dump_trees(model: Model, columns: Columns, *, with_stats: bool, dump_format: str) -> list[str]:
    """Return a text for each tree.

    Args:
        model: The model.
        columns: What its columns are called.
        with_stats: Whether to add gains and covers.
        dump_format: "text", "json" or "dot".

    Raises:
        ParameterError: If there is no such format.
        NotSupportedError: If XGBoost's trees cannot hold the model.
    """
    kind, _, options = str(dump_format).partition(":")
    if kind not in _FORMATS:
        raise ParameterError.because(
            "dump_format is not known", got=dump_format, expected=", ".join(_FORMATS)
        )
    if with_stats and model.forest.n_values > 1:
        raise NotSupportedError.because(
            "trees with vector leaves are dumped without gains", hint="with_stats=False"
        )
    asked = json.loads(options) if options else {}
    look = {name: {**values, **asked.get(name, {})} for name, values in _LOOK.items()}
    return [_FORMATS[kind](tree, with_stats, look) for tree in nodes_of(model, columns)]


def join_dump(trees: Sequence[str], dump_format: str) -> str:
    """Return what `dump_trees` returned as the text of one file.

    Example:
        >>> join_dump(["0:leaf=1", "0:leaf=2"], "text")
        'booster[0]:\\n0:leaf=1booster[1]:\\n0:leaf=2'
    """
    if dump_format == "json":
        return "[\n" + ",\n".join(trees) + "\n]"
    return "".join(f"booster[{i}]:\n{tree}" for i, tree in enumerate(trees))


def trees_to_frame(model: Model, columns: Columns) -> Any:
    """Return all nodes as a pandas data frame, as XGBoost's `trees_to_dataframe` does.

    Raises:
        NotSupportedError: If XGBoost's trees cannot hold the model.
    """
    import pandas

    found: list[dict[str, Any]] = []
    for t, nodes in enumerate(nodes_of(model, columns)):
        for node in sorted(nodes, key=lambda each: each.number):
            is_leaf = not node.children
            is_set = node.threshold is None
            ends = ("Yes", node.yes), ("No", node.no), ("Missing", node.missing)
            found.append(
                {
                    "Tree": t,
                    "Node": node.number,
                    "ID": f"{t}-{node.number}",
                    "Feature": "Leaf" if is_leaf else node.feature,
                    "Split": math.nan if is_leaf or is_set else float(node.condition),
                    **{name: math.nan if is_leaf else f"{t}-{end}" for name, end in ends},
                    "Gain": float(_g(node.value if is_leaf else node.gain)),
                    "Cover": float(_g(node.cover)),
                    "Category": math.nan
                    if is_leaf
                    else ([str(code) for code in node.categories] if is_set else None),
                }
            )
    return pandas.DataFrame(found, columns=_FRAME)


def _text(nodes: list[Node], with_stats: bool, look: Mapping[str, Any]) -> str:
    lines = []
    for node in nodes:
        tabs = "" if node.children and node.kind == "i" else "\t" * node.depth
        if not node.children:
            stats = f",cover={_g(node.cover)}" if with_stats else ""
            lines.append(f"{tabs}{node.number}:leaf={_g(node.value)}{stats}\n")
            continue
        test = node.test(rounds=True)
        missing = f",missing={node.missing}" if node.has_missing else ""
        stats = f",gain={_g(node.gain)},cover={_g(node.cover)}" if with_stats else ""
        lines.append(f"{tabs}{node.number}:[{test}] yes={node.yes},no={node.no}{missing}{stats}\n")
    return "".join(lines)


def _json(nodes: list[Node], with_stats: bool, look: Mapping[str, Any]) -> str:
    parts: list[str] = []
    open_nodes: list[int] = []  # children to come, for each node on the way to this one
    for node in nodes:
        indent = "  " * (node.depth + 1)
        if not node.children:
            stats = f', "cover": {_g(node.cover)} ' if with_stats else ""
            parts.append(f'{indent}{{ "nodeid": {node.number}, "leaf": {_g(node.value)} {stats}}}')
        else:
            stats = f', "gain": {_g(node.gain)}, "cover": {_g(node.cover)}' if with_stats else ""
            parts.append(f'{indent}{{ {_json_split(node)} {stats}, "children": [\n')
            open_nodes.append(2)
            continue
        while open_nodes:
            open_nodes[-1] -= 1
            if open_nodes[-1] > 0:
                parts.append(", \n")
                break
            parts.append("\n" + "  " * len(open_nodes) + "]}")
            open_nodes.pop()
    return "".join(parts)


def _json_split(node: Node) -> str:
    name = json.dumps(node.feature, ensure_ascii=False)
    found = f'"nodeid": {node.number}, "depth": {node.depth}, "split": {name}'
    if node.has_missing:
        is_set = node.threshold is None
        condition = f"[{', '.join(map(str, node.categories))}]" if is_set else node.condition
        found += f', "split_condition": {condition}'
    found += f', "yes": {node.yes}, "no": {node.no}'
    return found + (f', "missing": {node.missing}' if node.has_missing else "")


def _dot(nodes: list[Node], with_stats: bool, look: Mapping[str, Any]) -> str:
    attributes = sorted(look["graph_attrs"].items())
    graph = "".join(f'    graph [ {name}="{value}" ]\n' for name, value in attributes)
    found = []
    for node in nodes:
        if not node.children:
            stats = f"\ncover={_g(node.cover)}" if with_stats else ""
            params = _dot_params(look["leaf_node_params"])
            found.append(f'    {node.number} [ label="leaf={_g(node.value)}{stats}"{params} ]\n')
            continue
        # XGBoost's dot says the gains of categories whether asked for or not.
        shows = with_stats or (node.threshold is None and node.has_missing)
        stats = f"\ngain={_g(node.gain)}\ncover={_g(node.cover)}" if shows else ""
        test = node.test(rounds=False)
        params = _dot_params(look["condition_node_params"])
        lines = [f'    {node.number} [ label="{test}{stats}"{params} ]\n']
        for child in node.children:
            takes_missing = child == node.missing
            label = ("yes" if child == node.yes else "no") + (", missing" if takes_missing else "")
            # XGBoost's "yes_color" is the color of the branch that missing values take.
            color = look["edge"]["yes_color" if takes_missing else "no_color"]
            lines.append(f'    {node.number} -> {child} [label="{label}" color="{color}"]\n')
        found.append("".join(lines))
    return f"digraph {{\n    graph [ rankdir=TB ]\n{graph}\n" + "\n".join(found) + "}"


def _dot_params(params: Mapping[str, Any]) -> str:
    return "".join(f' {name}="{value}"' for name, value in params.items())


_FRAME: Final = (
    "Tree",
    "Node",
    "ID",
    "Feature",
    "Split",
    "Yes",
    "No",
    "Missing",
    "Gain",
    "Cover",
    "Category",
)
# How XGBoost draws trees.
_LOOK: Final[Mapping[str, Mapping[str, str]]] = {
    "edge": {"yes_color": "#0000FF", "no_color": "#FF0000"},
    "condition_node_params": {},
    "leaf_node_params": {},
    "graph_attrs": {},
}
_FORMATS: Final[Mapping[str, Callable[[list[Node], bool, Mapping[str, Any]], str]]] = {
    "text": _text,
    "json": _json,
    "dot": _dot,
}
