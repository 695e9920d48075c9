"""Methods of `Booster` that write it, or hand it over, as functions of a trained model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gossamer.arguments import as_path, check_flags
from gossamer.errors import ParameterError
from gossamer.files import write_atomically
from gossamer.model import formats
from gossamer.model.model import Model
from gossamer.model.prediction.predict import as_number

if TYPE_CHECKING:
    from gossamer.model.c_code import CompiledModel
    from gossamer.model.trained_model import TrainedModel

Trained = TypeVar("Trained", bound="TrainedModel")


def save_model(
    booster: Trained,
    filename: str | os.PathLike[str],
    num_iteration: int | None = None,
    start_iteration: int = 0,
    importance_type: str | None = None,
    format: str | None = None,
) -> Trained:
    """Write the model to a file (docs/model_format.md).

    Args:
        filename: Path. An existing file is replaced in one step. The extension determines the
            format: .json, .txt (LightGBM), .ubj (XGBoost), .onnx, .tl (Treelite) or .c. All others,
            such as .gsm, mean Gossamer's own format.
        num_iteration: Number of rounds; None means up to the best one, or all if there is none; 0
            or less means all.
        start_iteration: First round to save.
        importance_type: The importance in a LightGBM file, "split" or "gain"; other formats do not
            contain it. None uses the parameter `saved_feature_importance_type`.
        format: "gossamer", or another format by name, whatever the extension (docs/interchange.md).

    Raises:
        NotSupportedError: If another library's format cannot represent this model.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from gossamer import Booster, Dataset, train
        >>> model = train({}, Dataset([[float(i)] for i in range(100)], range(100)), 2)
        >>> path = Path(tempfile.mkdtemp(), "model.txt")
        >>> model.save_model(path)  # doctest: +ELLIPSIS
        <Booster: ...>
        >>> path.read_text().splitlines()[0], Booster(model_file=path).num_trees()
        ('tree', 2)
    """
    model = booster.used_model(num_iteration, start_iteration)
    if format is None and formats.format_of(filename) is None:
        format = booster.text_format
    importance_type = _importance(booster, importance_type)
    formats.save(filename, model, format, importance_type, _listed(booster))
    return booster


def _importance(booster: TrainedModel, asked: str | None) -> str:
    if asked is not None:
        return asked
    return "gain" if booster.resolved_params.saved_feature_importance_type else "split"


def _listed(booster: TrainedModel) -> Mapping[str, Any] | None:
    """Return what LightGBM's section of parameters is to say; None: what the model keeps."""
    return booster.params if booster.text_format == "lightgbm" else None


def model_to_string(
    booster: TrainedModel,
    num_iteration: int | None = None,
    start_iteration: int = 0,
    importance_type: str | None = None,
    format: str | None = None,
) -> str:
    """Return the model as text, for `Booster(model_str=...)`; see `save_model`."""
    model = booster.used_model(num_iteration, start_iteration)
    found = booster.text_format if format is None else format
    importance_type = _importance(booster, importance_type)
    return formats.to_text(model, found, importance_type, _listed(booster))


@check_flags
def to_c(
    booster: TrainedModel,
    path: str | os.PathLike[str] | None = None,
    num_iteration: int | None = None,
    start_iteration: int = 0,
    name: str = "gossamer_model",
    header: bool = False,
) -> str:
    """Return the model as C source that predicts the same bits (docs/deploying.md).

    Args:
        path: A file to write the source to; None writes no file.
        num_iteration: Number of rounds; None means up to the best one, or all if there is none; 0
            or less means all.
        start_iteration: First round to use.
        name: Prefix of the function names.
        header: Whether to return (and write) a header that declares the functions instead.

    Raises:
        ParameterError: If the name is not a valid C name, or there is no such first round.
        NotSupportedError: If the model is too large.
    """
    from gossamer.model.c_code import c_header, c_source

    model = _rounds_to_compile(booster, num_iteration, start_iteration)
    text = c_header(model, name) if header else c_source(model, name)
    if path is not None:
        write_atomically(as_path(path), text.encode("ascii"))
    return text


