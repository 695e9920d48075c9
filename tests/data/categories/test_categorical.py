"""Categorical columns of data sets, and of the models trained on them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer import Booster, Dataset, files, train
from gossamer.data.categories.categorical import categorical_columns, read_asked
from gossamer.data.categories.levels import Levels
from gossamer.data.dataset import built_data
from gossamer.errors import DataError, ModelFileError, ParameterError
from gossamer.model.files import model_file

pd = pytest.importorskip("pandas")

NAMES = ["city", "age", "size", "zip"]


def frame(n: int = 120) -> Any:
    rng = np.random.default_rng(0)
    size = pd.CategoricalDtype(["S", "M", "L"], ordered=True)
    return pd.DataFrame(
        {
            "city": rng.choice(["Rome", "Bern", "Oslo"], n),
            "age": rng.integers(0, 90, n),
            "size": pd.Series(rng.choice(["S", "M", "L"], n), dtype=size),
            "zip": pd.Categorical(rng.choice([10, 20, 30], n)),
        }
    )


LABEL = np.random.default_rng(1).normal(size=120)


class TestWhichColumns:
    @pytest.mark.parametrize(
        ("asked", "found"),
        [
            ("auto", [0, 3]),
            (None, [0, 3]),
            (["city"], [0]),
            (["zip", "city"], [0, 3]),
            ([0, "age"], [0, 1]),
            ("0,2", [0, 2]),
            ("name:city,zip", [0, 3]),
            (np.array([3, 0]), [0, 3]),
            (("city", np.int64(1)), [0, 1]),
        ],
    )
    def test_as_argument_and_as_parameter(self, asked: Any, found: list[int]) -> None:
        assert Dataset(frame(), categorical_feature=asked).categorical_columns == found
        for name in ("categorical_feature", "cat_feature", "categorical_column"):
            if asked is not None:
                assert Dataset(frame(), params={name: asked}).categorical_columns == found

    def test_the_argument_wins(self) -> None:
        data = Dataset(frame(), categorical_feature=[0], params={"categorical_feature": [0, 1]})
        assert data.categorical_columns == [0]

    def test_codes_in_arrays(self) -> None:
        table = np.arange(12.0).reshape(4, 3)
        assert Dataset(table).categorical_columns == []
        data = Dataset(table, categorical_feature=[2, 0])
        assert (data.categorical_columns, data.levels) == ([0, 2], None)
        assert Dataset(table, categorical_feature=["Column_1"]).categorical_columns == [1]

    def test_a_column_whose_name_is_a_number(self) -> None:
        table = pd.DataFrame({"1": [0, 1], "0": [2, 3]})
        assert Dataset(table, params={"categorical_feature": "0"}).categorical_columns == [1]
        assert Dataset(table, categorical_feature=[0]).categorical_columns == [0]

    @pytest.mark.parametrize(
        ("asked", "words"),
        [
            (["town", 0], "a column that is not there: got 'town'"),
            (["cty"], "Did you mean city"),
            ([0, 4], r"a column that is not there: got 4, expected 0..3"),
            ([-1], "a column that is not there: got -1"),
            ([0, 0], "the same column twice: got 'city'"),
            ([0, "city"], "the same column twice: got 'city'"),
            ([1], "column 'city' holds text, but categorical_feature leaves it out"),
            ([], "column 'city' holds text"),
        ],
    )
    def test_what_is_not_there(self, asked: Any, words: str) -> None:
        with pytest.raises(DataError, match=words):
            Dataset(frame(), categorical_feature=asked).construct()

    @pytest.mark.parametrize("asked", [[True], [0.5], {"city": 1}, [None], iter([0])])
    def test_what_is_no_list_of_columns(self, asked: Any) -> None:
        with pytest.raises(ParameterError, match="categorical_feature has an invalid value"):
            Dataset(frame(), categorical_feature=asked).construct()

    def test_nothing_asked(self) -> None:
        assert read_asked("") is None and read_asked("auto") is None
        assert categorical_columns((), {1: "category"}, ["a", "b"]) == []


class TestDataset:
    def test_levels(self) -> None:
        data = Dataset(frame()).construct()
        found = {0: ("Bern", "Oslo", "Rome"), 2: ("S", "M", "L"), 3: (10, 20, 30)}
        assert data.levels == Levels(found)
        assert data.pandas_categorical == [list(levels) for levels in found.values()]
        assert Dataset(np.eye(3)).construct().pandas_categorical is None

    def test_validation_data_and_subsets_take_those_of_the_reference(self) -> None:
        data = Dataset(frame(), LABEL, free_raw_data=False)
        other = frame()[["zip", "city", "size", "age"]].iloc[:7]
        other["city"] = ["Oslo", "Paris", None, "Bern", "Rome", "Oslo", "Oslo"]
        valid = data.create_valid(other, LABEL[:7]).construct()
        for part in (valid, data.subset([5, 3]).construct()):
            assert part.levels == data.levels
            assert part.categorical_columns == [0, 3]
            assert part.pandas_categorical == data.pandas_categorical
        bins = built_data(valid).table.bins.copy_column(0)
        assert bins[[0, 3, 4, 5, 6]].tolist() == [2, 1, 3, 2, 2], "what lies below comes first"
        assert bins[1] == bins[2], "unseen is missing"

    def test_other_types_in_validation_data(self) -> None:
        data = Dataset(frame(), LABEL)
        with pytest.raises(DataError, match=r"'age' .*: got text such as .*, expected numbers"):
            data.create_valid(frame().assign(age="old"), LABEL).construct()
        with pytest.raises(DataError, match=r"'city' .*: got numbers, expected text"):
            data.create_valid(frame().assign(city=0), LABEL).construct()
        with pytest.raises(DataError, match="unknown 'more'"):
            data.create_valid(frame().assign(more="text"), LABEL).construct()

    def test_as_in_lightgbm(self) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        table = frame().astype({"city": "category"})
        for asked in ("auto", ["city"], [0, 1]):
            ours = Dataset(table, LABEL, categorical_feature=asked).construct()
            theirs = lightgbm.Dataset(table, LABEL, categorical_feature=asked).construct()
            assert ours.pandas_categorical == theirs.pandas_categorical
            assert ours.categorical_columns == theirs.params["categorical_column"]

    def test_raw_data_of_a_subset(self) -> None:
        pa = pytest.importorskip("pyarrow")
        table = frame()
        objects = table[["city", "age"]].to_numpy(dtype=object)
        for raw in (table, objects, pa.Table.from_pandas(table[["city", "age"]])):
            part = Dataset(raw, free_raw_data=False).subset([4, 2]).get_data()
            assert type(part) is type(raw) and len(part) == 2
        rows = Dataset(objects.tolist(), free_raw_data=False).subset([4]).get_data()
        assert rows.tolist() == objects[[4]].tolist()
        pd.testing.assert_frame_equal(
            Dataset(table, free_raw_data=False).subset([4, 2]).get_data(), table.iloc[[2, 4]]
        )

    def test_set_categorical_feature(self) -> None:
        data = Dataset(frame(), free_raw_data=False).construct()
        assert data.set_categorical_feature(["city"]).categorical_columns == [0]
        assert data.set_categorical_feature("auto").categorical_columns == [0, 3]
        freed = Dataset(frame()).construct()
        assert freed.set_categorical_feature([3, "city"]).categorical_columns == [0, 3]
        assert freed.set_categorical_feature([0, 3]).categorical_columns == [0, 3]
        with pytest.raises(DataError, match=r"set_categorical_feature\(\) needs the raw data"):
            freed.set_categorical_feature([0])
        with pytest.raises(DataError, match=r"set_categorical_feature\(\) needs the raw data"):
            freed.set_categorical_feature("auto")

    def test_parameters_of_a_training(self) -> None:
        def columns(data: Dataset, asked: Any) -> list[int]:
            Booster({"categorical_feature": asked, "verbosity": -1}, data)
            return data.categorical_columns

        assert columns(Dataset(frame(), LABEL), "name:city") == [0]
        kept = Dataset(frame(), LABEL, free_raw_data=False).construct()
        assert columns(kept, ["city", "age"]) == [0, 1]
        given = Dataset(frame(), LABEL, categorical_feature=["city"]).construct()
        assert columns(given, [0, 3]) == [0]
        freed = Dataset(frame(), LABEL).construct()
        assert columns(freed, "0,3") == [0, 3]
        with pytest.raises(DataError, match="categorical_feature cannot change"):
            columns(freed, [0])

    def test_binary_file(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.bin"
        data = Dataset(frame(), LABEL, categorical_feature=["city"]).save_binary(path)
        again = Dataset(path).construct()
        assert again.levels == data.levels
        assert again.categorical_columns == [0]
        assert Dataset(path, categorical_feature=[0]).categorical_columns == [0]
        with pytest.raises(
            DataError, match=r"data set file's: got \['city', 'age'\], .*\['city'\]"
        ):
            Dataset(path, categorical_feature=[0, 1]).construct()
        kept = Dataset(path, free_raw_data=False).construct()
        with pytest.raises(DataError, match=r"categorical_feature cannot .* \['city'\]"):
            Booster({"categorical_feature": [1]}, kept)
        valid = again.create_valid(frame(), LABEL).construct()
        np.testing.assert_array_equal(
            built_data(valid).table.bins.copy_column(0), built_data(data).table.bins.copy_column(0)
        )

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("levels", [[9, ["a"]]], "levels of a column that is not there"),
            ("categorical_columns", [4], "not there"),
            ("categorical_columns", [3, 0], "not in order"),
            ("categorical_columns", "03", "not a list of numbers"),
            ("categorical_columns", [True], "not a list of numbers"),
        ],
    )
    def test_broken_files(self, tmp_path: Path, name: str, value: Any, words: str) -> None:
        path = tmp_path / "rows.bin"
        Dataset(frame(), LABEL).save_binary(path)
        arrays, facts = files.from_bytes(path.read_bytes())
        path.write_bytes(files.to_bytes(arrays, {**facts, name: value}))
        with pytest.raises(DataError, match=words):
            Dataset(path).construct()

    def test_tables_of_numbers_have_the_same_bytes_as_before(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.bin"
        Dataset(np.eye(30), np.arange(30)).save_binary(path)
        facts = files.from_bytes(path.read_bytes())[1]
        assert not {"levels", "categorical_columns"} & set(facts)


@pytest.fixture
def model() -> Booster:
    label = frame()["city"].map({"Rome": 3.0, "Bern": -1.0, "Oslo": 2.0}) + LABEL / 10
    params = {"min_data_in_leaf": 2, "verbosity": -1}
    booster = train(params, Dataset(frame(), label.to_numpy()), 20)
    assert "city" in np.array(NAMES)[booster.feature_importance() > 0]
    return booster


class TestModel:
    def test_predicting_frames(self, model: Booster) -> None:
        table = frame()
        codes = table.assign(
            city=table["city"].map({"Bern": 0, "Oslo": 1, "Rome": 2}),
            size=table["size"].cat.codes,
            zip=table["zip"].cat.codes,
        ).to_numpy(dtype=float)
        plain = model_file.from_bytes(model_file.to_bytes(model.model))
        object.__setattr__(plain, "levels", None)
        other = Booster(model_str=model_file.to_text(plain))
        expected = other.predict(codes)
        assert len(set(expected.tolist())) > 3
        np.testing.assert_array_equal(model.predict(table), expected)
        np.testing.assert_array_equal(model.predict(table[NAMES[::-1]]), expected)
        np.testing.assert_array_equal(model.predict(table.to_numpy(dtype=object)), expected)
        as_text = table.astype({"city": "category", "size": object, "zip": int})
        np.testing.assert_array_equal(model.predict(as_text), expected)
        pl = pytest.importorskip("polars")
        columns = {name: as_text[name].tolist() for name in NAMES}
        np.testing.assert_array_equal(model.predict(pl.DataFrame(columns)), expected)

    def test_unseen_is_missing(self, model: Booster) -> None:
        table = frame()
        with pytest.warns(UserWarning, match="none of the values of column 'city'"):
            unseen = model.predict(table.assign(city="Atlantis"))
        np.testing.assert_array_equal(unseen, model.predict(table.assign(city=None)))

    def test_other_types(self, model: Booster) -> None:
        with pytest.raises(DataError, match=r"column 'city' .*got numbers, expected text"):
            model.predict(frame().assign(city=1))
        with pytest.raises(DataError, match=r"'age' .*got text such as .*, expected numbers"):
            model.predict(frame().assign(age="x"))
        with pytest.raises(DataError, match=r"column 0 .*got numbers, expected text"):
            model.predict(np.zeros((3, 4)))
        with pytest.raises(DataError, match=r"number of columns .*: got 5, expected 4"):
            model.predict(frame().assign(more="x").to_numpy(dtype=object))
        with pytest.raises(DataError, match="missing 'city'"):
            model.predict(frame().drop(columns="city"))

    def test_further_columns(self, model: Booster) -> None:
        expected = model.predict(frame())
        more = frame().assign(id=[f"row {i}" for i in range(120)])
        tables = [more, more.to_numpy(dtype=object)]
        pl = pytest.importorskip("polars")
        tables.append(pl.DataFrame({name: more[name].tolist() for name in more.columns}))
        for table in tables:
            found = model.predict(table, predict_disable_shape_check=True)
            np.testing.assert_array_equal(found, expected)

    def test_files_and_copies_keep_them(self, model: Booster, tmp_path: Path) -> None:
        path = tmp_path / "model.gsm"
        model.save_model(path, num_iteration=7)
        copies = [
            Booster(model_file=path),
            Booster(model_str=model.model_to_string()),
            pickle.loads(pickle.dumps(model)),
        ]
        expected = [model.predict(frame(), num_iteration=n) for n in (7, 20, 20)]
        for copy, prediction in zip(copies, expected, strict=True):
            assert copy.levels == model.levels
            assert copy.pandas_categorical == model.pandas_categorical
            np.testing.assert_array_equal(copy.predict(frame()), prediction)
        assert model.pandas_categorical == [
            ["Bern", "Oslo", "Rome"],
            ["S", "M", "L"],
            [10, 20, 30],
        ]

    @pytest.mark.parametrize(
        ("levels", "words"),
        [
            ([[7, ["a"]]], "column that is not there"),
            ([[0, ["a", "a"]]], "same level twice"),
            ([[0, ["a", 1]]], "text and numbers"),
            ([[0, [None]]], "neither text nor a finite number"),
            ("city", "not a list of columns"),
            (None, "not a list of columns"),
        ],
    )
    def test_broken_files(self, model: Booster, levels: Any, words: str) -> None:
        arrays, facts = files.from_bytes(model_file.to_bytes(model.model))
        assert json.dumps(facts["levels"][0]) == '[0, ["Bern", "Oslo", "Rome"]]'
        with pytest.raises(ModelFileError, match=words):
            model_file.from_bytes(files.to_bytes(arrays, {**facts, "levels": levels}))

    def test_models_of_numbers_have_the_same_bytes_as_before(self) -> None:
        booster = train({"verbosity": -1}, Dataset(np.eye(30), np.arange(30)), 1)
        assert booster.pandas_categorical is None and booster.levels is None
        assert "levels" not in files.from_bytes(model_file.to_bytes(booster.model))[1]


def test_missing_values_are_no_level() -> None:
    with pytest.raises(ParameterError, match="use_missing=false cannot be combined with text"):
        Dataset(frame(), LABEL, params={"use_missing": False}).construct()
