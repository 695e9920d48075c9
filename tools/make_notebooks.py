"""Write examples/notebooks/*.ipynb from examples/*.py.

    python tools/make_notebooks.py [FOLDER]

A script's docstring becomes the first cell. `# %%` begins a new cell; text behind it is a heading.
Notebooks are plain JSON without outputs: the same scripts give the same bytes.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def cells_of(source: str, title: str) -> list[dict[str, Any]]:
    """Return the cells of a script, without ids."""
    tree = ast.parse(source)
    docstring = ast.get_docstring(tree) or ""
    begin = tree.body[0].end_lineno if docstring else 0
    cells = [_cell("markdown", f"# {title}\n\n{docstring}")]
    lines: list[str] = []

    def finish() -> None:
        text = "\n".join(lines).strip("\n")
        if text:
            cells.append(_cell("code", text))
        lines.clear()

    for line in source.splitlines()[begin:]:
        if line.startswith("# %%"):
            finish()
            heading = line.removeprefix("# %%").strip()
            if heading:
                cells.append(_cell("markdown", f"## {heading}"))
        else:
            lines.append(line)
    finish()
    return cells


def _cell(kind: str, text: str) -> dict[str, Any]:
    source = text.splitlines(keepends=True)
    if kind == "markdown":
        return {"cell_type": kind, "metadata": {}, "source": source}
    return {
        "cell_type": kind,
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def notebook_of(path: Path) -> str:
    """Return a script as the text of a notebook."""
    title = path.stem[3:].replace("_", " ").capitalize()
    cells = cells_of(path.read_text(encoding="utf-8"), title)
    content = {
        "cells": [{"id": f"cell-{i}", **cell} for i, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def write(folder: Path) -> list[Path]:
    """Write all notebooks, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for script in sorted(EXAMPLES.glob("[0-9][0-9]_*.py")):
        path = folder / f"{script.stem}.ipynb"
        path.write_text(notebook_of(script), encoding="utf-8", newline="\n")
        written.append(path)
    return written


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES / "notebooks"
    for notebook in write(target):
        print(notebook)
