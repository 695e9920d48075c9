"""Parts of `SeveralTargets` that change labels and weights, and refit leaf values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from gossamer import Dataset, train
from gossamer.data import Targets
from gossamer.data.dataset import built_data
from gossamer.objectives import Gradients, LeafRefit, Objective, SeveralTargets
from gossamer.objectives.registry import OBJECTIVES
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = np.column_stack([np.exp(X[:, 0]), 5 + X[:, 1] + RNG.normal(size=300)])


@dataclass(frozen=True)
class RelativeError(Objective):
    """Absolute error relative to the label, in other units: all that a part may do."""

    name: ClassVar[str] = "regression"
    traits: ClassVar[Traits] = Traits(Kind.REGRESSION, "scaled")
    default_metric: ClassVar[str | None] = "l1"
    scale: float = 10.0

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Objective:
        return cls()

    @property
    def leaf_refit(self) -> LeafRefit:
        return LeafRefit(0.5)

    def prepare(self, targets: Targets) -> Targets:
        weight = 1 / np.maximum(targets.label, 1)
        if targets.weight is not None:
            weight = weight * targets.weight
        return replace(targets, label=targets.label * np.float32(self.scale), weight=weight)

    def start_scores(self, targets: Targets) -> list[float]:
        return [float(np.median(targets.label))]

    def fill_gradients(self, score: Any, targets: Targets, out: Gradients, n_threads: int) -> None:
        assert targets.weight is not None
        assert out.hessian is not None
        out.gradient[:] = np.sign(score - targets.label) * targets.weight
        out.hessian[:] = targets.weight

    def to_predictions(self, score: Any, n_threads: int) -> Any:
        return score / self.scale


@pytest.mark.parametrize("weight", [None, RNG.random(300) + 0.5], ids=["", "weighted"])
def test_parts_prepare_and_refit_for_themselves(
    weight: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OBJECTIVES, "regression", RelativeError)
    params = {"verbosity": -1, "num_leaves": 6, "learning_rate": 0.3}

    def fit(y: Any) -> Any:
        data = Dataset(X, y, weight=weight)
        return train(params, data, 6, valid_sets=[data])

    together, alone = fit(Y), [fit(Y[:, k]) for k in range(2)]
    expected = np.column_stack([model.predict(X) for model in alone])
    np.testing.assert_array_equal(together.predict(X), expected)
    mean = np.mean([model.best_score["training"]["l1"] for model in alone])
    assert together.best_score["training"]["l1"] == pytest.approx(mean, rel=1e-12)
    assert np.abs(expected - Y).mean() < 0.8 * np.abs(np.median(Y, axis=0) - Y).mean()


def test_labels_that_no_part_changes_are_not_copied() -> None:
    targets = built_data(Dataset(X, Y)).targets
    kind = OBJECTIVES["regression"]
    objective = SeveralTargets((kind(), kind()))
    assert objective.prepare(targets) is targets
    assert targets.target(1) is targets.target(1)


def test_labels_that_parts_change_keep_the_rest() -> None:
    label = np.array([1, 2, 10, 20], dtype=np.float32)
    queries = np.array([0, 2])
    targets = Targets(label, n_targets=2, queries=queries)
    prepared = SeveralTargets((RelativeError(), RelativeError())).prepare(targets)
    assert prepared.queries is queries
    assert prepared.n_rows == 2
    np.testing.assert_array_equal(prepared.label, 10 * label)
    np.testing.assert_allclose(prepared.target(1).weight, [0.1, 0.05])
    np.testing.assert_allclose(prepared.weight, [1, 0.5])  # the largest of each row
