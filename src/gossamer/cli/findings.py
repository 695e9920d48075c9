"""Things to know about a user's data, as `train` and `describe` print them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.cli.read import read_table
from gossamer.data import Dataset
from gossamer.data.chunks.source import Source
from gossamer.data.findings import (
    HEADING,
    MOST_ROWS,
    Finding,
    columns_of,
    find_drift,
    find_in_columns,
)

# Values of a table that is read as a whole to compare its last rows with the first.
_MOST_VALUES: Final = 5_000_000


def find_in_source(
    source: Source, names: Sequence[str] | None, label: npt.NDArray[Any] | None
) -> list[Finding]:
    """Look at the first rows of a file.

    Args:
        source: The file.
        names: The columns to look at; None: all.
        label: The target as numbers; None: not known.
    """
    if source.names is None:
        return []
    table = read_table(source, names, MOST_ROWS)
    columns, times = columns_of(table)
    return find_in_columns(columns, times, None if label is None else label[: table.num_rows])


def find_valid_drift(
    source: Source, names: Sequence[str], train_set: Dataset, valid_set: Dataset
) -> list[Finding]:
    """Compare training rows with validation rows that are not a random choice.

    Args:
        source: The file of the training rows.
        names: The columns to look at.
        train_set: The training rows.
        valid_set: The validation rows: another file, or rows of the same one.
    """
    if source.names is None:
        return []
    if isinstance(valid_set.data, Source):
        there = [name for name in names if name in set(valid_set.data.names or ())]
        train = columns_of(read_table(source, there, MOST_ROWS))[0]
        return find_drift(train, columns_of(read_table(valid_set.data, there, MOST_ROWS))[0])
    rows = [part.used_indices for part in (train_set, valid_set)]
    if rows[0] is None or rows[1] is None:
        return []
    if (len(rows[0]) + len(rows[1])) * len(names) > _MOST_VALUES:
        return []
    table = read_table(source, names)
    step = [part[:: max(len(part) // MOST_ROWS, 1)] for part in map(np.asarray, rows)]
    return find_drift(columns_of(table.take(step[0]))[0], columns_of(table.take(step[1]))[0])


def findings_text(findings: Sequence[Finding | str]) -> str:
    """Return the heading and a line for each finding; empty: there is none.

    Example:
        >>> findings_text([Finding("few rows", (), "There are only 7 rows.")])
        'Things to know about your data:\\n  There are only 7 rows.'
    """
    if not findings:
        return ""
    return "\n".join([f"{HEADING}:", *(f"  {_with_option(finding)}" for finding in findings)])


def _with_option(finding: Finding | str) -> str:
    """Return the sentence, and the option that does something about it."""
    if isinstance(finding, Finding) and finding.kind == "id":
        option = shlex.join(["--ignore", ",".join(finding.columns)])
        return f"{finding} ({option})" if len(option) < 80 else str(finding)
    if isinstance(finding, Finding) and finding.kind == "time":
        return f"{finding} (--valid-last 0.2)"
    return str(finding)
