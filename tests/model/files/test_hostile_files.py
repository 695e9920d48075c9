"""Files that are damaged, or made to do harm: precise errors, and nothing worse."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack import mutated_models as fuzz

from gossamer import Booster, CVBooster, Dataset, files, train
from gossamer.errors import DataError, ModelFileError
from gossamer.model import formats
from gossamer.model.files import model_file
from gossamer.model.files.check import check_forest
from gossamer.tree import Forest

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(200, 3))
SMALL = {"num_leaves": 4, "num_threads": 1, "verbosity": -1}


@pytest.fixture(scope="module")
def booster() -> Booster:
    return train({**SMALL, "objective": "binary"}, Dataset(TABLE, TABLE[:, 0] > 0), 3)


@pytest.fixture(scope="module")
def pool() -> dict[str, Any]:
    return {file.name: file for file in fuzz.make_files()}


Change = Callable[[dict[str, Any], dict[str, Any]], None]


def _facts(**changes: Any) -> Change:
    return lambda arrays, facts: facts.update(changes)


def _number(name: str, value: float) -> Change:
    def change(arrays: dict[str, Any], facts: dict[str, Any]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][0] = value

    return change


def _several(*changes: Change) -> Change:
    def change(arrays: dict[str, Any], facts: dict[str, Any]) -> None:
        for one in changes:
            one(arrays, facts)

    return change


def _arrays(**arrays_: Any) -> Change:
    return lambda arrays, facts: arrays.update(arrays_)


def _odd_members(arrays: dict[str, Any], facts: dict[str, Any]) -> None:
    members = [{"num_leaves": "many"} for _ in facts["folds"]["member_parameters"]]
    facts["folds"] = {**facts["folds"], "member_parameters": members}


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("regression", _number("gain", np.nan), "gain is not finite"),
        ("regression", _number("node_value", np.inf), "node_value is not finite"),
        ("regression", _number("node_weight", -1.0), "node_weight is negative"),
        ("regression", _number("leaf_weight", np.nan), "leaf_weight is not finite"),
        ("regression", _number("node_count", -1), "node_count is negative"),
        ("regression", _number("leaf_count", -5), "leaf_count is negative"),
        ("regression", _number("default_left", 2), "default_left is neither 0 nor 1"),
        ("regression", _facts(feature_names=[]), "there are no columns"),
        (
            "regression",
            _facts(feature_names={"a": 1, "b": 1, "c": 1, "d": 1}),
            "not a list of strin",
        ),
        ("regression", _facts(feature_names=[1, 2, 3, 4]), "not a list of strings"),
        ("regression", _facts(n_outputs=True), "number of outputs differs"),
        ("regression", _facts(parameters={"num_leaves": "many"}), "parameters cannot be used"),
        ("regression", _facts(parameters={"unheard_of": 1}), "parameters cannot be used"),
        ("zero missing", _facts(objective={"name": "binary", "sigmoid": "nan"}), "not a finite"),
        ("zero missing", _facts(objective={"name": "binary", "sigmoid": 0}), "not a finite"),
        ("zero missing", _facts(objective={"name": "binary", "sigmoid": -1.0}), "not a finite"),
        ("aft", _facts(objective={"name": "aft", "distribution": "normal", "scale": 0}), "scale"),
        ("quantiles", _facts(objective={"name": "quantiles", "alphas": [0.5, 1.5]}), "quantiles"),
        (
            "multiclass",
            _facts(objective={"name": "multiclass", "num_class": "3"}),
            "not a whole number above 0",
        ),
        (
            "multiclass",
            _facts(objective={"name": "multiclass", "num_class": 10**9}, n_outputs=10**9),
            "number of outputs differs",
        ),
        (
            "targets",
            _facts(objective={"name": "several_targets", "parts": [{"name": "several_targets"}]}),
            "objective cannot be read",
        ),
        (
            "square roots",
            _facts(objective={"name": "reg_sqrt", "objective": "reg_sqrt"}),
            "objective cannot be read",
        ),
        # Few bytes that claim any number of rows, for which memory was taken later.
        (
            "folds",
            _arrays(**{"folds.label": np.empty((0, 2**33), np.float32)}),
            "rows of the folds have no labels",
        ),
        # Once an IndexError of predict_set().
        (
            "folds, sigmoid",
            _number("folds.label", 7.0),
            "a label of the folds is not a class",
        ),
        (
            "folds",
            _odd_members,
            "parameters cannot be used",
        ),
        # Times the number of members, which a member's own values are, this is infinite.
        ("folds", _number("leaf_value", 1e308), "leaf value is not finite"),
        # Once an error of division.
        (
            "parallel",
            _several(
                _facts(objective={"name": "custom", "num_class": 0}, n_outputs=0),
                _arrays(start=np.empty(0)),
            ),
            "not a whole number above 0",
        ),
        # Few bytes that ask for 10^10 derived columns.
        (
            "statistics",
            _several(
                _arrays(
                    **{
                        "derived.prior": np.zeros(10**5),
                        "derived.values": np.zeros((0, 10**5), np.float32),
                        "derived.keys": np.empty(0, np.uint64),
                        "derived.offsets": np.zeros(2, np.int64),
                        "derived.sources": np.zeros(1, np.int32),
                        "derived.source_offsets": np.arange(2),
                    }
                )
            ),
            "knows no categories",
        ),
        ("statistics", _number("derived.prior", 1e300), "not finite"),
    ],
)
def test_numbers_and_facts_are_checked(
    pool: dict[str, Any], kind: str, change: Change, words: str
) -> None:
    arrays, facts = dict(pool[kind].arrays), dict(pool[kind].facts)
    change(arrays, facts)
    with pytest.raises(ModelFileError, match=words):
        model_file.from_bytes(files.to_bytes(arrays, facts))


def test_the_number_of_threads_is_not_taken_from_a_file(pool: dict[str, Any]) -> None:
    facts = {**pool["regression"].facts, "parameters": {"nthread": 10**6, "num_leaves": 6}}
    model = model_file.from_bytes(files.to_bytes(pool["regression"].arrays, facts))
    assert model.params == {"num_leaves": 6}


def test_infinite_thresholds_are_allowed(pool: dict[str, Any]) -> None:
    """They ask whether there is a value at all."""
    for sign in (1, -1):
        arrays = dict(pool["regression"].arrays)
        _number("threshold", sign * np.inf)(arrays, {})
        model = model_file.from_bytes(files.to_bytes(arrays, pool["regression"].facts))
        assert Booster.from_model(model).predict(np.zeros((2, 4))).shape == (2,)


def _sealed(facts_text: str) -> bytes:
    import safetensors.numpy

    return safetensors.numpy.save({"a": np.zeros(1)}, metadata={"gossamer": facts_text})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": NaN}', "not finite"),
        ('{"a": 1e999}', "not finite"),
        ('{"a": -Infinity}', "not finite"),
        ('{"a": 1, "a": 2}', "same key twice"),
        ('{"a": ' + "[" * 300 + "]" * 300 + "}", "nested too deeply"),
        ("[" * 100_000, "cut off or of another format"),
        ('{"a": ' + "1" * 10_000 + "}", "cut off or of another format"),
        ("[]", "not written by Gossamer"),
        ("5", "not written by Gossamer"),
    ],
)
def test_json_that_python_would_read(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(_sealed(text))
    with pytest.raises(ModelFileError, match=words):
        Booster(model_file=tmp_path / "model")
    with pytest.raises(DataError, match=words):
        Dataset(tmp_path / "model").construct()


def test_headers_that_promise_too_much() -> None:
    for size in (2**31, 2**62, 2**64 - 1):
        with pytest.raises(ModelFileError, match="cannot be read"):
            model_file.from_bytes(size.to_bytes(8, "little") + b"{}" + b" " * 64)
    header = json.dumps({"a": {"dtype": "F64", "shape": [2**62], "data_offsets": [0, 2**65]}})
    with pytest.raises(ModelFileError, match="cannot be read"):
        model_file.from_bytes(len(header).to_bytes(8, "little") + header.encode())


def _many_nodes(booster: Booster, n_nodes: int, left: Any, right: Any) -> bytes:
    arrays, facts = files.from_bytes(model_file.to_bytes(booster.model))
    for name, array in arrays.items():
        if name not in ("start", "node_begin", "leaf_begin"):
            n = n_nodes + 1 if name.startswith("leaf") else n_nodes
            arrays[name] = np.zeros(n, array.dtype)
    arrays |= {"left": np.array(left, np.int32), "right": np.array(right, np.int32)}
    arrays |= {"node_begin": np.array([0, n_nodes]), "leaf_begin": np.array([0, n_nodes + 1])}
    return files.to_bytes(arrays, facts)


def test_a_million_nodes_that_point_at_themselves(booster: Booster) -> None:
    own = np.arange(10**6)
    begin = time.process_time()
    for left, right in ((own, own), (own, ~own), (np.roll(own, 1), ~own), (~own, own - 1)):
        with pytest.raises(ModelFileError, match=r"bad child node|bad leaf"):
            model_file.from_bytes(_many_nodes(booster, 10**6, left, right))
    assert time.process_time() - begin < 10


def test_a_chain_of_a_million_nodes_is_a_tree(booster: Booster) -> None:
    """As deep as a tree can be: prediction and dump need no stack for it."""
    n = 10**6
    left, right = np.arange(1, n + 1), ~np.arange(n)
    left[-1] = ~n
    model = Booster.from_model(model_file.from_bytes(_many_nodes(booster, n, left, right)))
    assert model.predict(TABLE[:3]).shape == (3,)
    assert model.predict(TABLE[:3], pred_leaf=True).shape == (3, 1)


def test_names_of_a_megabyte(booster: Booster, tmp_path: Path) -> None:
    """They are kept; errors show but a part of them."""
    long = [c * 10**6 for c in "abc"]
    model = train(SMALL, Dataset(TABLE, TABLE[:, 0], feature_name=long), 1)
    model.save_model(tmp_path / "model")
    again = Booster(model_file=tmp_path / "model")
    assert again.feature_name() == long
    assert again.dump_model()["feature_names"] == long
    arrays, facts = files.from_bytes(model_file.to_bytes(model.model))
    for changed in (
        {"feature_names": ["x" * 10**6] * 2},
        {"objective": {"name": "x" * 10**6}},
        {"parameters": {"x" * 10**6: 1}},
        {"format": "x" * 10**6},
    ):
        with pytest.raises(ModelFileError) as caught:
            model_file.from_bytes(files.to_bytes(arrays, {**facts, **changed}))
        assert len(str(caught.value)) < 2000


def test_cut_off_at_every_length() -> None:
    model = train({**SMALL, "num_leaves": 2}, Dataset(TABLE[:, :1], TABLE[:, 0]), 1)
    content = model_file.to_bytes(model.model)
    for length in range(len(content)):
        with pytest.raises(ModelFileError, match="cannot be read"):
            formats.from_bytes(content[:length])
    for text in (model.model_to_string(), model.model_to_string(format="json")):
        for length in range(len(text.rstrip()) - 1):
            with pytest.raises(ModelFileError):
                formats.from_text(text[:length])


def test_every_altered_bit_is_noticed() -> None:
    """But for other spellings of the same header."""
    model = train({**SMALL, "num_leaves": 2}, Dataset(TABLE[:, :1], TABLE[:, 0]), 1)
    content = model_file.to_bytes(model.model)
    for place in range(len(content)):
        altered = bytearray(content)
        altered[place] ^= 1 << (place % 8)
        try:
            found = model_file.from_bytes(bytes(altered))
        except ModelFileError:
            continue
        assert model_file.to_bytes(found) == content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"tree\nversion=v4\nnum_class=1\n", "cannot be read|LightGBM"),
        (b'{"learner": {}, "version": [3, 0, 0]}', "cannot be read|XGBoost|damaged"),
        (b"CBM1\x00\x00\x00", "cannot be read|CatBoost"),
        (b"\x80\x04\x95pickle", "cannot be read"),
        (b"PK\x03\x04 a zip file", "cannot be read"),
        (b"", "cannot be read"),
    ],
)
def test_files_of_others(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ModelFileError, match=words):
        Booster(model_file=tmp_path / "model")


def test_a_newer_version_says_what_to_do(booster: Booster) -> None:
    arrays, facts = files.from_bytes(model_file.to_bytes(booster.model))
    with pytest.raises(ModelFileError, match=r"got 5, expected at most 4\. Update Gossamer"):
        model_file.from_bytes(files.to_bytes(arrays, {**facts, "version": 5}))


def test_models_of_cv_are_no_model(tmp_path: Path) -> None:
    CVBooster().save_model(tmp_path / "models")
    with pytest.raises(ModelFileError, match=r"got .gossamer cv models.*CVBooster"):
        Booster(model_file=tmp_path / "models")


# ---- folders, permissions, disks ----


def test_a_folder_is_no_file(booster: Booster, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        Booster(model_file=tmp_path)
    with pytest.raises(IsADirectoryError, match=r"it is a folder; .* needs a file name") as caught:
        booster.save_model(tmp_path)
    assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == [] and list(tmp_path.parent.glob(f".{tmp_path.name}*")) == []


def test_a_missing_folder(booster: Booster, tmp_path: Path) -> None:
    words = f"The folder '{tmp_path / 'missing'}' does not exist. Create it first."
    with pytest.raises(FileNotFoundError, match=re.escape(words)) as caught:
        booster.save_model(tmp_path / "missing" / "model")
    assert caught.value.filename == str(tmp_path / "missing" / "model")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do all")
def test_no_permission(booster: Booster, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"")
    (tmp_path / "model").chmod(0)
    with pytest.raises(PermissionError, match="model"):
        Booster(model_file=tmp_path / "model")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            booster.save_model(tmp_path / "other")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("function", ["fsync", "replace", "chmod"])
def test_a_disk_that_fails_leaves_the_old_file(
    booster: Booster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    path = tmp_path / "model"
    booster.save_model(path)
    old = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, function, fail)
    for format in ("gossamer", "json"):
        with pytest.raises(OSError, match=r"No space left.*what was there before is unchanged"):
            (booster + booster).save_model(path, format=format)
    monkeypatch.undo()
    assert path.read_bytes() == old and list(tmp_path.iterdir()) == [path]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB, where one may be mounted."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "mount"):
        pytest.skip("there is no mount()")
    arguments = (b"tmpfs", str(tmp_path).encode(), b"tmpfs", 0, b"size=64k")
    if libc.mount(*arguments) != 0:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield tmp_path
    finally:
        assert libc.umount2(str(tmp_path).encode(), 0) == 0


def test_a_full_disk_leaves_the_old_file(booster: Booster, tiny_disk: Path) -> None:
    path = tiny_disk / "model"
    booster.save_model(path)
    old = path.read_bytes()
    large = train({**SMALL, "num_leaves": 31}, Dataset(TABLE, TABLE[:, 0]), 200)
    assert len(model_file.to_bytes(large.model)) > 65536
    with pytest.raises(OSError, match="No space left") as caught:
        large.save_model(path)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == old and list(tiny_disk.iterdir()) == [path]


# ---- what the native code checks itself ----


def test_rows_without_columns_are_not_read() -> None:
    """A forest of a stump and no columns made a predictor read what is not there."""
    from gossamer import _native
    from gossamer.tree import Tree

    forest = Forest.from_trees([Tree.constant(2.0)], 1, 0)
    predict = _native.RowPredictor(forest.native, 0, 1, [0.0], 0, _native.RowLink.NONE, 1.0, ())
    assert predict([]) == 2.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_outputs": 2**40}, "too many outputs"),
        ({"n_columns": -1}, "too many outputs or columns"),
        ({"n_columns": 2**40}, "too many outputs or columns"),
    ],
)
def test_sizes_of_a_forest(changes: dict[str, int], words: str) -> None:
    from dataclasses import replace

    from gossamer.tree import Tree

    forest = Forest.from_trees([Tree.constant(2.0)], 1, 1)
    with pytest.raises(ValueError, match=words):
        check_forest(replace(forest, **changes))


@pytest.mark.parametrize("name", ["forcedsplits_filename", "forcedbins_filename", "input_model"])
def test_files_that_parameters_of_a_model_name_are_not_read(
    name: str, booster: Booster, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays, facts = files.from_bytes(model_file.to_bytes(booster.model))
    facts["parameters"][name] = "/etc/hostname"
    loaded = Booster._of(model_file.from_bytes(files.to_bytes(arrays, facts)))

    def read(*_: object, **__: object) -> None:
        raise AssertionError("a file was read")

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(Path, "read_bytes", read)
    np.testing.assert_array_equal(loaded.predict(TABLE), booster.predict(TABLE))
    label = TABLE[:, 0] > 0
    loaded.refit(TABLE, label)
    data = Dataset(TABLE, label)
    assert train({**SMALL, "objective": "binary"}, data, 1, init_model=loaded).num_trees() == 4


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_devices_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MOST_OF_A_DEVICE", 1 << 20)
    for read in (lambda path: Booster(model_file=path), lambda path: CVBooster(model_file=path)):
        with pytest.raises(OSError, match="bytes without end"):
            read("/dev/zero")
        with pytest.raises(ModelFileError):
            read(os.devnull)
    with pytest.raises(DataError, match="'/dev/zero' is a device: expected a file"):
        Dataset("/dev/zero").construct()
