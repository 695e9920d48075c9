"""`OutOfFold`: what an ensemble over folds can tell in addition to other models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.arguments import check_flags
from gossamer.errors import NotSupportedError
from gossamer.model.ensemble.fold_record import FoldRecord
from gossamer.model.model import Model


def record_of(model: Model, action: str) -> FoldRecord:
    """Return what an ensemble over folds knows about the rows that its members held out.

    Raises:
        NotSupportedError: If the model is not one; `action` names what needed it.
    """
    if model.folds is None:
        raise NotSupportedError.because(
            f"{action} needs out-of-fold predictions, and this model has none",
            found="a model that was not trained over folds, or that was changed since",
            hint="Train with gossamer.train_folds(), or folds=8 of an estimator.",
        )
    return model.folds


class OutOfFold(ABC):
    """The part of a model that is about folds."""

    @property
    @abstractmethod
    def model(self) -> Model:
        """Trees, names, objective and all else that predictions need."""

    @check_flags
    def oof_prediction(self, raw_score: bool = False) -> npt.NDArray[np.float64]:
        """Return the out-of-fold predictions: each training row predicted by who never saw it.

        Args:
            raw_score: Whether to return raw scores.

        Returns:
            As `predict` of the training rows. Rows that no member held out are NaN; those that
            several members held out (repeated folds) are predicted from the mean of their scores.
            Initial scores of the training data are included.

        Raises:
            NotSupportedError: If the model was not trained by `train_folds`.
        """
        model = self.model
        scores = record_of(model, "oof_prediction()").mean_scores()
        rows = scores.T if len(scores) > 1 else scores[0]
        if raw_score or not model.objective.has_link:
            return np.ascontiguousarray(rows)
        known = np.isfinite(scores[0])
        found = model.objective.to_predictions(np.ascontiguousarray(scores[:, known]).ravel(), 1)
        whole = np.full((scores.shape[1], *found.shape[1:]), np.nan)
        whole[known] = found
        return whole

    @property
    def oof_score_(self) -> dict[str, float]:
        """Metrics of all out-of-fold predictions together: what to expect of new rows.

        The members were stopped by these rows, which makes the metrics a little too good.

        Raises:
            NotSupportedError: If the model was not trained by `train_folds`.
        """
        return dict(record_of(self.model, "oof_score_").metrics)

    @property
    def oof_score_by_fold_(self) -> dict[str, list[float]]:
        """Metrics of the held-out rows of each member: their spread tells how sure the score is.

        Raises:
            NotSupportedError: If the model was not trained by `train_folds`.
        """
        found = record_of(self.model, "oof_score_by_fold_").by_member
        return {name: list(values) for name, values in found.items()}

    @property
    def fold_facts_(self) -> list[dict[str, Any]]:
        """A dict for each member: its rounds, the rows it held out, parameters of its own.

        Raises:
            NotSupportedError: If the model was not trained by `train_folds`.
        """
        record = record_of(self.model, "fold_facts_")
        return [
            {
                "rounds": int(record.round_begin[i + 1] - record.round_begin[i]),
                "held_out": record.rows_of(i).astype(np.int64),
                "params": dict(record.member_params[i]) if record.member_params else {},
            }
            for i in range(record.n_members)
        ]
