"""Data sets from files: fields by column, validation data, parameters that come later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.data.dataset import built_data
from gossamer.data.table.names import default_names

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

PARAMS = {"num_leaves": 7, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}


def make_frame(n: int = 400, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "user": np.repeat(np.arange(n // 10), 10),
            "a": rng.normal(size=n),
            "town": rng.choice(["Rome", "Bern", "Oslo"], n),
            "b": rng.integers(0, 50, n),
            "target": rng.integers(0, 3, n),
            "w": rng.random(n) + 0.1,
            "start": rng.normal(size=n),
        }
    )
    frame["target"] += (frame["a"] > 0).astype(int)
    return frame


@pytest.fixture
def frame() -> Any:
    return make_frame()


@pytest.fixture(params=["frame", "parquet", "csv"])
def data(request: pytest.FixtureRequest, frame: Any, tmp_path: Path) -> Any:
    """The same table in memory and in files."""
    if request.param == "frame":
        return frame
    path = tmp_path / f"rows.{request.param}"
    if request.param == "csv":
        frame.to_csv(path, index=False, float_format=None)
    else:
        frame.to_parquet(path)
    return path


class TestFields:
    def test_by_argument(self, data: Any, frame: Any) -> None:
        found = gs.Dataset(
            data, label="target", weight="w", query="user", init_score="start", position="b"
        ).construct()
        assert found.get_feature_name() == ["a", "town"]
        np.testing.assert_array_equal(found.get_label(), frame["target"])
        np.testing.assert_array_equal(found.get_weight(), frame["w"].astype(np.float32))
        np.testing.assert_array_equal(found.get_group(), [10] * 40)
        np.testing.assert_array_equal(found.get_init_score(), frame["start"])
        np.testing.assert_array_equal(found.get_position(), frame["b"])

    def test_group_is_a_column_of_ids(self, data: Any) -> None:
        found = gs.Dataset(data, label="target", group="user").construct()
        np.testing.assert_array_equal(found.get_group(), [10] * 40)
        assert "user" not in found.get_feature_name()

    def test_several_labels(self, data: Any, frame: Any) -> None:
        found = gs.Dataset(data, label=["target", "b"]).construct()
        np.testing.assert_array_equal(found.get_label(), frame[["target", "b"]])
        assert found.get_feature_name() == ["user", "a", "town", "w", "start"]

    def test_values_beside_names(self, data: Any, frame: Any) -> None:
        found = gs.Dataset(data, label="target", weight=frame["w"].to_numpy()).construct()
        assert found.get_feature_name() == ["user", "a", "town", "b", "w", "start"]
        np.testing.assert_array_equal(found.get_weight(), frame["w"].astype(np.float32))

    @pytest.mark.parametrize(
        ("params", "names"),
        [
            ({"label_column": "name:target"}, ["user", "a", "town", "b", "w", "start"]),
            ({"label": "target", "weight": "name:w"}, ["user", "a", "town", "b", "start"]),
            (
                {"label_column": 4, "weight_column": 4, "group_column": 0},
                ["a", "town", "b", "start"],
            ),
            ({"label_column": "4", "ignore_column": "0,4,5"}, ["a", "town", "b"]),
            (
                {"label_column": "name:target", "ignore_column": "name:town,w"},
                ["user", "a", "b", "start"],
            ),
            ({"ignore_column": ["town"]}, ["user", "a", "b", "target", "w", "start"]),
        ],
    )
    def test_by_parameter(
        self, data: Any, frame: Any, params: dict[str, Any], names: list[str]
    ) -> None:
        """Positions of weights, ... do not count the label, as in LightGBM."""
        found = gs.Dataset(data, params=params).construct()
        assert found.get_feature_name() == names
        if "label_column" in params:
            np.testing.assert_array_equal(found.get_label(), frame["target"])
        if params.get("weight_column") == 4:
            np.testing.assert_array_equal(found.get_weight(), frame["w"].astype(np.float32))
            np.testing.assert_array_equal(found.get_group(), [10] * 40)

    def test_parameters_of_the_training(self, data: Any) -> None:
        params = {**PARAMS, "label_column": "name:target", "ignore_column": "name:user,start"}
        model = gs.train(params, gs.Dataset(data), 2)
        assert model.feature_name() == ["a", "town", "b", "w"]

    def test_the_argument_wins(self, data: Any, frame: Any) -> None:
        params = {"label_column": "name:b"}
        found = gs.Dataset(data, label="target", params=params).construct()
        np.testing.assert_array_equal(found.get_label(), frame["target"])
        assert "b" in found.get_feature_name()

    @pytest.mark.parametrize("field", ["label", "weight", "query", "init_score", "position"])
    def test_no_such_column(self, data: Any, field: str) -> None:
        with pytest.raises(gs.DataError, match=f"{field} names a column that is not in"):
            gs.Dataset(data, **{field: "nothing"}).construct()
        with pytest.raises(gs.DataError, match=r"label is a column that is not in.* got 7"):
            gs.Dataset(data, params={"label_column": 7}).construct()

    def test_missing_values(self, frame: Any, tmp_path: Path) -> None:
        frame.loc[7, "target"] = None
        path = tmp_path / "rows.parquet"
        frame.to_parquet(path)
        for data in (path, frame):
            with pytest.raises(gs.DataError, match="label of row 7 is missing: got nan"):
                gs.Dataset(data, label="target").construct()

    @pytest.mark.parametrize("table", [np.zeros((5, 2)), [[1.0, 2.0]] * 5], ids=["array", "list"])
    def test_tables_without_names(self, table: Any) -> None:
        with pytest.raises(gs.DataError, match="label names a column, but the columns"):
            gs.Dataset(table, label="y").construct()
        with pytest.warns(UserWarning, match="name a column as label, which has no effect"):
            data = gs.Dataset(table, params={"label_column": 0}).construct()
        assert data.num_feature() == 2

    def test_a_frame_is_not_copied(self) -> None:
        frame = pandas.DataFrame(np.zeros((10, 4)), columns=list("abyc"))
        data = gs.Dataset(frame, label="y", free_raw_data=False).construct()
        for name in "abc":
            assert np.shares_memory(data.get_data()[name].to_numpy(), frame[name].to_numpy())

    def test_names_that_occur_twice(self) -> None:
        frame = pandas.DataFrame(np.zeros((10, 3)), columns=["a", "y", "y"])
        with pytest.raises(gs.DataError, match="same name twice"):
            gs.Dataset(frame, label="y").construct()

    def test_an_int_is_no_position_in_a_frame(self, frame: Any) -> None:
        with pytest.raises(gs.DataError, match="label"):
            gs.Dataset(frame, label=0).construct()


class TestRelated:
    def test_validation_data(self, data: Any, frame: Any, tmp_path: Path) -> None:
        """Columns by name, whatever their order; those of the label, ... as in training."""
        train = gs.Dataset(data, label="target", weight="w", params={"ignore_column": "name:user"})
        more = make_frame(seed=1)[::-1]
        path = tmp_path / "valid.parquet"
        more[["w", "b", "town", "start", "a", "target"]].assign(extra=1).to_parquet(path)
        valid = train.create_valid(path).construct()
        np.testing.assert_array_equal(valid.get_label(), more["target"])
        np.testing.assert_array_equal(valid.get_weight(), more["w"].astype(np.float32))
        numbers = ["a", "town", "b", "start"]
        assert train.get_feature_name() == numbers
        expected = train.create_valid(more[numbers], more["target"], more["w"]).construct()
        for f in range(built_data(expected).table.bins.n_features):
            np.testing.assert_array_equal(
                built_data(valid).table.bins.copy_column(f),
                built_data(expected).table.bins.copy_column(f),
            )
        model = gs.train(PARAMS, train, 5, [valid, expected], ["file", "memory"])
        assert model.best_score["file"] == model.best_score["memory"]

    def test_a_frame_as_validation_data_of_a_file(self, data: Any, frame: Any) -> None:
        train = gs.Dataset(data, label="target").construct()
        valid = gs.Dataset(frame, reference=train).construct()
        np.testing.assert_array_equal(valid.get_label(), frame["target"])

    def test_without_a_label(self, data: Any, frame: Any, tmp_path: Path) -> None:
        train = gs.Dataset(data, label="target").construct()
        path = tmp_path / "valid.csv"
        frame.drop(columns="target").to_csv(path, index=False)
        assert train.create_valid(path).construct().get_label() is None
        valid = train.create_valid(path, label=frame["target"].to_numpy()).construct()
        np.testing.assert_array_equal(valid.get_label(), frame["target"])

    def test_missing_columns(self, data: Any, frame: Any, tmp_path: Path) -> None:
        train = gs.Dataset(data, label="target").construct()
        path = tmp_path / "valid.csv"
        frame.drop(columns=["a", "b"]).to_csv(path, index=False)
        with pytest.raises(gs.DataError, match="lacks columns of the training data: 'a', 'b'"):
            train.create_valid(path).construct()

    def test_missing_columns_beside_a_long_name(
        self, data: Any, frame: Any, tmp_path: Path
    ) -> None:
        train = gs.Dataset(data, label="target").construct()
        path = tmp_path / "valid.csv"
        frame.rename(columns={"a": "x" * 5000}).to_csv(path, index=False)
        with pytest.raises(
            gs.DataError, match=r"training data: 'a':.*It has .*'x+\.\.\.x+'"
        ) as caught:
            train.create_valid(path).construct()
        assert len(str(caught.value)) < 1000

    def test_subset_and_cross_validation(self, data: Any, frame: Any) -> None:
        train = gs.Dataset(data, label="target", params=PARAMS)
        part = train.subset(np.arange(0, 400, 2)).construct()
        np.testing.assert_array_equal(part.get_label(), frame["target"][::2])
        result = gs.cv(PARAMS, train, 3, nfold=3, stratified=False)
        expected = gs.cv(
            PARAMS, gs.Dataset(frame, label="target", params=PARAMS), 3, nfold=3, stratified=False
        )
        assert result == expected

    def test_continued_training(self, data: Any, frame: Any, tmp_path: Path) -> None:
        first = gs.train(PARAMS, gs.Dataset(data, label="target"), 3)
        path = tmp_path / "first.gsm"
        first.save_model(path)
        models = [
            gs.train(PARAMS, gs.Dataset(table, label="target"), 3, init_model=path)
            for table in (data, frame)
        ]
        assert models[0].model_to_string() == models[1].model_to_string()


def test_text_and_a_header_of_a_file_without_names(tmp_path: Path) -> None:
    """What is known of the training data holds for validation data."""
    train, valid = tmp_path / "train.csv", tmp_path / "valid.csv"
    train.write_text("x,7,0\n" + "1,8,1\ny,5,0\n" * 20)
    valid.write_text("x,7,1\n1,8,0\n")
    data = gs.Dataset(train, label=2, params={"header": False}).construct()
    assert data.num_data() == 41
    assert data.create_valid(valid).construct().num_data() == 2
    only_numbers = tmp_path / "numbers.csv"
    only_numbers.write_text("1,8,0\n1,9,0\n")
    found = data.create_valid(only_numbers).construct()
    of_one = built_data(data).table.bins.copy_column(0)[1]
    np.testing.assert_array_equal(built_data(found).table.bins.copy_column(0), [of_one, of_one])


class TestLater:
    @pytest.fixture
    def path(self, frame: Any, tmp_path: Path) -> Path:
        path = tmp_path / "rows.parquet"
        frame.to_parquet(path)
        return path

    def test_bins_are_made_again(self, path: Path, frame: Any) -> None:
        """A file can be read again, so nothing comes too late."""
        data = gs.Dataset(path, label="target").construct()
        assert data.get_data() == path
        data.set_label(frame["target"].to_numpy() * 2)
        model = gs.train({**PARAMS, "max_bin": 7}, data, 2)
        assert data.feature_num_bin("a") <= 8
        np.testing.assert_array_equal(data.get_label(), frame["target"] * 2)
        assert "target" not in model.feature_name()
        data.set_categorical_feature(["town", "b"])
        assert data.categorical_columns == [2, 3]

    def test_a_frame_is_kept_without_its_label(self, frame: Any) -> None:
        data = gs.Dataset(frame, label="target", free_raw_data=False).construct()
        assert list(data.get_data()) == ["user", "a", "town", "b", "w", "start"]
        assert "target" in frame
        gs.train({**PARAMS, "max_bin": 7}, data, 2)
        np.testing.assert_array_equal(data.get_label(), frame["target"])
        numbers = frame.drop(columns="town")
        linear = gs.Dataset(numbers, label="target", params={"linear_tree": True})
        model = gs.train({**PARAMS, "linear_tree": True}, linear, 2)
        assert model.feature_name() == ["user", "a", "b", "w", "start"]

    def test_fields_and_binary_files(self, path: Path, frame: Any, tmp_path: Path) -> None:
        data = gs.Dataset(path, label="target", weight="w")
        data.construct().set_field("weight", np.full(400, 2.0))
        data.save_binary(tmp_path / "rows.bin")
        again = gs.Dataset(tmp_path / "rows.bin")
        models = [gs.train(PARAMS, d, 3).model_to_string() for d in (data, again)]
        assert models[0] == models[1]
        np.testing.assert_array_equal(again.get_weight(), np.full(400, 2.0))

    @pytest.mark.parametrize("params", [{"linear_tree": True}, {"tree_method": "exact"}])
    def test_raw_values(self, path: Path, frame: Any, params: dict[str, Any]) -> None:
        texts = []
        names = [name for name in frame.columns if frame[name].dtype.kind == "O"]
        given = {**PARAMS, **params, "ignore_column": names}
        for data in (path, frame):
            train, valid = gs.Dataset(data, label="target"), gs.Dataset(data, label="target")
            model = gs.train(given, train, 3, valid_sets=valid)
            texts.append((model.model_to_string(), model.best_score))
        assert texts[0] == texts[1]
        with pytest.raises(gs.DataError, match="needs raw values"):
            gs.Dataset(path, label="target").construct().subset([1, 2]).construct().get_data()

    def test_weights_choose_bins(self, path: Path, frame: Any) -> None:
        params = {**PARAMS, "weighted_bins": True, "max_bin": 7}
        models = [
            gs.train(params, gs.Dataset(data, label="target", weight="w"), 3).model_to_string()
            for data in (path, frame)
        ]
        assert models[0] == models[1]

    def test_names_of_ones_own(self, path: Path) -> None:
        names = list("pqrstu")
        data = gs.Dataset(path, label="target", feature_name=names).construct()
        assert data.get_feature_name() == names != default_names(6)


@pytest.mark.parametrize(
    "params",
    [
        {"label_column": 2, "weight_column": 0},
        {"label_column": 0, "weight_column": 3},
        {"label_column": 4, "weight_column": 3, "group_column": 0},
    ],
)
def test_positions_are_those_of_lightgbm(params: dict[str, int], tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    table = np.random.default_rng(0).random((200, 5)).round(3)
    table[:, 0] = np.repeat(np.arange(20), 10)
    path = tmp_path / "rows.csv"
    np.savetxt(path, table, delimiter=",", fmt="%.3f")
    theirs = lightgbm.Dataset(str(path), params={**params, "verbose": -1}).construct()
    ours = gs.Dataset(path, params=params).construct()
    np.testing.assert_allclose(ours.get_label(), theirs.get_label(), rtol=1e-6)
    np.testing.assert_allclose(ours.get_weight(), theirs.get_weight(), rtol=1e-6)
    if "group_column" in params:
        np.testing.assert_array_equal(ours.get_group(), theirs.get_group())


def test_threads_do_not_matter(frame: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    models = {
        gs.train({**PARAMS, "num_threads": n}, gs.Dataset(path, label="target"), 3)
        .model_to_string(num_iteration=3)
        .replace(f"num_threads: {n}", "")
        for n in (1, 2, 3)
    }
    assert len(models) == 1
