"""Work on several things of the same size, side by side where that is faster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from gossamer.threads import start_helpers

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")

# Share of the work on one thing that several threads cannot divide: joins, and what one does alone.
_SERIAL_SHARE: Final = 0.1


@dataclass(frozen=True)
class Stretch:
    """Some of the jobs: `width` of them at a time, each with `n_threads` threads."""

    n_jobs: int
    width: int
    n_threads: int


def plan_stretches(n_jobs: int, n_threads: int) -> list[Stretch]:
    """Divide threads among equal jobs so that all of them are done soonest.

    One thread per job wastes nothing on joins; but of five jobs on two threads, the fifth would
    leave a thread idle, so it gets both.

    Example:
        >>> plan_stretches(5, 2)
        [Stretch(n_jobs=4, width=2, n_threads=1), Stretch(n_jobs=1, width=1, n_threads=2)]
        >>> plan_stretches(5, 16)
        [Stretch(n_jobs=5, width=5, n_threads=3)]
    """
    if n_threads == 1:
        return [Stretch(n_jobs, 1, 1)]
    n_whole = max(n_jobs // n_threads - 1, 0) * n_threads  # never worse than one thread each
    stretches = [Stretch(n_whole, n_threads, 1)] if n_whole else []
    for width in sorted(_plan_widths(n_jobs - n_whole, n_threads), reverse=True):
        each = n_threads // width
        last = stretches[-1] if stretches else None
        if last is not None and (last.width, last.n_threads) == (width, each):
            stretches[-1] = Stretch(last.n_jobs + width, width, each)
        else:
            stretches.append(Stretch(width, width, each))
    return stretches


@cache
def _plan_widths(n_jobs: int, n_threads: int) -> tuple[int, ...]:
    """Return how many jobs to do at a time, until all are done."""
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]  # (time, widths) for 0, 1, ... jobs
    for n in range(1, n_jobs + 1):
        options = []
        for width in range(1, min(n, n_threads) + 1):
            time = _SERIAL_SHARE + (1 - _SERIAL_SHARE) / (n_threads // width)
            before, widths = best[n - width]
            options.append((before + time, (*widths, width)))
        best.append(min(options))
    return best[n_jobs][1]


class SideBySide:
    """Runs the same jobs again and again, several at a time; to be used in a `with` statement.

    Args:
        stretches: See `plan_stretches`.

    Example:
        >>> with SideBySide(plan_stretches(3, 2)) as team:
        ...     team.run([lambda i=i: i * i for i in range(3)])
        [0, 1, 4]
    """

    def __init__(self, stretches: Iterable[Stretch]) -> None:
        """Start no thread yet: the first run does."""
        self._stretches = list(stretches)
        width = max((stretch.width for stretch in self._stretches), default=1)
        self._pool: ThreadPoolExecutor | None = None
        if width > 1:
            from concurrent import futures

            # The calling thread works as well.
            self._pool = futures.ThreadPoolExecutor(width - 1, "gossamer-fold")

    def run(self, jobs: list[Callable[[], T]]) -> list[T]:
        """Do all jobs; if some of them raise, the first one's exception is raised.

        No job starts after one has raised, and none is left running.
        """
        results: list[T] = []
        for stretch in self._stretches:
            part = jobs[len(results) : len(results) + stretch.n_jobs]
            results += self._run(part, stretch.width)
        return results

    def _run(self, jobs: list[Callable[[], T]], width: int) -> list[T]:
        if width == 1 or self._pool is None:
            return [job() for job in jobs]
        left = deque(enumerate(jobs))
        done: dict[int, T] = {}
        failed: dict[int, BaseException] = {}

        def work() -> None:
            while True:
                try:
                    i, job = left.popleft()
                except IndexError:
                    return
                try:
                    done[i] = job()
                except BaseException as error:
                    failed[i] = error
                    left.clear()
                    return

        helpers = start_helpers(self._pool, work, width - 1)
        try:
            work()
        finally:
            left.clear()
            for helper in helpers:
                helper.result()
        if failed:
            raise failed[min(failed)]
        return [done[i] for i in range(len(jobs))]

    def __enter__(self) -> SideBySide:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
