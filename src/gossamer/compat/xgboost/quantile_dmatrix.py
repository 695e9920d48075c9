"""`QuantileDMatrix`: a `DMatrix` with a number of bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.positional import warn_of_positions


class QuantileDMatrix(DMatrix):
    """A `DMatrix` with a number of bins; any `DMatrix` is put into bins when it is trained on.

    Args:
        data: As for `DMatrix`.
        label: As for `DMatrix`.
        weight: As for `DMatrix`.
        base_margin: As for `DMatrix`.
        missing: As for `DMatrix`.
        silent: Has no effect.
        feature_names: As for `DMatrix`.
        feature_types: As for `DMatrix`.
        nthread: Has no effect.
        max_bin: Most bins of a column, unless the parameters of the training say so.
        ref: The training data; which bins are used is decided by the training.
        group: As for `DMatrix`.
        qid: As for `DMatrix`.
        label_lower_bound: As for `DMatrix`.
        label_upper_bound: As for `DMatrix`.
        feature_weights: As for `DMatrix`.
        enable_categorical: As for `DMatrix`.
        max_quantile_batches: Has no effect.
        data_split_mode: Has no effect.

    Example:
        >>> QuantileDMatrix([[1.0], [2.0]], [0, 1], max_bin=16).num_row()
        2
    """

    @warn_of_positions
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
        max_bin: int | None = None,
        ref: DMatrix | None = None,
        group: Any = None,
        qid: Any = None,
        label_lower_bound: Any = None,
        label_upper_bound: Any = None,
        feature_weights: Any = None,
        enable_categorical: bool = False,
        max_quantile_batches: int | None = None,
        data_split_mode: Any = 0,
    ) -> None:
        super().__init__(
            data,
            label,
            weight=weight,
            base_margin=base_margin,
            missing=missing,
            feature_names=feature_names,
            feature_types=feature_types,
            group=group,
            qid=qid,
            label_lower_bound=label_lower_bound,
            label_upper_bound=label_upper_bound,
            feature_weights=feature_weights,
            enable_categorical=enable_categorical,
        )
        self.max_bin = max_bin
        self.ref = ref
