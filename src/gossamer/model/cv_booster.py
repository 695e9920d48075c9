"""`CVBooster`: the boosters of all folds."""

from __future__ import annotations

import copy
import os
from typing import Any

import numpy as np

from gossamer.data.chunks.find_source import whole_table
from gossamer.data.summary import to_html, to_line
from gossamer.model.booster import Booster
from gossamer.model.files import cv_file
from gossamer.model.files.model_file import to_text
from gossamer.model.model import Model
from gossamer.notebook import bars, side_by_side


class CVBooster:
    """The boosters of a cross-validation, one per fold.

    Methods of `Booster` are called on each of them and return a list: `predict(data)` returns the
    predictions of all models, and `feature_importance()` the importance of each model.

    Args:
        model_file: Path of a file written by `save_model`.

    Attributes:
        boosters: The booster of each fold.
        best_iteration: Best number of rounds that early stopping found over all folds; 0 or less if
            there was no early stopping.

    Example:
        >>> import numpy as np
        >>> from gossamer import Dataset, cv
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> found = cv({}, Dataset(x, x[:, 0] ** 2), 20, nfold=3, return_cvbooster=True)
        >>> models = found["cvbooster"]
        >>> len(models.boosters), models.num_trees()
        (3, [20, 20, 20])
        >>> np.mean(models.predict([[0.7]]), axis=0).round(1)
        array([0.5])
    """

    def __init__(self, model_file: str | os.PathLike[str] | None = None) -> None:
        """Start without boosters, or load them."""
        self.boosters: list[Booster] = []
        self.best_iteration = -1
        if model_file is not None:
            self._use(*cv_file.load(model_file))

    def _use(self, models: list[Model], best_iteration: int) -> None:
        self.boosters = [Booster(model_str=to_text(model)) for model in models]
        self.best_iteration = best_iteration

    def __getattr__(self, name: str) -> Any:
        """Return what does it with each booster; or what each one has, in a list."""
        # Without this a copy, which has no attributes yet, would look for them for ever.
        if name.startswith("_") or name == "boosters":
            raise AttributeError(f"'CVBooster' object has no attribute {name!r}")
        if not hasattr(Booster, name) and not all(hasattr(each, name) for each in self.boosters):
            raise AttributeError(f"neither 'CVBooster' nor 'Booster' has an attribute {name!r}")
        found = [getattr(each, name) for each in self.boosters]
        if not callable(getattr(Booster, name, None)):
            return found

        def call_each(*args: Any, **kwargs: Any) -> list[Any]:
            if args:  # a stream would be empty for the second booster
                args = (whole_table(args[0]), *args[1:])
            if "data" in kwargs:
                kwargs["data"] = whole_table(kwargs["data"])
            return [method(*args, **kwargs) for method in found]

        call_each.__name__ = name
        return call_each

    def _facts(self) -> dict[str, object]:
        facts: dict[str, object] = {"folds": len(self.boosters)}
        if self.boosters:
            facts["objective"] = self.boosters[0].model.objective.name
            rounds = sorted({each.current_iteration() for each in self.boosters})
            facts["rounds"] = rounds[0] if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}"
        if self.best_iteration > 0:
            facts["best round"] = self.best_iteration
        return facts

    def __repr__(self) -> str:
        return to_line("CVBooster", self._facts())

    def _repr_html_(self) -> str:
        gains = [each.feature_importance("gain") for each in self.boosters]
        wholes = [float(gain.sum()) for gain in gains]
        shown = ""
        if wholes and min(wholes) > 0:
            shares = [gain / whole for gain, whole in zip(gains, wholes, strict=True)]
            names = self.boosters[0].feature_name()
            pairs = zip(names, np.mean(shares, axis=0).tolist(), strict=True)
            shown = bars("gain, mean over the folds", dict(pairs))
        return side_by_side(to_html("CVBooster", self._facts()), shown)

    # ---- files ----

    def _first_rounds(self, num_iteration: int | None, start_iteration: int) -> list[Model]:
        return [each.used_model(num_iteration, start_iteration) for each in self.boosters]

    def save_model(
        self,
        filename: str | os.PathLike[str],
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
    ) -> CVBooster:
        """Write the models of all folds to a file, for `CVBooster(model_file=...)`.

        Args:
            filename: Path. An existing file is replaced in one step.
            num_iteration: Number of rounds; None means up to the best one, or all if there is none;
                0 or less means all.
            start_iteration: First round to save.
            importance_type: Accepted for compatibility; importance is not part of the file.
        """
        models = self._first_rounds(num_iteration, start_iteration)
        cv_file.save(filename, models, self.best_iteration)
        return self

    def model_to_string(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
    ) -> str:
        """Return the models of all folds as text, for `model_from_string`."""
        models = self._first_rounds(num_iteration, start_iteration)
        return cv_file.to_text(models, self.best_iteration)

    def model_from_string(self, model_str: str) -> CVBooster:
        """Replace the boosters by those that `model_to_string` wrote.

        Example:
            >>> CVBooster().model_from_string(CVBooster().model_to_string()).boosters
            []
        """
        self._use(*cv_file.from_text(model_str))
        return self

    # ---- copies ----

    def __getstate__(self) -> dict[str, Any]:
        """Keep the models, not the data."""
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make it again."""
        self.__dict__.update(state)

    def __copy__(self) -> CVBooster:
        """Copy the models, not the data."""
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> CVBooster:
        """Copy the models, not the data."""
        copied = CVBooster.__new__(CVBooster)
        copied.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return copied
