"""`DMatrix`: a table with labels, weights, ..., by XGBoost's names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.arguments import as_list, check_flags
from gossamer.compat.xgboost import binary_file
from gossamer.compat.xgboost.categories import Categories, recode
from gossamer.compat.xgboost.fields import check_field, check_rows, read_feature_weights
from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.quantile_cuts import quantile_cuts
from gossamer.compat.xgboost.sources import DataIter, collect, read_file
from gossamer.compat.xgboost.table import (
    categorical_columns,
    check_array,
    check_feature_names,
    check_finite,
    check_numeric,
    choose_types,
    names_of,
    read_table,
    shape_of,
    take_rows,
    to_csr,
    to_dense,
)
from gossamer.cuda.arrays import to_host
from gossamer.data import Dataset, as_table
from gossamer.data.categories.levels import Levels
from gossamer.data.dataset import built_data
from gossamer.data.labels.queries import check_group, check_query, take_queries
from gossamer.data.table.sparse import is_sparse
from gossamer.errors import DataError
from gossamer.params import BINNING_PARAMS

Array = npt.NDArray[Any]

# What there is one of per row, by XGBoost's names.
_BY_ROW: Final = ("label", "weight", "base_margin", "label_lower_bound", "label_upper_bound")
# XGBoost's bins of a column.
DEFAULT_MAX_BIN: Final = 256
_TYPES: Final = ("int", "i", "float", "q", "c")


class DMatrix:
    """A table with all that belongs to its rows.

    The table is not copied (unless `missing` is a number that occurs in it), so it must not be
    changed while the `DMatrix` is in use. Absent entries of sparse tables are missing, as in
    XGBoost; so are zeros that are stored in them.

    Args:
        data: Rows x columns: an array, a scipy.sparse matrix, a data frame, a list of rows, a
            `DataIter`, or a text file: "train.txt?format=libsvm",
            "train.csv?format=csv&label_column=0".
        label: One number per row, or rows x targets.
        weight: One number >= 0 per row; for ranking also one per query.
        base_margin: Scores to start from: one per row, or rows x classes.
        missing: A number that means missing, in addition to NaN.
        silent: Has no effect.
        feature_names: Names of the columns; by default a frame's own.
        feature_types: Per column "c" (codes of categories), or "q", "float", "int", "i" (numbers).
        nthread: Has no effect: threads are a parameter of the training.
        group: Rows of each query.
        qid: The query of each row; rows of a query are contiguous.
        label_lower_bound: Lower bound of the time, for `survival:aft`.
        label_upper_bound: Upper bound of the time.
        feature_weights: Per column how likely it is to be drawn when columns are sampled.
        enable_categorical: Whether columns of categories (and of text) are welcome.
        data_split_mode: Has no effect.

    Example:
        >>> data = DMatrix([[1.0, -1.0], [2.0, 5.0]], label=[0, 1], missing=-1)
        >>> data.num_row(), data.num_col(), data.num_nonmissing(), data.get_label()
        (2, 2, 3, array([0., 1.], dtype=float32))
    """

    @warn_of_positions
    @check_flags
    def __init__(
        self,
        data: Any,
        label: Any = None,
        *,
        weight: Any = None,
        base_margin: Any = None,
        missing: float | None = None,
        silent: bool = False,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        nthread: int | None = None,
        group: Any = None,
        qid: Any = None,
        label_lower_bound: Any = None,
        label_upper_bound: Any = None,
        feature_weights: Any = None,
        enable_categorical: bool = False,
        data_split_mode: Any = 0,
    ) -> None:
        given = {
            "label": label,
            "weight": weight,
            "base_margin": base_margin,
            "group": group,
            "qid": qid,
            "label_lower_bound": label_lower_bound,
            "label_upper_bound": label_upper_bound,
            "feature_weights": feature_weights,
            "feature_names": feature_names,
            "feature_types": feature_types,
        }
        if isinstance(data, DataIter):
            data, own = collect(data)
            given |= own
        elif isinstance(data, (str, os.PathLike)):
            data, own = read_file(data)
            given |= own
        table = recode(read_table(data, missing), feature_types)
        check_finite(table, missing)
        self._start(table, *shape_of(table))
        if not enable_categorical:
            check_numeric(table)
            check_array(table)
        self._enable_categorical = enable_categorical
        names = given.pop("feature_names")
        self.feature_names = names if names is not None else names_of(table)
        self.feature_types = choose_types(given.pop("feature_types"), table)
        self.set_info(**given)

    def _start(self, table: Any, n_rows: int, n_columns: int) -> None:
        self._table = table
        self._n_rows, self._n_columns = n_rows, n_columns
        self._names: list[str] | None = None
        self._types: list[str] | None = None
        self.max_bin: int | None = None
        # Our parameters about memory, where a training's parameters do not say otherwise.
        self.storage: dict[str, str] = {}
        self._enable_categorical = False
        self.fields: dict[str, Array] = {}
        self.query_sizes: Array | None = None
        self._feature_weights: Array | None = None
        self._train_set: Dataset | None = None
        self._train_set_params: dict[str, Any] = {}

    @classmethod
    def from_dataset(cls, data: Dataset) -> DMatrix:
        """Return what functions of the user's are shown of a data set: its fields, no table."""
        found = cls.__new__(cls)
        found._start(None, data.num_data(), data.num_feature())
        margin = data.get_init_score()
        for name, values in (("weight", data.weight), ("base_margin", margin)):
            if values is not None:
                found.fields[name] = values
        label, found.query_sizes = data.label, data.group
        if label is not None:
            found.fields["label"] = label
            if label.ndim == 2 and label.shape[1] == 2:
                found.fields["label_lower_bound"] = label[:, 0]
                found.fields["label_upper_bound"] = label[:, 1]
        return found

    # ---- fields ----

    @warn_of_positions
    def set_info(
        self,
        *,
        label: Any = None,
        weight: Any = None,
        base_margin: Any = None,
        group: Any = None,
        qid: Any = None,
        label_lower_bound: Any = None,
        label_upper_bound: Any = None,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        feature_weights: Any = None,
    ) -> None:
        """Set what is given; see the constructor.

        Raises:
            DataError: If something has not one number per row, or cannot be used.
        """
        if group is not None and qid is not None:
            raise DataError.because(
                "queries are given twice", found="group and qid", expected="one of the two"
            )
        if group is not None:
            self.query_sizes = check_group(to_host(group), self._n_rows)
        if qid is not None:
            self.query_sizes = check_query(to_host(qid), self._n_rows)
        given = {
            "label": label,
            "weight": weight,
            "base_margin": base_margin,
            "label_lower_bound": label_lower_bound,
            "label_upper_bound": label_upper_bound,
        }
        for name, values in given.items():
            if values is not None:
                values = to_host(values)
                self.fields[name] = check_field(name, values, self._n_rows, self.query_sizes)
        if feature_names is not None:
            self.feature_names = feature_names
        if feature_types is not None:
            self.feature_types = feature_types
        if feature_weights is not None:
            self._feature_weights = read_feature_weights(feature_weights, self._n_columns)
        if self._train_set is not None:
            self._update(self._train_set)

    def _update(self, data: Dataset) -> None:
        """Bring the fields of a data set up to date; its bins stay."""
        now = {
            "label": self.label_or_bounds(),
            "weight": self.fields.get("weight"),
            "init_score": self.fields.get("base_margin"),
            "group": self.query_sizes,
            "feature_weights": self._feature_weights,
        }
        for name, values in now.items():
            if values is not None:
                data.set_field(name, values)

    def set_label(self, label: Any) -> None:
        """Set the labels."""
        self.set_info(label=label)

    def set_weight(self, weight: Any) -> None:
        """Set the weights of rows or, for ranking, of queries."""
        self.set_info(weight=weight)

    def set_base_margin(self, margin: Any) -> None:
        """Set the scores to start from."""
        self.set_info(base_margin=margin)

    def set_group(self, group: Any) -> None:
        """Set the number of rows of each query."""
        self.set_info(group=group)

    def set_float_info(self, field: str, data: Any) -> None:
        """Set a field by name: label, weight, base_margin, label_lower_bound, ..."""
        self.set_info(**{_known(field, (*_BY_ROW, "feature_weights")): data})

    def set_uint_info(self, field: str, data: Any) -> None:
        """Set "group" or "qid"."""
        self.set_info(**{_known(field, ("group", "qid")): data})

    def get_float_info(self, field: str) -> Array:
        """Return a field by name; empty: it was not set."""
        if _known(field, (*_BY_ROW, "feature_weights")) == "feature_weights":
            found = self._feature_weights
        else:
            found = self.fields.get(field)
        return np.empty(0, dtype=np.float32) if found is None else found.astype(np.float32)

    def get_uint_info(self, field: str) -> Array:
        """Return "group_ptr": where queries begin, and behind the last one the number of rows."""
        _known(field, ("group_ptr",))
        sizes = self.get_group()
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32) if len(sizes) else sizes

    def get_label(self) -> Array:
        """Return the labels as float32; empty: there are none."""
        return self.get_float_info("label")

    def get_weight(self) -> Array:
        """Return the weights as float32; empty: there are none."""
        return self.get_float_info("weight")

    def get_base_margin(self) -> Array:
        """Return the scores to start from as float32; empty: there are none."""
        return self.get_float_info("base_margin")

    def get_group(self) -> Array:
        """Return the number of rows of each query; empty: rows are not grouped."""
        return np.empty(0, dtype=np.uint32) if self.query_sizes is None else self.query_sizes.copy()

    # ---- columns ----

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns; None: they have none."""
        return None if self._names is None else list(self._names)

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        if names is not None:
            names = check_feature_names(names, self._n_columns)
        self._names, self._train_set = names, None

    @property
    def feature_types(self) -> list[str] | None:
        """Types of the columns; None: they were not given."""
        return None if self._types is None else list(self._types)

    @feature_types.setter
    def feature_types(self, types: Sequence[str] | None) -> None:
        if types is not None:
            types = (
                [types] * self._n_columns
                if isinstance(types, str)
                else as_list("feature_types", types)
            )
            wrong = [each for each in types if not (isinstance(each, str) and each in _TYPES)]
            if wrong or len(types) != self._n_columns:
                raise DataError.because(
                    "feature_types cannot be used",
                    got=wrong[0] if wrong else types,
                    expected=f"{self._n_columns} of {', '.join(_TYPES)}",
                )
        self._types, self._train_set = types, None

    # ---- facts ----

    def num_row(self) -> int:
        """Return the number of rows."""
        return self._n_rows

    def num_col(self) -> int:
        """Return the number of columns."""
        return self._n_columns

    def num_nonmissing(self) -> int:
        """Return the number of values that are not missing."""
        table = self.user_table()
        if is_sparse(table):
            values = table.data
            return int((~np.isnan(values) & (values != 0)).sum())
        return int(to_csr(table).nnz)

    def get_data(self) -> Any:
        """Return the values that are not missing: compressed rows of float32, as XGBoost does.

        Categories are their codes.

        Example:
            >>> data = DMatrix([[1.0, np.nan], [0.0, 2.0]]).get_data()
            >>> data.data, data.indices
            (array([1., 0., 2.], dtype=float32), array([0, 0, 1], dtype=int32))
        """
        return to_csr(self.user_table())

    def user_table(self) -> Any:
        """Return the table as it was given, with NaN where it has `missing`.

        Raises:
            DataError: In functions that `cv` calls, which are shown labels and the like only.
        """
        if self._table is None:
            raise DataError.because("only labels, weights and the like can be read here")
        return self._table

    @property
    def is_sparse(self) -> bool:
        """Whether the table is sparse, so that absent entries are missing."""
        return is_sparse(self._table)

    def slice(self, rindex: Any, allow_groups: bool = False) -> DMatrix:
        """Return some of the rows.

        Args:
            rindex: Rows, from 0.
            allow_groups: Whether rows of queries may be taken: whole queries, in their order.

        Raises:
            DataError: If there are queries and `allow_groups` is false, or a row does not exist.
        """
        rows = check_rows(rindex, self._n_rows)
        if self.query_sizes is not None and not allow_groups:
            raise DataError.because("slice() would divide queries", hint="Pass allow_groups=True.")
        found = type(self).__new__(type(self))
        found._start(take_rows(self.user_table(), rows), len(rows), self._n_columns)
        found._names, found._types, found.max_bin = self._names, self._types, self.max_bin
        found._enable_categorical = self._enable_categorical
        found.fields = {name: values[rows] for name, values in self.fields.items()}
        found._feature_weights = self._feature_weights
        if self.query_sizes is not None:
            found.query_sizes = take_queries(self.query_sizes, rows)
        return found

    def save_binary(self, fname: str | os.PathLike[str], silent: bool = True) -> None:
        """Write the table and its fields to a file that `DMatrix(fname)` reads.

        Args:
            fname: Path of the file.
            silent: Has no effect.

        Raises:
            NotSupportedError: If the table is a frame with categories or text.
        """
        fields: dict[str, Any] = dict(self.fields)
        fields |= {"group": self.query_sizes, "feature_weights": self._feature_weights}
        given = {name: values for name, values in fields.items() if values is not None}
        binary_file.save(fname, self.user_table(), given, self._names, self._types)

    def get_quantile_cut(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
        """Return the upper bounds of the bins of all columns.

        Returns:
            Where the bounds of each column begin, and the bounds. The last bound of a column is
            above its largest value.

        Example:
            >>> begin, bounds = DMatrix([[1.0], [2.0], [3.0]]).get_quantile_cut()
            >>> begin, bounds.round(3)
            (array([0, 4], dtype=uint64), array([-0. ,  1.5,  2.5,  6. ], dtype=float32))
        """
        most = self._train_set_params.get("max_bin", self.max_bin) or DEFAULT_MAX_BIN
        params = {"max_bin": most, "min_data_in_bin": 1, "verbosity": -1}
        table = self.user_table()
        binning = built_data(self._make(table, None, params)).table.binning
        return quantile_cuts(binning, to_csr(table).tocsc())

    def get_categories(self, export_to_arrow: bool = False) -> Categories:
        """Return the categories of each column.

        Args:
            export_to_arrow: Whether they are wanted as arrays of pyarrow.
        """
        levels = as_table(self.user_table()).levels
        return Categories.of(levels, self._names, self._n_columns, export_to_arrow)

    # ---- for training ----

    def as_train_set(self, params: Mapping[str, Any], levels: Levels | None = None) -> Dataset:
        """Return the data set to train on; made once for the same kind of bins.

        Args:
            params: Our parameters of the training.
            levels: Of a model to continue from, whose categories have other codes.
        """
        is_ranking = str(params.get("objective")).startswith("rank:")
        wanted = {name: params[name] for name in BINNING_PARAMS if name in params}
        # With other bins it is another data set: some training may still use this one.
        if self._train_set is None or levels is not None or self._train_set_params != wanted:
            self._train_set = self._make(recode(self.user_table(), levels), None, wanted)
            self._train_set_params = wanted
        if is_ranking and self.query_sizes is None:
            self._train_set.set_group(self.one_query())
        return self._train_set

    def as_valid_set(self, train_set: Dataset, has_zeros: bool) -> Dataset:
        """Return the data set to evaluate on.

        Args:
            train_set: What is trained on.
            has_zeros: Whether zeros are values there, and absent entries must be made missing.
        """
        table = recode(self.user_table(), train_set.levels)
        found = to_dense(table) if has_zeros and self.is_sparse else table
        valid_set = self._make(found, train_set, {})
        if self.query_sizes is None and train_set.group is not None:
            valid_set.set_group(self.one_query())
        return valid_set

    def _make(self, table: Any, reference: Dataset | None, params: dict[str, Any]) -> Dataset:
        columns = categorical_columns(self._types, table) if reference is None else "auto"
        data = Dataset(
            table,
            self.label_or_bounds(),
            reference=reference,
            weight=self.fields.get("weight"),
            group=self.query_sizes,
            init_score=self.fields.get("base_margin"),
            feature_name="auto" if self._names is None else self._names,
            categorical_feature=columns,
            params=params,
            free_raw_data=False,
        )
        if self._feature_weights is not None:
            data.set_field("feature_weights", self._feature_weights)
        return data

    def one_query(self) -> Array:
        """Return all rows as one query: what ranking takes them for where none are given."""
        return check_group([self._n_rows], self._n_rows)

    def label_or_bounds(self) -> Array | None:
        """The labels; bounds of times, where there are some, are two columns."""
        bounds = [self.fields.get(f"label_{end}_bound") for end in ("lower", "upper")]
        given = [bound for bound in bounds if bound is not None]
        if len(given) == 1:
            raise DataError.because(
                "only one of label_lower_bound and label_upper_bound is given", expected="both"
            )
        return np.column_stack(given) if given else self.fields.get("label")


def _known(field: str, fields: Sequence[str]) -> str:
    if isinstance(field, str) and field in fields:
        return field
    raise DataError.because("there is no such field", got=field, expected=", ".join(fields))
