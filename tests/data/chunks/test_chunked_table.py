"""Tables read in pieces: the same bins, and the same model, as from the whole table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import gossamer as gs
from gossamer.data.chunks import chunked_frame, chunked_table
from gossamer.data.chunks.chunked_table import ChunkedTable, bin_chunked_like
from gossamer.data.dataset import built_data
from gossamer.data.storage.binned import bin_like, bin_table
from gossamer.data.table.matrix import as_table
from gossamer.params import resolve

N_ROWS = 3000


class ChunkedMatrix(ChunkedTable):
    """A matrix, `step` rows at a time."""

    def __init__(self, matrix: Any, step: int) -> None:
        self.matrix, self.step = matrix, step
        self.n_rows, self.n_columns = matrix.shape

    def read(self) -> Iterator[Any]:
        for begin in range(0, self.n_rows, self.step):
            yield as_table(self.matrix[begin : begin + self.step]).values

    def take(self, rows: Any) -> Any:
        return as_table(self.matrix[rows]).values


def make_matrix(seed: int, n_rows: int = N_ROWS) -> Any:
    """Numbers, gaps (late ones too), few values, one-hot columns, zeros, a constant column."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n_rows) for _ in range(3)]
    columns[0][rng.random(n_rows) < 0.1] = np.nan
    columns[1][-3:] = np.nan
    columns += [rng.integers(0, 4, n_rows).astype(float), np.ones(n_rows)]
    columns += list(np.eye(5)[rng.integers(0, 5, n_rows)].T)
    columns += [np.where(rng.random(n_rows) < 0.02, rng.normal(size=n_rows), 0) for _ in range(3)]
    return np.stack(columns, axis=1)


def bins_of(binned: Any) -> list[Any]:
    return [binned.bins.copy_column(f) for f in range(binned.bins.n_features)]


def check_same(found: Any, expected: Any) -> None:
    for name in ("columns", "upper", "offsets", "category"):
        np.testing.assert_array_equal(
            getattr(found.binning, name), getattr(expected.binning, name), err_msg=name
        )
    np.testing.assert_array_equal(found.bins.has_missing(), expected.bins.has_missing())
    for one, other in zip(bins_of(found), bins_of(expected), strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.bins.is_trainable


PARAMS: list[dict[str, Any]] = [
    {},
    {"bin_construct_sample_cnt": 500},
    {"zero_as_missing": True, "bin_construct_sample_cnt": 700},
    {"use_missing": False},
    {"enable_bundle": False, "is_enable_sparse": False},
    {"max_bin": 1000, "min_data_in_bin": 1, "max_bin_by_feature": [7] * 13},
]


@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("step", [7, 999, 10_000])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_bins_are_those_of_the_whole(params: dict[str, Any], step: int, is_sparse: bool) -> None:
    matrix = make_matrix(0)
    table: Any = sparse.csr_matrix(np.nan_to_num(matrix)) if is_sparse else matrix
    resolved = resolve({**params, "num_threads": 2})
    names = [f"c{i}" for i in range(matrix.shape[1])]
    expected = bin_table(as_table(table), resolved, names, [3])
    check_same(ChunkedMatrix(table, step).bin(resolved, names, [3]), expected)


def test_gaps_that_the_sample_of_a_sparse_table_does_not_have() -> None:
    matrix = sparse.random(N_ROWS, 8, 0.3, format="lil", random_state=0)
    matrix[N_ROWS - 1, :] = np.nan
    table = matrix.tocsr()
    params = resolve({"bin_construct_sample_cnt": 100, "data_random_seed": 4})
    names = [f"c{i}" for i in range(8)]
    found = ChunkedMatrix(table, 100).bin(params, names)
    check_same(found, bin_table(as_table(table), params, names))
    assert found.bins.has_missing().any()


def test_gaps_that_the_example_of_a_sparse_table_does_not_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Columns can still share their room."""
    monkeypatch.setattr(chunked_table, "_EXAMPLE_VALUES", 1)
    rows = np.arange(60_000)
    matrix = sparse.lil_array((60_000, 12))
    matrix[rows, rows % 12] = 1.0 + rows % 3
    matrix[59_999, 59_999 % 12] = np.nan
    table = matrix.tocsr()
    params, names = resolve({}), [f"c{i}" for i in range(12)]
    found = ChunkedMatrix(table, 5_000).bin(params, names)
    check_same(found, bin_table(as_table(table), params, names))
    assert found.bins.has_missing().sum() == 1
    assert len(found.bins.storage()["bundled"]) == 12


def test_weights() -> None:
    rng = np.random.default_rng(0)
    matrix, weight = rng.normal(size=(N_ROWS, 3)), rng.random(N_ROWS).astype(np.float32)
    params = resolve({"weighted_bins": True, "max_bin": 15, "bin_construct_sample_cnt": 800})
    names = ["a", "b", "c"]
    expected = bin_table(as_table(matrix), params, names, (), weight)
    check_same(ChunkedMatrix(matrix, 100).bin(params, names, (), weight), expected)


def test_what_does_not_fit_a_bundle_is_moved_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that the storage is chosen from see no conflict."""
    monkeypatch.setattr(chunked_table, "_EXAMPLE_VALUES", 1)
    matrix = np.zeros((60_000, 12))
    rows = np.arange(60_000)
    matrix[rows, rows % 12] = 1.0 + rows % 3
    matrix[59_990:, :6] = 2.0
    params, names = resolve({}), [f"c{i}" for i in range(12)]
    found = ChunkedMatrix(matrix, 5_000).bin(params, names)
    check_same(found, bin_table(as_table(matrix), params, names))


def test_validation_data() -> None:
    matrix, more = make_matrix(0), make_matrix(1)
    more[5] = np.nan
    params, names = resolve({}), [f"c{i}" for i in range(13)]
    training = bin_table(as_table(matrix), params, names)
    found = bin_chunked_like(ChunkedMatrix(more, 700), training, params)
    expected = bin_like(as_table(more), training, params)
    for one, other in zip(bins_of(found), bins_of(expected), strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 400), st.booleans(), st.integers(20, 300))
