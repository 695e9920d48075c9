"""Model files: round trips, equal bytes, damage."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
from scipy.sparse import csr_array

from gossamer import Booster, Dataset, ModelFileError, files, train
from gossamer.model.files import model_file
from gossamer.tree.linear import LINEAR_ARRAYS

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(400, 4))
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
LABEL = np.nan_to_num(TABLE[:, 0])
CLASSES = np.digitize(LABEL, [-0.5, 0.5])


def custom(scores: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    return scores - data.get_label(), np.ones_like(scores)


KINDS: dict[str, tuple[dict[str, Any], np.ndarray]] = {
    "regression": ({"feature_fraction": 0.5, "metric": ["l1", "l2"]}, LABEL),
    "binary": ({"objective": "binary", "sigmoid": 0.5, "bagging_fraction": 0.5}, LABEL > 0),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, CLASSES),
    "cox": ({"objective": "cox"}, LABEL + 0.001),
    "aft": ({"objective": "aft", "aft_loss_distribution": "logistic"}, np.exp(LABEL)),
    "gaussian": ({"objective": "gaussian"}, LABEL),
    "quantiles": ({"objective": "quantile", "quantile_alpha": [0.2, 0.7]}, LABEL),
    "linear": ({"linear_tree": True, "min_data_in_leaf": 5}, np.sin(3 * LABEL)),
    "custom": ({"objective": custom}, LABEL),
    "constant": ({}, np.ones(400)),
}


def make(kind: str) -> Booster:
    params, label = KINDS[kind]
    names = ["größe", 'quo"te', "new\nline", ""]
    return train(params, Dataset(TABLE, label, feature_name=names), 4)


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_of_saving_predicts_the_same_bits(kind: str, tmp_path: Path) -> None:
    model, path = make(kind), tmp_path / "model.gsm"
    assert model.save_model(path) is model
    loaded = [
        Booster(model_file=path),
        Booster(model_file=str(path)),
        Booster(model_str=model.model_to_string()),
        train({}, Dataset(TABLE, LABEL), 1).model_from_string(model.model_to_string()),
    ]
    for other in loaded:
        np.testing.assert_array_equal(other.predict(TABLE), model.predict(TABLE))
        np.testing.assert_array_equal(
            other.predict(TABLE, pred_leaf=True), model.predict(TABLE, pred_leaf=True)
        )
        assert other.feature_name() == model.feature_name()
        assert other.num_trees() == model.num_trees()
        for kind_ in ("split", "gain"):
            np.testing.assert_array_equal(
                other.feature_importance(kind_), model.feature_importance(kind_)
            )
        other.save_model(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()
        assert other.model_to_string() == model.model_to_string()


def test_loaded_parameters(tmp_path: Path) -> None:
    make("binary").save_model(tmp_path / "model")
    params = Booster(model_file=tmp_path / "model").params
    assert params == {"objective": "binary", "sigmoid": 0.5, "bagging_fraction": 0.5}
    own = Booster({"num_threads": 1}, model_file=tmp_path / "model")
    assert own.params == {**params, "num_threads": 1}


def test_threads_and_verbosity_leave_no_trace() -> None:
    texts = {
        train({"num_threads": n, "verbosity": -n}, Dataset(TABLE, LABEL), 2).model_to_string()
        for n in (1, 2, 3)
    }
    assert len(texts) == 1


def test_bytes_are_the_same_in_another_process() -> None:
    program = (
        "import numpy as np, gossamer, hashlib\n"
        "table = np.random.default_rng(0).normal(size=(300, 3))\n"
        "model = gossamer.train({'lambda_l2': 1, 'metric': ['l1', 'l2']},"
        " gossamer.Dataset(table, table[:, 0]), 3)\n"
        "print(hashlib.sha256(model.model_to_string().encode()).hexdigest())\n"
    )
    run = [sys.executable, "-c", program]
    digests = {subprocess.run(run, capture_output=True, check=True).stdout for _ in range(2)}
    assert len(digests) == 1


def test_other_libraries_can_read_the_arrays(tmp_path: Path) -> None:
    model, path = make("regression"), tmp_path / "model"
    model.save_model(path)
    with safetensors.safe_open(path, framework="numpy") as file:
        assert "leaf_value" in file.keys()  # noqa: SIM118  not a mapping
        facts = json.loads(file.metadata()["gossamer"])
        values = file.get_tensor("leaf_value")
    assert facts["format"] == "gossamer model"
    assert facts["version"] == 1
    np.testing.assert_array_equal(values, model.model.forest.arrays["leaf_value"])


class TestRounds:
    """Which rounds are saved."""

    def test_up_to_the_best(self, tmp_path: Path) -> None:
        model = train({}, Dataset(TABLE, LABEL), 6)
        model.best_iteration = 2
        model.save_model(tmp_path / "best").save_model(tmp_path / "all", num_iteration=-1)
        best, all_ = (Booster(model_file=tmp_path / name) for name in ("best", "all"))
        assert (best.num_trees(), all_.num_trees()) == (2, 6)
        np.testing.assert_array_equal(best.predict(TABLE), model.predict(TABLE))

    def test_parts_add_up(self, tmp_path: Path) -> None:
        model = train({}, Dataset(TABLE, LABEL), 6)
        model.save_model(tmp_path / "front", num_iteration=4)
        model.save_model(tmp_path / "back", start_iteration=4)
        parts = [Booster(model_file=tmp_path / name).predict(TABLE) for name in ("front", "back")]
        np.testing.assert_allclose(sum(parts), model.predict(TABLE), rtol=1e-12, atol=1e-12)


class TestDamage:
    """Each is a ModelFileError, never a crash."""

    @pytest.fixture
    def content(self) -> bytes:
        return model_file.to_bytes(make("multiclass").model)

    def load(self, content: bytes, tmp_path: Path) -> Booster:
        path = tmp_path / "model"
        path.write_bytes(content)
        return Booster(model_file=path)

    def test_cut_off(self, content: bytes, tmp_path: Path) -> None:
        for length in (0, 1, 7, 8, 9, 100, len(content) // 2, len(content) - 1):
            with pytest.raises(ModelFileError, match="cannot be read"):
                self.load(content[:length], tmp_path)

    def test_altered(self, content: bytes, tmp_path: Path) -> None:
        for place in np.linspace(0, len(content) - 1, 60).astype(int):
            altered = bytearray(content)
            altered[place] ^= 0x11
            with pytest.raises(ModelFileError):
                self.load(bytes(altered), tmp_path)

    def test_appended(self, content: bytes, tmp_path: Path) -> None:
        with pytest.raises(ModelFileError, match="cannot be read"):
            self.load(content + b"x", tmp_path)

    @pytest.mark.parametrize("content", [b"trees\nversion=v4\n", b"{}", b"\0" * 64])
    def test_other_files(self, content: bytes, tmp_path: Path) -> None:
        with pytest.raises(ModelFileError, match="cannot be read"):
            self.load(content, tmp_path)

    def test_safetensors_of_somebody_else(self, tmp_path: Path) -> None:
        from safetensors.numpy import save

        with pytest.raises(ModelFileError, match="not written by Gossamer"):
            self.load(save({"weight": np.zeros(3)}), tmp_path)

    def test_a_data_set_is_no_model(self, tmp_path: Path) -> None:
        path = tmp_path / "data"
        Dataset(TABLE, LABEL).save_binary(path)
        with pytest.raises(ModelFileError, match="is not a model: got 'gossamer dataset'"):
            Booster(model_file=path)

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            Booster(model_file=tmp_path / "nothing")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "not a model of this version"),
            ("tree\nversion=v4", "a damaged LightGBM model"),
            ("gossamer model 1\n!!!", "damaged"),
            ("gossamer model 1\nAAAA", "cannot be read"),
            ("gossamer model 5\nAAAA", "not a model of this version"),
        ],
    )
    def test_strings(self, text: str, words: str) -> None:
        with pytest.raises(ModelFileError, match=words):
            Booster(model_str=text)

    def test_a_failed_load_changes_nothing(self) -> None:
        model = make("regression")
        expected = model.predict(TABLE)
        with pytest.raises(ModelFileError):
            model.model_from_string("nonsense")
        np.testing.assert_array_equal(model.predict(TABLE), expected)


def _set(name: str, place: int, value: float) -> Any:
    def change(arrays: Any, facts: Any) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def _fact(name: str, value: Any) -> Any:
    def change(arrays: Any, facts: Any) -> None:
        facts[name] = value

    return change


def _retype(name: str, dtype: str) -> Any:
    def change(arrays: Any, facts: Any) -> None:
        arrays[name] = arrays[name].astype(dtype)

    return change


def _shorten(name: str) -> Any:
    def change(arrays: Any, facts: Any) -> None:
        arrays[name] = arrays[name][:-1]

    return change


def _drop(name: str) -> Any:
    def change(arrays: Any, facts: Any) -> None:
        arrays.pop(name, None)
        facts.pop(name, None)

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("column", 0, 99),
        _set("left", 0, 0),
        _set("right", 0, 10**6),
        _set("left", 0, -(10**6)),
        _set("threshold", 0, np.nan),
        _set("leaf_value", 0, np.nan),
        _set("start", 0, np.inf),
        _set("node_begin", 1, 10**9),
        _set("leaf_begin", 1, -3),
        _fact("parameters", [["eta", 0.1]]),
        _retype("threshold", "f4"),
        _retype("left", "i8"),
        _shorten("gain"),
        _shorten("leaf_count"),
        _shorten("start"),
        _shorten("node_begin"),
        _drop("node_value"),
        _drop("objective"),
        _drop("feature_names"),
        _drop("parameters"),
        _fact("version", 5),
        _fact("version", None),
        _fact("n_outputs", 5),
        _fact("objective", {"name": "unheard of"}),
        _fact("objective", {"name": "multiclass", "num_class": 10**9}),
        _fact("feature_names", ["a", "a", "b", "c"]),
        _fact("feature_names", ["a"]),
        _fact("feature_names", 5),
        _fact("parameters", 5),
    ],
)
def test_what_fits_its_checksum_is_still_checked(change: Any) -> None:
    arrays, facts = files.from_bytes(model_file.to_bytes(make("multiclass").model))
    change(arrays, facts)
    with pytest.raises(ModelFileError):
        model_file.from_bytes(files.to_bytes(arrays, facts))


@pytest.mark.parametrize(
    "change",
    [
        *(_drop(name) for name in LINEAR_ARRAYS),
        *(_shorten(name) for name in LINEAR_ARRAYS),
        *(_retype(name, "f4") for name in LINEAR_ARRAYS),
        _set("linear_begin", 0, 1),
        _set("linear_begin", 1, 10**9),
        _set("linear_begin", -1, -1),
        _set("linear_begin", -2, 10**6),
        _set("linear_column", 0, 4),
        _set("linear_column", 0, -1),
        _set("linear_column", 0, 2**31 - 1),
        _set("linear_coefficient", 0, np.nan),
        _set("linear_centre", -1, np.inf),
        _set("linear_constant", 0, np.nan),
        _set("linear_low", -1, 1e9),
        _set("linear_high", -1, -1e9),
        _set("linear_high", -1, np.inf),
        _fact("version", 1),
        _fact("version", 5),
        _fact("version", True),
        _fact("version", 2.0),
    ],
)
def test_linear_leaves_that_do_not_fit(change: Any) -> None:
    arrays, facts = files.from_bytes(model_file.to_bytes(make("linear").model))
    assert facts["version"] == 2
    assert len(arrays["linear_column"]) > 0
    change(arrays, facts)
    with pytest.raises(ModelFileError):
        model_file.from_bytes(files.to_bytes(arrays, facts))


def _vector_model() -> Booster:
    """Leaves with a value for each of three targets."""
    label = np.column_stack([LABEL, LABEL**2, np.sin(LABEL)])
    params = {"multi_strategy": "multi_output_tree", "min_data_in_leaf": 5}
    return train(params, Dataset(TABLE, label), 4)


def _both(*changes: Any) -> Any:
    def change(arrays: Any, facts: Any) -> None:
        for one in changes:
            one(arrays, facts)

    return change


@pytest.mark.parametrize(
    "change",
    [
        _fact("n_values", 1),
        _drop("n_values"),
        _fact("n_values", 2),
        _fact("n_values", 6),
        _fact("n_values", 0),
        _fact("n_values", -3),
        _fact("n_values", 3.0),
        _fact("n_values", "3"),
        _fact("n_values", None),
        _fact("n_values", [3]),
        _fact("n_values", 10**30),
        _shorten("leaf_value"),
        _shorten("node_value"),
        _both(*[_shorten("leaf_value")] * 3),
        _both(*[_shorten("leaf_value")] * 3, _shorten("leaf_count"), _shorten("leaf_weight")),
        _both(_shorten("leaf_begin"), _shorten("node_begin")),
        _set("leaf_value", 1, np.nan),
        _set("leaf_value", -1, np.inf),
        _set("leaf_begin", 1, 10**9),
        _set("leaf_begin", 1, 0),
        _set("left", 0, -(10**6)),
    ],
)
def test_vector_leaves_that_do_not_fit(change: Any) -> None:
    arrays, facts = files.from_bytes(model_file.to_bytes(_vector_model().model))
    assert facts["n_values"] == 3
    change(arrays, facts)
    with pytest.raises(ModelFileError):
        model_file.from_bytes(files.to_bytes(arrays, facts))


def test_scalar_leaves_said_to_be_vectors() -> None:
    arrays, facts = files.from_bytes(model_file.to_bytes(make("multiclass").model))
    facts["n_values"] = facts["n_outputs"]
    with pytest.raises(ModelFileError):
        model_file.from_bytes(files.to_bytes(arrays, facts))


def test_files_without_the_number_of_values_have_one() -> None:
    """As they were written before there were vector leaves."""
    model = make("multiclass")
    arrays, facts = files.from_bytes(model_file.to_bytes(model.model))
    del facts["n_values"]
    again = model_file.from_bytes(files.to_bytes(arrays, facts))
    assert model_file.to_bytes(again) == model_file.to_bytes(model.model)


@pytest.mark.parametrize("how", ["file", "string", "pickle", "copy"])
def test_vector_leaves_come_back(how: str, tmp_path: Path) -> None:
    model = _vector_model()
    if how == "file":
        model.save_model(tmp_path / "model")
        other = Booster(model_file=tmp_path / "model")
    elif how == "string":
        other = Booster(model_str=model.model_to_string())
    elif how == "pickle":
        other = pickle.loads(pickle.dumps(model))
    else:
        other = copy.deepcopy(model)
    np.testing.assert_array_equal(other.predict(TABLE), model.predict(TABLE))
    assert other.num_trees() == other.current_iteration() == 4
    assert other.num_model_per_iteration() == 1
    assert other.model_to_string() == model.model_to_string()


def test_parts_of_vector_leaves_add_up(tmp_path: Path) -> None:
    model = _vector_model()
    model.save_model(tmp_path / "front", num_iteration=3)
    model.save_model(tmp_path / "back", start_iteration=3)
    front, back = (Booster(model_file=tmp_path / name) for name in ("front", "back"))
    assert (front.num_trees(), back.num_trees()) == (3, 1)
    total = front.predict(TABLE) + back.predict(TABLE)
    np.testing.assert_allclose(total, model.predict(TABLE), rtol=1e-12, atol=1e-12)


def test_text_of_a_model_with_very_many_columns() -> None:
    """Takes time in proportion: it was minutes once, where each line was cut off a long string."""
    table = csr_array(([1.0] * 60, (range(0, 120, 2), [299_999] * 60)), shape=(120, 300_000))
    label = np.arange(120) % 2
    booster = train({"objective": "binary", "verbose": -1}, Dataset(table, label), 2)
    start = time.process_time()
    text = booster.model_to_string()
    assert time.process_time() - start < 5
    assert Booster(model_str=text).num_feature() == 300_000


def test_a_whole_file_without_memory_to_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is not called damaged outright: there may be too little memory."""

    def fail(*_: object, **__: object) -> None:
        raise MemoryError("std::bad_alloc")

    path = tmp_path / "model.gsm"
    train({"verbosity": -1}, Dataset(np.arange(60.0)[:, None], np.arange(60.0)), 1).save_model(path)
    monkeypatch.setattr("gossamer.model.files.model_file._checked", fail)
    with pytest.raises(
        ModelFileError, match=r"not enough memory\)\. Free memory and read it again"
    ):
        Booster(model_file=path)
