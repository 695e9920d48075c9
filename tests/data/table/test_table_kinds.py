"""Every kind of table gives the same model, and the same predictions, as any other."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer as gs
from gossamer.data.table.matrix import as_table
from gossamer.data.table.table_kinds import as_known
from gossamer.data.table.times import to_seconds

N = 300
RNG = np.random.default_rng(0)
COLUMNS: dict[str, Any] = {
    "x": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
    "count": RNG.integers(0, 50, N),
    "flag": RNG.random(N) < 0.4,
    "town": np.array(["Rome", "Bern", "Oslo"], dtype=object)[RNG.integers(0, 3, N)],
    "when": np.datetime64("2020-01-01T00:00", "us")
    + RNG.integers(0, 10**6, N).astype("timedelta64[s]"),
}
Y = np.nan_to_num(COLUMNS["x"]) + 0.1 * COLUMNS["count"] + (COLUMNS["town"] == "Oslo")
PARAMS = {"num_leaves": 7, "verbose": -1, "num_threads": 1}


def pandas_frame() -> Any:
    return pytest.importorskip("pandas").DataFrame(COLUMNS)


def polars_frame() -> Any:
    polars = pytest.importorskip("polars")
    return polars.DataFrame({k: v.tolist() if k == "town" else v for k, v in COLUMNS.items()})


def arrow_table() -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({k: pyarrow.array(v, from_pandas=True) for k, v in COLUMNS.items()})


class Capsule:
    """What only speaks Arrow."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def records() -> list[dict[str, Any]]:
    lists = {k: v.tolist() if k != "when" else list(v) for k, v in COLUMNS.items()}
    return [
        {
            name: values[i] if name != "when" else values[i].astype(object)
            for name, values in lists.items()
        }
        for i in range(N)
    ]


def structured() -> Any:
    array = np.empty(
        N, [("x", "f8"), ("count", "i8"), ("flag", "?"), ("town", "U4"), ("when", "M8[ms]")]
    )
    for name, values in COLUMNS.items():
        array[name] = values
    return array


KINDS: dict[str, Callable[[], Any]] = {
    "pandas": pandas_frame,
    "pandas nullable": lambda: pandas_frame().convert_dtypes(),
    "pandas string": lambda: pandas_frame().astype({"town": "string"}),
    "pandas of pyarrow": lambda: (
        pytest.importorskip("pyarrow") and pandas_frame().convert_dtypes(dtype_backend="pyarrow")
    ),
    "pandas with a time zone": lambda: pandas_frame().assign(
        when=pandas_frame()["when"].dt.tz_localize("UTC")
    ),
    "pandas in nanoseconds": lambda: pandas_frame().astype({"when": "datetime64[ns]"}),
    "polars": polars_frame,
    "polars lazy": lambda: polars_frame().lazy(),
    "polars with a time zone": lambda: polars_frame().with_columns(
        pytest.importorskip("polars").col("when").dt.replace_time_zone("UTC")
    ),
    "pyarrow": arrow_table,
    "pyarrow batch": lambda: arrow_table().combine_chunks().to_batches()[0],
    "pyarrow chunks": lambda: (
        sys.modules["pyarrow"].concat_tables([arrow_table()[:100], arrow_table()[100:]])
        if arrow_table() is not None
        else None
    ),
    "arrow interface": lambda: Capsule(arrow_table()),
    "dict": lambda: dict(COLUMNS),
    "dict of lists": lambda: {k: v.tolist() if k != "when" else v for k, v in COLUMNS.items()},
    "dict of series": lambda: dict(pandas_frame().items()),
    "structured": structured,
    "records": records,
}


