"""Rows that are drawn on a device are those that the CPU draws, with the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gossamer import Dataset, train
from gossamer.cuda.device import Buffer
from gossamer.cuda.sampler import DeviceSampler
from gossamer.data import Targets
from gossamer.model.files import model_file
from gossamer.objectives import Gradients
from gossamer.params import resolve
from gossamer.sampling import Goss, Mvs, RowSampler, make_row_sampler

RNG = np.random.default_rng(3)
# One block of rows, several, and a last one that is nearly empty.
N_ROWS = [1, 2, 700, 8192, 8193, 20_000]


def gradients_of(kind: str, n_rows: int, n_outputs: int) -> Gradients:
    made = Gradients.empty(n_rows, n_outputs, has_hessian=True, weighable=True)
    size = n_rows * n_outputs
    gradient = RNG.normal(size=size)
    if kind == "few values":
        gradient = np.round(gradient)
    elif kind == "extremes":
        gradient *= 10.0 ** RNG.integers(-40, 37, size)
    elif kind == "all equal":
        gradient[:] = -0.25
    elif kind == "zeros":
        gradient[:] = 0
    made.gradient[:] = gradient.astype(np.float32)
    assert made.hessian is not None
    made.hessian[:] = RNG.exponential(size=size).astype(np.float32)
    return made


def draw_there(
    device: Any, sampler: RowSampler, gradients: Gradients, label: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.uint32] | None, npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The rows that a device draws, and the gradients and hessians after that."""
    n_rows = len(label)
    drawer = DeviceSampler(device, n_rows, len(gradients.gradient) // n_rows)
    gradient = Buffer.holding(device, gradients.gradient)
    hessian = Buffer.holding(device, gradients.hessian)
    drawer.use(gradient, hessian, Buffer.holding(device, label))
    n_drawn = sampler.draw_on_device(20, drawer)
    found = [np.empty_like(gradients.gradient) for _ in "gh"]
    gradient.read(found[0])
    hessian.read(found[1])
    if n_drawn is None:
        return None, found[0], found[1]
    rows = np.empty(n_drawn, np.uint32)
    drawer.rows.read(rows)
    return rows, found[0], found[1]


def check(device: Any, params: dict[str, Any], kind: str, n_rows: int, n_outputs: int = 1) -> None:
    label = (RNG.random(n_rows) < 0.3).astype(np.float32)
    gradients = gradients_of(kind, n_rows, n_outputs)
    resolved = resolve({"learning_rate": 0.5, **params})
    sampler = make_row_sampler(resolved, Targets(label), n_outputs)
    rows, gradient, hessian = draw_there(device, sampler, gradients.copy(), label)
    bag = sampler.draw(20, gradients, 2)
    assert (bag is None) == (rows is None)
    if bag is not None:
        np.testing.assert_array_equal(rows, bag.inside)
    assert gradient.tobytes() == gradients.gradient.tobytes()
    assert gradients.hessian is not None
    assert hessian.tobytes() == gradients.hessian.tobytes()


@pytest.mark.parametrize("n_rows", N_ROWS)
def test_bags(n_rows: int, device: Any) -> None:
    for fraction in (1e-9, 0.1, 0.8):
        check(device, {"bagging_fraction": fraction, "bagging_freq": 3}, "any", n_rows)
    by_class = {"pos_bagging_fraction": 0.9, "neg_bagging_fraction": 0.2, "bagging_freq": 1}
    check(device, {**by_class, "objective": "binary"}, "any", n_rows)


@pytest.mark.parametrize("kind", ["any", "few values", "extremes", "all equal", "zeros"])
@pytest.mark.parametrize("n_rows", N_ROWS)
def test_goss(n_rows: int, kind: str, device: Any) -> None:
    goss = {"data_sample_strategy": "goss"}
    for top, other in ((0.2, 0.1), (0.01, 0.9), (0.5, 0.0)):
        check(device, {**goss, "top_rate": top, "other_rate": other}, kind, n_rows)
    if kind != "zeros":
        check(device, {**goss, "top_rate": "auto"}, kind, n_rows)
        check(device, {**goss, "top_rate": "auto", "bagging_fraction": 0.3}, kind, n_rows)
    check(device, goss, kind, n_rows, n_outputs=3)


@pytest.mark.parametrize("kind", ["any", "few values", "extremes", "all equal", "zeros"])
@pytest.mark.parametrize("n_rows", N_ROWS)
def test_mvs(n_rows: int, kind: str, device: Any) -> None:
    mvs = {"data_sample_strategy": "mvs"}
    for fraction in (0.05, 0.7):
        for reg in (0.0, 0.5, "auto"):
            check(device, {**mvs, "bagging_fraction": fraction, "mvs_reg": reg}, kind, n_rows)
    check(device, {**mvs, "bagging_fraction": 0.4}, kind, n_rows, n_outputs=3)


def test_a_bag_is_kept_for_several_rounds(device: Any) -> None:
    label = np.zeros(1000, np.float32)
    sampler = make_row_sampler(
        resolve({"bagging_fraction": 0.5, "bagging_freq": 2}), Targets(label), 1
    )
    drawer = DeviceSampler(device, len(label), 1)
    buffer = Buffer.holding(device, label)
    drawer.use(buffer, None, buffer)
    bags = []
    for n_round in range(4):
        n_drawn = sampler.draw_on_device(n_round, drawer)
        assert n_drawn is not None
        rows = np.empty(n_drawn, np.uint32)
        drawer.rows.read(rows)
        bags.append(rows.tobytes())
    assert bags[0] == bags[1] != bags[2] == bags[3]


def test_other_labels_lead_to_another_bag(device: Any) -> None:
    by_class = {"pos_bagging_fraction": 1.0, "neg_bagging_fraction": 0.1, "bagging_freq": 5}
    params = resolve({**by_class, "objective": "binary"})
    drawer = DeviceSampler(device, 1000, 1)
    for label in (np.zeros(1000, np.float32), np.ones(1000, np.float32)):
        sampler = make_row_sampler(params, Targets(label), 1)
        buffer = Buffer.holding(device, label)
        drawer.use(buffer, None, buffer)
        n_drawn = sampler.draw_on_device(0, drawer)
        bag = sampler.draw(0, gradients_of("any", 1000, 1), 1)
        assert bag is not None
        assert n_drawn == len(bag.inside)


@pytest.mark.parametrize("sampling", ["bagging", "goss", "mvs"])
@pytest.mark.parametrize("objective", ["regression", "binary", "multiclass"])
def test_models_on_drawn_rows_are_those_of_the_cpu(
    sampling: str, objective: str, device: Any
) -> None:
    table = RNG.normal(size=(2000, 4))
    label = np.digitize(table[:, 0] + table[:, 1] ** 2, [0.5, 2.0]).astype(np.float64)
    if objective == "binary":
        label = np.minimum(label, 1)
    params: dict[str, Any] = {"objective": objective, "num_leaves": 10, "verbosity": -1}
    if objective == "multiclass":
        params["num_class"] = 3
    params |= {"data_sample_strategy": sampling, "bagging_fraction": 0.5, "bagging_freq": 1}
    if sampling == "goss":
        params |= {"learning_rate": 0.5, "top_rate": 0.2, "other_rate": 0.1, "bagging_fraction": 1}
    models = [
        model_file.to_bytes(train({**params, "device_type": where}, Dataset(table, label), 5).model)
        for where in ("cuda", "cpu")
    ]
    assert models[0] == models[1]


def test_gradients_do_not_come_to_the_host(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("rows were drawn on the host")

    monkeypatch.setattr(Goss, "draw", fail)
    monkeypatch.setattr(Mvs, "draw", fail)
    table = RNG.normal(size=(500, 3))
    for strategy in ("goss", "mvs"):
        params = {"data_sample_strategy": strategy, "device_type": "cuda", "verbosity": -1}
        train({**params, "learning_rate": 1.0}, Dataset(table, table[:, 0]), 3)
