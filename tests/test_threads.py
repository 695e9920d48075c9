"""How many threads work gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer import threads
from gossamer.threads import CELLS_PER_THREAD, available_cpus, resolve_threads


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
