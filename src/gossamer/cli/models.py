"""Model files, as the commands read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from gossamer.data.categories.levels import NO_LEVELS
from gossamer.data.table.columns import Level
from gossamer.errors import ModelFileError
from gossamer.model import Booster

# What names of tables end with.
DATA_SUFFIXES: Final = (
    *(".parquet", ".pq", ".feather", ".arrow", ".ipc", ".csv", ".tsv", ".tab", ".psv"),
    *(".svm", ".libsvm", ".svmlight", ".gz", ".bz2", ".xz", ".zst", ".zip", ".jsonl", ".ndjson"),
)


def load_model(path: str) -> Booster:
    """Read a model of any format that is known.

    Raises:
        ModelFileError: If it is damaged, or no model.
        OSError: If it cannot be read.
    """
    if Path(path).suffix.lower() in DATA_SUFFIXES:
        raise ModelFileError.because(
            f"{path!r} looks like data, not like a model",
            hint="The model comes first: gossamer COMMAND MODEL FILE.",
        )
    if Path(path).is_dir():
        raise ModelFileError.because(f"the model {path!r} is a folder", expected="a file")
    try:
        return Booster(model_file=path)
    except UnicodeDecodeError:
        raise ModelFileError.because("the file is not a model", got=path) from None


def text_columns(model: Booster) -> list[str]:
    """Return the columns that were text in training: they are read as text again."""
    levels, names = model.levels or NO_LEVELS, model.feature_name()
    return [names[column] for column in levels.columns if levels.is_text(column)]


def classes_of(model: Booster) -> list[Level] | None:
    """Return what classes 0, 1, ... stand for; None: the model has none."""
    n_classes = model.model.objective.n_classes
    if n_classes < 2:
        return None
    return model.class_names or list(range(n_classes))


def gives_probabilities(model: Booster) -> bool:
    """Whether predictions are probabilities of classes, rather than scores or the classes."""
    objective = model.model.objective
    return objective.n_classes > 0 and objective.traits.gives_probabilities


def output_names(model: Booster, word: str) -> list[str]:
    """Return what each output is called: `word`, or one name for each class or output.

    Example:
        >>> from gossamer import Dataset, train
        >>> params = {"objective": "multiclass", "num_class": 2, "verbosity": -1}
        >>> data = Dataset([[0.0], [1.0]] * 30, [0, 1] * 30)
        >>> output_names(train(params, data, 1), "probability")
        ['probability_0', 'probability_1']
    """
    objective: Any = model.model.objective
    if objective.n_outputs == 1:
        return [word]
    names = classes_of(model) or list(range(objective.n_outputs))
    return [f"{word}_{name}" for name in names]
