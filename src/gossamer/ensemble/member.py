"""One member of an ensemble: trained on all rows but its own, stopped by those."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.callbacks import CallbackEnv, EarlyStopException, EvalResult, early_stopping
from gossamer.cv import FoldMaker
from gossamer.model import Booster
from gossamer.model.model import Model
from gossamer.model.training.evaluate import Feval, restore_best, training_of
from gossamer.params import Params
from gossamer.threads import default_threads


@dataclass(frozen=True)
class Schedule:
    """When the members of an ensemble stop.

    Attributes:
        n_rounds: Most rounds of a member.
        patience: Rounds without improvement after which it stops; 0: never.
        feval: Metric functions of the user.
        seconds: Most seconds of one member, counted from its first round; None: no limit.
        is_over: Set when one member failed: the others need not go on.
    """

    n_rounds: int
    patience: int
    feval: Feval
    seconds: float | None
    is_over: Event


@dataclass(frozen=True, eq=False)
class Member:
    """A trained member.

    Attributes:
        booster: It has released its data, and has the rounds up to its best one.
        held_out: Raw scores of the rows that it held out, class-major.
        results: Metrics on these rows.
    """

    booster: Booster
    held_out: npt.NDArray[np.float64]
    results: list[EvalResult]

    @property
    def model(self) -> Model:
        """All that its predictions need."""
        return self.booster.model


@dataclass(frozen=True, eq=False)
class MemberTraining:
    """Everything that a member is made of.

    Attributes:
        maker: Makes its data sets and its booster.
        schedule: When it stops.
        n_threads: Threads that it may use; None: as its parameters say.
        after: Called with the member once it is trained.
    """

    maker: FoldMaker
    schedule: Schedule
    n_threads: int | None
    after: Callable[[Member], None]

    def run(self) -> Member:
        """Train the member."""
        try:
            if self.n_threads is None:
                member = self._train()
            else:
                with default_threads(self.n_threads):
                    member = self._train()
            self.after(member)
        except BaseException:
            self.schedule.is_over.set()
            raise
        return member

    def _train(self) -> Member:
        booster = self.maker.make()
        training = training_of(booster, "train_folds()")
        training.limit_threads(self.n_threads)
        stopping = _Stopping(self.schedule, booster.resolved_params)
        end, began = self.schedule.n_rounds, time.monotonic()
        for i in range(end):
            if self.schedule.is_over.is_set():
                break
            is_last = booster.update() or i + 1 == end or self._is_late(began)
            params = booster.resolved_params
            if not (i == 0 or is_last or (i + 1) % params.metric_freq == 0):
                continue
            results = booster.eval_valid(self.schedule.feval)
            end_round = i + 1 if is_last else end
            if stopping.sees(CallbackEnv(booster, {}, i, 0, end_round, results)):
                break
            if is_last:
                break
        n_best = stopping.n_best
        booster.best_iteration = n_best
        if stopping.held_out is None:  # another metric than the first found its best round
            training.rewind(n_best)
            stopping.look(booster)
        restore_best(booster, with_scores=False)
        booster.free_dataset().model = booster.used_model()
        assert stopping.held_out is not None
        return Member(booster, stopping.held_out, stopping.results)

    def _is_late(self, began: float) -> bool:
        limit = self.schedule.seconds
        return limit is not None and time.monotonic() - began > limit


class _Stopping:
    """Looks for the best round of a member, and keeps its scores."""

    def __init__(self, schedule: Schedule, params: Params) -> None:
        self._callback: Any = None
        if schedule.patience > 0:
            self._callback = early_stopping(
                schedule.patience,
                params.first_metric_only,
                verbose=False,
                min_delta=params.early_stopping_min_delta,
            )
        self.held_out: npt.NDArray[np.float64] | None = None
        self.results: list[EvalResult] = []
        self.n_best = 0
        self._n_held = 0

    def sees(self, env: CallbackEnv) -> bool:
        """Look at a round; return whether it was the last."""
        is_over = False
        results = env.evaluation_result_list or []
        best, found = env.iteration, results
        if self._callback is not None and results:
            try:
                self._callback(env)
                best, found = self._callback.best_so_far() or (best, found)
            except EarlyStopException as stop:
                best, found, is_over = stop.best_iteration, stop.best_score, True
        self.n_best, self.results = best + 1, found
        if best == env.iteration:
            self.look(env.model)
            self._n_held = self.n_best
        elif self._n_held != self.n_best:
            self.held_out = None
        return is_over

    def look(self, booster: Booster) -> None:
        """Copy the scores of the held-out rows as they are now."""
        training = training_of(booster, "train_folds()")
        scores = training.boosting.current(training, training.valid[0])
        self.held_out = np.array(scores)