def test_any_pieces(seed: int, step: int, is_sparse: bool, n_sample: int) -> None:
    matrix = make_matrix(seed, 300)
    table: Any = sparse.csr_matrix(np.nan_to_num(matrix)) if is_sparse else matrix
    params = resolve({"bin_construct_sample_cnt": n_sample, "min_data_in_bin": 1})
    names = [f"c{i}" for i in range(13)]
    expected = bin_table(as_table(table), params, names, [3])
    check_same(ChunkedMatrix(table, step).bin(params, names, [3]), expected)


def test_the_native_binner_counts_rows() -> None:
    from gossamer import _native

    rows = np.arange(20.0).reshape(-1, 2)
    like = bin_table(as_table(rows), resolve({"min_data_in_bin": 1})).bins
    binner = _native.PieceBinner(like, 10)
    binner.add(rows[:4], 1)
    with pytest.raises(ValueError, match="fewer rows"):
        binner.finish()
    with pytest.raises(ValueError, match="more rows"):
        binner.add(rows, 1)
    with pytest.raises(ValueError, match="column out of range"):
        binner.add(rows[:1, :1], 1)
    binner.add(rows[4:], 1)
    assert binner.finish().n_rows == 10
    with pytest.raises(ValueError, match="finished"):
        binner.finish()
    with pytest.raises(ValueError, match="finished"):
        binner.add(rows, 1)
    with pytest.raises(ValueError, match="too many rows"):
        _native.PieceBinner(like, 2**40)


