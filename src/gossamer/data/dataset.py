"""`Dataset`: a table, its labels and its weights, binned when first needed.

Once it is built, what the user gave it is released; `built_data` returns what it was built to.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gossamer.arguments import as_path, check_count, check_flags
from gossamer.data.builders.from_subset import sorted_rows
from gossamer.data.built import BuiltData, GivenRows
from gossamer.data.categories.levels import Levels
from gossamer.data.labels.row_fields import known_field, shown_field
from gossamer.data.lazy import LazyData
from gossamer.data.request import is_auto
from gossamer.data.summary import to_line
from gossamer.data.table.columns import Level
from gossamer.errors import DataError, DataTypeError
from gossamer.params import BINNING_PARAMS, Params, resolve
from gossamer.params.given import as_dict

if TYPE_CHECKING:
    from gossamer.data.describe import StorageSummary


def _field(name: str, what: str) -> Any:
    """Return an attribute: a field as it was given, or as it was checked by `construct()`."""
    return property(
        lambda self: self._lazy.field(name),
        lambda self, values: self._lazy.set_field(name, values),
        doc=what,
    )


def _of_lazy(name: str, what: str, *, settable: bool = False) -> Any:
    """Return an attribute that `LazyData` has under a name of its own."""
    return property(
        lambda self: getattr(self._lazy, name),
        (lambda self, value: setattr(self._lazy, name, value)) if settable else None,
        doc=what,
    )


class Dataset:
    """A table with labels, ready for training.

    Nothing is read until `construct()`, which `train()` calls. The table is then binned and, unless
    `free_raw_data=False`, released.

    Args:
        data: The table, rows x columns: a NumPy array of numbers or a scipy.sparse matrix (neither
            is copied), a list of rows, or a data frame (pandas, polars, pyarrow). Columns of
            frames, lists and object arrays may contain text or categories. Other tables are read in
            chunks and are never in memory as a whole: the path of a file (Parquet, Feather, Arrow,
            CSV, LibSVM, or written by `save_binary`), a pattern, a folder or a list of paths
            (weights and other fields are read from files next to it, such as `train.csv.weight`);
            one or several `Sequence`s; a list of arrays or frames, which are concatenated; or a
            function that returns such chunks.
        label: One number per row, or rows x targets. For frames and files, it can be the name of a
            column or a list of names; so can `weight`, `group` and `query` (then a column of ids),
            `init_score` and `position`. Such columns are not features.
        reference: For validation data: the training data, whose bins are used.
        weight: One number >= 0 per row.
        group: For ranking: the number of rows of each query. For [3, 5, ...], the first 3 rows
            belong to the first query, the next 5 to the second, and so on.
        init_score: Scores to start from: one per row, or rows x classes.
        feature_name: Names of the columns. "auto" uses the names of a data frame, or Column_0, ...
        categorical_feature: Names or positions of the categorical columns; numbers in them are
            codes. "auto" uses columns of text and of categories, except ordered categories. A list
            must include all text columns; columns of categories that are not listed are used as
            numbers.
        params: Parameters such as `max_bin`.
        free_raw_data: Whether to release `data` after binning.
        position: For ranking: where each row was shown, a number or a name per row.
        query: Instead of `group`: the id of the query of each row. The rows of a query must be
            contiguous.

    Example:
        >>> data = Dataset([[1.0, 7.0], [2.0, 8.0], [3.0, 9.0]], label=[0, 1, 1])
        >>> data.construct().num_data(), data.num_feature(), data.get_feature_name()
        (3, 2, ['Column_0', 'Column_1'])
    """

    @check_flags
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
        fields = {
            "label": label,
            "weight": weight,
            "init_score": init_score,
            "group": group,
            "query": query,
            "position": position,
        }
        if reference is not None and not isinstance(reference, Dataset):
            raise DataTypeError.because("reference must be a Dataset", got=reference)
        self._reference = reference
        self._lazy: LazyData = LazyData(
            data,
            fields,
            feature_name,
            categorical_feature,
            as_dict(params),
            free_raw_data,
            None if reference is None else reference._lazy,
        )

    data = _of_lazy("given", "The raw data, without labels, ... once constructed; None: released.")
    params = _of_lazy("params", "The parameters, as given.", settable=True)
    free_raw_data = _of_lazy("free_raw_data", "Whether to release raw data.", settable=True)
    categorical_feature = _of_lazy("categorical", "What was passed as `categorical_feature`.")
    used_indices = _of_lazy("rows", "The rows of a `subset()`, increasing; None: not a subset.")
    version = _of_lazy("version", "How often fields were set.")
    label = _field("label", "The labels; float32 once constructed.")
    weight = _field("weight", "The weights, or None; float32 once constructed.")
    init_score = _field("init_score", "The scores to start from, or None.")
    group = _field("group", "The number of rows of each query, or None; int32 once constructed.")
    query = _field("query", "The ids of queries; None once constructed: see `group`.")
    position = _field("position", "Where each row was shown, or None.")
    feature_weights = _field("feature_weights", "How likely each column is to be drawn, or None.")

    def construct(self) -> Dataset:
        """Bin the table and check all fields. A second call does nothing.

        Raises:
            DataError: If the table, the labels, the weights or another field cannot be used.
        """
        self._lazy.build()
        return self

    @property
    def reference(self) -> Dataset | None:
        """The data set whose bins are used, or None."""
        return self._reference

    # ---- fields ----

    def set_field(self, field_name: str, data: Any) -> Dataset:
        """Set "label", "weight", "init_score", "group" (sizes), "query" (ids) or "position".

        "feature_weights" has one number >= 0 per column: its weight when features are sampled.
        """
        self._lazy.set_field(field_name, data)
        return self

    def get_field(self, field_name: str) -> npt.NDArray[Any] | None:
        """Return "label", "weight", "init_score", "position" or "feature_weights", or None.

        "group" returns the first row of each query, followed by the number of rows. "position"
        returns positions as numbers in the order of their first rows, as LightGBM does.
        """
        name = known_field(field_name)
        return shown_field(name, self._lazy.build().field(name))

    def set_label(self, label: Any) -> Dataset:
        """Set the labels: one number per row, or rows x targets."""
        return self.set_field("label", label)

    def get_label(self) -> Any:
        """Return the labels; float32 once constructed."""
        return self.label

    def set_weight(self, weight: Any) -> Dataset:
        """Set the weights, one number >= 0 per row; None means weight 1 for every row."""
        return self.set_field("weight", weight)

    def get_weight(self) -> Any:
        """Return the weights, or None; float32 once constructed."""
        return self.weight

    def set_init_score(self, init_score: Any) -> Dataset:
        """Set the scores to start from; None means the best constant."""
        return self.set_field("init_score", init_score)

    def get_init_score(self) -> Any:
        """Return the scores to start from, or None."""
        return self.init_score

    def set_group(self, group: Any) -> Dataset:
        """Set the number of rows of each query; None means no queries."""
        return self.set_field("group", group)

    def get_group(self) -> Any:
        """Return the number of rows of each query, or None; int32 once constructed."""
        if self.query is not None:
            self.construct()
        return self.group

    def set_query(self, query: Any) -> Dataset:
        """Set the query of each row by its id. The rows of a query must be contiguous.

        Example:
            >>> from gossamer import Dataset
            >>> data = Dataset([[1.0], [2.0], [3.0]]).set_query(["a", "a", "b"]).construct()
            >>> data.get_group()
            array([2, 1], dtype=int32)
        """
        return self.set_field("query", query)

    def set_position(self, position: Any) -> Dataset:
        """Set where each row was shown, a number or a name per row; None means unknown."""
        return self.set_field("position", position)

    def get_position(self) -> Any:
        """Return where each row was shown, or None."""
        return self.position

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
        return type(self)(
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
        """Make a data set of some of the rows, with the same bins.

        If rows belong to queries, only whole queries can be selected.

        Args:
            used_indices: Numbers of the rows, from 0.
            params: Parameters to change for the new data set.
        """
        rows = sorted_rows(used_indices)
        subset = type(self)(
            None,
            reference=self,
            params=self._lazy.all_params() if params is None else params,
            free_raw_data=self.free_raw_data,
        )
        subset._lazy.parent, subset._lazy.rows = self._lazy, rows
        return subset

    def add_features_from(self, other: Dataset) -> Dataset:
        """Add the columns of another data set with the same rows; labels and other fields do not
        change.

        Both data sets must be constructed. Validation data needs the additional columns too, from
        data that refers to `other`.

        Args:
            other: The data set whose columns are added. It does not change.

        Raises:
            DataError: If one of them is not constructed, they differ in rows or in what is missing,
                or they have columns of the same name.

        Example:
            >>> left = Dataset([[1.0], [2.0]], feature_name=["a"]).construct()
            >>> right = Dataset([[5.0], [4.0]], feature_name=["b"]).construct()
            >>> left.add_features_from(right).get_feature_name()
            ['a', 'b']
        """
        if not isinstance(other, Dataset):
            raise DataTypeError.because("this is not a Dataset", got=type(other).__name__)
        added = other._lazy.built
        if self._lazy.built is None or added is None:
            raise DataError.because(
                "a data set is not constructed",
                found="the other" if added is None else "this one",
                hint="Call construct() on both before add_features_from().",
            )
        self._lazy.add_columns(added)
        return self

    def set_reference(self, reference: Dataset) -> Dataset:
        """Use the bins of another data set. Not possible once the raw data is released."""
        check_dataset(reference, "reference")
        if reference is not self and reference is not self._reference:
            self._lazy.set_reference(reference._lazy)
            self._reference = reference
        return self

    def get_ref_chain(self, ref_limit: int = 100) -> set[Dataset]:
        """Return this data set, its reference, the reference's reference, ..."""
        check_count(ref_limit, "ref_limit", least=0)
        chain: list[Dataset] = []
        head: Dataset | None = self
        while head is not None and head not in chain and len(chain) < ref_limit:
            chain.append(head)
            head = head.reference
        return set(chain)

    # ---- columns ----

    def set_categorical_feature(
        self, categorical_feature: Sequence[str | int] | str | None
    ) -> Dataset:
        """Set the categorical columns by name or position. "auto" chooses them by type.

        Raises:
            DataError: If the columns differ from those in use, and the table is already binned and
                was released.
        """
        self._lazy.set_categorical(categorical_feature)
        return self

    def set_feature_name(self, feature_name: Sequence[str] | Literal["auto"]) -> Dataset:
        """Set the names of the columns."""
        if not is_auto(feature_name):
            self._lazy.set_names(feature_name)
        return self

    @property
    def feature_name(self) -> Sequence[str] | Literal["auto"]:
        """The argument `feature_name`; once constructed, the names of the columns."""
        built = self._lazy.built
        return self._lazy.names if built is None else built.names

    def get_feature_name(self) -> list[str]:
        """Return the names of the columns. Constructs the data set."""
        return self._lazy.build().names

    # ---- facts ----

    @property
    def categorical_columns(self) -> list[int]:
        """The categorical columns, in increasing order. Constructs the data set."""
        return list(self._lazy.build().columns.categorical)

    @property
    def levels(self) -> Levels | None:
        """The meaning of the codes of text and categories. Constructs the data set.

        Example:
            >>> import pandas
            >>> sizes = pandas.CategoricalDtype(["S", "M", "L"], ordered=True)
            >>> data = Dataset(pandas.DataFrame({"size": ["M", "S", "L"]}, dtype=sizes))
            >>> data.levels.by_column, data.categorical_columns
            ({0: ('S', 'M', 'L')}, [])
        """
        return self._lazy.build().columns.levels

    @property
    def pandas_categorical(self) -> list[list[Level]] | None:
        """The levels of each column that has levels, under LightGBM's name."""
        built = self._lazy.built
        levels = None if built is None else built.columns.levels
        return None if levels is None else [list(found) for found in levels.by_column.values()]

    def get_data(self) -> Any:
        """Return the raw data: the paths of files, and frames without labels, weights and other
        fields.

        Raises:
            DataError: If the raw data was released after binning.
        """
        return self._lazy.get_data()

    def get_params(self) -> dict[str, Any]:
        """Return the parameters of this data set, by canonical name."""
        params = resolve(self._lazy.all_params(), context="dataset")
        given = params.to_dict(given_only=True).items()
        own = {name: value for name, value in given if name in BINNING_PARAMS}
        return own if self.reference is None else {**own, **self.reference.get_params()}

    def num_data(self) -> int:
        """Return the number of rows. Constructs the data set."""
        return self._lazy.build().n_rows

    def num_feature(self) -> int:
        """Return the number of columns, including constant ones. Constructs the data set."""
        return self._lazy.build().n_columns

    def describe(self) -> StorageSummary:
        """Return how the columns are stored and what to know about them. Constructs the data set.

        Example:
            >>> one_hot = np.eye(4)[np.arange(400) % 4]
            >>> summary = Dataset(one_hot, feature_name=list("abcd")).describe()
            >>> summary.bundles, summary.sparse, summary.conflicts
            ([['a', 'b', 'c', 'd']], [], 0)
        """
        from gossamer.data.describe import describe  # takes its time

        raw = self.data  # which building may free
        return describe(self._lazy.build(), raw)

    def __repr__(self) -> str:
        return to_line("Dataset", self._lazy.facts())

    def _repr_html_(self) -> str:
        from gossamer.data.card import to_card  # only notebooks wait for it

        return to_card(self._lazy.facts(), self._lazy.built)

    def feature_num_bin(self, feature: int | str) -> int:
        """Return the number of bins of a column, given by its position or name."""
        return self._lazy.build().n_bins_of(feature)

    def save_binary(self, filename: str | os.PathLike[str]) -> Dataset:
        """Write the binned data set to a file; `Dataset(filename)` reads it.

        Example:
            >>> import tempfile
            >>> path = tempfile.mkdtemp() + "/rows.bin"
            >>> data = Dataset([[1.0], [2.0], [3.0]], label=[0, 1, 1]).save_binary(path)
            >>> Dataset(path).construct().get_label()
            array([0., 1., 1.], dtype=float32)
        """
        self._lazy.save(as_path(filename))
        return self


