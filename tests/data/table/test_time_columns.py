"""Dates at prediction must be dates where the training data had dates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.errors import DataError, ModelFileError
from gossamer.model.files import model_file

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N = 300
DAYS = pd.date_range("2020-01-01", periods=N)
FRAME = pd.DataFrame({"day": DAYS, "a": np.arange(N) % 7})
LABEL = np.arange(N, dtype=float)


def _train(frame: Any) -> gs.Booster:
    return gs.train({"verbose": -1, "min_data_in_leaf": 5}, gs.Dataset(frame, LABEL), 5)


MODEL = _train(FRAME)


@pytest.mark.parametrize(
    "column",
    [
        np.arange(N),
        np.linspace(0, 1, N),
        pd.Series(DAYS).astype("int64") // 10**9,
        np.array([*range(N - 1), None], dtype=object),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, dict, pl.DataFrame])
def test_numbers_where_dates_were(column: Any, make: Any) -> None:
    if make is pl.DataFrame:  # which has no columns of objects
        column = list(column)
    table = make({"day": column, "a": FRAME["a"].to_numpy()})
    with pytest.raises(DataError, match=r"column 'day' has another type .*got numbers such as .*"):
        MODEL.predict(table)


def test_the_message_says_what_to_do() -> None:
    with pytest.raises(DataError, match=r"expected dates .*pandas.to_datetime\(column, unit='s'\)"):
        MODEL.predict(FRAME.assign(day=20240131))
    with pytest.raises(DataError, match=r"'day'.*numbers such as 3"):
        MODEL.predict(np.full((1, 2), 3.0))
    with pytest.raises(DataError, match="'day'"):
        MODEL.predict(FRAME[["a", "day"]].assign(day=1))


def test_one_row_too() -> None:
    row = MODEL.predictor()
    assert row({"day": DAYS[7].to_pydatetime(), "a": 0}) == MODEL.predict(FRAME)[7]
    with pytest.raises(DataError, match="'day' has another type"):
        row([5.0, 1.0])
    for _ in range(3):
        with pytest.raises(DataError, match="'day' has another type"):
            MODEL.predict([[5.0, 1.0]])


def test_missing_dates_are_missing() -> None:
    empty = MODEL.predict(FRAME.assign(day=np.nan))
    assert np.array_equal(empty, MODEL.predict(FRAME.assign(day=pd.NaT)))
    assert len(MODEL.predict(FRAME.assign(day=None))) == N


def test_the_same_dates_in_other_clothes() -> None:
    expected = MODEL.predict(FRAME)
    for column in (DAYS.astype("datetime64[s]"), DAYS.astype(str), list(DAYS.to_pydatetime())):
        assert np.array_equal(MODEL.predict(FRAME.assign(day=column)), expected)
    assert np.array_equal(MODEL.predict(pl.from_pandas(FRAME)), expected)
    assert np.array_equal(MODEL.predict(FRAME.to_numpy()), expected)


def test_dates_where_numbers_were() -> None:
    model = _train(FRAME.assign(day=DAYS.year))
    with pytest.raises(DataError, match=r"got dates without .* expected numbers.*column.dt.year"):
        model.predict(FRAME)
    with pytest.raises(DataError, match=r"got dates or times as text, expected numbers"):
        model.predict(FRAME.assign(day=DAYS.astype(str)))


def test_time_zones() -> None:
    aware = FRAME.assign(day=DAYS.tz_localize("Europe/Berlin"))
    with pytest.raises(DataError, match=r"got dates with a time zone.*tz_localize\(None\)"):
        MODEL.predict(aware)
    model = _train(aware)
    with pytest.raises(DataError, match=r"got dates without a time zone.*tz_localize\('UTC'\)"):
        model.predict(FRAME)
    elsewhere = FRAME.assign(day=DAYS.tz_localize("Europe/Berlin").tz_convert("Asia/Tokyo"))
    assert np.array_equal(model.predict(aware), model.predict(elsewhere))
    python = [{"day": day.to_pydatetime(), "a": 1} for day in aware["day"]]
    with pytest.raises(DataError, match="got dates with a time zone"):
        MODEL.predict(python)


def test_utc_is_as_good_as_no_zone() -> None:
    utc = FRAME.assign(day=DAYS.tz_localize("UTC"))
    assert np.array_equal(MODEL.predict(utc), MODEL.predict(FRAME))
    assert np.array_equal(MODEL.predict(pl.from_pandas(utc)), MODEL.predict(FRAME))
    model = _train(utc)
    assert np.array_equal(model.predict(FRAME), MODEL.predict(FRAME))
    tokyo = FRAME.assign(day=DAYS.tz_localize("UTC").tz_convert("Asia/Tokyo"))
    assert np.array_equal(model.predict(tokyo), MODEL.predict(FRAME))
    assert np.array_equal(_train(tokyo).predict(utc), MODEL.predict(FRAME))


def test_durations_are_not_dates() -> None:
    model = _train(FRAME.assign(day=DAYS - DAYS[0]))
    with pytest.raises(DataError, match="got dates without a time zone, expected durations"):
        model.predict(FRAME)
    with pytest.raises(DataError, match=r"expected durations.*to_timedelta"):
        model.predict(FRAME.assign(day=3))


def test_files(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    FRAME.assign(y=LABEL).to_csv(rows, index=False)
    model = gs.train({"verbose": -1}, gs.Dataset(str(rows), label="y"), 5)
    expected = model.predict(FRAME)
    assert np.array_equal(model.predict(str(rows)), expected)
    numbers = tmp_path / "numbers.csv"
    FRAME.assign(day=range(N)).to_csv(numbers, index=False)
    with pytest.raises(DataError, match=r"column 'day' of .*numbers.csv.* has another type"):
        model.predict(str(numbers))
    with pytest.raises(DataError, match="got numbers such as"):
        model.predict(FRAME.assign(day=range(N)))
    # A text file has offsets rather than zones.
    aware = FRAME.assign(day=DAYS.tz_localize("Asia/Tokyo"))
    aware.to_csv(rows, index=False)
    assert np.array_equal(_train(aware).predict(str(rows)), _train(aware).predict(aware))


def test_validation_data(tmp_path: Path) -> None:
    train = gs.Dataset(FRAME, LABEL)
    with pytest.raises(DataError, match="'day' has another type"):
        train.create_valid(FRAME.assign(day=range(N)), LABEL).construct()
    numbers = tmp_path / "numbers.csv"
    FRAME.assign(day=range(N), y=LABEL).to_csv(numbers, index=False)
    with pytest.raises(DataError, match=r"'day' of .*numbers.csv.* has another type"):
        gs.Dataset(str(numbers), label="y", reference=train).construct()


def test_estimators() -> None:
    model = gs.GossamerRegressor(n_estimators=3, verbose=-1).fit(FRAME, LABEL)
    assert len(model.predict(FRAME)) == N
    with pytest.raises(DataError, match="'day' has another type"):
        model.predict(FRAME.assign(day=range(N)))


def test_model_files_keep_dates(tmp_path: Path) -> None:
    MODEL.save_model(tmp_path / "m.gsm")
    loaded = gs.Booster(model_file=tmp_path / "m.gsm")
    assert loaded.model.times == {0: "date"}
    with pytest.raises(DataError, match="'day' has another type"):
        loaded.predict(FRAME.assign(day=1))
    # Models of before do not say: dates and numbers are taken as they are.
    arrays, facts = model_file.to_parts(MODEL.model)
    del facts["times"]
    old = model_file.from_parts(arrays, facts, "the model")
    assert old.times is None
    for times in ([[5, "date"]], [[0, "year"]], [0], "date"):
        with pytest.raises(ModelFileError):
            model_file.from_parts(arrays, {**facts, "times": times}, "the model")


def test_models_without_dates_are_as_before() -> None:
    model = _train(FRAME[["a"]])
    assert "times" not in model_file.to_parts(model.model)[1]
