"""Limits and costs of features, in whole trainings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import Booster, Dataset
from gossamer.data import Targets
from gossamer.data.storage.binned import bin_table
from gossamer.data.table.matrix import Table
from gossamer.errors import GossamerError, NotSupportedError, ParameterError
from gossamer.objectives import Gradients, Regression
from gossamer.params import resolve
from gossamer.tree import TreeGrower

RNG = np.random.default_rng(0)
NAMES = ["a", "b", "c", "d", "e"]
TABLE = RNG.integers(0, 40, size=(900, 5)).astype(float)
LABEL = (
    np.sin(TABLE[:, 0] / 6) * TABLE[:, 1] / 10
    + TABLE[:, 2] / 20
    + 2 * (TABLE[:, 3] > 25)
    + 0.3 * RNG.normal(size=900)
)
BASE = {"objective": "regression", "num_leaves": 12, "verbose": -1, "num_threads": 1}

OPTIONS: dict[str, dict[str, Any]] = {
    "groups": {"interaction_constraints": [["a", "b"], ["c", "d"], ["d", "e"]]},
    "factors": {"feature_contri": [1, 0.5, 0.3, 0.1, 2]},
    "split cost": {"cegb_penalty_split": 0.3},
    "lazy": {"cegb_penalty_feature_lazy": [0.1, 0.2, 0.05, 0.3, 0.02]},
    "coupled": {"cegb_penalty_feature_coupled": {"a": 30, "b": 60, "d": 200}},
    "weights": {"feature_weights": {"a": 5, "c": 0.1}, "feature_fraction_bynode": 0.5},
    "forced": {
        "forced_splits": {
            "feature": "a",
            "threshold": 20.2,
            "left": {"feature": "b", "threshold": 9},
            "right": {"feature": "c", "threshold": 20, "left": {"feature": "e", "threshold": 7}},
        }
    },
    "bins": {"forced_bins": {"a": [10.25, 20], 3: [5, 17.3]}, "max_bin_by_feature": {"b": 7}},
}


def train(n_rounds: int = 4, label: Any = LABEL, **params: Any) -> Booster:
    data = Dataset(TABLE, label, feature_name=NAMES)
    return gossamer.train({**BASE, **params}, data, n_rounds)


def trees_of(booster: Booster) -> list[Any]:
    forest = booster.model.forest
    return [forest.tree(t) for t in range(forest.n_trees)]


def paths_of(tree: Any, node: int = 0, path: frozenset[int] = frozenset()) -> list[frozenset[int]]:
    """The columns on the way to each leaf."""
    if node < 0:
        return [path]
    path |= {int(tree.column[node])}
    left = paths_of(tree, int(tree.left[node]), path)
    return left + paths_of(tree, int(tree.right[node]), path)


@pytest.mark.parametrize("name", OPTIONS)
def test_threads_do_not_matter(name: str) -> None:
    expected = train(**OPTIONS[name]).predict(TABLE)
    assert not np.array_equal(expected, train().predict(TABLE))
    for n_threads in (2, 3, 8):
        found = train(**OPTIONS[name], num_threads=n_threads).predict(TABLE)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", OPTIONS)
def test_models_are_saved_with_their_options(name: str) -> None:
    booster = train(**OPTIONS[name])
    again = Booster(model_str=booster.model_to_string())
    np.testing.assert_array_equal(again.predict(TABLE), booster.predict(TABLE))
    kept, asked = resolve(again.params), resolve(OPTIONS[name])
    assert {key: kept[key] for key in asked.given} == asked.to_dict(given_only=True)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("groups", {"interaction_constraints": [[0, 1], [2, 3], [3, 4]]}),
        ("factors", {}),
        ("split cost", {}),
        ("lazy", {}),
        ("forced", {}),
    ],
)
def test_the_trees_are_lightgbms(name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    params = {**BASE, "lambda_l2": 1.0, **OPTIONS[name]}
    ours = train(6, **params).predict(TABLE)
    theirs = {**params, **changes}
    if "forced_splits" in theirs:
        columns = {key: i for i, key in enumerate(NAMES)}
        text = json.dumps(theirs.pop("forced_splits"))
        for key, i in columns.items():
            text = text.replace(f'"feature": "{key}"', f'"feature": {i}')
        file = tmp_path / "forced.json"
        file.write_text(text)
        theirs["forcedsplits_filename"] = str(file)
    model = lightgbm.train(theirs, lightgbm.Dataset(TABLE, LABEL), 6)
    np.testing.assert_allclose(ours, model.predict(TABLE), atol=1e-6)


# ---- interactions ----


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([*range(5), *NAMES]), min_size=1), min_size=1, max_size=4),
    st.sampled_from([1.0, 0.6]),
)
def test_every_path_lies_in_one_group(groups: list[list[int | str]], by_node: float) -> None:
    booster = train(
        2, interaction_constraints=groups, feature_fraction_bynode=by_node, num_leaves=8
    )
    columns = [{NAMES.index(c) if isinstance(c, str) else c for c in group} for group in groups]
    for tree in trees_of(booster):
        if tree.n_leaves > 1:
            for path in paths_of(tree):
                assert any(path <= group for group in columns)


def test_groups_are_written_in_several_ways() -> None:
    expected = train(**OPTIONS["groups"]).predict(TABLE)
    for groups in (
        "[0,1],[2,3],[3,4]",
        '[["a", "b"], ["c", "d"], ["d", "e"]]',
        [(0, "b"), [2, 3], {3, 4}],
    ):
        found = train(interaction_constraints=groups).predict(TABLE)
        np.testing.assert_array_equal(found, expected)


def test_features_of_no_group_are_not_used() -> None:
    used = train(interaction_constraints=[["b"], ["e", "c"]]).feature_importance()
    assert used[0] == used[3] == 0 < used[2]


def test_vector_leaves_keep_to_the_groups() -> None:
    both = np.column_stack([LABEL, TABLE[:, 0] * TABLE[:, 2]])
    booster = train(label=both, multi_strategy="multi_output_tree", **OPTIONS["groups"])
    groups = [{0, 1}, {2, 3}, {3, 4}]
    for tree in trees_of(booster):
        assert all(any(path <= group for group in groups) for path in paths_of(tree))
    for name in ("factors", "split cost", "lazy", "coupled", "forced"):
        with pytest.raises(NotSupportedError, match="multi_output_tree"):
            train(label=both, multi_strategy="multi_output_tree", **OPTIONS[name])


# ---- forced splits ----


def test_forced_splits_stand_at_the_top_of_every_tree(tmp_path: Path) -> None:
    booster = train(**OPTIONS["forced"])
    for tree in trees_of(booster):
        assert tree.column[:4].tolist() == [0, 1, 2, 4]
        assert tree.threshold[:4].tolist() == [20.5, 9.5, 20.5, 7.5]
        assert (tree.left[0], tree.right[0], tree.left[2]) == (1, 2, 3)
        assert tree.n_leaves == BASE["num_leaves"]
    file = tmp_path / "forced.json"
    file.write_text(json.dumps(OPTIONS["forced"]["forced_splits"]))
    for value in (file, str(file), json.dumps(OPTIONS["forced"]["forced_splits"])):
        found = train(forcedsplits_filename=value)
        np.testing.assert_array_equal(found.predict(TABLE), booster.predict(TABLE))
    assert trees_of(train(forced_splits={}))[0].column[0] == trees_of(train())[0].column[0]


def test_a_forced_split_that_leaves_too_few_rows_is_passed_over() -> None:
    tree = {"feature": "a", "threshold": 20, "left": {"feature": "b", "threshold": 0}}
    booster = train(1, forced_splits=tree, min_data_in_leaf=100)
    (grown,) = trees_of(booster)
    assert grown.column[0] == 0
    assert not any(c == 1 and t == 0.5 for c, t in zip(grown.column, grown.threshold, strict=True))
    assert grown.leaf_count.min() >= 100


# ---- costs ----


def best_splits(
    rows: np.ndarray, residual: np.ndarray, min_data: int
) -> dict[int, tuple[float, float]]:
    """The best (gain, threshold) of each column: the residual's mean is the leaf value."""
    found = {}
    own = residual[rows].sum() ** 2 / len(rows)
    for c in range(TABLE.shape[1]):
        x = TABLE[rows, c]
        for low, high in zip(np.unique(x)[:-1], np.unique(x)[1:], strict=True):
            left = residual[rows[x <= low]]
            right = residual[rows[x > low]]
            if min(len(left), len(right)) < min_data:
                continue
            gain = left.sum() ** 2 / len(left) + right.sum() ** 2 / len(right) - own
            if c not in found or gain > found[c][0]:
                found[c] = (gain, (low + high) / 2)
    return found


