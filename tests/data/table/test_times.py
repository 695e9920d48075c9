"""Dates and times as Python objects, in lists, dicts, arrays of objects and single rows."""

from __future__ import annotations

from datetime import date, datetime, time, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer as gs
from gossamer.data.table.columns import read_objects
from gossamer.data.table.times import seconds_of, to_seconds

DAYS = np.datetime64("2024-01-01") + np.arange(300).astype("timedelta64[D]")


@pytest.fixture(scope="module")
def model() -> gs.Booster:
    data = gs.Dataset({"day": DAYS, "word": ["a", "b", "c"] * 100}, np.arange(300.0))
    return gs.train({"verbose": -1, "num_threads": 1}, data, 20)


@pytest.mark.parametrize(
    "moment",
    [
        np.datetime64("2024-05-01"),
        np.datetime64("2024-05-01T00:00:00.000000000"),
        date(2024, 5, 1),
        datetime(2024, 5, 1),
        datetime(2024, 5, 1, tzinfo=timezone.utc),
    ],
    ids=str,
)
def test_one_row_and_tables_agree(model: gs.Booster, moment: object) -> None:
    table = {"day": np.array(["2024-05-01"], "datetime64[D]"), "word": ["a"]}
    expected = model.predict(table)
    assert model.predict({"day": [moment], "word": ["a"]}) == expected
    assert model.predictor()({"day": moment, "word": "a"}) == expected[0]
    assert model.predictor()([moment, "a"]) == expected[0]
    assert model.predict([{"word": "a", "day": moment}]) == expected


def test_training_on_objects_is_training_on_arrays(model: gs.Booster) -> None:
    days = [day.astype(object) for day in DAYS]
    data = gs.Dataset({"day": days, "word": ["a", "b", "c"] * 100}, np.arange(300.0))
    again = gs.train({"verbose": -1, "num_threads": 1}, data, 20)
    assert again.model_to_string() == model.model_to_string()


def test_pandas_moments() -> None:
    pd = pytest.importorskip("pandas")
    assert seconds_of(pd.Timestamp("1970-01-02")) == 86400
    assert seconds_of(pd.Timestamp("1970-01-01 01:00", tz="Europe/Oslo")) == 0
    assert seconds_of(pd.Timedelta("1.5s")) == 1.5
    values = np.array([pd.Timestamp("1970-01-02"), pd.NaT, None], dtype=object)
    np.testing.assert_array_equal(read_objects(values, "x"), [86400, np.nan, np.nan])


def test_missing_ones_and_numbers() -> None:
    values = np.array([np.datetime64("NaT"), time(1), None, 2.5, True], dtype=object)
    np.testing.assert_array_equal(read_objects(values, "x"), [np.nan, 3600, np.nan, 2.5, 1])


def test_dates_among_text_are_refused() -> None:
    values = np.array([date(2024, 1, 1), "yesterday"], dtype=object)
    with pytest.raises(gs.DataError, match=r"column 7 .*got 'date'"):
        read_objects(values, "column 7")


@given(st.datetimes())
def test_objects_are_what_arrays_are(moment: datetime) -> None:
    assert seconds_of(moment) == to_seconds(np.array([moment], "datetime64[us]"))[0]
