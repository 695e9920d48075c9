"""`BuiltData`: what a data set is once it is built. Trainings see nothing else of it.

Facts about columns, fields of rows and the bins are separate objects: parts of one table share the
first, and have the others of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from threading import RLock
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gossamer.data.categories.levels import Levels
from gossamer.data.labels.fields import Targets
from gossamer.data.labels.row_fields import RowFields
from gossamer.data.storage.binned import BinnedTable, trainable
from gossamer.data.table.frames import frame_names, is_frame, without_columns
from gossamer.data.table.matrix import Values
from gossamer.data.table.names import default_names, listing
from gossamer.data.table.time_columns import TimeKinds
from gossamer.errors import DataError
from gossamer.params import Params

Kind = Literal["table", "chunks", "binary file", "subset"]
# Field -> names of the columns that it was read from; "ignore" -> columns that are left out.
TakenColumns = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Columns:
    """The user's columns.

    Attributes:
        names: Their names.
        names_in_table: Names in the table itself, which may be others; None: not known.
        categorical: The categorical ones, increasing.
        levels: What codes of text and categories stand for; None: all columns are numbers.
        weights: How likely each is to be drawn when features are sampled; None: equally.
        times: The columns that are dates or times; None: not known.
    """

    names: tuple[str, ...]
    names_in_table: tuple[str, ...] | None = None
    categorical: tuple[int, ...] = ()
    levels: Levels | None = None
    weights: npt.NDArray[np.float64] | None = None
    times: TimeKinds | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def table_names(self) -> list[str] | None:
        """Names in the table where they say more than `names`; None: they do not.

        Columns of a file without header are named after their positions.
        """
        names, found = list(self.names), self.names_in_table
        if found is None:
            return None
        is_told = list(found) == names and names != default_names(len(names))
        return None if is_told else list(found)


class RawValues:
    """Access to the user's own values, columns as in the training data.

    Values that were not kept while binning are found when first asked for, and kept from then on.
    """

    def __init__(self, find: Callable[[str], Values], values: Values | None = None) -> None:
        """Take what finds the values, for messages given the parameter that asks for them."""
        self._find, self._values = find, values
        self._lock = RLock()

    @property
    def kept(self) -> Values | None:
        """The values, if they are at hand."""
        return self._values

    def get(self, user: str) -> Values:
        """Return the values; nothing is copied, unless rows or columns are in another order.

        Args:
            user: The parameter that asks for them, for messages.

        Raises:
            DataError: If the raw values are released, or never were in memory.
        """
        with self._lock:
            if self._values is None:
                self._values = self._find(user)
            return self._values

    def released(self) -> RawValues:
        """Return access to values that are at hand only: the user's table is released."""
        return RawValues(_refuse_released, self._values)


@dataclass(frozen=True, eq=False)
class Provenance:
    """What a data set was built from, and how.

    Attributes:
        kind: The kind of source.
        params: The parameters it was built with, including a training's.
        own: The data set's own parameters alone.
        binning: The parameters that the bins follow from, given with the data that chose the bins.
        has_header: Whether the first line of a text file has names; None: not said.
        taken: Columns that are not features.
        is_file: Whether the source is a path, from which everything can be read again.
    """

    kind: Kind
    params: Params
    own: Params
    binning: Params
    has_header: bool | None = None
    taken: TakenColumns | None = None
    is_file: bool = False


