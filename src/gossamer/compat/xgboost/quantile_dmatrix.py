"""`QuantileDMatrix`: a `DMatrix` with a number of bins."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.errors import DataError, DataTypeError

# XGBoost's order of the arguments behind data and label, which scripts may give by position.
_ORDER: Final = [
    "weight",
    "base_margin",
    "missing",
    "silent",
    "feature_names",
    "feature_types",
    "nthread",
    "max_bin",
    "ref",
    "group",
    "qid",
    "label_lower_bound",
    "label_upper_bound",
    "feature_weights",
    "enable_categorical",
    "max_quantile_batches",
    "data_split_mode",
]


class QuantileDMatrix(DMatrix):
    """A `DMatrix` with a number of bins; any `DMatrix` is put into bins when it is trained on.

    Args:
        data: As for `DMatrix`.
        label: As for `DMatrix`.
        max_bin: Most bins of a column, unless the parameters of the training say so.
        ref: The training data; which bins are used is decided by the training.
        max_quantile_batches: Has no effect.
        **given: As for `DMatrix`: `weight`, `base_margin`, `missing`, ...

    Example:
        >>> QuantileDMatrix([[1.0], [2.0]], [0, 1], max_bin=16).num_row()
        2
    """

    @partial(warn_of_positions, order=_ORDER)
    def __init__(
        self,
        data: Any,
        label: Any = None,
        *,
        max_bin: int | None = None,
        ref: DMatrix | None = None,
        max_quantile_batches: int | None = None,
        **given: Any,
    ) -> None:
        super().__init__(data, label, **given)
        if ref is not None and not isinstance(ref, DMatrix):
            raise DataTypeError.because("ref is not a DMatrix", got=type(ref).__name__)
        if ref is not None and ref.num_col() != self.num_col():
            raise DataError.because(
                "data and ref have different numbers of features.",
                got=self.num_col(),
                expected=f"{ref.num_col()}, as in ref",
            )
        self.max_bin = max_bin
        self.ref = ref
