"""LightGBM's objectives: the line of the header, and the objective here that predicts alike."""

from __future__ import annotations

from typing import Final

from gossamer.errors import NotSupportedError
from gossamer.objectives import Objective, objective_from_config
from gossamer.objectives.custom import CustomWithLink
from gossamer.objectives.several import SeveralTargets
from gossamer.objectives.square_root import SquareRoot

# Names without parameters in the line.
_PLAIN: Final = (
    "regression",
    "regression_l1",
    "huber",
    "fair",
    "poisson",
    "quantile",
    "mape",
    "gamma",
    "tweedie",
    "cross_entropy",
    "cross_entropy_lambda",
    "lambdarank",
    "rank_xendcg",
)
_OLD_NAMES: Final = {
    "regression_l2": "regression",
    "mean_absolute_percentage_error": "mape",
    "xentropy": "cross_entropy",
    "xentlambda": "cross_entropy_lambda",
}
_LINKS: Final = {
    "exp": "poisson",
    "sigmoid": "cross_entropy",
    "softplus": "cross_entropy_lambda",
}


def read_objective(line: str | None, n_outputs: int) -> Objective:
    """Return the objective of a header line; None: the model was trained with a function.

    Raises:
        ValueError: If it is none of LightGBM's.

    Example:
        >>> read_objective("binary sigmoid:2.5", 1)
        Binary(sigmoid=2.5, weight_negative=1.0, weight_positive=1.0)
    """
    words = (line or "custom").split()
    name = _OLD_NAMES.get(words[0], words[0]) if words else "custom"
    flags = dict(word.partition(":")[::2] for word in words[1:])
    if name in ("custom", "none", "null", "na"):
        return objective_from_config({"name": "custom", "num_class": n_outputs})
    config: dict[str, object] = {"name": name}
    if name in ("binary", "multiclassova"):
        config["sigmoid"] = sigmoid = float(flags.get("sigmoid", "1"))
        if not 0 < sigmoid < float("inf"):
            raise ValueError("sigmoid is out of range")
    if name in ("multiclass", "multiclassova"):
        config["num_class"] = int(flags.get("num_class", "0"))
    elif name not in (*_PLAIN, "binary"):
        raise ValueError(f"the objective {name[:40]!r} is unknown")
    if config.get("num_class", 1) != n_outputs:
        raise ValueError("the number of trees per round does not fit the objective's classes")
    if "sqrt" in flags:
        config = {"name": "reg_sqrt", "objective": name}
    return objective_from_config(config)


def write_objective(objective: Objective) -> str | None:
    """Return the line of an objective; None: LightGBM is to predict raw scores.

    Raises:
        NotSupportedError: If no objective of LightGBM's predicts the same from the scores.

    Example:
        >>> from gossamer.objectives import Multiclass
        >>> write_objective(Multiclass(3))
        'multiclass num_class:3'
    """
    line = objective.traits.lightgbm
    if line:
        return line.format(sigmoid=objective.sigmoid, n_outputs=objective.n_outputs)
    if isinstance(objective, SquareRoot):
        return f"{objective.inner.traits.lightgbm} sqrt"
    if isinstance(objective, CustomWithLink):
        return _line_of_link(objective)
    if isinstance(objective, SeveralTargets):
        return _line_of_several(objective)
    if not objective.has_link:
        return None
    raise _no_line(objective.name)


def _line_of_link(objective: CustomWithLink) -> str | None:
    link, k = objective.link, objective.n_outputs
    if link is None:
        return None  # it predicts raw scores here as well
    if k > 1 and link == "softmax":
        return f"multiclass num_class:{k}"
    if k > 1 and link == "sigmoid":
        return f"multiclassova num_class:{k} sigmoid:1"
    if k > 1 or link not in _LINKS:
        raise _no_line(f"the link {link if isinstance(link, str) else 'of one of its own'}")
    return _LINKS[link]


def _line_of_several(objective: SeveralTargets) -> str | None:
    """Several targets of two classes each predict as one against all does; others have no link."""
    lines = {write_objective(part) for part in objective.parts if part.has_link}
    if not lines:
        return None
    line = lines.pop() or ""
    if lines or not all(part.has_link for part in objective.parts) or "binary" not in line:
        raise _no_line("several targets with a link")
    return f"multiclassova num_class:{objective.n_outputs} {line.split()[1]}"


def _no_line(what: str) -> NotSupportedError:
    return NotSupportedError.because(
        "LightGBM has no objective that turns these raw scores into the same predictions",
        got=what,
        hint="Save the model in Gossamer's own format.",
    )