@dataclass(frozen=True, eq=False)
class BuiltData:
    """A table in bins with everything that belongs to its rows; never changed.

    Attributes:
        columns: The user's columns.
        rows: Labels, weights, ... of the rows.
        table: The bins.
        raw: Access to the user's values.
        source: What it was built from.
        given: The user's table, without columns that are labels, ...; None: it is released.
    """

    columns: Columns
    rows: RowFields
    table: BinnedTable
    raw: RawValues
    source: Provenance
    given: Any = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns, constant ones included."""
        return self.columns.n_columns

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.columns.names)

    @property
    def targets(self) -> Targets:
        """Labels and weights.

        Raises:
            DataError: If there are no labels.
        """
        found = self.rows.targets
        if found is None:
            hint = "Pass label, or call set_label()."
            if self.source.kind == "chunks":
                names = listing(self.names, 20)
                hint = f"Name a column: Dataset(..., label='...'). There are {names}."
            raise DataError.because("the data set has no label", hint=hint)
        return found

    def field(self, name: str) -> npt.NDArray[Any] | None:
        """Return one of the fields, or None."""
        found: npt.NDArray[Any] | None
        found = self.columns.weights if name == "feature_weights" else getattr(self.rows, name)
        return found

    def with_field(self, name: str, values: npt.NDArray[Any] | None) -> BuiltData:
        """Return the same data with other values, which are checked, of one field."""
        if name == "feature_weights":
            return replace(self, columns=replace(self.columns, weights=values))
        return replace(self, rows=replace(self.rows, **{name: values}))

    def with_names(self, names: Sequence[str]) -> BuiltData:
        """Return the same data with other names of its columns, which are checked."""
        return replace(self, columns=replace(self.columns, names=tuple(names)))

    def trainable(self) -> BuiltData:
        """Return data that can be trained on: this, or a copy whose bins are stored differently."""
        table = trainable(self.table)
        return self if table is self.table else replace(self, table=table)

    def released(self) -> BuiltData:
        """Return the same data without the user's table."""
        raw = self.raw.released() if self.source.kind == "table" else self.raw
        return replace(self, given=None, raw=raw)

    def own(self) -> BuiltData:
        """Return the data of the rows that a training on this machine keeps scores of."""
        table = self.table.own()
        window = table.window
        if window is None:
            return self
        return replace(self, rows=self.rows.copy_rows(window.begin, window.end), table=table)

    def whole(self) -> BuiltData:
        """Return the data of all workers, all of which call this."""
        table = self.table.whole()
        if table is self.table:
            return self
        return replace(self, rows=self.rows.map(self.table.gather_rows), table=table)

    def n_bins_of(self, feature: int | str) -> int:
        """Return the number of bins of a column, given by its position or name.

        Raises:
            DataError: If there is no such column.
        """
        names = self.columns.names
        if isinstance(feature, str):
            if feature not in names:
                raise DataError.because("there is no such column", got=feature)
            feature = names.index(feature)
        if not isinstance(feature, Integral) or not 0 <= feature < len(names):
            expected = f"a name, or 0..{len(names) - 1}"
            raise DataError.because("there is no such column", got=feature, expected=expected)
        return self.table.n_bins_of(int(feature))

    def check_same_bins(self, other: BuiltData, what: str, hint: str) -> None:
        """Raise if other data has other bins; `what` says so."""
        if not self.table.binning.is_same(other.table.binning):
            raise DataError.because(what, hint=hint)

    def without_fields(self, table: Any) -> Any:
        """Return a frame without the columns that are labels, weights, ... of this data."""
        taken = {name for names in (self.source.taken or {}).values() for name in names}
        if not taken or not is_frame(table):
            return table
        names = frame_names(table)
        return without_columns(table, [i for i, name in enumerate(names) if name in taken])


@dataclass(frozen=True, eq=False)
class GivenRows:
    """The user's table of a data set, held while the data set itself releases it.

    Attributes:
        data: What the user passed.
        rows: Rows of it; None: all.
        has_own_names: Whether the data set's names are others than the table's.
    """

    data: Any
    rows: npt.NDArray[np.int64] | None = None
    has_own_names: bool = False

    def take(self, rows: npt.NDArray[np.int64]) -> GivenRows:
        """Return some of the rows."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])


def freed(action: str) -> DataError:
    """Return the error of an action that needs raw data which is released."""
    return DataError.because(
        f"data set used after being freed: {action} needs the raw data",
        hint="Keep it with Dataset(..., free_raw_data=False).",
    )


def not_in_memory(user: str) -> DataError:
    """Return the error of what needs raw values of a table that is read in chunks."""
    return DataError.because(
        f"{user} needs raw values, and files and chunks are never in memory as a whole",
        expected="a table in memory",
        hint="Load it first, for instance with pandas.read_parquet().",
    )


def _refuse_released(user: str) -> Values:
    raise DataError.because(
        f"{user} needs raw values, and this data set's raw values are freed",
        hint=f"Pass {user.partition('=')[0]} in Dataset(params=...), or free_raw_data=False.",
    )
