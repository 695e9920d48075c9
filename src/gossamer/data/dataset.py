"""`Dataset`: a table, its labels and its weights, binned when first needed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from gossamer.data import binary_file
from gossamer.data.binned import (
    BinnedTable,
    bin_like,
    bin_table,
    put_beside,
    take_rows,
    trainable,
)
from gossamer.data.by_name import names_of
from gossamer.data.categorical import categorical_columns, read_asked
from gossamer.data.chunk_pieces import ChunkPieces
from gossamer.data.columns import Level, plain_values
from gossamer.data.describe import StorageSummary, describe
from gossamer.data.fields import (
    Targets,
    check_weight,
)
from gossamer.data.files import is_binary_dataset
from gossamer.data.findings import columns_of, find_in_columns
from gossamer.data.frame_pieces import FramePieces, find_pieces
from gossamer.data.frames import (
    column_in_frame,
    frame_names,
    is_frame,
    read_column,
    take_rows_of,
    without_columns,
)
from gossamer.data.kinds import as_known
from gossamer.data.levels import NO_LEVELS, Levels
from gossamer.data.matrix import (
    Table,
    Values,
    as_table,
    check_not_empty,
    read_values,
    stack_columns,
)
from gossamer.data.names import check_names, default_names, join_names, match_names, names_for
from gossamer.data.pieces import bin_pieces, bin_pieces_like
from gossamer.data.queries import take_queries
from gossamer.data.roles import (
    Roles,
    asked_by_arguments,
    asked_by_params,
    asks_columns,
    find_roles,
    match_columns,
    refuse_names,
    values_of,
)
from gossamer.data.row_fields import RowFields
from gossamer.data.source import Source
from gossamer.data.sources import find_source, whole_table
from gossamer.data.sparse import is_sparse
from gossamer.data.summary import shorten, to_html, to_line
from gossamer.errors import DataError, DataTypeError, ParameterError, message
from gossamer.logger import warn
from gossamer.params import Params, resolve
from gossamer.params.check_method import keeps_raw_values
from gossamer.params.given import as_dict
from gossamer.threads import resolve_threads

# No bins, but raw values that must not be freed.
_RAW_PARAMS: Final = ("linear_tree", "tree_method")
# What the bins depend on. Once a data set is binned, training cannot ask for other values.
BINNING_PARAMS: Final = (
    "max_bin",
    "max_bin_by_feature",
    "forcedbins_filename",
    "min_data_in_bin",
    "bin_construct_sample_cnt",
    "weighted_bins",
    "data_random_seed",
    "use_missing",
    "zero_as_missing",
    "enable_bundle",
    "is_enable_sparse",
    "max_conflict_rate",
    "bundle_order",
    *_RAW_PARAMS,
)


class Dataset(RowFields):
    """A table with labels, ready for training.

    Nothing is read until `construct()`, which `train()` calls. Then the table is put into bins and,
    unless `free_raw_data=False`, no longer referred to.

    Args:
        data: Rows x columns: a NumPy array of numbers or a scipy.sparse matrix (never copied, nor
            made dense), a list of rows, a data frame (pandas, polars, pyarrow). Columns of frames,
            lists and arrays of objects may be text or categories. Or what is read in chunks and
            never in memory as a whole: the path of a file (Parquet, Feather, Arrow, CSV, LibSVM,
            or written by `save_binary`), a pattern, a folder, or a list of paths (weights, ... are
            read from files next to it, such as `train.csv.weight`); a `Sequence`, or
            a list of them; a list of arrays or frames, which follow each other; a function that
            gives such chunks.
        label: One number per row, or with several targets rows x targets. Of frames and files also
            the name of a column, or a list of names. So may be `weight`, `group` and `query` (then
            a column of ids), `init_score` and `position`. Such columns are no features.
        reference: For validation data: the training data, whose bins are used.
        weight: One number >= 0 per row.
        group: For ranking: the rows of each query, as [3, 5, ...] where the first 3 rows belong to
            the first query, the next 5 to the second, ...
        init_score: Scores to start from: one per row, or rows x classes.
        feature_name: Names of the columns; "auto" takes them from a data frame, else Column_0, ...
        categorical_feature: Names or positions of the categorical columns; numbers in them are
            codes. "auto": columns of text and of categories, but not of ordered categories. A list
            must have all columns of text; categories that it leaves out are taken as numbers.
        params: Parameters such as `max_bin`.
        free_raw_data: Whether to let go of `data` after binning.
        position: For ranking: where each row was shown, a number or a name per row. What rows
            gain by their position alone is then learned apart.
        query: Instead of `group`: the id of its query for each row; rows of a query stand together.

    Example:
        >>> data = Dataset([[1.0, 7.0], [2.0, 8.0], [3.0, 9.0]], label=[0, 1, 1])
        >>> data.construct().num_data(), data.num_feature(), data.get_feature_name()
        (3, 2, ['Column_0', 'Column_1'])
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        reference: Dataset | None = None,
        weight: Any = None,
        group: Any = None,
        init_score: Any = None,
        feature_name: Sequence[str] | Literal["auto"] = "auto",
        categorical_feature: Sequence[str | int] | str | None = "auto",
        params: Mapping[str, Any] | None = None,
        free_raw_data: bool = True,
        position: Any = None,
        query: Any = None,
    ) -> None:
        """Keep the arguments; they are checked in `construct()`."""
        self.data = data
        self.label = label
        self.reference = reference
        self.weight = weight
        self.init_score = init_score
        self._given_names = feature_name
        self.params: dict[str, Any] = as_dict(params)
        self._own_params = dict(self.params)  # without those of trainings
        self.free_raw_data = free_raw_data
        self.used_indices: npt.NDArray[np.int64] | None = None
        self.group = group
        self.query = query
        self.position = position
        self.feature_weights: Any = None
        self.version = 0
        self.categorical_feature = categorical_feature
        self._parent: Dataset | None = None  # of a subset
        self._binned: BinnedTable | None = None
        self._raw: Values | None = None  # kept for linear leaves
        self._is_from_file = False  # of save_binary
        self._is_in_chunks = False  # read in chunks: never in memory
        self._can_be_read_again = False  # files
        self._taken: dict[str, tuple[str, ...]] | None = None  # columns that are no features
        self._names: list[str] | None = None
        self._table_names: list[str] | None = None
        self._targets: Targets | None = None
        self._n_columns = 0
        self._levels: Levels | None = None
        self._categorical_columns: list[int] = []
        self._lock = RLock()

    # ---- construction ----

    def construct(self) -> Dataset:
        """Bin the table and check everything else; does nothing the second time.

        Raises:
            DataError: If the table, the labels, the weights, ... cannot be used.
        """
        with self._lock:
            if self._binned is None:
                self._construct()
        return self

    def _construct(self) -> None:
        params = resolve(self.params, context="dataset")
        self._raw = None
        try:
            self._names = self._choose_names(self._find_bins(params))
            self._set_fields()
        except BaseException:  # all of it is done again the next time
            self._binned = self._raw = None
            raise
        # A path takes no memory, and the bins can be made again.
        if self.free_raw_data and self._parent is None and not self._can_be_read_again:
            self.data = None

    def _find_bins(self, params: Params) -> list[str]:
        """Make, take or read the bins; returns the names of the columns, if there are any."""
        if self._parent is not None:
            self._binned = self._take_from_parent()
            self._table_names = self._parent.table_names
            self._take_categories(self._parent)
            return self._parent.get_feature_name()
        if is_binary_dataset(self.data):
            self._binned, names = self._load(Path(self.data).expanduser())
            self._is_from_file = True
            return names
        if self.data is None:
            raise _freed("construct()")
        names = self._bin(params)
        like = self.reference
        self._table_names = (names or None) if like is None else like.table_names
        return names

    def _bin(self, params: Params) -> list[str]:
        """Bin the table; returns the names of its columns, if it has any."""
        table = self._find_table(params)
        check_not_empty(table.n_rows, table.n_columns)
        if self.reference is not None:
            if isinstance(table, Table):
                table = self._like_reference(table)
            self._take_categories(self.reference)
            training = self.reference.construct().binned
            if isinstance(table, Table):
                self._binned = bin_like(table, training, params)
            else:
                self._check_width(table.n_columns)
                self._binned = bin_pieces_like(table, training, params)
        else:
            self._n_columns = table.n_columns
            found = self._choose_names(table.names or [])
            self._find_categories(table, params)
            self._check_zeros(params)
            weight = check_weight(self.weight, table.n_rows) if params.weighted_bins else None
            columns = self._categorical_columns
            if isinstance(table, Table):
                self._binned = bin_table(table, params, found, columns, weight)
            else:
                self._binned = bin_pieces(table, params, found, columns, weight)
        self._raw = table.values if isinstance(table, Table) and keeps_raw_values(params) else None
        return table.names or []  # none: made later

    def _find_table(self, params: Params) -> Table | FramePieces | ChunkPieces:
        """Look at the user's data: a table in memory, or one that comes in chunks."""
        known, text = None, set[str]()
        if self.reference is not None:
            known = self.reference.levels or NO_LEVELS
            names = self.reference.get_feature_name()
            text = {names[c] for c in known.columns if known.is_text(c)}
        source = find_source(self.data, self.has_header, text)
        if source is not None:
            return self._open(source, params, known)
        self.data = whole_table(self.data)
        self._take_out_columns(params)
        known_names = self._known_names(names_of(self.data))
        pieces = None if keeps_raw_values(params) else find_pieces(self.data, known, known_names)
        return as_table(self.data, known, known_names) if pieces is None else pieces

    def _open(self, source: Source, params: Params, known: Levels | None) -> ChunkPieces:
        """Read what is not a feature, and levels; the features are read piece by piece later."""
        self._is_in_chunks, self._can_be_read_again = True, source.is_file
        if keeps_raw_values(params):
            raise _not_in_memory("linear_tree" if params.linear_tree else "tree_method=exact")
        if self.reference is not None:
            source.be_like(self.reference.num_feature())
        columns, fields = None, None
        if source.names is None:
            refuse_names(self._asked(several=False))
        else:
            roles = self._find_roles(source.names, source.what, params, positions=source.is_file)
            columns, fields = roles.features, roles.fields
            if self.reference is not None:
                columns = match_columns(
                    self._known_names(source.names),
                    source.names,
                    columns,
                    source.what,
                    is_named=source.is_named,
                )
            check_not_empty(source.n_rows or 1, len(columns))
        pieces = ChunkPieces(source, columns, fields, known)
        self._keep_fields(pieces.fields)
        if source.is_file:
            self._keep_fields(source.take_side_fields())
        return pieces

    def _take_out_columns(self, params: Params) -> None:
        """Make fields of the columns of a frame that are named as label, weight, ..."""
        is_asked = self._asked(several=False) or asked_by_params(params)
        if is_asked or (self.reference is not None and self.reference._taken):
            self.data = as_known(self.data)
        names = names_of(self.data)
        if names is None:
            refuse_names(self._asked(several=False))
            if self.reference is None and (asked := asked_by_params(params)):
                warn(
                    f"Parameters name a column as {', '.join(asked)}, which has no effect: the "
                    "columns of the data have no names. Pass the values themselves."
                )
            return
        if self._taken is not None and not self._asked():
            return  # they are out already
        what = "the data frame" if is_frame(self.data) else "the table"
        roles = self._find_roles(names, what, params, positions=False)
        if len(roles.features) == len(names):
            return
        read = {
            field: values_of(field, [self._values_of(c, names[c]) for c in columns])
            for field, columns in roles.fields.items()
        }
        self._keep_fields(read)
        check_names(names, len(names))  # by name, they must differ
        self.data = without_columns(self.data, set(range(len(names))) - set(roles.features))

    def _values_of(self, column: int, name: str) -> npt.NDArray[Any]:
        if isinstance(self.data, Mapping):
            values = list(self.data.values())[column]
            return plain_values(read_values(values, f"column {name!r}"))
        return plain_values(read_column(self.data, column, column_in_frame(name)))

    def _asked(
        self, *, positions: bool = False, several: bool = True
    ) -> dict[str, tuple[int | str, ...]]:
        return asked_by_arguments(vars(self), positions=positions, several=several)

    def _find_roles(self, names: list[str], what: str, params: Params, *, positions: bool) -> Roles:
        arguments = self._asked(positions=positions)
        inherited = self._taken or {}
        if self.reference is not None:
            params = resolve(self._own_params, context="dataset")
            inherited = {**(self.reference._taken or {}), **inherited}
        roles = find_roles(names, arguments, asked_by_params(params), inherited, what)
        self._taken = roles.by_name(names)
        return roles

    def _keep_fields(self, found: Mapping[str, Any]) -> None:
        """Take over what was read, where no values were given."""
        asked = self._asked(positions=True)
        for field, values in found.items():
            if field == "query" and self.group is not None and asks_columns(self.group) is None:
                continue
            if field == "group" and self.query is not None:
                continue
            if getattr(self, field) is None or field in asked:
                setattr(self, field, values)
                self.group = None if field == "query" else self.group

    def _choose_names(self, found: list[str]) -> list[str]:
        """Names that were given, or those of the reference, or those found with the data."""
        if self._binned is not None:
            self._n_columns = self._binned.binning.n_columns
        if not _is_auto(self._given_names):
            return check_names(self._given_names, self._n_columns)
        if self.reference is not None:
            return self.reference.get_feature_name()
        return check_names(found, self._n_columns) if found else default_names(self._n_columns)

    def _known_names(self, found: Sequence[str] | None) -> list[str] | None:
        """Names of the reference's columns by which those of a table are found."""
        if self.reference is None:
            return None
        own = self.reference.get_feature_name()
        return names_for(own, self.reference.table_names, found or ())

    def _find_categories(self, table: Table | FramePieces | ChunkPieces, params: Params) -> None:
        """Find the categorical columns of training data; the argument wins over the parameter."""
        self._n_columns = table.n_columns
        asked = read_asked(self.categorical_feature)
        if asked is None and "categorical_feature" in params.given:
            asked = read_asked(params.categorical_feature)
        names = self._choose_names(table.names or [])
        columns = categorical_columns(asked, table.kinds, names)
        self._levels, self._categorical_columns = table.levels or None, columns

    def _check_zeros(self, params: Params) -> None:
        """Code 0 stands for a level like any other, and missing values for no level."""
        if not params.use_missing and self._levels:
            raise ParameterError(
                message(
                    "use_missing=false does not go together with text and categories of a frame: "
                    "missing and unseen ones would be taken for the first",
                    got=False,
                    expected="use_missing=true",
                )
            )
        if params.use_missing and params.zero_as_missing and self._levels:
            column = self._levels.columns[0]
            raise ParameterError(
                message(
                    "zero_as_missing does not go together with text and categories of a frame, "
                    "the first of which has the code 0",
                    got=True,
                    expected="zero_as_missing=false",
                    hint=f"Column {column} has levels. Put NaN where a zero means missing.",
                )
            )

    def _take_categories(self, other: Dataset) -> None:
        self._levels = other.levels
        self._categorical_columns = other.categorical_columns

    def _take_from_parent(self) -> BinnedTable:
        parent, rows = self._parent, self.used_indices
        assert parent is not None and rows is not None
        parent.construct()
        if len(rows) == 0 or rows.min() < 0 or rows.max() >= parent.num_data():
            raise DataError(
                message(
                    "used_indices must be rows of the data set",
                    got=rows.tolist(),
                    expected=f"at least one number from 0 to {parent.num_data() - 1}",
                )
            )
        for name in ("label", "weight", "position"):
            if getattr(parent, name) is not None and getattr(self, name) is None:
                setattr(self, name, getattr(parent, name)[rows])
        if self.feature_weights is None:
            self.feature_weights = parent.feature_weights
        if parent.init_score is not None and self.init_score is None:
            self.init_score = parent.init_score[rows]
        if parent.group is not None and self.group is None and self.query is None:
            self.group = take_queries(parent.group, rows)
        return take_rows(parent.binned, rows)

    def _load(self, path: Path) -> tuple[BinnedTable, list[str]]:
        content = binary_file.load(path)
        self._check_bins_of(path, content.params)
        for name in ("label", "weight", "init_score", "group", "position", "feature_weights"):
            if getattr(self, name) is None and not (name == "group" and self.query is not None):
                setattr(self, name, getattr(content, name))
        self._levels = content.levels
        self._table_names = content.table_names
        self._categorical_columns = list(content.categorical_columns)
        asked = read_asked(self.categorical_feature)
        if asked is not None:
            columns = categorical_columns(asked, {}, content.names)
            if columns != self._categorical_columns:
                raise DataError(
                    message(
                        "categorical_feature differs from that of the data set file",
                        got=[content.names[column] for column in columns],
                        expected=repr([content.names[c] for c in self._categorical_columns]),
                        hint="The bins are in the file: leave it out, or write the file anew.",
                    )
                )
        return content.binned, content.names

    def _check_bins_of(self, path: Path, made_with: Params) -> None:
        """Refuse other bins than a file has; those of a reference are compared themselves.

        Raises:
            DataError: If a parameter about bins has another value than in the file.
        """
        if self.reference is not None:
            return
        asked = resolve(self.params, context="dataset")
        for name in BINNING_PARAMS:
            if name in asked.given and name not in _RAW_PARAMS and asked[name] != made_with[name]:
                self.params = dict(self._own_params)  # those of a training are not kept
                raise DataError(
                    message(
                        f"{name} differs from that of the data set file {str(path)!r}",
                        got=asked[name],
                        expected=repr(made_with[name]),
                        hint="The bins are in the file: leave it out, or write the file again "
                        "from a Dataset with this parameter.",
                    )
                )
        self.params = {**made_with.to_dict(given_only=True), **asked.to_dict(given_only=True)}

    def _check_width(self, n_columns: int) -> None:
        assert self.reference is not None
        expected = self.reference.num_feature()
        if n_columns != expected:
            raise DataError(
                message(
                    "validation and training data differ in columns",
                    got=n_columns,
                    expected=f"{expected}",
                )
            )

    def _like_reference(self, table: Table) -> Table:
        """Check the columns against those of the reference, and put them into its order."""
        assert self.reference is not None
        self._check_width(table.n_columns)
        names = self._known_names(table.names)
        if table.names is None or names is None:
            return table
        order = match_names(names, table.names)
        return table if order is None else table.take_columns(order, names)

    @property
    def binned(self) -> BinnedTable:
        """The binned table; constructs it."""
        self.construct()
        assert self._binned is not None
        return self._binned

    def without_fields(self, table: Any) -> Any:
        """Return a frame without the columns that are labels, weights, ... of this data set.

        Example:
            >>> import pandas
            >>> frame = pandas.DataFrame({"a": [1, 2], "y": [0, 1]})
            >>> list(Dataset(frame, label="y").construct().without_fields(frame))
            ['a']
        """
        source = self if self._parent is None else self._parent
        taken = {name for names in (source._taken or {}).values() for name in names}
        if not taken or not is_frame(table):
            return table
        names = frame_names(table)
        return without_columns(table, [i for i, name in enumerate(names) if name in taken])

    @property
    def has_header(self) -> bool | None:
        """Whether the first line of a text file has names; None: nobody said."""
        params = resolve(self.params, context="dataset")
        if "header" in params.given or self.reference is None:
            return params.header if "header" in params.given else None
        return self.reference.has_header

    @property
    def asks_for_linear_tree(self) -> bool:
        """Whether `linear_tree` is among its own parameters: trainings then need not say so."""
        return resolve(self._own_params, context="dataset").linear_tree

    def raw_values(self, user: str = "linear_tree") -> Values:
        """Return the user's own table; its columns as in the training data.

        Nothing is copied, unless the data set is a subset or its columns stand in another order.

        Args:
            user: The parameter that asks for them, for messages.

        Raises:
            DataError: If the raw values are no longer there, or never were.
        """
        self.construct()
        with self._lock:
            if self._raw is None:
                self._raw = self._find_raw(user)
            return self._raw

    def _find_raw(self, user: str) -> Values:
        if self._parent is not None:
            assert self.used_indices is not None
            return Table(self._parent.raw_values(user)).take_rows(self.used_indices).values
        if self._is_from_file:
            raise DataError(
                message(
                    f"{user} needs raw values, and a file of save_binary() has bins only",
                    expected="the table itself",
                    hint="Make the Dataset from the table.",
                )
            )
        if self._is_in_chunks:
            raise _not_in_memory(user)
        if self.data is None:
            raise DataError(
                message(
                    f"{user} needs raw values, and those of this data set are freed",
                    hint=f"Pass {user.partition('=')[0]} in Dataset(params=...), or "
                    "free_raw_data=False.",
                )
            )
        table = as_table(self.data)
        return (table if self.reference is None else self._like_reference(table)).values

    def make_trainable(self) -> Dataset:
        """Store the table so that it can be trained on; constructs the data set."""
        with self._lock:
            self._binned = trainable(self.binned)
        return self

    def use_params(self, params: Params) -> Dataset:
        """Take over the parameters of a training; those about bins must not come too late.

        Raises:
            DataError: If the bins are made, the raw data gone, and another value is asked for.
        """
        with self._lock:
            self._use_params(params)
        return self

    def _use_params(self, params: Params) -> None:
        mine = resolve(self.params, context="dataset")
        if self._binned is not None:
            changed: list[str] = [
                name
                for name in BINNING_PARAMS
                if name in params.given
                and params[name] != mine[name]
                # Raw values that were kept need not be used.
                and not (name in _RAW_PARAMS and _keeps_enough(mine, params))
            ]
            if self._asks_other_categories(params):
                changed.append("categorical_feature")
            if not changed or self.reference is not None:
                return
            if self._has_no_raw_data():
                raise DataError(
                    message(
                        f"{changed[0]} cannot change after the data set is constructed",
                        got=params[changed[0]],
                        expected=repr(self._value_of(changed[0], mine)),
                        hint="Pass it to Dataset(params=...), or use free_raw_data=False.",
                    )
                )
            self._binned = None
        self.params = {
            **mine.to_dict(given_only=True),
            **{name: params[name] for name in params.given if name != "objective"},
        }

    def _has_no_raw_data(self) -> bool:
        """Whether the bins cannot be made again; a file of `save_binary` holds bins only."""
        return self.data is None or self._parent is not None or self._is_from_file

    def _value_of(self, name: str, params: Params) -> object:
        """What a parameter is for this data set, which is constructed."""
        if name != "categorical_feature":
            return params[name]
        names = self.get_feature_name()
        return [names[column] for column in self._categorical_columns]

    def _asks_other_categories(self, params: Params) -> bool:
        """Whether parameters of a training name other columns; the argument wins over them."""
        asked = read_asked(params.categorical_feature)
        if not asked or read_asked(self.categorical_feature) is not None:
            return False
        # Whatever kind of levels they have: only the columns themselves are compared.
        return categorical_columns(asked, {}, self.get_feature_name()) != self.categorical_columns

    # ---- related data sets ----

    def create_valid(
        self,
        data: Any,
        label: Any = None,
        weight: Any = None,
        group: Any = None,
        init_score: Any = None,
        params: Mapping[str, Any] | None = None,
        position: Any = None,
        query: Any = None,
    ) -> Dataset:
        """Make a validation set that uses the bins of this one."""
        return Dataset(
            data,
            label,
            reference=self,
            weight=weight,
            group=group,
            init_score=init_score,
            params=params,
            free_raw_data=self.free_raw_data,
            position=position,
            query=query,
        )

    def subset(self, used_indices: Any, params: Mapping[str, Any] | None = None) -> Dataset:
        """Make a data set of some of the rows, with the bins of this one.

        Where rows belong to queries, whole queries must be taken.

        Args:
            used_indices: Rows, from 0.
            params: Other parameters than this data set's.
        """
        rows = np.sort(np.asarray(used_indices, dtype=np.int64).ravel())
        subset = Dataset(
            None,
            reference=self,
            params=self.params if params is None else params,
            free_raw_data=self.free_raw_data,
        )
        subset._parent = self
        subset.used_indices = rows
        return subset

    def add_features_from(self, other: Dataset) -> Dataset:
        """Add the columns of another data set of the same rows; labels and the like stay these.

        Both must be constructed. Validation data needs the columns added as well, from data that
        refers to `other`.

        Args:
            other: The data set whose columns come behind these. It does not change.

        Raises:
            DataError: If one is not constructed, they differ in rows or in what is missing, or
                have columns of the same name.

        Example:
            >>> left = Dataset([[1.0], [2.0]], feature_name=["a"]).construct()
            >>> right = Dataset([[5.0], [4.0]], feature_name=["b"]).construct()
            >>> left.add_features_from(right).get_feature_name()
            ['a', 'b']
        """
        if not isinstance(other, Dataset):
            raise DataTypeError(message("this is no Dataset", got=type(other).__name__))
        with self._lock:
            if self._binned is None or other._binned is None:
                raise DataError(
                    message(
                        "a data set is not constructed",
                        got="this one" if self._binned is None else "the other",
                        hint="Call construct() on both before add_features_from().",
                    )
                )
            if self._binned.n_rows != other._binned.n_rows:
                raise DataError(
                    message(
                        "the data sets differ in rows",
                        got=other._binned.n_rows,
                        expected=f"{self._binned.n_rows}",
                    )
                )
            self._add_columns(other)
        return self

    def _add_columns(self, other: Dataset) -> None:
        names = join_names(self.get_feature_name(), other.get_feature_name())
        n_columns, n_rows = len(names), self.num_data()
        n_threads = resolve(self.params, context="dataset").num_threads
        self._binned = put_beside(
            self.binned, other.binned, resolve_threads(n_threads, n_rows, n_columns)
        )
        self._add_categories(other, self.num_feature())
        self.data = self._join_raw_data(other)
        has_raw = self._raw is not None and other._raw is not None
        self._raw = stack_columns(self._raw, other._raw) if has_raw else None
        self._parent = None
        self._table_names = None
        self._names, self._given_names, self._n_columns = names, names, n_columns
        self.version += 1

    def _add_categories(self, other: Dataset, n_before: int) -> None:
        """Take over the categories of columns that come behind `n_before` others."""
        added = [column + n_before for column in other.categorical_columns]
        self._categorical_columns = [*self._categorical_columns, *added]
        if self._levels is not None or other.levels is not None:
            mine = {} if self._levels is None else dict(self._levels.by_column)
            theirs = {} if other.levels is None else other.levels.by_column
            self._levels = Levels(mine | {c + n_before: found for c, found in theirs.items()})

    def _join_raw_data(self, other: Dataset) -> Any:
        """The raw data of both, if both are kept and of one kind."""
        if self.data is None or other.data is None:
            return None
        joined = stack_columns(self.data, other.data)
        if joined is None:
            warn(
                f"Raw data of type {type(self.data).__name__} and {type(other.data).__name__} "
                "cannot be put side by side, and is let go: only the bins are kept."
            )
        return joined

    def set_reference(self, reference: Dataset) -> Dataset:
        """Use the bins of another data set; not possible once this one's raw data is freed."""
        if reference is self or self.reference is reference:
            return self
        if self._binned is not None and self._binned.binning.is_same(reference.binned.binning):
            self.reference = reference
            return self
        if self._binned is not None:
            if self.data is None or self._parent is not None:
                raise _freed("set_reference()")
            self._binned = None
        self.reference = reference
        return self

    def get_ref_chain(self, ref_limit: int = 100) -> set[Dataset]:
        """Return this data set, its reference, the reference's reference, ..."""
        chain: list[Dataset] = []
        head: Dataset | None = self
        while head is not None and head not in chain and len(chain) < ref_limit:
            chain.append(head)
            head = head.reference
        return set(chain)

    def _forget_weighted_bins(self) -> None:
        """Weights are about to change: bins that were chosen by them are made again.

        Raises:
            DataError: If they cannot be.
        """
        own = self._binned is not None and self.reference is None and self._parent is None
        if not own or not resolve(self.params, context="dataset").weighted_bins:
            return
        if self._has_no_raw_data():
            raise DataError(
                message(
                    "weights cannot change after bins were chosen by them (weighted_bins)",
                    hint="Pass weight to Dataset, or use free_raw_data=False.",
                )
            )
        self._binned = None

    # ---- columns ----

    def set_categorical_feature(
        self, categorical_feature: Sequence[str | int] | str | None
    ) -> Dataset:
        """Set the categorical columns by name or position; "auto": by their types.

        Raises:
            DataError: If the bins are made, the raw data gone, and these are other columns.
        """
        with self._lock:
            if self._binned is not None and self.reference is None:
                asked = read_asked(categorical_feature)
                if asked is not None:
                    columns = categorical_columns(asked, {}, self.get_feature_name())
                    if columns == self._categorical_columns:
                        self.categorical_feature = categorical_feature
                        return self
                elif read_asked(self.categorical_feature) is None:
                    return self
                if self._has_no_raw_data():
                    raise _freed("set_categorical_feature()")
                self._binned = None
            self.categorical_feature = categorical_feature
        return self

    def set_feature_name(self, feature_name: Sequence[str] | Literal["auto"]) -> Dataset:
        """Set the names of the columns."""
        if not _is_auto(feature_name):
            if self._binned is not None:
                self._names = check_names(feature_name, self._n_columns)
            self._given_names = feature_name
        return self

    @property
    def feature_name(self) -> Sequence[str] | Literal["auto"]:
        """What was passed as `feature_name`; once constructed the names of the columns."""
        return self._given_names if self._names is None else list(self._names)

    @property
    def names_are_given(self) -> bool:
        """Whether names were passed, which may be others than the table's."""
        return not _is_auto(self._given_names)

    @property
    def table_names(self) -> list[str] | None:
        """Names of the columns in the table itself; None: `get_feature_name()`, or none at all.

        Columns of a file without header are named after their positions.

        Example:
            >>> import pandas
            >>> frame = pandas.DataFrame({"x": [1.0, 2.0]})
            >>> Dataset(frame, feature_name=["size"]).table_names
            ['x']
        """
        names, found = self.get_feature_name(), self._table_names
        is_told = found == names and names != default_names(len(names))
        return None if found is None or is_told else list(found)

    def get_feature_name(self) -> list[str]:
        """Return the names of the columns; constructs the data set."""
        self.construct()
        assert self._names is not None
        return list(self._names)

    # ---- facts ----

    @property
    def categorical_columns(self) -> list[int]:
        """The categorical columns, increasing; constructs the data set."""
        self.construct()
        return list(self._categorical_columns)

    @property
    def levels(self) -> Levels | None:
        """What the codes of text and categories stand for; constructs the data set.

        Example:
            >>> import pandas
            >>> sizes = pandas.CategoricalDtype(["S", "M", "L"], ordered=True)
            >>> data = Dataset(pandas.DataFrame({"size": ["M", "S", "L"]}, dtype=sizes))
            >>> data.levels.by_column, data.categorical_columns
            ({0: ('S', 'M', 'L')}, [])
        """
        self.construct()
        return self._levels

    @property
    def pandas_categorical(self) -> list[list[Level]] | None:
        """The levels of each column that has some, as LightGBM calls them."""
        levels = self._levels
        return None if levels is None else [list(found) for found in levels.by_column.values()]

    def get_data(self) -> Any:
        """Return the raw data; of files the paths, of frames what is no label, weight, ...

        Raises:
            DataError: If it was freed after binning.
        """
        if self._parent is not None:
            if self._parent._is_in_chunks:
                raise _not_in_memory("get_data() of a subset")
            data, rows = self._parent.get_data(), self.used_indices
            assert rows is not None
            if hasattr(data, "iloc"):  # a pandas frame stays one
                return data.iloc[rows]
            if is_sparse(data) and data.format in ("csr", "csc"):
                return data[rows]
            if self._parent.levels is not None:
                return take_rows_of(data, rows)
            return as_table(data).matrix[rows]
        if self.data is None:
            raise _freed("get_data()")
        return self.data

    def get_params(self) -> dict[str, Any]:
        """Return the parameters that shaped this data set, by canonical name."""
        params = resolve(self.params, context="dataset").to_dict(given_only=True)
        return {name: value for name, value in params.items() if name in BINNING_PARAMS}

    def _bin_params(self) -> dict[str, Any]:
        """Parameters that the bins follow from: those of the data that chose them."""
        if self.reference is not None:
            return self.reference._bin_params()
        return {k: v for k, v in self.get_params().items() if k not in _RAW_PARAMS}

    def num_data(self) -> int:
        """Return the number of rows; constructs the data set."""
        return self.binned.n_rows

    def num_feature(self) -> int:
        """Return the number of columns, constant ones included; constructs the data set."""
        self.construct()
        return self._n_columns

    def describe(self) -> StorageSummary:
        """Return how the columns are stored and what to know about them; constructs.

        Example:
            >>> one_hot = np.eye(4)[np.arange(400) % 4]
            >>> summary = Dataset(one_hot, feature_name=list("abcd")).describe()
            >>> summary.bundles, summary.sparse, summary.conflicts
            ([['a', 'b', 'c', 'd']], [], 0)
        """
        raw = self.data  # which construct() may free
        self.construct()
        columns, times = columns_of(raw, self.get_feature_name())
        findings = find_in_columns(columns, times, self._one_label())
        return describe(self.binned, self.get_feature_name(), findings)

    def _one_label(self) -> npt.NDArray[np.float64] | None:
        """The labels of the rows, if there is one for each."""
        label = self.get_label()
        found = None if label is None else np.asarray(label, np.float64)
        return found if found is not None and found.shape == (self.num_data(),) else None

    def _facts(self) -> dict[str, object]:
        """What to show of it; constructs nothing."""
        if self._binned is None:
            kind = type(self.data).__name__
            return {"data": "freed" if self.data is None else kind, "constructed": "no"}
        facts: dict[str, object] = {"rows": self._binned.n_rows, "columns": self._n_columns}
        if self._categorical_columns:
            facts["categorical"] = len(self._categorical_columns)
        for name in ("label", "weight", "group", "init_score"):
            if getattr(self, name) is not None:
                facts[name] = "yes"
        return facts

    def __repr__(self) -> str:
        return to_line("Dataset", self._facts())

    def _repr_html_(self) -> str:
        facts = self._facts()
        if self._names is not None:
            facts["names"] = shorten(self._names)
        return to_html("Dataset", facts)

    def feature_num_bin(self, feature: int | str) -> int:
        """Return the number of bins of a column, given by its position or name."""
        names = self.get_feature_name()
        if isinstance(feature, str):
            if feature not in names:
                raise DataError(message("there is no such column", got=feature))
            feature = names.index(feature)
        if not 0 <= feature < self._n_columns:
            raise DataError(
                message(
                    "there is no such column", got=feature, expected=f"0..{self._n_columns - 1}"
                )
            )
        return self.binned.n_bins_of(feature)

    def save_binary(self, filename: str | os.PathLike[str]) -> Dataset:
        """Write the binned data set to a file; `Dataset(filename)` reads it.

        Example:
            >>> import tempfile
            >>> path = Path(tempfile.mkdtemp(), "rows.bin")
            >>> data = Dataset([[1.0], [2.0], [3.0]], label=[0, 1, 1]).save_binary(path)
            >>> Dataset(path).construct().get_label()
            array([0., 1., 1.], dtype=float32)
        """
        self.construct()
        content = binary_file.Content(
            self.binned,
            self.get_feature_name(),
            resolve(self._bin_params(), context="dataset"),
            self.label,
            self.weight,
            self.first_scores,
            self.group,
            self.position,
            self._levels,
            self._categorical_columns,
            self.feature_weights,
            self.table_names,
        )
        binary_file.save(Path(filename), content)
        return self


def _is_auto(value: object) -> bool:
    """Whether this is the word "auto"; an array of names must not be compared with it."""
    return isinstance(value, str) and value == "auto"


def _keeps_enough(mine: Params, params: Params) -> bool:
    """Whether a data set keeps the raw values that other parameters ask for."""
    return keeps_raw_values(mine) or not keeps_raw_values(params)


def _not_in_memory(user: str) -> DataError:
    return DataError(
        message(
            f"{user} needs raw values, and files and chunks are never in memory as a whole",
            expected="a table in memory",
            hint="Load it first, for instance with pandas.read_parquet().",
        )
    )


def _freed(action: str) -> DataError:
    return DataError(
        message(
            f"data set used after being freed: {action} needs the raw data",
            hint="Keep it with Dataset(..., free_raw_data=False).",
        )
    )
