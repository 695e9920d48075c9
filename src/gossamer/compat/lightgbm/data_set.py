"""`lightgbm.Dataset`: what its getters say once it is constructed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import gossamer.data
from gossamer.data.files.file_kinds import kind_of
from gossamer.errors import DataError
from gossamer.logger import warn
from gossamer.params import BINNING_PARAMS

# Parameters that LightGBM does not let change once a data set is constructed.
_FIXED: Final = (
    *BINNING_PARAMS,
    *("feature_pre_filter", "pre_partition", "header", "two_round", "precise_float_parser"),
    *("label_column", "weight_column", "group_column", "ignore_column"),
)


class Dataset(gossamer.data.Dataset):
    """A table with labels; see `gossamer.Dataset`.

    As in LightGBM, weights that are all 1 become None and positions become numbers in
    `construct()`. Parameters about how data is read cannot change afterwards, and
    `get_field()` needs a constructed data set. The first column of a text file is the label,
    unless `label_column` names another one.

    Example:
        >>> data = Dataset([[1.0], [2.0], [3.0]], weight=[1.0, 1.0, 1.0])
        >>> data.get_weight(), data.construct().get_weight()
        ([1.0, 1.0, 1.0], None)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Keep the arguments; see `gossamer.Dataset`."""
        super().__init__(*args, **kwargs)
        self._lazy.fixed_params = _FIXED
        if _has_label_first(self.data) and not isinstance(self.label, str):
            self._lazy.default_params = {"label_column": 0}
        shape = np.shape(self.label) if isinstance(self.label, np.ndarray) else ()
        if shape[1:] == (1,):
            warn("label is a column-vector; LightGBM expects an array of one dimension.")

    @property
    def weight(self) -> Any:
        """The weights, or None; once constructed float32, and None where all are 1."""
        found = super().weight
        return None if self._lazy.built is not None and _are_ones(found) else found

    @weight.setter
    def weight(self, values: Any) -> None:
        self._lazy.set_field("weight", values)

    @property
    def position(self) -> Any:
        """Where each row was shown, or None; once constructed numbers, by their first rows."""
        return super().position if self._lazy.built is None else super().get_field("position")

    @position.setter
    def position(self, values: Any) -> None:
        self._lazy.set_field("position", values)

    def get_field(self, field_name: str) -> npt.NDArray[Any] | None:
        """Return a field of a constructed data set; see `gossamer.Dataset.get_field`.

        Raises:
            DataError: If it is not constructed.
        """
        if self._lazy.built is None:
            raise DataError.because(
                f"get_field({field_name!r}) needs a constructed data set",
                hint="Call construct() first.",
            )
        found = super().get_field(field_name)
        return None if field_name == "weight" and _are_ones(found) else found


def _has_label_first(data: Any) -> bool:
    """Whether this is a file of text: in LightGBM, its first column is the label by default."""
    if not isinstance(data, (str, os.PathLike)) or not Path(data).expanduser().is_file():
        return False
    try:
        return kind_of(Path(data).expanduser()) == "csv"
    except DataError:  # `construct` raises it
        return False


def _are_ones(weight: npt.NDArray[Any] | None) -> bool:
    return weight is not None and bool(np.all(weight == 1))
