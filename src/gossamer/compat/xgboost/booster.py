"""`Booster`: a model, by XGBoost's names."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.arguments import as_list, as_path, check_flags, check_function
from gossamer.compat.xgboost import model_file
from gossamer.compat.xgboost.contributions import check_explained, contributions, interactions
from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.evaluation import Score, check_evals, evaluate_scores, format_scores
from gossamer.compat.xgboost.fitted_model import FittedModel
from gossamer.compat.xgboost.in_training import InTraining
from gossamer.compat.xgboost.metrics import default_metric, our_metric
from gossamer.compat.xgboost.objective import MetricFunction, ObjectiveFunction, call_metric
from gossamer.compat.xgboost.params import params_for, read_params, take_start
from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.prediction import (
    check_names,
    leaf_numbers,
    raw_scores,
    to_predictions,
)
from gossamer.compat.xgboost.rounds import read_range, rounds_to_take
from gossamer.compat.xgboost.saved_config import (
    facts_of,
    read_config,
    with_objective,
    write_config,
)
from gossamer.compat.xgboost.update import Update, update_model
from gossamer.errors import DataTypeError, ParameterError, check_choice
from gossamer.files import write_atomically
from gossamer.model import Booster as CoreBooster
from gossamer.model.change.edit import permute_rounds
from gossamer.model.model import Model

Array = npt.NDArray[Any]

# The score of a model without rounds.
NO_ROUNDS_SCORE: Final = 0.5
# Objectives for classes that predict something else than probabilities.
_LINKS_OF_CLASSES: Final = {"multi:softmax": "softmax", "binary:logitraw": "sigmoid"}


class Booster(FittedModel):
    """A model; with `update`, one that grows.

    Args:
        params: Parameters by XGBoost's names.
        cache: Data that it will be trained and evaluated on; has no effect.
        model_file: A saved model: its path, what `save_raw` returned, or another `Booster`.

    Example:
        >>> x = np.arange(100.0).reshape(-1, 1)
        >>> data = DMatrix(x, label=x[:, 0] > 49)
        >>> booster = Booster({"objective": "binary:logistic"}, [data])
        >>> for i in range(10):
        ...     booster.update(data, i)
        >>> booster.num_boosted_rounds(), booster.predict(DMatrix([[10.0], [90.0]])).round()
        (10, array([0., 1.], dtype=float32))
    """

    def __init__(
        self,
        params: Any = None,
        cache: Sequence[DMatrix] | None = None,
        model_file: Any = None,
    ) -> None:
        super().__init__()
        for data in as_list("cache", cache):
            _check_data(data)
        self._params = read_params(params)
        self._predicts_classes = False  # though the objective gives probabilities
        self._now: InTraining | None = None  # the training under way
        if isinstance(model_file, Booster):
            self._take(model_file)
        elif model_file is not None:
            self.load_model(model_file)

    def _take(self, other: Booster) -> None:
        self._core = copy.copy(other._core)
        self._attributes = dict(other._attributes)
        self._names, self._types = other._names, other._types
        self._predicts_classes = other._predicts_classes
        self._params = {**other._params, **self._params}

    # ---- training ----

    def update(
        self, dtrain: DMatrix, iteration: int, fobj: ObjectiveFunction | None = None
    ) -> None:
        """Do one round.

        Args:
            dtrain: Training data.
            iteration: Number of the round; has no effect.
            fobj: The loss: (scores, data) -> (gradients, hessians).
        """
        check_function("fobj", fobj)
        now = self._begin(dtrain, has_function=fobj is not None)
        if fobj is not None:
            now.function = fobj
        now.core.update()

    def boost(
        self,
        dtrain: DMatrix,
        iteration: int = 0,
        *,
        grad: Any = None,
        hess: Any = None,
        fobj: ObjectiveFunction | None = None,
    ) -> None:
        """Do one round with these gradients and hessians, or with what `fobj` returns."""
        own = (lambda score, data: (grad, hess)) if fobj is None else fobj
        self.update(dtrain, iteration, own)

    def _begin(self, data: DMatrix, has_function: bool) -> InTraining:
        """Start a training, or resume from the model so far with other data."""
        _check_data(data)
        core, now = self._core, self._now
        if now is not None and data is now.data:
            now.check_function(has_function)
            return now
        base = None if core is None or core.num_trees() == 0 else core
        now = InTraining(self._params, data, base, has_function)
        if has_function:
            self._predicts_classes = now.predicts_classes
        self._now, self._core = now, now.core
        self._names, self._types = data.feature_names, data.feature_types
        return now

    def start_without_rounds(self, data: DMatrix, has_function: bool = False) -> None:
        """Become a model of no rounds; as in XGBoost, its scores are `base_score` as it is.

        Args:
            data: Training data.
            has_function: Whether the loss is a function.
        """
        base_score = self._params.get("base_score", NO_ROUNDS_SCORE)
        self._begin(data, has_function)
        start = np.zeros_like(self.model.start) + np.asarray(base_score, dtype=np.float64)
        self._core, self._now = CoreBooster.from_model(replace(self.model, start=start)), None

    def update_trees(self, data: DMatrix, update: Update, n_rounds: int) -> None:
        """Change the trees of the first rounds, and drop the others (`process_type="update"`).

        Args:
            data: The data that leaves learn their values from.
            update: What is done.
            n_rounds: How many rounds.

        Raises:
            ParameterError: If there are not so many.
        """
        n_there = self.num_boosted_rounds()
        if not 1 <= n_rounds <= n_there:
            raise ParameterError.because(
                "process_type='update' changes existing rounds",
                got=f"num_boost_round={n_rounds}",
                expected=f"1..{n_there}, the rounds of xgb_model",
                hint="" if n_there else "Pass the model to change as xgb_model.",
            )
        params = params_for(self._params, data)
        take_start(params)
        model = update_model(self[:n_rounds].model, params, data, update)
        self._core, self._now = CoreBooster.from_model(model), None

    def set_param(self, params: Any, value: Any = None) -> None:
        """Change parameters, for the rounds to come if some are done; metrics are added.

        Args:
            params: Parameters by name; or one name.
            value: Its value.
        """
        before = dict(self._params)
        given = read_params({params: value} if isinstance(params, str) else params)
        if self._core is not None and "eval_metric" in given:  # which adds to the metrics
            metrics = before.get("eval_metric", [])
            if not metrics and self._now is None:
                metrics = [default_metric({"objective": "reg:squarederror", **before})]
            names = [name for name in (*metrics, *given["eval_metric"]) if name is not None]
            given["eval_metric"] = list(dict.fromkeys(names))
        self._params |= given
        if self._now is not None:
            self._now.change_params(before, self._params)

    def reset(self) -> Booster:
        """Release the data; the model stays."""
        if self._core is not None:
            self._core.free_dataset()
            self._core.model = model_file.as_kept(self._core.model)
        self._now = None
        return self

    # ---- evaluation ----

    def eval(self, data: DMatrix, name: str = "eval", iteration: int = 0) -> str:
        """Return the metrics on a data set as a line of text."""
        return self.eval_set([(data, name)], iteration)

    def eval_set(
        self,
        evals: Sequence[tuple[DMatrix, str]],
        iteration: int = 0,
        feval: MetricFunction | None = None,
        output_margin: bool = True,
    ) -> str:
        """Return the metrics on some data sets as a line of text.

        Args:
            evals: Data sets and their names.
            iteration: Number at the beginning of the line.
            feval: A metric function: (predictions, data) -> (name, value).
            output_margin: Whether it is given scores instead of predictions.
        """
        return format_scores(iteration, self.evaluate(evals, feval, output_margin))

    def evaluate(
        self,
        evals: Sequence[tuple[DMatrix, str]],
        feval: MetricFunction | None,
        output_margin: bool,
    ) -> list[Score]:
        """Return the metrics of each data set, and the values of the user's metric function."""
        found: list[Score] = []
        check_function("feval", feval)
        for data, name in check_evals(evals):
            _check_data(data)
            if self._now is None:
                objective = str(self._params.get("objective", ""))
                asked = [each for each in self._params.get("eval_metric", ()) if each]
                metrics = [our_metric(each, objective) for each in asked]
                found += evaluate_scores(self.fitted, data, name, self._raw(data), metrics)
            else:
                found += self._now.evaluate(data, name)
        for data, name in evals if feval is not None else ():
            assert feval is not None
            now = self._now
            predictions = self._raw(data) if now is None else now.scores_of(data)
            if not output_margin:
                predictions = self.to_predictions(predictions)
            found += [Score(name, *each) for each in call_metric(feval, predictions, data)]
        return found

    # ---- prediction ----

    @warn_of_positions
    @check_flags
    def predict(
        self,
        data: DMatrix,
        *,
        output_margin: bool = False,
        pred_leaf: bool = False,
        pred_contribs: bool = False,
        approx_contribs: bool = False,
        pred_interactions: bool = False,
        validate_features: bool = True,
        training: bool = False,
        iteration_range: tuple[int, int] = (0, 0),
        strict_shape: bool = False,
    ) -> npt.NDArray[np.float32]:
        """Predict the rows of a `DMatrix`.

        Args:
            data: The rows.
            output_margin: Whether to return raw scores.
            pred_leaf: Whether to return the leaf of each row in each tree; leaves of a tree are
                numbered from 0.
            pred_contribs: Whether to return what each column contributes to the score (Shapley
                values), and the expected value over all rows.
            approx_contribs: Whether only the splits on a row's path contribute. Interactions are
                exact in any case.
            pred_interactions: Whether to return Shapley interaction values of pairs of columns.
            validate_features: Whether names of columns must be the same as in training.
            training: Has no effect.
            iteration_range: First round to use, and one after the last; (0, 0): all.
            strict_shape: Whether the result has as many dimensions for one output as for several.

        Returns:
            float32: (rows,); (rows, outputs) with several; (rows, trees) for leaves, or
            `strict_shape` (rows, rounds, outputs, parallel trees);
            (rows, columns + 1) or (rows, outputs, columns + 1) for contributions, with columns + 1
            once more for interactions.
        """
        _check_data(data)
        if sum(map(bool, (pred_leaf, pred_contribs, pred_interactions))) > 1:
            raise ParameterError.because(
                "a prediction is of one kind",
                expected="one of pred_leaf, pred_contribs and pred_interactions",
            )
        if validate_features:
            check_names(self._names, data.feature_names)
        first, last = read_range(iteration_range, self.num_boosted_rounds())
        if pred_leaf:
            leaves = leaf_numbers(self.fitted, data, first, last)
            flat = leaves.reshape(len(leaves), math.prod(leaves.shape[1:]))
            return leaves if strict_shape else flat[:, 0] if flat.shape[1] == 1 else flat
        if pred_contribs or pred_interactions:
            check_explained(first, last)
            values = (
                interactions(self.fitted, data, last)
                if pred_interactions
                else contributions(self.fitted, data, last, approximate=approx_contribs)
            )
            is_one = values.shape[1] == 1 and not strict_shape
            return (values[:, 0] if is_one else values).astype(np.float32)
        score = raw_scores(self._as_kept(), data, first, last)
        found = (score if output_margin else self.to_predictions(score)).astype(np.float32)
        return found.reshape(len(found), -1) if strict_shape else found

    @warn_of_positions
    @check_flags
    def inplace_predict(
        self,
        data: Any,
        *,
        iteration_range: tuple[int, int] = (0, 0),
        predict_type: str = "value",
        missing: float = np.nan,
        validate_features: bool = True,
        base_margin: Any = None,
        strict_shape: bool = False,
    ) -> npt.NDArray[np.float32]:
        """Predict the rows of a table without a `DMatrix`.

        Args:
            data: Rows x columns.
            iteration_range: First round to use, and one after the last; (0, 0): all.
            predict_type: "value", or "margin" for raw scores.
            missing: A number that means missing, in addition to NaN.
            validate_features: Whether names of columns, if there are some, must be the same as in
                training.
            base_margin: Scores to start from.
            strict_shape: As for `predict`.
        """
        check_choice("predict_type", predict_type, ("value", "margin"))
        if isinstance(data, np.ndarray) and data.ndim == 1:
            data = data.reshape(-1, 1)
        rows = DMatrix(data, missing=missing, base_margin=base_margin, enable_categorical=True)
        return self.predict(
            rows,
            output_margin=predict_type == "margin",
            validate_features=validate_features and rows.feature_names is not None,
            iteration_range=iteration_range,
            strict_shape=strict_shape,
        )

    def _as_kept(self) -> CoreBooster:
        """Return the model as files keep it; a training under way has more digits."""
        if self._now is None:
            return self.fitted
        return CoreBooster.from_model(model_file.as_kept(self.model))

    def _raw(self, data: DMatrix) -> npt.NDArray[np.float64]:
        return raw_scores(self.fitted, data, 0, self.num_boosted_rounds())

    def to_predictions(self, score: npt.NDArray[np.float64]) -> Array:
        """Turn raw scores into predictions."""
        found = to_predictions(self.fitted, score)
        return found.argmax(axis=1) if self._predicts_classes else found

    @property
    def link_of_classes(self) -> str | None:
        """How scores become probabilities, where predictions are none; None: they are."""
        if self._predicts_classes:
            return "softmax"
        return _LINKS_OF_CLASSES.get(self.model.objective.name)

    # ---- parameters ----

    def save_config(self) -> str:
        """Return the parameters as JSON, in XGBoost's sections."""
        model = None if self._core is None else self.model
        learned = None if self._now is None else self._now.learned()
        params = with_objective(self._params, model)
        return write_config(params, facts_of(params, model), learned)

    def load_config(self, config: str) -> None:
        """Take parameters that `save_config` returned, here or in XGBoost.

        Args:
            config: The JSON.

        Raises:
            ParameterError: If it is something else.
        """
        self.set_param(read_config(config))

    # ---- parts, copies, files ----

    def __getitem__(self, rounds: int | slice) -> Booster:
        """Return a model of some of the rounds, all starting from the same score."""
        order = rounds_to_take(rounds, self.num_boosted_rounds())
        model = self.model
        found = self._of(replace(model, forest=permute_rounds(model.forest, order)))
        found._attributes.pop("best_iteration", None)
        found._attributes.pop("best_score", None)
        return found

    def __iter__(self) -> Iterator[Booster]:
        """Return the rounds one by one."""
        return (self[i] for i in range(self.num_boosted_rounds()))

    def _of(self, model: Model) -> Booster:
        found = Booster()
        found._take(self)
        assert found._core is not None
        found._core.model = model
        return found

    def copy(self) -> Booster:
        """Return a copy of the model, without the data."""
        found = Booster()
        found._take(self)
        return found

    def __copy__(self) -> Booster:
        """Return a copy of the model, without the data."""
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Booster:
        """Return a copy of the model, without the data."""
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        """Keep the model, not the data."""
        kept = ("_params", "_core", "_attributes", "_names", "_types", "_predicts_classes")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make it again."""
        self._now = None
        self.__dict__.update(state)

    def save_model(self, fname: str | os.PathLike[str]) -> None:
        """Write the model to a file.

        Args:
            fname: Path; ".json" and ".ubj" are XGBoost's formats, ".gsm" is ours. Names without one
                of these endings mean UBJSON, with a warning.
        """
        write_atomically(as_path(fname), bytes(self.save_raw(model_file.format_of(fname))))

    def save_raw(self, raw_format: str = "ubj") -> bytearray:
        """Return the bytes of the model file.

        Args:
            raw_format: "json" or "ubj", XGBoost's formats; "gossamer" is ours.
        """
        facts = {
            "attributes": self._attributes,
            "feature_types": self._types,
            "predicts_classes": self._predicts_classes,
        }
        return bytearray(model_file.to_bytes(self.model, facts, raw_format))

    def load_model(self, fname: str | os.PathLike[str] | bytearray | bytes) -> None:
        """Become a model that XGBoost, `save_model` or `save_raw` wrote, or `gossamer.Booster`.

        Raises:
            NotSupportedError: If it was written by XGBoost and has no trees, or is of the binary
                format of old versions.
            ModelFileError: If it is damaged, or something else.
        """
        if isinstance(fname, (bytes, bytearray)):
            model, facts = model_file.from_bytes(bytes(fname), "the model")
        else:
            model, facts = model_file.load(fname)
        self._core, self._now = CoreBooster.from_model(model), None
        self._names = list(model.names) if model.has_own_names else None
        self._types = facts.get("feature_types")
        self._predicts_classes = facts.get("predicts_classes") is True
        self._attributes = {str(k): str(v) for k, v in facts.get("attributes", {}).items()}


def _check_data(data: Any) -> None:
    if not isinstance(data, DMatrix):
        raise DataTypeError.because(
            "this is not a DMatrix", got=type(data).__name__, expected="DMatrix(data, ...)"
        )
