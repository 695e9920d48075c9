"""How much of each attack is run.

`make test` runs a small share. `make attack` sets ATTACK_SCALE: 1 is all of it, 0.1 a tenth.
"""

from __future__ import annotations

import math
import os
from typing import Final

SCALE: Final = float(os.environ["ATTACK_SCALE"]) if os.environ.get("ATTACK_SCALE") else None


def share(few: int, all_of_them: int) -> int:
    """Return how many to run: `few` in ordinary tests, else the scaled number."""
    return few if SCALE is None else max(1, math.ceil(all_of_them * SCALE))
