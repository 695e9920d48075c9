"""`did_you_mean`: the known name that a wrong one may stand for."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(wrong: str, names: Iterable[str]) -> str:
    """Return a sentence that suggests the closest of `names`, empty when none is close.

    Example:
        >>> did_you_mean("num_leafs", ["num_leaves", "max_depth"])
        'Did you mean num_leaves?'
    """
    import difflib  # only mistakes need it

    close = difflib.get_close_matches(wrong.lower(), list(names), n=3, cutoff=0.7)
    return f"Did you mean {' or '.join(close)}?" if close else ""
