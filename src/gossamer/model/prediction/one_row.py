"""Tables of one row, which `Booster.predict` answers without the machinery for tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.model.model import Model
from gossamer.model.prediction.predict import PredictOptions
from gossamer.model.prediction.predictor import Predictor
from gossamer.params import Params

# First round, number of rounds, whether raw scores are asked for, the parameters.
Wanted = tuple[int, int, bool, Params]


def is_one_row(data: object) -> bool:
    """Whether a table is an array or a list of one row.

    Example:
        >>> is_one_row([[1.0, 2.0]]), is_one_row(np.zeros((1, 3))), is_one_row([1.0])
        (True, True, False)
    """
    if type(data) is np.ndarray:
        return data.ndim == 2 and len(data) == 1
    return type(data) is list and len(data) == 1 and type(data[0]) in (list, tuple)


def says_nothing_of_one_row(kwargs: Mapping[str, Any]) -> bool:
    """Whether parameters change nothing about the prediction of a row: threads do not.

    Example:
        >>> says_nothing_of_one_row({}), says_nothing_of_one_row({"num_threads": 2})
        (True, True)
        >>> says_nothing_of_one_row({"num_threads": "x"})
        False
    """
    return not kwargs or (len(kwargs) == 1 and type(kwargs.get("num_threads")) is int)


class OneRow:
    """A predictor, kept for as long as the same is asked of the same model."""

    def __init__(self) -> None:
        """Know nothing yet."""
        # One tuple, so that threads that ask for different things never see a mixture.
        self._known: tuple[Model, Wanted, Predictor | None] | None = None

    def predict(self, model: Model, wanted: Wanted, data: Any) -> npt.NDArray[Any] | None:
        """Predict a table of one row; None: the usual way must be gone.

        That is so when a model is asked for the first time: a predictor is not made for one call.
        """
        known = self._known
        if known is None or known[0] is not model or not _same(known[1], wanted):
            self._known = (model, wanted, None)
            return None
        predictor = known[2]
        if predictor is None:
            options = PredictOptions.from_arguments(*wanted[:3], False, {}, wanted[3])
            is_plain = not (options.pred_leaf or options.pred_contrib or options.early_stop)
            if not is_plain or options.disable_shape_check:
                return None
            predictor = Predictor(model, options)
            self._known = (model, wanted, predictor)
        return predictor.table_of_one(data if type(data) is np.ndarray else data[0])


def _same(known: Wanted, wanted: Wanted) -> bool:
    return known[3] is wanted[3] and known[:3] == wanted[:3]
