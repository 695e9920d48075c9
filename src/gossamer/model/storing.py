"""How models are written, read and handed over: the storing part of `Booster`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, TypeVar

from gossamer.model import formats
from gossamer.model.formats.objects import model_of
from gossamer.model.model import Model

Self = TypeVar("Self", bound="Storing")


class Storing(ABC):
    """Files of models, our own and other libraries'."""

    @abstractmethod
    def _first_rounds(self, num_iteration: int | None, start_iteration: int = 0) -> Model:
        """Return the model up to a round."""

    @abstractmethod
    def _become(self, model: Model) -> None:
        """Let go of the data, and be this model."""

    @classmethod
    @abstractmethod
    def _of(cls: type[Self], model: Model) -> Self:
        """Make a booster of a model."""

    @classmethod
    def from_model(cls: type[Self], model: Any) -> Self:
        """Take over a trained model of another library (docs/interchange.md).

        Args:
            model: The other library's model or estimator.

        Raises:
            ParameterError: If it is of no library that is known.
            NotSupportedError: If it has something that trees here do not have.
        """
        return cls._of(model_of(model))

    def save_model(
        self: Self,
        filename: str | os.PathLike[str],
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
        format: str = "gossamer",
    ) -> Self:
        """Write the model to a file (docs/model_format.md).

        Args:
            filename: Path; a file that is there is replaced in one step.
            num_iteration: Number of rounds; None: up to the best one, else all; 0 or less: all.
            start_iteration: First round to save.
            importance_type: Accepted for compatibility; importance is not part of the file.
            format: "gossamer", or another library's format (docs/interchange.md).

        Raises:
            NotSupportedError: If another library's format cannot hold this model.
        """
        formats.save(filename, self._first_rounds(num_iteration, start_iteration), format)
        return self

    def model_to_string(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
        format: str = "gossamer",
    ) -> str:
        """Return the model as text, for `Booster(model_str=...)`; see `save_model`."""
        return formats.to_text(self._first_rounds(num_iteration, start_iteration), format)

    def model_from_string(self: Self, model_str: str) -> Self:
        """Become the model that `model_to_string` wrote, or another library's text."""
        self._become(formats.from_text(model_str))
        return self

    def to_onnx(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        raw_score: bool = False,
        dtype: str = "float64",
    ) -> Any:
        """Return the model as ONNX's `ModelProto`, which `onnx.save` writes.

        `save_model(path, format="onnx")` writes a file at once. It needs the onnx package:
        `pip install "gossamer[onnx]"`.

        Args:
            num_iteration: Number of rounds; None: up to the best one, else all; 0 or less: all.
            start_iteration: First round.
            raw_score: Whether the output is the raw score, not the prediction.
            dtype: "float64", or "float32": the type of the input, of sums and of the output.

        Raises:
            NotSupportedError: If the model has something that ONNX has not.
        """
        from gossamer.model.formats.onnx import to_onnx

        model = self._first_rounds(num_iteration, start_iteration)
        return to_onnx(model, dtype=dtype, raw_score=raw_score)

    def to_treelite(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        raw_score: bool = False,
    ) -> Any:
        """Return the model as a `treelite.Model`, which Treelite's compilers and others take.

        `save_model(path, format="treelite")` writes its file. It needs the treelite package:
        `pip install "gossamer[treelite]"`.

        Args:
            num_iteration: Number of rounds; None: up to the best one, else all; 0 or less: all.
            start_iteration: First round.
            raw_score: Whether it predicts raw scores.

        Raises:
            NotSupportedError: If the model has something that Treelite has not.
        """
        from gossamer.model.formats.treelite import to_treelite

        return to_treelite(self._first_rounds(num_iteration, start_iteration), raw_score)