class TestFrames:
    """Large frames are read in pieces; these ones are called large."""

    @pytest.fixture(autouse=True)
    def _small_is_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(chunked_frame, "_LARGE", 1)
        monkeypatch.setattr(chunked_frame, "CHUNK_VALUES", 1000)
        monkeypatch.setattr(chunked_table, "_EXAMPLE_VALUES", 1000)

    @staticmethod
    def make(kind: str, seed: int = 0) -> tuple[Any, Any]:
        rng = np.random.default_rng(seed)
        n = 2000
        towns = np.array(["Rome", "Bern", "Oslo", "Graz"], dtype=object)[rng.integers(0, 4, n)]
        towns[::50] = None
        x = rng.normal(size=n)
        x[::9] = np.nan
        columns = {
            "x": x,
            "half": rng.normal(size=n).astype(np.float32),
            "town": towns,
            "count": rng.integers(0, 300, n),
            "flag": rng.random(n) < 0.3,
        }
        y = np.nan_to_num(x) + (towns == "Oslo") + 0.01 * columns["count"]
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(columns)
        if kind == "category":
            return frame.astype({"town": "category"}), y
        if kind == "nullable":
            return frame.convert_dtypes(), y
        if kind == "polars":
            return pytest.importorskip("polars").from_pandas(frame), y
        if kind == "pyarrow":
            return pytest.importorskip("pyarrow").Table.from_pandas(frame), y
        return frame, y

    @pytest.mark.parametrize("kind", ["object", "category", "nullable", "polars", "pyarrow"])
    def test_the_model_is_that_of_the_whole(
        self, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        frame, y = self.make(kind)
        more, more_y = self.make(kind, 1)
        params = {"num_leaves": 15, "verbose": -1, "bin_construct_sample_cnt": 900}

        def fit() -> tuple[bytes, float]:
            data = gs.Dataset(frame, y)
            valid = data.create_valid(more, more_y)
            model = gs.train(params, data, 10, [valid])
            return model.model_to_string().encode(), model.best_score["valid_0"]["l2"]

        used: list[str] = []
        real = chunked_frame.ChunkedFrame.read
        monkeypatch.setattr(
            chunked_frame.ChunkedFrame, "read", lambda self: used.append("read") or real(self)
        )
        in_pieces = fit()
        assert used
        used.clear()
        monkeypatch.setattr(chunked_frame, "_LARGE", 10**9)
        assert fit() == in_pieces
        assert not used

    @pytest.mark.parametrize("kind", ["object", "category", "nullable", "polars", "pyarrow"])
    def test_predictions_are_those_of_the_whole(
        self, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        frame, y = self.make(kind)
        params = {"objective": "multiclass", "num_class": 3, "num_leaves": 7, "verbose": -1}
        model = gs.train(params, gs.Dataset(frame, np.digitize(y, [0, 1])), 4)
        many = list(chunked_frame.row_blocks(frame) or [])
        assert len(many) == 10 and sum(map(len, many)) == len(frame)
        options: list[dict[str, Any]] = [{}, {"raw_score": True}, {"pred_leaf": True}]
        in_pieces = [model.predict(frame, **some) for some in options]
        monkeypatch.setattr(chunked_frame, "_LARGE", 10**9)
        assert chunked_frame.row_blocks(frame) is None
        for found, some in zip(in_pieces, options, strict=True):
            np.testing.assert_array_equal(found, model.predict(frame, **some))

    def test_columns_in_another_order(self) -> None:
        frame, y = self.make("object")
        data = gs.Dataset(frame, y).construct()
        valid = data.create_valid(frame[frame.columns[::-1]], y).construct()
        for one, other in zip(
            bins_of(built_data(valid).table), bins_of(built_data(data).table), strict=True
        ):
            np.testing.assert_array_equal(one, other)
        with pytest.raises(gs.DataError, match="missing 'town'"):
            data.create_valid(frame.drop(columns="town"), y).construct()

    def test_another_number_of_columns(self) -> None:
        frame, y = self.make("object")
        numbers = frame[["x", "half", "count"]]
        data = gs.Dataset(numbers.to_numpy(), y).construct()
        with pytest.raises(gs.DataError, match="differ in columns: got 2, expected 3"):
            data.create_valid(numbers[["x", "count"]], y).construct()

    def test_a_frame_that_is_a_matrix_is_not_read_in_pieces(self) -> None:
        pandas = pytest.importorskip("pandas")
        matrix = np.random.default_rng(0).normal(size=(50, 4))
        assert chunked_frame.find_chunked_frame(pandas.DataFrame(matrix)) is None
        mixed = pandas.DataFrame(matrix).astype({0: "float32"})
        assert chunked_frame.find_chunked_frame(mixed) is not None
        one_by_one = pandas.DataFrame({"0": matrix[:, 0].copy()})
        for i in range(1, 4):
            one_by_one[str(i)] = matrix[:, i].copy()
        assert chunked_frame.find_chunked_frame(one_by_one) is not None
        assert chunked_frame.find_chunked_frame(matrix) is None

    def test_raw_values_are_those_of_the_whole(self) -> None:
        frame, y = self.make("object")
        params = {"linear_tree": True, "num_leaves": 5, "verbose": -1}
        model = gs.train(params, gs.Dataset(frame, y), 3)
        assert np.isfinite(model.predict(frame)).all()

    def test_an_empty_frame(self) -> None:
        pandas = pytest.importorskip("pandas")
        with pytest.raises(gs.DataError, match="data has no rows"):
            gs.Dataset(pandas.DataFrame({"a": [], "b": []})).construct()