def built_data(
    data: Dataset,
    params: Params | None = None,
    reference: Dataset | None = None,
    *,
    for_training: bool = False,
) -> BuiltData:
    """Return what a data set was built to, which is built now if need be.

    Args:
        data: The data set.
        params: Parameters of a training: those about bins must not come too late.
        reference: Training data whose bins it must have.
        for_training: Whether trees are to be grown on it, not only evaluated.

    Raises:
        DataError: If it cannot be built, or is built already in another way and the raw data is
            released.

    Example:
        >>> built = built_data(Dataset([[1.0], [2.0], [3.0]], label=[0, 1, 1]))
        >>> built.n_rows, built.names, built.targets.label
        (3, ['Column_0'], array([0., 1., 1.], dtype=float32))
    """
    found = None if reference is None else reference._lazy
    built = data._lazy.build_for(params, found, for_training=for_training)
    if reference is not None and reference is not data:
        data._reference = reference
    return built


def check_dataset(data: object, name: str = "train_set", expected: str = "") -> None:
    """Raise if this is not a `Dataset`."""
    if not isinstance(data, Dataset):
        got, expected = type(data).__name__, expected or "Dataset(data, label=...)"
        raise DataTypeError.because(f"{name} must be a Dataset", got=got, expected=expected)


def given_rows(data: Dataset) -> GivenRows | None:
    """Return the user's table of a data set; None where it is released or never was.

    Example:
        >>> given_rows(Dataset([[1.0], [2.0]])).data
        [[1.0], [2.0]]
    """
    return data._lazy.given_rows()


def subset_with_table(
    data: Dataset, rows: npt.NDArray[np.int64], table: GivenRows | None
) -> Dataset:
    """Return a subset that knows the user's table though `data` has released it, until built."""
    subset = data.subset(rows)
    if table is not None:
        subset._lazy.table = table.take(np.sort(rows))
    return subset
