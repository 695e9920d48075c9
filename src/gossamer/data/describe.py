"""`Dataset.describe()`: how a data set is stored, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.built import BuiltData
from gossamer.data.chunks.find_source import find_source
from gossamer.data.chunks.source import ColumnsChanged
from gossamer.data.findings import HEADING, Finding, columns_of, find_in_columns
from gossamer.data.storage.binned import ORDERS, BinnedTable


@dataclass(frozen=True)
class StorageSummary:
    """How the columns of a data set are stored; `print` shows it as text.

    Attributes:
        n_rows: Rows.
        n_columns: Columns of the table.
        constant: Columns with one value only: they cannot split and are left out.
        alone: Columns in a place of their own.
        sharing: Columns of few values that share a place, so that one update serves several.
        bundles: Columns of each bundle (exclusive feature bundling).
        sparse: Columns kept as sparse columns: only their values other than zero are stored.
        order: Order in which bundles were looked for, that won; None where it is not known: of
            validation data, subsets and files.
        conflicts: Rows in which columns of one bundle are non-zero together, as counted when the
            bundles were found; known with the order.
        values_dropped: Values that training does not see because of conflicts; known with the
            order.
        places: Bytes of a row, in lanes of one byte and of two bytes.
        entries: Values in sparse columns.
        bytes_in_rows: Size of the rows.
        bytes_in_sparse_columns: Size of the sparse columns.
        seconds: Time it took to choose.
        findings: Things to know about the columns, where the data set still has its raw data.
        pages: Pages that the rows are in on disk; 0: the rows are in memory. A pass over the data
            reads all of them.
        bytes_in_buffers: With pages: memory that holds the pages that are worked on.
        passes: With pages: how often all of them have been read so far.
        seconds_per_pass: What such a pass took, with the work on the rows; 0: there was none.
        seconds_waited: As much of it as was spent waiting for the disk.
    """

    n_rows: int
    n_columns: int
    constant: int
    alone: list[str]
    sharing: list[str]
    bundles: list[list[str]]
    sparse: list[str]
    order: str | None
    conflicts: int
    values_dropped: int
    places: tuple[int, int]
    entries: int
    bytes_in_rows: int
    bytes_in_sparse_columns: int
    seconds: float
    findings: list[Finding] = field(default_factory=list)
    pages: int = 0
    bytes_in_buffers: int = 0
    passes: int = 0
    seconds_per_pass: float = 0.0
    seconds_waited: float = 0.0

    def __str__(self) -> str:
        """Text of a few lines."""
        n_bundled = sum(map(len, self.bundles))
        lines = [
            f"{self.n_rows:,} rows x {self.n_columns:,} columns",
            f"  constant, not used     {self.constant:>10,}",
            f"  stored separately      {len(self.alone):>10,}",
            f"  sharing a byte         {len(self.sharing):>10,}",
            f"  in bundles             {n_bundled:>10,}   {len(self.bundles):,} bundles",
            f"  sparse columns         {len(self.sparse):>10,}   {self.entries:,} values",
            f"stored rows: {self.places[0]} columns of 1 byte, {self.places[1]} of 2 bytes, "
            f"{_megabytes(self.bytes_in_rows)}; "
            f"sparse columns: {_megabytes(self.bytes_in_sparse_columns)}",
        ]
        if self.bundles and self.order is not None:
            lines.append(
                f"bundles: found by {self.order}, {self.conflicts:,} conflicts, "
                f"{self.values_dropped:,} values not seen by training"
            )
        if self.findings:
            lines += [f"{HEADING}:", *(f"  {finding}" for finding in self.findings)]
        if self.pages:
            lines.append(
                f"on disk: {self.pages:,} pages, a pass reads {_megabytes(self.bytes_in_rows)}; "
                f"in memory: {_megabytes(self.bytes_in_buffers)}"
            )
            lines.append(
                "passes per tree: 15 to 40 for 255 leaves, one per level with "
                "grow_policy=depthwise; 2 with bagging_fraction, GOSS or MVS if the sample fits "
                "max_memory"
            )
        if self.passes:
            lines.append(
                f"{self.passes:,} passes so far: {self.seconds_per_pass:.3g} s each, of which "
                f"{self.seconds_waited:.2g} s waiting for the disk"
            )
        return "\n".join(lines)


def describe(built: BuiltData, raw: Any) -> StorageSummary:
    """Return how a data set is stored, and things to know about its columns.

    Args:
        built: The data set.
        raw: The user's table, or the path of a file; None: it is released, and little is to be
            known.
    """
    if built.source.is_file:
        raw = _first_rows(raw, built.source.has_header)
    columns, times = columns_of(built.without_fields(raw), built.names)
    label = built.field("label")
    one = None if label is None else np.asarray(label, np.float64)
    one = one if one is not None and one.shape == (built.n_rows,) else None
    return describe_storage(built.table, built.names, find_in_columns(columns, times, one))


def _first_rows(path: Any, header: bool | None) -> Any:
    """Return the first rows of a file as a frame, where it is a table; None: it is not."""
    source = find_source(path, header, ())
    if source is None:
        return None
    try:
        return next(iter(source.read()), None)
    except ColumnsChanged:  # values further down are of another type: now it is known
        return next(iter(source.read()), None)


def describe_storage(
    binned: BinnedTable, names: list[str], findings: Sequence[Finding] = ()
) -> StorageSummary:
    """Summarise how a binned table is stored.

    Args:
        binned: The table.
        names: Names of its columns.
        findings: Things to know about them.

    Example:
        >>> from gossamer.data.storage.binned import bin_table
        >>> from gossamer.data.table.matrix import as_table
        >>> from gossamer.params import resolve
        >>> table = as_table(np.eye(6)[np.arange(600) % 6])
        >>> print(describe_storage(bin_table(table, resolve({})), list("abcdef")))
        600 rows x 6 columns
          constant, not used              0
          stored separately               0
          sharing a byte                  0
          in bundles                      6   1 bundles
          sparse columns                  0   0 values
        stored rows: 1 columns of 1 byte, 0 of 2 bytes, 0.0 MB; sparse columns: 0.0 MB
        bundles: found by column, 0 conflicts, 0 values not seen by training
    """
    storage, facts = binned.bins.storage(), binned.bins.describe()
    columns = binned.binning.columns
    bundles = np.split(storage["bundled"], storage["bundle_ends"][:-1])
    is_sharing = binned.bins.is_sharing().astype(bool)
    is_plain = np.ones(len(columns), dtype=bool)
    is_plain[storage["bundled"]] = False
    is_plain[storage["loose"]] = False

    def names_of(features: npt.NDArray[Any]) -> list[str]:
        return [names[column] for column in columns[features]]

    choice = binned.choice or {}
    pages = _native.on_disk(binned.bins) or {}
    n_passes = pages.get("passes", 0)
    return StorageSummary(
        n_rows=binned.n_rows,
        n_columns=binned.binning.n_columns,
        constant=binned.binning.n_columns - len(columns),
        alone=names_of(np.flatnonzero(is_plain & ~is_sharing)),
        sharing=names_of(np.flatnonzero(is_plain & is_sharing)),
        bundles=[names_of(bundle) for bundle in bundles if len(bundle)],
        sparse=names_of(storage["loose"]),
        order=next((name for name, i in ORDERS.items() if i and i == choice.get("order")), None),
        conflicts=choice.get("conflicts", 0),
        values_dropped=facts["values_dropped"],
        places=(facts["lanes_of_one_byte"], facts["lanes_of_two_bytes"]),
        entries=facts["sparse_entries"],
        bytes_in_rows=facts["bytes_in_lanes"],
        bytes_in_sparse_columns=facts["bytes_in_sparse_columns"],
        seconds=choice.get("seconds", 0.0),
        findings=list(findings),
        pages=pages.get("pages", 0),
        bytes_in_buffers=pages.get("buffer_bytes", 0),
        passes=n_passes,
        seconds_per_pass=pages["seconds"] / n_passes if n_passes else 0.0,
        seconds_waited=pages["seconds_waited"] / n_passes if n_passes else 0.0,
    )


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
