"""Jobs side by side: how threads are divided, and what happens when one fails."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.side_by_side import SideBySide, Stretch, plan_stretches


@settings(deadline=None)
@given(n_jobs=st.integers(1, 40), n_threads=st.integers(1, 70))
def test_every_job_is_planned_and_no_thread_twice(n_jobs: int, n_threads: int) -> None:
    stretches = plan_stretches(n_jobs, n_threads)
    assert sum(stretch.n_jobs for stretch in stretches) == n_jobs
    for stretch in stretches:
        assert stretch.n_threads >= 1
        assert stretch.width * stretch.n_threads <= n_threads
        assert stretch.n_jobs % stretch.width == 0


def test_plans() -> None:
    assert plan_stretches(5, 1) == [Stretch(5, 1, 1)]
    assert plan_stretches(4, 2) == [Stretch(4, 2, 1)]
    assert plan_stretches(1, 4) == [Stretch(1, 1, 4)]
    assert plan_stretches(5, 8) == [Stretch(4, 4, 2), Stretch(1, 1, 8)]


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_results_in_order(n_threads: int) -> None:
    with SideBySide(plan_stretches(7, n_threads)) as team:
        for k in range(3):
            assert team.run([lambda i=i, k=k: i + k for i in range(7)]) == list(range(k, 7 + k))


def test_jobs_overlap() -> None:
    barrier = threading.Barrier(2, timeout=30)
    with SideBySide([Stretch(2, 2, 1)]) as team:
        assert sorted(team.run([barrier.wait, barrier.wait])) == [0, 1]


def test_the_first_error_is_raised_and_nothing_is_left_running() -> None:
    done: list[int] = []

    def job(i: int) -> None:
        if i == 0:
            raise KeyError("first")
        time.sleep(0.05)
        done.append(i)

    with SideBySide([Stretch(8, 2, 1)]) as team:
        with pytest.raises(KeyError, match="first"):
            team.run([lambda i=i: job(i) for i in range(8)])
        n_done = len(done)
        assert n_done <= 1  # the one that ran beside it
        time.sleep(0.1)
        assert len(done) == n_done
        assert team.run([lambda: 1] * 8) == [1] * 8  # it can be used again


def test_an_interrupt_comes_through() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with SideBySide([Stretch(2, 2, 1)]) as team, pytest.raises(KeyboardInterrupt):
        team.run([interrupt, lambda: None])
