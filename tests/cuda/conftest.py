"""A device for the tests: the kernels compiled for the host, or a GPU (`make test-gpu`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gossamer.cuda import driver, supported
from gossamer.cuda.driver import open_device
from tests.cuda.emulated import EmulatedDevice, emulated_library

ON_GPU = bool(os.environ.get("GOSSAMER_TEST_GPU"))


@pytest.fixture(scope="session")
def emulated_kernels() -> Path:
    """The kernels as a library of the host."""
    return emulated_library()


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The device that `device_type=cuda` finds."""
    if ON_GPU:
        return open_device(0)
    emulated = EmulatedDevice(str(request.getfixturevalue("emulated_kernels")))
    for module in (supported, driver):
        monkeypatch.setattr(module, "open_device", lambda number=0: emulated)
    monkeypatch.setattr(driver, "number_of_gpu", lambda address: 0)
    return emulated
