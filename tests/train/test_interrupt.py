"""Ctrl-C, and callbacks that raise: the model so far is whole and can be used."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer import Booster, CallbackEnv, Dataset, early_stopping, threads, train
from gossamer.logger import register_logger

RNG = np.random.default_rng(13)
TABLE = RNG.normal(size=(2000, 6))
LABEL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] + 0.1 * RNG.normal(size=2000)
CLASSES = np.digitize(LABEL, [-0.7, 0.7])
QUIET: dict[str, Any] = {"num_leaves": 31, "verbosity": -1}
MULTI = {"objective": "multiclass", "num_class": 3, **QUIET}

needs_main_thread = pytest.mark.skipif(
    not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """What Ctrl-C does, after a while."""

    def press(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def press_in(n_round: int) -> Callable[[CallbackEnv], None]:
    """A callback in which Ctrl-C is pressed."""

    def press(env: CallbackEnv) -> None:
        if env.iteration == n_round:
            raise KeyboardInterrupt

    return press


def rounds(n: int, params: dict[str, Any] = QUIET, label: Any = LABEL) -> str:
    return train(params, Dataset(TABLE, label), n).model_to_string()


class TestTrain:
    """What `train` returns."""

    def test_the_model_so_far(self) -> None:
        with pytest.warns(UserWarning, match="interrupted after 4 rounds"):
            model = train(QUIET, Dataset(TABLE, LABEL), 50, callbacks=[press_in(3)])
        assert model.was_interrupted
        assert model.model_to_string() == rounds(4)
        assert model.train_set is None
        assert pickle.loads(pickle.dumps(model)).was_interrupted

    def test_before_a_round(self) -> None:
        press = press_in(3)
        press.before_iteration = True  # type: ignore[attr-defined]
        with pytest.warns(UserWarning, match="interrupted after 3 rounds"):
            model = train(QUIET, Dataset(TABLE, LABEL), 50, callbacks=[press])
        assert model.model_to_string() == rounds(3)

    def test_nothing_so_far(self) -> None:
        press = press_in(0)
        press.before_iteration = True  # type: ignore[attr-defined]
        with pytest.raises(KeyboardInterrupt):
            train(QUIET, Dataset(TABLE, LABEL), 50, callbacks=[press])
        old = train(QUIET, Dataset(TABLE, LABEL), 2)
        press = press_in(2)
        press.before_iteration = True  # type: ignore[attr-defined]
        with pytest.raises(KeyboardInterrupt):
            train(QUIET, Dataset(TABLE, LABEL), 50, callbacks=[press], init_model=old)

    def test_twice_is_meant(self) -> None:
        class Impatient:
            def info(self, text: str) -> None: ...

            def warning(self, text: str) -> None:
                raise KeyboardInterrupt

        register_logger(Impatient())
        try:
            with pytest.raises(KeyboardInterrupt):
                train(QUIET, Dataset(TABLE, LABEL), 50, callbacks=[press_in(3)])
        finally:
            register_logger(None)

    def test_the_best_round_so_far(self) -> None:
        data = Dataset(TABLE, LABEL)
        noise = data.create_valid(TABLE[:100], RNG.normal(size=100))
        callbacks = [early_stopping(30, verbose=False), press_in(20)]
        with pytest.warns(UserWarning, match="interrupted after 21 rounds"):
            model = train(QUIET, data, 50, noise, callbacks=callbacks)
        history: dict[str, Any] = {}
        train(QUIET, data, 20, noise, callbacks=[gossamer.record_evaluation(history)])
        losses = history["valid_0"]["l2"]
        assert model.best_iteration == int(np.argmin(losses)) + 1
        assert model.best_score["valid_0"]["l2"] == min(losses)
        assert model.current_iteration() == model.best_iteration

    def test_training_further(self) -> None:
        with pytest.warns(UserWarning, match="interrupted"):
            booster = train(
                QUIET,
                Dataset(TABLE, LABEL),
                50,
                callbacks=[press_in(3)],
                keep_training_booster=True,
            )
        booster.update()
        assert booster.model_to_string() == rounds(5)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    def test_a_signal_from_outside(self, tmp_path: Path) -> None:
        ready, result = tmp_path / "ready", tmp_path / "result"

        def say_so(env: CallbackEnv) -> None:
            if env.iteration == 2:
                ready.touch()

        child = os.fork()
        if not child:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                register_logger(type("Silent", (), {"info": print, "warning": lambda *_: None})())
                model = train(
                    {**QUIET, "num_threads": 1},
                    Dataset(TABLE, LABEL),
                    1_000_000,
                    callbacks=[say_so],
                )
                text = f"{model.was_interrupted} {model.num_trees()}\n{model.model_to_string()}"
                result.write_text(text)
            except BaseException as error:
                result.write_text(repr(error))
            finally:
                os._exit(0)
        for _ in range(3000):
            if ready.exists():
                break
            time.sleep(0.01)
        os.kill(child, signal.SIGINT)
        os.waitpid(child, 0)
        facts, _, text = result.read_text().partition("\n")
        was_interrupted, n_trees = facts.split()
        assert was_interrupted == "True"
        params = {**QUIET, "num_threads": 1}
        assert text == train(params, Dataset(TABLE, LABEL), int(n_trees)).model_to_string()


@needs_main_thread
class TestInARound:
    """A round that is left half-way never was."""

    @pytest.mark.parametrize(
        ("params", "label"),
        [
            (QUIET, LABEL),
            ({**QUIET, "bagging_fraction": 0.5}, LABEL),
            (MULTI, CLASSES),
            ({**MULTI, "multi_strategy": "multi_output_tree"}, CLASSES),
        ],
        ids=["plain", "bagging", "multiclass", "vector leaves"],
    )
    @pytest.mark.parametrize("n_threads", [1, 3])
    def test_at_random_moments(
        self, params: Any, label: Any, n_threads: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
        params = {**params, "num_threads": n_threads}
        data = Dataset(TABLE, label)
        valid = data.create_valid(TABLE[:500], label[:500])
        booster = Booster(params, data).add_valid(valid, "valid")
        start = time.perf_counter()
        booster.update()
        takes = time.perf_counter() - start
        random, n_breaks = np.random.default_rng(), 0
        while booster.current_iteration() < 8:
            try:
                with interrupt_after(random.uniform(0.0001, 2 * takes)):
                    booster.update()
            except KeyboardInterrupt:
                n_breaks += 1
        booster.update()
        expected = Booster(params, Dataset(TABLE, label))
        expected.add_valid(expected.train_set.create_valid(TABLE[:500], label[:500]), "valid")
        for _ in range(9):
            expected.update()
        assert booster.model_to_string() == expected.model_to_string()
        assert booster.eval_valid() == expected.eval_valid()
        assert booster.eval_train() == expected.eval_train()

    @pytest.mark.parametrize("vector", [False, True])
    def test_a_long_round_ends_soon(self, vector: bool) -> None:
        # Python is asked every 20 ms: the round must be much longer than that.
        table = RNG.normal(size=(240_000, 10)).astype(np.float32)
        params = {**QUIET, "num_leaves": 16_000, "min_data_in_leaf": 1, "num_threads": 1}
        label = table[:, 0] + RNG.normal(size=240_000)
        if vector:
            label = np.column_stack([label, -label])
            params["multi_strategy"] = "multi_output_tree"
            params["num_leaves"] = 4000
        data = Dataset(table, label).construct()
        Booster(params, data).update()  # the first round over a table makes its columns
        start = time.perf_counter()
        Booster(params, data).update()
        takes = time.perf_counter() - start
        booster = Booster(params, data)
        with pytest.raises(KeyboardInterrupt), interrupt_after(takes / 5):
            booster.update()
        assert booster.num_trees() == 0
        # The tree was not grown to its end.
        stats = booster.training.stage_stats()
        assert stats["rounds"] == 1 and stats["committed"] == 0

    def test_other_signals_raise_what_they_want(self) -> None:
        class Alarm(Exception):
            pass

        def ring(*_: Any) -> None:
            raise Alarm

        before = signal.signal(signal.SIGALRM, ring)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Alarm):
                train(QUIET, Dataset(TABLE, LABEL), 1_000_000)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def test_scores_that_were_half_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    boosters = []
    for n_rounds in (4, 3):
        data = Dataset(TABLE, LABEL)
        booster = Booster(QUIET, data).add_valid(data.create_valid(TABLE, LABEL), "valid")
        for _ in range(n_rounds):
            booster.update()
        boosters.append(booster)
    booster, expected = boosters
    training = booster.training

    def press(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(training.boosting, "add_rounds", press)
        with pytest.raises(KeyboardInterrupt):
            booster.rollback_one_iter()
    assert booster.eval_valid() == expected.eval_valid()
    booster.update()
    expected.update()
    assert booster.model_to_string() == expected.model_to_string()


class Broken(Exception):
    """Raised by somebody's code."""


