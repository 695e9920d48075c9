"""Memory runs out at any allocation: the process lives on, and so does the training.

`GOSSAMER_ATTACK_ALLOCATIONS=100 pytest tests/attack/test_allocation_faults.py -s` makes that many
allocations fail for each kind of training and each call (two otherwise), and prints a summary.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attack.allocation_faults import KINDS

import gossamer

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
N_POINTS = int(os.environ.get("GOSSAMER_ATTACK_ALLOCATIONS", "2"))
HERE = Path(__file__).parent

pytestmark = [
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="fail_malloc.c is for glibc"),
    pytest.mark.skipif(COMPILER is None, reason="there is no C compiler"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`fail_malloc.c`, compiled."""
    path = tmp_path_factory.mktemp("library") / "fail_malloc.so"
    assert COMPILER is not None
    subprocess.run(
        [COMPILER, "-shared", "-fPIC", "-O1", "-o", path, HERE / "fail_malloc.c"], check=True
    )
    return path


def attack(library: Path, *arguments: object) -> dict[str, Any]:
    """Run `allocation_faults.py` with memory that runs out."""
    package = str(Path(gossamer.__file__).parents[1])
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "PYTHONPATH": os.pathsep.join([package, *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, HERE / "allocation_faults.py", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    print(f"{' '.join(map(str, arguments))}: {found['outcomes']}")
    return found


# Every kind and every call at 1 or 4 threads; all of them where more faults are asked for.
HALVES = [(list(KINDS)[i::2], n_threads) for i, n_threads in enumerate((1, 4))]
ALL = [([kind], n_threads) for kind in KINDS for n_threads in (1, 4)]


@pytest.mark.parametrize(("kinds", "n_threads"), HALVES if N_POINTS <= 2 else ALL)
def test_one_allocation_fails(library: Path, kinds: list[str], n_threads: int) -> None:
    found = attack(library, "--threads", n_threads, "--points", N_POINTS, "--kinds", *kinds)
    assert found["failures"] == []
    assert found["outcomes"]["MemoryError"] > 0.8 * sum(found["outcomes"].values())
