"""Tables on a device are binned there, and models have the bytes of tables on the host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer import Booster, Dataset, GossamerClassifier, GossamerRegressor, cv, train
from gossamer.compat import xgboost
from gossamer.cuda import binner
from gossamer.cuda.arrays import find_device_array
from gossamer.data.chunks import device_rows
from gossamer.data.dataset import built_data
from gossamer.errors import DataError
from gossamer.model.files import model_file
from tests.cuda.conftest import ON_GPU
from tests.cuda.test_prediction import on_gpu, on_host

RNG = np.random.default_rng(5)
N_ROWS = 500
TABLE = RNG.normal(size=(N_ROWS, 5))
TABLE[:, 3] = RNG.integers(-1, 12, N_ROWS)
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
TABLE[RNG.random(TABLE.shape) < 0.1] = 0.0
TABLE[:, 1] = np.nan_to_num(TABLE[:, 1])  # nothing is missing
TABLE[:, 4] = 7.0  # constant
SIGNAL = np.nan_to_num(TABLE[:, 0]) + np.nan_to_num(TABLE[:, 3]) % 3 + RNG.normal(size=N_ROWS)
BINARY = (SIGNAL > 1).astype(np.float64)
SMALL = {"num_leaves": 5, "min_data_in_leaf": 4, "verbosity": -1}

CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "zeros are missing": {"zero_as_missing": True},
    "nothing is missing": {"use_missing": False},
    "bins of two bytes": {"max_bin": 400, "min_data_in_bin": 1},
    "bins from a sample": {"bin_construct_sample_cnt": 100},
    "categories": {"columns": [3]},
    "categories, zeros are missing": {"columns": [3], "zero_as_missing": True},
    "weighted bins": {"weighted_bins": True, "weight": RNG.exponential(size=N_ROWS)},
}


def model_of(table: Any, label: Any, n_rounds: int = 3, **case: Any) -> bytes:
    data = Dataset(
        table,
        label,
        weight=case.pop("weight", None),
        categorical_feature=case.pop("columns", "auto"),
    )
    return model_file.to_bytes(train({**SMALL, **case}, data, n_rounds).model)


@pytest.mark.parametrize("name", CASES)
def test_the_model_is_that_of_a_table_on_the_host(name: str, device: Any) -> None:
    for kind, order in ((np.float32, "C"), (np.float64, "F")):
        values = TABLE.astype(kind)
        found = model_of(on_gpu(device, values, order), SIGNAL, **CASES[name])
        assert found == model_of(values, SIGNAL, **CASES[name])


def test_integers(device: Any) -> None:
    values = np.nan_to_num(TABLE * 10).astype(np.int16)
    assert model_of(on_gpu(device, values), SIGNAL) == model_of(values, SIGNAL)


def test_a_training_on_the_device_uses_the_bins_that_are_there(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = model_of(TABLE, SIGNAL, 2)
    monkeypatch.setattr("gossamer.cuda.table.DeviceTable._copy", None)  # would copy them again
    assert model_of(on_gpu(device, TABLE), SIGNAL, 2, device_type="cuda") == expected


def test_only_a_sample_of_the_rows_is_copied(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = []

    def gather(device: Any, array: Any, rows: Any, columns: Any = None) -> Any:
        found = binner.gather(device, array, rows, columns)
        copied.append(found.shape)
        return found

    monkeypatch.setattr(device_rows, "gather", gather)
    params = {"bin_construct_sample_cnt": 100, "verbosity": -1}
    Dataset(on_gpu(device, TABLE), SIGNAL, params=params, categorical_feature=[3]).construct()
    assert copied == [(100, 5), (N_ROWS, 1)]


def test_columns_are_copied_piece_by_piece(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_rows, "_VALUES_AT_ONCE", 300)
    case = CASES["categories"]
    assert model_of(on_gpu(device, TABLE), SIGNAL, **case) == model_of(TABLE, SIGNAL, **case)


def test_labels_and_weights_may_be_on_the_device(device: Any) -> None:
    weight = RNG.exponential(size=N_ROWS)
    found = model_of(on_gpu(device, TABLE), on_gpu(device, SIGNAL), weight=on_gpu(device, weight))
    assert found == model_of(TABLE, SIGNAL, weight=weight)
    data = Dataset(TABLE, SIGNAL).construct()
    data.set_weight(on_gpu(device, weight))
    np.testing.assert_array_equal(data.get_weight(), weight.astype(np.float32))


def test_validation_data_on_the_device(device: Any) -> None:
    # Column 1 is missing nowhere in the training data.
    valid = TABLE[300:].copy()
    valid[::5, 1] = np.nan
    results: list[Any] = []
    for place in (np.asarray, lambda values: on_gpu(device, values)):
        data = Dataset(place(TABLE[:300]), SIGNAL[:300])
        other = Dataset(place(valid), SIGNAL[300:], reference=data)
        results.append({})
        booster = Booster(SMALL, data)
        booster.add_valid(other, "valid")
        for _ in range(3):
            booster.update()
        results[-1] = booster.eval_valid()
    assert results[0] == results[1]


def test_subsets_and_binary_files(device: Any, tmp_path: Path) -> None:
    files = []
    for name, table in (("host", TABLE), ("device", on_gpu(device, TABLE))):
        data = Dataset(table, SIGNAL, params={"enable_bundle": False}).construct()
        data.subset(range(100, 300)).save_binary(tmp_path / f"{name}.bin")
        files.append(tmp_path / f"{name}.bin")
    models = [
        model_file.to_bytes(train({**SMALL, "enable_bundle": False}, Dataset(file), 3).model)
        for file in files
    ]
    assert models[0] == models[1]


@pytest.mark.parametrize("method", [{"linear_tree": True}, {"tree_method": "exact"}])
def test_raw_values_are_copied_where_they_are_needed(method: dict[str, Any], device: Any) -> None:
    assert model_of(on_gpu(device, TABLE), SIGNAL, **method) == model_of(TABLE, SIGNAL, **method)


def test_trainings_are_continued_and_folds_are_made(device: Any) -> None:
    models, results = [], []
    for table in (TABLE, on_gpu(device, TABLE)):
        first = train(SMALL, Dataset(table, SIGNAL), 2)
        data = Dataset(table, SIGNAL, free_raw_data=False)
        models.append(model_file.to_bytes(train(SMALL, data, 2, init_model=first).model))
        results.append(cv(SMALL, Dataset(table, SIGNAL), 2, nfold=3, stratified=False))
        assert Dataset(table, SIGNAL).construct().num_data() == N_ROWS
        assert "rows" in repr(data)
        data.describe()
    assert models[0] == models[1]
    assert results[0] == results[1]


def test_an_array_of_one_dimension_is_refused(device: Any) -> None:
    with pytest.raises(DataError, match="must have rows and columns"):
        Dataset(on_gpu(device, TABLE[:, 0]), SIGNAL).construct()


def test_the_bins_are_those_of_the_host(device: Any) -> None:
    params = {"verbosity": -1, "enable_bundle": False, "is_enable_sparse": False}
    host, other = (
        built_data(Dataset(table, SIGNAL, params=params)).table.bins
        for table in (TABLE, on_gpu(device, TABLE))
    )
    assert list(host.has_missing()) == list(other.has_missing())
    for feature in range(host.n_features):
        np.testing.assert_array_equal(host.copy_column(feature), other.copy_column(feature))


def test_estimators(device: Any) -> None:
    table, label = on_gpu(device, TABLE), on_gpu(device, BINARY)
    given = {"n_estimators": 3, "verbosity": -1, "min_child_samples": 4}
    expected = GossamerClassifier(**given).fit(TABLE, BINARY)
    found = GossamerClassifier(**given).fit(table, label, eval_set=[(table, label)])
    assert found.n_features_in_ == 5
    np.testing.assert_array_equal(on_host(found.predict(table)), expected.predict(TABLE))
    probabilities = on_host(found.predict_proba(table))
    np.testing.assert_array_equal(probabilities, expected.predict_proba(TABLE))
    weight = (RNG.random(N_ROWS) < 0.5).astype(float)  # rows of weight 0 are left out
    fits = [
        GossamerRegressor(**given).fit(x, SIGNAL, sample_weight=w).predict(TABLE)
        for x, w in ((TABLE, weight), (table, on_gpu(device, weight)))
    ]
    np.testing.assert_array_equal(*fits)
    names = np.where(BINARY > 0, "yes", "no")
    texts = GossamerClassifier(**given).fit(table, names).predict(table)
    assert set(texts) <= {"yes", "no"}


def test_other_functions_copy_arrays_to_the_host(device: Any) -> None:
    table, label = on_gpu(device, TABLE), on_gpu(device, SIGNAL)
    booster = train(SMALL, Dataset(TABLE, SIGNAL), 3)
    np.testing.assert_array_equal(booster.shap_values(table), booster.shap_values(TABLE))
    found = booster.permutation_importance(table, label)
    np.testing.assert_array_equal(found.mean, booster.permutation_importance(TABLE, SIGNAL).mean)
    other = xgboost.train({}, xgboost.DMatrix(table, label), 2)
    expected = xgboost.train({}, xgboost.DMatrix(TABLE, SIGNAL), 2).inplace_predict(TABLE)
    np.testing.assert_array_equal(other.inplace_predict(table), expected)


def test_dlpack_is_read() -> None:
    class OnGpu:
        """An array that says of its memory that it is on a GPU."""

        def __init__(self, values: np.ndarray) -> None:
            self.values = values

        def __dlpack__(self) -> Any:
            return self.values.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    for given in (values, values.T, values[::2, 1:]):
        array = find_device_array(OnGpu(given))
        assert array is not None
        assert array.address == given.ctypes.data
        assert (array.shape, array.dtype) == (given.shape, given.dtype)
        assert [step * 4 for step in array.strides] == list(given.strides)


needs_gpu = pytest.mark.skipif(not ON_GPU, reason="needs a GPU: make test-gpu")


@needs_gpu
def test_tensors_are_trained_on() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(TABLE, dtype=torch.float32, device="cuda")
    y = torch.tensor(SIGNAL, device="cuda")
    for device_type in ("cpu", "cuda"):
        expected = model_of(TABLE.astype(np.float32), SIGNAL, device_type=device_type)
        assert model_of(x, y, device_type=device_type) == expected