@pytest.fixture(scope="module")
def reference() -> gs.Booster:
    return gs.train(PARAMS, gs.Dataset(dict(COLUMNS), Y), 5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_model(kind: str, reference: gs.Booster) -> None:
    model = gs.train(PARAMS, gs.Dataset(KINDS[kind](), Y), 5)
    assert model.feature_name() == list(COLUMNS)
    if "time zone" in kind:  # the model remembers it
        assert model.model.times == {4: "date in UTC"}
        assert model.dump_model()["tree_info"] == reference.dump_model()["tree_info"]
    else:
        assert model.model_to_string() == reference.model_to_string()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_predictions(kind: str, reference: gs.Booster) -> None:
    expected = reference.predict(dict(COLUMNS))
    np.testing.assert_array_equal(reference.predict(KINDS[kind]()), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_by_name(kind: str, reference: gs.Booster) -> None:
    table = KINDS[kind]()
    order = list(COLUMNS)[::-1]
    if isinstance(table, dict):
        table = {name: table[name] for name in order}
    elif isinstance(table, list):
        table = [{name: record[name] for name in order} for record in table]
    elif hasattr(table, "select") and not hasattr(table, "iloc"):
        table = table.select(order)
    elif isinstance(table, Capsule):
        table = Capsule(table.table.select(order))
    else:
        table = table[order]
    np.testing.assert_array_equal(reference.predict(table), reference.predict(dict(COLUMNS)))
    valid = gs.Dataset(dict(COLUMNS), Y).create_valid(table, Y).construct()
    assert valid.num_data() == N


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict", "structured"])
def test_estimators_take_them(kind: str) -> None:
    pytest.importorskip("sklearn")
    table = KINDS[kind]()
    model = gs.GossamerRegressor(n_estimators=3, verbose=-1).fit(table, Y)
    assert np.isfinite(model.predict(table)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_label_by_name(kind: str) -> None:
    table = KINDS[kind]()
    if isinstance(table, Capsule):
        pytest.skip("pyarrow itself is tried")
    expected = gs.Dataset({k: v for k, v in COLUMNS.items() if k != "count"}, COLUMNS["count"])
    found = gs.Dataset(table, label="count").construct()
    assert found.get_feature_name() == ["x", "flag", "town", "when"]
    np.testing.assert_array_equal(found.get_label(), expected.construct().get_label())
    with pytest.raises(gs.DataError, match="counts"):
        gs.Dataset(KINDS[kind](), label="counts").construct()


class TestTensors:
    def test_dlpack(self) -> None:
        class Tensor:
            """Only DLPack."""

            def __init__(self, array: Any) -> None:
                self.array = array

            def __dlpack__(self, **arguments: Any) -> Any:
                return self.array.__dlpack__(**arguments)

            def __dlpack_device__(self) -> Any:
                return self.array.__dlpack_device__()

        array = np.arange(6.0).reshape(3, 2)
        found = as_table(Tensor(array)).values
        np.testing.assert_array_equal(found, array)
        assert np.shares_memory(found, array)

    def test_torch(self) -> None:
        torch = pytest.importorskip("torch")
        tensor = torch.arange(6, dtype=torch.float32).reshape(3, 2)
        assert as_table(tensor).values.dtype == np.float32
        assert as_table(tensor.clone().requires_grad_()).values[2, 1] == 5
        with pytest.raises(gs.DataError, match="tensor cannot be read"):
            as_table(tensor.to(torch.bfloat16))

    def test_another_device(self) -> None:
        class Far:
            device = "cuda:0"

            def __dlpack__(self) -> None:
                raise AssertionError("not asked for")

        with pytest.raises(gs.DataError, match=r"another device: got 'cuda:0'.*\.cpu\(\)"):
            as_table(Far())


class TestBadTables:
    def test_columns_that_differ_in_length(self) -> None:
        with pytest.raises(gs.DataError, match="column 'b' and column 'a' differ in length: got 1"):
            as_table({"a": [1, 2], "b": [1]})

    def test_names_that_are_the_same(self) -> None:
        with pytest.raises(gs.DataError, match="same name twice"):
            as_table({"1": [1.0], 1: [2.0]})

    def test_columns_of_tables(self) -> None:
        with pytest.raises(gs.DataError, match="column 'a' is not one value for each row"):
            as_table({"a": [[1, 2], [3, 4]]})

    def test_no_columns(self) -> None:
        with pytest.raises(gs.DataError, match="data has no rows"):
            gs.Dataset({}).construct()

    def test_nested_columns(self) -> None:
        pyarrow = pytest.importorskip("pyarrow")
        with pytest.raises(gs.DataError, match="column 'a' of the data frame is not numeric"):
            as_table(pyarrow.table({"a": [[1, 2], [3]]}))
        polars = pytest.importorskip("polars")
        with pytest.raises(gs.DataError, match="column 'a' of the data frame is not numeric"):
            as_table(polars.DataFrame({"a": [[1, 2], [3]]}))

    def test_arrow_without_pyarrow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(gs.DataError, match="need pyarrow"):
            as_known(Capsule(None))

    def test_strings_do_not_abort(self) -> None:
        """What LightGBM 4.7 ends the whole process for."""
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"a": ["x", "y"] * 20})
        model = gs.train({"verbose": -1, "min_data_in_leaf": 1}, gs.Dataset(frame, [0, 1] * 20), 1)
        assert model.levels is not None


class TestTimes:
    @given(st.integers(-(2**40), 2**40), st.sampled_from(["ms", "us", "ns"]))
    def test_the_unit_does_not_matter(self, milliseconds: int, unit: str) -> None:
        moment = np.array([milliseconds], dtype="datetime64[ms]")
        in_unit = moment.astype(f"datetime64[{unit}]")
        assert to_seconds(in_unit) == to_seconds(moment)
        np.testing.assert_allclose(to_seconds(moment), milliseconds / 1000, rtol=1e-15)

    @pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "25s"])
    def test_units(self, unit: str) -> None:
        moment = np.array(["1972-01-01", "NaT"], dtype="datetime64[s]").astype(f"M8[{unit}]")
        found = to_seconds(moment)
        expected = moment[:1].astype("M8[s]").astype(np.int64)
        assert found[0] == expected[0] and np.isnan(found[1])

    def test_dates_spans_and_times_of_day(self) -> None:
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(
            {
                "date": [datetime.date(1970, 1, 2), None],
                "span": [datetime.timedelta(minutes=2), None],
                "time": [datetime.time(1, 0, 0, 500_000), None],
            }
        )
        for table in (frame, frame.to_arrow()):
            values = as_table(table).values
            np.testing.assert_array_equal(values[0], [86400.0, 120.0, 3600.5])
            assert np.isnan(values[1]).all()

    def test_arrays_of_moments(self) -> None:
        moments = np.array([["1970-01-01", "1970-01-02"]], dtype="datetime64[D]")
        np.testing.assert_array_equal(as_table(moments).values, [[0.0, 86400.0]])

    def test_other_byte_orders_and_strides(self) -> None:
        moments = np.arange(6, dtype=">i8").view(">M8[s]").reshape(3, 2)[:, 1]
        np.testing.assert_array_equal(to_seconds(moments), [1, 3, 5])


