"""Draw the pictures of docs/plots.md with the code that stands before them.

python tools/draw_plots.py [FOLDER]    # docs/ unless another one is given
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "plots.md"


def draw(folder: Path) -> list[Path]:
    """Run the code of the page, and save each picture where the page looks for it.

    A picture stands below the code that leaves its axes in `ax`.

    Args:
        folder: Where `assets/plots/` is, or will be.

    Returns:
        The files that were written.
    """
    os.environ.setdefault("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    # The same file for the same picture, wherever and whenever it is drawn.
    pyplot.rcParams["svg.hashsalt"] = "gossamer"
    names: dict[str, Any] = {}
    written = []
    text = PAGE.read_text(encoding="utf-8")
    for code, link in re.findall(r"```python\n(.*?)```|!\[[^\]]*\]\(([^)]+)\)", text, re.DOTALL):
        if code:
            exec(compile(code, PAGE.name, "exec"), names)
            continue
        path = folder / link
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        names["ax"].figure.savefig(path, metadata=metadata, dpi=110)
        pyplot.close("all")
        written.append(path)
    return written


if __name__ == "__main__":
    for drawn in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS):
        print(drawn)