class PlainBoosting:
    """Costs by the book: after every split, all gains of all leaves are looked at again."""

    def __init__(self, split: float, coupled: list[float], lazy: list[float]) -> None:
        self.split, self.coupled, self.lazy = split, coupled, lazy
        self.used: set[int] = set()
        self.paid = np.zeros(TABLE.shape, dtype=bool)
        self.score = np.full(len(LABEL), LABEL.mean())

    def grow(self, num_leaves: int, min_data: int) -> list[tuple[int, float, float]]:
        """Grow one tree; returns (column, threshold, gain) of its splits in order."""
        residual = LABEL - self.score
        leaves = [np.arange(len(LABEL))]
        splits = [best_splits(leaves[0], residual, min_data)]
        grown = []
        while len(leaves) < num_leaves:
            best = max(
                (
                    (gain - self.cost(rows, c), c, threshold, i)
                    for i, (rows, found) in enumerate(zip(leaves, splits, strict=True))
                    for c, (gain, threshold) in found.items()
                ),
                default=(0.0, 0, 0.0, 0),
            )
            gain, c, threshold, i = best
            if gain <= 0:
                break
            rows = leaves.pop(i)
            splits.pop(i)
            self.used.add(c)
            self.paid[rows, c] = True
            grown.append((c, threshold, gain))
            for part in (rows[TABLE[rows, c] <= threshold], rows[TABLE[rows, c] > threshold]):
                leaves.append(part)
                splits.append(best_splits(part, residual, min_data))
        for rows in leaves:
            self.score[rows] += 0.1 * residual[rows].mean() if grown else 0.0
        return grown

    def cost(self, rows: np.ndarray, c: int) -> float:
        coupled = 0.0 if c in self.used else self.coupled[c]
        return self.split * len(rows) + coupled + self.lazy[c] * int((~self.paid[rows, c]).sum())


