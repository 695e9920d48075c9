"""Objectives: derivatives against the losses themselves, start values, links."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import OBJECTIVES as ORACLE

from gossamer import DataError, Dataset, ModelFileError
from gossamer.data import Targets
from gossamer.data.dataset import built_data
from gossamer.objectives import (
    Binary,
    Custom,
    Gradients,
    Multiclass,
    Objective,
    Regression,
    make_objective,
    objective_from_config,
)
from gossamer.params import resolve

RNG = np.random.default_rng(0)
N_ROWS = 100


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def make_targets(n_classes: int = 0, *, weighted: bool = False) -> Targets:
    label = RNG.integers(0, n_classes, N_ROWS) if n_classes else RNG.normal(size=N_ROWS)
    weight = RNG.random(N_ROWS).astype(np.float32) + 0.5 if weighted else None
    return Targets(label.astype(np.float32), weight)


def gradients_of(
    objective: Objective, score: np.ndarray, targets: Targets
) -> tuple[np.ndarray, np.ndarray]:
    has_hessian = objective.has_hessian(targets)
    out = Gradients.empty(targets.n_rows, objective.n_outputs, has_hessian=has_hessian)
    objective.fill_gradients(score, targets, out, 1)
    hessian = np.ones(len(score)) if out.hessian is None else out.hessian
    return out.gradient.astype(np.float64), hessian.astype(np.float64)


def l2_loss(score: np.ndarray, label: np.ndarray) -> np.ndarray:
    return 0.5 * (score - label) ** 2


def binary_loss(score: np.ndarray, label: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, np.where(label > 0, -1, 1) * 0.7 * score)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("objective", "loss", "n_classes"),
    [(Regression(), l2_loss, 0), (Binary(sigmoid=0.7), binary_loss, 2)],
)
def test_derivatives_are_those_of_the_loss(
    objective: Objective, loss: Callable[..., Any], n_classes: int, weighted: bool
) -> None:
    targets = make_targets(n_classes, weighted=weighted)
    score, step = RNG.normal(size=N_ROWS) * 2, 1e-4
    gradient, hessian = gradients_of(objective, score, targets)
    label = targets.label.astype(np.float64)
    weight = 1.0 if targets.weight is None else targets.weight
    up, here, down = (loss(score + d, label) * weight for d in (step, 0, -step))
    np.testing.assert_allclose(gradient, (up - down) / (2 * step), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(hessian, (up - 2 * here + down) / step**2, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_softmax_derivatives_equal_the_oracles(weighted: bool) -> None:
    targets = make_targets(4, weighted=weighted)
    score = RNG.normal(size=(N_ROWS, 4))
    gradient, hessian = gradients_of(Multiclass(4), score.T.ravel().copy(), targets)
    expected = ORACLE["multiclass"].gradients(score, targets.label)
    weight = 1.0 if targets.weight is None else targets.weight[:, None]
    for found, wanted in zip((gradient, hessian), expected, strict=True):
        by_row = found.reshape(4, N_ROWS).T
        np.testing.assert_allclose(by_row, wanted * weight, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("objective", "name", "n_classes"),
    [(Regression(), "l2", 0), (Binary(), "binary", 2), (Multiclass(3), "multiclass", 3)],
)
def test_start_equals_the_oracles(
    objective: Objective, name: str, n_classes: int, weighted: bool
) -> None:
    targets = make_targets(n_classes, weighted=weighted)
    weight = np.ones(N_ROWS) if targets.weight is None else targets.weight.astype(np.float64)
    expected = ORACLE[name].start(targets.label.astype(np.float64), weight, objective.n_outputs)
    assert objective.start_scores(targets) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("objective", "name", "n_classes"),
    [(Regression(), "l2", 1), (Binary(), "binary", 1), (Multiclass(3), "multiclass", 3)],
)
def test_links_equal_the_oracles(objective: Objective, name: str, n_classes: int) -> None:
    score = RNG.normal(size=(N_ROWS, n_classes)) * 5
    found = objective.to_predictions(score.T.ravel().copy(), 1)
    np.testing.assert_allclose(found, ORACLE[name].link(score), rtol=1e-6)


def test_unweighted_squared_error_needs_no_hessians() -> None:
    assert not Regression().has_hessian(make_targets())
    assert Regression().has_hessian(make_targets(weighted=True))


class TestBinary:
    """What only the logistic loss has."""

    def make(self, label: list[float], **params: Any) -> Binary:
        targets = Targets(np.array(label, dtype=np.float32))
        return Binary.from_params(resolve({"objective": "binary", **params}), targets)

    def test_scale_pos_weight(self) -> None:
        assert self.make([0, 1], scale_pos_weight=3) == Binary(1.0, 1.0, 3.0)

    def test_unbalanced_classes_weigh_the_rarer_one_up(self) -> None:
        assert self.make([0, 0, 0, 1], is_unbalance=True) == Binary(1.0, 1.0, 3.0)
        assert self.make([0, 1, 1, 1], is_unbalance=True) == Binary(1.0, 3.0, 1.0)
        assert self.make([1, 1], is_unbalance=True) == Binary(1.0, 1.0, 1.0)

    def test_class_weights_multiply_the_derivatives(self) -> None:
        targets, score = make_targets(2), RNG.normal(size=N_ROWS)
        plain = gradients_of(Binary(), score, targets)
        weighted = gradients_of(Binary(1.0, 2.0, 5.0), score, targets)
        factor = np.where(targets.label > 0, 5.0, 2.0)
        for found, wanted in zip(weighted, plain, strict=True):
            np.testing.assert_allclose(found, wanted * factor, rtol=1e-6)

    def test_sigmoid_scales_the_start(self) -> None:
        targets = Targets(np.array([0, 1, 1, 1], dtype=np.float32))
        assert Binary(2.0).start_scores(targets) == [math.log(3) / 2]

    def test_one_class_only_starts_far_out(self) -> None:
        targets = Targets(np.ones(5, dtype=np.float32))
        (start,) = Binary().start_scores(targets)
        assert 30 < start < 40

    @pytest.mark.parametrize("label", [[0, 2], [-1, 0, 1], [0.5, 1]])
    def test_other_labels(self, label: list[float]) -> None:
        with pytest.raises(DataError, match=r"does not fit objective=binary: got .*(0|-1) or 1"):
            self.make(label)

    def test_a_class_of_validation_only(self) -> None:
        zeros = Targets(np.zeros(3, dtype=np.float32))
        ones = Targets(np.ones(3, dtype=np.float32))
        with pytest.raises(DataError, match="class 1 occurs in the data set 'test' but not"):
            Binary().check_valid(ones, zeros, "test")


class TestMulticlass:
    """What only the softmax loss has."""

    @pytest.mark.parametrize("label", [[0, 3], [-1, 1], [0.5, 1]])
    def test_labels_outside_the_classes(self, label: list[float]) -> None:
        targets = Targets(np.array(label, dtype=np.float32))
        params = resolve({"objective": "multiclass", "num_class": 3})
        with pytest.raises(DataError, match=r"outside the classes.*an integer from 0 to 2"):
            Multiclass.from_params(params, targets)

    def test_a_class_of_validation_only(self) -> None:
        train = Targets(np.array([0, 1], dtype=np.float32))
        with pytest.raises(DataError, match=r"class 2 occurs.*expected classes 0, 1"):
            Multiclass(3).check_valid(Targets(np.array([2], dtype=np.float32)), train, "v")
        Multiclass(3).check_valid(Targets(np.array([1], dtype=np.float32)), train, "v")

    def test_an_absent_class_starts_far_down(self) -> None:
        start = Multiclass(3).start_scores(Targets(np.array([0, 1], dtype=np.float32)))
        assert start[:2] == [math.log(0.5)] * 2
        assert start[2] == math.log(1e-15)


def test_labels_too_large_for_the_gradients() -> None:
    targets = Targets(np.array([1e37, 0], dtype=np.float32), np.array([100, 1], np.float32))
    with pytest.raises(DataError, match="labels are too large"):
        Regression.from_params(resolve({}), targets)


class TestCustom:
    """Objectives written by the user."""

    targets = make_targets()
    data = Dataset(np.zeros((N_ROWS, 1)), targets.label)

    def gradients(self, function: Any, n_outputs: int = 1) -> tuple[np.ndarray, np.ndarray]:
        score = np.arange(N_ROWS * n_outputs, dtype=np.float64)
        return gradients_of(Custom(n_outputs, function, self.data), score, self.targets)

    def test_the_function_gets_scores_and_data(self) -> None:
        seen: list[Any] = []

        def function(scores: np.ndarray, data: Dataset) -> tuple[Any, Any]:
            seen.extend([scores.copy(), data])
            return scores, scores * 2

        gradient, hessian = self.gradients(function)
        np.testing.assert_array_equal(seen[0], np.arange(N_ROWS))
        assert seen[1] is self.data
        np.testing.assert_array_equal(gradient, np.arange(N_ROWS))
        np.testing.assert_array_equal(hessian, 2 * np.arange(N_ROWS))

    def test_several_outputs_are_rows_by_outputs(self) -> None:
        shapes = []

        def function(scores: np.ndarray, data: Dataset) -> tuple[Any, Any]:
            shapes.append(scores.shape)
            return scores, scores

        gradient, _ = self.gradients(function, 3)
        assert shapes == [(N_ROWS, 3)]
        np.testing.assert_array_equal(gradient, np.arange(N_ROWS * 3))
        flat, _ = self.gradients(lambda s, d: (s.ravel(order="F"), s.ravel(order="F")), 3)
        np.testing.assert_array_equal(flat, gradient)

    def test_the_function_cannot_change_the_scores(self) -> None:
        score = np.ones(N_ROWS)

        def function(scores: np.ndarray, data: Dataset) -> tuple[Any, Any]:
            scores[:] = 99
            return scores, scores

        gradients_of(Custom(1, function, self.data), score, self.targets)
        assert (score == 1).all()

    @pytest.mark.parametrize(
        ("function", "words"),
        [
            (lambda s, d: s, "expected two arrays"),
            (lambda s, d: None, "expected two arrays"),
            (lambda s, d: (s[:-1], s), r"the gradient has shape \(99,\): expected \(100,\)"),
            (lambda s, d: (s, s[:-1]), r"the hessian has shape"),
            (lambda s, d: (s, 1.0), r"the hessian has shape \(\)"),
            (lambda s, d: (s * np.nan, s), "a gradient that is not finite for row 0"),
            (lambda s, d: (s, s + np.inf), "a hessian that is not finite"),
            (lambda s, d: (s * 1e300, s), "a gradient that is not finite for row 1"),
            (lambda s, d: (s, s - 5), "a negative hessian for row 0: got -5.0"),
            (lambda s, d: (s.astype(str), s), "the gradient must be numeric"),
        ],
    )
    def test_what_is_no_derivative_is_refused(self, function: Any, words: str) -> None:
        with pytest.raises(DataError, match=words):
            self.gradients(function)

    def test_wrong_shape_with_several_outputs(self) -> None:
        with pytest.raises(DataError, match=r"shape \(3, 100\): expected \(100, 3\)"):
            self.gradients(lambda s, d: (s.T, s), 3)

    def test_no_function(self) -> None:
        with pytest.raises(DataError, match="objective=custom has no function"):
            self.gradients(None)

    def test_predictions_are_raw_scores(self) -> None:
        score = RNG.normal(size=6)
        np.testing.assert_array_equal(Custom(1).to_predictions(score, 1), score)
        np.testing.assert_array_equal(Custom(2).to_predictions(score, 1), score.reshape(2, 3).T)


class TestRegistry:
    """By name, and in model files."""

    @pytest.mark.parametrize(
        "objective", [Regression(), Binary(0.3), Multiclass(7), Custom(4)], ids=str
    )
    def test_configurations_come_back(self, objective: Objective) -> None:
        assert objective_from_config(objective.to_config()) == objective

    @pytest.mark.parametrize("config", [{}, {"name": "no such"}, None, 3, {"name": "binary"}])
    def test_bad_configurations(self, config: Any) -> None:
        with pytest.raises(ModelFileError, match="objective cannot be read"):
            objective_from_config(config)

    def test_by_name_or_function(self) -> None:
        data = Dataset([[0], [1]], label=[0, 1])
        assert isinstance(make_objective(resolve({}), built_data(data).targets), Regression)
        assert isinstance(
            make_objective(resolve({"objective": "binary"}), built_data(data).targets), Binary
        )

        def function(scores: Any, data: Any) -> Any:
            return scores, scores

        objective = make_objective(
            resolve({"objective": function, "num_class": 2}), built_data(data).targets, data
        )
        assert objective == Custom(2, function, data)
