"""A model that is trained on a device has the bytes of the CPU's."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from gossamer import Booster, Dataset, GossamerClassifier, early_stopping, record_evaluation, train
from gossamer.cuda import driver, grower, supported, trainer
from gossamer.cuda.grower import DeviceGrower
from gossamer.cuda.table import DeviceTable
from gossamer.errors import DeviceError, NotSupportedError
from gossamer.model.files import model_file

RNG = np.random.default_rng(1)
N_ROWS = 500
TABLE = RNG.normal(size=(N_ROWS, 4))
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
SIGNAL = np.nan_to_num(TABLE[:, 0]) + RNG.normal(size=N_ROWS) * 0.3
BINARY = (SIGNAL > 0).astype(np.float64)
CLASSES = np.digitize(SIGNAL, [-0.5, 0.5]).astype(np.float64)
POSITIVE = np.exp(SIGNAL)
WEIGHT = RNG.exponential(size=N_ROWS)
# Rises with the first column and falls with the second, but not everywhere.
RISING = SIGNAL - 0.5 * np.nan_to_num(TABLE[:, 1]) + np.sin(3 * np.nan_to_num(TABLE[:, 0]))
SMALL = {"num_leaves": 6, "min_data_in_leaf": 5, "verbosity": -1}
LARGE = {"num_leaves": 40, "min_data_in_leaf": 3}

CASES: dict[str, dict[str, Any]] = {
    "squared": {"label": SIGNAL},
    "squared, weighted": {"label": SIGNAL, "weight": WEIGHT},
    "root of the label": {"label": POSITIVE, "reg_sqrt": True},
    "logistic": {"label": BINARY, "objective": "binary"},
    "logistic, unbalanced": {
        "label": BINARY,
        "objective": "binary",
        "weight": WEIGHT,
        "is_unbalance": True,
        "sigmoid": 0.7,
    },
    "classes": {"label": CLASSES, "objective": "multiclass", "num_class": 3, "weight": WEIGHT},
    "classes one by one": {"label": CLASSES, "objective": "multiclassova", "num_class": 3},
    "poisson": {"label": np.floor(POSITIVE), "objective": "poisson"},
    "gamma": {"label": POSITIVE, "objective": "gamma", "weight": WEIGHT},
    "tweedie": {"label": np.floor(POSITIVE), "objective": "tweedie"},
    "expectile": {"label": SIGNAL, "objective": "expectile", "alpha": 0.8},
    "hinge": {"label": BINARY, "objective": "hinge"},
    "focal": {"label": BINARY, "objective": "focal", "weight": WEIGHT},
    "cross entropy": {"label": 1 / (1 + POSITIVE), "objective": "cross_entropy"},
    "bagging": {"label": SIGNAL, "bagging_fraction": 0.5, "bagging_freq": 1},
    "bagging now and then": {"label": SIGNAL, "bagging_fraction": 0.5, "bagging_freq": 2},
    "goss": {"label": SIGNAL, "data_sample_strategy": "goss", "learning_rate": 1.0},
    "mvs": {"label": SIGNAL, "data_sample_strategy": "mvs", "bagging_fraction": 0.5},
    "dart": {"label": SIGNAL, "boosting": "dart", "drop_rate": 0.9, "skip_drop": 0.0},
    "forest": {
        "label": SIGNAL,
        "boosting": "rf",
        "bagging_fraction": 0.5,
        "bagging_freq": 1,
        "feature_fraction": 0.5,
    },
    "columns by node": {"label": SIGNAL, "feature_fraction_bynode": 0.5},
    "columns by tree, level and node": {
        "label": SIGNAL,
        "feature_fraction": 0.8,
        "feature_fraction_bylevel": 0.7,
        "feature_fraction_bynode": 0.6,
    },
    "interactions": {"label": SIGNAL, "interaction_constraints": [[0, 1], [1, 2], [3]]},
    "interactions, columns by node": {
        "label": SIGNAL,
        "interaction_constraints": [[0, 1], [1, 2, 3]],
        "feature_fraction_bynode": 0.5,
        "extra_trees": True,
    },
    "rising and falling": {"label": RISING, "monotone_constraints": [1, -1, 0, 1], **LARGE},
    "falling where the label rises": {"label": RISING, "monotone_constraints": [-1, 0, 0, 0]},
    "rising, few rows by bin": {
        "label": RISING,
        "monotone_constraints": [1, 1, -1, -1],
        "min_data_in_leaf": 1,
        "num_leaves": 60,
    },
    "rising, other rules": {
        "label": RISING,
        "monotone_constraints": [1, -1, 0, 0],
        "lambda_l1": 0.5,
        "max_delta_step": 0.2,
        "path_smooth": 3.0,
        **LARGE,
    },
    "rising, extra trees": {
        "label": BINARY,
        "objective": "binary",
        "monotone_constraints": [1, -1, 1, 0],
        "extra_trees": True,
        **LARGE,
    },
    "rising, categories": {
        "label": RISING,
        "monotone_constraints": [1, -1, 0, 0],
        "categories": True,
        **LARGE,
    },
    "rising, interactions": {
        "label": RISING,
        "monotone_constraints": [1, -1, 0, 0],
        "interaction_constraints": [[0, 1], [1, 2], [3]],
        "feature_fraction_bynode": 0.7,
        **LARGE,
    },
    "rising, damped": {
        "label": np.floor(POSITIVE),
        "objective": "poisson",
        "monotone_constraints": [1, 0, -1, 0],
        **LARGE,
    },
    "l1": {"label": SIGNAL, "objective": "l1", **LARGE},
    "l1, weighted, bagging": {
        "label": SIGNAL,
        "objective": "l1",
        "weight": WEIGHT,
        "bagging_fraction": 0.5,
        "bagging_freq": 1,
    },
    "quantile": {"label": SIGNAL, "objective": "quantile", "alpha": 0.9, "weight": WEIGHT},
    "quantiles": {"label": SIGNAL, "objective": "quantile", "quantile_alpha": [0.1, 0.9]},
    "huber": {"label": SIGNAL, "objective": "huber", "max_delta_step": 0.3},
    "fair": {"label": SIGNAL, "objective": "fair"},
    "mape": {"label": POSITIVE, "objective": "mape"},
    "l1, goss": {"label": SIGNAL, "objective": "l1", "data_sample_strategy": "goss"},
    "l1, dart": {"label": SIGNAL, "objective": "l1", "boosting": "dart", "drop_rate": 0.9},
    "l1, forest": {
        "label": SIGNAL,
        "objective": "l1",
        "boosting": "rf",
        "bagging_fraction": 0.5,
        "bagging_freq": 1,
    },
    "l1, rising": {
        "label": RISING,
        "objective": "l1",
        "monotone_constraints": [1, -1, 0, 0],
        **LARGE,
    },
    "l1, several targets": {"label": np.column_stack([SIGNAL, POSITIVE]), "objective": "l1"},
    "parallel trees": {"label": SIGNAL, "num_parallel_tree": 2, "bagging_fraction": 0.5},
    "queries": {"label": CLASSES, "objective": "lambdarank", "group": [10] * (N_ROWS // 10)},
    "several targets": {"label": np.column_stack([SIGNAL, POSITIVE])},
    "nothing to split": {"label": np.ones(N_ROWS)},
}


def model_of(device_type: str, n_rounds: int = 3, **case: Any) -> bytes:
    fields = {name: case.pop(name, None) for name in ("weight", "group")}
    table, columns = TABLE, "auto"
    if case.pop("categories", False):
        table, columns = TABLE.copy(), [2, 3]
        table[:, 2:] = np.floor(3 * np.nan_to_num(table[:, 2:]))
        table[:, 2:] -= table[:, 2:].min()
    data = Dataset(table, case.pop("label"), categorical_feature=columns, **fields)
    booster = train({**SMALL, **case, "device_type": device_type}, data, n_rounds)
    return model_file.to_bytes(booster.model)


@pytest.mark.parametrize("name", CASES)
def test_the_model_is_that_of_the_cpu(name: str, device: Any) -> None:
    assert model_of("cuda", **CASES[name]) == model_of("cpu", **CASES[name])


@pytest.mark.parametrize("n_slots", [1, 2, 7, 20])
def test_a_tree_goes_on_when_all_memory_of_histograms_is_taken(
    n_slots: int, device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grower, "max_slots", lambda num_leaves: n_slots)
    noise = np.random.default_rng(7).normal(size=N_ROWS)
    for label in (SIGNAL, noise):
        for policy in ("leafwise", "depthwise"):
            case = {"label": label, "grow_policy": policy, "min_data_in_leaf": 1, "num_leaves": 40}
            assert model_of("cuda", 6, **case) == model_of("cpu", 6, **case)


def test_nodes_that_cannot_get_into_the_tree_give_their_histograms_to_others(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = []
    add_slots = DeviceGrower._add_slots
    monkeypatch.setattr(DeviceGrower, "_add_slots", lambda self: (added.append(1), add_slots(self)))
    noise = np.random.default_rng(8).normal(size=N_ROWS)
    case = {"label": noise, "min_data_in_leaf": 1, "num_leaves": 50}
    assert model_of("cuda", 10, **case) == model_of("cpu", 10, **case)
    assert not added


def test_columns_are_drawn_by_their_weights(device: Any) -> None:
    models = []
    for device_type in ("cpu", "cuda"):
        data = Dataset(TABLE, SIGNAL).set_field("feature_weights", [1.0, 0.1, 3.0, 0.0])
        params = {**SMALL, "feature_fraction_bynode": 0.5, "device_type": device_type}
        models.append(model_file.to_bytes(train(params, data, 4).model))
    assert models[0] == models[1]


def test_drawn_columns_may_change_during_a_training(device: Any) -> None:
    models = []
    for device_type in ("cpu", "cuda"):
        params = {**SMALL, "num_leaves": 31, "device_type": device_type}
        booster = Booster(params, Dataset(TABLE, SIGNAL))
        for fraction in (1.0, 0.5, 1.0, 0.25):
            booster.reset_parameter({"feature_fraction_bynode": fraction})
            booster.update()
        models.append(model_file.to_bytes(booster.model))
    assert models[0] == models[1]


@pytest.mark.parametrize("least_rows", [1, 50_000])
def test_metrics_and_early_stopping_see_the_same_scores(
    least_rows: int, device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores of validation data are on the device, if they have many rows."""
    monkeypatch.setattr(trainer, "_LEAST_ROWS", least_rows)
    results = {}
    for device_type in ("cpu", "cuda"):
        data = Dataset(TABLE[:400], BINARY[:400])
        valid = Dataset(TABLE[400:], BINARY[400:], reference=data)
        results[device_type] = {}
        booster = train(
            {**SMALL, "objective": "binary", "learning_rate": 1.0, "device_type": device_type},
            data,
            12,
            valid_sets=[data, valid],
            callbacks=[record_evaluation(results[device_type]), early_stopping(2, verbose=False)],
        )
        results[device_type]["best"] = booster.best_iteration
    assert results["cuda"] == results["cpu"]
    assert results["cpu"]["best"] < 12


