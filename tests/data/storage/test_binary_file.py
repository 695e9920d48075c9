"""Binned data sets in files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import gossamer
from gossamer import DataError, Dataset, files
from gossamer.data.dataset import built_data

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(300, 5))
TABLE[:, 1] = 3  # constant
TABLE[RNG.random(300) < 0.1, 2] = np.nan
LABEL = TABLE[:, 0] > 0
PARAMS = {"objective": "binary", "max_bin": 280, "min_data_in_bin": 1, "min_data_in_leaf": 5}


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def make() -> Dataset:
    return Dataset(
        TABLE,
        LABEL,
        weight=RNG.random(300),
        init_score=RNG.normal(size=300),
        feature_name=["a", "b", "ü", "d", "e"],
        params=PARAMS,
    )


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "data.bin"
    make().save_binary(path)
    return path


def test_training_on_the_file_gives_the_same_model(saved: Path) -> None:
    data = make()
    data.save_binary(saved)
    expected = gossamer.train(PARAMS, data, 5)
    again = Dataset(str(saved)).construct()
    assert again.get_feature_name() == ["a", "b", "ü", "d", "e"]
    assert again.num_feature() == 5
    assert {again.feature_num_bin(c) > 256 for c in (0, 3)} == {True}  # two-byte bins
    model = gossamer.train(
        {k: v for k, v in PARAMS.items() if "bin" not in k or k == "objective"}, again, 5
    )
    np.testing.assert_array_equal(model.predict(TABLE), expected.predict(TABLE))


def test_fields_given_win_over_those_of_the_file(saved: Path) -> None:
    data = Dataset(saved, label=np.zeros(300)).construct()
    assert not data.get_label().any()
    assert data.get_weight() is not None


def test_a_file_can_be_the_reference(saved: Path) -> None:
    train = Dataset(saved)
    valid = train.create_valid(TABLE, LABEL).construct()
    assert built_data(valid).table.binning is built_data(train).table.binning


def test_without_label(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    Dataset(TABLE).save_binary(path)
    assert Dataset(path).construct().get_label() is None


def test_equal_data_give_equal_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        Dataset(TABLE, LABEL).save_binary(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "table.bin"
    path.write_bytes((20).to_bytes(8, "little") + b'{"a": 1}' + bytes(40))
    with pytest.raises(DataError, match=r"table\.bin' is not a usable data set file"):
        Dataset(path).construct()


def test_a_long_version_is_shortened(tmp_path: Path) -> None:
    path = tmp_path / "table.bin"
    Dataset(TABLE, LABEL).save_binary(path)
    arrays, facts = files.from_bytes(path.read_bytes())
    path.write_bytes(files.to_bytes(arrays, {**facts, "version": "x" * 100_000}))
    with pytest.raises(DataError, match="not a usable data set file") as caught:
        Dataset(path).construct()
    assert len(str(caught.value)) < 1000


def test_a_model_is_no_data_set(tmp_path: Path) -> None:
    path = tmp_path / "model"
    gossamer.train({}, Dataset(TABLE, LABEL), 1).save_model(path)
    with pytest.raises(DataError, match="'gossamer model' version 1, not"):
        Dataset(path).construct()


def test_cut_off_and_altered_files(saved: Path) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[:-1])
    with pytest.raises(DataError, match="cut off"):
        Dataset(saved).construct()
    saved.write_bytes(content[:-5] + b"x" + content[-4:])
    with pytest.raises(DataError, match="altered"):
        Dataset(saved).construct()


def _bin_out_of_range(arrays: Any, facts: Any) -> None:
    arrays["bins8"] = arrays["bins8"].copy()
    arrays["bins8"][0, 0] = 255


def _too_few_rows(arrays: Any, facts: Any) -> None:
    arrays["bins16"] = arrays["bins16"][:, :-1]


def _no_bins(arrays: Any, facts: Any) -> None:
    del arrays["bins16"]


def _bad_label(arrays: Any, facts: Any) -> None:
    arrays["label"] = np.full(300, np.nan, dtype=np.float32)


def _bad_weight(arrays: Any, facts: Any) -> None:
    arrays["weight"] = arrays["weight"][:3]


def _bounds_backwards(arrays: Any, facts: Any) -> None:
    arrays["binning.upper"] = arrays["binning.upper"][::-1].copy()


def _no_names(arrays: Any, facts: Any) -> None:
    del facts["names"]


def _few_names(arrays: Any, facts: Any) -> None:
    facts["names"] = ["a", "b"]


def _many_rows(arrays: Any, facts: Any) -> None:
    facts["n_rows"] = 2**40


def _newer(arrays: Any, facts: Any) -> None:
    facts["version"] += 1


@pytest.mark.parametrize(
    "damage",
    [
        _bin_out_of_range,
        _too_few_rows,
        _no_bins,
        _bad_label,
        _bad_weight,
        _bounds_backwards,
        _no_names,
        _few_names,
        _many_rows,
        _newer,
    ],
)
def test_what_fits_its_checksum_is_still_checked(tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "data.bin"
    table = np.column_stack([TABLE, np.arange(300) % 4])
    Dataset(table, LABEL, weight=np.ones(300), params=PARAMS).save_binary(path)
    arrays, facts = files.from_bytes(path.read_bytes())
    damage(arrays, facts)
    path.write_bytes(files.to_bytes(arrays, facts))
    with pytest.raises(DataError, match="is not a usable data set file"):
        Dataset(path).construct()


# ---- bundles and sparse columns ----


@pytest.fixture(scope="module")
def stored() -> tuple[Any, Any]:
    """Arrays and facts of a file with bundles, sparse columns, plain columns and missing values."""
    rng = np.random.default_rng(2)
    table = np.zeros((300, 70))
    for first, size in ((0, 4), (4, 12)):
        table[np.arange(300), first + rng.integers(0, size, 300)] = rng.integers(1, 4, 300)
    filled = rng.random((300, 50)) < 0.08
    table[:, 16:66] = np.where(filled, rng.integers(-2, 4, filled.shape), 0)
    table[:, 66:] = rng.integers(0, 9, (300, 4))
    table[np.nonzero(table[:, 20])[0][:3], 20] = np.nan
    data = Dataset(table, np.arange(300) % 2, params={"min_data_in_bin": 1})
    with TemporaryDirectory() as folder:
        data.save_binary(Path(folder, "data.bin"))
        arrays, facts = files.from_bytes(Path(folder, "data.bin").read_bytes())
    assert len(arrays["storage.bundle_ends"]) >= 1
    assert len(arrays["storage.loose"]) >= 10
    return arrays, facts


def _replace(name: str, change: Any) -> Any:
    """Damage to one array: a copy is changed, or what `change` returns takes its place."""

    def damage(arrays: Any, facts: Any) -> None:
        copy = arrays[name].copy()
        changed = change(copy)
        arrays[name] = copy if changed is None else changed

    return damage


def _set(name: str, index: int, value: Any) -> Any:
    def change(array: np.ndarray) -> None:
        array[index] = array.dtype.type(value)

    return _replace(name, change)


def _without(name: str) -> Any:
    def damage(arrays: Any, facts: Any) -> None:
        del arrays[name]

    return damage


def _at_first_entry(name: str, value_of: Any) -> Any:
    """Changes what belongs to the first entry of the first column that has two or more."""

    def damage(arrays: Any, facts: Any) -> None:
        column = int(np.flatnonzero(np.diff(arrays["sparse.begin"]) > 1)[0])
        entry = int(arrays["sparse.begin"][column])
        arrays[name] = arrays[name].copy()
        arrays[name][entry] = value_of(arrays, column, entry)

    return damage


def _zero_bin(arrays: Any, column: int, entry: int) -> int:
    """The bin of zero: entries are what is not in it."""
    feature = arrays["sparse.features"][column]
    first, last = arrays["binning.offsets"][feature : feature + 2]
    return int(np.searchsorted(arrays["binning.upper"][first:last], 0.0))


def _beyond_missing(arrays: Any, column: int, entry: int) -> int:
    feature = arrays["sparse.features"][column]
    return int(np.diff(arrays["binning.offsets"])[feature]) + 1


def _plain_feature(arrays: Any) -> int:
    kept = np.concatenate((arrays["storage.bundled"], arrays["storage.loose"]))
    return int(np.setdiff1d(np.arange(len(arrays["binning.columns"])), kept)[0])


def _entries_of_a_plain_feature(arrays: Any, facts: Any) -> None:
    arrays["sparse.features"] = arrays["sparse.features"].copy()
    arrays["sparse.features"][-1] = max(_plain_feature(arrays), arrays["sparse.features"][-2] + 1)


def _bundle_takes_a_plain_feature(arrays: Any, facts: Any) -> None:
    arrays["storage.bundled"] = arrays["storage.bundled"].copy()
    arrays["storage.bundled"][0] = _plain_feature(arrays)


def _loose_feature_in_a_bundle(arrays: Any, facts: Any) -> None:
    arrays["storage.loose"] = arrays["storage.loose"].copy()
    arrays["storage.loose"][0] = arrays["storage.bundled"][0]


def _too_wide_a_bundle(arrays: Any, facts: Any) -> None:
    """Bins for more values than a bundle can have."""
    bundled = arrays["storage.bundled"][:2]
    n_bins = np.diff(arrays["binning.offsets"])
    uppers = np.split(arrays["binning.upper"], arrays["binning.offsets"][1:-1])
    for feature in bundled:
        uppers[feature] = np.append(np.arange(40_000) + 0.5, np.inf)
        n_bins[feature] = len(uppers[feature])
    arrays["binning.upper"] = np.concatenate(uppers)
    arrays["binning.offsets"] = np.concatenate(([0], np.cumsum(n_bins)))


def _begin_far_away(arrays: Any, facts: Any) -> None:
    """Comes back at the end, so that only a look at each step shows it."""
    arrays["sparse.begin"] = arrays["sparse.begin"].copy()
    arrays["sparse.begin"][1] = 2**62


DAMAGES = {
    "no bundles": _without("storage.bundled"),
    "no ends of bundles": _without("storage.bundle_ends"),
    "no sparse columns": _without("storage.loose"),
    "no entries": _without("sparse.rows"),
    "no may_miss": _without("storage.may_miss"),
    "bundled feature negative": _set("storage.bundled", 0, -1),
    "bundled feature too large": _set("storage.bundled", 0, 10_000),
    "bundled feature twice": _replace("storage.bundled", lambda a: np.repeat(a[:1], len(a))),
    "bundled features as floats": _replace("storage.bundled", lambda a: a.astype(np.float32)),
    "bundled features in a matrix": _replace("storage.bundled", lambda a: a[None]),
    "bundle that takes a plain feature": _bundle_takes_a_plain_feature,
    "bundle too wide": _too_wide_a_bundle,
    "ends of bundles decrease": _replace("storage.bundle_ends", lambda a: np.repeat(a[-1:], 2)),
    "ends of bundles start at zero": _set("storage.bundle_ends", 0, 0),
    "ends of bundles too large": _set("storage.bundle_ends", -1, 10_000),
    "ends of bundles too small": _set("storage.bundle_ends", -1, 2),
    "no end of a bundle": _replace("storage.bundle_ends", lambda a: a[:0]),
    "loose feature negative": _set("storage.loose", 0, -5),
    "loose feature too large": _set("storage.loose", -1, 10_000),
    "loose feature twice": _replace("storage.loose", lambda a: np.repeat(a[:1], len(a))),
    "loose feature in a bundle": _loose_feature_in_a_bundle,
    "loose feature forgotten": _replace("storage.loose", lambda a: a[1:]),
    "may_miss too short": _replace("storage.may_miss", lambda a: a[:-1]),
    "may_miss as floats": _replace("storage.may_miss", lambda a: a.astype(np.float32)),
    "entries of a feature too large": _set("sparse.features", -1, 10_000),
    "entries of a negative feature": _set("sparse.features", 0, -1),
    "entries of a plain feature": _entries_of_a_plain_feature,
    "features of entries not in order": _replace("sparse.features", lambda a: a[::-1].copy()),
    "features of entries too few": _replace("sparse.features", lambda a: a[:-1]),
    "begin not at zero": _set("sparse.begin", 0, 1),
    "begin negative": _set("sparse.begin", 0, -1),
    "begin decreases": _set("sparse.begin", 2, 0),
    "begin far away": _begin_far_away,
    "begin ends too late": _set("sparse.begin", -1, 100_000),
    "begin ends too early": _set("sparse.begin", -1, 3),
    "begin too short": _replace("sparse.begin", lambda a: a[:-1]),
    "begin of another type": _replace("sparse.begin", lambda a: a.astype(np.int32)),
    "row too large": _at_first_entry("sparse.rows", lambda *_: 300),
    "row far too large": _at_first_entry("sparse.rows", lambda *_: 2**32 - 1),
    "rows not in order": _replace("sparse.rows", lambda a: a[::-1].copy()),
    "row twice": _at_first_entry("sparse.rows", lambda arrays, _, e: arrays["sparse.rows"][e + 1]),
    "rows too few": _replace("sparse.rows", lambda a: a[:-1]),
    "rows of another type": _replace("sparse.rows", lambda a: a.astype(np.int64)),
    "bin of zero": _at_first_entry("sparse.bins", _zero_bin),
    "bin beyond missing": _at_first_entry("sparse.bins", _beyond_missing),
    "bin far too large": _at_first_entry("sparse.bins", lambda *_: 65_535),
    "bins too few": _replace("sparse.bins", lambda a: a[:-1]),
    "bins of another type": _replace("sparse.bins", lambda a: a.astype(np.uint8)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_bundles_and_entries(stored: tuple[Any, Any], damage: str, tmp_path: Path) -> None:
    arrays, facts = ({**part} for part in stored)
    path = tmp_path / "data.bin"
    path.write_bytes(files.to_bytes(arrays, facts))
    Dataset(path).construct()  # is fine as it is
    DAMAGES[damage](arrays, facts)
    path.write_bytes(files.to_bytes(arrays, facts))
    with pytest.raises(DataError, match="is not a usable data set file"):
        Dataset(path).construct()


def _as_it_is(arrays: Any, facts: Any) -> None:
    pass


def _bundled_twice_in_a_row(arrays: Any, facts: Any) -> None:
    """Two features of one bundle share a row."""
    columns = np.searchsorted(arrays["sparse.features"], arrays["storage.bundled"][:2])
    first, second = arrays["sparse.begin"][columns]
    arrays["sparse.rows"] = arrays["sparse.rows"].copy()
    arrays["sparse.rows"][second] = arrays["sparse.rows"][first] = 0


def _missing_where_none_was(arrays: Any, facts: Any) -> None:
    """A missing value in every sparse column and bundle, also where there is no room for it."""
    n_bins = np.diff(arrays["binning.offsets"])
    arrays["sparse.bins"] = arrays["sparse.bins"].copy()
    for column, feature in enumerate(arrays["sparse.features"]):
        arrays["sparse.bins"][arrays["sparse.begin"][column]] = n_bins[feature]


def _no_room_for_missing(arrays: Any, facts: Any) -> None:
    arrays["storage.may_miss"] = np.zeros_like(arrays["storage.may_miss"])


@pytest.mark.parametrize(
    "change", [_as_it_is, _bundled_twice_in_a_row, _missing_where_none_was, _no_room_for_missing]
)
def test_contents_that_no_training_data_has(
    stored: tuple[Any, Any], change: Any, tmp_path: Path
) -> None:
    """Validation data may. A refusal is fine; a model that is not true to its rows is not."""
    arrays, facts = ({**part} for part in stored)
    change(arrays, facts)
    path = tmp_path / "data.bin"
    path.write_bytes(files.to_bytes(arrays, facts))
    params = {"min_data_in_leaf": 2, "min_sum_hessian_in_leaf": 0, "verbosity": -1}
    try:
        data = Dataset(path).construct()
        booster = gossamer.Booster(params, data)
    except DataError:
        return
    for _ in range(10):
        booster.update()
    forest = booster.model.forest
    assert forest.arrays["leaf_count"].min() >= 2
    # The trees send the rows of the file where training sent them.
    binning = built_data(data).table.binning
    table = np.zeros((300, data.num_feature()))
    for feature, column in enumerate(binning.columns):
        upper = binning.upper_of(feature)
        values = [
            *upper[:-1],
            np.max(upper[:-1], initial=0) + 1,
            np.nan,
        ]  # of each bin, and missing
        table[:, column] = np.take(values, built_data(data).table.bins.copy_column(feature))
    assert booster.training is not None
    np.testing.assert_array_equal(
        booster.predict(table, raw_score=True), booster.training.train.score
    )


@pytest.mark.parametrize("n_rows", [10**15, 2**32, 0, -1, 300.0, True, "300", None])
def test_numbers_of_rows_that_are_none(saved: Path, n_rows: Any) -> None:
    """They are refused before there is room for them."""
    arrays, facts = files.from_bytes(saved.read_bytes())
    saved.write_bytes(files.to_bytes(arrays, {**facts, "n_rows": n_rows}))
    with pytest.raises(DataError, match="number of rows must be between"):
        Dataset(saved).construct()


def test_more_rows_than_labels(saved: Path) -> None:
    arrays, facts = files.from_bytes(saved.read_bytes())
    saved.write_bytes(files.to_bytes(arrays, {**facts, "n_rows": 2**31}))
    with pytest.raises(DataError, match="label"):
        Dataset(saved).construct()


OTHER_BINS: dict[str, Any] = {
    "max_bin": 15,
    "max_bin_by_feature": [3, 3, 3, 3, 3],
    "forced_bins": {"a": [0.25]},
    "min_data_in_bin": 9,
    "bin_construct_sample_cnt": 100,
    "data_random_seed": 9,
    "use_missing": False,
    "zero_as_missing": True,
    "enable_bundle": False,
}


@pytest.mark.parametrize("name", OTHER_BINS)
def test_bins_of_a_file_are_not_other_ones(name: str, saved: Path) -> None:
    """A training that asks for them does not quietly get those of the file."""
    params = {"objective": "binary", name: OTHER_BINS[name], "verbosity": -1}
    canonical = "forcedbins_filename" if name == "forced_bins" else name
    data = Dataset(saved)
    with pytest.raises(DataError, match=f"{canonical} differs from its value in the data set file"):
        gossamer.train(params, data, 1)
    with pytest.raises(DataError, match=f"{canonical} differs"):
        Dataset(saved, params=params).construct()
    gossamer.train({"objective": "binary"}, data, 1)  # what failed leaves no trace
    with pytest.raises(DataError, match=f"{canonical} cannot change"):
        gossamer.train(params, data, 1)


def test_bins_of_a_file_may_be_asked_for_again(tmp_path: Path) -> None:
    params = {**OTHER_BINS, "zero_as_missing": False, "verbosity": -1, "objective": "binary"}
    names = list("abcde")
    expected = gossamer.train(params, Dataset(TABLE, LABEL, feature_name=names), 3)
    path = tmp_path / "rows"
    data = Dataset(TABLE, LABEL, feature_name=names, params=params)
    data.save_binary(path)
    found = gossamer.train(params, Dataset(path), 3)
    assert found.model_to_string() == expected.model_to_string()
    # A file of a file, of a part, and of validation data.
    Dataset(path).save_binary(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    data.subset(range(0, 300, 2)).save_binary(tmp_path / "part")
    part = gossamer.train(params, Dataset(tmp_path / "part"), 3)
    assert part.num_trees() == 3
    data.create_valid(TABLE[:50], LABEL[:50]).save_binary(tmp_path / "valid")
    train_set = Dataset(path)
    gossamer.train(params, train_set, 3, [Dataset(tmp_path / "valid", reference=train_set)])


@pytest.mark.parametrize("params", [None, [], "max_bin", {"max_bin": 1}, {"nope": 3}])
def test_damaged_parameters(params: Any, saved: Path) -> None:
    arrays, facts = files.from_bytes(saved.read_bytes())
    facts["params"] = params
    files.write_atomically(saved, files.to_bytes(arrays, facts))
    with pytest.raises(DataError, match="not a usable data set file"):
        Dataset(saved).construct()


@pytest.mark.parametrize("kind", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("zero_as_missing", [False, True])
def test_missing_values_that_a_bundle_dropped(
    kind: Any, zero_as_missing: bool, tmp_path: Path
) -> None:
    """In training nothing is missing there, so that random thresholds are drawn among fewer."""
    rng = np.random.default_rng(79)
    table = rng.normal(size=(200, 60)).round(1) * (rng.random((200, 60)) < 0.03)
    table[rng.random(table.shape) < 0.002] = np.nan
    label = np.nan_to_num(table, nan=0.5) @ rng.normal(size=60)
    params = {
        "extra_trees": True,
        "max_conflict_rate": 1.0 if zero_as_missing else 0.1,
        "zero_as_missing": zero_as_missing,
        "min_data_in_leaf": 3,
        "verbosity": -1,
    }
    data = Dataset(kind(table), label, params=params).construct()
    assert built_data(data).table.bins.storage()["bundled"].size
    bins, n_bins = built_data(data).table.bins, built_data(data).table.binning.n_value_bins
    is_missing = [(bins.copy_column(f) == n_bins[f]).any() for f in range(len(n_bins))]
    np.testing.assert_array_equal(bins.has_missing(), is_missing)
    path = tmp_path / "rows"
    data.save_binary(path)
    expected = gossamer.train(params, data, 4).model_to_string()
    assert gossamer.train(params, Dataset(path), 4).model_to_string() == expected
    every = data.subset(range(200))
    assert gossamer.train(params, every, 4).model_to_string() == expected
