"""`Predictor`: predictions of single rows, as servers need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.errors import DataError
from gossamer.model.files import model_file
from gossamer.model.model import Model
from gossamer.model.prediction.predict import PredictOptions, predict
from gossamer.objectives import CustomWithLink, Objective


class Predictor:
    """Predicts one row at a time, in about a microsecond. Created by `Booster.predictor`.

    A predictor keeps the model as it was when the predictor was created, even if the `Booster`
    changes. It can be called from many threads at once.

    Example:
        >>> from gossamer import Dataset, train
        >>> table = np.arange(200.0).reshape(-1, 2)
        >>> data = Dataset(table, table[:, 0] > 90, feature_name=["age", "height"])
        >>> predictor = train({"objective": "binary"}, data, 10).predictor()
        >>> round(predictor([150.0, 0.0]))
        1
        >>> round(predictor({"age": 20.0, "height": None}))
        0
    """

    __slots__ = ("_link", "_model", "_options", "_rows")

    def __init__(self, model: Model, options: PredictOptions) -> None:
        """Make the trees ready.

        Args:
            model: The model.
            options: Its rounds, and whether raw scores are asked for.
        """
        first, last = options.rounds_of(model)
        self._model = model
        self._options = replace(options, last_round=last, num_threads=1)
        self._link: Callable[[Any], Any] | None = None
        self._rows: Callable[[Any], Any] = _decline
        # Text, dates and derived columns are made into numbers by what reads tables.
        if model.levels is not None or model.derived is not None or model.times:
            return
        link, steepness = _NONE
        if not options.raw_score and model.objective.has_link:
            found = _native_link(model.objective)
            if found is None:
                self._link = self._apply_link
            else:
                link, steepness = found
        self._rows = _native.RowPredictor(
            model.forest.native,
            first * model.forest.trees_per_round,
            last * model.forest.trees_per_round,
            model.start_from(first).tolist(),
            max(last - first, 1) if model.average_output else 0,
            link,
            steepness,
            tuple(model.names),
        )

    def __call__(self, row: Any) -> Any:
        """Predict a row.

        Args:
            row: A list, tuple or array of the columns' values, or a dict (or pandas Series) by
                column name. None and NaN are missing.

        Returns:
            A float; an array where the model has several outputs.

        Raises:
            DataError: If the row has other columns than the training data, or is no row.
        """
        found = self._rows(row)
        if found is NotImplemented:
            return self._any_row(row)
        return found if self._link is None else self._link(found)

    def table_of_one(self, row: Any) -> npt.NDArray[Any] | None:
        """Predict a row as a table; None if it must be looked at as one."""
        found = NotImplemented if self._link is not None else self._rows(row)
        if type(found) is not float:
            return None if found is NotImplemented else np.array([found])
        table = np.empty(1)  # half the time of np.array([found])
        table[0] = found
        return table

    # ---- copies ----

    def __reduce__(self) -> tuple[Callable[..., Predictor], tuple[Any, ...]]:
        """Keep the model as a file does, the link of an objective of one's own, and the options."""
        objective = self._model.objective
        link = objective.link if isinstance(objective, CustomWithLink) else None
        return _restored, (model_file.to_bytes(self._model), link, self._options)

    def __copy__(self) -> Predictor:
        """Return itself: it never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Predictor:
        """Return itself: it never changes."""
        return self

    def _apply_link(self, score: Any) -> Any:
        return _single(self._model.objective.to_predictions(np.atleast_1d(score), 1)[0])

    def _any_row(self, row: Any) -> Any:
        """Predict what needs to be looked at as a table, or cannot be."""
        return _single(predict(self._model, _as_table(row, self._model), self._options)[0])


def _restored(content: bytes, link: Any, options: PredictOptions) -> Predictor:
    model = model_file.from_bytes(content)
    if isinstance(model.objective, CustomWithLink):
        model = replace(model, objective=replace(model.objective, link=link))
    return Predictor(model, options)


_NONE = (_native.RowLink.NONE, 1.0)
_LINKS = {
    "sigmoid": _native.RowLink.SIGMOID,
    "softmax": _native.RowLink.SOFTMAX,
    "exp": _native.RowLink.EXP,
}


def _decline(row: object) -> object:
    return NotImplemented


def _single(prediction: Any) -> Any:
    return float(prediction) if np.ndim(prediction) == 0 else prediction


def _native_link(objective: Objective) -> tuple[_native.RowLink, float] | None:
    """Return what native code makes of scores as the objective does; None: it cannot."""
    link = _LINKS.get(objective.traits.link)
    return None if link is None else (link, float(objective.sigmoid))


def _as_table(row: Any, model: Model) -> Any:
    """Return the row as a table of one row, in the order of the columns."""
    if hasattr(row, "to_dict") and hasattr(row, "index") and np.ndim(row) == 1:
        row = row.to_dict() if model.has_own_names else row.tolist()
    if isinstance(row, Mapping):
        return [_by_name(row, model.names)]
    if isinstance(row, (list, tuple)):
        return [row]
    if isinstance(row, np.ndarray) and row.ndim in (1, 2):
        table = row.reshape(1, -1) if row.ndim == 1 else row
        if len(table) == 1:
            return table
    raise DataError.because(
        "this is not one row",
        found=f"shape {row.shape}" if isinstance(row, np.ndarray) else type(row).__name__,
        expected="a list, tuple or array of the columns' values, or a dict by column name",
        hint="Booster.predict() takes tables of many rows.",
    )


def _by_name(row: Mapping[Any, Any], names: list[str]) -> list[Any]:
    absent = [name for name in names if name not in row]
    unknown = [name for name in row if name not in names]
    if absent or unknown:
        raise DataError.because(
            "the names of a row are not the columns of the training data",
            found=f"without {absent[:5]}" if absent else f"also {unknown[:5]}",
            expected=f"{len(names)} names: {', '.join(names[:5])}"
            + (", ..." if len(names) > 5 else ""),
            hint="Give None for what is missing.",
        )
    return [row[name] for name in names]
