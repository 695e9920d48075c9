"""`ExtMemQuantileDMatrix`: data that does not fit in memory, by XGBoost's name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.quantile_dmatrix import QuantileDMatrix
from gossamer.compat.xgboost.sources import BatchSource, DataIter
from gossamer.compat.xgboost.table import to_csr
from gossamer.data import Dataset
from gossamer.data.categories.levels import Levels
from gossamer.errors import DataTypeError, NotSupportedError
from gossamer.params.check_method import VALUE_METHODS

_DEFAULT_LIMIT: Final = "50%"


class ExtMemQuantileDMatrix(QuantileDMatrix):
    """A `QuantileDMatrix` whose batches are read one at a time, and whose bins may be on disk.

    A training with it has `max_memory="50%"` of the machine's memory unless its parameters say
    otherwise. Bins that fit are in memory, others in a file in the folder of the iterator's
    `cache_prefix`. The model is the same wherever the bins are.

    Args:
        data: Gives the batches, with labels, weights, ...
        missing: A number that means a missing value, in addition to NaN.
        nthread: Has no effect.
        max_bin: Most bins of a column, unless the parameters of the training say so.
        ref: The training data; which bins are used is decided by the training.
        enable_categorical: Whether columns of categories (and of text) are welcome.
        max_quantile_batches: Has no effect.
        cache_host_ratio: Has no effect.

    Example:
        >>> import numpy as np
        >>> class Once(DataIter):
        ...     def reset(self):
        ...         self.left = 1
        ...
        ...     def next(self, input_data):
        ...         if self.left:
        ...             input_data(data=np.eye(3), label=np.arange(3.0))
        ...         self.left -= 1
        ...         return self.left == 0
        >>> data = ExtMemQuantileDMatrix(Once())
        >>> data.num_row(), data.num_col(), data.num_nonmissing(), data.get_label()
        (3, 3, 9, array([0., 1., 2.], dtype=float32))
    """

    def __init__(
        self,
        data: DataIter,
        *,
        missing: float | None = None,
        nthread: int | None = None,
        max_bin: int | None = None,
        ref: DMatrix | None = None,
        enable_categorical: bool = False,
        max_quantile_batches: int | None = None,
        cache_host_ratio: float | None = None,
    ) -> None:
        if not isinstance(data, DataIter):
            raise DataTypeError.because(
                "an ExtMemQuantileDMatrix reads batches",
                got=type(data).__name__,
                expected="a DataIter",
                hint="Use QuantileDMatrix for a table that is in memory.",
            )
        source = BatchSource(data, missing, enable_categorical)
        self._start(source, *source.shape)
        self._source = source
        self._enable_categorical = enable_categorical
        fields = dict(source.fields)
        names = fields.pop("feature_names", None)
        self.feature_names = names if names is not None else source.names
        self.feature_types = fields.pop("feature_types", None)
        self.set_info(**fields)
        self.max_bin, self.ref = max_bin, ref
        prefix = data.cache_prefix
        self.storage = {"max_memory": _DEFAULT_LIMIT}
        if prefix is not None:
            self.storage["cache_dir"] = os.path.dirname(os.path.abspath(prefix))

    def as_train_set(self, params: Mapping[str, Any], levels: Levels | None = None) -> Dataset:
        """Return the data set to train on; see `DMatrix.as_train_set`.

        Raises:
            NotSupportedError: If the method to grow trees needs the values in memory.
        """
        method = params.get("tree_method", "hist")
        if method in VALUE_METHODS:
            raise NotSupportedError.because(
                "Only the `hist` method grows trees on an ExtMemQuantileDMatrix", got=method
            )
        return super().as_train_set(params, levels)

    def num_nonmissing(self) -> int:
        """Return the number of values that are not missing; all batches are read."""
        return sum(int(to_csr(chunk).nnz) for chunk in self._source.read())

    def get_data(self) -> NoReturn:
        """Raise: the values are not in memory."""
        raise _not_in_memory("get_data()")

    def slice(self, rindex: Any, allow_groups: bool = False) -> NoReturn:
        """Raise: the rows are not in memory."""
        raise _not_in_memory("slice()")

    def save_binary(self, fname: str | os.PathLike[str], silent: bool = True) -> NoReturn:
        """Raise: the values are not in memory."""
        raise _not_in_memory("save_binary()")

    def get_quantile_cut(self) -> NoReturn:
        """Raise: the values are not in memory."""
        raise _not_in_memory("get_quantile_cut()")

    def get_categories(self, export_to_arrow: bool = False) -> NoReturn:
        """Raise: the values are not in memory."""
        raise _not_in_memory("get_categories()")


def _not_in_memory(what: str) -> NotSupportedError:
    return NotSupportedError.because(
        f"{what} needs the values in memory, where an ExtMemQuantileDMatrix does not have them",
        expected="a DMatrix or a QuantileDMatrix",
    )
