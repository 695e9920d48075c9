"""Tables that can be read only once: each is read once, and every row is predicted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.data.chunks import chunked_frame
from gossamer.data.files import columnar

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")
parquet = pytest.importorskip("pyarrow.parquet")
arrow_dataset = pytest.importorskip("pyarrow.dataset")

N = 500
RNG = np.random.default_rng(0)
TABLE = pyarrow.table(
    {
        "x": RNG.normal(size=N),
        "town": pyarrow.array(RNG.choice(["Rome", "Bern", "Oslo"], N)),
        "b": RNG.integers(0, 50, N),
    }
)
LABEL = TABLE["x"].to_numpy() + 0.1 * TABLE["b"].to_numpy()
PARAMS = {"num_leaves": 7, "verbose": -1, "num_threads": 1}


def reader() -> Any:
    return pyarrow.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=60))


class Once:
    """A stream behind Arrow's interface that can be read only once."""

    def __init__(self) -> None:
        self._reader = reader()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        if self._reader is None:
            raise RuntimeError("this stream was read before")
        stream, self._reader = self._reader, None
        return stream.__arrow_c_stream__(requested_schema)


class Query:
    """A query, as DuckDB's relations are: it runs again each time its rows are asked for."""

    def __init__(self) -> None:
        self.n_runs = 0

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        self.n_runs += 1
        return reader().__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def booster() -> gs.Booster:
    return gs.train(PARAMS, gs.Dataset(TABLE, LABEL), 10)