def test_scores_of_validation_data_on_the_device_follow_changes(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "_LEAST_ROWS", 1)

    def run(device_type: str) -> list[Any]:
        data = Dataset(TABLE[:400], CLASSES[:400])
        params = {**SMALL, "objective": "multiclass", "num_class": 3, "device_type": device_type}
        booster = Booster(params, data)
        booster.update()
        valid = Dataset(TABLE[400:], CLASSES[400:], reference=data)
        booster.add_valid(valid, "valid")
        seen = []
        for change in (booster.update, booster.update, booster.rollback_one_iter, booster.update):
            change()
            seen.append(booster.eval_valid())
        return seen

    assert run("cuda") == run("cpu")


def test_validation_data_that_does_not_fit_the_device_is_scored_on_the_host(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "_LEAST_ROWS", 1)
    monkeypatch.setattr(DeviceTable, "bytes_per_row", lambda bins: 2**50)
    monkeypatch.setattr(supported, "bytes_needed", lambda *args: 0)
    data = Dataset(TABLE[:400], SIGNAL[:400])
    valid = Dataset(TABLE[400:], SIGNAL[400:], reference=data)
    seen: dict[str, Any] = {}
    params = {**SMALL, "device_type": "cuda"}
    booster = train(params, data, 3, valid_sets=[valid], callbacks=[record_evaluation(seen)])
    wanted = np.mean((booster.predict(TABLE[400:]) - SIGNAL[400:].astype(np.float32)) ** 2)
    assert seen["valid_0"]["l2"][-1] == pytest.approx(wanted)


