"""`create_tree_digraph`: a tree in the language of graphviz."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import Any, Final

from gossamer.errors import ParameterError
from gossamer.plot.arguments import checks_arguments
from gossamer.plot.models import find_booster
from gossamer.plot.tree_text import format_number
from gossamer.plot.tree_view import TreeBox, view_tree

_FILL: Final = {0: "white", 1: "#ddffdd", -1: "#ffdddd"}  # by constraint
_LEGEND: Final = (
    '<<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="4">'
    '<TR><TD COLSPAN="2"><B>Monotone constraints</B></TD></TR>'
    f'<TR><TD>Increasing</TD><TD BGCOLOR="{_FILL[1]}"></TD></TR>'
    f'<TR><TD>Decreasing</TD><TD BGCOLOR="{_FILL[-1]}"></TD></TR></TABLE>>'
)


@checks_arguments
def create_tree_digraph(
    booster: Any,
    tree_index: int = 0,
    show_info: Sequence[str] | None = None,
    precision: int | None = 3,
    orientation: str = "horizontal",
    example_case: Any = None,
    max_category_values: int = 10,
    **kwargs: Any,
) -> Any:
    """Describe one tree for graphviz.

    This needs the Python package graphviz: `pip install "gossamer[plot]"`. The graphviz program is
    needed only to render the graph; `plot_tree` draws without it.

    Args:
        booster: A `Booster` or a fitted estimator.
        tree_index: As for `plot_tree`.
        show_info: As for `plot_tree`.
        precision: Number of decimals; None means all.
        orientation: "horizontal" grows to the right, "vertical" downwards.
        example_case: A table with one row, whose path is drawn in blue.
        max_category_values: If a node has more categories than this, the first two and the last are
            shown, and all of them in its tooltip.
        **kwargs: Passed on to `graphviz.Digraph`.

    Returns:
        A `graphviz.Digraph`.

    Raises:
        ImportError: If the package is not installed.
        ParameterError: If there is no such tree, or an option cannot be used.

    Example:
        >>> import gossamer as gs
        >>> rows = [[i, i % 7] for i in range(100)]
        >>> data = gs.Dataset(rows, label=range(100), feature_name=["age", "day"])
        >>> graph = create_tree_digraph(gs.train({"num_leaves": 2, "verbose": -1}, data, 1))
        >>> "<B>age</B> ≤ <B>50.5</B>" in graph.source
        True
    """
    check_orientation(orientation)
    found = find_booster(booster, "create_tree_digraph")
    try:
        graphviz = import_module("graphviz")
    except ImportError as error:
        raise ImportError(
            'create_tree_digraph needs graphviz: pip install "gossamer[plot]"'
        ) from error
    view = view_tree(found, tree_index, show_info, precision, example_case, max_category_values)
    graph = graphviz.Digraph(**kwargs)
    rankdir = "LR" if orientation == "horizontal" else "TB"
    graph.attr("graph", nodesep="0.05", ranksep="0.3", rankdir=rankdir)
    for box in view.boxes:
        graph.node(
            _name(box),
            label=_label(box, precision),
            shape="ellipse" if box.kind == "leaf" else "rectangle",
            # Categories are text, whatever marks there are among them.
            tooltip=None if (tip := _tooltip(box)) is None else graphviz.escape(tip),
            style="filled" if view.has_constraints and box.kind != "leaf" else "",
            fillcolor=_FILL[box.monotone],
            **_pen(box),
        )
    for box in view.boxes:
        for child in (view.boxes[place] for place in box.children):
            graph.edge(_name(box), _name(child), child.edge, **_pen(child))
    if view.has_constraints:
        graph.node("legend", label=_LEGEND, shape="rectangle", color="white")
    return graph


def check_orientation(orientation: Any) -> None:
    """Check which way a tree is to grow.

    Raises:
        ParameterError: If it is not known.
    """
    if orientation not in ("horizontal", "vertical"):
        raise ParameterError.because(
            "orientation is not known",
            got=orientation,
            expected="'horizontal' or 'vertical'",
        )


def _name(box: TreeBox) -> str:
    return f"{box.kind}{box.index}"


def _pen(box: TreeBox) -> dict[str, str]:
    if box.on_path:
        return {"color": "blue", "penwidth": "3"}
    return {"color": "black", "penwidth": "1"}


def _label(box: TreeBox, precision: int | None) -> str:
    """Text with the marks that graphviz reads."""
    if box.condition is not None:
        sign, operand = escape(box.condition.sign), escape(box.condition.operand)
        text = f"<B>{escape(box.column)}</B> {sign} <B>{operand}</B>"
    else:
        value = box.formula or ", ".join(format_number(v, precision) for v in box.values)
        text = f"leaf {box.index}: <B>{escape(value)}</B>"
    return f"<{'<br/>'.join([text, *map(escape, box.info)])}>"


def _tooltip(box: TreeBox) -> str | None:
    condition = box.condition
    return condition.whole if condition is not None and condition.is_long else None
