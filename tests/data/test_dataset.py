"""Data sets: construction, fields, relations."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from gossamer import DataError, Dataset
from gossamer.data.dataset import built_data
from gossamer.params import resolve

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(200, 3))
LABEL = TABLE[:, 0]


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def bins_of(data: Dataset) -> np.ndarray:
    binned = built_data(data).table
    return np.array([binned.bins.copy_column(f) for f in range(binned.binning.n_features)])


class TestConstruction:
    """What is read, when, and what is kept."""

    @pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
    def test_a_construction_that_failed_is_done_again(
        self, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever stopped it: labels that were not checked would be used as they are."""
        data = Dataset(TABLE, LABEL)

        def fail(_: object) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr("gossamer.data.labels.fields._to_float32", fail)
            with pytest.raises(error):
                data.construct()
        label = data.construct().get_label()
        assert label is not None
        assert label.dtype == np.float32

    def test_nothing_is_read_before_construct(self) -> None:
        data = Dataset("no such file", label="nonsense", weight=-1)
        with pytest.raises(FileNotFoundError):
            data.construct()

    def test_raw_data_is_let_go(self) -> None:
        table = TABLE.copy()
        alive = weakref.ref(table)
        data = Dataset(table, LABEL).construct()
        del table
        gc.collect()
        assert alive() is None
        assert data.num_data() == 200

    def test_raw_data_is_kept_on_request(self) -> None:
        data = Dataset(TABLE, LABEL, free_raw_data=False).construct()
        assert data.get_data() is TABLE

    def test_using_freed_data_says_so(self) -> None:
        data = Dataset(TABLE, LABEL).construct()
        with pytest.raises(DataError, match="data set used after being freed: get_data"):
            data.get_data()
        with pytest.raises(DataError, match="data set used after being freed: set_reference"):
            data.set_reference(Dataset(TABLE[:50]).construct())

    def test_failed_construction_can_be_put_right(self) -> None:
        data = Dataset(TABLE, LABEL[:5])
        with pytest.raises(DataError, match="differ in length"):
            data.construct()
        assert data.set_label(LABEL).construct().num_data() == 200

    @pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
    def test_empty_tables(self, shape: tuple[int, int]) -> None:
        with pytest.raises(DataError, match=r"data has no (rows|columns)"):
            Dataset(np.empty(shape)).construct()

    def test_constant_columns_are_still_there_for_the_user(self) -> None:
        table = TABLE.copy()
        table[:, 1] = 5
        data = Dataset(table, feature_name=["a", "b", "c"]).construct()
        assert data.num_feature() == 3
        assert data.get_feature_name() == ["a", "b", "c"]
        assert data.feature_num_bin("b") == 1
        assert data.feature_num_bin(0) == data.feature_num_bin("a") > 10
        assert built_data(data).table.binning.n_features == 2

    def test_bins_count_the_missing_one(self) -> None:
        table = np.array([[0.0], [1.0], [np.nan]])
        assert Dataset(table, params={"min_data_in_bin": 1}).feature_num_bin(0) == 3

    def test_no_such_column(self) -> None:
        data = Dataset(TABLE)
        for feature in (-1, 3, "x"):
            with pytest.raises(DataError, match="no such column"):
                data.feature_num_bin(feature)

    def test_several_threads_construct_once(self) -> None:
        data = Dataset(RNG.normal(size=(5000, 5)))
        found: list[Any] = []
        threads = [
            threading.Thread(target=lambda: found.append(built_data(data).table)) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({id(binned) for binned in found}) == 1
        assert len(found) == 6


class TestParams:
    """Parameters of the data set and of the training."""

    def test_aliases_and_errors(self) -> None:
        assert Dataset(TABLE, params={"max_bins": 7}).feature_num_bin(0) == 7
        with pytest.raises(ValueError, match="max_bin"):
            Dataset(TABLE, params={"max_bin": 1}).construct()

    def test_get_params_shows_what_shaped_the_bins(self) -> None:
        data = Dataset(TABLE, params={"max_bins": 7, "num_leaves": 3})
        assert data.get_params() == {"max_bin": 7}

    def test_training_parameters_are_taken_over_before_binning(self) -> None:
        data = Dataset(TABLE, params={"min_data_in_bin": 1})
        built_data(data, resolve({"max_bins": 9}))
        assert data.feature_num_bin(0) == 9
        assert data.get_params() == {"max_bin": 9, "min_data_in_bin": 1}

    def test_same_or_unnamed_parameters_change_nothing(self) -> None:
        data = Dataset(TABLE, params={"max_bin": 9}).construct()
        before = built_data(data).table
        built_data(data, resolve({"num_leaves": 7}))
        built_data(data, resolve({"max_bin": 9}))
        assert built_data(data).table is before

    def test_other_bins_after_binning(self) -> None:
        kept = Dataset(TABLE, free_raw_data=False).construct()
        assert built_data(kept, resolve({"max_bin": 9})).n_bins_of(0) == 9
        freed = Dataset(TABLE).construct()
        with pytest.raises(DataError, match=r"max_bin cannot change after.*got 9, expected 255"):
            built_data(freed, resolve({"max_bin": 9}))


class TestFields:
    """Label, weight, init_score and those to come."""

    def test_fields_before_and_after_construction(self) -> None:
        data = Dataset(TABLE).set_label(LABEL).set_weight(np.ones(200)).set_init_score(LABEL)
        assert data.get_label() is LABEL
        data.construct()
        assert data.get_label().dtype == np.float32
        assert data.get_weight().dtype == np.float32
        np.testing.assert_array_equal(data.get_init_score(), LABEL)
        for name in ("label", "weight", "init_score"):
            np.testing.assert_array_equal(data.get_field(name), getattr(data, f"get_{name}")())

    def test_a_new_label_replaces_the_old(self) -> None:
        data = Dataset(TABLE, LABEL)
        assert built_data(data).targets.label[0] == np.float32(LABEL[0])
        data.set_label(np.zeros(200))
        assert built_data(data).targets.label[0] == 0

    def test_bad_fields_after_construction(self) -> None:
        data = Dataset(TABLE, LABEL).construct()
        with pytest.raises(DataError, match="differ in length"):
            data.set_label([1])
        with pytest.raises(DataError, match="weight of row 0"):
            data.set_weight(-np.ones(200))

    def test_scores_of_several_classes_come_back_by_row(self) -> None:
        scores = RNG.normal(size=(200, 3))
        data = Dataset(TABLE, LABEL, init_score=scores).construct()
        np.testing.assert_array_equal(data.get_init_score(), scores)

    def test_no_label(self) -> None:
        with pytest.raises(DataError, match="the data set has no label"):
            _ = built_data(Dataset(TABLE)).targets

    def test_unknown_fields(self) -> None:
        for action in (Dataset(TABLE).get_field, lambda name: Dataset(TABLE).set_field(name, 1)):
            with pytest.raises(DataError, match="no such field: got 'price'"):
                action("price")

    def test_what_is_not_asked_for_is_fine(self) -> None:
        data = Dataset(TABLE, group=None, position=None, categorical_feature="auto")
        assert data.set_categorical_feature([]).get_group() is None
        assert data.get_position() is None


class TestNames:
    """Names of columns."""

    def test_default_names_are_lightgbms(self) -> None:
        assert Dataset(TABLE).get_feature_name() == ["Column_0", "Column_1", "Column_2"]

    def test_names_are_checked(self) -> None:
        with pytest.raises(DataError, match="same name twice"):
            Dataset(TABLE, feature_name=["a", "b", "a"]).construct()
        with pytest.raises(DataError, match="differ in length"):
            Dataset(TABLE).construct().set_feature_name(["a"])

    def test_names_can_be_set_before_and_after(self) -> None:
        names = ["x", "y", "ß"]
        assert Dataset(TABLE).set_feature_name(names).get_feature_name() == names
        assert Dataset(TABLE).construct().set_feature_name(names).get_feature_name() == names
        assert Dataset(TABLE).set_feature_name("auto").get_feature_name()[0] == "Column_0"
        assert Dataset(TABLE, feature_name=np.array(names)).get_feature_name() == names

    def test_names_of_a_frame(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(TABLE, columns=["a", "b", "c"])
        assert Dataset(frame).get_feature_name() == ["a", "b", "c"]
        assert Dataset(frame, feature_name=["x", "y", "z"]).get_feature_name() == ["x", "y", "z"]
        twice = pandas.DataFrame(TABLE, columns=["a", "b", "a"])
        with pytest.raises(DataError, match="same name twice"):
            Dataset(twice).construct()


class TestReference:
    """Validation sets and subsets."""

    def test_validation_uses_the_bins_of_the_training_data(self) -> None:
        train = Dataset(TABLE, LABEL)
        valid = train.create_valid(TABLE[:50] * 2, LABEL[:50]).construct()
        assert built_data(valid).table.binning is built_data(train).table.binning
        same = train.create_valid(TABLE, LABEL)
        np.testing.assert_array_equal(bins_of(same), bins_of(train))

    def test_other_columns(self) -> None:
        train = Dataset(TABLE, LABEL)
        with pytest.raises(DataError, match="differ in columns: got 2, expected 3"):
            train.create_valid(TABLE[:, :2]).construct()

    def test_frames_are_matched_by_name(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(TABLE, columns=["a", "b", "c"])
        train = Dataset(frame, LABEL)
        swapped = train.create_valid(frame[["c", "a", "b"]], LABEL)
        np.testing.assert_array_equal(bins_of(swapped), bins_of(train))
        with pytest.raises(DataError, match="missing 'a', unknown 'x'"):
            train.create_valid(frame.rename(columns={"a": "x"})).construct()

    def test_set_reference_bins_again(self) -> None:
        train = Dataset(TABLE, LABEL)
        valid = Dataset(TABLE[:20], LABEL[:20], free_raw_data=False).construct()
        valid.set_reference(train)
        assert built_data(valid).table.binning is built_data(train).table.binning

    def test_chain(self) -> None:
        first = Dataset(TABLE)
        second = first.create_valid(TABLE)
        third = second.create_valid(TABLE)
        assert third.get_ref_chain() == {first, second, third}
        assert third.get_ref_chain(ref_limit=2) == {second, third}

    def test_subset_takes_rows(self) -> None:
        weight, scores = np.arange(200.0), RNG.normal(size=(200, 2))
        data = Dataset(TABLE, LABEL, weight=weight, init_score=scores, free_raw_data=False)
        rows = [5, 3, 199]
        part = data.subset(rows).construct()
        assert part.num_data() == 3
        assert part.get_feature_name() == data.get_feature_name()
        np.testing.assert_array_equal(bins_of(part), bins_of(data)[:, [3, 5, 199]])
        assert part.get_weight().tolist() == [3, 5, 199]
        np.testing.assert_array_equal(part.get_init_score(), scores[[3, 5, 199]])
        np.testing.assert_array_equal(part.get_data(), TABLE[[3, 5, 199]])
        assert built_data(part).table.binning is built_data(data).table.binning

    def test_subset_knows_whether_something_is_missing(self) -> None:
        table = TABLE.copy()
        table[7, 1] = np.nan
        data = Dataset(table)
        assert built_data(data.subset([7, 8])).table.bins.has_missing().tolist() == [0, 1, 0]
        assert built_data(data.subset([8, 9])).table.bins.has_missing().tolist() == [0, 0, 0]

    @pytest.mark.parametrize("rows", [[], [-1], [200]], ids=str)
    def test_bad_rows(self, rows: list[int]) -> None:
        with pytest.raises(DataError, match="used_indices must be rows"):
            Dataset(TABLE).subset(rows).construct()


class TestMethodsOfLightGBM:
    """Small methods, and what they return."""

    def test_rows_of_a_subset(self) -> None:
        rows = [5, 3, 9]
        for free_raw_data in (False, True):
            data = Dataset(TABLE, LABEL, free_raw_data=free_raw_data)
            part = data.subset(rows)
            np.testing.assert_array_equal(part.get_data(), TABLE[[3, 5, 9]])
            if free_raw_data:
                data.construct()
                with pytest.raises(DataError, match="used after being freed"):
                    part.get_data()
        assert part.construct().num_data() == 3
        assert part.get_ref_chain() == {part, data}
        np.testing.assert_array_equal(part.get_label(), data.get_label()[[3, 5, 9]])

    def test_rows_of_a_frame_stay_one(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(TABLE)
        part = Dataset(frame, LABEL).subset([3, 5])
        pandas.testing.assert_frame_equal(part.get_data(), frame.iloc[[3, 5]])

    def test_a_chain_of_references(self) -> None:
        first = Dataset(TABLE, LABEL)
        second = first.create_valid(TABLE)
        third = Dataset(TABLE, reference=second)
        assert third.get_ref_chain() == {first, second, third}
        assert third.get_ref_chain(2) == {second, third}

    def test_fields_beside_lightgbm(self) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        fields = {
            "weight": np.arange(200) + 1.0,
            "group": [50, 100, 50],
            "init_score": LABEL.copy(),
            "position": np.arange(200) % 5,
        }
        mine = Dataset(TABLE, LABEL, **fields).construct()
        peer = lightgbm.Dataset(TABLE, LABEL, **fields).construct()
        for name in ("label", "weight", "init_score", "group", "position"):
            np.testing.assert_array_equal(mine.get_field(name), peer.get_field(name))
            one, other = (getattr(data, f"get_{name}")() for data in (mine, peer))
            np.testing.assert_array_equal(one, other)
        for data in (mine, peer):
            data.set_field("weight", None)
            assert data.get_field("weight") is None
            data.set_field("label", np.ones(200))
            assert data.get_field("label").tolist() == [1.0] * 200
