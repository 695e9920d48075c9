"""The source of `param_fields.py`, made from the table: the typed fields of `Params`.

Run `python -m gossamer.params.write_fields src/gossamer/params/param_fields.py` to write it.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import Final

from gossamer.params.param import KINDS, Param
from gossamer.params.table import TABLE

_HEAD: Final = '''\
"""The fields of `Params`, for type checkers and editors.

Generated from the parameter table, do not edit: `make stubs`, or
`python -m gossamer.params.write_fields src/gossamer/params/param_fields.py`, writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gossamer.params.param import ByColumn


# `Params`, which is derived from it, has the methods.
class ParamFields:
    """Every parameter by its canonical name, with the type of its resolved value."""
'''


def render_fields() -> str:
    """Return the source of `param_fields.py`.

    Example:
        >>> print(render_fields().splitlines()[0])
        \"\"\"The fields of `Params`, for type checkers and editors.
    """
    parts = [_HEAD]
    for group, params in groupby(TABLE.values(), key=lambda param: param.group):
        lines = [f"    # {group}", *(f"    {p.name}: {_annotation(p)}" for p in params)]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _annotation(param: Param) -> str:
    annotation = KINDS[param.kind].annotation
    return f"{annotation} | None" if param.default is None else annotation


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render_fields(), encoding="utf-8", newline="\n")
