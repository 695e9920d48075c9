from __future__ import annotations

import inspect
import io
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import lightgbm
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from plot.random_trees import NAMES, booster_of, random_tree

import gossamer as gs
from gossamer.errors import DataError, ParameterError
from gossamer.plot.style import MARK
from gossamer.tree import Tree

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(400, 3))
ROWS[::5, 1] = np.nan
LABEL = ROWS[:, 0] + np.nan_to_num(ROWS[:, 1]) * ROWS[:, 2]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model() -> Any:
    params = {"verbose": -1, "num_leaves": 15, "num_threads": 1}
    return gs.train(params, gs.Dataset(ROWS, LABEL, feature_name=["a", "b $x$", "c"]), 3)


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def boxes(ax: Any) -> list[Any]:
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def ways(ax: Any) -> list[Any]:
    return [patch for patch in ax.patches if isinstance(patch, PathPatch)]


def is_marked(colour: Any) -> bool:
    return colour[:3] == pytest.approx(to_rgb(MARK))


def check_picture(ax: Any) -> None:
    """Boxes and the words at the ways keep apart, and texts are inside of their boxes."""
    ax.figure.canvas.draw()
    frames = [box.get_window_extent().extents for box in boxes(ax)]
    inside, words = [], []
    for text in ax.texts:
        (words if text.get_text().startswith(("yes", "no")) else inside).append(text)
    found = frames + [text.get_window_extent().extents for text in words]
    scale = max(f[3] - f[1] for f in frames) / 100  # about a point at usual sizes
    for a, b in combinations(np.array(found), 2):
        apart = np.concatenate([b[:2] - a[2:], a[:2] - b[2:]]).max()
        # The white ground of a word may touch the box below it.
        assert apart > -4 * scale, (a, b)
    for text in inside:
        own = text.get_window_extent().extents
        assert any(_is_in(own, frame, 2 * scale) for frame in frames), text.get_text()
    whole = ax.get_window_extent().extents
    assert all(_is_in(frame, whole, 2 * scale) for frame in found)


def _is_in(inner: Any, outer: Any, slack: float) -> bool:
    return bool(
        inner[0] >= outer[0] - slack
        and inner[1] >= outer[1] - slack
        and inner[2] <= outer[2] + slack
        and inner[3] <= outer[3] + slack
    )


@settings(max_examples=15, deadline=None)
@given(
    n_leaves=st.integers(2, 63),
    seed=st.integers(0, 10**6),
    lopsided=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    orientation=st.sampled_from(["horizontal", "vertical"]),
    show_info=st.sampled_from([[], ["split_gain", "leaf_count", "data_percentage"]]),
)
def test_nothing_overlaps(
    n_leaves: int, seed: int, lopsided: float, orientation: str, show_info: list[str]
) -> None:
    booster = booster_of(random_tree(n_leaves, seed, lopsided))
    ax = gs.plot_tree(booster, orientation=orientation, show_info=show_info)
    assert len(boxes(ax)) == 2 * n_leaves - 1 and len(ways(ax)) == 2 * n_leaves - 2
    check_picture(ax)
    plt.close("all")


@pytest.mark.parametrize("figsize", [(4, 3), (30, 10)], ids=str)
def test_letters_fit_a_figure_of_any_size(model: Any, figsize: Any) -> None:
    ax = gs.plot_tree(model, figsize=figsize)
    assert tuple(ax.figure.get_size_inches()) == figsize
    check_picture(ax)
    ax.figure.set_size_inches(12, 12)
    check_picture(ax)


def test_what_is_written(model: Any) -> None:
    ax = gs.plot_tree(model, tree_index=2, precision=5)
    forest = model.model.forest
    tree = forest.tree(2)
    names = model.feature_name()
    found = texts(ax)
    for i in range(len(tree.column)):
        assert names[tree.column[i]] in found
        threshold = f"{tree.threshold[i]:.5f}".rstrip("0").rstrip(".")
        assert f"≤ {threshold}" in found
    for i, value in enumerate(tree.leaf_value):
        assert f"leaf {i}" in found and f"{value:.5f}" in found
    assert sum(text.endswith(", missing") for text in found) == len(tree.column)
    assert ax.get_title() == "Tree 2"
    assert gs.plot_tree(model, title="Mine").get_title() == "Mine"
    assert gs.plot_tree(model, title=None).get_title() == ""
    ax.figure.savefig(io.BytesIO(), format="svg", bbox_inches="tight")


def test_leaves_are_coloured_by_value(model: Any) -> None:
    ax = gs.plot_tree(model)
    values = {f"{v:.3f}": v for v in model.model.forest.tree(0).leaf_value}
    n_leaves = 0
    for box in boxes(ax):
        inside = [t for t in ax.texts if box.get_bbox().contains(*t.get_position())]
        for value in (values[t.get_text()] for t in inside if t.get_text() in values):
            red, _, blue = box.get_facecolor()[:3]
            assert (red > blue) == (value > 0) or abs(value) < 0.01
            n_leaves += 1
    assert n_leaves == 15


