"""Data that is not a table yet: text files, and iterators over batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import gossamer.compat.xgboost as ours
from gossamer.data.storage.budget import Budget
from gossamer.errors import DataError, DataTypeError, NotSupportedError, ParameterError


def batches_of(xgb: Any, parts: list[dict[str, Any]]) -> Any:
    class Parts(xgb.DataIter):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            self.n = 0
            super().__init__()

        def reset(self) -> None:
            self.n = 0

        def next(self, input_data: Any) -> bool:
            if self.n == len(parts):
                return False
            input_data(**parts[self.n])
            self.n += 1
            return True

    return Parts()


@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
def test_batches(xgb: Any, few_values: Any, kind: str) -> None:
    x, y = np.nan_to_num(few_values.x) + 1, few_values.y
    weight = np.arange(500) % 3 + 1.0
    as_kind = {
        "array": lambda part: part,
        "sparse": scipy.sparse.csr_matrix,
        "frame": lambda part: pytest.importorskip("pandas").DataFrame(part, columns=list("abcd")),
    }[kind]
    parts = [
        {"data": as_kind(x[i : i + 200]), "label": y[i : i + 200], "weight": weight[i : i + 200]}
        for i in range(0, 500, 200)
    ]
    whole = xgb.QuantileDMatrix(as_kind(x), y, weight=weight)
    found = xgb.QuantileDMatrix(batches_of(xgb, parts))
    assert (found.num_row(), found.num_col()) == (500, 4)
    np.testing.assert_array_equal(found.get_label(), y)
    np.testing.assert_array_equal(found.get_weight(), weight)
    assert found.feature_names == whole.feature_names
    models = [xgb.train({"nthread": 1}, data, 3) for data in (whole, found)]
    table = xgb.DMatrix(as_kind(x))
    np.testing.assert_allclose(models[0].predict(table), models[1].predict(table), rtol=1e-5)


def test_batches_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="no batches"):
        ours.QuantileDMatrix(batches_of(ours, []))
    parts = [{"data": np.zeros((2, 1)), "label": [0, 1]}, {"data": np.zeros((2, 1))}]
    with pytest.raises(DataError, match="batch 1 has other fields"):
        ours.QuantileDMatrix(batches_of(ours, parts))


@pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix", "ExtMemQuantileDMatrix"])
def test_columns_of_categories_in_some_batches(kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [3, 4]})
    parts = [{"data": frame.astype({name: "category"}), "label": [0, 1]} for name in ("a", "b")]
    with pytest.raises(DataError, match="Inconsistent feature types"):
        getattr(ours, kind)(batches_of(ours, parts), enable_categorical=True)


def test_libsvm_files(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("1 0:1.5 2:3\n0 1:2\n1 0:0 2:4.5\n0 2:1\n")
    data = ours.DMatrix(f"{path}?format=libsvm")
    assert (data.num_row(), data.num_col()) == (4, 3)
    np.testing.assert_array_equal(data.get_label(), [1, 0, 1, 0])


def test_queries_in_files(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("1 qid:1 0:1.5\n0 qid:1 0:2\n1 qid:2 0:3\n")
    data = ours.DMatrix(f"{path}?format=libsvm")
    np.testing.assert_array_equal(data.get_uint_info("group_ptr"), [0, 2, 3])


def test_csv_files(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("1,0.5,7\n0,1.5,8\n1,2.5,9\n")
    data = ours.DMatrix(f"{path}?format=csv&label_column=0")
    assert (data.num_row(), data.num_col()) == (3, 2)
    np.testing.assert_array_equal(data.get_label(), [1, 0, 1])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("1,0.5\n0,1.5\n")
    with pytest.raises(DataError, match="format=libsvm"):
        ours.DMatrix(path)
    with pytest.raises(DataError, match="no such column"):
        ours.DMatrix(f"{path}?format=csv&label_column=5")
    with pytest.raises(DataError, match="no such file"):
        ours.DMatrix(tmp_path / "nothing")


def rows_in_batches(n_parts: int = 5, **params: Any) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20_000, 4))
    x[rng.random(x.shape) < 0.1] = np.nan
    y = np.nan_to_num(x[:, 0]) + rng.normal(size=len(x))
    rows = np.array_split(np.arange(len(x)), n_parts)
    return x, y, [{"data": x[part], "label": y[part], **params} for part in rows]


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
def test_external_memory(
    kind: str, on_disk: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pandas = pytest.importorskip("pandas")
    x, y, parts = rows_in_batches()
    as_kind = {
        "array": lambda part: part,
        "sparse": lambda part: to_sparse(np.nan_to_num(part)),
        "frame": lambda part: pandas.DataFrame(part, columns=list("abcd")),
    }[kind]
    for part in parts:
        part["data"] = as_kind(part["data"])
    whole = ours.QuantileDMatrix(as_kind(x), y, max_bin=64)
    batches = batches_of(ours, parts)
    batches.cache_prefix = str(tmp_path / "cache" / "prefix")
    if on_disk:
        monkeypatch.setattr(Budget, "holds_table", lambda *_: False)
        monkeypatch.setattr(Budget, "holds_validation", lambda *_: False)
    data = ours.ExtMemQuantileDMatrix(batches, max_bin=64)
    valid = ours.ExtMemQuantileDMatrix(batches_of(ours, parts[:2]), ref=data)
    assert (data.num_row(), data.num_col()) == whole_shape(whole)
    assert data.num_nonmissing() == whole.num_nonmissing()
    assert data.feature_names == whole.feature_names
    logs: list[Any] = [{}, {}]
    params = {"max_depth": 4, "eta": 0.3}
    first = ours.QuantileDMatrix(as_kind(x[:8000]), y[:8000])
    models = [
        ours.train(params, d, 5, evals=[(v, "valid")], evals_result=log, verbose_eval=False)
        for (d, v), log in zip([(whole, first), (data, valid)], logs, strict=True)
    ]
    assert logs[0] == logs[1]
    expected = models[0].predict(whole)
    np.testing.assert_array_equal(models[1].predict(whole), expected)
    np.testing.assert_array_equal(models[1].predict(data), expected)
    assert (tmp_path / "cache").is_dir() == on_disk
    assert not list(tmp_path.glob("cache/*"))  # the file has no name


def to_sparse(part: np.ndarray) -> Any:
    return scipy.sparse.csr_matrix(part)


def whole_shape(data: Any) -> tuple[int, int]:
    return data.num_row(), data.num_col()


def test_categories_in_external_memory() -> None:
    pandas = pytest.importorskip("pandas")
    x, y, parts = rows_in_batches()
    levels = pandas.CategoricalDtype(["low", "high"])

    def to_frame(rows: Any) -> Any:
        frame = pandas.DataFrame(rows, columns=list("abcd"))
        kinds = pandas.Series(np.where(frame["a"] > 0, "high", "low"))
        return frame.assign(a=kinds.astype(levels))

    for part in parts:
        part["data"] = to_frame(part["data"])
    data = ours.ExtMemQuantileDMatrix(batches_of(ours, parts), enable_categorical=True)
    whole = ours.DMatrix(to_frame(x), y, enable_categorical=True)
    model = ours.train({"max_depth": 4}, data, 5)
    np.testing.assert_array_equal(model.predict(data), model.predict(whole))
    leaves = [model.predict(rows, pred_leaf=True) for rows in (data, whole)]
    np.testing.assert_array_equal(*leaves)


def test_external_memory_keeps_weights_and_the_limit() -> None:
    _, _, parts = rows_in_batches()
    for part in parts:
        part["weight"] = np.arange(len(part["label"])) % 3 + 1.0
    data = ours.ExtMemQuantileDMatrix(batches_of(ours, parts))
    np.testing.assert_array_equal(data.get_weight(), np.concatenate([p["weight"] for p in parts]))
    with pytest.raises(ParameterError, match="max_memory is too small"):
        ours.train({"max_memory": "1MB"}, data, 1)


def test_external_memory_refuses_what_needs_a_table(tmp_path: Path) -> None:
    _, _, parts = rows_in_batches()
    data = ours.ExtMemQuantileDMatrix(batches_of(ours, parts))
    calls = {
        "get_data": data.get_data,
        "slice": lambda: data.slice([0]),
        "save_binary": lambda: data.save_binary(tmp_path / "x"),
        "get_quantile_cut": data.get_quantile_cut,
        "get_categories": data.get_categories,
    }
    for name, call in calls.items():
        with pytest.raises(NotSupportedError, match=name):
            call()
    with pytest.raises(DataTypeError, match="a DataIter"):
        ours.ExtMemQuantileDMatrix(np.zeros((3, 2)))
    pandas = pytest.importorskip("pandas")
    text = [{"data": pandas.DataFrame({"a": ["x", "y"]}), "label": [0, 1]}]
    with pytest.raises(DataError, match="enable_categorical"):
        ours.ExtMemQuantileDMatrix(batches_of(ours, text))


def test_damaged_files_of_a_dmatrix(tmp_path: Path) -> None:
    """Cut off, with a changed byte, with a password, or with names that are not text."""
    path = tmp_path / "data.buffer"
    ours.DMatrix(np.eye(9), np.arange(9)).save_binary(path)
    content = path.read_bytes()
    encrypted = bytearray(content)
    for header, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[content.index(header) + place] |= 1
    with np.load(path) as archive:
        arrays = dict(archive)
    facts = json.loads(arrays["facts"].tobytes())
    arrays["facts"] = np.frombuffer(json.dumps({**facts, "feature_names": 5}).encode(), np.uint8)
    np.savez(tmp_path / "names.npz", **arrays)
    damaged = [bytes(encrypted), (tmp_path / "names.npz").read_bytes()]
    damaged += [content[: len(content) * i // 20] for i in range(1, 20)]
    for wrong in damaged:
        path.write_bytes(wrong)
        with pytest.raises(DataError, match="cannot be read as a DMatrix"):
            ours.DMatrix(path)
