"""The benchmark of Shapley values: figures of made-up runs, and a tiny real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.explain.cli import main
from benchmarks.explain.report import format_table
from benchmarks.paper.store import new_document, read_document

TINY = ["--threads", "1", "--rounds", "3", "--leaves", "7", "--train-rows", "1000", "--rows", "80"]


def run(library: str, row_us: float, **more: Any) -> dict[str, Any]:
    head = {"library": library, "what": "values", "leaves": 31, "repeat": 0}
    return {**head, "row_us": row_us, "off": 1e-15, "other_cpus": 0.0, **more}


def table(*runs: dict[str, Any]) -> str:
    return format_table(new_document("explain", threads=2) | {"runs": list(runs)})


def test_the_best_time_counts() -> None:
    found = table(run("gossamer", 2.0), run("gossamer", 9.0), run("lightgbm", 12.0))
    assert " 6.0 | " in found
    assert " 4.5 | " in table(run("gossamer", 2.0), run("lightgbm", 9.0))
    alone = table(run("gossamer", 2.0), run("lightgbm", 0.0) | {"error": "broken"})
    assert "lightgbm: broken" in alone and "0.0 | " not in alone


def test_a_tiny_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, page = tmp_path / "explain.json", tmp_path / "page.md"
    more = ["--repeats", "1", "--libraries", "gossamer", "--out", str(out)]
    assert main(["run", *TINY, *more]) == 0
    document = read_document(out)
    assert document is not None
    assert [r["what"] for r in document["runs"]] == ["values", "background", "interactions"]
    assert all(r["off"] < 1e-9 for r in document["runs"])
    assert "interactions" in capsys.readouterr().out
    page.write_text("<!-- explain:speed -->\n<!-- /explain:speed -->\n")
    assert main(["report", "--out", str(out), "--page", str(page)]) == 0
    assert "µs/row" in page.read_text()
    with pytest.raises(SystemExit, match="no results"):
        main(["report", "--out", str(tmp_path / "none.json")])