def test_the_path_of_an_example(model: Any) -> None:
    example = ROWS[[5]]  # one with a missing value
    ax = gs.plot_tree(model, example_case=example, show_info=["leaf_count"])
    leaf = model.predict(example, pred_leaf=True)[0, 0]
    marked = [box for box in boxes(ax) if is_marked(box.get_edgecolor())]
    inside = [
        t.get_text()
        for box in marked
        for t in ax.texts
        if box.get_bbox().contains(*t.get_position())
    ]
    assert [text for text in inside if text.startswith("leaf ")] == [f"leaf {leaf}"]
    assert len([w for w in ways(ax) if is_marked(w.get_edgecolor())]) == len(marked) - 1
    assert not any(is_marked(box.get_edgecolor()) for box in boxes(gs.plot_tree(model)))
    cut = gs.plot_tree(model, example_case=example, max_depth=1)
    assert len([box for box in boxes(cut) if is_marked(box.get_edgecolor())]) == 2


def test_wide_ways_have_many_rows(model: Any) -> None:
    ax = gs.plot_tree(model, show_info=["internal_count", "leaf_count"])
    tree = model.model.forest.tree(0)
    widths = sorted(way.get_linewidth() for way in ways(ax))
    counts = sorted([*tree.node_count[1:], *tree.leaf_count])
    assert np.corrcoef(widths, counts)[0, 1] == pytest.approx(1)


def test_max_depth(model: Any) -> None:
    ax = gs.plot_tree(model, max_depth=2)
    left_out = [int(t.split()[1]) for t in texts(ax) if t.endswith("more leaves")]
    n_leaves = sum(t.startswith("leaf ") for t in texts(ax))
    assert left_out and sum(left_out) + n_leaves == 15
    check_picture(ax)
    assert len(boxes(gs.plot_tree(model, max_depth=0))) == 1
    assert len(boxes(gs.plot_tree(model, max_depth=99))) == 29


def test_info(model: Any) -> None:
    tree = model.model.forest.tree(0)
    everything = (
        *("split_gain", "internal_value", "internal_weight", "internal_count"),
        *("leaf_weight", "leaf_count", "data_percentage"),
    )
    found = texts(gs.plot_tree(model, show_info=everything))
    assert f"{tree.gain[0]:.3f} gain" in found
    assert f"{tree.node_weight[1]:.3f} weight" in found
    assert f"{tree.node_value[1]:.3f} value" in found
    assert "count: 400" in found and "100.00% of data" in found
    assert f"count: {tree.leaf_count[3]}" in found
    assert f"{tree.leaf_weight[3]:.3f} weight" in found
    assert gs.plot_tree(model, show_info="leaf_count").texts


def test_categories() -> None:
    pandas = pytest.importorskip("pandas")
    cities = [f"City of number {i}" for i in range(8)] + ["Bern $", "Rome, Italy"]
    code = RNG.integers(0, 10, 600)
    frame = pandas.DataFrame({"city": pandas.Categorical.from_codes(code, cities)})
    params = {"verbose": -1, "cat_target_statistics": "off", "min_data_per_group": 1}
    data = gs.Dataset(frame, np.where(code > 7, 5.0, code % 2))
    model = gs.train({**params, "num_leaves": 6, "cat_l2": 0, "cat_smooth": 0}, data, 1)
    ax = gs.plot_tree(model, example_case=frame.iloc[:1])
    found = texts(ax)
    assert "city" in found
    splits = [t for t in found if t.startswith(("in ", "= ", "not in ", "≠ "))]
    assert len(splits) == sum(t == "city" for t in found)
    assert any("Bern $" in t or "Rome, Italy" in t for t in splits)
    assert all(len(t) <= 36 for t in splits)
    check_picture(ax)
    with pytest.raises(DataError, match="text"):
        gs.plot_tree(model, example_case=[[3.0]])


def test_target_statistics() -> None:
    pandas = pytest.importorskip("pandas")
    code = RNG.integers(0, 30, 600)
    frame = pandas.DataFrame(
        {"city": pandas.Categorical(code), "day": pandas.Categorical(code % 3)}
    )
    params = {"verbose": -1, "cat_target_statistics": "on", "num_leaves": 8}
    model = gs.train(params, gs.Dataset(frame, np.sin(code)), 1)
    found = " ".join(texts(gs.plot_tree(model, example_case=frame.iloc[:1])))
    assert "mean label by" in found
    params |= {"objective": "multiclass", "num_class": 3}
    model = gs.train(params, gs.Dataset(frame, code % 3), 2)
    ax = gs.plot_tree(model, tree_index=4)
    assert "share of class" in " ".join(texts(ax))
    assert ax.get_title() == "Tree 4 (round 2, output 1)"


