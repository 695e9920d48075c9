"""Messages that tell a newcomer the next step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import gossamer as gs
from gossamer.cli.commands import cli
from gossamer.compat import lightgbm as lgb
from gossamer.data.findings import find_in_columns
from gossamer.errors import DataError, GossamerError, ParameterError, message

X = np.random.default_rng(0).normal(size=(200, 3))
Y = X[:, 0] * 2


def _model(**params: Any) -> gs.Booster:
    return gs.train({"verbose": -1, **params}, gs.Dataset(X, Y), 3)


# Metrics of two classes


def test_auc_of_numbers_warns() -> None:
    with pytest.warns(UserWarning, match="metric=auc is for two classes"):
        gs.train({"metric": "auc"}, gs.Dataset(X, Y), 2)
    lgb.train({"metric": "auc", "verbosity": 1}, lgb.Dataset(X, Y), 2)  # as LightGBM: nothing
    gs.train({"metric": "auc"}, gs.Dataset(X, Y > 0), 2)
    gs.train({"metric": "auc", "objective": "binary"}, gs.Dataset(X, Y > 0), 2)


def test_auc_of_numbers_is_an_error_on_the_command_line(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    lines = [f"{a:.4f},{y:.4f}" for a, y in zip(X[:, 0], Y, strict=True)]
    rows.write_text("a,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    args = ["train", str(rows), "-t", "y", "--metric", "auc", "-o", str(tmp_path / "m.gsm")]
    result = CliRunner().invoke(cli, args)
    assert result.exit_code != 0
    assert "the metric auc is for two classes" in result.output


# Tables that do not fit


def test_booleans_as_text() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0] > 0, "b": X[:, 1]})
    model = gs.train({"verbose": -1}, gs.Dataset(frame, Y), 3)
    with pytest.raises(DataError, match=r"column.map\({'True': True, 'False': False}\)"):
        model.predict(frame.assign(a=frame["a"].astype(str)))
    with pytest.raises(DataError, match=r"column.map\({'yes': True, 'no': False}\)"):
        model.predict(frame.assign(a=np.where(frame["a"], "yes", "no")))


def test_categories_that_are_spelt_differently() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"city": np.where(Y > 0, "Rome", "Bern"), "b": X[:, 1]})
    model = gs.train({"verbose": -1}, gs.Dataset(frame, Y), 3)
    with pytest.warns(
        UserWarning, match=r"none of the values of column 'city'.*such as 'R.*'Bern'"
    ):
        model.predict(frame.assign(city=frame["city"] + " "))
    model.predict(frame.assign(city="Oslo").head(3))  # new levels are nothing strange
    model.predict(frame.assign(city=["Rome", *["Oslo"] * 199]))


def test_tables_of_arrow_in_pandas() -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    days = pd.date_range("2020-01-01", periods=200)
    plain = {"day": days, "zone": days.tz_localize("Asia/Tokyo"), "price": np.arange(200) / 4}
    model = gs.train({"verbose": -1}, gs.Dataset(pd.DataFrame(plain), np.arange(200)), 3)
    arrow = {
        "day": pd.Series(days.date, dtype=pd.ArrowDtype(pa.date32())),
        "zone": pd.Series(plain["zone"]).astype("timestamp[us, tz=UTC][pyarrow]"),
        "price": pd.Series(plain["price"]).astype(pd.ArrowDtype(pa.decimal128(12, 2))),
    }
    assert np.array_equal(model.predict(pd.DataFrame(arrow)), model.predict(pd.DataFrame(plain)))


def test_errors_about_files_do_not_speak_of_data_frames(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b\n" + "x,1\n" * 30, encoding="utf-8")
    model = gs.train({"verbose": -1}, gs.Dataset(X[:, :2], Y, feature_name=["a", "b"]), 3)
    with pytest.raises(DataError, match=r"column 'a' of the file '.*rows.csv' has another type"):
        model.predict(str(rows))


def test_further_columns() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc"))
    model = gs.train({"verbose": -1}, gs.Dataset(frame, Y), 3)
    with pytest.raises(DataError, match=r"unknown 'id'. Select .* table\[model.feature_name\(\)\]"):
        model.predict(frame.assign(id=1))
    with pytest.raises(DataError, match="Is 'A' the same column\\? Rename it to 'a'"):
        model.predict(frame.rename(columns={"a": "A"}))
    with pytest.raises(
        DataError, match=r"got text such as 'x', expected numbers or dates.*datetime"
    ):
        model.predict(frame.assign(a="x"))


def test_files_and_text_labels(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a,y\n" + "1,no\n2,yes\n" * 30, encoding="utf-8")
    with pytest.raises(DataError, match="tables in memory, and `gossamer train` for files"):
        gs.train({"objective": "binary"}, gs.Dataset(str(rows), label="y"), 2)
    model = gs.GossamerClassifier(n_estimators=2, verbose=-1).fit(X, Y > 0)
    with pytest.raises(DataError, match=r"booster_.predict\(\)"):
        model.predict(str(rows))


def test_a_missing_label() -> None:
    label = Y.copy()
    label[7] = np.nan
    with pytest.raises(DataError, match=r"label of row 7 is missing: .*Leave out rows without"):
        gs.Dataset(X, label).construct()
    label[7] = np.inf
    with pytest.raises(DataError, match="label of row 7 cannot be used"):
        gs.Dataset(X, label).construct()


# What was given, in words


def test_words_are_not_quoted_nor_cut() -> None:
    with pytest.raises(GossamerError, match="got a model that was not trained over folds, or that"):
        _model().predict_interval(X)
    with pytest.raises(DataError, match="got rows from 0 and again from 7"):
        gs.Dataset(X, Y, query=np.arange(200) % 7).construct()
    with pytest.raises(ParameterError, match="got calibration='isotonic' without folds"):
        gs.GossamerClassifier(calibration="isotonic").fit(X, Y > 0)


def test_arrays_are_shown_by_their_shape() -> None:
    assert message("no", got=np.zeros((3, 2))) == "no: got an array of shape (3, 2)."
    assert message("no", got=np.float64(3)) == "no: got np.float64(3.0)."


# Names


def test_methods_of_the_model() -> None:
    model = gs.GossamerRegressor(n_estimators=2, verbose=-1).fit(X, Y)
    with pytest.raises(AttributeError, match=r"use booster_.shap_values"):
        model.shap_values(X)
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        model.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("name", "ours"),
    [("iterations", "num_iterations"), ("depth", "max_depth"), ("l2_leaf_reg", "lambda_l2")],
)
def test_names_of_other_libraries(name: str, ours: str) -> None:
    with pytest.raises(ParameterError, match=f"Use {ours} instead"):
        _model(**{name: 3})


# Findings


def test_shuffled_numbers_and_indices_of_pandas_are_ids() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "customer": rng.permutation(200) + 7000,
        "Unnamed: 0": np.arange(200) * 3,
        "amount": rng.choice(10_000, 200, replace=False),
    }
    found = [finding for finding in find_in_columns(columns) if finding.kind == "id"]
    assert [finding.columns for finding in found] == [("customer", "Unnamed: 0")]


def test_the_command_line_names_the_option(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    lines = [f"{i},{a:.4f},{y:.4f}" for i, (a, y) in enumerate(zip(X[:, 0], Y, strict=True))]
    rows.write_text("customer id,a,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    args = ["train", str(rows), "-t", "y", "--rounds", "2", "-o", str(tmp_path / "m.gsm")]
    result = CliRunner().invoke(cli, args)
    assert "Leave it out. (--ignore 'customer id')" in result.output
