"""How models are written, read and handed over: the storing part of `Booster`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from gossamer.errors import ParameterError, message
from gossamer.files import write_atomically
from gossamer.model import formats
from gossamer.model.c_code import CompiledModel, c_header, c_source, compile_model
from gossamer.model.dump import dump_model, trees_to_dataframe
from gossamer.model.formats.objects import model_of
from gossamer.model.join import join_models, take_rounds
from gossamer.model.model import Model
from gossamer.model.predict import as_number

Self = TypeVar("Self", bound="Storing")


class Storing(ABC):
    """Files of models, our own and other libraries'."""

    @abstractmethod
    def used_model(self, num_iteration: int | None, start_iteration: int = 0) -> Model:
        """Return the model up to a round."""

    @abstractmethod
    def _become(self, model: Model) -> None:
        """Release the data, and be this model."""

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
        format: str | None = None,
    ) -> Self:
        """Write the model to a file (docs/model_format.md).

        Args:
            filename: Path; a file that is there is replaced in one step. The ending decides the
                format: .json, .txt (LightGBM), .ubj (XGBoost), .onnx, .tl (Treelite) and .c; all
                others, such as .gsm, are Gossamer's own.
            num_iteration: Number of rounds; None: up to the best one, else all; 0 or less: all.
            start_iteration: First round to save.
            importance_type: The importance in a file of LightGBM: "split" or "gain". Other
                formats hold none.
            format: "gossamer", or another format by name, whatever the ending
                (docs/interchange.md).

        Raises:
            NotSupportedError: If another library's format cannot hold this model.

        Example:
            >>> import tempfile
            >>> from gossamer import Booster, Dataset, train
            >>> model = train({}, Dataset([[float(i)] for i in range(100)], range(100)), 2)
            >>> path = Path(tempfile.mkdtemp(), "model.txt")
            >>> model.save_model(path)  # doctest: +ELLIPSIS
            <Booster: ...>
            >>> path.read_text().splitlines()[0], Booster(model_file=path).num_trees()
            ('tree', 2)
        """
        model = self.used_model(num_iteration, start_iteration)
        formats.save(filename, model, format, importance_type)
        return self

    def model_to_string(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
        format: str = "gossamer",
    ) -> str:
        """Return the model as text, for `Booster(model_str=...)`; see `save_model`."""
        model = self.used_model(num_iteration, start_iteration)
        return formats.to_text(model, format, importance_type)

    def model_from_string(self: Self, model_str: str) -> Self:
        """Become the model that `model_to_string` wrote, or another library's text."""
        self._become(formats.from_text(model_str))
        return self

    def to_c(
        self,
        path: str | os.PathLike[str] | None = None,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        name: str = "gossamer_model",
        header: bool = False,
    ) -> str:
        """Return the model as C source that predicts the same bits (docs/deploying.md).

        Args:
            path: A file to write it to; None: none.
            num_iteration: Number of rounds; None: up to the best one, else all; 0 or less: all.
            start_iteration: First round to use.
            name: What the names of its functions begin with.
            header: Whether to return (and write) a header that declares these functions instead.

        Raises:
            ParameterError: If the name is none of C's, or there is no such first round.
            NotSupportedError: If the model is too large.
        """
        model = self._rounds_to_compile(num_iteration, start_iteration)
        text = c_header(model, name) if header else c_source(model, name)
        if path is not None:
            write_atomically(Path(path), text.encode("ascii"))
        return text

    def compile(
        self,
        path: str | os.PathLike[str] | None = None,
        compiler: str | os.PathLike[str] | Sequence[str] | None = None,
        flags: Sequence[str] | None = None,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        name: str = "gossamer_model",
    ) -> CompiledModel:
        """Compile the model to a shared library, and load it (docs/deploying.md).

        Args:
            path: Where the library is kept; None: in a temporary file.
            compiler: A C compiler with the options of gcc; None: $CC, cc, gcc or clang.
            flags: Its options; None: ["-O3"].
            num_iteration: Number of rounds; None: up to the best one, else all; 0 or less: all.
            start_iteration: First round to use.
            name: What the names of its functions begin with.

        Raises:
            ParameterError: If the name, the compiler or the first round are none.
            NotSupportedError: If there is no compiler, or it fails.
        """
        model = self._rounds_to_compile(num_iteration, start_iteration)
        return compile_model(model, path, compiler, flags, name)

    def _rounds_to_compile(self, num_iteration: int | None, start_iteration: int) -> Model:
        start_iteration = as_number("start_iteration", start_iteration)
        if num_iteration is not None:
            num_iteration = as_number("num_iteration", num_iteration)
        n_rounds = self.used_model(0).forest.n_rounds
        if not 0 <= start_iteration <= n_rounds:
            raise ParameterError(
                message(
                    "start_iteration is out of range",
                    got=start_iteration,
                    expected=f"0 to {n_rounds}, the rounds of the model",
                )
            )
        return self.used_model(num_iteration, start_iteration)

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

        model = self.used_model(num_iteration, start_iteration)
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

        return to_treelite(self.used_model(num_iteration, start_iteration), raw_score)

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
        model = self.used_model(num_iteration, start_iteration)
        return dump_model(model, importance_type, object_hook)

    def trees_to_dataframe(self) -> Any:
        """Return a pandas data frame with a line for every node and leaf, as LightGBM's.

        Raises:
            ImportError: If pandas is not installed.
            DataError: If the model has no trees.
        """
        return trees_to_dataframe(self.used_model(-1))

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
        return self._with(take_rounds(self.used_model(-1), rounds))

    def __iter__(self: Self) -> Iterator[Self]:
        """Return the rounds one by one, each as a model; together they add up to this one."""
        whole = self.used_model(-1)
        return (self._with(whole.rounds(i, i + 1)) for i in range(whole.forest.n_rounds))

    def __add__(self: Self, other: object) -> Self:
        """Return a model whose raw scores are the sum of both models' raw scores.

        Raises:
            DataError: If the other's columns, or levels of text and categories, differ.
            NotSupportedError: If scores of one are means (`boosting=rf`).
            ParameterError: If the other's outputs, objective or trees of a round differ.
        """
        if not isinstance(other, Storing):
            return NotImplemented
        return self._with(join_models(self.used_model(-1), other.used_model(-1)))