@pytest.mark.parametrize(
    ("split", "coupled", "lazy"),
    [
        (0.0, [20.0, 90.0, 10.0, 150.0, 5.0], [0.0] * 5),
        (0.0, [0.0] * 5, [0.1, 0.2, 0.05, 0.3, 0.02]),
        (0.01, [5.0, 30.0, 3.0, 0.0, 1.0], [0.0, 0.05, 0.0, 0.1, 0.02]),
        # Nothing is worth its price at first but `d`; only what `d` leaves can be split further.
        (0.0, [900.0, 900.0, 900.0, 100.0, 900.0], [0.0] * 5),
    ],
)
def test_costs_are_those_of_a_plain_implementation(
    split: float, coupled: list[float], lazy: list[float]
) -> None:
    booster = train(
        4,
        num_leaves=7,
        min_data_in_bin=1,
        cegb_tradeoff=0.5,
        cegb_penalty_split=2 * split,
        cegb_penalty_feature_coupled=[2 * cost for cost in coupled],
        cegb_penalty_feature_lazy=dict(enumerate(2 * cost for cost in lazy)),
    )
    plain = PlainBoosting(split, coupled, lazy)
    for tree in trees_of(booster):
        expected = plain.grow(7, 20)
        found = list(zip(tree.column, tree.threshold, strict=True))
        assert found == [(c, threshold) for c, threshold, _ in expected]
        np.testing.assert_allclose(tree.gain, [gain for *_, gain in expected], rtol=1e-5)


