"""What a `DMatrix` says of its table, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import xgboost

import gossamer.compat.xgboost as xgb
from gossamer import DataError, NotSupportedError, ParameterError

RNG = np.random.default_rng(3)
X = np.where(RNG.random((60, 4)) < 0.2, np.nan, RNG.normal(size=(60, 4)).round(2))
Y = np.nan_to_num(X[:, 0]) + 0.1 * RNG.normal(size=60)


def test_get_data_is_xgboosts() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:, :2], columns=["a", "b"]).assign(
        c=pandas.Categorical(list("xyz") * 20)
    )
    sparse = scipy.sparse.csr_matrix(np.nan_to_num(X))
    with_nan = scipy.sparse.csr_matrix(X)
    for table in (X, X.astype(np.float32), np.arange(6).reshape(3, 2), frame, sparse, with_nan):
        found = xgb.DMatrix(table, enable_categorical=True).get_data()
        expected = xgboost.DMatrix(table, enable_categorical=True).get_data()
        assert found.dtype == np.float32 and found.shape == expected.shape
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_nullable_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "a": pandas.array([1, None, 3], dtype="Int64"),
            "b": pandas.array([True, None, None], dtype="boolean"),
            "c": [1.0, np.nan, 2.0],
        }
    )
    assert xgb.DMatrix(frame).num_nonmissing() == xgboost.DMatrix(frame).num_nonmissing() == 5


def test_no_rows() -> None:
    data = xgb.DMatrix(np.empty((0, 4)))
    assert (data.num_row(), data.num_col(), data.num_nonmissing()) == (0, 4, 0)
    assert data.get_data().shape == (0, 4)
    model = xgb.train({}, xgb.DMatrix(X, label=Y), 2)
    assert model.predict(data).shape == (0,)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_binary_files(tmp_path: Path, is_sparse: bool) -> None:
    table: Any = scipy.sparse.csr_matrix(np.nan_to_num(X)) if is_sparse else X
    data = xgb.DMatrix(
        table,
        label=Y,
        weight=np.arange(60.0),
        base_margin=np.ones(60),
        group=[20, 40],
        feature_names=list("abcd"),
        feature_types=["q"] * 4,
    )
    data.save_binary(tmp_path / "train.buffer")
    again = xgb.DMatrix(str(tmp_path / "train.buffer"))
    assert again.feature_names == list("abcd") and again.feature_types == ["q"] * 4
    for name in ("label", "weight", "base_margin"):
        np.testing.assert_array_equal(again.get_float_info(name), data.get_float_info(name))
    assert again.get_group().tolist() == [20, 40]
    first, second = (xgb.train({"objective": "rank:ndcg"}, each.slice(range(60), True), 3)
                     for each in (_relevance(data), _relevance(again)))  # fmt: skip
    np.testing.assert_array_equal(first.predict(data), second.predict(again))


def _relevance(data: xgb.DMatrix) -> xgb.DMatrix:
    data.set_label((Y > 0).astype(float))
    return data


def test_binary_files_that_cannot_be(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    data = xgb.DMatrix(pandas.DataFrame({"a": ["x", "y"]}), enable_categorical=True)
    with pytest.raises(NotSupportedError, match="categories or text"):
        data.save_binary(tmp_path / "a")
    (tmp_path / "b").write_bytes(b"PK\x03\x04 and nonsense")
    with pytest.raises(DataError, match="cannot be read as a DMatrix"):
        xgb.DMatrix(tmp_path / "b")


def test_quantile_cuts() -> None:
    data = xgb.QuantileDMatrix(X, label=Y, max_bin=8)
    begin, bounds = data.get_quantile_cut()
    assert begin.dtype == np.uint64 and bounds.dtype == np.float32 and begin[-1] == len(bounds)
    for column in range(4):
        cuts = bounds[int(begin[column]) : int(begin[column + 1])]
        values = X[:, column][~np.isnan(X[:, column])]
        assert (np.diff(cuts) > 0).all() and 3 <= len(cuts) <= 9 and cuts[-1] > values.max()
        assert cuts[0] < values.min()
        shares = np.diff(np.searchsorted(np.sort(values), cuts), prepend=0)
        assert shares.max() <= 0.5 * len(values)
    constant = xgb.DMatrix(np.column_stack([np.ones(5), np.full(5, np.nan)]))
    assert constant.get_quantile_cut()[0].tolist() == [0, 2, 2]


def test_categories() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": np.arange(60.0), "b": pandas.Categorical(list("xyz") * 20)})
    data = xgb.DMatrix(frame, label=Y, enable_categorical=True)
    theirs = xgboost.DMatrix(frame, label=Y, enable_categorical=True)
    expected = theirs.get_categories(export_to_arrow=True).to_arrow()
    model = xgb.train({}, data, 2)
    for holder in (data, model):
        found = holder.get_categories(export_to_arrow=True).to_arrow()
        assert [name for name, _ in found] == [name for name, _ in expected]
        assert found[0][1] is None and found[1][1].to_pylist() == expected[1][1].to_pylist()
        with pytest.raises(ParameterError, match="export_to_arrow=True"):
            holder.get_categories().to_arrow()
    assert xgb.DMatrix(X).get_categories().empty() and not data.get_categories().empty()


def test_build_info() -> None:
    found = xgb.build_info()
    assert found["USE_CUDA"] is False and Path(found["libxgboost"]).exists()


@pytest.mark.parametrize("weighted", [False, True])
def test_auc_of_several_classes(weighted: bool) -> None:
    label = np.digitize(np.nan_to_num(X[:, 0]), [-0.5, 0.5]).astype(float)
    weight = np.arange(1.0, 61.0) if weighted else None
    params = {
        "objective": "multi:softprob",
        "num_class": 3,
        "eval_metric": ["auc", "mlogloss", "aucpr"],
        "max_depth": 2,
    }
    data = xgb.DMatrix(X, label=label, weight=weight)
    history: Any = {}
    model = xgb.train(params, data, 3, evals=[(data, "train")], evals_result=history,
                      verbose_eval=False)  # fmt: skip
    assert list(history["train"]) == ["auc", "mlogloss", "aucpr"]
    theirs = xgboost.Booster(model_file=model.save_raw("json"))
    theirs.set_param([("eval_metric", name) for name in params["eval_metric"]])
    line = theirs.eval(xgboost.DMatrix(X, label=label, weight=weight), "train")
    for part in line.split("\t")[1:]:
        name, _, value = part.removeprefix("train-").partition(":")
        assert history["train"][name][-1] == pytest.approx(float(value), rel=1e-5)
    found = xgb.cv({**params, "objective": "multi:softmax"}, data, 2, nfold=3, as_pandas=False)
    assert "test-auc-mean" in found


def test_models_of_sparse_tables_are_xgboosts(tmp_path: Path) -> None:
    sparse = scipy.sparse.csr_matrix(np.nan_to_num(np.where(np.abs(X) > 0.5, X, 0.0)))
    model = xgb.train({"max_depth": 3}, xgb.DMatrix(sparse, label=Y), 4)
    for name in ("model.json", "model.ubj"):
        model.save_model(tmp_path / name)
        theirs = xgboost.Booster(model_file=tmp_path / name)
        found = theirs.predict(xgboost.DMatrix(sparse))
        np.testing.assert_allclose(found, model.predict(xgb.DMatrix(sparse)), rtol=1e-5)
        again = xgb.Booster(model_file=tmp_path / name)
        np.testing.assert_allclose(again.predict(xgb.DMatrix(sparse)), found, rtol=1e-5)
