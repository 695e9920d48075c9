"""How many threads a piece of work gets, and work of Python's threads."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

T = TypeVar("T")

# The one rule: a thread is worth waking for this many cells (row x column, or row x tree in a
# prediction). Waking and joining costs a few microseconds, this many cells take about fifty.
CELLS_PER_THREAD = 100_000
# Training takes longer: columns are sorted to find their bins, and histograms are searched, however
# few the rows. Two threads share that with short joins.
CELLS_FOR_TWO = 32_000

_most: ContextVar[int | None] = ContextVar("most_threads", default=None)
# More than any machine makes use of. A model file has a number of threads, too, and whoever wrote
# it must not be able to start a hundred thousand of them.
MOST_THREADS = 1024


def resolve_threads(num_threads: int, n_rows: int, n_columns: int) -> int:
    """Return the number of threads for work on `n_rows` x `n_columns` cells.

    Args:
        num_threads: What the user asked for; 0 or less: every CPU this process may use.
        n_rows: Rows to work on.
        n_columns: Columns, or trees, to work on for each row.

    Example:
        >>> resolve_threads(4, n_rows=30, n_columns=10)
        1
        >>> resolve_threads(4, n_rows=1_000_000, n_columns=10)
        4
    """
    n_worthwhile = n_rows * n_columns // CELLS_PER_THREAD
    if n_worthwhile <= 1:
        return 1
    most = _most.get()
    if num_threads <= 0:
        num_threads = available_cpus() if most is None else most
    return min(num_threads, n_worthwhile, MOST_THREADS)


def threads_to_train(num_threads: int, n_rows: int, n_columns: int) -> int:
    """Return the number of threads for binning training data, and for growing trees on it.

    Args:
        num_threads: What the user asked for, as in `resolve_threads`.
        n_rows: Rows to work on.
        n_columns: Columns to work on for each row.

    Example:
        >>> threads_to_train(4, n_rows=2_000, n_columns=20)
        2
        >>> threads_to_train(1, n_rows=2_000, n_columns=20)
        1
    """
    found = resolve_threads(num_threads, n_rows, n_columns)
    if found > 1 or n_rows * n_columns < CELLS_FOR_TWO:
        return found
    return min(2, resolve_threads(num_threads, CELLS_PER_THREAD, 2))


@contextmanager
def default_threads(n_threads: int) -> Iterator[None]:
    """Use so many threads where the user asks for no number: of a worker that has its share.

    Example:
        >>> with default_threads(1):
        ...     resolve_threads(0, n_rows=1_000_000, n_columns=10)
        1
    """
    token = _most.set(n_threads)
    try:
        yield
    finally:
        _most.reset(token)


def start_helpers(
    pool: ThreadPoolExecutor, work: Callable[[], None], n_helpers: int
) -> list[Future[None]]:
    """Let a pool's threads do the same work; fewer of them where the system starts no more.

    Example:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> done = []
        >>> with ThreadPoolExecutor(2) as pool:
        ...     helpers = start_helpers(pool, lambda: done.append(1), 2)
        >>> len(helpers), len(done)
        (2, 2)
    """
    helpers = []
    for _ in range(n_helpers):
        try:
            helpers.append(pool.submit(work))
        except RuntimeError:  # a limit on processes or address space: the others do the work
            break
    return helpers


def map_on_threads(work: Callable[[int], T], n_items: int, n_threads: int) -> list[T]:
    """Return what the work gives for 0, 1, ...; for loops that release the GIL.

    Example:
        >>> map_on_threads(lambda i: i * i, 4, n_threads=2)
        [0, 1, 4, 9]
    """
    n_threads = min(n_threads, n_items)
    if n_threads <= 1:
        return [work(item) for item in range(n_items)]
    left, done = deque(range(n_items)), dict[int, T]()

    def take_items() -> None:
        while True:
            try:
                item = left.popleft()
            except IndexError:
                return
            try:
                done[item] = work(item)
            except BaseException:
                left.clear()
                raise

    from concurrent import futures

    with futures.ThreadPoolExecutor(n_threads - 1) as pool:
        helpers = start_helpers(pool, take_items, n_threads - 1)
        try:
            take_items()
        finally:
            left.clear()
        for helper in helpers:
            helper.result()
    return [done[item] for item in range(n_items)]


@cache
def available_cpus() -> int:
    """Return the CPUs this process may use: its affinity, limited by its cgroups' quotas.

    Example:
        >>> available_cpus() >= 1
        True
    """
    if hasattr(os, "sched_getaffinity"):
        n_cpus = len(os.sched_getaffinity(0))
    else:
        n_cpus = os.cpu_count() or 1
    return max(1, min([n_cpus, *map(math.ceil, _cgroup_quotas())]))


def _cgroup_quotas(root: str = "/sys/fs/cgroup", own: str = "/proc/self/cgroup") -> list[float]:
    """CPU quotas of this process's cgroups and of those above them (versions 1 and 2)."""
    quotas: list[float] = []
    for line in _read(Path(own)).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            base = Path(root)
        elif "cpu" in controllers.split(","):
            base = Path(root, controllers)
        else:
            continue
        # In a container the path may be the host's; its base directory still counts.
        group = base / path.lstrip("/")
        for folder in (group, *group.parents):
            quotas += _quota(folder)
            if folder == base:
                break
    return quotas


def _quota(folder: Path) -> list[float]:
    """The quota that one cgroup sets, in CPUs."""
    limit, _, period = _read(folder / "cpu.max").partition(" ")
    if not limit:
        limit = _read(folder / "cpu.cfs_quota_us")
        period = _read(folder / "cpu.cfs_period_us")
    try:
        quota = int(limit) / int(period)
    except (ValueError, ZeroDivisionError):  # "max", or no such file
        return []
    return [quota] if quota > 0 else []


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
