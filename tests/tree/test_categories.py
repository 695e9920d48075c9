"""Splits of categories: against a plain search in NumPy, and where rows go afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import gossamer as gs
from gossamer.data.dataset import built_data
from gossamer.tree import Tree

Array = npt.NDArray[Any]
PARAMS = {
    "verbosity": -1,
    "min_data_in_bin": 1,
    "boost_from_average": False,
    "learning_rate": 1.0,
    "cat_target_statistics": "off",
}
SMALL = {**PARAMS, "min_data_in_leaf": 1, "min_data_per_group": 1, "cat_smooth": 1.0}


def side(gradient: float, hessian: float, l2: float) -> float:
    return gradient * gradient / (hessian + l2)


def best_set(codes: Array, label: Array, p: dict[str, Any]) -> tuple[float, set[int]]:
    """The best gain, and the categories that go left: LightGBM's rules, for squared errors."""
    gradient = -label  # from a score of 0; hessians are 1
    found = np.unique(codes)
    total, n = gradient.sum(), len(label)
    rows = {int(c): (gradient[codes == c].sum(), int((codes == c).sum())) for c in found}
    own = side(total, n, 0.0)
    best: tuple[float, set[int]] = (0.0, set())
    if len(found) <= p.get("max_cat_to_onehot", 4):
        for c, (g, k) in rows.items():
            if min(k, n - k) >= p["min_data_in_leaf"]:
                gain = side(g, k, 0.0) + side(total - g, n - k, 0.0) - own
                if gain > best[0] + 1e-9:
                    best = gain, {c}
        return best
    l2 = p.get("cat_l2", 10.0)
    tried = [c for c in rows if rows[c][1] >= p["cat_smooth"]]
    tried.sort(key=lambda c: (rows[c][0] / (rows[c][1] + p["cat_smooth"]), c))
    limit = min(p.get("max_cat_threshold", 32), (len(tried) + 1) // 2)
    for order in (tried, tried[::-1]):
        g = k = group = 0
        for i, c in enumerate(order[:limit]):
            g, k, group = g + rows[c][0], k + rows[c][1], group + rows[c][1]
            if k < p["min_data_in_leaf"]:
                continue
            if n - k < max(p["min_data_in_leaf"], p["min_data_per_group"]):
                break
            if group < p["min_data_per_group"]:
                continue
            group = 0
            gain = side(g, k, l2) + side(total - g, n - k, l2) - own
            if gain > best[0] + 1e-9:
                best = gain, set(order[: i + 1])
    return best


def data_set(x: Array, label: Array, categories: list[int] | None = None, **kwargs: Any) -> Any:
    columns = list(range(x.shape[1])) if categories is None else categories
    return gs.Dataset(x, label=label, categorical_feature=columns, **kwargs)


def first_tree(booster: gs.Booster) -> Tree:
    return booster.model.forest.tree(0)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_categories=st.integers(2, 40),
    n_rows=st.integers(20, 400),
    group=st.sampled_from([1, 10, 50]),
    smooth=st.sampled_from([1.0, 5.0]),
    threshold=st.sampled_from([2, 32]),
)
def test_first_split_is_the_best_set(
    seed: int, n_categories: int, n_rows: int, group: int, smooth: float, threshold: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_categories, n_rows)
    label = rng.integers(-8, 9, n_rows).astype(float)
    params = {
        **SMALL,
        "num_leaves": 2,
        "min_data_per_group": group,
        "cat_smooth": smooth,
        "max_cat_threshold": threshold,
    }
    gain, left = best_set(codes, label, params)
    booster = gs.train(params, data_set(codes.reshape(-1, 1).astype(float), label), 1)
    if not left:
        assert first_tree(booster).n_leaves == 1
        return
    tree = first_tree(booster)
    assert tree.gain[0] == pytest.approx(gain, rel=1e-6)
    assert tree.category is not None
    named = set(tree.category.tolist())
    present = set(np.unique(codes).tolist())
    assert named == (present - left if tree.default_left[0] else left)