class TestCallbacksThatRaise:
    """Training stops, the exception goes through, the model stays."""

    @pytest.mark.parametrize("is_before", [False, True])
    def test_the_model_so_far(self, is_before: bool) -> None:
        kept: list[Booster] = []

        def fail(env: CallbackEnv) -> None:
            kept[:] = [env.model]
            if env.iteration == 3:
                raise Broken

        fail.before_iteration = is_before  # type: ignore[attr-defined]
        with pytest.raises(Broken):
            train(QUIET, Dataset(TABLE, LABEL), 50, callbacks=[fail])
        (booster,) = kept
        n_done = 3 if is_before else 4
        assert booster.model_to_string() == rounds(n_done)
        assert not booster.was_interrupted
        booster.update()
        assert booster.model_to_string() == rounds(n_done + 1)

    def test_objectives_and_metrics(self) -> None:
        kept: list[Booster] = []
        calls: list[int] = []

        def squares(scores: Any, data: Dataset) -> Any:
            calls.append(0)
            if len(calls) == 4:
                raise Broken
            return scores - data.get_label(), np.ones_like(scores)

        params = {**QUIET, "objective": squares}
        with pytest.raises(Broken):
            train(
                params,
                Dataset(TABLE, LABEL),
                50,
                callbacks=[lambda env: kept.append(env.model)],
            )
        booster = kept[-1]
        assert booster.num_trees() == 3
        booster.update()
        assert booster.model_to_string() == rounds(4, params)

        def metric(predictions: Any, data: Dataset) -> Any:
            raise Broken

        with pytest.raises(Broken):
            train(QUIET, Dataset(TABLE, LABEL), 3, Dataset(TABLE, LABEL), feval=metric)


def test_an_estimator_is_fitted_and_says_so() -> None:
    pytest.importorskip("sklearn")
    model = gossamer.GossamerRegressor(num_leaves=31, verbosity=-1)
    with pytest.warns(UserWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(TABLE, LABEL, callbacks=[press_in(3)])
    assert model.n_estimators_ == 4
    expected = gossamer.GossamerRegressor(num_leaves=31, verbosity=-1, n_estimators=4)
    np.testing.assert_array_equal(model.predict(TABLE), expected.fit(TABLE, LABEL).predict(TABLE))
