"""Cox's proportional hazards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import DataError
from gossamer.objectives.base import LARGEST_LOG_ODDS_STEP, Gradients
from gossamer.objectives.survival import (
    TimeLink,
    bad_row,
    check_bounds,
    check_columns,
    signed_times,
)
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

# Times do not change during a training: each data set's rows are put in order once.
_ORDERS: Final[WeakKeyDictionary[Targets, _native.CoxOrder]] = WeakKeyDictionary()


def order_of(targets: Targets) -> _native.CoxOrder:
    """Return the rows in the order of their times."""
    order = _ORDERS.get(targets)
    if order is None:
        order = _native.CoxOrder(signed_times(targets), targets.weight)
        _ORDERS[targets] = order
    return order


@dataclass(frozen=True)
class Cox(TimeLink):
    """Negative partial log-likelihood; exp(score) is the hazard relative to score 0.

    Labels are times of events, negative where a row is censored at -label; or two columns, lower
    and upper bound, equal or with an infinite upper one. Rows of the same time are all at risk at
    it (Breslow). A row of weight w counts as w rows would.
    """

    name: ClassVar[str] = "cox"
    traits: ClassVar[Traits] = Traits(
        Kind.SURVIVAL,
        "bounded_exp",
        aliases=("survival:cox",),
        lightgbm="poisson",
        xgboost="survival:cox",
    )
    default_metric: ClassVar[str | None] = "cox-nloglik"
    metrics: ClassVar[tuple[str, ...] | None] = ("cox-nloglik", "c_index")
    takes_targets: ClassVar[bool] = True
    takes_intervals: ClassVar[bool] = True

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Cox:
        """Make the objective; times must be above 0, and there must be an event."""
        _check_label(targets, "training")
        if not order_of(targets).event_weight > 0:
            raise DataError.because(
                "no row of the training data that counts has an event: all are censored",
                expected="at least one label above 0",
                hint="A negative label is a row that is censored at that time.",
            )
        return cls()

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check that times are above 0."""
        _check_label(targets, name)

    @property
    def damp_from(self) -> float:
        """See `Objective`."""
        return LARGEST_LOG_ODDS_STEP

    def start_scores(self, targets: Targets) -> list[float]:
        """Return 0: the likelihood does not depend on a constant."""
        return [0.0]

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        assert out.hessian is not None
        order_of(targets).gradients(score, out.gradient, out.hessian, n_threads)


def _check_label(targets: Targets, name: str) -> None:
    check_columns(targets, Cox.name, name)
    if targets.n_targets == 1:
        is_bad = targets.label == 0
        if is_bad.any():
            raise bad_row(
                is_bad,
                lambda row: float(targets.label[row]),
                Cox.name,
                name,
                "a time above 0, or below 0 for a row that is censored then",
            )
        return
    lower, upper = targets.label.reshape(2, -1)
    is_bad = ~((lower > 0) & ((lower == upper) | np.isinf(upper)))
    expected = "(time, time), or (time, inf) for a row that is censored then, times above 0"
    check_bounds(is_bad, lower, upper, Cox.name, name, expected)
