"""`lightgbm.basic`: data sets, boosters and the error class."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import gossamer.data
import gossamer.model
from gossamer.arguments import as_path
from gossamer.callbacks import EvalResult
from gossamer.compat.lightgbm.conflicts import read_params
from gossamer.compat.lightgbm.data_set import Dataset
from gossamer.compat.lightgbm.shown_params import loaded_params
from gossamer.data import Sequence
from gossamer.errors import GossamerError
from gossamer.logger import register_logger, warn
from gossamer.objectives.binary import any_label

# Every error that Gossamer raises on purpose is one of these.
LightGBMError = GossamerError

__all__ = [
    "Booster",
    "Dataset",
    "EvalResult",
    "LGBMDeprecationWarning",
    "LightGBMError",
    "Sequence",
    "register_logger",
]


class LGBMDeprecationWarning(FutureWarning):
    """LightGBM's warning about what it will remove."""


class Booster(gossamer.model.Booster):
    """A model whose text is LightGBM's; see `gossamer.Booster` for everything else.

    Args:
        params: Parameters of the training.
        train_set: Training data.
        model_file: Path of a saved model.
        model_str: Text of a saved model.

    Example:
        >>> data = Dataset([[float(i)] for i in range(100)], range(100))
        >>> booster = Booster({"verbosity": -1}, data)
        >>> booster.update()
        False
        >>> booster.model_to_string().splitlines()[:2]
        ['tree', 'version=v4']
    """

    text_format: ClassVar[str] = "lightgbm"

    def __init__(
        self,
        params: Mapping[str, Any] | None = None,
        train_set: gossamer.data.Dataset | None = None,
        model_file: str | os.PathLike[str] | None = None,
        model_str: str | None = None,
    ) -> None:
        """Start a training, or load a model."""
        given = read_params(params) or {}
        with any_label():
            mine = None if train_set is None else given
            super().__init__(mine, train_set, model_file, model_str)
        if train_set is None:
            if given:
                warn("Ignoring params: the saved model's parameters are used.")
            text = model_str if model_file is None else as_path(model_file).read_bytes()
            self.params = {**given, **self.params, **loaded_params(text)}

    @any_label()
    def add_valid(self, data: gossamer.data.Dataset, name: str) -> gossamer.model.Booster:
        """Add a validation set; see `gossamer.Booster.add_valid`."""
        return super().add_valid(data, name)

    def feature_name(self) -> list[str]:
        """Return the names of the columns; as in LightGBM, white space is an underscore."""
        return ["_".join(name.split()) or "_" for name in super().feature_name()]

    @property
    def valid_sets(self) -> list[gossamer.data.Dataset]:
        """The validation sets, until the data is freed."""
        return [] if self.training is None else [scored.given for scored in self.training.valid]

    @classmethod
    def adopt(cls, booster: gossamer.model.Booster) -> Booster:
        """Return the same model, training included, as one of this class."""
        if isinstance(booster, cls):
            return booster
        adopted = cls.__new__(cls)
        vars(adopted).update(vars(booster))
        return adopted
