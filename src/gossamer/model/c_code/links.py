"""How raw scores become predictions, in C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gossamer.errors import NotSupportedError
from gossamer.model.c_code.text import number
from gossamer.objectives import CustomWithLink, Gaussian, Objective, SeveralTargets

# Parts of links.c.
PARTS: Final = ("EXP", "SIGMOID", "EXPM1", "SOFTPLUS")
# What is made of a score alone.
_EACH: Final = {
    "exp": ("MODEL_exp({0})", {"EXP"}),
    "bounded_exp": ("MODEL_exp({0} > -708.0 ? {0} : -708.0)", {"EXP"}),
    "expm1": ("MODEL_expm1({0})", {"EXP", "EXPM1"}),
    "signed_square": ("{0} * ({0} < 0.0 ? -{0} : {0})", set()),
    "sigmoid": ("MODEL_sigmoid({0}, {1})", {"EXP", "SIGMOID"}),
    "softplus": ("MODEL_softplus({0})", {"EXP", "SOFTPLUS"}),
    "sign": ("{0} > 0.0 ? 1.0 : 0.0", set()),
    "custom sigmoid": ("MODEL_sigmoid({0}, 1.0)", {"EXP", "SIGMOID"}),
    "custom identity": ("{0}", set()),
    # NumPy's own: the C library's functions may differ from them in the last bit.
    "custom exp": ("exp({0})", set()),
    "custom softplus": ("{0} > 0.0 ? {0} + log1p(exp(-{0})) : log1p(exp({0}))", set()),
}
_NOT_EXACT: Final = ("custom exp", "custom softplus")
_SOFTMAX: Final = """\
  double top = score[0], sum = 0.0;
  int64_t k;
  for (k = 1; k < MODEL_N_OUTPUTS; ++k) top = score[k] > top ? score[k] : top;
  for (k = 0; k < MODEL_N_OUTPUTS; ++k) sum += MODEL_exp(score[k] - top);
  for (k = 0; k < MODEL_N_OUTPUTS; ++k) out[k] = MODEL_exp(score[k] - top) / sum;"""
_ARGMAX: Final = """\
  int64_t k, best = 0;
  for (k = 1; k < MODEL_N_OUTPUTS; ++k) {
    if (score[k] > score[best] || (score[k] != score[k] && score[best] == score[best])) best = k;
  }
  out[0] = (double)best;"""
_SORT: Final = """\
  int64_t k, place;
  for (k = 0; k < MODEL_N_OUTPUTS; ++k) {
    for (place = k; place > 0 && out[place - 1] > score[k]; --place) out[place] = out[place - 1];
    out[place] = score[k];
  }"""


@dataclass(frozen=True)
class CLink:
    """A link in C.

    Attributes:
        body: What `MODEL_link` does; None: it is a function of Python's, which C does not have.
        parts: The parts of links.c that it needs.
        is_exact: Whether it gives the same bits as `Objective.to_predictions`.
        shape: The shape of a prediction.
    """

    body: str | None
    parts: frozenset[str]
    is_exact: bool
    shape: tuple[int, ...]


def make_link(objective: Objective) -> CLink:
    """Return the link of an objective.

    Raises:
        NotSupportedError: If C has no such link.

    Example:
        >>> from gossamer.objectives import objective_from_config
        >>> make_link(objective_from_config({"name": "hinge"})).body
        '  out[0] = score[0] > 0.0 ? 1.0 : 0.0;'
    """
    k = objective.n_outputs
    if not objective.has_link:
        return CLink(_for_each("score[k]"), frozenset(), True, (k,) if k > 1 else ())
    if isinstance(objective, CustomWithLink) and callable(objective.link):
        return CLink(None, frozenset(), False, ())
    shape = np.shape(objective.to_predictions(np.zeros(k), 1))[1:]
    link = _link(objective)
    if link in ("softmax", "custom softmax"):
        return CLink(_SOFTMAX, frozenset({"EXP"}), True, shape)
    if link == "argmax":
        return CLink(_ARGMAX, frozenset(), True, shape)
    if link == "sorted":
        return CLink(_SORT, frozenset(), True, shape)
    if isinstance(objective, Gaussian):
        floor = number(objective.floor)
        body = (
            "  const double low = score[1] > LOW || score[1] != score[1] ? score[1] : LOW;\n"
            "  out[0] = score[0];\n"
            "  out[1] = MODEL_exp(low > -708.0 ? low : -708.0);"
        ).replace("LOW", floor)
        return CLink(body, frozenset({"EXP"}), True, shape)
    if isinstance(objective, SeveralTargets):
        return _several(objective.parts, shape)
    expression, parts = _expression(objective)
    if k == 1:
        body = f"  out[0] = {expression.format('score[0]', *_steepness(objective))};"
    else:
        body = _for_each(expression.format("score[k]", *_steepness(objective)))
    return CLink(body, frozenset(parts), link not in _NOT_EXACT, shape)


def _several(objectives: tuple[Objective, ...], shape: tuple[int, ...]) -> CLink:
    lines, needed, is_exact = [], set[str](), True
    for k, part in enumerate(objectives):
        score = f"score[{k}]"
        if part.has_link:
            expression, parts = _expression(part)
            lines.append(f"  out[{k}] = {expression.format(score, *_steepness(part))};")
            needed |= parts
            is_exact &= _link(part) not in _NOT_EXACT
        else:
            lines.append(f"  out[{k}] = {score};")
    return CLink("\n".join(lines), frozenset(needed), is_exact, shape)


def _link(objective: Objective) -> str:
    if isinstance(objective, CustomWithLink):
        return f"custom {objective.link or 'identity'}"
    return objective.traits.link


def _expression(objective: Objective) -> tuple[str, Any]:
    link = _link(objective)
    if link not in _EACH:
        raise NotSupportedError.because(
            f"the predictions of objective={objective.name} are not known in C",
            found=f"the link {link}",
            expected=f"one of {', '.join(_EACH)}",
        )
    return _EACH[link]


def _steepness(objective: Objective) -> tuple[str, ...]:
    return (number(objective.sigmoid),)


def _for_each(expression: str) -> str:
    return f"  int64_t k;\n  for (k = 0; k < MODEL_N_OUTPUTS; ++k) out[k] = {expression};"
