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


def _best_times(name: str) -> dict[tuple[str, str], float]:
    best: dict[tuple[str, str], float] = {}
    path = ROOT / "benchmarks" / "results" / "speed" / name
    for run in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if "case" not in run:
            continue
        family = run["contender"].removesuffix("_row").removesuffix("_col")
        for kind in ("seconds", "ms_per_round", "build_s"):
            if run.get(kind):
                key = (run["case"], f"{family} build" if kind == "build_s" else family)
                best[key] = min(run[kind], best.get(key, run[kind]))
    return best


def test_ratios_of_the_benchmark_page_are_those_of_the_runs() -> None:
    """The tables of training times follow from the raw runs."""
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    training = page.partition("## Training")[2].partition("## Prediction")[0]
    two = re.findall(r"^\| (\w+) \| [\d,]+ \S [\d,]+,?[^|]*\|(.*)\|$", training, re.MULTILINE)
    sixteen = re.findall(r"^\| (\w+) \| [\d.]+ \| [\d.]+ \S \|(.*)\|$", training, re.MULTILINE)
    assert (len(two), len(sixteen)) == (14, 6)
    columns = ("lightgbm", "lightgbm_quantized", "xgboost", "lightgbm build")
    for table, file, names in (
        (two, "2-threads.jsonl", columns),
        (sixteen, "16-threads.jsonl", columns[:2]),
    ):
        best = _best_times(file)
        for case, numbers in table:
            for name, shown in zip(names, numbers.split("|"), strict=True):
                if not shown.strip():
                    continue
                own = best[
                    case, name.replace("lightgbm", "gossamer") if "build" in name else "gossamer"
                ]
                assert f"{best[case, name] / own:.2f}" == shown.strip(), (case, name)
