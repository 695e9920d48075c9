"""Tables of text, aligned."""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.cli.terminal import Style


def format_table(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    style: Style | None = None,
    indent: str = "  ",
) -> str:
    """Return a table; columns of numbers stand to the right.

    Example:
        >>> print(format_table(["column", "gain"], [["age", "0.5"], ["size of it", "12"]]))
          column      gain
          age          0.5
          size of it    12
    """
    cells = [[str(cell) for cell in row] for row in rows]
    columns = list(zip(*([list(header), *cells]), strict=True))
    widths = [max(len(cell) for cell in column) for column in columns]
    right = [bool(cells) and all(_is_number(c) for c in column[1:]) for column in columns]

    def line(row: Sequence[str]) -> str:
        parts = (
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        )
        return (indent + "  ".join(parts)).rstrip()

    head = line(list(header))
    lines = [style.dim(head) if style is not None else head] if any(header) else []
    return "\n".join([*lines, *(line(row) for row in cells)])


def format_facts(facts: dict[str, object], indent: str = "  ") -> str:
    """Return names and values, one pair a line.

    Example:
        >>> print(format_facts({"rows": 3, "best round": 7}))
          rows        3
          best round  7
    """
    width = max((len(name) for name in facts), default=0)
    return "\n".join(f"{indent}{name:<{width}}  {value}" for name, value in facts.items())


def format_number(value: float) -> str:
    """Return a number with 5 digits that count, whole ones in full.

    Example:
        >>> format_number(0.123456), format_number(1234567), format_number(float("nan"))
        ('0.12346', '1234567', 'nan')
    """
    is_whole = value == value and abs(value) < 1e15 and value == int(value)
    return str(int(value)) if is_whole else f"{value:.5g}"


def _is_number(cell: str) -> bool:
    try:
        float(cell.rstrip("%").replace(",", "") or "nan")
    except ValueError:
        return cell in ("", "-")
    return True
