from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.plot.tidy import Layout, lay_out

GAP, ROW_GAP = 3.0, 5.0


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[list[int]], list[tuple[float, float]]]:
    """Boxes with up to three children each, parents first, and their sizes."""
    n_boxes = draw(st.integers(1, 60))
    children: list[list[int]] = [[] for _ in range(n_boxes)]
    free = [0]
    for box in range(1, n_boxes):
        parent = draw(st.sampled_from(free))
        children[parent].append(box)
        if len(children[parent]) == 3:
            free.remove(parent)
        free.append(box)
    length = st.floats(1, 50, width=16)
    sizes = draw(st.lists(st.tuples(length, length), min_size=n_boxes, max_size=n_boxes))
    return children, sizes


def edges(layout: Layout, sizes: list[tuple[float, float]]) -> np.ndarray:
    """Left, right, begin and end of each box."""
    across, along = np.array(layout.across), np.array(layout.along)
    width, height = np.array(sizes).T
    return np.stack([across - width / 2, across + width / 2, along, along + height], axis=1)


@given(trees())
def test_no_two_boxes_overlap(tree: tuple[list[list[int]], list[tuple[float, float]]]) -> None:
    children, sizes = tree
    layout = lay_out(children, sizes, GAP, ROW_GAP)
    found = edges(layout, sizes)
    for a, b in combinations(found, 2):
        beside = a[1] + GAP <= b[0] + 1e-6 or b[1] + GAP <= a[0] + 1e-6
        below = a[3] + ROW_GAP <= b[2] + 1e-6 or b[3] + ROW_GAP <= a[2] + 1e-6
        assert beside or below
    assert found[:, 0].min() == pytest.approx(0) and found[:, 2].min() == 0
    assert found[:, 1].max() == pytest.approx(layout.extent_across)
    assert found[:, 3].max() == pytest.approx(layout.extent_along)


@given(trees())
def test_parents_stand_over_their_children(
    tree: tuple[list[list[int]], list[tuple[float, float]]],
) -> None:
    children, sizes = tree
    layout = lay_out(children, sizes, GAP, ROW_GAP)
    for parent, below in enumerate(children):
        places = [layout.across[child] for child in below]
        assert places == sorted(places)
        if places:
            assert layout.across[parent] == pytest.approx((places[0] + places[-1]) / 2)
            assert [layout.along[child] for child in below] == pytest.approx(
                [layout.row_end[parent] + ROW_GAP] * len(below)
            )


@given(trees())
def test_a_mirrored_tree_is_drawn_mirrored(
    tree: tuple[list[list[int]], list[tuple[float, float]]],
) -> None:
    children, sizes = tree
    if any(len(below) > 2 for below in children):
        return  # the one in the middle is pushed to one side
    layout = lay_out(children, sizes, GAP, ROW_GAP)
    mirrored = lay_out([below[::-1] for below in children], sizes, GAP, ROW_GAP)
    across = [layout.extent_across - x for x in mirrored.across]
    assert across == pytest.approx(layout.across)


def test_subtrees_stand_close() -> None:
    # The deep subtree reaches below the leaf beside it.
    children = [[1, 2], [3, 4], [], [], [5, 6], [], []]
    layout = lay_out(children, [(10, 10)] * 7, gap=2, row_gap=4)
    assert layout.extent_across == 28  # not four boxes side by side
    chain = [[i + 1] for i in range(1500)] + [[]]
    assert lay_out(chain, [(10, 10)] * 1501, 2, 4).extent_across == 10
