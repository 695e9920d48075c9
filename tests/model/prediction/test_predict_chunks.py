"""Predicting files and other tables in chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.data.files import columnar, delimited
from gossamer.model.prediction.predict import predict_scores

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

PARAMS = {"num_leaves": 7, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}


def make_frame(n: int = 700) -> Any:
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "a": rng.normal(size=n),
            "town": rng.choice(["Rome", "Bern", "Oslo"], n),
            "b": rng.integers(0, 50, n),
            "target": rng.integers(0, 3, n),
        }
    )
    return frame


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "_CHUNK_VALUES", 300)
    monkeypatch.setattr(columnar, "_FEWEST_ROWS", 10)
    monkeypatch.setattr(delimited, "_BLOCK", 2000)


@pytest.fixture
def model() -> gs.Booster:
    data = gs.Dataset(make_frame(), label="target")
    return gs.train({**PARAMS, "objective": "multiclass", "num_class": 3}, data, 4)


def write(frame: Any, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize(
    "kind", [{}, {"raw_score": True}, {"pred_leaf": True}, {"pred_contrib": True}]
)
def test_the_same_as_in_memory(
    model: gs.Booster, tmp_path: Path, suffix: str, kind: dict[str, bool]
) -> None:
    """Columns in another order, and some that the model does not know."""
    frame = make_frame()
    path = write(frame[["target", "b", "a", "town"]].assign(id="x"), tmp_path / f"rows{suffix}")
    expected = model.predict(frame[["a", "town", "b"]], **kind)
    np.testing.assert_array_equal(model.predict(path, **kind), expected)
    np.testing.assert_array_equal(model.predict([path, str(path)], **kind)[700:], expected)


def test_scores_for_continued_training(model: gs.Booster, tmp_path: Path) -> None:
    frame = make_frame()
    path = write(frame, tmp_path / "rows.csv")
    inner = model.model
    expected = predict_scores(inner, frame[["a", "town", "b"]])
    np.testing.assert_array_equal(predict_scores(inner, path), expected)
    rows = np.array([5, 600, 7])
    some = predict_scores(inner, path, rows)
    np.testing.assert_array_equal(some, expected.reshape(3, -1)[:, rows].ravel())


def test_numbers_that_look_whole_at_first(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"a": np.arange(900) % 30, "b": 1.5})
    label = frame["a"] > 12
    model = gs.train(PARAMS, gs.Dataset(frame, label), 3)
    frame["a"] = frame["a"].astype(float)
    frame.loc[890:, "a"] += 0.25
    path = write(frame.astype({"a": object}), tmp_path / "rows.csv")
    text = path.read_text().replace(".0,", ",")
    path.write_text(text)
    assert text.splitlines()[1] == "0,1.5"
    np.testing.assert_array_equal(model.predict(path), model.predict(frame))


class TestPositions:
    """Files and models without names."""

    TABLE = np.random.default_rng(1).normal(size=(300, 4))

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "rows.csv"
        np.savetxt(path, self.TABLE, delimiter=",", fmt="%.17g")
        return path

    def test_by_position(self, path: Path, tmp_path: Path) -> None:
        model = gs.train(PARAMS, gs.Dataset(path, params={"label_column": 0}), 3)
        expected = model.predict(self.TABLE[:, 1:])
        np.testing.assert_array_equal(model.predict(path), expected)
        other = tmp_path / "features.csv"
        np.savetxt(other, self.TABLE[:, 1:], delimiter=",", fmt="%.17g")
        np.testing.assert_array_equal(model.predict(other), expected)
        named = tmp_path / "named.csv"
        named.write_text("p,q,r\n" + other.read_text())
        with pytest.raises(gs.DataError, match="lacks columns of the training data: 'Column_1'"):
            model.predict(named)

    def test_a_model_of_an_array(self, path: Path, tmp_path: Path) -> None:
        table = self.TABLE[:, 1:]
        model = gs.train(PARAMS, gs.Dataset(table, self.TABLE[:, 0]), 3)
        expected = model.predict(table)
        np.testing.assert_array_equal(model.predict(path), expected)  # the label is first
        named = tmp_path / "named.csv"
        np.savetxt(named, table, delimiter=",", fmt="%.17g", header="1,2,3", comments="")
        with_header = model.predict(named, data_has_header=True)
        np.testing.assert_array_equal(with_header, expected)
        assert len(model.predict(named)) == 301  # a first line of numbers is a row
        wide = tmp_path / "wide.csv"
        wide.write_text("p,q,r,s\n" + path.read_text())
        with pytest.raises(gs.DataError, match="number of columns differs from the training"):
            model.predict(wide)
        found = model.predict(wide, predict_disable_shape_check=True)
        np.testing.assert_array_equal(found, model.predict(self.TABLE[:, :3]))
        wider = tmp_path / "wider.csv"
        np.savetxt(wider, np.hstack([self.TABLE, self.TABLE]), delimiter=",")
        with pytest.raises(gs.DataError, match=r"no names.*got 8, expected 3, or 4 with the label"):
            model.predict(wider)

    def test_a_label_that_is_first_is_no_feature_of_named_columns(self, path: Path) -> None:
        data = gs.Dataset(self.TABLE[:, 1:], self.TABLE[:, 0], feature_name=["p", "q", "r"])
        model = gs.train(PARAMS, data, 3)
        np.testing.assert_array_equal(model.predict(path), model.predict(self.TABLE[:, 1:]))

    @pytest.mark.parametrize("way", ["as it is", "binary", "saved"])
    def test_a_label_that_is_last_in_the_file_of_the_training(
        self, path: Path, tmp_path: Path, way: str
    ) -> None:
        data = gs.Dataset(path, label=3)
        if way == "binary":
            data.save_binary(tmp_path / "rows.bin")
            data = gs.Dataset(tmp_path / "rows.bin")
        model = gs.train(PARAMS, data, 3)
        if way == "saved":
            model = gs.Booster(model_str=model.model_to_string())
        np.testing.assert_array_equal(model.predict(path), model.predict(self.TABLE[:, :3]))


def test_missing_columns(model: gs.Booster, tmp_path: Path) -> None:
    path = write(make_frame().drop(columns=["a"]), tmp_path / "rows.parquet")
    with pytest.raises(
        gs.DataError, match=r"lacks columns of the training data: 'a'.*It has 'town'"
    ):
        model.predict(path)


def test_text_where_numbers_were(model: gs.Booster, tmp_path: Path) -> None:
    path = write(make_frame().assign(a="x"), tmp_path / "rows.csv")
    with pytest.raises(gs.DataError, match=r"got text such as .*, expected numbers"):
        model.predict(path)


def test_nothing_there(model: gs.Booster, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        model.predict(tmp_path / "rows.csv")
    (tmp_path / "rows.csv").write_text("a,town,b\n")
    with pytest.raises(gs.DataError, match="has no rows"):
        model.predict(tmp_path / "rows.csv")


def test_other_methods_do_not_read_files(model: gs.Booster, tmp_path: Path) -> None:
    path = write(make_frame().drop(columns="target"), tmp_path / "rows.csv")
    with pytest.raises(gs.NotSupportedError, match=r"only predict\(\) reads files"):
        model.refit(path, make_frame()["target"])