def test_training_goes_on_after_changes_by_hand(device: Any) -> None:
    models = []
    for device_type in ("cpu", "cuda"):
        data = Dataset(TABLE, SIGNAL)
        booster = Booster({**SMALL, "device_type": device_type}, data)
        for _ in range(3):
            booster.update()
        booster.rollback_one_iter()
        booster.reset_parameter({"num_leaves": 9, "learning_rate": 0.3})
        booster.update()
        data.set_label(-SIGNAL)
        booster.update()
        booster.update(fobj=lambda scores, data: (scores - data.get_label(), np.ones(N_ROWS)))
        models.append(model_file.to_bytes(booster.model))
    assert models[0] == models[1]


@pytest.mark.parametrize("objective", ["binary", "multiclass"])
def test_trees_that_start_ahead_are_dropped_when_something_changes(
    objective: str, device: Any
) -> None:
    """The device starts the next tree before the host asks for it."""
    n_class = 3 if objective == "multiclass" else 1
    label = CLASSES if n_class > 1 else BINARY
    params = {**SMALL, "objective": objective, "num_class": n_class}

    def run(device_type: str) -> bytes:
        data = Dataset(TABLE, label, free_raw_data=False)
        booster = Booster({**params, "device_type": device_type}, data)
        booster.update()
        booster.update()
        booster.reset_parameter({"learning_rate": 0.3})
        booster.update()
        booster.rollback_one_iter()
        booster.reset_parameter({"lambda_l2": 2.0})
        booster.update()
        booster.eval_train()
        booster.update()
        data.set_label(label[::-1].copy())
        booster.update()
        booster.reset_parameter({"num_leaves": 9})
        booster.update()
        return model_file.to_bytes(booster.model)

    assert run("cuda") == run("cpu")


