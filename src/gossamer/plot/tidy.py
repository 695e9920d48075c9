"""Where the boxes of a tree stand: a tidy drawing, after Reingold and Tilford.

Boxes of one depth stand in a row, a parent stands over the middle of its children, and two subtrees
stand as close together as their outlines allow. *Across* is the direction of a row, *along* the one
in which the tree grows; the caller decides which of them is x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Where boxes stand.

    Attributes:
        across: Middle of each box; the smallest coordinate of all boxes is 0.
        along: Where the row of each box begins.
        row_end: Where the row of each box ends: its largest box fills it.
        extent_across: Largest coordinate of all boxes.
        extent_along: End of the last row.
    """

    across: list[float]
    along: list[float]
    row_end: list[float]
    extent_across: float
    extent_along: float


def lay_out(
    children: Sequence[Sequence[int]],
    sizes: Sequence[tuple[float, float]],
    gap: float,
    row_gap: float,
) -> Layout:
    """Place the boxes of a tree.

    Args:
        children: The children of each box, in order. The first box is the root, and every box comes
            before its children.
        sizes: Of each box, across and along.
        gap: Least distance of two boxes of a row.
        row_gap: Distance of two rows.

    Example:
        >>> layout = lay_out([(1, 2), (), ()], [(30, 10), (20, 10), (20, 10)], gap=4, row_gap=8)
        >>> layout.across, layout.along
        ([22.0, 10.0, 34.0], [0.0, 18.0, 18.0])
    """
    offset = _find_offsets(children, sizes, gap)
    across, depth = [0.0] * len(children), [0] * len(children)
    for i, below in enumerate(children):
        for child in below:
            across[child], depth[child] = across[i] + offset[child], depth[i] + 1
    heights = [0.0] * (max(depth) + 1)
    for i, (_, height) in enumerate(sizes):
        heights[depth[i]] = max(heights[depth[i]], float(height))
    begin = [0.0]
    for height in heights:
        begin.append(begin[-1] + height + row_gap)
    first = min(x - width / 2 for x, (width, _) in zip(across, sizes, strict=True))
    across = [x - first for x in across]
    return Layout(
        across,
        [begin[d] for d in depth],
        [begin[d] + heights[d] for d in depth],
        max(x + width / 2 for x, (width, _) in zip(across, sizes, strict=True)),
        begin[-1] - row_gap,
    )


def _find_offsets(
    children: Sequence[Sequence[int]], sizes: Sequence[tuple[float, float]], gap: float
) -> list[float]:
    """Place of each box relative to its parent, from the leaves up."""
    offset = [0.0] * len(children)
    # Outlines of the subtrees, by depth below their root and relative to it: (left, right).
    outline: list[list[tuple[float, float]]] = [[] for _ in children]
    for i in reversed(range(len(children))):
        joined: list[tuple[float, float]] = []
        for child in children[i]:
            own = outline[child]
            # So far to the right that it is clear of everything to its left.
            offset[child] = max(
                (a[1] + gap - b[0] for a, b in zip(joined, own, strict=False)), default=0.0
            )
            moved = [(a + offset[child], b + offset[child]) for a, b in own]
            n_common = min(len(joined), len(moved))
            joined = [
                *((a[0], b[1]) for a, b in zip(joined, moved, strict=False)),
                *joined[n_common:],
                *moved[n_common:],
            ]
            outline[child] = []  # not needed any more
        middle = (offset[children[i][0]] + offset[children[i][-1]]) / 2 if children[i] else 0.0
        for child in children[i]:
            offset[child] -= middle
        half = sizes[i][0] / 2
        outline[i] = [(-half, half), *((a - middle, b - middle) for a, b in joined)]
    return offset
