"""`InTraining`: a training under way, with XGBoost's data sets, losses and metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.evaluation import Score
from gossamer.compat.xgboost.metrics import their_metric
from gossamer.compat.xgboost.objective import Faces, ObjectiveFunction, as_objective
from gossamer.compat.xgboost.params import params_for, take_start
from gossamer.compat.xgboost.rounds import begin_training
from gossamer.compat.xgboost.start import estimate_start
from gossamer.data import Dataset
from gossamer.data.dataset import built_data, given_rows
from gossamer.errors import DataError, NotSupportedError
from gossamer.model import Booster as CoreBooster
from gossamer.model.training.evaluate import evaluate
from gossamer.model.training.training import Training


class InTraining:
    """A training under way.

    Args:
        params: Parameters by XGBoost's names.
        data: Training data.
        base: The model to continue from; None: from the start.
        has_function: Whether the loss is a function, which is set before each round.

    Attributes:
        core: Gossamer's own booster, which holds the training.
        data: Training data.
        has_function: Whether the loss is a function.
        function: The loss of the next round, where it is one.
        predicts_classes: Whether classes are predicted though the objective gives probabilities.
    """

    def __init__(
        self, params: dict[str, Any], data: DMatrix, base: CoreBooster | None, has_function: bool
    ) -> None:
        ours = params_for(params, data)
        if not (has_function or base is not None or len(data.get_base_margin())):
            ours |= estimate_start(ours, data)
        start = take_start(ours)
        train_set = data.as_train_set(ours)
        if base is not None and base.model.levels not in (None, train_set.levels):
            train_set = data.as_train_set(ours, base.model.levels)
        self.data, self.has_function = data, has_function
        self.function: ObjectiveFunction | None = None
        self.predicts_classes = False
        self._valid_sets: list[tuple[DMatrix, Dataset]] = []
        if has_function:
            self.predicts_classes = ours["objective"] == "multi:softmax"
            faces = Faces([(train_set, data)])
            ours["objective"] = as_objective(self._call_function, ours, faces)
        try:
            self.core = CoreBooster(ours, train_set, init_model=base)
        except DataError as error:  # in XGBoost's words
            raise DataError(str(error).replace("init_score", "base_margin")) from None
        begin_training(self.core, start if base is None else None)

    @property
    def training(self) -> Training:
        """Gossamer's own training."""
        training = self.core.training
        assert training is not None
        return training

    def learned(self) -> dict[str, list[float]]:
        """Return the ratios of position bias by XGBoost's names, if they are learned."""
        training = self.training
        if not training.params.lambdarank_unbiased or training.states[-1] is None:
            return {}
        better, worse = training.states[-1].reshape(2, -1).tolist()
        return {"ti+": better, "tj-": worse}

    def _call_function(self, score: npt.NDArray[np.float32], data: DMatrix) -> tuple[Any, Any]:
        assert self.function is not None
        return self.function(score, data)

    def check_function(self, has_function: bool) -> None:
        """Check that the next round has the kind of loss that the rounds before had.

        Raises:
            NotSupportedError: If it has not.
        """
        if has_function != self.has_function:
            raise NotSupportedError.because(
                "a training has one loss from its first round on",
                got="fobj" if has_function else "no fobj",
                expected="no fobj" if has_function else "fobj in every round",
            )

    def change_params(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Change parameters, by XGBoost's names, for the rounds to come."""
        known = params_for(before, self.data)
        wanted = params_for(after, self.data)
        changed = {name: new for name, new in wanted.items() if new != known.get(name)}
        if self.has_function:
            changed.pop("objective", None)
        self.core.reset_parameter(changed)

    # ---- scores ----

    def evaluate(self, data: DMatrix, name: str) -> list[Score]:
        """Return the metrics of a data set."""
        results = evaluate(self.training, self._scored(data), name)
        return [Score(name, their_metric(each.metric_name), each.metric_value) for each in results]

    def scores_of(self, data: DMatrix) -> npt.NDArray[np.float64]:
        """Return raw scores, (rows,) or (rows, outputs)."""
        training = self.training
        training.refresh()
        score: npt.NDArray[np.float64] = training.boosting.current(training, self._scored(data))
        k = training.n_outputs
        return score.reshape(k, -1).T.copy() if k > 1 else score.copy()

    def _scored(self, data: DMatrix) -> Any:
        """Return a data set of the training with its scores; a new one is added to it."""
        training = self.training
        if data is self.data:
            return training.train
        for known, valid_set in self._valid_sets:
            if known is data:
                return next(each for each in training.valid if each.given is valid_set)
        margin = data.fields.get("base_margin")
        has_margin = "base_margin" in self.data.fields
        if has_margin != (margin is not None) and (has_margin or training.base is not None):
            raise NotSupportedError.because(
                "base_margin must be given for all data of this training, or for none",
                found=f"a base_margin of the {'training' if has_margin else 'other'} data only",
            )
        has_zeros = not self.data.is_sparse
        valid_set = data.as_valid_set(training.train.given, has_zeros)
        if margin is not None and not has_margin:  # it takes the place of what training starts from
            valid_set.set_init_score(margin.reshape(data.num_row(), -1) - training.start)
        table = None if training.base is None else given_rows(valid_set)
        built = built_data(valid_set, training.params, training.train.given)
        scored = training.add_valid(built, valid_set, f"valid_{len(self._valid_sets)}", table)
        self._valid_sets.append((data, valid_set))
        return scored
