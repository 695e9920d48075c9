"""The marker `attack`, the count of runs and failures, and the table at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SHOWN = 20  # failures of one test that are printed


class Tally:
    """Counts what one test tries, so that one failure does not hide the others."""

    def __init__(self) -> None:
        """Nothing was tried yet."""
        self.n_runs = 0
        self.failures: list[str] = []

    @contextmanager
    def run(self, what: str) -> Iterator[None]:
        """Try one thing: any exception, a failed assertion too, is a failure of it."""
        self.n_runs += 1
        try:
            yield
        except Exception as error:
            self.failures.append(f"{what}: {type(error).__name__}: {str(error)[:500]}")

    def add(self, n_runs: int, failures: list[str]) -> None:
        """Count what another process tried."""
        self.n_runs += n_runs
        self.failures += failures


@pytest.fixture
def tally() -> Tally:
    return Tally()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("attack")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test whose tally has failures, and hand its counts to the table."""
    tally = getattr(item, "funcargs", {}).get("tally")
    try:
        yield
        if tally is not None:
            assert tally.n_runs > 0, "nothing was tried"
            shown = "\n".join(tally.failures[:SHOWN])
            assert not tally.failures, f"{len(tally.failures)} of {tally.n_runs} failed:\n{shown}"
    finally:
        if tally is not None:
            item.user_properties += [("runs", tally.n_runs), ("failures", len(tally.failures))]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    runs: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            path, _, _ = report.nodeid.partition("::")
            if report.when == "call" and "attack/test_" in path:
                attack = Path(path).stem.removeprefix("test_").replace("_", " ")
                counts = dict(report.user_properties)
                failed = counts.get("failures", 0)
                runs[attack] += counts.get("runs", 1)
                failures[attack] += max(failed, 1) if outcome == "failed" else 0
    if not runs:
        return
    terminalreporter.section("attacks")
    terminalreporter.line(f"{'attack':24} {'runs':>8} {'failures':>9}")
    for attack in sorted(runs):
        terminalreporter.line(f"{attack:24} {runs[attack]:8,} {failures[attack]:9,}")
    terminalreporter.line(f"{'all':24} {sum(runs.values()):8,} {sum(failures.values()):9,}")
