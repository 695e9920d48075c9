from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays
from hypothesis.strategies import sampled_from

import gossamer.compat.xgboost as ours
from gossamer.data.dataset import built_data
from gossamer.errors import DataError, NotSupportedError

VALUES = [0.0, 1.0, -9.0, 2.5, np.nan]
X = np.array([[1.0, -9.0], [2.0, 5.0], [np.nan, 0.0]], dtype=np.float32)


def test_facts(xgb: Any) -> None:
    data = xgb.DMatrix(X, label=[0, 1, 2], weight=[1, 2, 3], missing=-9)
    assert data.num_row() == 3 and data.num_col() == 2 and data.num_nonmissing() == 4
    assert data.get_label().dtype == np.float32 and data.get_label().tolist() == [0, 1, 2]
    assert data.get_weight().tolist() == [1, 2, 3]
    assert data.feature_names is None and data.feature_types is None
    assert len(data.get_base_margin()) == 0


def test_what_is_not_set_is_empty(xgb: Any) -> None:
    data = xgb.DMatrix(X)
    assert len(data.get_weight()) == len(data.get_label()) == len(data.get_group()) == 0


def test_setters(xgb: Any) -> None:
    data = xgb.DMatrix(X)
    data.set_label([3, 4, 5])
    data.set_weight([1, 1, 2])
    data.set_base_margin([0.5, 0.5, 1])
    data.set_info(label_lower_bound=[1, 2, 3], label_upper_bound=[1, np.inf, 4])
    data.feature_names = ["a", "b"]
    data.feature_types = ["float", "q"]
    assert data.get_label().tolist() == [3, 4, 5]
    assert data.get_base_margin().tolist() == [0.5, 0.5, 1]
    assert data.get_float_info("label_upper_bound").tolist() == [1, np.inf, 4]
    assert data.feature_names == ["a", "b"] and data.feature_types == ["float", "q"]


def test_queries(xgb: Any) -> None:
    data = xgb.DMatrix(X, label=[0, 1, 2], qid=[4, 4, 7])
    assert data.get_group().tolist() == [2, 1]
    assert data.get_uint_info("group_ptr").tolist() == [0, 2, 3]
    data.set_group([1, 2])
    assert data.get_group().tolist() == [1, 2]


def test_a_frame_names_its_columns(xgb: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": [1, 2, 3], "age": [0.5, None, 2]})
    assert xgb.DMatrix(frame).feature_names == ["size", "age"]
    assert xgb.DMatrix(frame, feature_names=["p", "q"]).feature_names == ["p", "q"]


def test_categories_must_be_welcome(xgb: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"city": pandas.Categorical(["Rome", "Bern", "Rome"])})
    with pytest.raises(ValueError, match="enable_categorical"):
        xgb.DMatrix(frame)
    assert xgb.DMatrix(frame, enable_categorical=True).num_col() == 1


def test_slice(xgb: Any) -> None:
    data = xgb.DMatrix(X, label=[0, 1, 2], weight=[1, 2, 3])
    part = data.slice([2, 0])
    assert part.num_row() == 2
    assert part.get_label().tolist() == [2, 0] and part.get_weight().tolist() == [3, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": [1, 2]},
        {"label": [1, 2, np.nan]},
        {"weight": [1, -2, 3]},
        {"weight": [1, 2]},
        {"base_margin": [1, 2, 3, 4]},
        {"feature_names": ["a"]},
        {"feature_names": ["a", "a"]},
        {"feature_types": ["q", "cat"]},
        {"feature_types": ["q"]},
        {"group": [1, 1]},
        {"group": [3], "qid": [1, 1, 1]},
        {"feature_weights": [1, -1]},
        {"missing": "none"},
        {"label_upper_bound": [1, 2]},
    ],
    ids=str,
)
def test_wrong_fields(wrong: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        ours.DMatrix(X, **wrong)


@pytest.mark.parametrize("data", ["train.txt", None, 3.5], ids=str)
def test_no_table(data: Any) -> None:
    with pytest.raises((NotSupportedError, DataError)):
        ours.DMatrix(data)
    with pytest.raises(DataError, match="two dimensions"):
        ours.DMatrix(np.zeros(3))


def test_slices_keep_queries_whole() -> None:
    data = ours.DMatrix(X, label=[0, 1, 2], qid=[4, 4, 7])
    with pytest.raises(DataError, match="allow_groups"):
        data.slice([2])
    assert data.slice([0, 1], allow_groups=True).get_group().tolist() == [2]
    with pytest.raises(DataError, match="no such row"):
        ours.DMatrix(X).slice([3])


def test_one_bound_is_not_enough() -> None:
    data = ours.DMatrix(X, label_lower_bound=[1, 2, 3])
    with pytest.raises(DataError, match="both"):
        ours.train({"objective": "survival:aft"}, data)


def test_the_table_is_not_copied_unless_values_are_replaced() -> None:
    assert ours.DMatrix(X).user_table() is X
    assert ours.DMatrix(X, missing=-7).user_table() is X
    replaced = ours.DMatrix(X, missing=-9).user_table()
    assert np.isnan(replaced[0, 1]) and X[0, 1] == -9 and replaced.dtype == np.float32
    whole = np.array([[1, 2], [2, 3]])
    assert np.isnan(ours.DMatrix(whole, missing=2).user_table()).sum() == 2


def test_missing_values_of_frames_and_sparse_tables() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, -1], "b": [0.5, -1.0]})
    assert ours.DMatrix(frame, missing=-1).num_nonmissing() == 2
    sparse = scipy.sparse.csr_matrix(np.array([[1.0, 0.0], [-1.0, 2.0]]))
    data = ours.DMatrix(sparse, missing=-1)
    assert data.num_nonmissing() == 2 and sparse[1, 0] == -1
    assert ours.DMatrix(sparse, missing=0).user_table() is sparse