def test_the_device_adds_trees_to_scores_by_itself(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gains that are equal, and paths on which gains rise, do not need the host either."""
    monkeypatch.setattr(DeviceGrower, "add_scores", None)  # what the host would call
    table = RNG.integers(0, 3, (N_ROWS, 4)).astype(np.float64)
    table[:, 3] = table[:, 0]
    label = (table[:, 0] == table[:, 1]) * 3.0 + (table[:, 1] == table[:, 2])
    for n_leaves in (2, 5, 9, 31):
        params = {"num_leaves": n_leaves, "min_data_in_leaf": 1, "verbosity": -1}
        same = [
            train({**params, "device_type": kind}, Dataset(table, label), 6).predict(table)
            for kind in ("cpu", "cuda")
        ]
        assert np.array_equal(*same)


def test_a_model_is_continued(device: Any) -> None:
    models = []
    for device_type in ("cpu", "cuda"):
        params = {**SMALL, "device_type": device_type}
        first = train(params, Dataset(TABLE, SIGNAL), 2)
        second = train(params, Dataset(TABLE, SIGNAL), 2, init_model=first)
        models.append(model_file.to_bytes(second.model))
    assert models[0] == models[1]


def test_initial_scores_are_started_from(device: Any) -> None:
    start = RNG.normal(size=N_ROWS)
    models = []
    for device_type in ("cpu", "cuda"):
        data = Dataset(TABLE, SIGNAL, init_score=start)
        models.append(
            model_file.to_bytes(train({**SMALL, "device_type": device_type}, data, 2).model)
        )
    assert models[0] == models[1]


def test_estimators_take_the_parameter(device: Any) -> None:
    fits = [
        GossamerClassifier(n_estimators=2, num_leaves=5, device_type=kind).fit(TABLE, BINARY)
        for kind in ("cpu", "gpu")
    ]
    np.testing.assert_array_equal(*(fit.predict_proba(TABLE) for fit in fits))


def test_the_device_is_used(device: Any) -> None:
    if not hasattr(device, "n_launched"):
        pytest.skip("only the emulated device counts its kernels")
    model_of("cpu", label=SIGNAL)
    model_of("auto", label=SIGNAL)  # too small to be worth it
    assert device.n_launched == 0
    model_of("cuda", label=SIGNAL)
    assert device.n_launched > 0


def test_auto_uses_a_device_for_large_tables(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supported, "WORTHWHILE_VALUES", 1)
    assert model_of("auto", label=SIGNAL) == model_of("cpu", label=SIGNAL)
    if hasattr(device, "n_launched"):
        assert device.n_launched > 0
    # What only the CPU can do is done there.
    linear = {"label": SIGNAL, "linear_tree": True}
    assert model_of("auto", **linear) == model_of("cpu", **linear)


REFUSED: dict[str, dict[str, Any]] = {
    "linear_tree": {"linear_tree": True},
    "tree_method": {"tree_method": "exact"},
    "monotone_constraints_method": {
        "monotone_constraints": [1, 0, 0, 0],
        "monotone_constraints_method": "advanced",
    },
    "monotone_penalty": {"monotone_constraints": [1, 0, 0, 0], "monotone_penalty": 0.5},
    "feature_contri": {"feature_contri": [1, 1, 1, 0.5]},
    "cegb_penalty_split": {"cegb_penalty_split": 1e-3},
    "grow_policy": {"grow_policy": "symmetric"},
    "num_leaves": {"num_leaves": 100_000},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_the_cpu_can_do_is_refused_by_name(name: str, device: Any) -> None:
    with pytest.raises(NotSupportedError, match=rf"device_type=cuda does not support {name}"):
        model_of("cuda", label=SIGNAL, **REFUSED[name])


def test_what_only_the_cpu_can_do_is_refused_during_a_training(device: Any) -> None:
    booster = Booster({**SMALL, "device_type": "cuda"}, Dataset(TABLE, SIGNAL))
    booster.update()
    with pytest.raises(NotSupportedError, match="cegb_penalty_split"):
        booster.reset_parameter({"cegb_penalty_split": 0.5})
    booster.update()
    assert booster.current_iteration() == 2


def test_a_table_that_does_not_fit_is_refused_before_memory_is_taken(device: Any) -> None:
    if not hasattr(device, "room"):
        pytest.skip("the GPU has room enough")
    device.room = 1000
    with pytest.raises(MemoryError, match=r"500 rows, which take .* GB"):
        model_of("cuda", label=SIGNAL)
    assert device.n_launched == 0


def test_memory_is_given_back(device: Any) -> None:
    if not hasattr(device, "_memory"):
        pytest.skip("only the emulated device knows its memory")
    model_of("cuda", label=SIGNAL)
    assert not device._memory


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(DeviceError, match=r"cuda-bindings.*gossamer\[cuda\]"):
        driver.find_driver()


class NoDriver:
    """Bindings on a machine without a driver."""

    class CUresult:
        CUDA_SUCCESS = 0

    @staticmethod
    def cuInit(flags: int) -> tuple[int]:
        return (100,)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Package:
        driver = NoDriver

    monkeypatch.setitem(sys.modules, "cuda", Package)
    monkeypatch.setitem(sys.modules, "cuda.bindings", Package)
    with pytest.raises(DeviceError, match="no NVIDIA driver"):
        driver.find_driver()
