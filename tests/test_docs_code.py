"""The code of every page runs: here, unless a test of the page's own runs it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
# Other names of Python: such blocks would not be found. A test with the package shap runs those of
# the page about explaining.
OTHER_NAMES = {"py", "py3", "python3", "Python", "ipython"}
ALWAYS_THERE = {*sys.stdlib_module_names, "numpy", "scipy", "narwhals", "safetensors", "gossamer"}


def code_of(page: Path) -> list[str]:
    """The Python blocks of a page, in order."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [text for language, text in found if language == "python"]


def pages_with_own_tests() -> set[str]:
    """Names of pages that other tests run, with checks of their own."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("test_*.py")
        if path != Path(__file__)
    ]
    texts.append((ROOT / "tools" / "draw_plots.py").read_text(encoding="utf-8"))
    calls = r'(?:run|blocks_of)\(\s*"docs/(\w+\.md)"|(?:"docs"|DOCS) / "(\w+\.md)"'
    return {a or b for text in texts for a, b in re.findall(calls, text)}


def a_table(names: dict[str, Any]) -> None:
    """A table `x` with labels `y`, for pages of parameters."""
    names["x"] = np.random.default_rng(0).normal(size=(300, 4))
    names["y"] = (names["x"][:, 0] > 0).astype(float)


def a_model_file(names: dict[str, Any]) -> None:
    """A model in a file, for the page about what is in it."""
    a_table(names)
    data = gs.Dataset(names["x"], names["y"])
    gs.train({"num_threads": 1}, data, 3).save_model("model.gsm")


# What readers of a page have already.
GIVEN: dict[str, Callable[[dict[str, Any]], None]] = {
    "model_format.md": a_model_file,
    "sampling.md": a_table,
}

MINE = [page for page in PAGES if code_of(page) and page.name not in pages_with_own_tests()]


def skip_without_packages(code: str) -> None:
    """Skip the test where a package that the code imports is not installed."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    if re.search(r"Gossamer(Classifier|Regressor|Ranker)", code):
        found.add("sklearn")
    if "plot_" in code:
        found.add("matplotlib")
    if "gossamer.tune" in code:
        found.add("optuna")
    for package in sorted(found - ALWAYS_THERE):
        pytest.importorskip(package)


@pytest.mark.parametrize("page", MINE, ids=lambda page: page.stem)
def test_the_code_of_the_page_runs(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All blocks in order, in a folder of their own.

    A `print(...)  # text` must print that text; `params = ...` must train where the
    page has data `x` and `y` but is only about parameters.
    """
    blocks = code_of(page)
    skip_without_packages("\n".join(blocks))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {"__name__": page.stem}
    give = GIVEN.get(page.name)
    if give:
        give(names)
    for block in blocks:
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            exec(compile(ast.Module([statement], []), page.name, "exec"), names)
            printed = capsys.readouterr().out
            line = lines[(statement.end_lineno or 1) - 1]
            said = re.search(r"\)  # (.*)", line)
            if said and ast.unparse(statement).startswith("print("):
                assert printed.strip() == said[1], f"{page.name}: {line}"
            if give and ast.unparse(statement).startswith("params = "):
                data = gs.Dataset(names["x"], names["y"])
                gs.train({**names["params"], "num_threads": 1}, data, 3)
    if "matplotlib" in sys.modules:
        from matplotlib import pyplot

        pyplot.close("all")


def test_every_page_with_code_is_run_by_a_test() -> None:
    with_code = {page.name for page in PAGES if code_of(page)}
    assert with_code == {page.name for page in MINE} | (with_code & pages_with_own_tests())
    assert {"quickstart.md", "tuning.md"} <= {page.name for page in MINE}  # the search finds pages
    assert "categories.md" in pages_with_own_tests()


def test_blocks_say_what_they_are() -> None:
    """Python without its name, or another one, would escape the tests."""
    for page in PAGES:
        text, name = page.read_text(encoding="utf-8"), page.name
        assert text.count("```") % 2 == 0, name
        for language, block in FENCE.findall(text):
            assert language not in OTHER_NAMES or name == "explaining.md", name
            is_python = re.search(r"^import |^from \w+ import|gs\.", block, re.MULTILINE)
            assert language or not is_python, name
        assert len(FENCE.findall(text)) == text.count("```") // 2, name
