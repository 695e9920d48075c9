"""The figures of the site are what docs/figures/draw.py draws, and pages show each of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "docs" / "assets"


@pytest.mark.slow
def test_figures_are_drawn_by_the_script(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    script = ROOT / "docs" / "figures" / "draw.py"
    subprocess.run([sys.executable, "-W", "error", str(script), str(tmp_path)], check=True)
    drawn = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.svg")}
    stored = {
        path.relative_to(ASSETS): path.read_bytes()
        for folder in ("how", "benchmarks")
        for path in (ASSETS / folder).iterdir()
    }
    assert drawn.keys() == stored.keys()
    version = re.findall(r'DRAWN_WITH = "(.*)"', script.read_text(encoding="utf-8"))[0]
    if matplotlib.__version__.startswith(f"{version}."):
        different = [str(name) for name in drawn if drawn[name] != stored[name]]
        assert different == [], "run: python docs/figures/draw.py"


def test_pages_show_every_figure() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    figures = [path.relative_to(ROOT / "docs").as_posix() for path in ASSETS.rglob("*.svg")]
    assert [name for name in figures if f"]({name})" not in pages] == []


def test_ratios_of_the_benchmark_page_are_those_of_the_runs() -> None:
    """The table of training times follows from the raw runs."""
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.summary import best_of_family, find_reference, summarise
    finally:
        sys.path.remove(str(ROOT))
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (\w+_\w+) \|[^|]*\| (\d+) \|(.*)\|$", page, re.MULTILINE)
    assert len(table) == 6
    for case, threads, numbers in table:
        path = ROOT / f"benchmarks/results/{threads}-threads/results.json"
        rows = summarise(json.loads(path.read_text(encoding="utf-8"))["runs"])
        own = find_reference(rows, case)
        families = ("lightgbm", "lightgbm_quantized", "xgboost")
        for family, shown in zip(families, numbers.split("|"), strict=True):
            best = best_of_family(rows, case, family)
            assert best is not None and own is not None
            assert f"{best.time_s / own.time_s:.2f}" == shown.strip()
