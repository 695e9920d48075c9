from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report.pages import Page, fit, table

import gossamer as gs
from gossamer.report import tree_data
from gossamer.report.tree_data import TreeEmbedder


def embedded(page: Page) -> dict[str, Any]:
    return next(f for k, s in page.scripts if k and "trees" in (f := json.loads(s)))


def leaf_of(facts: dict[str, Any], tree: dict[str, Any], row: Any) -> Any:
    """Walk down as the page does."""
    node = tree["nodes"][0]
    while len(node) == 8:
        value = row[int(facts["names"][node[0]].removeprefix("Column_"))]
        goes_left = node[7] % 2 == 1 if np.isnan(value) else value <= node[1]
        node = tree["nodes"][node[2] if goes_left else node[3]]
    return node


def test_trees_on_the_page_predict(tmp_path: Path) -> None:
    x = table()
    x[::7, 0] = np.nan
    model = fit({"boost_from_average": False}, x, np.nan_to_num(x[:, 0]) * x[:, 1], 5)
    facts = embedded(Page(model.report(tmp_path / "a.html", x)))
    assert [tree["tree"] for tree in facts["trees"]] == list(range(5))
    for row in x[:40]:
        total = sum(leaf_of(facts, tree, row)[0] for tree in facts["trees"])
        assert total == pytest.approx(model.predict([row])[0], abs=1e-5)
    counts = [node[1] for node in facts["trees"][0]["nodes"] if len(node) < 8]
    assert sum(counts) == 400 == facts["trees"][0]["nodes"][0][6]


def test_paths_of_rows_end_in_their_leaves(tmp_path: Path) -> None:
    x = table()
    model = fit({}, x, x[:, 0] * x[:, 1], 4)
    facts = embedded(Page(model.report(tmp_path / "a.html", x)))
    assert len(facts["rows"]) == 8
    for row in facts["rows"]:
        values = x[int(row["name"].split()[1].replace(",", ""))]
        for tree, end in zip(facts["trees"], row["ends"], strict=True):
            assert tree["nodes"][end] is leaf_of(facts, tree, values)


def test_categories_are_named(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    city = np.array(["Bern", "Oslo", "Rome"] * 100)
    frame = pandas.DataFrame({"city": pandas.Categorical(city)})
    model = fit({"num_leaves": 2, "cat_target_statistics": "off"}, frame, city == "Oslo", 1)
    node = embedded(Page(model.report(tmp_path / "a.html", frame)))["trees"][0]["nodes"][0]
    goes_left, words, n = node[1]
    assert n == len(words)
    left_value = embedded(Page(tmp_path / "a.html"))["trees"][0]["nodes"][node[2]][0]
    assert ("Oslo" in words) == bool(goes_left) if left_value > 0.4 else "Oslo" in words


def test_many_trees_stay_within_the_budget(tmp_path: Path, monkeypatch: Any) -> None:
    x = table()
    model = fit({"num_leaves": 3}, x, x[:, 0], 400)
    page = Page(model.report(tmp_path / "a.html", x))
    assert len(embedded(page)["trees"]) == 200 and "The first 200 of them are" in page.text
    monkeypatch.setattr(tree_data, "BUDGET", 5000)
    page = Page(model.report(tmp_path / "a.html", x))
    assert 5 < len(embedded(page)["trees"]) < 50
    page = Page(model.report(tmp_path / "a.html", x, trees=[399, 7, 7]))
    assert [tree["tree"] for tree in embedded(page)["trees"]] == [399, 7]
    assert "The 2 of them" in page.text
    page = Page(model.report(tmp_path / "a.html", x, trees=range(300)))
    assert "The other chosen trees do not fit" in page.text
    assert "No tree was chosen" in Page(model.report(tmp_path / "a.html", trees=[])).text


def test_large_trees_are_cut(monkeypatch: Any) -> None:
    x = table()
    model = fit({"num_leaves": 60, "min_data_in_leaf": 1}, x, x[:, 0] * x[:, 1], 1)
    whole = TreeEmbedder(model.model).embed(0)
    assert not whole.is_cut and len(whole.facts["nodes"]) == 119
    assert sorted(whole.node_of_leaf) == [
        i for i, node in enumerate(whole.facts["nodes"]) if len(node) < 8
    ]
    monkeypatch.setattr(tree_data, "_MOST_NODES", 20)
    cut = TreeEmbedder(model.model).embed(0)
    nodes = cut.facts["nodes"]
    assert cut.is_cut and len(nodes) == 19 and max(cut.node_of_leaf) < 19
    for node in nodes:
        if len(node) == 8:
            assert (node[2] == -1) == (node[3] == -1) and node[3] < 19
    ends = {i for i in cut.node_of_leaf}
    assert all(len(nodes[i]) < 8 or nodes[i][2] == -1 for i in ends)


def test_leaves_of_several_values_and_linear_ones(tmp_path: Path) -> None:
    x = table()
    both = np.column_stack([x[:, 0], x[:, 1]])
    model = fit({"multi_strategy": "multi_output_tree"}, x, both, 2)
    facts = embedded(Page(model.report(tmp_path / "a.html", x, both)))
    leaf = next(node for node in facts["trees"][0]["nodes"] if len(node) < 8)
    assert len(leaf[0]) == 2 and facts["trees"][0]["output"] == -1
    linear = fit({"linear_tree": True}, x, x[:, 0] * x[:, 1], 2)
    facts = embedded(Page(linear.report(tmp_path / "a.html", x)))
    assert any(
        "Column_" in node[2] for t in facts["trees"] for node in t["nodes"] if len(node) == 3
    )
    several = fit({"objective": "multiclass", "num_class": 3}, x, np.arange(400) % 3, 2)
    facts = embedded(Page(several.report(tmp_path / "a.html", x, class_names=["a", "b", "c"])))
    assert [t["output"] for t in facts["trees"]] == [0, 1, 2] * 2
    assert facts["outputs"] == ["a", "b", "c"]


def test_a_model_without_trees_or_splits(tmp_path: Path) -> None:
    x = table()
    empty = gs.Booster({"verbose": -1}, gs.Dataset(x, x[:, 0]))
    page = Page(empty.report(tmp_path / "a.html", x, x[:, 0]))
    assert "has no trees" in page.text and "the model uses no column" in page.text
    flat = fit({}, x, np.ones(400), 2)
    page = Page(flat.report(tmp_path / "a.html", x, np.ones(400)))
    assert "the model uses no column" in page.text
