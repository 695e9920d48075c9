"""An objective of the user's, given back to a model that was loaded without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gossamer.errors import DataError, ParameterError
from gossamer.model.model import Model
from gossamer.objectives import Custom, CustomObjective, make_custom

NO_LINK: Final = (
    "The model was trained with a link function, which a file does not keep: "
    "predictions are raw scores until it is given as objective, or to set_objective()."
)


def with_objective(model: Model, objective: CustomObjective) -> Model:
    """Return a loaded model with the objective that it was trained with.

    Raises:
        DataError: If the model had an objective by name.
        ParameterError: If this is not a `CustomObjective`, or one with other outputs.
    """
    if not isinstance(objective, CustomObjective):
        raise ParameterError.because(
            "the objective cannot be used",
            got=type(objective).__name__,
            expected="a CustomObjective",
        )
    if not isinstance(model.objective, Custom):
        raise not_a_loaded_custom(model.objective.name)
    found = make_custom(objective, None, model.objective.n_outputs).for_prediction()
    return replace(model, objective=found)


def not_a_loaded_custom(got: str) -> DataError:
    """Return the error of an objective that is given to another kind of model."""
    return DataError.because(
        "set_objective() is for models that were trained with an objective of one's own, and "
        "loaded",
        got=got,
    )
