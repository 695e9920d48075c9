"""Columns of one data set beside those of another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import DataError, Dataset, _native, train

RNG = np.random.default_rng(0)
N_ROWS = 800
TABLE = RNG.normal(size=(N_ROWS, 4))
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
ONE_HOT = np.eye(30)[RNG.integers(0, 30, size=N_ROWS)]
SPARSE = np.where(RNG.random((N_ROWS, 6)) < 0.03, RNG.integers(1, 4, size=(N_ROWS, 6)), 0.0)
SPARSE[:, 2] = 1.0  # constant
LABEL = np.nan_to_num(TABLE[:, 0]) + ONE_HOT[:, :5] @ np.arange(5.0) + SPARSE.sum(axis=1)
PARAMS: dict[str, Any] = {"num_leaves": 15, "min_data_in_leaf": 3, "verbosity": -1}
PARTS = {
    "dense": TABLE,
    "one-hot": ONE_HOT,
    "sparse": SPARSE,
    "constant": np.ones((N_ROWS, 2)),
    "small": np.round(TABLE[:, :2] * 2),
}


def make(table: Any, **arguments: Any) -> Dataset:
    return Dataset(table, LABEL, params={"verbosity": -1}, **arguments).construct()


@pytest.mark.parametrize("right", PARTS)
@pytest.mark.parametrize("left", PARTS)
def test_the_model_is_that_of_one_table(left: str, right: str) -> None:
    whole = make(np.hstack([PARTS[left], PARTS[right]]))
    both = make(PARTS[left]).add_features_from(make(PARTS[right]))
    assert both.get_feature_name() == whole.get_feature_name()
    assert both.num_feature() == whole.num_feature()
    for column in range(whole.num_feature()):
        assert both.feature_num_bin(column) == whole.feature_num_bin(column)
    expected = train(PARAMS, whole, 8).model_to_string()
    for n_threads in (1, 3):
        assert train(PARAMS | {"num_threads": n_threads}, both, 8).model_to_string() == expected


@pytest.mark.parametrize("level", _native.kernel_levels())
def test_every_kernel_level(level: str) -> None:
    before = _native.kernel_level()
    whole = make(np.hstack([TABLE, ONE_HOT, SPARSE]))
    expected = train(PARAMS, whole, 5).model_to_string()
    try:
        assert _native.set_kernel_level(level)
        both = make(TABLE).add_features_from(make(ONE_HOT)).add_features_from(make(SPARSE))
        assert train(PARAMS, both, 5).model_to_string() == expected
    finally:
        _native.set_kernel_level(before)


def test_scipy_beside_dense() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    both = make(sparse.csr_matrix(ONE_HOT)).add_features_from(make(TABLE))
    expected = train(PARAMS, make(np.hstack([ONE_HOT, TABLE])), 5)
    assert train(PARAMS, both, 5).model_to_string() == expected.model_to_string()


def test_many_rows_share_lanes() -> None:
    table = RNG.integers(0, 4, size=(50_000, 6)).astype(np.float32)
    label = table.sum(axis=1)
    whole = Dataset(table, label).construct()
    both = Dataset(table[:, :3], label).construct()
    both.add_features_from(Dataset(table[:, 3:]).construct())
    assert len(whole.describe().sharing) == len(both.describe().sharing) == 6
    assert both.describe().places == whole.describe().places
    expected = train(PARAMS, whole, 3).model_to_string()
    assert train(PARAMS, both, 3).model_to_string() == expected


def test_validation_data_in_either_order() -> None:
    for train_first in (True, False):
        left = Dataset(TABLE[:500, :2], LABEL[:500]).construct()
        right = Dataset(TABLE[:500, 2:]).construct()
        valid = left.create_valid(TABLE[500:, :2], LABEL[500:]).construct()
        valid_right = right.create_valid(TABLE[500:, 2:]).construct()
        if train_first:
            left.add_features_from(right)
            valid.add_features_from(valid_right)
        else:
            valid.add_features_from(valid_right)
            left.add_features_from(right)
        model = train(PARAMS, left, 5, [valid])
        whole = Dataset(TABLE[:500], LABEL[:500])
        expected = train(PARAMS, whole, 5, [whole.create_valid(TABLE[500:], LABEL[500:])])
        assert model.model_to_string() == expected.model_to_string()
        assert model.best_score == expected.best_score


def test_validation_data_without_the_columns_is_refused() -> None:
    left = make(TABLE)
    valid = left.create_valid(TABLE, LABEL).construct()
    left.add_features_from(make(ONE_HOT))
    with pytest.raises(DataError, match="has other bins than the training data"):
        train(PARAMS, left, 2, [valid])


def test_the_other_one_and_the_fields_stay() -> None:
    weight = np.linspace(1, 2, N_ROWS)
    left, right = make(TABLE, weight=weight), make(ONE_HOT)
    assert left.add_features_from(right) is left
    assert (left.num_feature(), right.num_feature()) == (34, 30)
    np.testing.assert_allclose(left.get_weight(), weight, rtol=1e-6)
    np.testing.assert_array_equal(left.get_label(), LABEL.astype(np.float32))
    assert right.get_feature_name()[0] == "Column_0"


def test_names() -> None:
    left = make(TABLE, feature_name=list("abcd"))
    left.add_features_from(make(SPARSE))
    assert left.get_feature_name() == [*"abcd", *(f"Column_{i}" for i in range(6))]


def test_names_that_both_have_are_numbered() -> None:
    left, right = make(TABLE, feature_name=list("abcd")), make(TABLE, feature_name=list("xbyd"))
    with pytest.warns(UserWarning, match="both data sets have 'b', 'd'"):
        left.add_features_from(right)
    assert left.get_feature_name() == [*"abcd", "x", "D2_b", "y", "D2_d"]
    with pytest.warns(UserWarning, match="both data sets have 'x'"):
        left.add_features_from(make(TABLE[:, :2], feature_name=["x", "D3_b"]))
    assert left.feature_name == [*"abcd", "x", "D2_b", "y", "D2_d", "D2_x", "D3_b"]
    with pytest.warns(UserWarning, match="both data sets have 'b'"):
        left.add_features_from(make(TABLE[:, :1], feature_name=["b"]))
    assert left.get_feature_name()[-1] == "D4_b"


def test_raw_data() -> None:
    left = make(TABLE, free_raw_data=False)
    left.add_features_from(make(ONE_HOT, free_raw_data=False))
    np.testing.assert_array_equal(left.get_data(), np.hstack([TABLE, ONE_HOT]))
    # Other bins are made from it, of all columns.
    model = train(PARAMS | {"max_bin": 15}, left, 3)
    whole = Dataset(np.hstack([TABLE, ONE_HOT]), LABEL)
    expected = train(PARAMS | {"max_bin": 15}, whole, 3)
    assert model.model_to_string() == expected.model_to_string()
    gone = make(TABLE, free_raw_data=False).add_features_from(make(ONE_HOT))
    with pytest.raises(DataError, match="freed"):
        gone.get_data()
    sparse = pytest.importorskip("scipy.sparse")
    both = make(sparse.csr_matrix(ONE_HOT), free_raw_data=False)
    both.add_features_from(make(sparse.csc_matrix(SPARSE), free_raw_data=False))
    np.testing.assert_array_equal(both.get_data().toarray(), np.hstack([ONE_HOT, SPARSE]))


def test_raw_data_of_two_kinds() -> None:
    """It becomes what the first is, and other bins can be made from it."""
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    kinds = (np.asarray, sparse.csr_matrix, pandas.DataFrame)
    expected = train(
        PARAMS | {"max_bin": 15}, Dataset(np.hstack([SPARSE, ONE_HOT]), LABEL), 3
    ).predict(np.hstack([SPARSE, ONE_HOT]))
    for first in kinds:
        for second in kinds:
            left = make(first(SPARSE), free_raw_data=False, feature_name=list("abcdef"))
            names = [f"x{i}" for i in range(ONE_HOT.shape[1])]
            left.add_features_from(make(second(ONE_HOT), free_raw_data=False, feature_name=names))
            raw = left.get_data()
            assert type(raw) is type(first(SPARSE))
            assert raw.shape == (N_ROWS, 6 + ONE_HOT.shape[1])
            model = train(PARAMS | {"max_bin": 15}, left, 3)
            np.testing.assert_array_equal(model.predict(np.hstack([SPARSE, ONE_HOT])), expected)
    text = make(pandas.DataFrame({"t": ["a", "b"] * (N_ROWS // 2)}), free_raw_data=False)
    with pytest.warns(UserWarning, match="cannot be put side by side"):
        make(TABLE, free_raw_data=False).add_features_from(text)


def test_files_and_subsets() -> None:
    both = make(TABLE).add_features_from(make(ONE_HOT)).add_features_from(make(SPARSE))
    whole = make(np.hstack([TABLE, ONE_HOT, SPARSE]))
    rows = np.arange(0, N_ROWS, 3)
    found = train(PARAMS, both.subset(rows), 5).model_to_string()
    assert found == train(PARAMS, whole.subset(rows), 5).model_to_string()
    part = (
        make(TABLE)
        .subset(rows)
        .construct()
        .add_features_from(make(np.hstack([ONE_HOT, SPARSE])).subset(rows).construct())
    )
    assert train(PARAMS, part, 5).model_to_string() == found
    with pytest.raises(DataError, match="freed"):
        part.get_data()


def test_saved_and_read_again(tmp_path: Any) -> None:
    both = make(TABLE).add_features_from(make(ONE_HOT)).add_features_from(make(SPARSE))
    expected = train(PARAMS, both, 5).model_to_string()
    both.save_binary(tmp_path / "data")
    assert train(PARAMS, Dataset(tmp_path / "data"), 5).model_to_string() == expected


def test_bad_input() -> None:
    left = make(TABLE)
    with pytest.raises(DataError, match="this is not a Dataset: got 'ndarray'"):
        left.add_features_from(TABLE)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="not constructed: got the other"):
        left.add_features_from(Dataset(TABLE))
    with pytest.raises(DataError, match="not constructed: got this one"):
        Dataset(TABLE).add_features_from(left)
    with pytest.raises(DataError, match="differ in rows: got 799, expected 800"):
        left.add_features_from(Dataset(TABLE[1:]).construct())
    with pytest.raises(DataError, match="differ in what is missing: got 'ZERO', expected NAN"):
        left.add_features_from(Dataset(TABLE, params={"zero_as_missing": True}).construct())
    assert left.num_feature() == 4  # as it was


def test_names_and_columns_of_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    names = [[f"{side}{i}" for i in range(2)] for side in "ab"]
    theirs, ours = (
        [
            library.Dataset(part, feature_name=given, free_raw_data=False).construct()
            for part, given in zip((TABLE[:, :2], TABLE[:, 2:]), names, strict=True)
        ]
        for library in (lightgbm, __import__("gossamer"))
    )
    with pytest.warns(UserWarning, match="Resetting categorical features"):
        theirs[0].add_features_from(theirs[1])
    ours[0].add_features_from(ours[1])
    assert ours[0].get_feature_name() == theirs[0].get_feature_name()
    assert ours[0].num_feature() == theirs[0].num_feature()
