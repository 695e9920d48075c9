"""Predictions on a device have the bits of the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Booster, Dataset, GossamerRegressor, train
from gossamer.cuda import predictor as predictor_module
from gossamer.cuda.packed_trees import PackedTrees, Packer, PlainTrees
from gossamer.errors import DataError, DataTypeError, NotSupportedError
from gossamer.model.prediction import on_device
from tests.cuda.conftest import ON_GPU
from tests.cuda.emulated import FakeArray

RNG = np.random.default_rng(3)
N_ROWS = 700
TABLE = RNG.normal(size=(N_ROWS, 5))
TABLE[:, 3] = RNG.integers(-1, 25, N_ROWS)
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
TABLE[RNG.random(TABLE.shape) < 0.1] = 0.0
SIGNAL = np.nan_to_num(TABLE[:, 0]) + np.nan_to_num(TABLE[:, 3]) % 3 + RNG.normal(size=N_ROWS)
CLASSES = np.digitize(SIGNAL, [0.5, 1.5]).astype(np.float64)
POSITIVE = np.exp(SIGNAL)

CASES: dict[str, dict[str, Any]] = {
    "squared": {"label": SIGNAL},
    "logistic": {"label": CLASSES > 0, "objective": "binary", "sigmoid": 0.7},
    "softmax": {"label": CLASSES, "objective": "multiclass", "num_class": 3},
    "one by one": {"label": CLASSES, "objective": "multiclassova", "num_class": 3},
    "exponential": {"label": POSITIVE, "objective": "gamma"},
    "a link of the host": {"label": POSITIVE, "reg_sqrt": True},
    "categories": {"label": SIGNAL, "columns": [3], "min_data_per_group": 5, "cat_smooth": 1.0},
    "zeros are missing": {"label": SIGNAL, "zero_as_missing": True, "columns": [3]},
    "nothing is missing": {"label": SIGNAL, "use_missing": False, "columns": [3]},
    "mean of trees": {
        "label": SIGNAL,
        "boosting": "rf",
        "bagging_fraction": 0.5,
        "bagging_freq": 1,
    },
    "vector leaves": {
        "label": np.column_stack([SIGNAL, POSITIVE]),
        "multi_strategy": "multi_output_tree",
    },
    "several targets": {"label": np.column_stack([SIGNAL, POSITIVE])},
    "exact": {"label": SIGNAL, "tree_method": "exact"},
    "parallel trees": {"label": SIGNAL, "num_parallel_tree": 2, "bagging_fraction": 0.5},
    "nothing to split": {"label": np.ones(N_ROWS)},
    "large leaves": {"label": SIGNAL, "num_leaves": 120, "min_data_in_leaf": 1},
}


def booster_of(n_rounds: int = 6, **case: Any) -> Booster:
    label, columns = case.pop("label"), case.pop("columns", "auto")
    params = {"num_leaves": 9, "min_data_in_leaf": 4, "verbosity": -1, **case}
    return train(params, Dataset(TABLE, label, categorical_feature=columns), n_rounds)


def on_gpu(device: Any, values: np.ndarray, order: Any = "C") -> Any:
    """An array of another library in the memory of the device."""
    if ON_GPU:
        cupy = pytest.importorskip("cupy")
        return cupy.asarray(values, order=order)
    return FakeArray(device, values, order)


def on_host(values: Any) -> np.ndarray:
    return values.get() if hasattr(values, "get") else np.asarray(values)


@pytest.mark.parametrize("asks", [{}, {"raw_score": True}, {"pred_leaf": True}])
@pytest.mark.parametrize("name", CASES)
def test_predictions_are_those_of_the_cpu(name: str, asks: dict[str, Any], device: Any) -> None:
    booster = booster_of(**CASES[name])
    for kind in (np.float64, np.float32):
        values = TABLE.astype(kind)
        expected = booster.predict(values, **asks)
        np.testing.assert_array_equal(booster.predict(values, device="cuda", **asks), expected)
        for order in ("C", "F"):
            found = on_host(booster.predict(on_gpu(device, values, order), **asks))
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype


def test_some_of_the_rounds(device: Any) -> None:
    booster = booster_of(**CASES["softmax"])
    for first, n in ((0, 2), (1, 3), (4, 9), (9, 1)):
        asks = {"start_iteration": first, "num_iteration": n}
        expected = booster.predict(TABLE, **asks)
        np.testing.assert_array_equal(booster.predict(TABLE, device="cuda", **asks), expected)
        found = booster.predict(on_gpu(device, TABLE), **asks)
        np.testing.assert_array_equal(on_host(found), expected)


@pytest.mark.parametrize("kind", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"])
def test_every_type_of_numbers(kind: str, device: Any) -> None:
    booster = booster_of(label=SIGNAL, columns=[3], min_data_per_group=5)
    values = np.nan_to_num(TABLE * 3).astype(kind)
    if kind == "f2":
        values[:8, 0] = [np.nan, np.inf, -np.inf, -0.0, 6e-8, -6e-8, 65504, 6.1e-5]
    expected = booster.predict(values.astype(np.float64))
    np.testing.assert_array_equal(on_host(booster.predict(on_gpu(device, values))), expected)


def test_odd_numbers(device: Any) -> None:
    booster = booster_of(label=SIGNAL, columns=[3], zero_as_missing=True)
    tiny, thresholds = np.float32(1e-35), booster.model.forest.arrays["threshold"]
    odd = [np.inf, -np.inf, -0.0, tiny, -tiny, np.nextafter(tiny, np.float32(1)), 3e9, -0.5, 0.5]
    odd += [*thresholds, *np.nextafter(thresholds, -np.inf), *np.nextafter(thresholds, np.inf)]
    for kind in (np.float32, np.float64):
        values = np.repeat(np.array(odd, kind)[:, None], 5, axis=1)
        expected = booster.predict(values)
        np.testing.assert_array_equal(booster.predict(values, device="cuda"), expected)


def test_strides_of_an_array_are_followed(device: Any) -> None:
    if ON_GPU:
        pytest.skip("views of CuPy are tested below")
    booster = booster_of(label=SIGNAL)
    array = FakeArray(device, np.repeat(TABLE, 2, axis=1))
    interface = dict(array.__cuda_array_interface__)
    interface["shape"], interface["strides"] = (N_ROWS // 3, 5), (3 * 10 * 8, 2 * 8)
    array.__cuda_array_interface__ = interface
    found = booster.predict(array)
    np.testing.assert_array_equal(on_host(found), booster.predict(TABLE[: N_ROWS // 3 * 3 : 3]))


def parts_of(booster: Booster, most_operands: int = 256, stage_bytes: int = 32768) -> list[Any]:
    forest = booster.model.forest
    return list(Packer(forest, 0, forest.n_trees).parts(most_operands, stage_bytes))


def test_trees_of_many_thresholds_are_predicted_in_turn(device: Any) -> None:
    booster = booster_of(40, label=SIGNAL, tree_method="exact", num_leaves=60, min_data_in_leaf=1)
    assert len(parts_of(booster)) > 1
    assert all(isinstance(part, PackedTrees) for part in parts_of(booster))
    np.testing.assert_array_equal(booster.predict(TABLE, device="cuda"), booster.predict(TABLE))


def test_large_trees_are_walked_in_global_memory(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"num_leaves": 5, "learning_rate": 0.5}
    large = {"num_leaves": 200, "min_data_in_leaf": 1, "verbosity": -1}
    data = Dataset(TABLE, SIGNAL, categorical_feature=[3], free_raw_data=False)
    booster = train({**large, **small}, data, 3)
    booster = train(large, data, 3, init_model=booster)
    booster = train({**large, **small}, data, 2, init_model=booster)
    monkeypatch.setattr(predictor_module, "_STAGE_BYTES", 1024)
    kinds = [type(part) for part in parts_of(booster, 256, 1024)]
    assert kinds == [PackedTrees, PlainTrees, PackedTrees]
    for asks in ({}, {"pred_leaf": True}):
        expected = booster.predict(TABLE, **asks)
        np.testing.assert_array_equal(booster.predict(TABLE, device="cuda", **asks), expected)


def test_many_columns(device: Any) -> None:
    table = RNG.normal(size=(300, 600)).astype(np.float32)
    label = table[:, :300].sum(axis=1)
    params = {"num_leaves": 20, "min_data_in_leaf": 2, "feature_fraction": 0.5, "verbosity": -1}
    booster = train(params, Dataset(table, label), 40)
    assert len(parts_of(booster)) > 1
    np.testing.assert_array_equal(booster.predict(table, device="cuda"), booster.predict(table))


def test_tables_of_the_host_are_copied_piece_by_piece(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictor_module, "_BYTES_AT_ONCE", 5000)
    booster = booster_of(**CASES["softmax"])
    for values in (TABLE, np.asfortranarray(TABLE), TABLE[:0]):
        found = booster.predict(values, device="cuda")
        np.testing.assert_array_equal(found, booster.predict(values))


def test_statistics_of_categories_are_made_on_the_host(device: Any) -> None:
    codes = RNG.integers(0, 200, N_ROWS).astype(np.float64)
    table = np.column_stack([TABLE, codes])
    params = {"verbosity": -1, "min_data_in_leaf": 4, "cat_target_statistics": "on"}
    booster = train(params, Dataset(table, SIGNAL, categorical_feature=[5]), 5)
    assert booster.model.derived is not None
    expected = booster.predict(table)
    np.testing.assert_array_equal(booster.predict(table, device="cuda"), expected)
    np.testing.assert_array_equal(on_host(booster.predict(on_gpu(device, table))), expected)


def test_what_a_gpu_cannot_predict_is_refused_by_name(device: Any) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    booster = booster_of(label=CLASSES > 0, objective="binary")
    with pytest.raises(NotSupportedError, match="cannot predict with a sparse table"):
        booster.predict(sparse.csr_matrix(np.nan_to_num(TABLE)), device="cuda")
    with pytest.raises(NotSupportedError, match="cannot predict with pred_early_stop"):
        booster.predict(TABLE, device="cuda", pred_early_stop=True)
    with pytest.raises(NotSupportedError, match="cannot predict with pred_contrib"):
        booster.predict(TABLE, device="cuda", pred_contrib=True)
    linear = booster_of(label=SIGNAL, linear_tree=True)
    with pytest.raises(NotSupportedError, match="cannot predict with linear leaves"):
        linear.predict(TABLE, device="cuda")


def test_arrays_on_the_gpu_are_copied_where_the_host_must_predict(device: Any) -> None:
    linear = booster_of(label=SIGNAL, linear_tree=True)
    array = on_gpu(device, TABLE, "F")
    np.testing.assert_array_equal(on_host(linear.predict(array)), linear.predict(TABLE))
    expected = linear.predict(TABLE, pred_contrib=True)
    np.testing.assert_array_equal(on_host(linear.predict(array, pred_contrib=True)), expected)
    plain = booster_of(label=SIGNAL)
    found = plain.predict(array, device="cpu")
    np.testing.assert_array_equal(on_host(found), plain.predict(TABLE))


def test_auto_copies_only_large_tables(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if ON_GPU:
        pytest.skip("only the emulated device counts its kernels")
    booster, linear = booster_of(label=SIGNAL), booster_of(label=SIGNAL, linear_tree=True)
    booster.predict(TABLE, device="auto")
    assert device.n_launched == 0
    monkeypatch.setattr(on_device, "WORTHWHILE_WALKS", 1)
    linear.predict(TABLE, device="auto")
    assert device.n_launched == 0
    booster.predict(TABLE, device="auto")
    assert device.n_launched > 0


def test_a_model_that_was_trained_on_a_gpu_predicts_where_the_table_is(device: Any) -> None:
    if ON_GPU:
        pytest.skip("only the emulated device counts its kernels")
    booster = booster_of(label=SIGNAL, device_type="cuda")
    n_launched = device.n_launched
    booster.predict(TABLE)
    assert device.n_launched == n_launched


def test_arrays_must_have_the_columns_of_the_training(device: Any) -> None:
    booster = booster_of(label=SIGNAL)
    with pytest.raises(DataError, match="number of columns differs"):
        booster.predict(on_gpu(device, TABLE[:, :4]))
    with pytest.raises(DataError, match="must have rows and columns"):
        booster.predict(on_gpu(device, TABLE[:, 0]))
    with pytest.raises(DataTypeError, match=r"cannot be read on the GPU.*complex"):
        booster.predict(on_gpu(device, TABLE.astype(np.complex64)))
    for values in (TABLE[:, :4], np.hstack([TABLE, TABLE])):
        expected = booster.predict(values, predict_disable_shape_check=True)
        found = booster.predict(on_gpu(device, values), predict_disable_shape_check=True)
        np.testing.assert_array_equal(on_host(found), expected)


def test_no_rows(device: Any) -> None:
    booster = booster_of(**CASES["softmax"])
    assert on_host(booster.predict(on_gpu(device, TABLE[:0]))).shape == (0, 3)


def test_estimators_predict_arrays_of_the_gpu(device: Any) -> None:
    model = GossamerRegressor(n_estimators=4, verbosity=-1).fit(TABLE, SIGNAL)
    found = model.predict(on_gpu(device, TABLE))
    np.testing.assert_array_equal(on_host(found), model.predict(TABLE))


def test_memory_is_given_back(device: Any) -> None:
    if ON_GPU:
        pytest.skip("only the emulated device knows its memory")
    booster = booster_of(label=SIGNAL)
    array = FakeArray(device, TABLE)
    found = booster.predict(array)
    booster.predict(TABLE, device="cuda")
    del booster, found
    assert list(device._memory) == [array.address]


needs_gpu = pytest.mark.skipif(not ON_GPU, reason="needs a GPU: make test-gpu")


@needs_gpu
def test_predictions_come_in_the_kind_of_the_array() -> None:
    booster = booster_of(**CASES["softmax"])
    expected = booster.predict(TABLE.astype(np.float32))
    cupy, torch = pytest.importorskip("cupy"), pytest.importorskip("torch")
    found = booster.predict(cupy.asarray(TABLE, np.float32))
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_array_equal(found.get(), expected)
    views = cupy.repeat(cupy.asarray(TABLE, np.float32), 2, axis=1)[::-1, ::2]
    np.testing.assert_array_equal(booster.predict(views).get(), expected[::-1])
    tensor = torch.tensor(TABLE, dtype=torch.float32, device="cuda", requires_grad=True)
    found = booster.predict(tensor)
    assert isinstance(found, torch.Tensor)
    assert found.is_cuda
    np.testing.assert_array_equal(found.cpu().numpy(), expected)
    np.testing.assert_array_equal(booster.predict(tensor.detach().cpu().numpy()), expected)


@needs_gpu
def test_arrays_are_read_through_dlpack() -> None:
    cupy = pytest.importorskip("cupy")

    class Capsules:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack__(self, stream: Any = None) -> Any:
            return self.array.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    booster = booster_of(label=SIGNAL)
    found = booster.predict(Capsules(cupy.asarray(TABLE)))
    np.testing.assert_array_equal(np.asarray(found), booster.predict(TABLE))
