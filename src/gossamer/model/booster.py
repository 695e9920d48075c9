"""`Booster`: a model, in training or trained."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from gossamer.data import Dataset, Table
from gossamer.data.columns import Level
from gossamer.data.levels import Levels
from gossamer.data.sources import whole_table
from gossamer.data.summary import shorten, to_html, to_line
from gossamer.errors import (
    DataError,
    DataTypeError,
    NotSupportedError,
    ParameterError,
    ParameterTypeError,
    message,
)
from gossamer.logger import warn
from gossamer.metrics import CustomMetric, EvalResult
from gossamer.model import formats, model_file
from gossamer.model.base_model import BaseModel
from gossamer.model.change_training import move_rounds, set_base, set_leaf_values
from gossamer.model.class_names import check_class_names
from gossamer.model.edit import (
    check_leaf_value,
    leaf_values,
    permute_rounds,
    shuffled_rounds,
    with_leaf_values,
)
from gossamer.model.explain import shap_values
from gossamer.model.explaining import Explaining
from gossamer.model.importance import feature_importance
from gossamer.model.model import Model
from gossamer.model.one_row import OneRow, is_one_row, says_nothing_of_one_row
from gossamer.model.predict import PredictOptions, predict
from gossamer.model.predict_chunks import by_chunks, find_chunks_of, join
from gossamer.model.predictor import Predictor
from gossamer.model.refit import refit
from gossamer.model.split_values import split_value_histogram
from gossamer.model.storing import Storing
from gossamer.model.training import Training
from gossamer.objectives import Custom, CustomObjective, CustomWithLink, make_custom
from gossamer.objectives.custom import CustomFunction
from gossamer.params import CANONICAL, Params, resolve
from gossamer.params.given import as_dict

Feval = CustomMetric | Sequence[CustomMetric] | None


class Booster(Explaining, Storing):
    """A model; with a training set, one that can still grow.

    Args:
        params: Parameters of the training.
        train_set: Training data.
        model_file: Path of a saved model.
        model_str: Text of a saved model (`model_to_string`).
        objective: With a saved model: its `CustomObjective`, see `set_objective`.
        init_model: With a training set: a `Booster`, or the path of a saved one, to continue from.

    Attributes:
        params: The parameters, as given.
        best_iteration: Best number of rounds found by early stopping; 0 or less: none was looked
            for.
        best_score: Metrics at that round, or after the last one: data set -> metric -> value.
        train_set: Training data, until freed.
        name_valid_sets: Names of the validation sets.
        train_set_version: How often a field of the training data had been set when it was used.
        was_interrupted: Whether `train()` was left by Ctrl-C, with the rounds done until then.

    Example:
        >>> data = Dataset(np.arange(100.0).reshape(-1, 1), label=np.arange(100) > 50)
        >>> booster = Booster({"objective": "binary"}, data)
        >>> for _ in range(10):
        ...     is_finished = booster.update()
        >>> booster.num_trees(), booster.predict([[10.0], [90.0]]).round()
        (10, array([0., 1.]))
    """

    params: dict[str, Any]
    best_score: dict[str, dict[str, float]]
    train_set: Dataset | None
    name_valid_sets: list[str]
    _training: Training | None
    _trained: Model | None
    _resolved: Params | None

    def __init__(
        self,
        params: Mapping[str, Any] | None = None,
        train_set: Dataset | None = None,
        model_file: str | os.PathLike[str] | None = None,
        model_str: str | None = None,
        objective: CustomObjective | None = None,
        init_model: Booster | str | os.PathLike[str] | None = None,
    ) -> None:
        """Start a training, or load a model."""
        self._clear(params)
        if train_set is not None:
            if not isinstance(train_set, Dataset):
                raise DataTypeError(
                    message("train_set must be a Dataset", got=type(train_set).__name__)
                )
            if objective is not None:
                raise ParameterError(
                    message(
                        "objective is for a saved model",
                        hint="Pass it as params['objective'] to train with it.",
                    )
                )
            base = None if init_model is None else BaseModel(_model_of(init_model))
            self._training = Training(resolve(self.params), train_set, base)
            self.train_set = train_set
            self.train_set_version = train_set.version
            given = {CANONICAL[name] for name in self.params}
            of_data = train_set.get_params().items()  # not only those of this training
            self.params |= {name: value for name, value in of_data if name not in given}
        elif init_model is not None:
            raise ParameterError(
                message("init_model is for a training", hint="Pass train_set as well.")
            )
        elif model_file is not None:
            self._use_file(formats.load(model_file), objective)
        elif model_str is not None:
            self._use_file(formats.from_text(model_str), objective)
        else:
            raise ParameterTypeError(
                message("a Booster needs train_set, model_file or model_str; none was given")
            )

    def _clear(self, params: Mapping[str, Any] | None = None) -> None:
        self.params = as_dict(params)
        self.best_iteration = -1
        self.best_score = {}
        self.train_set = None
        self.name_valid_sets = []
        self.train_set_version = -1
        self.was_interrupted = False
        self._train_data_name = "training"
        self._training = None
        self._trained = None
        self._resolved = None

    def _use_file(self, model: Model, objective: CustomObjective | None) -> None:
        """Use a saved model; as in LightGBM its parameters win over those given."""
        known = resolve(model.params, context="predict")
        given = resolve(self.params, context="predict")
        other = [name for name in given.given & known.given if given[name] != known[name]]
        if other:
            warn(f"Parameters of the saved model are used instead of those given: {sorted(other)}.")
        mine = {n: v for n, v in self.params.items() if CANONICAL[n] not in known.given}
        self.params = {**mine, **model.params}
        self._use(model, objective)

    def _use(self, model: Model, objective: CustomObjective | None = None) -> None:
        self._trained = model
        self._resolved = None
        if not self.params:
            self.params = dict(model.params)
        if objective is not None:
            self.set_objective(objective)
        elif isinstance(model.objective, CustomWithLink) and model.objective.link is None:
            warn(
                "The model was trained with a link function, which a file does not keep: "
                "predictions are raw scores until it is given as objective, or to set_objective()."
            )

    def set_objective(self, objective: CustomObjective) -> Booster:
        """Give a loaded model back the objective that a file cannot keep.

        Args:
            objective: What it was trained with; predictions are what its link gives from now on.

        Raises:
            DataError: If the model is still in training, or had an objective by name.
            ParameterError: If this is no `CustomObjective`, or one with other outputs.
        """
        if not isinstance(objective, CustomObjective):
            raise ParameterError(
                message(
                    "the objective is not usable",
                    got=type(objective).__name__,
                    expected="a CustomObjective",
                )
            )
        model = self._model
        if self._training is not None or not isinstance(model.objective, Custom):
            raise DataError(
                message(
                    "set_objective() is for models that were trained with an objective of one's "
                    "own, and loaded",
                    got="a model in training" if self._training else model.objective.name,
                )
            )
        found = make_custom(objective, None, model.objective.n_outputs).for_prediction()
        self._trained = replace(model, objective=found)
        return self

    @property
    def _model(self) -> Model:
        training = self._training
        if training is not None:
            return training.to_model()
        assert self._trained is not None
        return self._trained

    @property
    def resolved_params(self) -> Params:
        """The parameters, checked and complete."""
        training = self._training
        if training is not None:
            return training.params
        if self._resolved is None:
            self._resolved = resolve(self.params, context="predict")
        return self._resolved

    def _in_training(self, action: str) -> Training:
        training = self._training
        if training is None:
            raise DataError(
                message(
                    f"data set used after being freed: {action} needs the training data",
                    hint="Train with keep_training_booster=True, or make the Booster with "
                    "train_set.",
                )
            )
        return training

    # ---- training ----

    def update(self, train_set: Dataset | None = None, fobj: CustomFunction | None = None) -> bool:
        """Do one round.

        Args:
            train_set: Other data to train on from now on. It must have the bins of the data so far:
                `Dataset(..., reference=train_set)`, or a `subset()`. None: the same data; where a
                field of it was set meanwhile (`set_label()`, ...), what is set now counts.
            fobj: Custom objective: (raw scores, training data) -> (gradients, hessians).

        Returns:
            Whether training is finished because nothing could be split.
        """
        training = self._in_training("update()")
        if train_set is not None and not isinstance(train_set, Dataset):
            raise DataTypeError(
                message("train_set must be a Dataset", got=type(train_set).__name__)
            )
        with training.lock:
            data = training.train.data if train_set is None else train_set
            if data is not training.train.data or data.version != self.train_set_version:
                training.use_data(data)
                self.train_set, self.train_set_version = data, data.version
            if fobj is not None:
                training.use_function(fobj)
            return training.train_round()

    def rollback_one_iter(self) -> Booster:
        """Take the last round back."""
        self._in_training("rollback_one_iter()").rollback()
        return self

    def reset_parameter(self, params: Mapping[str, Any]) -> Booster:
        """Change parameters for the rounds to come."""
        training = self._in_training("reset_parameter()")
        with training.lock:
            training.reset_params(training.params.replace(**params))
            self.params.update(params)
        return self

    def add_valid(self, data: Dataset, name: str) -> Booster:
        """Add a validation set."""
        if not isinstance(data, Dataset):
            raise DataTypeError(
                message(
                    "validation data is no Dataset",
                    got=type(data).__name__,
                    expected="train_set.create_valid(data, label)",
                )
            )
        training = self._in_training("add_valid()")
        with training.lock:
            training.add_valid(data, name)
            self.name_valid_sets.append(name)
        return self

    def eval(self, data: Dataset, name: str, feval: Feval = None) -> list[EvalResult]:
        """Evaluate the metrics on a data set; one not seen before becomes a validation set."""
        training = self._in_training("eval()")
        with training.lock:
            if data is training.train.data:
                return training.evaluate(training.train, name, feval)
            for scored in training.valid:
                if scored.data is data:
                    return training.evaluate(scored, name, feval)
            self.add_valid(data, name)
            return training.evaluate(training.valid[-1], name, feval)

    def eval_train(self, feval: Feval = None) -> list[EvalResult]:
        """Evaluate the metrics on the training data."""
        training = self._in_training("eval_train()")
        with training.lock:
            return training.evaluate(training.train, self._train_data_name, feval)

    def eval_valid(self, feval: Feval = None) -> list[EvalResult]:
        """Evaluate the metrics on every validation set."""
        training = self._in_training("eval_valid()")
        with training.lock:
            return [
                result
                for scored in training.valid
                for result in training.evaluate(scored, scored.name, feval)
            ]

    def set_train_data_name(self, name: str) -> Booster:
        """Set the name under which the training data is evaluated."""
        self._train_data_name = name
        return self

    def free_dataset(self) -> Booster:
        """Let go of the data; the model stays, but can no longer be trained."""
        training = self._training
        if training is not None:
            with training.lock:
                self._trained = training.to_model()
                self._resolved = training.params
                self._training = None
        self.train_set = None
        self.name_valid_sets = []
        return self

    def _restore_best(self, with_scores: bool) -> None:
        """Go back to the best round where later rounds have changed its trees.

        Elsewhere its trees are the first ones of the model, whatever came later.
        """
        training = self._training
        if training is None or not training.boosting.rescales:
            return
        with training.lock:
            n_base = self.current_iteration() - training.n_rounds
            if n_base < self.best_iteration < n_base + training.n_rounds:
                training.rewind(self.best_iteration - n_base, with_scores=with_scores)

    def _keep_best(self) -> None:
        """Drop the rounds after the best one, as LightGBM does at the end of a training."""
        self._trained = self._first_rounds(None)

    # ---- prediction ----

    @overload
    def predict(
        self,
        data: Any,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        raw_score: bool = False,
        pred_leaf: bool = False,
        pred_contrib: Literal[False] = False,
        data_has_header: bool = False,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> npt.NDArray[Any]: ...

    @overload
    def predict(
        self,
        data: Any,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        raw_score: bool = False,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        data_has_header: bool = False,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> Any: ...

    def predict(
        self,
        data: Any,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        raw_score: bool = False,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        data_has_header: bool = False,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """Predict the rows of a table.

        Args:
            data: Rows x columns, as for `Dataset`. The columns of a data frame are checked by
                name, and may be in another order than in training. Files and other tables in
                chunks are predicted chunk by chunk; other columns in them are passed over.
            start_iteration: First round to use.
            num_iteration: Number of rounds; None: up to the best one where early stopping found
                one, else all; 0 or less: all.
            raw_score: Whether to return raw scores.
            pred_leaf: Whether to return the leaf of each row in each tree.
            pred_contrib: Whether to return Shapley values of the raw scores, exact ones: what each
                column adds, and last what is expected of all rows. They sum up to the raw score.
            data_has_header: Whether the first line of a CSV file has names; False: unless all
                values in it are numbers.
            validate_features: What happens to the columns of a frame where the model has names too.
                None: they are found by name, in any order. True: they must be in the order of the
                training data as well. False: they are taken by position, whatever their names.
            **kwargs: Parameters: `num_threads`, `predict_disable_shape_check`, ...

        Returns:
            (rows,); (rows, classes) with several classes; (rows, trees) with `pred_leaf`; with
            `pred_contrib` (rows, columns + 1), class after class where there are several, and of
            a sparse table a compressed-row matrix (compressed columns of such a table), or a list
            with one for each class.
        """
        n_rounds = self._n_rounds(num_iteration)
        model = self._model
        if not (pred_leaf or pred_contrib) and says_nothing_of_one_row(kwargs) and is_one_row(data):
            wanted = (start_iteration, n_rounds, raw_score, self.resolved_params)
            found = self._one_row.predict(model, wanted, data)
            if found is not None:
                return found
        options = self._options(start_iteration, num_iteration, kwargs, raw_score, pred_leaf)
        options = replace(options, validate_features=validate_features)
        source = find_chunks_of(model, data, data_has_header or None)
        if source is not None:
            wants = pred_contrib or options.pred_contrib

            def predict_part(table: Table) -> Any:
                return self._predict_table(table, options, pred_contrib=wants)

            return join(by_chunks(model, source, predict_part, options.disable_shape_check))
        return self._predict_table(data, options, pred_contrib=pred_contrib or options.pred_contrib)

    def _predict_table(self, data: Any, options: PredictOptions, *, pred_contrib: bool) -> Any:
        model = self._model
        if not pred_contrib:
            return predict(model, data, options)
        values = shap_values(model, data, options)
        if isinstance(values, list):
            if getattr(data, "format", None) == "csc":  # as it came
                values = [part.tocsc() for part in values]
            return values[0] if len(values) == 1 else values
        return values.reshape(len(values), values.shape[1] * values.shape[2])

    @cached_property
    def _one_row(self) -> OneRow:
        return OneRow()

    def predictor(
        self,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        raw_score: bool = False,
    ) -> Predictor:
        """Return a small object that predicts single rows, for servers.

        It may be called from many threads, and knows the model as it is now: further training does
        not change what it says.

        Args:
            start_iteration: First round to use.
            num_iteration: Number of rounds, as for `predict`.
            raw_score: Whether to return raw scores.

        Example:
            >>> table = np.arange(100.0).reshape(-1, 1)
            >>> booster = Booster({"objective": "binary"}, Dataset(table, label=table[:, 0] > 50))
            >>> is_finished = booster.update()
            >>> predict_row = booster.predictor()
            >>> predict_row([90.0]) > predict_row([10.0])
            True
        """
        options = self._options(start_iteration, num_iteration, {}, raw_score)
        return Predictor(self._model, options)

    def _options(
        self,
        start_iteration: int,
        num_iteration: int | None,
        kwargs: Mapping[str, Any],
        raw_score: bool = False,
        pred_leaf: bool = False,
    ) -> PredictOptions:
        n_rounds = self._n_rounds(num_iteration)
        return PredictOptions.from_arguments(
            start_iteration, n_rounds, raw_score, pred_leaf, kwargs, self.resolved_params
        )

    def _n_rounds(self, num_iteration: int | None) -> int:
        """Number of rounds to use: those asked for, the best, or 0 for all."""
        return self.best_iteration if num_iteration is None else num_iteration

    # ---- facts ----

    def current_iteration(self) -> int:
        """Return the number of rounds in the model."""
        return self.num_trees() // self.num_model_per_iteration()

    def num_trees(self) -> int:
        """Return the number of trees in the model."""
        training = self._training
        if training is not None:
            return training.n_base_trees + len(training.trees)
        return self._model.forest.n_trees

    def num_model_per_iteration(self) -> int:
        """Return the number of trees per round: the number of outputs, or 1 with vector leaves."""
        training = self._training
        if training is not None:
            return training.trees_per_round
        return self._model.forest.trees_per_round

    def num_feature(self) -> int:
        """Return the number of columns."""
        return self._model.n_columns

    def feature_name(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._model.names)

    def _facts(self) -> dict[str, object]:
        """What to show of it."""
        model = self._model
        facts: dict[str, object] = {
            "objective": model.objective.name,
            "rounds": self.current_iteration(),
            "columns": model.n_columns,
        }
        if self.best_iteration > 0:
            facts["best round"] = self.best_iteration
        for data, scores in self.best_score.items():
            facts |= {f"{data} {metric}": value for metric, value in scores.items()}
        return facts

    def __repr__(self) -> str:
        return to_line("Booster", self._facts())

    def _repr_html_(self) -> str:
        facts = {**self._facts(), "trees": self.num_trees(), "names": shorten(self.feature_name())}
        given = (f"{name}={value!r}" for name, value in self._given_params().items())
        return to_html("Booster", {**facts, "parameters": shorten(list(given), most=20)})

    @property
    def levels(self) -> Levels | None:
        """What the codes of text and categories stand for; None: all columns are numbers."""
        return self._model.levels

    @property
    def class_names(self) -> list[Level] | None:
        """What classes 0, 1, ... stand for; None: `set_class_names` was not called."""
        names = self._model.class_names
        return None if names is None else list(names)

    def set_class_names(self, names: Sequence[Level]) -> Booster:
        """Say what classes 0, 1, ... stand for; model files of our own keep it.

        Predictions stay probabilities, in the order of the classes.

        Args:
            names: Text, numbers or truth values, one for each class.

        Raises:
            DataError: If they do not fit the model, or the model is still in training.

        Example:
            >>> data = Dataset(np.arange(100.0).reshape(-1, 1), label=np.arange(100) > 50)
            >>> booster = Booster({"objective": "binary"}, data)
            >>> booster.free_dataset().set_class_names(["early", "late"]).class_names
            ['early', 'late']
        """
        if self._training is not None:
            raise DataError(
                message(
                    "names of classes belong to a finished model",
                    hint="Call free_dataset() first, or leave keep_training_booster out.",
                )
            )
        model = self._model
        self._trained = replace(model, class_names=check_class_names(names, model.objective))
        return self

    @property
    def pandas_categorical(self) -> list[list[Level]] | None:
        """The levels of each column that has some, as LightGBM calls them."""
        levels = self.levels
        return None if levels is None else [list(found) for found in levels.by_column.values()]

    def feature_importance(
        self, importance_type: str = "split", iteration: int | None = None
    ) -> npt.NDArray[Any]:
        """Return how much each column matters.

        Args:
            importance_type: "split" counts the splits; "gain" (or "total_gain") adds up their
                gains, "cover" (or "total_cover") the hessians of the rows that they divide;
                "mean_gain" and "mean_cover" are these by split.
            iteration: Number of rounds to look at; None: up to the best one, else all.
        """
        model = self._first_rounds(iteration)
        return feature_importance(model.forest, importance_type, model.derived)

    def lower_bound(self) -> float:
        """Return the lowest raw score that any row could get."""
        return self._bound(np.minimum)

    def upper_bound(self) -> float:
        """Return the highest raw score that any row could get."""
        return self._bound(np.maximum)

    def _bound(self, choose: np.ufunc) -> float:
        model = self._model
        forest = model.forest
        start = np.zeros_like(model.start) if model.average_output else model.start
        values = forest.arrays["leaf_value"].reshape(-1, forest.n_values)
        if forest.linear is not None:
            values = forest.linear["linear_low" if choose is np.minimum else "linear_high"][:, None]
        begin = forest.leaf_begin[:-1]
        by_tree = choose.reduceat(values, begin) if len(begin) else values
        # Added up one after another, as a prediction is: so not even rounding breaks the bound.
        steps = np.concatenate([start, by_tree.ravel()]).reshape(-1, forest.n_outputs)
        total = np.cumsum(steps, axis=0)[-1]
        if model.average_output:
            total = total / max(forest.n_rounds, 1) + model.start
        return float(choose.reduce(total))

    def get_leaf_output(self, tree_id: int, leaf_id: int) -> float | npt.NDArray[np.float64]:
        """Return the value of one leaf of one tree; with vector leaves, that of each output.

        With `linear_tree` it is what rows get in which a value is missing.
        """
        values = leaf_values(self._model.forest, tree_id, leaf_id)
        return values[leaf_id].copy() if values.shape[1] > 1 else float(values[leaf_id, 0])

    def set_leaf_output(self, tree_id: int, leaf_id: int, value: Any) -> Booster:
        """Give one leaf of one tree another value; in a training, scores follow.

        Args:
            tree_id: Number of the tree, from 0.
            leaf_id: Number of the leaf in the tree, from 0.
            value: The value, shrinkage included; with vector leaves, one for each output.

        Raises:
            ParameterError: If there is no such leaf, or the value does not fit.

        Example:
            >>> data = Dataset(np.arange(100.0).reshape(-1, 1), label=np.arange(100) > 50)
            >>> booster = Booster({"objective": "binary", "num_leaves": 2}, data)
            >>> booster.update()
            False
            >>> booster.set_leaf_output(0, 1, 0.5).get_leaf_output(0, 1)
            0.5
        """
        training = self._training
        with nullcontext() if training is None else training.lock:
            model = self._model
            values = leaf_values(model.forest, tree_id, leaf_id).copy()
            values[leaf_id] = check_leaf_value(value, model.forest.n_values)
            if training is not None and tree_id >= training.n_base_trees:
                set_leaf_values(training, tree_id - training.n_base_trees, values.ravel())
                return self
            whole = model if training is None or training.base is None else training.base.model
            changed = replace(whole, forest=with_leaf_values(whole.forest, tree_id, values.ravel()))
            if training is None:
                self._trained = changed
            else:
                set_base(training, changed)
        return self

    def shuffle_models(self, start_iteration: int = 0, end_iteration: int = -1) -> Booster:
        """Put rounds into a random order, which is always the same; predictions hardly change.

        They do not change but for rounding, and where only some rounds are used.

        Args:
            start_iteration: First round to move.
            end_iteration: One after the last; 0 or less: all that follow.

        Raises:
            ParameterError: If there are no such rounds.
        """
        training = self._training
        with nullcontext() if training is None else training.lock:
            model = self._model
            order = shuffled_rounds(model.forest.n_rounds, start_iteration, end_iteration)
            if training is None:
                self._trained = replace(model, forest=permute_rounds(model.forest, order))
                return self
            n_base = model.forest.n_rounds - training.n_rounds
            if order[:n_base] != list(range(n_base)):
                raise DataError(
                    message(
                        "rounds of init_model cannot be shuffled while training continues from it",
                        got=start_iteration,
                        expected=f"start_iteration >= {n_base}",
                        hint="Call free_dataset() first.",
                    )
                )
            move_rounds(training, [i - n_base for i in order[n_base:]])
        return self

    def get_split_value_histogram(
        self, feature: int | str, bins: int | str | None = None, xgboost_style: bool = False
    ) -> Any:
        """Count the thresholds at which a column is split.

        Args:
            feature: The column, by number or name.
            bins: As for `numpy.histogram`; None: as many as there are different thresholds.
            xgboost_style: Whether to return a table of (SplitValue, Count) without empty bins: a
                pandas data frame if pandas is installed, else an array.

        Returns:
            Counts and edges of the bins, or the table.

        Example:
            >>> data = Dataset(np.arange(100.0).reshape(-1, 1), label=np.arange(100) > 50)
            >>> booster = Booster({"objective": "binary", "num_leaves": 2}, data)
            >>> booster.update()
            False
            >>> counts, edges = booster.get_split_value_histogram("Column_0")
            >>> counts
            array([1])
        """
        return split_value_histogram(self._first_rounds(None), feature, bins, xgboost_style)

    def refit(
        self,
        data: Any,
        label: Any,
        decay_rate: float = 0.9,
        reference: Dataset | None = None,
        weight: Any = None,
        group: Any = None,
        init_score: Any = None,
        feature_name: Sequence[str] | Literal["auto"] = "auto",
        categorical_feature: Sequence[str | int] | Literal["auto"] = "auto",
        dataset_params: Mapping[str, Any] | None = None,
        free_raw_data: bool = True,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> Booster:
        """Learn the leaf values again on other data; the splits stay.

        Round after round, a leaf's value becomes `decay_rate` times the old one plus `1 -
        decay_rate` times what its rows of the new data ask for, shrunk by `learning_rate`. What
        the model starts from changes in the same way. Leaves that no row falls into keep their
        value. See docs/control.md.

        Args:
            data: Rows x columns, as for `predict`.
            label: Labels, as for `Dataset`.
            decay_rate: Share of the old value that is kept, from 0 to 1.
            reference: As for `Dataset`.
            weight: Weights, as for `Dataset`.
            group: Rows of each query, as for `Dataset`.
            init_score: Scores to start from, as for `Dataset`.
            feature_name: As for `Dataset`.
            categorical_feature: As for `Dataset`.
            dataset_params: Parameters of the `Dataset`.
            free_raw_data: Has no effect: the data is not kept.
            validate_features: As for `predict`.
            **kwargs: Parameters that replace those the model was trained with, such as
                `lambda_l2`; `objective` for a model with an objective of one's own.

        Returns:
            A new model; this one is not changed.

        Raises:
            ParameterError: If `decay_rate` is not between 0 and 1.
            DataError: If the data does not fit the model.

        Example:
            >>> x = np.arange(100.0).reshape(-1, 1)
            >>> booster = Booster({"num_leaves": 2}, Dataset(x, label=x[:, 0] > 50))
            >>> booster.update()
            False
            >>> moved = booster.refit(x, 10 * (x[:, 0] > 50), decay_rate=0.0)
            >>> bool(moved.predict([[99.0]]) > booster.predict([[99.0]]))
            True
        """
        params = self._given_params()
        data = whole_table(data)
        if validate_features is False and isinstance(feature_name, str):
            feature_name = self.feature_name()
        new_set = Dataset(
            data,
            label,
            reference=reference,
            weight=weight,
            group=group,
            init_score=init_score,
            feature_name=feature_name,
            categorical_feature=categorical_feature,
            params=dataset_params,
            free_raw_data=False,
        )
        resolved = resolve(params).replace(**kwargs)
        booster = copy.copy(self)
        booster.params = {**params, **kwargs}
        booster._trained = refit(
            self._model, resolved, new_set, data, decay_rate, validate_features
        )
        return booster

    # ---- machines ----

    def set_network(
        self,
        machines: Any,
        local_listen_port: int = 12400,
        listen_time_out: int = 120,
        num_machines: int = 1,
    ) -> Booster:
        """Do nothing: training runs on one machine. For LightGBM's sake.

        Raises:
            NotSupportedError: If `num_machines` is more than 1.
        """
        if num_machines > 1:
            raise NotSupportedError(
                message(
                    "training runs on one machine in this version of Gossamer",
                    got=num_machines,
                    expected="num_machines=1",
                    hint="Leave set_network() out: each machine would train a model of its own.",
                )
            )
        return self

    def free_network(self) -> Booster:
        """Do nothing: there is no network. For LightGBM's sake."""
        return self

    # ---- files ----

    def _given_params(self) -> dict[str, Any]:
        return {name: v for name, v in self.params.items() if not _is_placeholder(name, v)}

    def _first_rounds(self, num_iteration: int | None, start_iteration: int = 0) -> Model:
        model = self._model
        n_rounds, wanted = model.forest.n_rounds, self._n_rounds(num_iteration)
        first = min(max(start_iteration, 0), n_rounds)
        last = min(first + wanted, n_rounds) if wanted > 0 else n_rounds
        return model.rounds(first, last)

    def _become(self, model: Model) -> None:
        self.free_dataset()
        self.best_iteration = -1
        self._use(model)

    @classmethod
    def _of(cls, model: Model) -> Booster:
        booster = cls.__new__(cls)
        booster._clear()
        booster._use(model)
        return booster

    def _with(self, model: Model) -> Booster:
        booster = type(self).__new__(type(self))
        booster._clear(self.params)
        booster._trained = model
        return booster

    # ---- copies ----

    def __getstate__(self) -> dict[str, Any]:
        """Keep the whole model and what was found in training, not the data.

        A link function is kept if it can be pickled.
        """
        state = self._state()
        try:
            pickle.dumps(state["link"])
        except (pickle.PicklingError, AttributeError, TypeError):
            state["link"] = None
            warn(
                "The link function of the objective cannot be pickled and is left out: the copy "
                "predicts raw scores until set_objective() is called. A function of a module can."
            )
        return state

    def _state(self) -> dict[str, Any]:
        kept = ("params", "best_iteration", "best_score", "_train_data_name", "was_interrupted")
        state = {name: getattr(self, name) for name in kept}
        state["params"] = {
            name: "custom" if callable(value) else value for name, value in self.params.items()
        }
        model = self._model
        link = model.objective.link if isinstance(model.objective, CustomWithLink) else None
        return {**state, "model": model_file.to_bytes(model), "link": link}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the booster again."""
        state = dict(state)
        model, link = model_file.from_bytes(state.pop("model")), state.pop("link", None)
        if isinstance(model.objective, CustomWithLink):
            model = replace(model, objective=replace(model.objective, link=link))
        self._clear()
        self._trained = model
        self.__dict__.update(state)

    def __copy__(self) -> Booster:
        """Copy the model, not the data."""
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Booster:
        """Copy the model, not the data."""
        booster = type(self).__new__(type(self))
        booster.__setstate__(copy.deepcopy(self._state(), memo))
        return booster


def _model_of(init_model: object) -> Model:
    """Return the model to continue from: that of a booster, up to its best round, or a file's.

    Raises:
        ParameterError: If it is neither.
    """
    if isinstance(init_model, Booster):
        return init_model._first_rounds(None)
    if isinstance(init_model, (str, os.PathLike)):
        return formats.load(init_model)
    raise ParameterError(
        message(
            "init_model is not usable",
            got=type(init_model).__name__,
            expected="a Booster, or the path of a saved one",
        )
    )


def _is_placeholder(name: str, value: object) -> bool:
    """Whether this stands for an objective of the user's that a model file could not keep."""
    return CANONICAL.get(name) == "objective" and value == "custom"