@pytest.fixture(params=["small", "large"])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Frames that are made a matrix as a whole, and those that are predicted in blocks."""
    if request.param == "large":
        monkeypatch.setattr(chunked_frame, "_LARGE", 10)
        monkeypatch.setattr(chunked_frame, "CHUNK_VALUES", 300)
    yield


@pytest.mark.usefixtures("_sizes")
@pytest.mark.parametrize("make", [reader, Once, Query, lambda: polars.from_arrow(TABLE).lazy()])
@pytest.mark.parametrize("wanted", [{}, {"pred_leaf": True}, {"pred_contrib": True}])
def test_predictions_are_those_of_the_table(
    booster: gs.Booster, make: Any, wanted: dict[str, bool]
) -> None:
    expected = booster.predict(TABLE, **wanted)
    assert len(expected) == N
    np.testing.assert_array_equal(booster.predict(make(), **wanted), expected)


@pytest.mark.usefixtures("_sizes")
def test_a_query_runs_once(booster: gs.Booster) -> None:
    query = Query()
    booster.predict(query)
    assert query.n_runs == 1
    runs = []

    def count(frame: Any) -> Any:
        runs.append(len(frame))
        return frame

    booster.predict(polars.from_arrow(TABLE).lazy().map_batches(count))
    assert runs == [N]


def test_a_stream_that_was_read_before_is_an_error(booster: gs.Booster) -> None:
    stream = reader()
    booster.predict(stream)
    with pytest.raises(gs.DataError, match=r"the stream has no rows.*read only once"):
        booster.predict(stream)


def test_estimators_predict_streams_and_leave_out_the_label() -> None:
    frame = TABLE.to_pandas().drop(columns="town").assign(y=LABEL)
    model = gs.GossamerRegressor(n_estimators=5).fit(frame, "y")
    expected = model.predict(frame)
    stream = pyarrow.Table.from_pandas(frame.drop(columns="y"))
    batches = pyarrow.RecordBatchReader.from_batches(stream.schema, stream.to_batches())
    np.testing.assert_array_equal(model.predict(batches), expected)


def test_refit_and_the_models_of_cv_read_a_stream_once(booster: gs.Booster) -> None:
    expected = booster.refit(TABLE, LABEL).predict(TABLE)
    np.testing.assert_array_equal(booster.refit(reader(), LABEL).predict(TABLE), expected)
    found: Any = gs.cv(PARAMS, gs.Dataset(TABLE, LABEL), 3, nfold=2, return_cvbooster=True)
    models = found["cvbooster"]
    np.testing.assert_array_equal(models.predict(reader()), models.predict(TABLE))
    np.testing.assert_array_equal(models.predict(data=reader()), models.predict(data=TABLE))


class TestArrowDataset:
    @pytest.fixture(autouse=True)
    def _small_chunks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(columnar, "_CHUNK_VALUES", 300)
        monkeypatch.setattr(columnar, "_FEWEST_ROWS", 10)

    @pytest.fixture
    def dataset(self, tmp_path: Any) -> Any:
        table = TABLE.append_column("y", pyarrow.array(LABEL))
        for i in range(2):
            part = table.slice(i * N // 2, N // 2)
            parquet.write_table(part, tmp_path / f"{i}.parquet")
        return arrow_dataset.dataset(tmp_path)

    def test_it_trains_and_predicts_as_the_table(self, dataset: Any, booster: gs.Booster) -> None:
        model = gs.train(PARAMS, gs.Dataset(dataset, label="y"), 10)
        assert model.model_to_string() == booster.model_to_string()
        np.testing.assert_array_equal(booster.predict(dataset), booster.predict(TABLE))

    def test_it_is_never_in_memory_as_a_whole(self, dataset: Any, booster: gs.Booster) -> None:
        source = columnar.ArrowDataset(dataset)
        assert max(chunk.num_rows for chunk in source.read()) <= 150
        assert source.n_rows == N

    def test_explanations_and_scanners_read_it_as_a_whole(
        self, dataset: Any, booster: gs.Booster
    ) -> None:
        only = dataset.scanner(columns=["x", "town", "b"])
        expected = booster.shap_values(TABLE)
        np.testing.assert_array_equal(booster.shap_values(only), expected)
        np.testing.assert_array_equal(booster.predict(only), booster.predict(TABLE))

    def test_damaged_files_are_named(self, tmp_path: Any, booster: gs.Booster) -> None:
        path = tmp_path / "a.parquet"
        parquet.write_table(TABLE, path)
        dataset = arrow_dataset.dataset(tmp_path)
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.raises(
            gs.DataError, match=r"the FileSystemDataset cannot be read .*a\.parquet"
        ):
            booster.predict(dataset)


@pytest.mark.parametrize(
    "row", [{"x": 0.5, "town": "Rome", "b": None}, TABLE.to_pandas().iloc[0], {"x": 1}]
)
def test_a_single_row_is_told_about_predictor(booster: gs.Booster, row: Any) -> None:
    for call in (booster.predict, booster.shap_values):
        with pytest.raises(gs.DataError, match=r"Booster\.predictor\(\) predicts single rows"):
            call(row)


def test_estimators_tell_of_predictor_too() -> None:
    model = gs.GossamerRegressor(n_estimators=2).fit({"a": np.arange(99.0)}, np.arange(99))
    for row in ({"a": 1.0}, pandas.Series({"a": 1.0})):
        with pytest.raises(gs.DataError, match=r"predictor\(\) predicts single rows"):
            model.predict(row)


class TestDatesInText:
    @pytest.mark.parametrize("frequency", ["D", "77min", "77123457ns"])
    @pytest.mark.parametrize("zone", [None, "Europe/Berlin", "UTC"])
    def test_a_model_of_dates_predicts_the_csv_file(
        self, tmp_path: Any, frequency: str, zone: str | None
    ) -> None:
        when = pandas.date_range("2020-03-01", periods=N, freq=frequency, tz=zone)
        frame = pandas.DataFrame({"when": when, "clock": when.time, "x": RNG.normal(size=N)})
        frame.loc[::50, "when"] = None
        model = gs.train(PARAMS, gs.Dataset(frame, np.arange(N) % 100), 20)
        path = tmp_path / "rows.csv"
        frame.to_csv(path, index=False)
        expected = model.predict(frame)
        assert len(np.unique(expected)) > 10
        np.testing.assert_array_equal(model.predict(path), expected)
        np.testing.assert_array_equal(model.predict(pandas.read_csv(path)), expected)

    @pytest.mark.parametrize(
        "text", ["2020", "yesterday", "2020-13-01", "25:00", "1 Mar 2020", "Z"]
    )
    def test_other_text_is_an_error(self, text: str) -> None:
        frame = pandas.DataFrame({"when": pandas.date_range("2020", periods=N), "x": 1.0})
        model = gs.train(PARAMS, gs.Dataset(frame, np.arange(N)), 2)
        with pytest.raises(gs.DataError, match=r"got text such as .*, expected numbers"):
            model.predict(pandas.DataFrame({"when": ["2020-01-01", text], "x": 1.0}))
