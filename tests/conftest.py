"""Settings of all tests."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from gossamer.data.storage import binned

# How long an example takes says how busy the machine is, not whether the result is right.
settings.register_profile("gossamer", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gossamer")

# Tables of few columns have sparse columns, so that the tests reach them.
_MEASURED_COSTS = binned.SPARSE_COSTS
binned.SPARSE_COSTS = (3.0, 8.0)


@pytest.fixture
def measured_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse columns cost what they cost users."""
    monkeypatch.setattr(binned, "SPARSE_COSTS", _MEASURED_COSTS)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what was skipped and why, in another how long `make test` took."""
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", ()))
    if reasons:
        parts = (f"{count} ({reason})" for reason, count in reasons.most_common())
        terminalreporter.write_line(f"skipped: {', '.join(parts)}")
    began = os.environ.get("GOSSAMER_TESTS_BEGAN")
    if began:
        minutes, seconds = divmod(round(time.time() - float(began)), 60)
        terminalreporter.write_line(f"make test took {minutes} min {seconds} s, the build included")


def _reason(report: Any) -> str:
    is_place = isinstance(report.longrepr, (tuple, list))  # file, line, reason
    reason = report.longrepr[2] if is_place else str(report.longrepr)
    missing = re.search(r"No module named '(\w+)", reason)
    return f"no {missing[1]}" if missing else reason.removeprefix("Skipped: ")
