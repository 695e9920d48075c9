"""`LazyData`: what the user gave, until it is built; then a `BuiltData`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from gossamer.cuda.arrays import to_host
from gossamer.data.builders import from_subset
from gossamer.data.builders.build import build
from gossamer.data.built import BuiltData, GivenRows, TakenColumns, freed, not_in_memory
from gossamer.data.categories.categorical import categorical_columns, read_asked
from gossamer.data.chunks.program_source import SequenceSource, find_chunks
from gossamer.data.files import is_binary_dataset
from gossamer.data.labels.queries import check_query
from gossamer.data.labels.row_fields import check_field, known_field
from gossamer.data.request import Request, is_auto
from gossamer.data.table.frames import is_frame, take_rows_of
from gossamer.data.table.matrix import as_table
from gossamer.data.table.names import check_names
from gossamer.data.table.sparse import is_sparse
from gossamer.errors import DataError
from gossamer.logger import warn
from gossamer.params import BINNING_PARAMS, TABLE, Params, resolve
from gossamer.params.check_method import keeps_raw_values

_FIELDS: Final = ("label", "weight", "init_score", "group", "position", "feature_weights")
Names = Sequence[str] | Literal["auto"]
Categorical = Sequence[str | int] | str | None

# Parameters that do nothing where a reference has the bins.
_OF_BINS: Final = frozenset(BINNING_PARAMS) - {"categorical_feature"}


@dataclass(eq=False)
class LazyData:
    """What a user gave, built when first needed, and again after a change of what bins follow from.

    Once it is built, nothing else of what was given is held. Several threads may use it.

    Attributes:
        data: The user's table, or where it is read from.
        fields: Labels, weights, ... by name.
        names: Names of the columns.
        categorical: The categorical columns.
        params: Parameters, as given.
        free_raw_data: Whether to release the table once it is built.
        reference: Training data whose bins are used.
        parent: Of a subset: the data whose rows it takes.
        rows: Of a subset: the rows, increasing.
        table: Of a subset whose parent has released its table: that table, until it is built.
        version: How often fields were set.
        built: What it was built to; None: not built yet.
        fixed_params: Parameters that no training can change once it is built.
        default_params: Parameters that are used where neither these nor a training's say otherwise.
    """

    data: Any
    fields: dict[str, Any]
    names: Names
    categorical: Categorical
    params: dict[str, Any]
    free_raw_data: bool
    reference: LazyData | None = None
    parent: LazyData | None = None
    rows: npt.NDArray[np.int64] | None = None
    table: GivenRows | None = None
    version: int = 0
    built: BuiltData | None = None
    fixed_params: tuple[str, ...] = BINNING_PARAMS
    default_params: Mapping[str, Any] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)

    def __post_init__(self) -> None:
        """Remember the parameters that are the data set's own."""
        self._own_params = dict(self.params)
        self._params_of_trainings: dict[str, Any] = {}
        self._taken: TakenColumns | None = None  # by a build before the last change

    def build(self, params: Params | None = None) -> BuiltData:
        """Return what this is built to, with the parameters of a training if there is one.

        Raises:
            DataError: If it cannot be built, or parameters about bins come too late.
        """
        with self.lock:
            if params is not None:
                self.accept(params)
            if self.built is not None:
                return self.built
            given = {} if params is None else {name: params[name] for name in params.given}
            given = {**self._params_of_trainings, **given}
            given.pop("objective", None)
            built = self._make(given)
            # A path takes no memory, and the bins can be made again.
            if self.free_raw_data and not built.source.is_file:
                built = built.released()
            self.built, self._params_of_trainings = built, given
            self.data, self.fields, self.table = None, {}, None
            return built

    def _make(self, of_trainings: Mapping[str, Any]) -> BuiltData:
        own = params = self._with_defaults(self._own_params)
        if not _are_same(self.params, self._own_params):  # the user has changed them since
            params = self._with_defaults(self.params)
        if of_trainings:
            both = {**params.to_dict(given_only=True), **of_trainings}
            params = resolve(both, context="dataset")
        request = Request(
            self.data, self.fields, self.names, self.categorical, params, own, self._taken
        )
        if self.parent is not None:
            assert self.rows is not None
            return from_subset.build(request, self.parent.build(), self.rows)
        reference = None if self.reference is None else self.reference.build()
        if reference is not None:
            _warn_of_overridden(params, reference.source.params)
        return build(request, reference)

    def _with_defaults(self, given: Mapping[str, Any]) -> Params:
        params = resolve(given, context="dataset")
        missing = {n: v for n, v in self.default_params.items() if n not in params.given}
        return resolve({**given, **missing}, context="dataset") if missing else params

    def save(self, path: Path) -> None:
        """Write the data set to a binary file."""
        from gossamer.data.builders import from_binary  # few data sets are written

        from_binary.save(path, self.build())

    def _unbuild(self) -> None:
        """Become a request again, because of a change after which the bins must be made again."""
        built = self.built
        assert built is not None
        self.fields = {name: built.field(name) for name in _FIELDS}
        self.data, self._taken, self.built = built.given, built.source.taken, None

    def accept(self, params: Params) -> None:
        """Make bins again where parameters of a training ask for others than there are.

        Raises:
            DataError: If so, and the raw data is released.
        """
        built = self.built
        if built is None or self.reference is not None:
            return
        mine = built.source.params
        keeps_enough = keeps_raw_values(mine) or not keeps_raw_values(params)
        changed: list[str] = [
            name
            for name in self.fixed_params
            if name in params.given
            and params[name] != mine[name]
            # Raw values that were kept need not be used.
            and not (TABLE[name].raw_values and keeps_enough)
        ]
        values: Mapping[str, Any] = mine
        asked = read_asked(params.categorical_feature)
        if asked and read_asked(self.categorical) is None:
            # Whatever kind of levels they have: only the columns themselves are compared.
            columns, known = categorical_columns(asked, {}, built.names), built.columns
            if columns != list(known.categorical):
                changed.append("categorical_feature")
                names = [known.names[column] for column in known.categorical]
                values = {**mine, "categorical_feature": names}
        if not changed:
            return
        if self._has_no_raw_data(built):
            raise DataError.because(
                f"{changed[0]} cannot change after the data set is constructed",
                got=params[changed[0]],
                expected=repr(values[changed[0]]),
                hint="Pass it to Dataset(params=...), or use free_raw_data=False.",
            )
        self._unbuild()

    def _has_no_raw_data(self, built: BuiltData) -> bool:
        """Whether the bins cannot be made again; a file of `save_binary` holds bins only."""
        is_gone = built.given is None or self.parent is not None
        return is_gone or built.source.kind == "binary file"

    # ---- fields ----

    def field(self, name: str) -> Any:
        """Return a field as it was given, or as it was checked."""
        if self.built is None:
            return self.fields.get(name)
        return None if name == "query" else self.built.field(name)

    def set_field(self, field_name: str, values: Any) -> None:
        """Set a field; one of built data is checked at once.

        Raises:
            DataError: If it cannot be used, or bins were chosen by the weights before.
        """
        if isinstance(field_name, str) and field_name == "query":
            self._set_query(values)
            return
        name, values = known_field(field_name), to_host(values)
        with self.lock:
            if self.built is not None:
                values = check_field(name, values, self.built.n_rows, self.built.n_columns)
                if name == "weight":
                    self._forget_weighted_bins(self.built)
            if self.built is not None:
                self.built = self.built.with_field(name, values)
            else:
                self.fields[name] = values
                if name == "group":
                    self.fields["query"] = None
            self.version += 1

    def _set_query(self, query: Any) -> None:
        with self.lock:
            if self.built is None:
                self.set_field("group", None)
                self.fields["query"] = query
            else:
                known = None if query is None else check_query(query, self.built.n_rows)
                self.set_field("group", known)

    def _forget_weighted_bins(self, built: BuiltData) -> None:
        """Make bins again that were chosen by the weights, which are about to change.

        Raises:
            DataError: If they cannot be.
        """
        if self.reference is not None or not built.source.params.weighted_bins:
            return
        if self._has_no_raw_data(built):
            raise DataError.because(
                "weights cannot change after bins were chosen by them (weighted_bins)",
                hint="Pass weight to Dataset, or use free_raw_data=False.",
            )
        self._unbuild()

    # ---- columns ----

    def set_reference(self, reference: LazyData) -> None:
        """Use the bins of other data.

        Raises:
            DataError: If this is built with other bins, and the raw data is released.
        """
        with self.lock:
            built = self.built
            if built is not None:
                is_same = built.table.binning.is_same(reference.build().table.binning)
                if not is_same and (built.given is None or self.parent is not None):
                    raise freed("set_reference()")
                if not is_same:
                    self._unbuild()
            self.reference = reference

    def set_categorical(self, categorical: Categorical) -> None:
        """Set the categorical columns.

        Raises:
            DataError: If the bins are made, the raw data released, and these are other columns.
        """
        with self.lock:
            built = self.built
            if built is not None and self.reference is None:
                asked = read_asked(categorical)
                if asked is None and read_asked(self.categorical) is None:
                    return
                is_same = asked is not None and categorical_columns(asked, {}, built.names) == list(
                    built.columns.categorical
                )
                if not is_same:
                    if self._has_no_raw_data(built):
                        raise freed("set_categorical_feature()")
                    self._unbuild()
            self.categorical = categorical

    def set_names(self, names: Sequence[str]) -> None:
        """Set the names of the columns."""
        with self.lock:
            if self.built is not None:
                found = check_names(names, self.built.n_columns)
                self.built = self.built.with_names(found)
            self.names = names

    def add_columns(self, other: BuiltData) -> None:
        """Put the columns of other data behind these; both are built."""
        with self.lock:
            assert self.built is not None
            self.built = from_subset.put_columns_beside(self.built, other)
            self.names, self.parent = self.built.names, None
            self.version += 1

    # ---- trainings ----

    def build_for(
        self, params: Params | None, reference: LazyData | None, *, for_training: bool
    ) -> BuiltData:
        """Return what this is built to for a training, see `built_data`."""
        with self.lock:
            if params is not None:
                self.accept(params)
            if reference not in (None, self, self.reference):
                self.set_reference(reference)
            built = self.build(params)
            if for_training:
                built = self.built = built.trainable()
            return built

    def given_rows(self) -> GivenRows | None:
        """Return the user's table, see `given_rows` of the data set."""
        if self.table is not None:
            return self.table
        if self.parent is not None:
            assert self.rows is not None
            found = self.parent.given_rows()
            return None if found is None else found.take(self.rows)
        data = self.given
        if data is None or is_binary_dataset(data):
            return None
        return GivenRows(data, None, not is_auto(self.names) and self.reference is None)

    # ---- what is given and known ----

    @property
    def given(self) -> Any:
        """The user's table, without labels, ... once it is built; None: it is released."""
        return self.data if self.built is None else self.built.given

    def all_params(self) -> dict[str, Any]:
        """Return the parameters, including those given by the training that it was built for."""
        if self.built is None:
            return dict(self.params)
        return self.built.source.params.to_dict(given_only=True)

    def get_data(self) -> Any:
        """Return the user's table, or of a subset its rows.

        Raises:
            DataError: If it is released.
        """
        if self.parent is None:
            if self.given is None:
                raise freed("get_data()")
            return self.given
        found = self.given_rows()  # before a build releases it
        parent = self.parent.build()
        if found is None or found.rows is None:
            raise freed("get_data()")
        if parent.source.kind == "chunks":
            source = find_chunks(found.data)
            if not isinstance(source, SequenceSource):
                raise not_in_memory("get_data() of a subset")
            return source.take(found.rows)
        if is_sparse(found.data) and found.data.format in ("csr", "csc"):
            return found.data[found.rows]
        if parent.columns.levels is not None or is_frame(found.data):
            return take_rows_of(found.data, found.rows)
        return as_table(found.data).matrix[found.rows]

    def facts(self) -> dict[str, object]:
        """Return what to show of it; builds nothing."""
        built = self.built
        if built is None:
            kind = "freed" if self.data is None else type(self.data).__name__
            return {"data": kind, "constructed": "no"}
        facts: dict[str, object] = {"rows": built.n_rows, "columns": built.n_columns}
        if built.columns.categorical:
            facts["categorical"] = len(built.columns.categorical)
        for name in ("label", "weight", "group", "init_score"):
            if built.field(name) is not None:
                facts[name] = "yes"
        return facts


def _warn_of_overridden(own: Params, of_reference: Params) -> None:
    """Warn of parameters about bins that do nothing, because the reference has the bins."""
    names = [name for name in own.given if name in _OF_BINS]
    overridden = {name: own[name] for name in names if own[name] != of_reference[name]}
    if overridden:
        warn(
            f"Overriding parameters from the reference: got {overridden}, expected "
            f"{ {name: of_reference[name] for name in overridden} }. Its bins are used."
        )


def _are_same(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether parameters are the same objects; arrays among them cannot be compared by value."""
    return some.keys() == others.keys() and all(some[name] is others[name] for name in some)
