"""The explorer draws trees where `plot_tree` does."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer.report
from gossamer.plot.tidy import lay_out

SCRIPT = Path(gossamer.report.__file__).parent / "assets" / "tree_layout.js"
SIZE, GAP, ROW_GAP = (126.0, 40.0), 12.0, 52.0


def _random_tree(n_splits: int, seed: int, chain: bool) -> list[tuple[int, ...]]:
    """The children of each node, breadth first."""
    rng = np.random.default_rng(seed)
    children: dict[int, tuple[int, int]] = {}
    leaves, n_nodes = [0], 1
    for _ in range(n_splits):
        i = leaves.pop(-1 if chain else int(rng.integers(len(leaves))))
        children[i] = (n_nodes, n_nodes + 1)
        leaves += children[i]
        n_nodes += 2
    order = [0]
    for i in order:
        order += children.get(i, ())
    place = {node: k for k, node in enumerate(order)}
    return [tuple(place[c] for c in children.get(node, ())) for node in order]


def _run(trees: list[Any], opened: list[Any]) -> Any:
    """The places that the explorer finds for nodes that are open."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the explorer's layout cannot be run")
    code = SCRIPT.read_text() + (
        f"const trees = {json.dumps(trees)}, opened = {json.dumps(opened)};"
        "console.log(JSON.stringify(trees.map((nodes, t) => "
        "[...layOut(nodes, new Set(opened[t]))].map(([i, at]) => [i, at.x, at.y]))));"
    )
    found = subprocess.run([node, "-"], input=code, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def test_the_layout_is_that_of_plot_tree() -> None:
    shapes = [_random_tree(n, seed, seed % 4 == 3) for seed, n in enumerate([0, 1, 2, 9, 30, 200])]
    trees = [[[0, 0, *c, 0, 0, 1, 0] if c else [0, 1] for c in shape] for shape in shapes]
    for shape, places in zip(
        shapes, _run(trees, [list(range(len(s))) for s in shapes]), strict=True
    ):
        layout = lay_out(shape, [SIZE] * len(shape), GAP, ROW_GAP)
        x = {i: x for i, x, _ in places}
        y = {i: y for i, _, y in places}
        assert len(places) == len(shape)
        np.testing.assert_allclose([x[i] + SIZE[0] / 2 for i in range(len(shape))], layout.across)
        np.testing.assert_allclose([y[i] for i in range(len(shape))], layout.along)


def test_closed_nodes_hide_what_is_below() -> None:
    shape = _random_tree(9, 1, chain=False)
    tree = [[0, 0, *c, 0, 0, 1, 0] if c else [0, 1] for c in shape]
    (places,) = _run([tree], [[0]])
    assert [i for i, _, _ in places] == [0, 1, 2]
    assert [x for _, x, _ in places] == [69.0, 0.0, 138.0]