@pytest.mark.parametrize("name", ["lazy", "coupled"])
@pytest.mark.parametrize("more", [{}, {"bagging_fraction": 0.5, "bagging_freq": 1}])
def test_a_round_taken_back_is_paid_back(name: str, more: dict[str, Any]) -> None:
    params = {**BASE, **OPTIONS[name], **more}
    booster = Booster(params, Dataset(TABLE, LABEL, feature_name=NAMES))
    for _ in range(3):
        booster.update()
    expected = booster.predict(TABLE)
    booster.update()
    booster.rollback_one_iter()
    booster.rollback_one_iter()
    booster.update()
    np.testing.assert_array_equal(booster.predict(TABLE), expected)


def test_costs_that_begin_later_know_what_has_been_used() -> None:
    """Features of the trees before are not paid for again."""
    booster = Booster(BASE, Dataset(TABLE, LABEL, feature_name=NAMES))
    booster.update()
    used = booster.feature_importance() > 0
    assert used.any() and not used.all()
    booster.reset_parameter({"cegb_penalty_feature_coupled": [1e9] * 5})
    for _ in range(5):
        booster.update()
    np.testing.assert_array_equal(booster.feature_importance() > 0, used)


def test_trees_of_another_training_pay_for_their_columns() -> None:
    params = resolve({**BASE, "cegb_penalty_feature_coupled": [1e9] * 5})
    binned = bin_table(Table(TABLE), params)
    grower = TreeGrower(binned, params, Regression())
    gradient = (LABEL.mean() - LABEL).astype(np.float32)
    gradients, targets = Gradients(gradient, None, False), Targets(LABEL.astype(np.float32))

    def used() -> set[int]:
        (tree,) = grower.grow(gradients, None, 0, np.zeros(900), targets, 1)
        return set(tree.column.tolist())

    assert used() == set()
    other = next(tree for tree in trees_of(train(interaction_constraints=[["b", "e"]])))
    grower.recount([other], 1)
    assert used() == set(other.column.tolist())
    grower.recount([], 1)
    assert used() == set()


def test_costs_of_several_classes_are_shared() -> None:
    """A feature that one class has paid for is free to the next one."""
    classes = (np.median(LABEL) < LABEL).astype(int) + (np.quantile(LABEL, 0.8) < LABEL)
    params: dict[str, Any] = {"objective": "multiclass", "num_class": 3}
    params["cegb_penalty_feature_coupled"] = {"a": 1e9, "b": 1e9, "c": 1e9}
    expected = train(label=classes, **params)
    assert set(np.flatnonzero(expected.feature_importance())) == {3, 4}
    again = train(label=classes, **params, num_threads=3)
    np.testing.assert_array_equal(again.predict(TABLE), expected.predict(TABLE))


def test_factors_choose_features() -> None:
    assert train(feature_contri={"a": 0, "c": 0}).feature_importance()[[0, 2]].sum() == 0
    same = train(feature_contri=[1] * 5).predict(TABLE)
    np.testing.assert_allclose(same, train().predict(TABLE), rtol=1e-12)


# ---- sampling weights ----


def test_weights_choose_features() -> None:
    params = {"feature_fraction": 0.6, "feature_fraction_bynode": 0.7}
    plain = train(10, **params)
    for weights in ([2.5] * 5, {}, dict.fromkeys(NAMES, 1e-9)):
        same = train(10, feature_weights=weights, **params)
        np.testing.assert_array_equal(same.predict(TABLE), plain.predict(TABLE))
    never = train(10, feature_weights={"a": 0, "d": 0}, **params).feature_importance()
    assert never[0] == never[3] == 0 < never[1]


