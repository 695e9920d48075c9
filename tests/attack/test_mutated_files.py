"""Files that are damaged, or made to do harm: `mutated_files.py` in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from attack.conftest import Tally
from attack.scale import share

import gossamer

pytest.importorskip("pyarrow")
N_SEEDS = share(1, 16)


@pytest.mark.parametrize("seed", range(N_SEEDS))
def test_files_are_refused_or_usable(seed: int, tally: Tally, tmp_path: Path) -> None:
    package = str(Path(gossamer.__file__).parents[1])
    n_files = share(600, 50_000) // N_SEEDS
    script = Path(__file__).with_name("mutated_files.py")
    done = subprocess.run(
        [sys.executable, script, str(n_files), "--seed", str(seed), "--keep", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([package, *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), f"a crash ({done.returncode}):\n{done.stderr[-2000:]}"
    found = json.loads(done.stdout)
    tally.add(n_files, found["failures"])
    counts = found["counts"]
    for format in {name.partition(":")[0] for name in counts}:
        assert counts.get(f"{format}: refused", 0) > 0, f"no file of {format} is refused"
    assert counts["gossamer: read"] > n_files // 20  # both of what is asked for happens
