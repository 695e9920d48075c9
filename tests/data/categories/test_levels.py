"""Levels and codes: reading columns, whatever holds them."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer import Dataset
from gossamer.data.categories.levels import NO_LEVELS, Levels, levels_of
from gossamer.data.table.columns import LevelColumn, factorise, read_objects
from gossamer.data.table.matrix import as_table
from gossamer.errors import DataError

pd = pytest.importorskip("pandas")

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)  # Arrow has no surrogates
WORDS = st.lists(st.one_of(st.none(), TEXT), min_size=1, max_size=30)


def expected_codes(values: list[Any], levels: list[Any]) -> Any:
    return np.array([levels.index(v) if v in levels else np.nan for v in values])


def frames(values: list[Any]) -> dict[str, Any]:
    """A number and a column of text, in everything that can hold them."""
    numbers = [float(i) for i in range(len(values))]
    columns = {"n": numbers, "c": values}
    text = pd.Series(values, dtype=object)
    found: dict[str, Any] = {
        "array": np.array([*zip(numbers, values, strict=True)], dtype=object),
        "list": [list(row) for row in zip(numbers, values, strict=True)],
        "pandas object": pd.DataFrame({"n": numbers, "c": text}),
        "pandas str": pd.DataFrame({"n": numbers, "c": pd.array(values, dtype="str")}),
        "pandas string": pd.DataFrame({"n": numbers, "c": pd.array(values, dtype="string")}),
        "pandas category": pd.DataFrame({"n": numbers, "c": text.astype("category")}),
    }
    pa, pl = (_import(name) for name in ("pyarrow", "polars"))
    if pa is not None:
        strings = pa.array(values, type=pa.string())
        found["pyarrow"] = pa.table({"n": numbers, "c": strings})
        found["pyarrow dictionary"] = pa.table({"n": numbers, "c": strings.dictionary_encode()})
        parts = pa.chunked_array([strings[:3].dictionary_encode(), strings[3:].dictionary_encode()])
        found["pyarrow dictionaries"] = pa.table({"n": numbers, "c": parts})
        dtype = pd.ArrowDtype(pa.string())
        found["pandas arrow"] = pd.DataFrame({"n": numbers, "c": pd.array(values, dtype=dtype)})
    if pl is not None:
        found["polars"] = pl.DataFrame(columns, schema={"n": pl.Float64, "c": pl.String})
        found["polars category"] = pl.DataFrame(
            columns, schema={"n": pl.Float64, "c": pl.Categorical}
        )
        enum = pl.Enum(sorted({v for v in values if v is not None}))
        found["polars enum"] = pl.DataFrame(columns, schema={"n": pl.Float64, "c": enum})
    return found


def _import(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        return None


class TestEveryKindOfTable:
    @settings(max_examples=40, deadline=None)
    @given(WORDS, WORDS)
    def test_the_same_codes(self, train: list[Any], valid: list[Any]) -> None:
        levels = sorted({v for v in train if v is not None})
        # Without any text, objects are missing numbers; a type that says text keeps its word.
        for name, table in frames(train).items():
            read = as_table(table)
            numbers = np.arange(len(train))
            np.testing.assert_array_equal(read.values[:, 0], numbers, err_msg=name)
            np.testing.assert_array_equal(
                read.values[:, 1], expected_codes(train, levels), err_msg=name
            )
            if levels:
                assert read.levels == Levels({1: tuple(levels)}), name
        if not levels:
            return
        for name, table in frames(valid).items():
            read = as_table(table, Levels({1: tuple(levels)}))
            np.testing.assert_array_equal(
                read.values[:, 1], expected_codes(valid, levels), err_msg=name
            )

    @settings(max_examples=30, deadline=None)
    @given(WORDS.filter(lambda values: any(values)), st.randoms())
    def test_rows_in_another_order(self, values: list[Any], random: Any) -> None:
        shuffled = list(values)
        random.shuffle(shuffled)
        others = frames(shuffled)
        for name, table in frames(values).items():
            assert as_table(table).levels == as_table(others[name]).levels, name

    def test_columns_in_another_order(self) -> None:
        names = ["n", "c"]
        train = as_table(frames(["b", "a"])["pandas str"])
        for name, table in frames(["a", None, "b", "z"]).items():
            if not hasattr(table, "columns"):
                continue
            turned = table.select(["c", "n"]) if hasattr(table, "select") else table[["c", "n"]]
            read = as_table(turned, train.levels, names)
            np.testing.assert_array_equal(read.values[:, 0], [0, np.nan, 1, np.nan], err_msg=name)
            assert read.levels == Levels({0: ("a", "b")})
            back = read.take_columns([1, 0], names)
            assert back.levels == train.levels
            np.testing.assert_array_equal(back.values[:, 1], [0, np.nan, 1, np.nan])

    def test_many_levels(self) -> None:
        words = [f"level {i}" for i in range(70_000)]
        table = as_table(np.array(words[::-1], dtype=object).reshape(-1, 1))
        assert table.values.dtype == np.float32
        np.testing.assert_array_equal(table.values[:, 0], np.argsort(np.argsort(words[::-1])))


class TestReading:
    def test_numbers_are_not_copied_more_than_needed(self) -> None:
        numbers = np.arange(6, dtype=np.float32).reshape(3, 2)
        frame = pd.DataFrame(numbers, columns=["a", "b"], copy=False).assign(c=["x", "y", "x"])
        assert as_table(frame).values.dtype == np.float32, "codes do not widen the numbers"
        assert np.shares_memory(as_table(frame[["a", "b"]], NO_LEVELS).values, numbers)

    def test_order_of_categories(self) -> None:
        dtype = pd.CategoricalDtype(["z", "never", "a"])
        table = as_table(pd.DataFrame({"c": pd.Series(["a", "z", None], dtype=dtype)}))
        assert table.levels == Levels({0: ("z", "never", "a")})
        np.testing.assert_array_equal(table.values[:, 0], [2, 0, np.nan])
        assert table.kinds == {0: "category"}

    def test_kinds(self) -> None:
        size = pd.CategoricalDtype(["S", "L"], ordered=True)
        frame = pd.DataFrame(
            {
                "text": ["a", "b"],
                "size": pd.Series(["L", "S"], dtype=size),
                "id": pd.Categorical([30, 7]),
                "flag": pd.Categorical([True, False]),
                "truth": [True, False],
            }
        )
        table = as_table(frame)
        assert table.kinds == {0: "text", 1: "ordered", 2: "category", 3: "category"}
        assert table.levels is not None
        assert table.levels.by_column[2] == (7, 30)
        assert [type(v) for v in table.levels.by_column[3]] == [bool, bool]
        np.testing.assert_array_equal(table.values, [[0, 1, 1, 1, 1], [1, 0, 0, 0, 0]])

    @pytest.mark.parametrize("code", [2, 77, -2])
    def test_codes_outside_of_a_dictionary(self, code: int) -> None:
        pa = pytest.importorskip("pyarrow")
        words = pa.DictionaryArray.from_arrays(pa.array([0, code]), ["x", "y"], safe=False)
        with pytest.raises(DataError, match=rf"outside of its dictionary: got {code}, expected 0"):
            as_table(pa.table({"c": words}))

    def test_polars_enum_and_ordered_dictionary_keep_their_order(self) -> None:
        pa = pytest.importorskip("pyarrow")
        words = pa.DictionaryArray.from_arrays([1, None, 0], ["z", "a"], ordered=True)
        table = as_table(pa.table({"c": words}))
        assert (table.levels, table.kinds) == (Levels({0: ("z", "a")}), {0: "ordered"})
        np.testing.assert_array_equal(table.values[:, 0], [1, np.nan, 0])
        pl = pytest.importorskip("polars")
        frame = pl.DataFrame({"c": ["a", "z", None]}, schema={"c": pl.Enum(["z", "n", "a"])})
        assert as_table(frame).levels == Levels({0: ("z", "n", "a")})

    def test_dictionaries_with_gaps_and_repetitions(self) -> None:
        pa = pytest.importorskip("pyarrow")
        words = pa.DictionaryArray.from_arrays([0, 1, 2, 3], ["b", None, "a", "b"], safe=False)
        table = as_table(pa.table({"c": words}))
        assert table.levels == Levels({0: ("a", "b")})
        np.testing.assert_array_equal(table.values[:, 0], [1, np.nan, 0, 1])
        numbers = as_table(pa.table({"c": pa.array([5, 3, None, 5]).dictionary_encode()}))
        assert numbers.levels == Levels({0: (3, 5)})

    def test_other_frames_of_numbers(self) -> None:
        pa = pytest.importorskip("pyarrow")
        table = as_table(pa.table({"i": [1, None], "b": [True, None], "f": [0.5, np.nan]}))
        np.testing.assert_array_equal(table.values, [[1, 1, 0.5], [np.nan, np.nan, np.nan]])
        assert table.levels is None and table.names == ["i", "b", "f"]

    def test_objects_that_are_numbers_stay_numbers(self) -> None:
        from decimal import Decimal

        array = np.array(
            [[1, True, None, 0.5], [2**60 + 1, False, pd.NA, Decimal(2)]], dtype=object
        )
        table = as_table(array)
        assert table.levels is None
        np.testing.assert_array_equal(table.values, [[1, 1, np.nan, 0.5], [2**60, 0, np.nan, 2]])
        whole = as_table(array[:, :1])
        assert whole.values.tolist() == [[1], [2**60 + 1]]
        mixed = as_table(np.array([[Decimal("sNaN")], ["x"]], dtype=object))
        np.testing.assert_array_equal(mixed.values, [[np.nan], [0]])
        decimals = as_table(np.array([[Decimal("sNaN")], [Decimal("NaN")], [Decimal(3)]]))
        np.testing.assert_array_equal(decimals.values, [[np.nan], [np.nan], [3]])

    def test_integers_of_128_bits(self) -> None:
        pl = pytest.importorskip("polars")
        for kind in (pl.Int128, pl.UInt128):
            table = as_table(pl.DataFrame({"i": pl.Series([2**100, None], dtype=kind)}))
            np.testing.assert_array_equal(table.values, [[2.0**100], [np.nan]])

    def test_text_that_is_not_utf_8(self) -> None:
        pa = pytest.importorskip("pyarrow")
        text = pa.array([b"\xff\xfe"] * 2).view(pa.string())
        codes = pa.DictionaryArray.from_arrays(pa.array([0, 0]), text)
        for values in (text, codes):
            table = pa.table({"city": values})
            with pytest.raises(DataError, match=r"column 'city' .* text that is not UTF-8"):
                as_table(table)
        with pytest.raises(DataError, match=r"column 'city' .* text that is not UTF-8"):
            as_table(pa.table({"city": text}).to_pandas(types_mapper=pd.ArrowDtype))

    def test_arrays_of_text(self) -> None:
        table = as_table(np.array([["b", "x"], ["a", "x"]]))
        assert table.levels == Levels({0: ("a", "b"), 1: ("x",)})
        np.testing.assert_array_equal(table.values, [[1, 0], [0, 0]])

    def test_text_in_lists_does_not_make_text_of_numbers(self) -> None:
        table = as_table([["a", 1.5], ["b", 2]])
        assert table.levels == Levels({0: ("a", "b")})
        np.testing.assert_array_equal(table.values, [[0, 1.5], [1, 2]])

    def test_masked_text_is_missing(self) -> None:
        for array in (np.array([["a"], ["b"]], dtype=object), np.array([["a"], ["b"]])):
            table = as_table(np.ma.array(array, mask=[[True], [False]]))
            assert table.levels == Levels({0: ("b",)})
            np.testing.assert_array_equal(table.values, [[np.nan], [0]])

    def test_types_that_only_one_library_has(self) -> None:
        pa = pytest.importorskip("pyarrow")
        words = ["b", None, "a"]
        for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
            column = pa.array(words, type=kind)
            tables = [pa.table({"c": column})]
            if kind != pa.string_view():  # pandas does not know it
                tables.append(pd.DataFrame({"c": pd.Series(column, dtype=pd.ArrowDtype(kind))}))
            for table in tables:
                read = as_table(table)
                assert read.levels == Levels({0: ("a", "b")}), kind
                np.testing.assert_array_equal(read.values[:, 0], [1, np.nan, 0])
        empty = as_table(pa.table({"c": words, "none": pa.nulls(3)}))
        assert np.isnan(empty.values[:, 1]).all() and empty.levels == Levels({0: ("a", "b")})

    def test_missing_truth_values(self) -> None:
        pl = pytest.importorskip("polars")
        for table in (pl.DataFrame({"b": [True, None]}), pd.DataFrame({"b": [True, None]})):
            np.testing.assert_array_equal(as_table(table).values, [[1], [np.nan]])

    def test_names_that_are_not_different(self) -> None:
        pa = pytest.importorskip("pyarrow")
        with pytest.raises(DataError, match="the same name twice: got 'a'"):
            as_table(pa.table([[1], ["x"]], names=["a", "a"]))
        table = as_table(pd.DataFrame([[1, "x"]], columns=["a", "a"]))
        np.testing.assert_array_equal(table.values, [[1, 0]])

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (np.array([[10**400]], dtype=object), "column 0 holds a number that is too large"),
            ([["a"], [1]], "column 0 holds both text and numbers: got 1.*astype"),
            (pd.DataFrame({"c": ["a", 2.5]}), "column 'c' .* both text and numbers: got 2.5"),
            (pd.DataFrame({"c": pd.Categorical(["a", 1])}), "both text and numbers"),
            (pd.DataFrame({"c": pd.cut([1, 2], 2)}), "'c' .* category that cannot be used"),
            (pd.DataFrame({"c": pd.Categorical([1.0, np.inf])}), "cannot be used: got inf"),
            (
                np.array([["a"], [["list"]]], dtype=object),
                "cannot be made|neither numbers nor text",
            ),
            (pd.DataFrame({"c": [{}, "a"]}), "'c' .* neither numbers nor text: got 'dict'"),
            (pd.DataFrame({"c": [b"a", "a"]}), "neither numbers nor text: got 'bytes'"),
            (pd.DataFrame({"c": [pd.Timestamp(0), "a"]}), "neither .*: got 'Timestamp'"),
        ],
    )
    def test_what_cannot_be_levels(self, data: Any, words: str) -> None:
        with pytest.raises(DataError, match=words):
            as_table(data)

    @settings(max_examples=50)
    @given(st.lists(st.one_of(st.none(), st.just(float("nan")), TEXT), max_size=20))
    def test_factorise_without_pandas(self, values: list[Any]) -> None:
        array = np.array([*values, None], dtype=object)[:-1]
        hidden = sys.modules.pop("pandas")
        try:
            positions, found = factorise(array)
        finally:
            sys.modules["pandas"] = hidden
        again, found_again = factorise(array)
        np.testing.assert_array_equal(positions, again)
        assert found == found_again


class TestLikeTraining:
    def test_numbers_are_matched_by_value(self) -> None:
        levels = Levels({0: (2**60, 3, 7)})
        for values in ([3, 2**60 + 1, 2**60], np.array([3, 2**60 + 1, 2**60])):
            np.testing.assert_array_equal(levels.encode(0, values), [1, np.nan, 0])
        frame = pd.DataFrame({"c": [3.0, np.nan, 7.5]})
        np.testing.assert_array_equal(as_table(frame, levels).values[:, 0], [1, np.nan, np.nan])
        truth = Levels({0: (False, True)})
        np.testing.assert_array_equal(truth.encode(0, np.array([True, False])), [1, 0])

    def test_categories_of_numbers_for_a_column_of_numbers(self) -> None:
        frame = pd.DataFrame({"c": pd.Categorical([30, None, 7])})
        np.testing.assert_array_equal(as_table(frame, NO_LEVELS).values[:, 0], [30, np.nan, 7])

    @pytest.mark.parametrize("data", [[[None]], np.array([[np.nan]]), pd.DataFrame({"c": [None]})])
    def test_missing_fits_everything(self, data: Any) -> None:
        for levels in (NO_LEVELS, Levels({0: ("a",)}), Levels({0: (1,)}), Levels({0: ()})):
            assert np.isnan(as_table(data, levels).values[0, 0])

    @pytest.mark.parametrize(
        ("data", "levels", "words"),
        [
            ([["1"]], NO_LEVELS, "column 0 .*training data: got text such as .*, expected numbers"),
            ([["1"]], Levels({0: (1,)}), "got text such as .*, expected numbers"),
            ([[1]], Levels({0: ("1",)}), "got numbers, expected text.*not their codes"),
            (pd.DataFrame({"a": [1]}), Levels({0: ("1",)}), "column 'a' .*got numbers"),
            (
                pd.DataFrame({"a": ["x"]}),
                NO_LEVELS,
                "column 'a' of the data frame has another type",
            ),
            (pd.DataFrame({"a": pd.Categorical([1])}), Levels({0: ("1",)}), "got numbers"),
        ],
    )
    def test_text_is_no_number(self, data: Any, levels: Levels, words: str) -> None:
        with pytest.raises(DataError, match=words):
            as_table(data, levels)

    def test_sparse_matrices_have_no_levels(self) -> None:
        from scipy.sparse import csr_array

        with pytest.raises(DataError, match="sparse matrix cannot hold the levels"):
            as_table(csr_array(np.eye(2)), Levels({1: ("a",)}))


LEVELS = st.dictionaries(
    st.integers(0, 9),
    st.one_of(
        st.lists(st.text(max_size=5), unique=True),
        st.lists(st.one_of(st.booleans(), st.integers(-(2**63), 2**64 - 1)), unique=True),
        st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True),
    ),
)


class TestJson:
    @settings(suppress_health_check=[HealthCheck.too_slow])
    @given(LEVELS)
    def test_round_trip(self, by_column: Any) -> None:
        levels = Levels({column: tuple(found) for column, found in by_column.items()})
        again = Levels.from_json(json.loads(json.dumps(levels.to_json())), 10)
        assert again == levels and hash(again) == hash(levels)
        assert again.columns == sorted(by_column)

    @pytest.mark.parametrize("others", [("1",), (1.0,), (True,), (2,), (1, 2), ()])
    def test_types_differ(self, others: Any) -> None:
        assert Levels({0: (1,)}) != Levels({0: others})
        assert Levels({0: (1,)}) != Levels({1: (1,)})
        assert Levels({0: (1,)}) == Levels({0: (1,)})

    @pytest.mark.parametrize(
        ("found", "words"),
        [
            ({"0": ["a"]}, "not a list of columns"),
            ([["a"]], "not a list of columns"),
            ([[2, ["a"]]], "column that is not there"),
            ([[-1, ["a"]]], "column that is not there"),
            ([[True, ["a"]]], "column that is not there"),
            ([["0", ["a"]]], "column that is not there"),
            ([[1, ["a"]], [0, ["a"]]], "not in order"),
            ([[0, ["a"]], [0, ["a"]]], "not in order"),
            ([[0, "ab"]], "neither text nor a finite number"),
            ([[0, [None]]], "neither text nor a finite number"),
            ([[0, [["a"]]]], "neither text nor a finite number"),
            ([[0, [2**64]]], "neither text nor a finite number"),
            ([[0, [float("nan")]]], "neither text nor a finite number"),
            ([[0, ["1", 1]]], "text and numbers"),
            ([[0, ["a", "a"]]], "same level twice"),
            ([[0, [1, 1.0]]], "same level twice"),
        ],
    )
    def test_what_is_broken_is_refused(self, found: Any, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            Levels.from_json(found, 2)


def test_levels_of_text_are_sorted_by_code_point() -> None:
    column = read_objects(np.array(["é", "z", "Z", "a"], dtype=object), "column 0")
    assert isinstance(column, LevelColumn)
    assert levels_of(column) == ("Z", "a", "z", "é")


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([f"{i}.5" for i in range(200)], "numbers"),
        ([f"{i},5" for i in range(200)], "numbers"),
        ([f"$1,{i + 100}" for i in range(200)], "numbers"),
        ([f"{i % 28 + 1}.{i % 12 + 1}.2024" for i in range(200)], "dates"),
        ([*(f"{i}" for i in range(199)), "broken"], "numbers"),
        ([*(f"{i}" for i in range(190)), *["n.a."] * 10], "numbers"),
    ],
)
def test_text_that_is_numbers_warns(values: list[str], word: str) -> None:
    frame = pd.DataFrame({"x": values, "z": np.arange(200)})
    with pytest.warns(UserWarning, match=f"column 'x' of the data frame is text.*are {word}"):
        Dataset(frame, np.arange(200)).construct()


@pytest.mark.parametrize(
    "values",
    [
        [str(i % 7) for i in range(200)],
        [f"A{i % 50}" for i in range(200)],
        pd.Categorical([str(i % 50) for i in range(200)]),
    ],
)
def test_codes_do_not_warn(values: Any) -> None:
    frame = pd.DataFrame({"x": values, "z": np.arange(200)})
    Dataset(frame, np.arange(200)).construct()
