"""Bars, curves and tables as HTML for notebooks: no script, and colours for light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Final

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
_WIDTH: Final = 320
_HEIGHT: Final = 120
_MOST_BARS: Final = 8
_MOST_POINTS: Final = 300


def side_by_side(*parts: str) -> str:
    """Return parts of a card next to each other; empty ones are left out.

    Example:
        >>> side_by_side("<p>a</p>", "").count("<div>")
        1
    """
    inner = "".join(f"<div>{part}</div>" for part in parts if part)
    style = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"
    return f'<div style="{style}">{inner}</div>'


def bars(title: str, shares: Mapping[str, float]) -> str:
    """Return the largest shares as bars, in percent.

    Args:
        title: What they are shares of.
        shares: Name -> share of 1.

    Example:
        >>> text = bars("gain", {"<age>": 0.75, "rooms": 0.25})
        >>> "&lt;age&gt;" in text, "75.0 %" in text
        (True, True)
    """
    top = sorted(shares.items(), key=lambda item: -item[1])[:_MOST_BARS]
    top = [(name, share) for name, share in top if share > 0]
    if not top:
        return ""
    longest = max(share for _, share in top)
    rows = "".join(
        f'<tr><th style="text-align:left">{_escape(_cut(name))}</th>'
        f'<td style="text-align:left;min-width:10em"><span style="display:inline-block;'
        f'height:0.8em;background:{_COLOURS[0]};width:{100 * share / longest:.1f}%"></span></td>'
        f"<td>{100 * share:.1f} %</td></tr>"
        for name, share in top
    )
    more = len(shares) - len(top)
    note = f" (first {len(top)} of {len(shares)})" if more else ""
    return f"<table><caption>{_escape(title)}{note}</caption>{rows}</table>"


def curves(title: str, values: Mapping[str, Sequence[float]], best: int = 0) -> str:
    """Return curves over rounds, one for each name.

    Args:
        title: What they show.
        values: Name -> one number for each round.
        best: The best round, which is marked; 0: none.

    Example:
        >>> text = curves("l2", {"train": [3, 2, 1], "valid": [3, 2.5, 2.4]}, best=3)
        >>> text.count("<polyline"), "valid" in text
        (2, True)
    """
    shown = {name: list(v) for name, v in values.items() if len(v) > 1 and all(map(isfinite, v))}
    if not shown:
        return ""
    low = min(min(v) for v in shown.values())
    high = max(max(v) for v in shown.values())
    n_rounds = max(len(v) for v in shown.values())

    def x(i: int) -> float:
        return 4 + (_WIDTH - 8) * i / (n_rounds - 1)

    def y(value: float) -> float:
        return 4 + (_HEIGHT - 8) * ((high - value) / (high - low) if high > low else 0.5)

    lines, legend = [], []
    for i, (name, numbers) in enumerate(shown.items()):
        colour = _COLOURS[i % len(_COLOURS)]
        step = max(1, len(numbers) // _MOST_POINTS)
        places = [*range(0, len(numbers) - 1, step), len(numbers) - 1]
        points = " ".join(f"{x(p):.1f},{y(numbers[p]):.1f}" for p in places)
        lines.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        )
        legend.append(
            f'<span style="color:{colour}">&#9473;</span> {_escape(_cut(name))} {numbers[-1]:.5g}'
        )
    if 0 < best <= n_rounds:
        at = x(best - 1)
        lines.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{_HEIGHT}" stroke="currentColor" '
            'stroke-dasharray="3 3" opacity="0.6"/>'
        )
        legend.append(f"best round {best}")
    label = _escape(f"{title} over {n_rounds} rounds, from {high:.5g} to {low:.5g}")
    return (
        f'<div>{_escape(title)}, rounds 1 to {n_rounds:,}</div><svg role="img" '
        f'aria-label="{label}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(lines)}</svg><div>{", ".join(legend)}</div>'
    )


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; whatever is in its cells is shown as text.

    Example:
        >>> print(table("Columns", ["name"], [["<b>"]]))
        <table><caption>Columns</caption><tr><th>name</th></tr><tr><td>&lt;b&gt;</td></tr></table>
    """
    first = "".join(f"<th>{_escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{_escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><caption>{_escape(caption)}</caption><tr>{first}</tr>{body}</table>"


def _cut(name: str, most: int = 40) -> str:
    return name if len(name) <= most else f"{name[: most - 3]}..."


def first_curves(history: Mapping[str, Mapping[str, Sequence[float]]], best_round: int) -> str:
    """Return the first metric of every data set as curves.

    Example:
        >>> "l2" in first_curves({"valid": {"l2": [2.0, 1.0]}}, -1)
        True
    """
    first = next((next(iter(found), "") for found in history.values()), "")
    values = {name: found[first] for name, found in history.items() if first in found}
    return curves(first, values, best_round)


def _escape(text: str) -> str:
    from html import escape  # only notebooks wait for it

    return escape(text)
