"""Colours and sizes that the plots share."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Colour = tuple[float, float, float]

INK: Final = "#2b2b2b"
MUTED: Final = "#6f6f6f"
LINE: Final = "#b9bec5"
MARK: Final = "#e8871e"  # the path of an example
MISSING: Final = "#a8a8a8"
LOW: Final = "#2f6fb7"  # low values, or what lowers a prediction
HIGH: Final = "#d1495b"  # high values, or what raises it
NEUTRAL: Final = "#f2f3f5"

_LOW: Final = (0.184, 0.435, 0.718)
_MIDDLE: Final = (0.965, 0.965, 0.955)
_HIGH: Final = (0.820, 0.286, 0.357)
_VIOLET: Final = (0.545, 0.361, 0.635)


def diverging(share: float) -> Colour:
    """Return the colour of a number from -1 (blue) over 0 (nearly white) to 1 (red).

    Example:
        >>> diverging(0.0)
        (0.965, 0.965, 0.955)
    """
    share = min(max(share, -1.0), 1.0)
    end = _HIGH if share > 0 else _LOW
    r, g, b = (m + (e - m) * abs(share) ** 0.8 for m, e in zip(_MIDDLE, end, strict=True))
    return r, g, b


def ink_on(colour: Colour) -> str:
    """Return the colour of text that can be read on a colour.

    Example:
        >>> ink_on((1.0, 1.0, 1.0)), ink_on((0.1, 0.1, 0.4))
        ('#2b2b2b', 'white')
    """
    return INK if luminance(colour) > 0.58 else "white"


def luminance(colour: Colour) -> float:
    """Return how bright a colour is, from 0 to 1.

    Example:
        >>> luminance((0.0, 0.0, 0.0))
        0.0
    """
    r, g, b = colour
    return 0.299 * r + 0.587 * g + 0.114 * b


def value_colours(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return a colour for each number, from blue (the lowest ones) over violet to red.

    A few numbers far out do not take the colours from all others: the lowest and the highest
    twentieth have the same colour.

    Returns:
        (values, 3), red, green and blue from 0 to 1.

    Example:
        >>> value_colours(np.array([0.0, 1.0])).round(2).tolist()
        [[0.18, 0.44, 0.72], [0.82, 0.29, 0.36]]
    """
    low, high = np.quantile(values, [0.05, 0.95])
    if low == high:
        low, high = float(values.min()), float(values.max())
    share = np.full(len(values), 0.5)
    if high > low:
        share = np.clip((values - low) / (high - low), 0.0, 1.0)
    return np.stack(
        [
            np.interp(share, [0.0, 0.5, 1.0], ends)
            for ends in zip(_LOW, _VIOLET, _HIGH, strict=True)
        ],
        axis=1,
    )
