"""Record a scene of the playground for the docs.

    python tools/record_playground.py [FILE]

The page is what `gossamer playground` serves, with answers inside instead of a server behind it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gossamer.playground import Playground
from gossamer.playground.page import make_static_page

FILE = Path(__file__).parents[1] / "docs" / "assets" / "playground.html"

SETTINGS = {
    "scene": "moons",
    "rounds": 40,
    "num_leaves": 6,
    "learning_rate": 0.3,
    "max_bin": 31,
    "sampling": "goss",
}
ROUNDS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 40)
GRID = 48


def record() -> str:
    """Return the page."""
    playground = Playground(grid=GRID)
    answers = [playground.answer({**SETTINGS, "round": n}) for n in ROUNDS]
    return make_static_page(answers, answers[0]["scene"]["title"])


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    target.write_text(record(), encoding="utf-8")
