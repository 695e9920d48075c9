"""Tables in chunks from a program: sequences, lists, functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import gossamer as gs

PARAMS = {"num_leaves": 7, "verbose": -1, "num_threads": 1, "bin_construct_sample_cnt": 300}
RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(500, 4))
MATRIX[::7, 1] = np.nan
LABEL = np.nan_to_num(MATRIX[:, 1]) + MATRIX[:, 0]


class Rows(gs.Sequence):
    """A matrix as a sequence."""

    def __init__(self, matrix: Any, batch_size: int = 64) -> None:
        self.matrix, self.batch_size = matrix, batch_size

    def __getitem__(self, index: Any) -> Any:
        return self.matrix[index]

    def __len__(self) -> int:
        return len(self.matrix)


class Chunks:
    """Can be iterated over again and again."""

    def __iter__(self) -> Iterator[Any]:
        return iter([MATRIX[:100], MATRIX[100:]])


def make_chunks() -> Iterator[Any]:
    yield MATRIX[:333]
    yield MATRIX[333:]


def fit(data: Any, label: Any = LABEL, **further: Any) -> str:
    return gs.train(PARAMS, gs.Dataset(data, label, **further), 5).model_to_string()


@pytest.mark.parametrize(
    "data",
    [
        Rows(MATRIX),
        Rows(MATRIX, 1000),
        [Rows(MATRIX[:200]), Rows(MATRIX[200:], 7)],
        [MATRIX[:200], MATRIX[200:201], MATRIX[201:]],
        (MATRIX[:200], MATRIX[200:]),
        make_chunks,
        Chunks(),
        lambda: [MATRIX],
        [MATRIX[:200], sparse.csr_array(MATRIX[200:300]), MATRIX[300:]],
    ],
    ids=["one", "large", "two", "arrays", "tuple", "function", "iterable", "list", "mixed"],
)
def test_the_model_is_that_of_the_whole(data: Any) -> None:
    assert fit(data) == fit(MATRIX)
    model = gs.train(PARAMS, gs.Dataset(data, LABEL), 5)
    np.testing.assert_array_equal(model.predict(data), model.predict(MATRIX))


def test_sparse_chunks() -> None:
    matrix = sparse.random_array((400, 9), density=0.2, random_state=RNG, format="csr")
    label = np.asarray(matrix.sum(axis=1)).ravel()
    parts = [matrix[:150], matrix[150:]]
    assert fit(parts, label) == fit(matrix, label)
    assert fit([part.tocsc() for part in parts], label) == fit(matrix, label)


def test_validation_data() -> None:
    train = gs.Dataset(Rows(MATRIX), LABEL)
    valid = train.create_valid(Rows(MATRIX[::-1]), LABEL[::-1])
    other = train.create_valid(MATRIX[::-1], LABEL[::-1])
    model = gs.train(PARAMS, train, 5, [valid, other], ["chunks", "array"])
    assert model.best_score["chunks"] == model.best_score["array"]


class TestFrames:
    @pytest.fixture
    def frame(self) -> Any:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(MATRIX, columns=list("abcd"))
        town = np.array(["Rome", None, "Bern", "Oslo"], dtype=object)[np.arange(500) * 7 // 5 % 4]
        town[:200] = None
        return frame.assign(town=town, y=LABEL + (town == "Oslo"))

    @pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "batches"])
    def test_text_and_labels_by_name(self, frame: Any, kind: str) -> None:
        expected = fit(frame, "y")
        parts: list[Any] = [frame.iloc[:120], frame.iloc[120:, ::-1], frame.iloc[:0]]
        if kind == "polars":
            polars = pytest.importorskip("polars")
            parts = [polars.from_pandas(part) for part in parts]
        elif kind != "pandas":
            pyarrow = pytest.importorskip("pyarrow")
            parts = [pyarrow.Table.from_pandas(part, preserve_index=False) for part in parts]
        if kind == "batches":
            parts = [batch for part in parts[:2] for batch in part.to_batches()]
        assert fit(parts, "y") == expected
        assert fit(lambda: iter(parts), "y") == expected

    def test_a_reader_of_batches(self, frame: Any) -> None:
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        assert fit(table.to_reader(100), "y") == fit(frame, "y")
        assert fit(lambda: table.to_reader(100), "y") == fit(frame, "y")

    def test_categories(self, frame: Any) -> None:
        frame["town"] = frame["town"].astype("category")
        parts = [frame.iloc[:300], frame.iloc[300:]]
        assert fit(parts, "y") == fit(frame, "y")
        frame["town"] = frame["town"].cat.reorder_categories(["Rome", "Bern", "Oslo"])
        parts = [frame.iloc[:300], frame.iloc[300:]]
        data = gs.Dataset(parts, "y").construct()
        assert data.levels is not None and data.levels.by_column == {4: ("Rome", "Bern", "Oslo")}
        assert fit(parts, "y") == fit(frame, "y")

    def test_categories_of_polars(self, frame: Any) -> None:
        polars = pytest.importorskip("polars")
        for kind in (polars.Enum(["Rome", "Oslo", "Bern"]), polars.Categorical):
            table = polars.from_pandas(frame).with_columns(polars.col("town").cast(kind))
            assert fit([table[:230], table[230:]], "y") == fit(table, "y")

    def test_ordered_categories_that_differ(self, frame: Any) -> None:
        pandas = pytest.importorskip("pandas")
        parts = []
        for order in (["Bern", "Rome", "Oslo"], ["Rome", "Bern", "Oslo"]):
            kind = pandas.CategoricalDtype(order, ordered=True)
            parts.append(frame.astype({"town": kind}))
        with pytest.raises(gs.DataError, match="ordered categories that differ"):
            fit(parts, "y")

    def test_numbers_and_text(self, frame: Any) -> None:
        numbers = frame.assign(town=1.0)
        with pytest.raises(gs.DataError, match=r"'town' .* both text and numbers: got 1\.0"):
            fit([frame, numbers], "y")
        with pytest.raises(gs.DataError, match=r"'town' .* both text and numbers: got 1\.0"):
            fit([numbers, frame], "y")

    def test_other_columns(self, frame: Any) -> None:
        with pytest.raises(gs.DataError, match="the list of chunks differ in columns"):
            fit([frame, frame.drop(columns="a")], "y")
        with pytest.raises(gs.DataError, match=r"some chunks .* are frames"):
            fit([frame, MATRIX], LABEL)


class TestBadChunks:
    def test_a_generator(self) -> None:
        with pytest.raises(gs.DataError, match=r"read only once.*Dataset\(make_chunks\)"):
            fit(make_chunks())
        with pytest.raises(gs.DataError, match="read only once"):
            fit(iter([MATRIX]))

    def test_a_function_that_gives_it_once(self) -> None:
        once = make_chunks()
        with pytest.raises(gs.DataError, match="the same iterator each time"):
            fit(lambda: once)

    def test_nothing(self) -> None:
        with pytest.raises(gs.DataError, match="gives no chunks"):
            fit(lambda: [])
        with pytest.raises(gs.DataError, match="does not give chunks: got 'int'"):
            fit(lambda: 3)
        with pytest.raises(gs.DataError, match=r"no rows|no columns"):
            fit(Rows(MATRIX[:0]), LABEL[:0])

    def test_shapes(self) -> None:
        with pytest.raises(gs.DataError, match="differ in columns: got 3, expected 4"):
            fit([MATRIX, MATRIX[:, :3]], np.r_[LABEL, LABEL])
        with pytest.raises(gs.DataError, match="not a chunk of rows"):
            fit(lambda: [MATRIX[0]])
        with pytest.raises(gs.DataError, match=r"label and data differ in length"):
            fit([MATRIX], LABEL[:-1])

    def test_a_sequence_that_gives_other_rows(self) -> None:
        class Wrong(Rows):
            def __len__(self) -> int:
                return 600

        with pytest.raises(gs.DataError, match=r"the Wrong\[.*does not give these rows"):
            fit(Wrong(MATRIX), np.zeros(600))

    def test_names(self) -> None:
        with pytest.raises(gs.DataError, match="columns of the data have no names"):
            fit([MATRIX], "y")

    def test_linear_trees(self) -> None:
        params = {**PARAMS, "linear_tree": True}
        model = gs.train(params, gs.Dataset(make_chunks, LABEL), 2)
        same = gs.train(params, gs.Dataset(MATRIX, LABEL), 2)
        assert model.model_to_string() == same.model_to_string()


def test_a_sequence_of_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")

    class Theirs(lightgbm.Sequence):  # type: ignore[misc]
        batch_size = 50

        def __getitem__(self, index: Any) -> Any:
            return MATRIX[index]

        def __len__(self) -> int:
            return len(MATRIX)

    assert fit(Theirs()) == fit(MATRIX)


@pytest.mark.parametrize("size", [-1, 2.5, "64"])
def test_batch_sizes_that_cannot_be_used(size: Any) -> None:
    with pytest.raises(gs.GossamerError, match="batch_size cannot be used"):
        gs.Dataset(Rows(MATRIX, size), LABEL).construct()


def test_chunks_are_let_go() -> None:
    data = gs.Dataset([MATRIX], LABEL).construct()
    with pytest.raises(gs.DataError, match="freed"):
        data.get_data()
    kept = gs.Dataset([MATRIX], LABEL, free_raw_data=False).construct()
    assert kept.get_data()[0] is MATRIX
    assert gs.train({**PARAMS, "max_bin": 9}, kept, 1).num_trees() == 1


@pytest.mark.parametrize("parts", [Rows(MATRIX), [Rows(MATRIX[:123]), Rows(MATRIX[123:])]])
def test_rows_of_a_subset(parts: Any) -> None:
    data = gs.Dataset(parts, LABEL, free_raw_data=False).construct()
    rows = [3, 122, 123, 499]
    np.testing.assert_array_equal(data.subset(rows).construct().get_data(), MATRIX[rows])
