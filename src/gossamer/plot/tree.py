"""`plot_tree`: one tree of a model, drawn without the graphviz program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from gossamer.errors import ParameterError
from gossamer.params.suggest import did_you_mean
from gossamer.plot.arguments import checks_arguments
from gossamer.plot.axes import Pair, make_axes, need_matplotlib
from gossamer.plot.digraph import check_orientation
from gossamer.plot.models import find_booster
from gossamer.plot.tree_boxes import place_boxes
from gossamer.plot.tree_view import view_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What LightGBM hands on to graphviz; it means nothing here.
_OF_GRAPHVIZ: Final = (
    *("name", "comment", "filename", "directory", "format", "engine", "encoding", "graph_attr"),
    *("node_attr", "edge_attr", "body", "strict", "renderer", "formatter"),
)
_MOST_BOXES: Final = 2100
# Of figures that are made here, in inches: more than this is made smaller, letters and all.
_MOST_AREA: Final = 2500.0
_MOST_LENGTH: Final = 250.0


@checks_arguments
def plot_tree(
    booster: Any,
    ax: Axes | None = None,
    tree_index: int = 0,
    figsize: Pair | None = None,
    dpi: int | None = None,
    show_info: Sequence[str] | None = None,
    precision: int | None = 3,
    orientation: str = "horizontal",
    example_case: Any = None,
    max_category_values: int = 10,
    max_depth: int | None = None,
    title: str | None = "auto",
    **kwargs: Any,
) -> Axes:
    """Draw one tree.

    Each box shows a condition. The edges are labelled "yes" and "no", and the one that rows with
    missing values take is labelled "missing". The more training rows take an edge, the wider it is.
    Leaves are blue if they lower the raw score and red if they raise it.

    This needs matplotlib: `pip install "gossamer[plot]"`. Unlike LightGBM's function, it does not
    need the graphviz program.

    Args:
        booster: A `Booster` or a fitted estimator.
        ax: matplotlib axes to draw on; None creates new ones.
        tree_index: Number of the tree, from 0. With several outputs, each round has one tree per
            output.
        figsize: Width and height of the new figure in inches; None chooses a size for the tree.
        dpi: Resolution of the new figure.
        show_info: What to show in the boxes below the condition or the value: "split_gain",
            "internal_value", "internal_count", "internal_weight", "leaf_count", "leaf_weight",
            "data_percentage".
        precision: Number of decimals; None means all.
        orientation: "horizontal" grows to the right, "vertical" downwards.
        example_case: A table with one row, whose path is drawn in orange.
        max_category_values: Maximum number of categories to show in a node; fewer if they do not
            fit.
        max_depth: Depth below which subtrees are left out; None draws the whole tree.
        title: Title, or None; "auto" names the tree.
        **kwargs: Arguments of `graphviz.Digraph`, accepted for compatibility with LightGBM. They
            have no effect.

    Returns:
        The axes. Text and lines scale with them.

    Raises:
        ParameterError: If there is no such tree, it is too large, or an option cannot be used.

    Example:
        >>> from matplotlib.figure import Figure
        >>> import gossamer as gs
        >>> rows = [[i, i % 7] for i in range(100)]
        >>> data = gs.Dataset(rows, label=range(100), feature_name=["age", "day"])
        >>> model = gs.train({"num_leaves": 2, "verbose": -1}, data, 1)
        >>> ax = plot_tree(model, ax=Figure().add_subplot())
        >>> [text.get_text() for text in ax.texts][2:4]
        ['age', '≤ 50.5']
    """
    for name in kwargs:
        if name not in _OF_GRAPHVIZ:
            hint = did_you_mean(name, ("max_depth", "max_category_values", "title", "figsize"))
            raise ParameterError.because("plot_tree has no such argument", got=name, hint=hint)
    check_orientation(orientation)
    found = find_booster(booster, "plot_tree")
    view = view_tree(
        found, tree_index, show_info, precision, example_case, max_category_values, max_depth
    )
    if len(view.boxes) > _MOST_BOXES:
        raise ParameterError.because(
            "the tree is too large to draw",
            found=f"{len(view.boxes)} boxes",
            expected=f"at most {_MOST_BOXES}",
            hint="Draw its upper part: max_depth=6.",
        )
    module = need_matplotlib("gossamer.plot.tree_drawing", "plot_tree")
    drawing = place_boxes(view, orientation, precision, module.measure)
    if title == "auto":
        title = view.title
    if ax is None and figsize is None:
        figsize = _size(drawing.width, drawing.height, title is not None)
    ax = make_axes(ax, figsize, dpi, "plot_tree")
    module.draw(ax, drawing, orientation)
    if title is not None:
        ax.set_title(title)
    return ax


def _size(width: float, height: float, has_title: bool) -> Pair:
    """Inches for a drawing of so many points."""
    width, height = (width + 24) / 72, (height + 24) / 72
    scale = min((_MOST_AREA / (width * height)) ** 0.5, _MOST_LENGTH / max(width, height), 1.0)
    return max(width * scale, 2.5), max(height * scale, 0.8) + (0.4 if has_title else 0.0)
