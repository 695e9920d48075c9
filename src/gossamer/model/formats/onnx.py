"""ONNX: models are written, for onnxruntime and others (docs/interchange.md).

The input "X" is a table of numbers, rows x columns. Classifiers give "label", the number of the
class, and "probabilities", rows x classes; all other models give "variable", rows x outputs.
"""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np

from gossamer.errors import NotSupportedError, check_choice
from gossamer.model.formats.onnx_graph import Graph
from gossamer.model.formats.onnx_links import add_classes, add_predictions, predicts_classes
from gossamer.model.formats.onnx_trees import add_trees
from gossamer.model.model import Model

_DTYPES: Final = ("float64", "float32")


def write(model: Model) -> bytes:
    """Return the bytes of an ONNX file, of float64.

    Raises:
        ImportError: If the onnx package is not installed.
        NotSupportedError: If the model has something that ONNX has not.
    """
    content: bytes = to_onnx(model).SerializeToString()
    return content


def to_onnx(model: Model, dtype: str = "float64", raw_score: bool = False) -> Any:
    """Return a model as ONNX's `ModelProto`.

    Args:
        model: The model.
        dtype: Type of the input and of all sums: "float64", or "float32", where thresholds are
            such that values of this type take the same way.
        raw_score: Whether the output is the raw score, not the prediction.

    Raises:
        ImportError: If the onnx package is not installed.
        NotSupportedError: If the model has something that ONNX has not.
    """
    check_choice("dtype", dtype, _DTYPES)
    _check(model, dtype)
    graph = Graph(dtype)
    k = model.objective.n_outputs
    score = add_trees(graph, model.forest)
    if model.average_output and model.forest.n_rounds > 1:
        score = graph.op("Div", score, graph.constant(float(model.forest.n_rounds)))
    if model.start.any():
        score = graph.op("Add", score, graph.constant(model.start))
    facts = {"feature_names": json.dumps(model.names)}
    if model.levels:
        facts["levels"] = json.dumps(model.levels.to_json())
    if raw_score or not predicts_classes(model.objective):
        value = score if raw_score else add_predictions(graph, score, model.objective)
        outputs = {graph.name(value, "variable"): (graph.type, ["rows", k])}
        return graph.to_model(model.n_columns, outputs, facts)
    probability = add_predictions(graph, score, model.objective)
    label, probability = add_classes(graph, probability, k)
    outputs = {
        graph.name(label, "label"): (graph.whole, ["rows"]),
        graph.name(probability, "probabilities"): (graph.type, ["rows", max(k, 2)]),
    }
    return graph.to_model(model.n_columns, outputs, facts)


def _check(model: Model, dtype: str) -> None:
    if model.forest.linear is not None:
        raise NotSupportedError.because(
            "linear leaves cannot be written as ONNX",
            hint="Train with linear_tree=False.",
        )
    if model.derived is not None:
        raise NotSupportedError.because(
            "target statistics of categories cannot be written as ONNX",
            hint="Train with cat_target_statistics='off'.",
        )
    if model.n_columns == 0:
        raise NotSupportedError.because("a model without columns cannot be written as ONNX")
    largest = np.abs(model.forest.arrays["leaf_value"]).max(initial=0.0)
    if dtype == "float32" and largest > np.finfo(np.float32).max:
        raise NotSupportedError.because(
            "a leaf is too large for float32", got=largest, hint="Use dtype='float64'."
        )
