"""How raw scores become predictions, as operators of ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gossamer.errors import NotSupportedError
from gossamer.model.formats.onnx_graph import Graph
from gossamer.objectives import Objective, SeveralTargets


def predicts_classes(objective: Objective) -> bool:
    """Whether a label and the probability of each class can be written."""
    traits = objective.traits
    has_probabilities = traits.gives_probabilities or traits.link == "argmax"
    return objective.n_classes > 0 and has_probabilities


def add_predictions(graph: Graph, score: str, objective: Objective) -> str:
    """Add the predictions, rows x outputs, or the probabilities; return their name.

    Raises:
        NotSupportedError: If they are something that only Python can compute.
    """
    if isinstance(objective, SeveralTargets):
        parts = [_part(graph, score, i) for i in range(objective.n_outputs)]
        links = [
            add_predictions(graph, part, own)
            for part, own in zip(parts, objective.parts, strict=True)
        ]
        return str(graph.op("Concat", *links, axis=1))
    link = _LINKS.get(objective.traits.link)
    if link is not None:
        return link(graph, score, objective.to_config())
    raise NotSupportedError.because(
        f"predictions of objective={objective.name} cannot be written as ONNX",
        found=f"the link {objective.traits.link}",
        expected=f"one of {', '.join(_LINKS)}",
        hint="Write raw scores with to_onnx(raw_score=True).",
    )


def add_classes(graph: Graph, probability: str, n_outputs: int) -> tuple[str, str]:
    """Add the label and the probability of each class, two where there is one output."""
    if n_outputs == 1:
        rest = graph.op("Sub", graph.constant(1.0), probability)
        probability = graph.op("Concat", rest, probability, axis=1)
    return str(graph.op("ArgMax", probability, axis=1, keepdims=0)), probability


def _part(graph: Graph, score: str, output: int) -> str:
    index = graph.constant([output], np.int64)
    return str(graph.op("Gather", score, index, axis=1))


def _sigmoid(graph: Graph, score: str, config: dict[str, Any]) -> str:
    slope = config.get("sigmoid", 1.0)
    if slope != 1.0:
        score = graph.op("Mul", score, graph.constant(slope))
    return str(graph.op("Sigmoid", score))


def _softmax(graph: Graph, score: str, config: dict[str, Any]) -> str:
    return str(graph.op("Softmax", score, axis=1))


def _exp(graph: Graph, score: str, config: dict[str, Any]) -> str:
    return str(graph.op("Exp", score))


def _expm1(graph: Graph, score: str, config: dict[str, Any]) -> str:
    """exp(s) - 1 = tanh(s / 2) (exp(s) + 1), which is exact near zero, too."""
    half = graph.op("Tanh", graph.op("Mul", score, graph.constant(0.5)))
    return str(graph.op("Mul", half, graph.op("Add", graph.op("Exp", score), graph.constant(1.0))))


def _softplus(graph: Graph, score: str, config: dict[str, Any]) -> str:
    """max(s, 0) + log(1 + u), u = exp(-|s|); of a small u as u log(1 + u) / ((1 + u) - 1)."""
    one = graph.constant(1.0)
    u = graph.op("Exp", graph.op("Neg", graph.op("Abs", score)))
    w = graph.op("Add", one, u)
    is_one = graph.op("Equal", w, one)
    rest = graph.op("Where", is_one, one, graph.op("Sub", w, one))
    log = graph.op("Where", is_one, one, graph.op("Log", w))
    small = graph.op("Div", graph.op("Mul", log, u), rest)
    return str(graph.op("Add", graph.op("Max", score, graph.constant(0.0)), small))


def _signed_square(graph: Graph, score: str, config: dict[str, Any]) -> str:
    return str(graph.op("Mul", score, graph.op("Abs", score)))


def _sign(graph: Graph, score: str, config: dict[str, Any]) -> str:
    return str(graph.op("Cast", graph.op("Greater", score, graph.constant(0.0)), to=graph.type))


def _sorted(graph: Graph, score: str, config: dict[str, Any]) -> str:
    n = graph.constant([len(config["alphas"])], np.int64)
    return str(graph.op("TopK", score, n, n=2, axis=1, largest=0, sorted=1)[0])


def _gaussian(graph: Graph, score: str, config: dict[str, Any]) -> str:
    floor = graph.constant(config["floor"])
    sigma = graph.op("Exp", graph.op("Max", _part(graph, score, 1), floor))
    return str(graph.op("Concat", _part(graph, score, 0), sigma, axis=1))


def _identity(graph: Graph, score: str, config: dict[str, Any]) -> str:
    return score


def _named(graph: Graph, score: str, config: dict[str, Any]) -> str:
    """The link of a `CustomObjective`."""
    if config["link"] is None:
        raise NotSupportedError.because(
            "the link of the objective is a Python function",
            hint="Write raw scores with to_onnx(raw_score=True).",
        )
    return _BY_NAME[config["link"]](graph, score, config)


_Link = Callable[[Graph, str, dict[str, Any]], str]
_BY_NAME: Final[dict[str, _Link]] = {
    "identity": _identity,
    "exp": _exp,
    "sigmoid": _sigmoid,
    "softmax": _softmax,
    "softplus": _softplus,
}
_LINKS: Final[dict[str, _Link]] = {
    **_BY_NAME,
    "bounded_exp": _exp,
    "expm1": _expm1,
    "argmax": _softmax,  # the label is found from the probabilities
    "sign": _sign,
    "signed_square": _signed_square,
    "sorted": _sorted,
    "normal": _gaussian,
    "named": _named,
}
