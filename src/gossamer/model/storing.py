"""How models are written, read and handed over: the storing part of `Booster`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from gossamer.model import formats
from gossamer.model.dump import dump_model, trees_to_dataframe
from gossamer.model.formats.objects import model_of
from gossamer.model.join import join_models, take_rounds
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

    @abstractmethod
    def _with(self: Self, model: Model) -> Self:
        """Make a booster of a model that was made of this one: with the same parameters."""

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
            format: "gossamer"; "json", the same to be read by people; or another library's format
                (docs/interchange.md).

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

    # ---- to look at ----

    def dump_model(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
        object_hook: Callable[[dict[str, Any]], Any] | None = None,
    ) -> dict[str, Any]:
        """Return the model as nested dicts, with LightGBM's keys (docs/saving.md).

        Args:
            num_iteration: Number of rounds; None: up to the best one, else all; 0 or less: all.
            start_iteration: First round.
            importance_type: Of `feature_importances`, as for `feature_importance`.
            object_hook: Called with every dict, inner ones first; what it returns takes its place.

        Example:
            >>> from gossamer import Dataset, train
            >>> data = Dataset([[float(i)] for i in range(100)], label=[i > 50 for i in range(100)])
            >>> root = train({}, data, 1).dump_model()["tree_info"][0]["tree_structure"]
            >>> root["split_feature"], root["threshold"], root["decision_type"]
            (0, 50.5, '<=')
        """
        model = self._first_rounds(num_iteration, start_iteration)
        return dump_model(model, importance_type, object_hook)

    def trees_to_dataframe(self) -> Any:
        """Return a pandas data frame with a line for every node and leaf, as LightGBM's.

        Raises:
            ImportError: If pandas is not installed.
            DataError: If the model has no trees.
        """
        return trees_to_dataframe(self._first_rounds(-1))

    # ---- parts and sums ----

    def __getitem__(self: Self, rounds: int | slice) -> Self:
        """Return a model of some rounds: `booster[:50]`, `booster[10:20]`, `booster[-1]`.

        What scores start from belongs to the first round: parts of a model add up to the whole.
        The part keeps the parameters; it cannot be trained.

        Raises:
            IndexError: If there is no such round.
            TypeError: If this is neither a number nor a slice.
            ValueError: If a slice has a step.
        """
        return self._with(take_rounds(self._first_rounds(-1), rounds))

    def __iter__(self: Self) -> Iterator[Self]:
        """Return the rounds one by one, each as a model; together they add up to this one."""
        whole = self._first_rounds(-1)
        return (self._with(whole.rounds(i, i + 1)) for i in range(whole.forest.n_rounds))

    def __add__(self: Self, other: object) -> Self:
        """Return a model whose raw scores are those of both added up.

        Raises:
            DataError: If the other's columns, or levels of text and categories, differ.
            NotSupportedError: If scores of one are means (`boosting=rf`).
            ParameterError: If the other's outputs, objective or trees of a round differ.
        """
        if not isinstance(other, Storing):
            return NotImplemented
        return self._with(join_models(self._first_rounds(-1), other._first_rounds(-1)))