def make(seed: int = 0, n_rows: int = 3000, n_categories: int = 30) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    effect = rng.normal(size=n_categories)
    x = np.column_stack(
        [
            rng.integers(0, n_categories, n_rows),
            rng.normal(size=n_rows),
            rng.integers(0, 3, n_rows),
        ]
    ).astype(float)
    x[rng.random(n_rows) < 0.1, 0] = np.nan
    x[rng.random(n_rows) < 0.1, 2] = np.nan
    known = np.nan_to_num(x[:, 0], nan=0).astype(int)
    label = effect[known] * (1 + x[:, 1]) + (np.nan_to_num(x[:, 2]) == 1) + rng.normal(size=n_rows)
    return x, label


@pytest.mark.parametrize("options", [{}, {"extra_trees": True}, {"bagging_fraction": 0.5}])
@pytest.mark.parametrize("n_categories", [30, 700])
def test_model_is_the_same_for_any_number_of_threads(
    options: dict[str, Any], n_categories: int
) -> None:
    x, label = make(n_categories=n_categories, n_rows=6000)
    models = [
        gs.train({**PARAMS, **options, "num_threads": n}, data_set(x, label, [0, 2]), 10)
        for n in (1, 2, 3, 8)
    ]
    texts = {model.model_to_string() for model in models}
    assert len(texts) == 1
    assert models[0].model.forest.arrays["category"].size > 0


def test_extra_trees_split_columns_of_many_categories() -> None:
    """A random set is drawn from those that have rows enough: every leaf can be split."""
    x, label = make(n_categories=150, n_rows=6000)
    params = {**PARAMS, "learning_rate": 0.1, "num_leaves": 4}
    n_splits = [
        gs.train({**params, "extra_trees": extra}, data_set(x[:, :1], label, [0]), 30)
        .model.forest.arrays["column"]
        .size
        for extra in (False, True)
    ]
    assert n_splits == [90, 90]


def test_extra_trees_search_statistics_whole() -> None:
    """Where every column is a statistic there is no threshold to draw."""
    x, label = make(n_categories=700, n_rows=3000)
    shared = {"verbosity": -1, "cat_target_statistics": "on", "cat_combinations": 1}
    data = {"data": x[:, [0, 2]], "label": label, "categorical_feature": [0, 1]}
    both = [
        gs.train({**shared, "extra_trees": extra}, gs.Dataset(**data), 10).predict(x[:, [0, 2]])
        for extra in (False, True)
    ]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize(
    ("n_categories", "statistics"), [(30, "off"), (700, "off"), (700, "auto"), (30, "on")]
)
def test_scores_of_training_and_validation_are_those_of_predict(
    n_categories: int, statistics: str
) -> None:
    x, label = make(1, n_categories=n_categories)
    other, other_label = make(2, n_categories=n_categories)
    other[:50, 0] = 10_000  # not known
    other[50:100, 0] = -1  # missing
    train_set = data_set(x, label, [0, 2])
    valid = train_set.create_valid(other, other_label)
    record: dict[str, Any] = {}
    model = gs.train(
        {**PARAMS, "metric": "l2", "cat_target_statistics": statistics},
        train_set,
        20,
        valid_sets=[train_set, valid],
        valid_names=["train", "valid"],
        callbacks=[gs.record_evaluation(record)],
    )
    for name, table, target in (("train", x, label), ("valid", other, other_label)):
        if name == "train" and statistics != "off":
            continue  # training rows have the statistics of the rows before, not of all
        error = np.mean((model.predict(table) - target.astype(np.float32)) ** 2)
        assert error == pytest.approx(record[name]["l2"][-1], rel=1e-9)
    loaded = gs.Booster(model_str=model.model_to_string())
    assert np.array_equal(loaded.predict(other), model.predict(other))


def test_unknown_categories_go_with_the_missing_ones() -> None:
    x, label = make(3)
    model = gs.train(PARAMS, data_set(x, label, [0, 2]), 10)
    rows = np.repeat(x[:200], 4, axis=0)
    rows[::4, 0] = np.nan
    rows[1::4, 0] = 123_456
    rows[2::4, 0] = -3
    rows[3::4, 0] = 3e9
    found = model.predict(rows).reshape(-1, 4)
    assert (found == found[:, :1]).all()