def test_linear_and_vector_leaves() -> None:
    params = {"verbose": -1, "num_leaves": 4}
    linear = gs.train({**params, "linear_tree": True}, gs.Dataset(ROWS, LABEL), 2)
    ax = gs.plot_tree(linear, tree_index=1)
    assert any("·Column_" in text for text in texts(ax))
    check_picture(ax)
    several = gs.train(
        {**params, "multi_strategy": "multi_output_tree"},
        gs.Dataset(ROWS, np.column_stack([LABEL] * 5)),
        1,
    )
    ax = gs.plot_tree(several, show_info=["internal_value"])
    assert any(text.endswith("… 3 more") for text in texts(ax))
    check_picture(ax)


def test_a_single_leaf() -> None:
    booster = booster_of(Tree.constant(0.25, count=9))
    ax = gs.plot_tree(booster, example_case=[[1.0, 2.0, 3.0]], show_info=["data_percentage"])
    assert texts(ax) == ["0.250", "leaf 0", "100.00% of data"]
    assert is_marked(boxes(ax)[0].get_edgecolor())
    assert gs.plot_tree(booster_of(Tree.constant(0.0))).texts


def test_a_test_for_missing_values() -> None:
    rows = np.where(np.arange(100) % 2, np.nan, 1.0).reshape(-1, 1)
    model = gs.train({"verbose": -1}, gs.Dataset(rows, np.arange(100) % 2), 1)
    assert texts(gs.plot_tree(model))[:4] == ["yes", "no", "Column_0", "is known"]


def test_given_axes_are_used(model: Any) -> None:
    figure = Figure(figsize=(8, 4))
    ax = figure.add_subplot(1, 2, 2)
    assert gs.plot_tree(model, ax=ax) is ax
    assert plt.get_fignums() == []
    check_picture(ax)


def test_estimators_and_rounds() -> None:
    estimator = gs.GossamerRegressor(n_estimators=4, num_leaves=4, verbose=-1).fit(ROWS, LABEL)
    assert gs.plot_tree(estimator, tree_index=3).get_title() == "Tree 3"
    estimator.booster_.best_iteration = 2
    with pytest.raises(ParameterError, match=r"no such tree: got 2, expected 0\.\.1"):
        gs.plot_tree(estimator, tree_index=2)


def test_arguments_begin_like_lightgbms() -> None:
    for name in ("plot_tree", "create_tree_digraph", "plot_split_value_histogram"):
        expected = list(inspect.signature(getattr(lightgbm, name)).parameters.values())
        found = list(inspect.signature(getattr(gs, name)).parameters.values())
        pairs = zip(expected[:-1], found, strict=False)
        assert all((a.name, a.kind, a.default) == (b.name, b.kind, b.default) for a, b in pairs)
        assert found[-1].kind is expected[-1].kind is inspect.Parameter.VAR_KEYWORD


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"tree_index": 3}, r"no such tree: got 3, expected 0\.\.2"),
        ({"tree_index": -1}, "tree_index cannot be used: got -1"),
        ({"tree_index": "a"}, "tree_index cannot be used: got 'a'"),
        ({"tree_index": None}, "no such tree: got None"),
        ({"orientation": "up"}, "orientation is not known: got 'up'"),
        ({"show_info": ["split_gian"]}, "Did you mean split_gain"),
        ({"precision": -1}, "precision cannot be used"),
        ({"precision": 1.5}, "precision cannot be used"),
        ({"max_depth": -1}, "max_depth cannot be used"),
        ({"max_category_values": 0}, "max_category_values cannot be used"),
        ({"figsize": 3}, "figsize"),
        ({"max_dept": 3}, "no such argument: got 'max_dept'. Did you mean max_depth"),
    ],
    ids=str,
)
def test_bad_arguments(model: Any, arguments: Any, what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        gs.plot_tree(model, **arguments)


def test_bad_models_and_examples(model: Any) -> None:
    with pytest.raises(DataError, match="not a single row: got 2 rows"):
        gs.plot_tree(model, example_case=ROWS[:2])
    with pytest.raises(DataError, match="columns"):
        gs.plot_tree(model, example_case=ROWS[:1, :2])
    with pytest.raises(ParameterError, match="got 'dict', expected a Booster"):
        gs.plot_tree({})
    found = gs.cv({"verbose": -1}, gs.Dataset(ROWS, LABEL), 1, nfold=2, return_cvbooster=True)
    with pytest.raises(ParameterError, match=r"2 models.*boosters\[0\]"):
        gs.plot_tree(found["cvbooster"])
    with pytest.raises(ParameterError, match="the model has none"):
        gs.plot_tree(gs.Booster({"verbose": -1}, gs.Dataset(ROWS, LABEL)))
    with pytest.raises(ParameterError, match=r"too large.*max_depth"):
        gs.plot_tree(booster_of(random_tree(1100, 0, 0.0)))
    large = gs.plot_tree(booster_of(random_tree(1100, 0, 0.0)), max_depth=4)
    assert len(boxes(large)) < 40 and NAMES[0] in texts(large)
    assert gs.plot_tree(model, format="png", graph_attr={}) is not None  # LightGBM's
