"""Models in pickles: the bytes of a model file, and the link function that a file cannot keep."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

from gossamer.logger import warn
from gossamer.model.files import model_file
from gossamer.model.model import Model
from gossamer.objectives import CustomWithLink


def model_to_state(model: Model) -> dict[str, Any]:
    """Return what a pickle keeps of a model; `model_from_state` reads it."""
    link = model.objective.link if isinstance(model.objective, CustomWithLink) else None
    return {"model": model_file.to_bytes(model), "link": link}


def model_from_state(state: dict[str, Any]) -> tuple[Model, dict[str, Any]]:
    """Return the model of a pickle, and everything else in it."""
    rest = dict(state)
    model, link = model_file.from_bytes(rest.pop("model")), rest.pop("link", None)
    if isinstance(model.objective, CustomWithLink):
        model = replace(model, objective=replace(model.objective, link=link))
    return model, rest


def without_unpicklable_link(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state that can be pickled: a link that cannot be is left out, with a warning."""
    try:
        pickle.dumps(state["link"])
    except (pickle.PicklingError, AttributeError, TypeError):
        warn(
            "The link function of the objective cannot be pickled and is left out: the copy "
            "predicts raw scores until set_objective() is called. A function of a module can."
        )
        return {**state, "link": None}
    return state
