"""XGBoost's models, from the parsed file to ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.table.names import check_names, default_names
from gossamer.errors import GossamerError, NotSupportedError
from gossamer.model.files.check import check_forest
from gossamer.model.formats import no_model
from gossamer.model.formats.xgboost_array import read_array, read_int
from gossamer.model.formats.xgboost_levels import read_levels
from gossamer.model.formats.xgboost_objective import params_of, read_objective, to_margin
from gossamer.model.formats.xgboost_trees import TreeReader
from gossamer.model.model import Model
from gossamer.tree import Forest

# A file that does not name its columns may say that there are so many, or as many as its bytes.
_MOST_COLUMNS: Final = 2**22
_MOST_OUTPUTS: Final = 2**16


@dataclass(frozen=True)
class Facts:
    """What XGBoost's files have in addition to the model.

    Attributes:
        attributes: Text by name: `best_iteration`, `best_score`, the user's own.
        feature_types: Types of the columns; None: the file does not say them.
    """

    attributes: dict[str, str]
    feature_types: list[str] | None


def read_with(loads: Callable[[bytes], Any], content: bytes, source: str) -> tuple[Model, Facts]:
    """Parse a file, make a model of it, and check all of it; see `read_document`."""
    try:
        document = loads(content)
    except RecursionError:
        raise no_model(source, "XGBoost", "it is nested too deep") from None
    except ValueError as error:
        raise no_model(source, "XGBoost", error) from None
    return read_document(document, source, len(content))


def read_document(document: Any, source: str, size: int) -> tuple[Model, Facts]:
    """Make a model of a parsed file, and check all of it.

    Args:
        document: What the file holds.
        source: Where it is from, for errors.
        size: Bytes of the file; it cannot ask for much more memory than that.

    Raises:
        ModelFileError: If it is damaged.
        NotSupportedError: If it has what trees here do not have.
    """
    try:
        if "Model" in document:  # with the parameters of the training, as in pickles
            document = document["Model"]
        version = document.get("version", [])
        return _read(
            document["learner"], is_recent=bool(len(version) and version[0] >= 3), size=size
        )
    except NotSupportedError:
        raise
    except KeyError as error:
        raise no_model(source, "XGBoost", f"{error} is missing") from None
    except GossamerError as error:
        raise no_model(source, "XGBoost", str(error).rstrip(".")) from None
    except (AttributeError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise no_model(source, "XGBoost", error) from None


def _read(learner: Any, *, is_recent: bool, size: int) -> tuple[Model, Facts]:
    param = learner["learner_model_param"]
    most = max(_MOST_COLUMNS, size)
    n_columns = read_int(param, "num_feature", 0, most)
    n_outputs = max(
        read_int(param, "num_class", 0, _MOST_OUTPUTS, 0),
        read_int(param, "num_target", 0, _MOST_OUTPUTS, 1),
        1,
    )
    objective = read_objective(learner["objective"], n_outputs)
    names = _texts(learner, "feature_names", n_columns)
    types = _texts(learner, "feature_types", n_columns)
    booster, drop = _booster_of(learner["gradient_booster"])
    levels = read_levels(booster.get("cats", {}), n_columns)
    start = _start(param, learner["objective"]["name"], n_outputs, is_recent)
    n_categories = {c: len(names) for c, names in levels.by_column.items()} if levels else {}
    reader = TreeReader(n_columns, _n_values(booster["trees"], n_outputs), n_categories, size)
    forest = _forest(booster, drop, n_outputs, reader)
    check_forest(forest)
    model = Model(
        objective,
        default_names(n_columns) if names is None else check_names(names, n_columns),
        start,
        forest,
        params_of(objective),
        levels,
    )
    attributes = learner.get("attributes", {})
    if not all(isinstance(value, str) for value in attributes.values()):
        raise ValueError("an attribute is not text")
    return model, Facts(dict(attributes), types)


def _texts(learner: Any, name: str, n_columns: int) -> list[str] | None:
    """Return one text for each column; None: there are none."""
    found = learner.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"{name} must be text")
    if len(found) not in (0, n_columns):
        raise ValueError(f"there are {len(found)} {name} of {n_columns} columns")
    return found or None


def _booster_of(found: Any) -> tuple[Any, Any]:
    """Return the trees, and what dart has multiplied each of them with."""
    name = found["name"]
    if name == "dart":
        return found["gbtree"]["model"], found
    if name != "gbtree":
        raise NotSupportedError.because(
            "the XGBoost model has no trees",
            got=f"booster={name}",
            expected="booster=gbtree or dart",
            hint="A linear model is a weighted sum of columns: NumPy predicts it.",
        )
    return found["model"], None


def _start(param: Any, objective: str, n_outputs: int, is_recent: bool) -> npt.NDArray[np.float64]:
    text = str(param.get("base_score", "0.5")).strip()
    found = np.array([float(each) for each in text.strip("[]").split(",")], dtype=np.float32)
    if len(found) not in (1, n_outputs) or not np.isfinite(found).all():
        raise ValueError("base_score is not a number for each output")
    start = to_margin(objective, found, is_bounded=is_recent)
    return np.repeat(start, n_outputs) if len(start) < n_outputs else start


def _forest(booster: Any, drop: Any, n_outputs: int, reader: TreeReader) -> Forest:
    trees = booster["trees"]
    n_trees = len(trees)
    factors = np.ones(n_trees)
    if drop is not None:
        factors = read_array(drop, "weight_drop", np.float32, n_trees).astype(np.float64)
    n_parallel, order = _order(booster, n_trees, n_outputs // reader.n_values)
    read = reader.read(trees, factors)
    return Forest.from_trees([read[t] for t in order], n_outputs, reader.n_columns, n_parallel)


def _n_values(trees: Any, n_outputs: int) -> int:
    """Return the number of values per leaf: 1, or one for each output."""
    if not isinstance(trees, list) or not all(isinstance(tree, dict) for tree in trees):
        raise ValueError("trees are not a list of objects")
    sizes = {
        max(read_int(tree.get("tree_param", {}), "size_leaf_vector", 0, _MOST_OUTPUTS, 1), 1)
        for tree in trees
    }
    if not sizes <= {n_outputs} and not sizes <= {1}:
        raise ValueError("leaves have other numbers of values than there are outputs")
    return max(sizes, default=1)


def _order(booster: Any, n_trees: int, n_groups: int) -> tuple[int, npt.NDArray[np.int64]]:
    """Return the trees of each output in a round, and the order in which they stand here.

    In a round of XGBoost's, all trees of an output are contiguous; here there is a tree for each
    output, then the next set.
    """
    param = booster.get("gbtree_model_param", {})
    n_parallel = max(read_int(param, "num_parallel_tree", 0, max(n_trees, 1), 1), 1)
    group = read_array(booster, "tree_info", np.int64, n_trees)
    if ((group < 0) | (group >= n_groups)).any():
        raise ValueError("a tree is of an output that is not there")
    per_round = n_groups * n_parallel
    is_regular = n_trees % per_round == 0
    if is_regular and "iteration_indptr" in booster:
        begins = read_array(booster, "iteration_indptr", np.int64)
        is_regular = np.array_equal(begins, np.arange(0, n_trees + 1, per_round))
    if is_regular:
        rounds = group.reshape(-1, per_round)
        order = np.argsort(rounds, axis=1, kind="stable")
        expected = np.repeat(np.arange(n_groups), n_parallel)
        is_regular = (np.take_along_axis(rounds, order, axis=1) == expected).all()
    if not is_regular:
        raise NotSupportedError.because(
            "rounds of the XGBoost model have different numbers of trees",
            expected=f"{n_parallel} for each of {n_groups} outputs in every round",
            hint="Train all rounds with the same num_parallel_tree.",
        )
    sets = order.reshape(-1, n_groups, n_parallel).swapaxes(1, 2).reshape(-1, per_round)
    return n_parallel, (sets + np.arange(len(sets))[:, None] * per_round).ravel()
