from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from plot.random_trees import booster_of

import gossamer as gs
from gossamer.errors import ParameterError
from gossamer.tree import Tree

graphviz = pytest.importorskip("graphviz")

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 2))
LABEL = ROWS[:, 0] + 0.3 * ROWS[:, 1]


def train(**params: Any) -> Any:
    data = gs.Dataset(ROWS, LABEL, feature_name=["a<b>&", "b"])
    return gs.train({"verbose": -1, "num_leaves": 6, **params}, data, 2)


def test_nodes_and_edges() -> None:
    model = train()
    graph = gs.create_tree_digraph(model, 1, name="mine")
    assert isinstance(graph, graphviz.Digraph) and graph.name == "mine"
    tree = model.model.forest.tree(1)
    for i in range(5):
        for child, answer in ((tree.left[i], "yes"), (tree.right[i], "no")):
            name = f"leaf{~child}" if child < 0 else f"split{child}"
            assert re.search(rf'split{i} -> {name} \[label="?{answer}', graph.source)
    name = ("a&lt;b&gt;&amp;", "b")[tree.column[0]]
    assert f"<B>{name}</B> ≤ <B>{tree.threshold[0]:.3f}".rstrip("0") in graph.source
    assert f"leaf 0: <B>{tree.leaf_value[0]:.3f}</B>" in graph.source
    assert "rankdir=LR" in graph.source and "legend" not in graph.source
    assert "rankdir=TB" in gs.create_tree_digraph(model, orientation="vertical").source


def test_info_in_lightgbms_words() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(ROWS, LABEL)
    peer = lightgbm.train({"verbose": -1, "num_leaves": 6, "num_threads": 1}, data, 1)
    info = ["split_gain", "internal_value", "internal_count", "internal_weight", "leaf_count"]
    info += ["leaf_weight", "data_percentage"]
    own = gs.create_tree_digraph(train(), show_info=info).source
    other = lightgbm.create_tree_digraph(peer, show_info=info).source

    def lines(source: str) -> list[str]:
        """What is written in the root and in a leaf, without the numbers."""
        found = [
            re.search(rf"{name} \[label=<(.*?)> color", source) for name in ("split0", "leaf0")
        ]
        return [
            re.sub(r"-?[\d.]+(e-?\d+)?", "0", line)
            for match in found
            if match
            for line in match.group(1).split("<br/>")[1:]
        ]

    assert lines(own) == lines(other) and len(lines(own)) == 8


def test_the_path_of_an_example() -> None:
    model = train()
    graph = gs.create_tree_digraph(model, example_case=ROWS[:1])
    leaf = model.predict(ROWS[:1], pred_leaf=True)[0, 0]
    marked = re.findall(r"^\s(\w+) \[.*color=blue", graph.source, re.MULTILINE)
    assert [name for name in marked if name.startswith("leaf")] == [f"leaf{leaf}"]
    assert marked[0] == "split0"
    assert graph.source.count("->") == 10


def test_monotone_constraints() -> None:
    graph = gs.create_tree_digraph(train(monotone_constraints={"b": -1, 0: 1}))
    assert "Monotone constraints" in graph.source
    assert "#ddffdd" in graph.source and "style=filled" in graph.source


def test_many_categories_are_in_the_tooltip() -> None:
    code = RNG.integers(0, 40, 2000)
    data = gs.Dataset(code.reshape(-1, 1).astype(float), code % 2, categorical_feature=[0])
    params = {"verbose": -1, "cat_target_statistics": "off", "num_leaves": 2}
    model = gs.train({**params, "max_cat_threshold": 64, "max_cat_to_onehot": 1}, data, 1)
    source = gs.create_tree_digraph(model, max_category_values=3).source
    (label,) = re.findall(r"split0 \[label=<(.*?)> color", source)
    (tooltip,) = re.findall(r'tooltip="(.*?)"', source)
    assert label.count(",") == 3 and "…" in label
    assert len(tooltip.split(", ")) > 10
    assert "tooltip" not in gs.create_tree_digraph(model, max_category_values=50).source


def test_a_single_leaf_and_bad_input() -> None:
    booster = booster_of(Tree.constant(0.25, count=9))
    assert "leaf 0: <B>0.250</B>" in gs.create_tree_digraph(booster).source
    with pytest.raises(ParameterError, match="no such tree: got 1"):
        gs.create_tree_digraph(booster, 1)
    with pytest.raises(ParameterError, match="orientation"):
        gs.create_tree_digraph(booster, orientation="LR")
    no_counts = booster_of(Tree.constant(0.25))
    with pytest.raises(ParameterError, match="how many rows"):
        gs.create_tree_digraph(no_counts, show_info=["data_percentage"])


def test_without_the_package() -> None:
    script = (
        "import sys; sys.modules['graphviz'] = None\n"
        "import gossamer\n"
        "data = gossamer.Dataset([[float(i)] for i in range(99)], label=range(99))\n"
        "model = gossamer.train({}, data, 1)\n"
        "gossamer.create_tree_digraph(model)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    expected = 'ImportError: create_tree_digraph needs graphviz: pip install "gossamer[plot]"'
    assert expected in run.stderr
