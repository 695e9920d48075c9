"""CatBoost's models: JSON files (`save_model(path, format="json")`), and objects in memory."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from gossamer.errors import DataError, ModelFileError, NotSupportedError
from gossamer.model.files.check import check_forest
from gossamer.model.formats import no_model
from gossamer.model.formats.catboost_columns import Columns, finite, read_columns
from gossamer.model.formats.catboost_trees import oblivious_tree, read_branches
from gossamer.model.model import Model
from gossamer.objectives import Objective, objective_from_config
from gossamer.params.traits import Kind
from gossamer.tree import Forest
from gossamer.tree.tree import Tree

_BINARY: Final = b"CBM1"  # how CatBoost's own binary files begin

# Loss with one score per row: our objective.
_ONE_SCORE: Final[dict[str, dict[str, Any]]] = {
    "RMSE": {"name": "regression"},
    "MAE": {"name": "regression_l1"},
    "MAPE": {"name": "mape"},
    "Huber": {"name": "huber"},
    "Quantile": {"name": "quantile"},
    "Expectile": {"name": "expectile"},
    "LogCosh": {"name": "log_cosh"},
    "Poisson": {"name": "poisson"},
    "Tweedie": {"name": "tweedie"},
    "Logloss": {"name": "binary", "sigmoid": 1.0},
    "CrossEntropy": {"name": "cross_entropy"},
    "Focal": {"name": "focal"},
}
# Loss of several targets: the objective of each.
_SEVERAL: Final[dict[str, dict[str, Any]]] = {
    "MultiRMSE": {"name": "regression"},
    "MultiRMSEWithMissingValues": {"name": "regression"},
    "MultiLogloss": {"name": "binary", "sigmoid": 1.0},
    "MultiCrossEntropy": {"name": "cross_entropy"},
}


def matches(content: bytes) -> bool:
    """Whether this looks like a model of CatBoost."""
    if content.startswith(_BINARY):
        return True
    has_trees = b'"oblivious_trees"' in content or b'"trees"' in content
    return content.lstrip()[:1] == b"{" and b'"features_info"' in content and has_trees


def read(content: bytes, source: str) -> Model:
    """Read a JSON file of CatBoost, and check all of it.

    Raises:
        ModelFileError: If it is damaged, or CatBoost's binary format.
        NotSupportedError: If the model has something that trees here do not have.
    """
    if content.startswith(_BINARY):
        raise ModelFileError.because(
            f"{source} is a binary CatBoost file",
            expected="its JSON format",
            hint="Load it with catboost and save it again with format='json'.",
        )
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            return _model(json.loads(content))
    except (NotSupportedError, ModelFileError):
        raise
    except (KeyError, IndexError) as error:
        raise no_model(source, "CatBoost", f"{error} is absent") from None
    except RecursionError:
        raise no_model(source, "CatBoost", "it is nested too deeply") from None
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise no_model(source, "CatBoost", error) from None


def model_of(found: Any) -> Model:
    """Return the model of a trained CatBoost, CatBoostRegressor, -Classifier or -Ranker.

    Raises:
        DataError: If it is not trained.
        NotSupportedError: If the model has something that trees here do not have.
    """
    is_fitted = getattr(found, "is_fitted", None)
    if not callable(is_fitted) or not is_fitted():
        raise DataError.because("this is not a trained CatBoost model", got=type(found).__name__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        found.save_model(str(path), format="json")
        return read(path.read_bytes(), "the model")


def _model(facts: Any) -> Model:
    columns = read_columns(facts["features_info"])
    scale, bias = _scale_and_bias(facts)
    if "oblivious_trees" in facts:
        trees = [oblivious_tree(tree, columns, scale) for tree in _list(facts["oblivious_trees"])]
    else:
        trees = [read_branches(tree, columns, scale) for tree in _list(facts["trees"])]
    k = trees[0].n_values if trees else max(len(bias), 1)
    if any(tree.n_values != k for tree in trees):
        raise ValueError("trees differ in the number of values per leaf")
    if len(bias) not in (1, k):
        raise ValueError("the bias does not fit the values of leaves")
    objective = _objective(_loss_of(facts), k)
    params: dict[str, Any] = {}
    if objective.traits.kind not in (Kind.TARGETS, Kind.CUSTOM):
        params["objective"] = objective.name
    if objective.traits.kind is Kind.MULTICLASS:
        params["num_class"] = k
    return Model(
        objective,
        columns.names,
        np.broadcast_to(np.array(bias), (k,)).copy(),
        _forest(trees, k, columns),
        params,
        columns.levels or None,
    )


def _forest(trees: list[Tree], k: int, columns: Columns) -> Forest:
    forest = Forest.from_trees(trees, k, len(columns.names))
    check_forest(forest)
    return forest


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise ValueError("the trees are not a list")
    return found


def _scale_and_bias(facts: Any) -> tuple[float, list[float]]:
    """Return what trees are multiplied by, and what is added: old files do not say."""
    scale, bias = facts.get("scale_and_bias", (1.0, 0.0))
    return finite(scale), [finite(v) for v in (bias if isinstance(bias, list) else [bias])]


def _loss_of(facts: Any) -> str:
    """Return the name of the loss; "" where the file has none."""
    params = facts.get("model_info", {}).get("params", {})
    if isinstance(params, str):  # of older versions
        params = json.loads(params)
    loss = params.get("loss_function", {})
    return str(loss.get("type", "")) if isinstance(loss, dict) else str(loss).partition(":")[0]


def _objective(loss: str, k: int) -> Objective:
    """Return what makes predictions; all other losses predict raw scores."""
    if loss in _ONE_SCORE:
        if k != 1:
            raise ValueError(f"leaves of the loss {loss} have {k} values")
        return objective_from_config(_ONE_SCORE[loss])
    if loss == "MultiClass":
        return objective_from_config({"name": "multiclass", "num_class": k})
    if loss == "MultiClassOneVsAll":
        return objective_from_config({"name": "multiclassova", "num_class": k, "sigmoid": 1.0})
    if loss in _SEVERAL:
        parts = [_SEVERAL[loss]] * k
        config = parts[0] if k == 1 else {"name": "several_targets", "parts": parts}
        return objective_from_config(config)
    return objective_from_config({"name": "custom", "num_class": k})
