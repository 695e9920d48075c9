"""What the plots share: axes to draw on, limits and labels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from gossamer.data.table.date_text import LAST_SECOND, date_ticks
from gossamer.errors import ParameterError, import_needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Pair = tuple[float, float]
Texts = Mapping[str, str | None]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Look:
    """How a plot looks: what plots of our own take as keywords.

    Attributes:
        title: Title; None: none.
        xlabel: Label of the x axis; None: none.
        ylabel: Label of the y axis; None: none.
        figsize: Width and height of the new figure in inches; None: as the plot needs.
        dpi: Its resolution.
        grid: Whether to draw a grid.
    """

    title: str | None
    xlabel: str | None
    ylabel: str | None
    figsize: Pair | None = None
    dpi: int | None = None
    grid: bool = True

    @classmethod
    def take(cls, options: dict[str, Any], texts: Texts, grid: str = "grid") -> Look:
        """Take these options out of others, which are passed on elsewhere.

        Args:
            options: Options by name; options of the look are removed.
            texts: Default title and labels.
            grid: What the option `grid` is called.

        Example:
            >>> options = {"title": "Ages", "num_iteration": 3}
            >>> look = Look.take(options, {"title": None, "xlabel": "auto", "ylabel": None})
            >>> look.title, look.xlabel, options
            ('Ages', 'auto', {'num_iteration': 3})
        """
        names = {each.name: each.name for each in fields(cls)} | {"grid": grid}
        given = {ours: options.pop(name) for ours, name in names.items() if name in options}
        return cls(**{**texts, **given})


def takes_look(texts: Texts, grid: str = "grid") -> Callable[[F], F]:
    """Show the options of `Look`, which a function has among its `**kwargs`, in its signature.

    Args:
        texts: Default title and labels.
        grid: What the option `grid` is called.
    """
    look = [
        inspect.Parameter(
            grid if each.name == "grid" else each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=texts.get(each.name, each.default),
            annotation=each.type,
        )
        for each in fields(Look)
    ]

    def decorate(function: F) -> F:
        own = inspect.signature(function)
        *first, others = own.parameters.values()
        vars(function)["__signature__"] = own.replace(parameters=[*first, *look, others])
        return function

    return decorate


def make_axes(ax: Axes | None, figsize: Pair | None, dpi: int | None, function: str) -> Axes:
    """Return the axes to draw on: those given, or new ones.

    Args:
        ax: Axes, or None.
        figsize: Width and height of the new figure in inches.
        dpi: Its resolution.
        function: Who asks, for the message.

    Raises:
        ImportError: If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    pyplot = need_matplotlib("matplotlib.pyplot", function)
    figsize = check_pair(figsize, "figsize")
    new: Axes = pyplot.subplots(figsize=figsize, dpi=dpi, layout="constrained")[1]
    return new


def need_matplotlib(module: str, function: str) -> Any:
    """Return a module that needs matplotlib.

    Raises:
        ImportError: If matplotlib is not installed.
    """
    return import_needed(module, function, "plot")


def check_pair(pair: Any, name: str) -> Any:
    """Return the pair, or None.

    Raises:
        ParameterError: If there are not two of them.

    Example:
        >>> check_pair((0, 1), "xlim")
        (0, 1)
    """
    if pair is not None and (not isinstance(pair, (tuple, list)) or len(pair) != 2):
        raise ParameterError.because(f"{name} cannot be used", got=pair, expected="two numbers")
    return pair


def name_places(set_ticks: Any, names: Sequence[str], is_x: bool = True) -> None:
    """Write names at the places 0, 1, 2, ... of an axis; many of them below each other.

    Args:
        set_ticks: `ax.set_xticks` or `ax.set_yticks`.
        names: The names.
        is_x: Whether this is the x axis.
    """
    turn = {"rotation": 30, "ha": "right"} if is_x and sum(map(len, names)) > 45 else {}
    # A dollar sign in a name is a dollar sign.
    set_ticks(range(len(names)), labels=list(names), parse_math=False, **turn)


def show_dates(axis: Any, low: float, high: float) -> None:
    """Write dates along an axis of seconds since 1970.

    Args:
        axis: The x or the y axis.
        low: The first moment that is drawn.
        high: The last one.
    """
    if abs(low) < LAST_SECOND and abs(high) < LAST_SECOND:
        ticks, texts = date_ticks(low, high)
        axis.set_ticks(ticks, labels=texts)


def label_axes(
    ax: Axes,
    *,
    title: str | None,
    xlabel: str | None,
    ylabel: str | None,
    grid: Literal["x", "both"] | None,
    names: Mapping[str, str] | None = None,
) -> None:
    """Write the texts around the axes and draw the grid; None leaves one out.

    Args:
        ax: The axes.
        title: Text above them.
        xlabel: Text below them.
        ylabel: Text on the left.
        grid: Lines across which axis.
        names: What is replaced by which name in the texts: "@feature@" -> "price in $".
    """
    for set_text, text in ((ax.set_title, title), (ax.set_xlabel, xlabel), (ax.set_ylabel, ylabel)):
        if text is None:
            continue
        whole = text
        for placeholder, name in (names or {}).items():
            whole = whole.replace(placeholder, name)
        # A dollar sign in a name is a dollar sign; the user's own texts may have formulas.
        set_text(whole, parse_math=whole == text)
    ax.grid(False)
    if grid is not None:
        ax.grid(axis=grid, color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def label_rows(ax: Axes, look: Look) -> None:
    """Write the texts around a plot with one row per column, which needs no line on the left."""
    grid: Literal["x"] | None = "x" if look.grid else None
    label_axes(ax, title=look.title, xlabel=look.xlabel, ylabel=look.ylabel, grid=grid)
    ax.spines["left"].set_visible(False)
