"""The memory benchmark runs, and its figures make sense."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from benchmarks.files import make, run


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "_GROUP", 2000)
    out = tmp_path / "figures.json"
    arguments = ["--gb", "0.002", "--rounds", "2", "--folder", str(tmp_path), "--json", str(out)]
    assert run.main(arguments) == 0
    found = json.loads(out.read_text())
    assert found["rows"] % 2000 == 0 and found["columns"] == 41
    assert 2e6 <= found["file"] < 4e6
    assert 0 < found["base"] <= found["binned"] <= found["trained"] <= found["predicted"]