def test_weights_come_with_the_data(tmp_path: Path) -> None:
    params = {**BASE, "feature_fraction": 0.6}
    expected = train(feature_weights=[0, 1, 2, 3, 4], **params).predict(TABLE)
    data = Dataset(TABLE, LABEL, feature_name=NAMES).set_field("feature_weights", [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(gossamer.train(params, data, 4).predict(TABLE), expected)
    np.testing.assert_array_equal(data.get_field("feature_weights"), [0, 1, 2, 3, 4])
    part = data.subset(np.arange(500)).construct()
    np.testing.assert_array_equal(part.get_field("feature_weights"), [0, 1, 2, 3, 4])
    file = tmp_path / "rows.bin"
    data.save_binary(file)
    np.testing.assert_array_equal(gossamer.train(params, Dataset(file), 4).predict(TABLE), expected)
    with pytest.raises(ParameterError, match="feature_weights is given twice"):
        gossamer.train({**params, "feature_weights": {"a": 2}}, data, 1)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2], r"feature_weights has shape \(2,\), .*\(5,\)|shape \(2,\)"),
        ([1, 2, 3, 4, -1], "feature_weights of column 4 cannot be used: got -1.0"),
        ([1, 2, 3, 4, np.nan], "feature_weights of column 4"),
        (["a"] * 5, "feature_weights must be numeric"),
    ],
)
def test_bad_weights_of_the_data(weights: Any, words: str) -> None:
    data = Dataset(TABLE, LABEL).construct()
    with pytest.raises(GossamerError, match=words):
        data.set_field("feature_weights", weights)
    with pytest.raises(GossamerError, match=words):
        Dataset(TABLE, LABEL).set_field("feature_weights", weights).construct()


# ---- what is refused ----

CYCLE: dict[str, Any] = {"feature": 0, "threshold": 3, "left": {"feature": 1, "threshold": 3}}
CYCLE["left"]["right"] = CYCLE
CHAIN: dict[str, Any] = {"feature": 0, "threshold": 1}
for _ in range(12):
    CHAIN = {"feature": 0, "threshold": 1, "left": CHAIN}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"interaction_constraints": [["a"], []]}, "group 1 of interaction_constraints is empty"),
        ({"interaction_constraints": [["aa"]]}, "interaction_constraints names a column .*'aa'"),
        ({"interaction_constraints": [[5]]}, "got 5, expected an index from 0 to 4"),
        ({"interaction_constraints": "[0,1"}, "interaction_constraints has an invalid value"),
        ({"feature_contri": [1, 2]}, "feature_contri and the columns differ in length: got 2"),
        ({"feature_contri": [1, 1, 1, 1, -1]}, "feature_contri is out of range"),
        ({"cegb_penalty_split": -1}, "cegb_penalty_split is out of range"),
        ({"cegb_tradeoff": -1}, "cegb_tradeoff is out of range"),
        ({"cegb_penalty_feature_lazy": {"a": -1}}, "cegb_penalty_feature_lazy is out of range"),
        ({"cegb_penalty_feature_coupled": [1]}, "cegb_penalty_feature_coupled and the columns"),
        ({"cegb_penalty_feature_coupled": {"f": 1}}, "got 'f'"),
        ({"feature_weights": [0] * 5}, "feature_weights is 0 for every column"),
        ({"feature_weights": [-1] * 5}, "feature_weights is out of range"),
        ({"forced_splits": {"feature": "z", "threshold": 1}}, "forced_splits names .* got 'z'"),
        ({"forced_splits": {"feature": 0}}, "forced_splits has no threshold"),
        ({"forced_splits": {"feature": 0, "treshold": 1}}, "Did you mean threshold"),
        ({"forced_splits": {"feature": 0, "threshold": "x"}}, "forced_splits.threshold cannot"),
        ({"forced_splits": [1]}, "forced_splits cannot be used: got .1., expected a dict"),
        ({"forced_splits": CYCLE}, "forced_splits.left.right is one of the splits above it"),
        ({"forced_splits": CHAIN}, "forced_splits does not fit num_leaves=12: got 13 splits"),
        ({"forced_splits": "no/such/file.json"}, "file of forced_splits cannot be read"),
        ({"forced_splits": '{"feature": 0, '}, "forced_splits is not JSON"),
        (
            {"interaction_constraints": [["b"]], "forced_splits": {"feature": 0, "threshold": 9}},
            "forced_splits contradicts interaction_constraints",
        ),
    ],
)
def test_what_is_refused(params: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        train(1, **params)


def test_a_constant_column_cannot_be_forced() -> None:
    table = TABLE.copy()
    table[:, 2] = 1
    with pytest.raises(ParameterError, match="forced_splits cannot be made: got 2"):
        gossamer.train(
            {**BASE, "forced_splits": {"feature": 2, "threshold": 1}}, Dataset(table, LABEL), 1
        )
