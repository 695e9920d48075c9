"""Several targets: one objective, and so one tree per round, for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.data import Targets
from gossamer.errors import DataError, ParameterError
from gossamer.objectives.base import Gradients, LeafRefit, Objective, State
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True, eq=False)
class PreparedTargets(Targets):
    """Labels of several targets as their losses see them: weights, too, may differ by target.

    Attributes:
        parts: Labels and weights of each target.
    """

    parts: tuple[Targets, ...] = ()

    @classmethod
    def join(cls, targets: Targets, parts: list[Targets]) -> Targets:
        """Put the targets together again; `weight` becomes the largest of each row's."""
        if all(part is targets.target(k) for k, part in enumerate(parts)):
            return targets
        label = np.concatenate([part.label for part in parts])
        weights = [part.weight for part in parts if part.weight is not None]
        weight = reduce(np.maximum, weights) if weights else None
        others = {field.name: getattr(targets, field.name) for field in fields(targets)}
        return cls(**{**others, "label": label, "weight": weight, "parts": tuple(parts)})

    def target(self, k: int) -> Targets:
        """Return the labels of one target alone, with its weights."""
        return self.parts[k]


@dataclass(frozen=True)
class SeveralTargets(Objective):
    """An objective of the same kind for each target; the targets share rows and columns only.

    Attributes:
        parts: The objective of each target, with one output each.
    """

    name: ClassVar[str] = "several_targets"
    traits: ClassVar[Traits] = Traits(Kind.TARGETS, "parts", is_choice=False)
    default_metric: ClassVar[str | None] = None
    takes_targets: ClassVar[bool] = True

    parts: tuple[Objective, ...] = ()

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """Number of targets."""
        return len(self.parts)

    @property
    def own_metric(self) -> str | None:
        """The same as each part's."""
        return self.parts[0].own_metric

    @property
    def damp_from(self) -> float:
        """The same as each part's: they are of one kind, with the same parameters."""
        return self.parts[0].damp_from

    @property
    def hessian_is_variance(self) -> bool:
        """The same as each part's."""
        return self.parts[0].hessian_is_variance

    def leaf_refit_of(self, output: int) -> LeafRefit | None:
        """How leaf values of one target's trees are found again."""
        return self.parts[output].leaf_refit_of(0)

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Objective:
        """Not made by name, so not from parameters alone: see `of`."""
        raise NotImplementedError

    @classmethod
    def of(
        cls, name: str, make: Callable[[Targets], Objective], params: Params, targets: Targets
    ) -> SeveralTargets:
        """Make an objective for each target, and check the labels.

        Args:
            name: Name of the objective.
            make: Makes it for one target.
            params: The parameters.
            targets: The labels.

        Raises:
            ParameterError: If the parameters are meant for one target.
            DataError: If the labels do not fit.
        """
        n_targets = targets.n_targets
        if params.num_class > 1:
            raise _one_output(name, f"num_class={params.num_class}", n_targets)
        if min(params.pos_bagging_fraction, params.neg_bagging_fraction) < 1:
            raise ParameterError.because(
                "pos_bagging_fraction and neg_bagging_fraction need one label per row",
                found=f"{n_targets} targets",
                hint="Use bagging_fraction instead.",
            )
        _check_finite(targets, "training")
        parts = []
        for k in range(n_targets):
            with naming_target(k):
                parts.append(make(targets.target(k)))
            if parts[-1].n_outputs != 1:
                raise _one_output(name, f"{parts[-1].n_outputs} outputs", n_targets)
        return cls(tuple(parts))

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check the labels of a validation set, target by target."""
        _check_finite(targets, name)
        for k, part in enumerate(self.parts):
            with naming_target(k):
                part.check_valid(targets.target(k), train.target(k), name)

    def prepare(self, targets: Targets) -> Targets:
        """Return the labels as the parts see them."""
        parts = [part.prepare(targets.target(k)) for k, part in enumerate(self.parts)]
        return PreparedTargets.join(targets, parts)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the best constant score of each target."""
        return [
            score
            for k, part in enumerate(self.parts)
            for score in part.start_scores(targets.target(k))
        ]

    def start_at(self, prediction: float) -> list[float]:
        """Return the score of each target at which this is predicted."""
        return [score for part in self.parts for score in part.start_at(prediction)]

    def start_state(self, targets: Targets) -> State:
        """Return what each objective learns in addition to the trees."""
        return [part.start_state(targets.target(k)) for k, part in enumerate(self.parts)]

    def for_round(self, n_round: int, state: State) -> Objective:
        """Return the objectives of one round."""
        pairs = zip(self.parts, state, strict=True)
        return SeveralTargets(tuple(part.for_round(n_round, own) for part, own in pairs))

    def next_state(self, state: State, targets: Targets, gradients: Gradients) -> State:
        """Return what each objective has learned after a round."""
        return [
            part.next_state(own, targets.target(k), Gradients(*both, gradients.has_hessian))
            for k, (part, own, both) in enumerate(
                zip(self.parts, state, gradients.split(self.n_outputs), strict=True)
            )
        ]

    def has_hessian(self, targets: Targets) -> bool:
        """Whether a target's hessians differ from 1."""
        return any(part.has_hessian(targets.target(k)) for k, part in enumerate(self.parts))

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives, target by target."""
        by_target = score.reshape(self.n_outputs, -1)
        for k, (part, (gradient, hessian)) in enumerate(
            zip(self.parts, out.split(self.n_outputs), strict=True)
        ):
            own = targets.target(k)
            has_hessian = part.has_hessian(own)
            if out.has_hessian and hessian is not None and not has_hessian:
                hessian.fill(1.0)
            view = Gradients(gradient, hessian, has_hessian)
            part.fill_gradients(by_target[k], own, view, n_threads)

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the predictions, rows x targets."""
        by_target = score.reshape(self.n_outputs, -1)
        return np.column_stack(
            [
                part.to_predictions(by_target[k], n_threads) if part.has_link else by_target[k]
                for k, part in enumerate(self.parts)
            ]
        )

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {"name": self.name, "parts": [part.to_config() for part in self.parts]}

    def for_prediction(self) -> SeveralTargets:
        """Return the objectives without what only training needs."""
        return SeveralTargets(tuple(part.for_prediction() for part in self.parts))


