"""Memory or threads run out anywhere: the process lives on, and so does the training."""

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
from attack.conftest import Tally
from attack.faults import KINDS, PLACES
from attack.scale import SCALE, share

import gossamer
from gossamer import Booster, Dataset

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
# Faults by kind of training and number of threads: in a whole training, and in every other call.
N_IN_TRAINING, N_IN_CALL = share(2, 2_000), share(2, 50)
HERE = Path(__file__).parent

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="fail.c is for glibc"),
    pytest.mark.skipif(COMPILER is None, reason="there is no C compiler"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`fail.c`, compiled."""
    path = tmp_path_factory.mktemp("library") / "fail.so"
    assert COMPILER is not None
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", path, HERE / "fail.c"], check=True)
    return path


def attack(library: Path, *arguments: object) -> dict[str, Any]:
    """Run `faults.py` with memory that runs out."""
    package = str(Path(gossamer.__file__).parents[1])
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "PYTHONPATH": os.pathsep.join([package, *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, HERE / "faults.py", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    print(f"{' '.join(map(str, arguments))}: {found['outcomes']}")
    return found


# A few kinds at every call, and every kind in a later round; all of it where more is asked for.
ROUNDS = ("third_round",)
CALLS = tuple(place for place in PLACES if place != "train")
SHARE = [
    (["multiclass"], 1, tuple(PLACES)),
    (["statistics"], 4, tuple(PLACES)),
    (list(KINDS)[::2], 1, ROUNDS),
    (list(KINDS)[1::2], 4, ROUNDS),
]
SHARE_OF_KINDS = [["regression"], ["statistics"], ["pages"]]
ALL = [
    ([kind], n_threads, places)
    for places in (("train",), CALLS)
    for kind in KINDS
    for n_threads in (1, 4)
]


@pytest.mark.parametrize("kinds", SHARE_OF_KINDS if SCALE is None else [[kind] for kind in KINDS])
def test_a_thread_cannot_be_started(library: Path, tally: Tally, kinds: list[str]) -> None:
    arguments = ("--faults", "threads", "--threads", 4, "--kinds", *kinds)
    found = attack(library, *arguments)
    tally.add(sum(found["outcomes"].values()), found["failures"])
    assert found["outcomes"].keys() == {"no error"}


@pytest.mark.parametrize("kinds", SHARE_OF_KINDS if SCALE is None else [[kind] for kind in KINDS])
def test_interrupts(library: Path, tally: Tally, kinds: list[str]) -> None:
    arguments = ("--faults", "interrupts", "--threads", 2, "--points", share(1, 4))
    found = attack(library, *arguments, "--kinds", *kinds)
    tally.add(sum(found["outcomes"].values()), found["failures"])
    assert found["outcomes"]["KeyboardInterrupt"] > 0


@pytest.mark.parametrize(("kinds", "n_threads", "places"), SHARE if SCALE is None else ALL)
def test_one_allocation_fails(
    library: Path, tally: Tally, kinds: list[str], n_threads: int, places: tuple[str, ...]
) -> None:
    n_points = N_IN_TRAINING if places == ("train",) else N_IN_CALL
    arguments = ("--threads", n_threads, "--points", n_points, "--seed", n_threads)
    found = attack(library, *arguments, "--places", *places, "--kinds", *kinds)
    tally.add(sum(found["outcomes"].values()), found["failures"])
    assert found["outcomes"]["MemoryError"] > 0.5 * sum(found["outcomes"].values())


def test_all_later_allocations_fail_too(library: Path) -> None:
    found = attack(library, "--lasting", "--kinds", "categories", "--places", *ROUNDS)
    assert found["failures"] == []
    assert found["outcomes"].keys() == {"MemoryError"}


OPEN_PAGES = """
import tempfile
import numpy as np
from attack.faults import Allocations, table
from gossamer import Dataset, _native
from gossamer.data.dataset import built_data

rows = table()
layout = _native.page_layout(built_data(Dataset(rows)).table.bins, np.empty(0, np.int32))
faults = Allocations()
with tempfile.TemporaryFile() as file:
    writer = _native.PageWriter(layout, len(rows), 100, file.fileno())
    writer.add(rows, 1)
    facts = (writer.finish(), writer.has_missing(), file.fileno(), "/a/long/name" * 9)
    def call():
        _native.open_pages(layout, len(rows), 100, *facts)
    n = faults.during(call, 0, 0)[0]
    print(n, {faults.during(call, i, i)[1] for i in range(1, n + 1)})
"""


def test_pages_are_opened_without_memory(library: Path) -> None:
    """Every allocation fails once, that of a long name included."""
    paths = [str(Path(gossamer.__file__).parents[1]), str(HERE.parent), *sys.path]
    environment = os.environ | {"LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", OPEN_PAGES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    n, _, raised = done.stdout.strip().partition(" ")
    assert int(n) > 10
    assert raised in ("{'MemoryError'}", "{'', 'MemoryError'}", "{'MemoryError', ''}")


def test_cells_become_wide_in_the_third_round() -> None:
    params, make = KINDS["wide cells"]
    booster = Booster({**params, "verbosity": -1}, Dataset(**make()))
    n_wide = []
    for _ in range(4):
        booster.update()
        n_wide.append(booster.training.stage_stats()["wide_rounds"])
    assert n_wide == [0, 0, 1, 2]
