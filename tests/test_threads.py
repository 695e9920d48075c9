"""How many threads work gets."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from gossamer import threads
from gossamer.side_by_side import SideBySide, plan_stretches
from gossamer.threads import CELLS_PER_THREAD, available_cpus, map_on_threads, resolve_threads


@pytest.fixture
def eight_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "available_cpus", lambda: 8)


@pytest.mark.usefixtures("eight_cpus")
@pytest.mark.parametrize(
    ("num_threads", "n_rows", "n_columns", "expected"),
    [
        (0, 10**7, 10, 8),
        (-1, 10**7, 10, 8),
        (3, 10**7, 10, 3),
        (16, 10**7, 10, 16),  # asked for by name: more than the CPUs, as the user wants it
        (0, 2000, 20, 1),
        (8, 2000, 20, 1),
        (0, CELLS_PER_THREAD * 2, 1, 2),
        (0, CELLS_PER_THREAD * 2 - 1, 1, 1),
        (0, 0, 0, 1),
    ],
)
def test_as_many_threads_as_asked_for_and_worthwhile(
    num_threads: int, n_rows: int, n_columns: int, expected: int
) -> None:
    assert resolve_threads(num_threads, n_rows, n_columns) == expected


def test_affinity_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    monkeypatch.setattr(threads, "_cgroup_quotas", lambda: [])
    assert available_cpus.__wrapped__() == 3


def test_quota_is_respected_and_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)), raising=False)
    monkeypatch.setattr(threads, "_cgroup_quotas", lambda: [2.5, 7.0])
    assert available_cpus.__wrapped__() == 3


def test_without_affinity_all_cpus_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 5)
    monkeypatch.setattr(threads, "_cgroup_quotas", lambda: [])
    assert available_cpus.__wrapped__() == 5


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_quotas_of_cgroup_version_2(tmp_path: Path) -> None:
    _write(tmp_path / "self", "0::/user/job\n")
    _write(tmp_path / "fs/user/job/cpu.max", "max 100000\n")
    _write(tmp_path / "fs/user/cpu.max", "250000 100000\n")
    _write(tmp_path / "cpu.max", "1 100000\n")  # outside the cgroup tree
    assert threads._cgroup_quotas(str(tmp_path / "fs"), str(tmp_path / "self")) == [2.5]


def test_quotas_of_cgroup_version_1(tmp_path: Path) -> None:
    _write(tmp_path / "self", "4:memory:/job\n3:cpu,cpuacct:/job\n")
    _write(tmp_path / "fs/cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n")
    _write(tmp_path / "fs/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
    _write(tmp_path / "fs/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
    _write(tmp_path / "fs/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
    assert threads._cgroup_quotas(str(tmp_path / "fs"), str(tmp_path / "self")) == [1.5]


def test_a_container_that_shows_the_hosts_path(tmp_path: Path) -> None:
    _write(tmp_path / "self", "0::/docker/abc\n")
    _write(tmp_path / "fs/cpu.max", "400000 100000\n")
    assert threads._cgroup_quotas(str(tmp_path / "fs"), str(tmp_path / "self")) == [4.0]


def test_no_cgroups_no_quotas(tmp_path: Path) -> None:
    assert threads._cgroup_quotas(str(tmp_path), str(tmp_path / "nothing")) == []


@pytest.mark.parametrize("n_starting", [0, 1, 2])
def test_work_of_threads_that_cannot_be_started(
    monkeypatch: pytest.MonkeyPatch, n_starting: int
) -> None:
    start, started = threading.Thread.start, []

    def start_some(thread: Any) -> None:
        if len(started) >= n_starting:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    squares = [i * i for i in range(20)]
    assert map_on_threads(lambda i: i * i, 20, 4) == squares
    started.clear()
    with SideBySide(plan_stretches(20, 4)) as team:
        assert team.run([lambda i=i: i * i for i in range(20)]) == squares
        assert team.run([lambda i=i: -i for i in range(20)]) == [-i for i in range(20)]


def test_what_the_work_raises_reaches_the_caller() -> None:
    def fail(i: int) -> int:
        if i == 7:
            raise KeyError(i)
        return i

    for n_threads in (1, 3):
        with pytest.raises(KeyError, match="7"):
            map_on_threads(fail, 20, n_threads)


def test_no_number_of_threads_is_endless() -> None:
    """A model file has a number of threads, and predictions use it."""
    assert resolve_threads(10**6, n_rows=10**9, n_columns=1000) == threads.MOST_THREADS
