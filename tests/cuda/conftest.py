"""A device for the tests: the kernels compiled for the host, or a GPU (`make test-gpu`)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gossamer.cuda import driver, supported
from gossamer.cuda.driver import open_device
from tests.cuda.emulated import EmulatedDevice

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "native"
ON_GPU = bool(os.environ.get("GOSSAMER_TEST_GPU"))


@pytest.fixture(scope="session")
def emulated_kernels() -> Path:
    """The kernels as a library of the host; made once for all processes that test."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    assert compiler, "the tests need a C++ compiler, as the package does"
    sources = [NATIVE / "tests" / name for name in ("emulated_kernels.cpp", "emulator.cpp")]
    command = [
        *(compiler, "-std=c++20", "-O2", "-fPIC", "-shared", "-ffp-contract=off"),
        *("-fno-strict-aliasing", "-U_FORTIFY_SOURCE", "-Wno-unknown-pragmas", f"-I{NATIVE}"),
        *map(str, sources),
    ]
    found = hashlib.sha256(" ".join(command).encode())
    used = [*NATIVE.glob("cuda/*"), *NATIVE.glob("kernels/*.inl"), *NATIVE.glob("*/*.h"), *sources]
    for path in sorted(used):
        found.update(path.read_bytes())
    library = ROOT / "build" / f"emulated-{found.hexdigest()[:16]}.so"
    if not library.exists():
        library.parent.mkdir(exist_ok=True)
        own = library.with_suffix(f".{os.getpid()}")
        subprocess.run([*command, "-o", str(own)], check=True)
        own.rename(library)
    return library


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
