"""Plots of importance and of trees, with XGBoost's arguments."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from importlib import import_module
from io import BytesIO
from typing import Any

from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.errors import ParameterError
from gossamer.plot.axes import Pair, check_pair, label_axes, make_axes


@warn_of_positions
def plot_importance(
    booster: Any,
    *,
    ax: Any = None,
    height: float = 0.2,
    xlim: Pair | None = None,
    ylim: Pair | None = None,
    title: str | None = "Feature importance",
    xlabel: str | None = "Importance score",
    ylabel: str | None = "Features",
    fmap: Any = "",
    importance_type: str = "weight",
    max_num_features: int | None = None,
    grid: bool = True,
    show_values: bool = True,
    values_format: str = "{v}",
    **kwargs: Any,
) -> Any:
    """Draw how much each column matters, the most important one on top.

    It needs matplotlib: `pip install "gossamer[plot]"`.

    Args:
        booster: A `Booster`, a fitted estimator, or what `get_score` returned.
        ax: matplotlib axes to draw on; None makes new ones.
        height: Thickness of the bars.
        xlim: Limits of the x axis.
        ylim: Limits of the y axis.
        title: Title; None: none.
        xlabel: Label of the x axis; None: none.
        ylabel: Label of the y axis; None: none.
        fmap: A feature map: a file with number, name and type of each column.
        importance_type: As for `Booster.get_score`.
        max_num_features: How many columns to draw at most; None: all.
        grid: Whether to draw a grid.
        show_values: Whether to write the numbers next to the bars.
        values_format: How; `v` stands for the number.
        **kwargs: Passed on to `ax.barh()`.

    Returns:
        The axes.

    Raises:
        ParameterError: If there is nothing to draw.

    Example:
        >>> from matplotlib.figure import Figure
        >>> ax = plot_importance({"a": 3, "b": 5}, ax=Figure().add_subplot())
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['a', 'b']
    """
    model = booster.get_booster() if hasattr(booster, "get_booster") else booster
    if hasattr(model, "get_score"):
        model = model.get_score(fmap, importance_type)
    if not isinstance(model, Mapping) or not model:
        raise ParameterError.because(
            "there is nothing to draw",
            got=model if isinstance(model, Mapping) else type(model).__name__,
            expected="a model with splits, or a dict of numbers by name",
        )
    pairs = sorted(model.items(), key=lambda pair: float(pair[1]))
    pairs = pairs[-max_num_features:] if max_num_features else pairs
    ax = make_axes(ax, None, None, "plot_importance")
    places, values = range(len(pairs)), [float(value) for _, value in pairs]
    bars = ax.barh(places, values, height=height, **kwargs)
    if show_values:
        ax.bar_label(bars, [values_format.format(v=value) for value in values], padding=3)
    ax.set_yticks(places, labels=[str(name) for name, _ in pairs], parse_math=False)
    ax.set_xlim(check_pair(xlim, "xlim") or (0, values[-1] * 1.15 or 1))
    ax.set_ylim(check_pair(ylim, "ylim") or (-1, len(pairs)))
    label_axes(ax, title=title, xlabel=xlabel, ylabel=ylabel, grid="x" if grid else None)
    return ax


@warn_of_positions
def to_graphviz(
    booster: Any,
    *,
    fmap: str | os.PathLike[str] = "",
    num_trees: int | None = None,
    rankdir: str | None = None,
    yes_color: str | None = None,
    no_color: str | None = None,
    condition_node_params: Mapping[str, str] | None = None,
    leaf_node_params: Mapping[str, str] | None = None,
    with_stats: bool = False,
    tree_idx: int = 0,
    **kwargs: Any,
) -> Any:
    """Describe one tree for graphviz.

    It needs the Python package graphviz: `pip install "gossamer[plot]"`.

    Args:
        booster: A `Booster`, or a fitted estimator.
        fmap: A feature map: a file with number, name and type of each column.
        num_trees: The old name of `tree_idx`.
        rankdir: Direction of the graph: "TB" or "LR".
        yes_color: Color of the branch that missing values take.
        no_color: Color of the other branch.
        condition_node_params: Attributes of nodes.
        leaf_node_params: Attributes of leaves.
        with_stats: Whether to show gains and covers.
        tree_idx: Number of the tree, from 0.
        **kwargs: Attributes of the graph.

    Returns:
        A `graphviz.Source`.
    """
    try:
        graphviz = import_module("graphviz")
    except ImportError:
        raise ImportError('to_graphviz needs graphviz: pip install "gossamer[plot]"') from None
    if num_trees is not None:
        warnings.warn("num_trees is called tree_idx now.", FutureWarning, stacklevel=3)
        tree_idx = num_trees
    colors = {"yes_color": yes_color, "no_color": no_color}
    look = {
        "graph_attrs": {**({} if rankdir is None else {"rankdir": rankdir}), **kwargs},
        "edge": {name: color for name, color in colors.items() if color is not None},
        "condition_node_params": dict(condition_node_params or {}),
        "leaf_node_params": dict(leaf_node_params or {}),
    }
    model = booster.get_booster() if hasattr(booster, "get_booster") else booster
    trees = model.get_dump(fmap, with_stats, f"dot:{json.dumps(look)}")
    if not 0 <= tree_idx < len(trees):
        raise ParameterError.because(
            "there is no such tree", got=tree_idx, expected=f"0..{len(trees) - 1}"
        )
    return graphviz.Source(trees[tree_idx])


@warn_of_positions
def plot_tree(
    booster: Any,
    *,
    fmap: str | os.PathLike[str] = "",
    num_trees: int | None = None,
    rankdir: str | None = None,
    ax: Any = None,
    with_stats: bool = False,
    tree_idx: int = 0,
    **kwargs: Any,
) -> Any:
    """Draw one tree; it needs matplotlib, the Python package graphviz and the program `dot`.

    Args:
        booster: A `Booster`, or a fitted estimator.
        fmap: As for `to_graphviz`.
        num_trees: The old name of `tree_idx`.
        rankdir: As for `to_graphviz`.
        ax: matplotlib axes to draw on; None makes new ones.
        with_stats: As for `to_graphviz`.
        tree_idx: Number of the tree, from 0.
        **kwargs: The other arguments of `to_graphviz`.

    Returns:
        The axes.
    """
    graph = to_graphviz(
        booster,
        fmap=fmap,
        num_trees=num_trees,
        rankdir=rankdir,
        with_stats=with_stats,
        tree_idx=tree_idx,
        **kwargs,
    )
    ax = make_axes(ax, None, None, "plot_tree")
    picture = import_module("matplotlib.image").imread(BytesIO(graph.pipe(format="png")))
    ax.imshow(picture)
    ax.axis("off")
    return ax
