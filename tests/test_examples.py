"""Every example runs, without a warning, in seconds, and prints something."""

from __future__ import annotations

import ast
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert [path.name[:3] for path in EXAMPLES] == [f"{i:02}_" for i in range(1, 16)]
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES if f"`{path.name}`" not in readme] == []


def test_notebooks_are_those_of_the_scripts(tmp_path: Path) -> None:
    script: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "make_notebooks.py"))
    written = script["write"](tmp_path)
    stored = sorted((ROOT / "examples" / "notebooks").iterdir())
    assert [path.name for path in written] == [path.name for path in stored]
    for path, kept in zip(written, stored, strict=True):
        assert path.read_bytes() == kept.read_bytes(), "run: python tools/make_notebooks.py"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_notebook_has_all_code_of_its_script(path: Path) -> None:
    """The script runs (below), so the notebook does: its cells are the same statements in order."""
    text = (path.parent / "notebooks" / f"{path.stem}.ipynb").read_text(encoding="utf-8")
    book = json.loads(text)
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    cells = book["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    code = [ast.parse("".join(c["source"])) for c in cells if c["cell_type"] == "code"]
    assert len(code) >= 2  # not all in one cell
    script = ast.parse(path.read_text(encoding="utf-8")).body[1:]
    assert [ast.dump(node) for part in code for node in part.body] == [ast.dump(n) for n in script]


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert run.stdout.strip()
