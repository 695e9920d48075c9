"""LibSVM files: beside scikit-learn's reader; what cannot be read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import gossamer as gs
from gossamer.data.files import svm
from gossamer.data.files.open import open_files

datasets = pytest.importorskip("sklearn.datasets")

PARAMS = {"num_leaves": 7, "verbose": -1, "bin_construct_sample_cnt": 300, "num_threads": 1}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svm, "_BLOCK", 1000)


def make(n: int = 600, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array((n, 20), density=0.2, random_state=rng, format="csr")
    label = np.asarray(matrix.sum(axis=1)).ravel().round(3)
    return matrix, label, np.repeat(np.arange(n // 10), 10)


def read(path: Path) -> tuple[Any, dict[str, Any]]:
    source = open_files(path)
    return sparse.vstack(list(source.read())).toarray(), dict(source.take_fields())


@pytest.mark.parametrize("zero_based", [True, False])
def test_the_model_is_that_of_the_table_in_memory(tmp_path: Path, zero_based: bool) -> None:
    matrix, label, _ = make()
    path = tmp_path / "rows.svm"
    datasets.dump_svmlight_file(matrix, label, str(path), zero_based=zero_based, comment="x: 1")
    found, y = datasets.load_svmlight_file(str(path), zero_based=True)
    expected = gs.train(PARAMS, gs.Dataset(found, y), 5).model_to_string()
    assert gs.train(PARAMS, gs.Dataset(path), 5).model_to_string() == expected
    zipped = tmp_path / "rows.svm.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert gs.train(PARAMS, gs.Dataset(zipped), 5).model_to_string() == expected


def test_queries(tmp_path: Path) -> None:
    matrix, label, query = make()
    path = tmp_path / "rows.svm"
    datasets.dump_svmlight_file(matrix, label, str(path), query_id=query)
    data = gs.Dataset(path).construct()
    np.testing.assert_array_equal(data.get_group(), [10] * 60)
    np.testing.assert_array_equal(data.get_label(), label.astype(np.float32))
    given = gs.Dataset(path, label=label + 1, group=[20] * 30).construct()
    np.testing.assert_array_equal(given.get_group(), [20] * 30)
    np.testing.assert_array_equal(given.get_label(), (label + 1).astype(np.float32))


def test_validation_data_of_another_width(tmp_path: Path) -> None:
    matrix, label, _ = make()
    paths = [tmp_path / name for name in ("train.svm", "narrow.svm", "wide.svm")]
    datasets.dump_svmlight_file(matrix, label, str(paths[0]))
    datasets.dump_svmlight_file(matrix[:, :10], label, str(paths[1]))
    wide = sparse.hstack([matrix, matrix], format="csr")
    datasets.dump_svmlight_file(wide, label, str(paths[2]))
    data = gs.Dataset(paths[0])
    model = gs.train(PARAMS, data, 3, [data.create_valid(paths[1])])
    narrow = sparse.csr_array(
        (matrix[:, :10].data, matrix[:, :10].indices, matrix[:, :10].indptr), shape=matrix.shape
    )
    np.testing.assert_array_equal(model.predict(paths[1]), model.predict(narrow))
    np.testing.assert_array_equal(model.predict(paths[0]), model.predict(matrix))
    with pytest.warns(UserWarning, match="columns up to 39, .* only up to 19"):
        valid = data.create_valid(paths[2]).construct()
    assert valid.num_feature() == 20
    with pytest.warns(UserWarning, match="columns beyond are ignored"):
        np.testing.assert_array_equal(model.predict(paths[2]), model.predict(matrix))
    shap = model.predict(paths[0], pred_contrib=True)
    assert sparse.issparse(shap)
    np.testing.assert_array_equal(
        shap.toarray(), model.predict(matrix, pred_contrib=True).toarray()
    )


def test_odd_but_right(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_bytes(
        b"# a comment\n\n1 0:1 2:nan # 7:8\n  -1\t1:+2e1\r\n0.5\n2 2:3 0:-.5\n\n3 1:inf"
    )
    table, fields = read(path)
    expected = [[1, 0, np.nan], [0, 20, 0], [0, 0, 0], [-0.5, 0, 3], [0, np.inf, 0]]
    np.testing.assert_array_equal(table, expected)
    np.testing.assert_array_equal(fields["label"], [1, -1, 0.5, 2, 3])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1 2:3 4", "'4' has no colon"),
        ("1 2:3:4", "the value in '2:3:4' is not a number"),
        ("1 2:3 4 5:6:7", "'4' has no colon"),
        ("2:3 4:5", "it has no label"),
        ("a 2:3", "the label 'a' is not a number"),
        ("1,2 2:3", "the label '1,2' is not a number"),
        ("1 2:x", "the value in '2:x' is not a number"),
        ("1 2:", "the value in '2:' is not a number"),
        ("1 2: :3", "the value in '2:' is not a number"),
        ("1 -1:2", "the index in '-1:2' is not a whole number"),
        ("1 1.5:2", "the index in '1.5:2' is not a whole number"),
        ("1 99999999999:2", "is not a whole number from 0"),
        ("1 2:3 2:4", "the index '2' is there twice"),
        ("1 3:3 2:4 3:1", "the index '3' is there twice"),
        ("1 qid:3 qid:4 2:3", "the index 'qid' is there twice"),
        ("1 qid:x 2:3", "the value in 'qid:x' is not a number"),
        ("1 2:1_0", "the value in '2:1_0' is not a number"),
        ("1 2:0x1", "the value in '2:0x1' is not a number"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 2:3\n" * 400 + "\n" + line + "\n1 2:3\n")
    with pytest.raises(gs.DataError, match=r"line 402 of .*rows\.svm' cannot be read") as caught:
        gs.Dataset(path).construct()
    assert why in str(caught.value)


def test_queries_in_some_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 qid:1 2:3\n1 2:3\n")
    with pytest.raises(gs.DataError, match=r"some rows of .* have a qid, and others have none"):
        gs.Dataset(path).construct()


def test_a_name_as_label(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 2:3\n1 2:3\n")
    with pytest.raises(gs.DataError, match="the columns of the data have no names"):
        gs.Dataset(path, label="y").construct()


def test_only_comments(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("# nothing\n")
    with pytest.raises(gs.DataError, match="data has no rows"):
        gs.Dataset(path).construct()


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.floats(allow_nan=False),
            st.dictionaries(st.integers(0, 30), st.floats(allow_nan=False), max_size=5),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_all_numbers_come_back(rows: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("svm") / "rows.svm"
    lines = [f"{y!r} " + " ".join(f"{i}:{v!r}" for i, v in row.items()) for y, row in rows]
    path.write_text("\n".join(lines))
    source = open_files(path)
    np.testing.assert_array_equal(source.take_fields()["label"], [y for y, _ in rows])
    assert source.n_columns == max((i + 1 for _, row in rows for i in row), default=0)
    if source.n_columns:
        table, _ = read(path)
        expected = np.zeros((len(rows), source.n_columns))
        for r, (_, row) in enumerate(rows):
            for i, value in row.items():
                expected[r, i] = value
        np.testing.assert_array_equal(table, expected)
