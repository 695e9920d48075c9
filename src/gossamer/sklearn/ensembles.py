"""`Ensembles`: estimators that train over folds, or hold rows out by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from gossamer.data import Dataset
from gossamer.ensemble import train_folds, train_quality, train_refit
from gossamer.ensemble.presets import QUALITIES
from gossamer.ensemble.train_folds import check_seconds
from gossamer.ensemble.train_quality import TimeLimit
from gossamer.errors import NotSupportedError, ParameterError, check_choice
from gossamer.model import Booster
from gossamer.params import resolve
from gossamer.sklearn.functions import LabelsFirst
from gossamer.sklearn.inputs import check_rows
from gossamer.sklearn.parameters import Parameters
from gossamer.train import Callback, train

_AUTO: Final = "auto"


class Ensembles(Parameters):
    """The part of an estimator that chooses how the model is trained."""

    _booster: Booster

    @property
    def _keeps_rows(self) -> bool:
        """Whether rows of weight 0 stay: out-of-fold predictions are about every row."""
        quality = self._own("quality")
        return self._own("folds") is not None or (isinstance(quality, str) and quality == "best")

    def _train(
        self,
        params: dict[str, Any],
        train_set: Dataset,
        valid_sets: list[Dataset],
        names: list[str],
        metrics: list[LabelsFirst],
        base: Any,
        callbacks: Sequence[Callback],
        history: Callback,
    ) -> Booster:
        """Train as the arguments of the estimator say."""
        how = self._how()
        feval = metrics or None
        if how == "plain":
            limit = self._own("time_limit")
            ends = [] if limit is None else [TimeLimit(check_seconds(limit))]
            return train(
                params,
                train_set,
                valid_sets=valid_sets,
                valid_names=names,
                feval=feval,
                init_model=base,
                callbacks=[*callbacks, history, *ends],
            )
        given = {"eval_set": valid_sets, "init_model": base, "callbacks": callbacks}
        for name, value in given.items():
            if value is not None and (name == "init_model" or len(value)):
                raise ParameterError.because(
                    f"{name} cannot be combined with {how}, which holds rows out by itself",
                    hint=f"Leave {name} out, or {how}.",
                )
        options: dict[str, Any] = {"feval": feval, "time_limit": self._own("time_limit")}
        options["seed"] = max(resolve(params, context="dataset").seed or 0, 0)
        folds, quality = self._own("folds"), self._own("quality")
        if folds is not None:
            is_number = isinstance(folds, Integral) and not isinstance(folds, bool)
            options["nfold" if is_number else "folds"] = folds
        if self._own("calibration") is not None:
            options["calibration"] = self._own("calibration")
        if quality not in (None, "fast"):
            return train_quality(params, train_set, quality, **options)
        return (train_refit if folds is None else train_folds)(params, train_set, **options)

    def _how(self) -> str:
        """Return what makes the training hold rows out; "plain": nothing does.

        Raises:
            ParameterError: If arguments contradict each other.
        """
        given, stopping = self._own("quality"), self._own("early_stopping")
        quality = "fast" if given is None else check_choice("quality", given, QUALITIES)
        folds, is_auto = self._own("folds"), isinstance(stopping, str) and stopping == _AUTO
        if self._own("calibration") is not None and folds is None and quality != "best":
            raise ParameterError.because(
                "calibration needs out-of-fold predictions",
                found=f"calibration={self._own('calibration')!r} without folds",
                hint='Pass folds=8 or quality="best" as well.',
            )
        if folds is not None and is_auto:
            raise ParameterError.because(
                'early_stopping="auto" cannot be combined with folds',
                hint="Every member of folds is stopped on the rows that it holds out.",
            )
        if folds is not None:
            return "folds"
        if quality != "fast":
            return f"quality={quality!r}"
        return 'early_stopping="auto"' if is_auto else "plain"

    def _refuse_held_out(self, where: str) -> None:
        """Refuse arguments that make the training hold rows out, or end it by the clock.

        Raises:
            NotSupportedError: If there are some; `where` says what cannot do that.
        """
        how = self._how()
        if how == "plain" and self._own("time_limit") is not None:
            how = "time_limit"
        if how != "plain":
            raise NotSupportedError.because(
                f"{how} cannot be used on {where}", hint="Train on one machine."
            )

    # ---- facts ----

    @property
    def booster_(self) -> Booster:
        """The model itself."""
        check_is_fitted(self)
        return self._booster

    @property
    def oof_prediction_(self) -> npt.NDArray[np.float64]:
        """Out-of-fold predictions of the training rows, see `Booster.oof_prediction`."""
        return self._with_folds("oof_prediction_").oof_prediction()

    @property
    def oof_score_(self) -> dict[str, float]:
        """Metrics of the out-of-fold predictions; with `folds`."""
        return self._with_folds("oof_score_").oof_score_

    @property
    def oof_score_by_fold_(self) -> dict[str, list[float]]:
        """Metrics of the held-out rows of each fold's member; with `folds`."""
        return self._with_folds("oof_score_by_fold_").oof_score_by_fold_

    def _with_folds(self, name: str) -> Booster:
        """Return the model; without folds the estimator has no such attribute."""
        if self.booster_.model.folds is None:
            raise AttributeError(name)
        return self.booster_

    # ---- intervals and sets ----

    def predict_interval(self, X: Any, coverage: float = 0.9, **kwargs: Any) -> Any:
        """Predict an interval for each row; with `folds`, see `Booster.predict_interval`.

        Args:
            X: Rows x columns, as in `fit`.
            coverage: The share of labels that lie in their intervals.
            **kwargs: `groups`, `train_groups`, `weight`, `train_weight`.

        Returns:
            (rows, 2): lower and upper ends.
        """
        booster = self.booster_
        return booster.predict_interval(check_rows(self, X, booster.levels), coverage, **kwargs)

    def predict_set(self, X: Any, coverage: float = 0.9, **kwargs: Any) -> Any:
        """Predict a set of classes for each row; with `folds`, see `Booster.predict_set`.

        Args:
            X: Rows x columns, as in `fit`.
            coverage: The share of rows whose class is in their set.
            **kwargs: `by_class`, `groups`, `train_groups`, `weight`, `train_weight`.

        Returns:
            (rows, classes) of booleans, in the order of `classes_`.
        """
        booster = self.booster_
        return booster.predict_set(check_rows(self, X, booster.levels), coverage, **kwargs)
