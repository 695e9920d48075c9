"""What the page is told is what the library does."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.errors import DataError, GossamerError, ParameterError
from gossamer.playground import ColumnTable, Playground
from gossamer.playground.answers import GRID, grid_points
from gossamer.playground.scenes import EXAMPLES, make_example
from gossamer.playground.settings import CHOICES, SLIDERS, Settings

ROOT = Path(__file__).parents[2]


def trained(scene: Any, params: dict[str, Any], n_rounds: int) -> gs.Booster:
    is_train = ~scene.held_out
    data = gs.Dataset(scene.values[is_train], scene.label[is_train])
    return gs.train(params, data, n_rounds)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_answer_as_train_does(name: str) -> None:
    scene = make_example(name)
    answer = Playground().answer({"scene": name, "rounds": 12, "round": 7, "num_leaves": 6})
    objective = scene.task
    params = {
        "objective": objective,
        "num_leaves": 6,
        "learning_rate": 0.2,
        "lambda_l2": 1,
        "min_data_in_leaf": 5,
        "max_bin": 63,
        "verbose": -1,
    }
    model = trained(scene, params, 12)
    surface = model.predict(grid_points(scene, GRID), num_iteration=7)
    np.testing.assert_allclose(answer["surface"], surface, rtol=1e-4)
    np.testing.assert_allclose(
        answer["prediction"], model.predict(scene.values, num_iteration=7), rtol=1e-4
    )
    assert (answer["round"], answer["rounds"]) == (7, 12)
    assert len(answer["curves"]["training"]) == len(answer["curves"]["held out"]) == 12
    tree = model.model.forest.tree(6)
    leaves = [node for node in answer["tree"] if len(node) < 8]
    assert len(leaves) == tree.n_leaves
    np.testing.assert_allclose(
        sorted(leaf[0] for leaf in leaves), np.sort(tree.leaf_value), rtol=1e-4
    )
    assert answer["rows"] is None


@pytest.mark.parametrize("method", CHOICES["tree_method"].words)
@pytest.mark.parametrize("policy", CHOICES["grow_policy"].words)
def test_methods_and_growth_reach_the_library(method: str, policy: str) -> None:
    asked = {
        "scene": "waves",
        "rounds": 5,
        "num_leaves": 12,
        "max_bin": 8,
        "tree_method": method,
        "grow_policy": policy,
    }
    answer = Playground().answer(asked)
    scene = make_example("waves")
    params = {
        "num_leaves": 12,
        "learning_rate": 0.2,
        "lambda_l2": 1,
        "min_data_in_leaf": 5,
        "verbose": -1,
        "tree_method": method,
        "grow_policy": policy,
    }
    if method != "exact":
        params["max_bin"] = 8
    model = trained(scene, params, 5)
    np.testing.assert_allclose(
        answer["surface"], model.predict(grid_points(scene, GRID)), rtol=1e-4, atol=1e-5
    )
    n_bounds = [len(bounds) for bounds in answer["bins"]]
    assert all(0 < n <= 7 for n in n_bounds) if method == "hist" else n_bounds == [0, 0]


def test_the_rows_of_goss_are_those_it_picks() -> None:
    playground = Playground()
    asked = {"scene": "waves", "rounds": 12, "learning_rate": 0.25, "sampling": "goss"}
    asked |= {"top_rate": 0.3, "other_rate": 0.1}
    assert playground.answer({**asked, "round": 4})["rows"] is None  # 1 / learning rate rounds
    answer = playground.answer({**asked, "round": 9})
    rows = answer["rows"]
    scene = make_example("waves")
    is_train = ~scene.held_out
    assert (len(rows["kept"]), len(rows["drawn"])) == (147, 49)
    assert not scene.held_out[rows["kept"] + rows["drawn"]].any()
    assert rows["weight"] == pytest.approx((1 - 0.3) / 0.1, rel=0.01)
    # The largest gradients: of the squared loss, residuals before this round.
    before = playground.answer({**asked, "round": 8})["prediction"]
    size = np.where(is_train, np.abs(scene.label - before), -1)
    assert set(rows["kept"]) == set(np.argsort(-size)[:147].tolist())
    assert answer["tree"][0][6] == 196  # rows of the root
    params = Settings.parse(asked).params("regression")
    assert params["data_sample_strategy"] == "goss"
    model = trained(scene, params, 12)
    np.testing.assert_allclose(
        answer["prediction"], model.predict(scene.values, num_iteration=9), rtol=1e-4, atol=1e-5
    )


def test_a_round_is_looked_up_without_training_again(monkeypatch: pytest.MonkeyPatch) -> None:
    playground = Playground()
    first = playground.answer({"scene": "hill", "rounds": 9})
    monkeypatch.setattr("gossamer.playground.answers.train", None)
    again = playground.answer({"scene": "hill", "rounds": 9, "round": 2})
    assert (first["round"], again["round"]) == (9, 2)
    assert again["surface"] != first["surface"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([], "must be an object"),
        ({"scene": "moon"}, "Did you mean moons?"),
        ({"scene": "file"}, "there is no such example"),
        ({"scene": 3}, "scene must be text"),
        ({"num_leaves": 1}, "num_leaves is out of range"),
        ({"num_leaves": 10**9}, "num_leaves is out of range"),
        ({"num_leaves": "8"}, "num_leaves is out of range"),
        ({"num_leaves": True}, "num_leaves is out of range"),
        ({"learning_rate": float("nan")}, "learning_rate is out of range"),
        ({"tree_method": "gpu_hist"}, "one of hist, approx, exact"),
        ({"objective": "binary"}, "there is no such setting"),
        ({"round": -1}, "round is out of range"),
        ({"round": 1.5}, "round is out of range"),
        ({"columns": ["a"]}, "two columns and a target"),
        ({"sampling": "goss", "top_rate": 0.9}, "top_rate is out of range"),
    ],
)
def test_wrong_settings(asked: Any, words: str) -> None:
    with pytest.raises(GossamerError, match=re.escape(words)):
        Playground().answer(asked)


def test_every_slider_reaches_its_ends() -> None:
    playground = Playground()
    for name, slider in SLIDERS.items():
        for value in (slider.low, slider.high):
            asked = {"scene": "moons", "rounds": 3, "sampling": "goss", name: value}
            assert playground.answer(asked)["rounds"] >= 1


def make_table(n_rows: int = 500) -> ColumnTable:
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, n_rows))
    a[:5] = np.nan
    town = rng.choice(np.array(["Oslo", "Rome", "Bern"], dtype=object), n_rows, p=[0.2, 0.5, 0.3])
    town[7] = None
    columns = {
        "a": a,
        "b": b,
        "<b>c</b>": c,
        "constant": np.ones(n_rows),
        "town": town,
        "late": np.nan_to_num(a) + b > 0,
        "sum": a + 2 * b,
    }
    return ColumnTable(columns, "table.csv")


def test_columns_of_a_file() -> None:
    table = make_table()
    assert table.axes == ["a", "b", "<b>c</b>", "late", "sum"]
    assert table.targets == ["a", "b", "<b>c</b>", "town", "late", "sum"]
    playground = Playground(table)
    assert playground.columns is not None and playground.columns[2] == "sum"
    assert set(playground.columns[:2]) == {"b", "late"}  # which matter most
    answer = playground.answer({"scene": "file", "rounds": 5})
    assert answer["scene"]["task"] == "regression"
    assert answer["scene"]["note"] == "5 rows with missing values are left out."
    late = playground.answer({"scene": "file", "rounds": 5, "columns": ["a", "b", "late"]})
    assert late["scene"]["label_names"] == ["late: 0", "late: 1"]
    town = playground.answer({"scene": "file", "rounds": 5, "columns": ["b", "<b>c</b>", "town"]})
    assert town["scene"]["label_names"] == ["town: not Rome", "town: Rome"]
    assert len(town["prediction"]) == 499


def test_long_files_are_sampled() -> None:
    playground = Playground(make_table(10_000), ("a", "b"), "sum")
    answer = playground.answer({"scene": "file", "rounds": 3})
    assert answer["scene"]["note"].startswith("3,000 of 10,000 rows, chosen at random.")
    assert len(answer["prediction"]) <= 3000


def test_columns_that_cannot_be_used() -> None:
    table = make_table()
    playground = Playground(table)
    for columns, words in (
        (["a", "a", "sum"], "three different columns"),
        (["a", "constant", "sum"], "cannot use this column"),
        (["a", "town", "sum"], "cannot use this column"),
        (["a", "summ", "b"], "Did you mean sum?"),
    ):
        with pytest.raises(DataError, match=re.escape(words)):
            playground.answer({"scene": "file", "columns": columns})
    x = np.arange(20.0)
    for few in ({}, {"x": x}, {"x": x, "y": x}, {"x": x, "c": np.ones(20), "d": np.ones(20)}):
        with pytest.raises(DataError, match="two columns of numbers and a third"):
            ColumnTable(few, "few.csv")
    ColumnTable({"x": x, "y": x, "z": np.array(["a", "b"] * 10, dtype=object)}, "enough.csv")
    with pytest.raises(DataError, match="too few rows"):
        Playground(ColumnTable({"x": x[:5], "y": x[:5], "z": x[:5]}, "short.csv"))


def test_parameters_are_the_librarys_own() -> None:
    with pytest.raises(ParameterError):
        gs.train({**Settings.parse({}).params("binary"), "no_such": 1}, gs.Dataset([[1.0]], [1]))
    params = Settings.parse({"tree_method": "exact"}).params("binary")
    assert "max_bin" not in params and "sampling" not in params and "top_rate" not in params


def test_the_recorded_scene_of_the_docs_is_current() -> None:
    def parts(page: str) -> tuple[str, Any]:
        found = re.search(r'<script type="application/json" id="answers">(.*?)</script>', page)
        assert found is not None
        return page.replace(found.group(1), ""), json.loads(found.group(1))

    stored = (ROOT / "docs/assets/playground.html").read_text(encoding="utf-8")
    tool = runpy.run_path(str(ROOT / "tools/record_playground.py"))
    page, facts = parts(tool["record"]())
    old_page, old_facts = parts(stored)
    assert page == old_page, "run: python tools/record_playground.py"
    assert facts["common"].keys() == old_facts["common"].keys()
    for new, old in zip(facts["answers"], old_facts["answers"], strict=True):
        np.testing.assert_allclose(new["surface"], old["surface"], rtol=1e-3)