def compile(
    booster: TrainedModel,
    path: str | os.PathLike[str] | None = None,
    compiler: str | os.PathLike[str] | Sequence[str] | None = None,
    flags: Sequence[str] | None = None,
    num_iteration: int | None = None,
    start_iteration: int = 0,
    name: str = "gossamer_model",
) -> CompiledModel:
    """Compile the model to a shared library, and load it (docs/deploying.md).

    Args:
        path: Where to store the library; None uses a temporary file.
        compiler: A C compiler with gcc's options; None means $CC, cc, gcc or clang.
        flags: Options of the compiler; None means ["-O3"].
        num_iteration: Number of rounds; None means up to the best one, or all if there is none; 0
            or less means all.
        start_iteration: First round to use.
        name: Prefix of the function names.

    Raises:
        ParameterError: If the name, the compiler or the first round is not valid.
        NotSupportedError: If there is no compiler, or it fails.
    """
    from gossamer.model.c_code import compile_model

    model = _rounds_to_compile(booster, num_iteration, start_iteration)
    return compile_model(model, path, compiler, flags, name)


def _rounds_to_compile(
    booster: TrainedModel, num_iteration: int | None, start_iteration: int
) -> Model:
    start_iteration = as_number("start_iteration", start_iteration)
    if num_iteration is not None:
        num_iteration = as_number("num_iteration", num_iteration)
    n_rounds = booster.used_model(0).forest.n_rounds
    if not 0 <= start_iteration <= n_rounds:
        raise ParameterError.because(
            "start_iteration is out of range",
            got=start_iteration,
            expected=f"0 to {n_rounds}, the rounds of the model",
        )
    return booster.used_model(num_iteration, start_iteration)


@check_flags
def to_onnx(
    booster: TrainedModel,
    num_iteration: int | None = None,
    start_iteration: int = 0,
    raw_score: bool = False,
    dtype: str = "float64",
) -> Any:
    """Return the model as an ONNX `ModelProto`, which `onnx.save` can write.

    `save_model(path, format="onnx")` writes a file directly. This needs the onnx package: `pip
    install "gossamer[onnx]"`.

    Args:
        num_iteration: Number of rounds; None means up to the best one, or all if there is none; 0
            or less means all.
        start_iteration: First round.
        raw_score: Whether the output is the raw score instead of the prediction.
        dtype: "float64" or "float32": the type of the input, of sums and of the output.

    Raises:
        NotSupportedError: If ONNX cannot represent the model.
    """
    from gossamer.model.formats.onnx import to_onnx as model_to_onnx

    model = booster.used_model(num_iteration, start_iteration)
    return model_to_onnx(model, dtype=dtype, raw_score=raw_score)


@check_flags
def to_treelite(
    booster: TrainedModel,
    num_iteration: int | None = None,
    start_iteration: int = 0,
    raw_score: bool = False,
) -> Any:
    """Return the model as a `treelite.Model`.

    `save_model(path, format="treelite")` writes its file. This needs the treelite package: `pip
    install "gossamer[treelite]"`.

    Args:
        num_iteration: Number of rounds; None means up to the best one, or all if there is none; 0
            or less means all.
        start_iteration: First round.
        raw_score: Whether the model predicts raw scores.

    Raises:
        NotSupportedError: If Treelite cannot represent the model.
    """
    from gossamer.model.formats.treelite import to_treelite as model_to_treelite

    return model_to_treelite(booster.used_model(num_iteration, start_iteration), raw_score)


def dump_model(
    booster: TrainedModel,
    num_iteration: int | None = None,
    start_iteration: int = 0,
    importance_type: str = "split",
    object_hook: Callable[[dict[str, Any]], Any] | None = None,
) -> dict[str, Any]:
    """Return the model as nested dicts, with LightGBM's keys (docs/saving.md).

    Args:
        num_iteration: Number of rounds; None means up to the best one, or all if there is none; 0
            or less means all.
        start_iteration: First round.
        importance_type: Type of `feature_importances`, as for `feature_importance`.
        object_hook: Called with every dict, inner ones first. Its result replaces the dict.

    Example:
        >>> from gossamer import Dataset, train
        >>> data = Dataset([[float(i)] for i in range(100)], label=[i > 50 for i in range(100)])
        >>> root = train({}, data, 1).dump_model()["tree_info"][0]["tree_structure"]
        >>> root["split_feature"], root["threshold"], root["decision_type"]
        (0, 50.5, '<=')
    """
    model = booster.used_model(num_iteration, start_iteration)
    from gossamer.model.inspection.dump import dump_model as dump

    return dump(model, importance_type, object_hook)


def trees_to_dataframe(booster: TrainedModel) -> Any:
    """Return a pandas data frame with a row for every node and leaf, as in LightGBM.

    Raises:
        ImportError: If pandas is not installed.
        DataError: If the model has no trees.
    """
    from gossamer.model.inspection.dump import trees_to_dataframe as nodes_to_dataframe

    return nodes_to_dataframe(booster.used_model(-1))
