"""What is written in the boxes of a tree, and how large they are; lengths are in points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gossamer.plot.style import INK, MUTED, NEUTRAL, Colour, diverging, ink_on, luminance
from gossamer.plot.tidy import Layout, lay_out
from gossamer.plot.tree_text import shorten
from gossamer.plot.tree_view import TreeBox, TreeView, format_values

# Text, its size, whether it is bold -> width.
Measure = Callable[[str, float, bool], float]

_LARGE: Final = 9.0
SMALL: Final = 7.5
_LEADING: Final = 1.3  # height of a line, by size of its text
_PAD: Final = (7.0, 5.0)
_NAME: Final = 22  # characters
_OPERAND: Final = 26
_GAP: Final = 7.0
_CURVE: Final = {"horizontal": 30.0, "vertical": 34.0}  # height of the edges between two rows


@dataclass(frozen=True)
class Line:
    """A line of text."""

    text: str
    size: float
    is_bold: bool = False
    is_muted: bool = False


@dataclass(frozen=True)
class DrawnBox:
    """A box with its place.

    Attributes:
        box: The node or leaf that it shows.
        lines: What is written in it.
        fill: Its colour.
        ink: The colour of its text.
        x: Left end.
        y: Top end; y grows downwards.
        width: Width.
        height: Height.
        row_end: Where the row of boxes ends in the direction in which the tree grows.
    """

    box: TreeBox
    lines: tuple[Line, ...]
    fill: Colour | str
    ink: str
    x: float
    y: float
    width: float
    height: float
    row_end: float

    @property
    def muted_ink(self) -> str:
        """Colour of muted lines: paler only where they can be read."""
        return MUTED if isinstance(self.fill, str) or luminance(self.fill) > 0.88 else self.ink


@dataclass(frozen=True)
class Drawing:
    """A whole tree.

    Attributes:
        boxes: The boxes, in the order of the view.
        width: Width of it all.
        height: Height.
        label_room: What is kept free before a box for the words at the way to it.
    """

    boxes: list[DrawnBox]
    width: float
    height: float
    label_room: float


def place_boxes(
    view: TreeView, orientation: str, precision: int | None, measure: Measure
) -> Drawing:
    """Write the lines of all boxes, and find places for them.

    Args:
        view: The tree.
        orientation: "horizontal" or "vertical".
        precision: Decimals of values; None: all.
        measure: Width of a text.
    """
    is_across = orientation == "horizontal"
    lines = [_lines(box, precision) for box in view.boxes]
    sizes = [_size(each, measure) for each in lines]
    edges = [measure(box.edge, SMALL, False) for box in view.boxes]
    if is_across:
        label_room = max(edges) + 12
        blocks = [(height, width) for width, height in sizes]
    else:
        label_room = SMALL * _LEADING + 2
        blocks = [
            (max(width, edge), height) for (width, height), edge in zip(sizes, edges, strict=True)
        ]
    row_gap = _CURVE[orientation] + (label_room if len(view.boxes) > 1 else 0)
    layout = lay_out([box.children for box in view.boxes], blocks, _GAP, row_gap)
    fills = _fills(view)
    boxes = []
    for i, box in enumerate(view.boxes):
        width, height = sizes[i]
        x, y = _corner(layout, i, width, height, is_across)
        ink = INK if isinstance(fills[i], str) else ink_on(fills[i])  # type: ignore[arg-type]
        boxes.append(DrawnBox(box, lines[i], fills[i], ink, x, y, width, height, layout.row_end[i]))
    extents = layout.extent_along, layout.extent_across
    width, height = extents if is_across else extents[::-1]
    return Drawing(boxes, width, height, label_room)


def _corner(
    layout: Layout, i: int, width: float, height: float, is_across: bool
) -> tuple[float, float]:
    if is_across:
        return layout.along[i], layout.across[i] - height / 2
    return layout.across[i] - width / 2, layout.along[i]


def _lines(box: TreeBox, precision: int | None) -> tuple[Line, ...]:
    info = [Line(text, SMALL, is_muted=True) for text in box.info]
    if box.kind == "leaf":
        value = box.formula or format_values(box.values, precision)
        name = Line(f"leaf {box.index}", SMALL, is_muted=True)
        return (Line(value, _LARGE, is_bold=not box.formula), name, *info)
    if box.kind == "cut":
        return (Line(f"… {box.n_leaves} more leaves", _LARGE, is_muted=True), *info)
    assert box.condition is not None
    condition = box.condition
    operand = shorten_list(condition.operands, _OPERAND, condition.max_operands)
    return (
        *(Line(part, _LARGE, is_bold=True) for part in wrap(box.column, _NAME)),
        Line(f"{condition.sign} {operand}", _LARGE),
        *info,
    )


def wrap(text: str, most: int) -> list[str]:
    """Return a text on one line or two, each of at most so many characters.

    Example:
        >>> wrap("mean label by city and day", 22)
        ['mean label by city and', 'day']
        >>> wrap("a_name_of_some_length_and_more", 22)
        ['a_name_of_some_length_', 'and_more']
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return [line]
    # Behind the last character that ends a word; not before the middle of the line.
    end = max(line.rfind(mark, most // 2, most + (mark == " ")) for mark in " _.-/:") + 1
    if end == 0:
        return [shorten(line, most)]
    return [line[:end].rstrip(), shorten(line[end:], most)]


def shorten_list(names: Sequence[str], most: int, most_names: int = 10) -> str:
    """Write a list of categories: some of them, each short, and how many more there are.

    Example:
        >>> shorten_list(["Amsterdam", "Bern", "Copenhagen", "Dublin"], 24)
        'Amsterdam, Bern, 2 more'
        >>> shorten_list(["12.5"], 24)
        '12.5'
    """
    if len(names) == 1:
        return shorten(names[0], most)
    each = [shorten(name, 16) for name in names]
    short = ""
    for n_shown in range(min(len(names), most_names), 0, -1):
        left = len(names) - n_shown
        short = ", ".join(each[:n_shown]) + (f", {left} more" if left else "")
        if len(short) <= most:
            break
    return short


def _size(lines: tuple[Line, ...], measure: Measure) -> tuple[float, float]:
    width = max(measure(line.text, line.size, line.is_bold) for line in lines)
    height = sum(line.size * _LEADING for line in lines)
    return width + 2 * _PAD[0], height + 2 * _PAD[1]


def line_middles(drawn: DrawnBox) -> list[float]:
    """Return where the middle of each line of a box stands, from its top end."""
    middles, top = [], _PAD[1]
    for line in drawn.lines:
        middles.append(top + line.size * _LEADING / 2)
        top += line.size * _LEADING
    return middles


def _fills(view: TreeView) -> list[Colour | str]:
    """Leaves from blue to red by their value; leaves of several outputs have no colour."""
    largest = view.largest_value or 1.0
    fills: list[Colour | str] = []
    for box in view.boxes:
        if box.kind == "leaf" and len(box.values) == 1:
            fills.append(diverging(box.values[0] / largest))
        else:
            fills.append("white" if box.kind == "split" else NEUTRAL)
    return fills
