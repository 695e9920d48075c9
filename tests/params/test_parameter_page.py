"""The page of parameters: descriptions next to names, and a search where scripts run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gossamer.params.markdown import render_markdown
from gossamer.params.table import TABLE

ROOT = Path(__file__).parents[2]


def test_descriptions_follow_names() -> None:
    lines = [line for line in render_markdown().splitlines() if line.startswith('| <a id="')]
    assert len(lines) == len(TABLE)
    for line, param in zip(lines, TABLE.values(), strict=True):
        assert line.split(" | ")[1].endswith(param.doc.split(" | ")[0])


def test_the_search_is_part_of_the_site() -> None:
    assert 'id="parameter-search"' in render_markdown()
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.search(r"extra_javascript: \[assets/parameters\.js\]", config)


def test_the_search_finds_rows() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the search cannot be run")
    script = (ROOT / "docs/assets/parameters.js").read_text(encoding="utf-8")
    # A document of two rows, with as much as the script asks for.
    frame = """
    const row = (text) => ({textContent: text, hidden: false, querySelector: () => ({})});
    const rows = [row("num_leaves: most leaves"), row("max_bin: bins of a column")];
    let typed, paragraph = {hidden: true}, counter = {textContent: ""};
    const input = {value: "", addEventListener: (_, f) => { typed = f; }, closest: () => paragraph};
    const document = {
      querySelector: (name) => name === "#parameter-search" ? input : counter,
      querySelectorAll: (name) => name.includes("tr") ? rows : [],
    };
    """
    check = """
    input.value = "Leaves most"; typed();
    console.log(rows[0].hidden, rows[1].hidden, counter.textContent, paragraph.hidden);
    """
    done = subprocess.run(
        [node, "-"], input=frame + script + check, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[0] == "false true 1 of 2 false"