class TestNames:
    NAMES = (
        "a b",
        "[x]",
        '"q"',
        "größe",
        "日本",
        "a\nb",
        "",
        "{}",
        "a,b",
        "Column_7",
        "=",
        "x" * 999,
    )

    def test_any_name(self) -> None:
        x = np.random.default_rng(0).normal(size=(50, len(self.NAMES)))
        frame = dict(zip(self.NAMES, x.T, strict=True))
        model = gs.train({"verbose": -1, "min_data_in_leaf": 2}, gs.Dataset(frame, x[:, 0]), 2)
        again = gs.Booster(model_str=model.model_to_string())
        assert again.feature_name() == list(self.NAMES)
        backwards = dict(reversed(list(frame.items())))
        np.testing.assert_array_equal(again.predict(backwards), model.predict(x))

    def test_several_lines_of_names(self) -> None:
        pandas = pytest.importorskip("pandas")
        columns = pandas.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
        frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=columns)
        model = gs.train({"verbose": -1}, gs.Dataset(frame, frame["a", 1]), 2)
        assert model.feature_name() == ["('a', 1)", "('a', 2)", "('b', 1)"]
        shuffled = frame[[("b", 1), ("a", 1), ("a", 2)]]
        np.testing.assert_array_equal(model.predict(shuffled), model.predict(frame))
