"""The strip next to a plot that says what its colours mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.plot.style import value_colours


def draw_scale(ax: Any, what: str, low: str, high: str) -> None:
    """Draw the colours of `style.value_colours` at the right of the axes.

    Args:
        ax: The axes, which become narrower for the strip.
        what: What the values are.
        low: The lowest value, in words or as a number.
        high: The highest.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap

    # In the middle between the twentieths that have the same colour.
    steps = value_colours(np.linspace(0.0, 1.0, 257))[13:-13]
    colours = ScalarMappable(cmap=ListedColormap(steps.tolist()))
    bar = ax.figure.colorbar(colours, ax=ax, aspect=45, pad=0.02, shrink=0.85)
    bar.set_ticks([0.0, 1.0], labels=[low, high])
    bar.ax.tick_params(length=0)
    bar.outline.set_visible(False)
    bar.set_label(what, labelpad=0 if max(len(low), len(high)) > 4 else -8)
    bar.ax.yaxis.label.set_parse_math(False)
