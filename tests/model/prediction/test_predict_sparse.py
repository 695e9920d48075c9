"""Sparse rows are predicted as the same rows written out: bit for bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gossamer import Booster, DataError, Dataset, _native, train
from gossamer.model.model import Model
from gossamer.model.prediction.predict import PredictOptions, predict

# A matrix with many diagonals is not a good idea, but it must be read.
pytestmark = pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def make_table(seed: int, shape: tuple[int, int], share: float, gaps: float = 0.05) -> Any:
    """Small whole numbers, most of them zero, some missing; a few rows are empty."""
    rng = np.random.default_rng(seed)
    table = rng.integers(-4, 5, shape) * (rng.random(shape) < share) * 0.5
    table[rng.random(shape) < gaps * share] = np.nan
    table[::9] = 0
    return table


TABLE = make_table(0, (400, 30), 0.3)
LABEL = np.nan_to_num(TABLE) @ np.random.default_rng(1).normal(size=30)
CLASSES = np.digitize(LABEL, [-1, 1])
NEW = make_table(2, (300, 30), 0.25)
PARAMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "zero_as_missing": {"zero_as_missing": True},
    "use_missing=False": {"use_missing": False},
    "multiclass": {"objective": "multiclass", "num_class": 3},
    "binary": {"objective": "binary"},
}


def fit(name: str, table: Any = TABLE, n_rounds: int = 8) -> Booster:
    label = {"multiclass": CLASSES, "binary": LABEL > 0}.get(name, LABEL)
    params = {"min_data_in_leaf": 3, "min_data_in_bin": 1, "verbose": -1, **PARAMS[name]}
    return train(params, Dataset(table, label[: len(table)]), n_rounds)


@pytest.fixture(scope="module", params=list(PARAMS))
def model(request: Any) -> Booster:
    booster = fit(request.param)
    assert booster.predict(NEW, pred_leaf=True).max() > 10, "the trees are worth comparing"
    return booster


@pytest.fixture(scope="module")
def plain() -> Booster:
    return fit("plain")


def assert_same(model: Booster, rows: Any, dense: Any, **arguments: Any) -> None:
    for kind in ({}, {"raw_score": True}, {"pred_leaf": True}):
        found = model.predict(rows, **kind, **arguments)
        expected = model.predict(dense, **kind, **arguments)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


class TestSameBits:
    """Every kind of matrix against the dense array."""

    @pytest.mark.parametrize("kind", ["matrix", "array"])
    @pytest.mark.parametrize("form", FORMATS)
    def test_formats(self, model: Booster, form: str, kind: str) -> None:
        assert_same(model, getattr(sparse, f"{form}_{kind}")(NEW), NEW)

    @pytest.mark.parametrize("form", ["csr", "csc"])
    def test_types(self, model: Booster, form: str) -> None:
        for dtype in ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "g", "?"):
            numbers = np.abs(np.nan_to_num(NEW * 2)).astype(dtype)
            assert_same(model, getattr(sparse, f"{form}_array")(numbers), numbers)

    def test_float32_is_not_rounded_anew(self, plain: Booster) -> None:
        table = (NEW * 0.1).astype(np.float32)
        model = train({"min_data_in_bin": 1}, Dataset(table, LABEL[:300]), 5)
        rows = sparse.csr_array(table)
        assert_same(model, rows, table)
        assert_same(model, rows, table.astype(np.float64))

    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_types_of_indices(self, model: Booster, index: Any) -> None:
        rows = sparse.csr_array(NEW)
        rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
        assert_same(model, rows, NEW)

    def test_explicit_zeros(self, model: Booster) -> None:
        everything = sparse.csr_array(np.where(NEW == 0, 99.0, NEW))
        everything.data[everything.data == 99] = 0
        assert everything.nnz == NEW.size
        assert_same(model, everything, NEW)

    def test_duplicates_and_disorder(self, model: Booster) -> None:
        rows = sparse.csr_array(np.nan_to_num(NEW))
        begin = 2 * rows.indptr
        values, indices = np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2)
        for r in range(len(begin) - 1):
            part = slice(begin[r], begin[r + 1])
            values[part], indices[part] = values[part][::-1].copy(), indices[part][::-1].copy()
        twice = sparse.csr_array((values, indices, begin), shape=NEW.shape)
        kept = values.copy(), indices.copy(), begin.copy()
        assert_same(model, twice, np.nan_to_num(NEW))
        for found, expected in zip((twice.data, twice.indices, twice.indptr), kept, strict=True):
            np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 63, 64, 65, 300])
    def test_numbers_of_rows(self, model: Booster, n_rows: int) -> None:
        assert_same(model, sparse.csr_array(NEW[:n_rows]), NEW[:n_rows])

    @pytest.mark.parametrize("form", FORMATS)
    def test_nothing_but_zeros(self, model: Booster, form: str) -> None:
        assert_same(model, getattr(sparse, f"{form}_array")((20, 30)), np.zeros((20, 30)))

    def test_rounds(self, model: Booster) -> None:
        rows = sparse.csr_array(NEW)
        for start, number in ((0, 3), (2, 4), (5, 99), (8, 1)):
            assert_same(model, rows, NEW, start_iteration=start, num_iteration=number)

    def test_threads(self, model: Booster) -> None:
        many = np.tile(NEW, (100, 1))  # enough for two threads
        assert_same(model, sparse.csr_array(many), many, num_threads=2)

    def test_at_the_same_time(self, model: Booster) -> None:
        """A forest is made ready once, whoever asks first."""
        again = Booster(model_str=model.model_to_string())
        rows = sparse.csr_array(NEW)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: again.predict(rows), range(8)))
        for prediction in found:
            np.testing.assert_array_equal(prediction, model.predict(NEW))

    def test_training_scores(self, model: Booster) -> None:
        assert_same(model, sparse.csr_array(TABLE), TABLE)


class TestColumns:
    """How many there are."""

    @pytest.mark.parametrize("n_columns", [1, 29, 31])
    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    def test_other_numbers_of_columns(self, plain: Booster, form: str, n_columns: int) -> None:
        rows = getattr(sparse, f"{form}_array")((5, n_columns))
        with pytest.raises(DataError, match=f"differs from the training data's: got {n_columns}"):
            plain.predict(rows)

    @pytest.mark.parametrize("n_columns", [0, 1, 13, 29, 30, 31, 80])
    @pytest.mark.parametrize("form", ["csr", "csc"])
    def test_unless_allowed(self, model: Booster, form: str, n_columns: int) -> None:
        wide = make_table(3, (50, 80), 0.4)[:, :n_columns]
        rows = getattr(sparse, f"{form}_array")(wide)
        assert_same(model, rows, wide, predict_disable_shape_check=True)

    def test_a_million(self) -> None:
        rng = np.random.default_rng(0)
        used = np.sort(rng.choice(1_000_000, 30, replace=False))
        few = fit("plain").model
        wide = widen(few, used, 1_000_000)
        rows = sparse.coo_array(NEW)
        far = sparse.coo_array((rows.data, (rows.row, used[rows.col])), shape=(300, 1_000_000))
        other = np.setdiff1d(np.arange(0, 1_000_000, 1000), used)
        noise = sparse.coo_array((np.ones(len(other)), (other % 300, other)), shape=far.shape)
        expected = predict(few, NEW, PredictOptions())
        for matrix in (far.tocsr(), (far + noise).tocsr(), (far + noise).tocsc()):
            np.testing.assert_array_equal(predict(wide, matrix, PredictOptions()), expected)

    def test_names_do_not_matter_to_what_has_none(self) -> None:
        names = [f"c{i}" for i in range(30)]
        named = train({}, Dataset(TABLE, LABEL, feature_name=names), 3)
        assert_same(named, sparse.csr_array(NEW), NEW)


def widen(model: Model, used: Any, n_columns: int) -> Model:
    """The same trees for a table in which their columns stand far apart."""
    columns = used[model.forest.arrays["column"]].astype(np.int32)
    forest = replace(
        model.forest, n_columns=n_columns, arrays={**model.forest.arrays, "column": columns}
    )
    return replace(model, names=[f"Column_{i}" for i in range(n_columns)], forest=forest)


class TestFrames:
    """Frames of sparse columns are matched by name."""

    pandas = pytest.importorskip("pandas")

    def test_order_does_not_matter(self) -> None:
        names = [f"c{i}" for i in range(30)]
        model = train({}, Dataset(TABLE, LABEL, feature_name=names), 3)
        frame = self.pandas.DataFrame.sparse.from_spmatrix(sparse.csr_array(NEW), columns=names)
        expected = model.predict(NEW)
        np.testing.assert_array_equal(model.predict(frame), expected)
        np.testing.assert_array_equal(model.predict(frame[names[::-1]]), expected)
        with pytest.raises(DataError, match="missing 'c0'"):
            model.predict(frame[names[1:]])


class TestBroken:
    """A damaged matrix is an error, not a crash."""

    @pytest.mark.parametrize("form", ["csr", "csc"])
    def test_indices(self, plain: Booster, form: str) -> None:
        for value in (-1, 10_000):
            rows = getattr(sparse, f"{form}_array")(NEW)
            rows.indices[5] = value
            with pytest.raises(DataError, match="outside its shape"):
                plain.predict(rows)

    def test_one_dimension(self, plain: Booster) -> None:
        with pytest.raises(DataError, match="expected 2 dimensions"):
            plain.predict(sparse.coo_array(np.arange(30)))

    def test_the_native_forest_asks_for_sorted_rows(self, plain: Booster) -> None:
        native, out, begin = plain.model.forest.native, np.zeros(2), np.array([0, 1, 2])
        columns = _native.SparseMatrix(np.ones(2), np.array([0, 1]), begin, 2, 2, False)
        with pytest.raises(ValueError, match="rows are needed"):
            native.predict(columns, 0, 1, out, 1)
        for indices in ([3, 1], [2, 2]):
            rows = _native.SparseMatrix(
                np.ones(2), np.array(indices), begin[::2].copy(), 1, 30, True
            )
            with pytest.raises(ValueError, match="not sorted"):
                native.predict_leaves(rows, 0, 1, np.zeros(1, dtype=np.int32), 1)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(20, 120),
    n_columns=st.integers(1, 40),
    share=st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    gaps=st.sampled_from([0.0, 0.5]),
    name=st.sampled_from(list(PARAMS)),
    form=st.sampled_from(FORMATS),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_any_forest_any_matrix(
    seed: int,
    n_rows: int,
    n_columns: int,
    share: float,
    gaps: float,
    name: str,
    form: str,
    dtype: Any,
) -> None:
    table = make_table(seed, (n_rows, n_columns), max(share, 0.2), gaps).astype(dtype)
    model = fit(name, table, n_rounds=3)
    new = make_table(seed + 1, (n_rows, n_columns), share, gaps).astype(dtype)
    assert_same(model, getattr(sparse, f"{form}_array")(new), new)