def test_missing_categories_are_learned() -> None:
    """Missing rows are a category of their own: here the only one that tells."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 10, (2000, 1)).astype(float)
    is_missing = rng.random(2000) < 0.3
    x[is_missing] = np.nan
    model = gs.train(PARAMS, data_set(x, is_missing.astype(float)), 10)
    assert model.predict([[np.nan]])[0] > 0.95
    assert model.predict([[77.0]])[0] > 0.95  # as missing
    assert model.predict([[3.0]])[0] < 0.05


def test_sparse_tables_give_the_same_model() -> None:
    x, label = make(4)
    x = np.nan_to_num(x)
    x[:, 2] = np.where(np.random.default_rng(0).random(len(x)) < 0.9, 0, x[:, 2])
    dense = gs.train(PARAMS, data_set(x, label, [0, 2]), 10)
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        model = gs.train(PARAMS, data_set(kind(x), label, [0, 2]), 10)
        assert model.model_to_string() == dense.model_to_string()
        assert np.array_equal(model.predict(kind(x)), dense.predict(x))


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.uint16])
def test_any_type_of_numbers(dtype: type) -> None:
    x, label = make(5)
    x = np.nan_to_num(x[:, [0, 2]])
    expected = gs.train(PARAMS, data_set(x, label), 5)
    model = gs.train(PARAMS, data_set(x.astype(dtype), label), 5)
    assert model.model_to_string() == expected.model_to_string()


def test_order_and_names_of_categories_do_not_matter() -> None:
    """Numbers are names: another numbering of the categories gives the same predictions."""
    x, label = make(6, n_categories=40)
    numbers = np.random.default_rng(1).permutation(5000)[:40].astype(float)
    y = x.copy()
    is_known = ~np.isnan(x[:, 0])
    y[is_known, 0] = numbers[x[is_known, 0].astype(int)]
    one = gs.train(PARAMS, data_set(x, label, [0, 2]), 5).predict(x)
    two = gs.train(PARAMS, data_set(y, label, [0, 2]), 5).predict(y)
    assert one == pytest.approx(two, rel=1e-12)


def test_huge_numbers_are_fine() -> None:
    x, label = make(7)
    y = x.copy()
    y[:, 0] = x[:, 0] * 50_000_000
    one = gs.train(PARAMS, data_set(x, label, [0, 2]), 5)
    two = gs.train(PARAMS, data_set(y, label, [0, 2]), 5)
    assert np.array_equal(one.predict(x), two.predict(y))


def test_values_that_are_no_categories_are_refused() -> None:
    x, label = make(8)
    for bad in (3e9, np.inf):
        y = x.copy()
        y[7, 0] = bad
        with pytest.raises(gs.errors.DataError, match="not a category"):
            data_set(y, label, [0]).construct()


@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_matrix, pd.DataFrame])
def test_fractions_are_truncated_with_a_warning(kind: Any) -> None:
    x, label = make(8)
    known = x[:, 0] > 0
    y = x.copy()
    y[known, 0] += np.random.default_rng(2).choice([0.25, 0.5, 0.75], size=known.sum())
    whole = gs.train(PARAMS, data_set(kind(x), label, [0]), 5)
    with pytest.warns(UserWarning, match="is categorical, but holds fractions such as"):
        found = gs.train(PARAMS, data_set(kind(y), label, [0]), 5)
    assert found.model_to_string() == whole.model_to_string()
    for model in (found, whole):
        expected = whole.predict(kind(x))
        assert np.array_equal(model.predict(kind(y)), expected)
        assert np.array_equal(model.predict(kind(y)[:1]), expected[:1])


def test_the_most_frequent_categories_are_known() -> None:
    codes = np.concatenate([np.arange(40_000), np.arange(0, 40_000, 2)]).astype(float)
    data = gs.Dataset(codes.reshape(-1, 1), label=codes, categorical_feature=[0]).construct()
    kept = built_data(data).table.binning.categories_of(0)
    known = kept[kept >= 0]
    assert len(known) == 32_000
    assert np.isin(np.arange(0, 40_000, 2), known).all(), "those of two rows each"
    model = gs.train(PARAMS | {"min_data_in_bin": 3}, data, 2)
    assert np.isfinite(model.predict([[7.0], [39_999.0]])).all()


def test_binary_files_keep_categories(tmp_path: Any) -> None:
    x, label = make(9, n_categories=500)
    data = data_set(x, label, [0, 2]).construct()
    data.save_binary(tmp_path / "data.bin")
    params = {"verbosity": -1, "num_leaves": 15}
    expected = gs.train(params, data, 5).model_to_string()
    assert gs.train(params, gs.Dataset(tmp_path / "data.bin"), 5).model_to_string() == expected


def test_subsets_keep_categories() -> None:
    x, label = make(10)
    data = data_set(x, label, [0, 2])
    model = gs.train(PARAMS, data.subset(np.arange(0, 3000, 2)), 5)
    assert model.model.forest.arrays["category"].size > 0


def test_slices_and_parts_of_forests_keep_categories() -> None:
    x, label = make(11)
    booster = gs.Booster(PARAMS, data_set(x, label, [0, 2]))
    for _ in range(4):
        booster.update()
        booster.predict(x[:3])  # the forest grows round by round
    whole = booster.model.forest
    for t in range(4):
        tree = whole.tree(t)
        parts = [gs.tree.Forest.from_trees([whole.tree(k) for k in range(t + 1)], 1, 3)]
        assert np.array_equal(parts[0].arrays["category"], whole.slice(0, t + 1).arrays["category"])
        assert tree.n_leaves > 1
    half = booster.predict(x, num_iteration=2) + booster.predict(x, start_iteration=2)
    assert half == pytest.approx(booster.predict(x))


def test_vector_leaves_are_refused() -> None:
    x, label = make(12)
    params = {**PARAMS, "multi_strategy": "multi_output_tree"}
    with pytest.raises(gs.errors.NotSupportedError, match="do not split categories"):
        gs.train(params, data_set(x, np.column_stack([label, label]), [0]), 5)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"monotone_constraints": {"city": 1}}, "constrains the categorical column 'city'"),
        ({"forced_splits": {"feature": "city", "threshold": 3}}, "its column is categorical"),
        ({"forced_bins": {"city": [2.5]}}, "whose bins are its categories"),
    ],
)
def test_what_is_about_numbers_is_refused(params: dict[str, Any], words: str) -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(0, 8, 500), rng.normal(size=500)])
    data = gs.Dataset(x, x[:, 0] % 3, feature_name=["city", "size"], categorical_feature=["city"])
    with pytest.raises(gs.GossamerError, match=words):
        gs.train({**PARAMS, **params}, data, 2)


def test_thresholds_of_categories_are_not_counted() -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(0, 8, 500), rng.normal(size=500)])
    model = gs.train(PARAMS, gs.Dataset(x, x[:, 0] % 3 + x[:, 1], categorical_feature=[0]), 3)
    assert model.get_split_value_histogram(1)[0].sum() > 0
    with pytest.raises(gs.DataError, match="no thresholds"):
        model.get_split_value_histogram(0)


def test_bins_by_column_are_those_of_the_users_columns() -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(0, 150, 2000), rng.normal(size=2000)])
    params = {**PARAMS, "cat_target_statistics": "on", "max_bin_by_feature": [255, 4]}
    names = ["city", "size"]
    data = gs.Dataset(x, x[:, 0] % 7 + x[:, 1], feature_name=names, categorical_feature=[0])
    model = gs.train({**params, "forced_bins": {"size": [0.25]}}, data, 3)
    assert 0.25 in model.model.forest.arrays["threshold"]
    assert model.model.derived is not None
    assert len(set(model.model.forest.arrays["threshold"].tolist())) > 6  # of the statistics