@given(
    table=arrays(
        np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=sampled_from(VALUES)
    ),
    missing=sampled_from(VALUES),
    kind=sampled_from(["dense", "float32", "frame", "csr", "csc"]),
)
def test_a_number_that_stands_for_missing_values(table: Any, missing: float, kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    before = table.copy()
    make: dict[str, Any] = {
        "dense": np.asarray,
        "float32": np.float32,
        "frame": pandas.DataFrame,
        "csr": scipy.sparse.csr_matrix,
        "csc": scipy.sparse.csc_matrix,
    }
    found = ours.DMatrix(make[kind](table), missing=missing)
    is_missing = np.isnan(table) | (table == missing)
    if kind in ("csr", "csc"):
        is_missing |= table == 0
    assert found.num_nonmissing() == (~is_missing).sum()
    np.testing.assert_array_equal(table, before)


def test_weights_of_queries() -> None:
    data = ours.DMatrix(X, label=[0, 1, 2], qid=[4, 4, 7], weight=[2, 3])
    assert data.get_weight().tolist() == [2, 2, 3]


def test_margins_of_classes_come_row_by_row() -> None:
    flat = ours.DMatrix(X, base_margin=np.arange(6))
    np.testing.assert_array_equal(flat.get_base_margin(), np.arange(6).reshape(3, 2))


def test_setting_a_label_keeps_the_bins(numbers: Any) -> None:
    data = ours.DMatrix(numbers.x, numbers.y)
    ours.train({}, data, 2)
    train_set = data._train_set
    assert train_set is not None
    bins = built_data(train_set).table
    data.set_label(-numbers.y)
    low = ours.train({}, data, 20).predict(data)
    assert np.corrcoef(low, -numbers.y)[0, 1] > 0.9
    assert data._train_set is train_set and built_data(train_set).table is bins


def n_bins(data: Any) -> int:
    return int(data._train_set.feature_num_bin(0))


def test_bins_of_a_quantile_matrix(numbers: Any) -> None:
    data = ours.QuantileDMatrix(numbers.x, numbers.y, max_bin=4)
    ours.train({}, data, 1)
    assert n_bins(data) <= 4
    ours.train({"max_bin": 16}, data, 1)
    assert 4 < n_bins(data) <= 16


def test_trainings_with_other_bins_do_not_disturb_each_other(numbers: Any) -> None:
    data = ours.DMatrix(numbers.x, numbers.y)
    expected = ours.train({"max_bin": 16}, data, 4).predict(data)
    first, second = ours.Booster({"max_bin": 16}), ours.Booster({"max_bin": 64})
    for i in range(4):
        first.update(data, i)
        second.update(data, i)
    np.testing.assert_array_equal(first.predict(data), expected)
    assert not np.array_equal(second.predict(data), expected)


def test_labels_may_be_one_column(xgb: Any) -> None:
    column = np.array([[0], [1], [2]])
    data = xgb.DMatrix(X, label=column)
    assert data.get_label().tolist() == [0, 1, 2]
    assert xgb.train({"min_child_weight": 0}, data, 2).predict(data).shape == (3,)