@contextmanager
def naming_target(k: int) -> Iterator[None]:
    """Say in errors which target they are about."""
    try:
        yield
    except DataError as error:
        raise DataError(f"target {k}: {error}") from None


def check_same_targets(targets: Targets, train: Targets, name: str) -> None:
    """Check that a validation set has as many targets as the training data.

    Raises:
        DataError: If it has not.
    """
    if targets.n_targets != train.n_targets:
        raise DataError.because(
            f"the data set {name!r} has another number of targets than the training data",
            got=targets.n_targets,
            expected=str(train.n_targets),
            hint="The label must have as many columns as the training data's label.",
        )


def _check_finite(targets: Targets, name: str) -> None:
    """Infinite labels are ends of intervals, which targets of their own are not."""
    is_bad = ~np.isfinite(targets.label)
    if is_bad.any():
        k, row = divmod(int(np.argmax(is_bad)), targets.n_rows)
        raise DataError.because(
            f"label of row {row}, target {k} of the {name} data is infinite",
            expected="finite numbers",
            hint="Intervals with an open end are for objective=aft.",
        )


def _one_output(name: str, got: str, n_targets: int) -> ParameterError:
    return ParameterError.because(
        f"objective={name} cannot be trained for {n_targets} targets at once",
        got=got,
        expected="an objective with one output per target, and no num_class",
        hint="Train one model per target, or use objective=binary for labels that are "
        "each present or absent.",
    )
