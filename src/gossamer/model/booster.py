"""`Booster`: a model, in training or trained."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gossamer.data import Dataset
from gossamer.data.dataset import built_data, check_dataset, given_rows
from gossamer.data.table.columns import Level
from gossamer.errors import (
    DataError,
    NotSupportedError,
    ParameterError,
    ParameterTypeError,
)
from gossamer.logger import warn
from gossamer.metrics import EvalResult
from gossamer.model import formats
from gossamer.model.change import refit_booster
from gossamer.model.change.edit import change_leaf_of, shuffle_rounds_of
from gossamer.model.class_names import check_class_names
from gossamer.model.files.pickled import (
    model_from_state,
    model_to_state,
    without_unpicklable_link,
)
from gossamer.model.given_params import saved_params
from gossamer.model.loaded_objective import NO_LINK, not_a_loaded_custom, with_objective
from gossamer.model.model import Model
from gossamer.model.trained_model import TrainedModel, model_to_continue
from gossamer.model.training.base_model import BaseModel
from gossamer.model.training.change_training import change_leaf, shuffle_rounds
from gossamer.model.training.evaluate import Feval, evaluate, training_of
from gossamer.model.training.training import Training
from gossamer.notebook import first_curves
from gossamer.objectives import CustomObjective, CustomWithLink
from gossamer.objectives.custom import CustomFunction
from gossamer.params import CANONICAL, Params, resolve
from gossamer.params.given import as_dict


class Booster(TrainedModel):
    """A model. With a training set, it can be trained further.

    Args:
        params: Parameters of the training.
        train_set: Training data.
        model_file: Path of a saved model.
        model_str: Text of a saved model (`model_to_string`).
        objective: With a saved model: its `CustomObjective`, see `set_objective`.
        init_model: With a training set: a `Booster`, or the path of a saved one, to continue from.

    Attributes:
        params: The parameters, as given.
        best_iteration: Best number of rounds found by early stopping; 0 or less if there was none.
        best_score: Metrics of the best round, or of the last one: data set -> metric -> value.
        eval_history: Metrics that `train()` evaluated, in order: data set -> metric -> values.
        train_set: Training data, until it is released.
        training: The state of the training (data, trees and scores); None once data is released.
        name_valid_sets: Names of the validation sets.
        train_set_version: How often a field of the training data had been set when it was used.
        was_interrupted: Whether `train()` was stopped by Ctrl-C; the model has the rounds until
            then.

    Example:
        >>> import numpy as np
        >>> data = Dataset(np.arange(100.0).reshape(-1, 1), label=np.arange(100) > 50)
        >>> booster = Booster({"objective": "binary"}, data)
        >>> for _ in range(10):
        ...     is_finished = booster.update()
        >>> booster.num_trees(), booster.predict([[10.0], [90.0]]).round()
        (10, array([0., 1.]))
    """

    params: dict[str, Any]
    best_score: dict[str, dict[str, float]]
    eval_history: dict[str, dict[str, list[float]]]
    train_set: Dataset | None
    name_valid_sets: list[str]
    training: Training | None
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
            check_dataset(train_set)
            if objective is not None:
                raise ParameterError.because(
                    "objective is for a saved model",
                    hint="Pass it as params['objective'] to train with it.",
                )
            base = None if init_model is None else BaseModel(model_to_continue(init_model))
            table = None if base is None else given_rows(train_set)
            resolved = resolve(self.params)
            built = built_data(train_set, resolved, for_training=True)
            self.training = Training(resolved, built, train_set, base, table)
            self.train_set = train_set
            self.train_set_version = train_set.version
            given = {CANONICAL[name] for name in self.params}
            of_data = train_set.get_params().items()  # not only what this training was given
            self.params |= {name: value for name, value in of_data if name not in given}
        elif init_model is not None:
            raise ParameterError.because(
                "init_model is for a training", hint="Pass train_set as well."
            )
        elif model_file is not None:
            self._use(formats.load(model_file), objective, is_file=True)
        elif model_str is not None:
            self._use(formats.from_text(model_str), objective, is_file=True)
        else:
            raise ParameterTypeError.because(
                "a Booster needs train_set, model_file or model_str; none was given"
            )

    def _clear(self, params: Mapping[str, Any] | None = None) -> None:
        self.params = as_dict(params)
        self.best_iteration = -1
        self.best_score = {}
        self.eval_history = {}
        self.train_set = None
        self.name_valid_sets = []
        self.train_set_version = -1
        self.was_interrupted = False
        self._train_data_name = "training"
        self.training = None
        self._trained = None
        self._resolved = None

    def _use(
        self, model: Model, objective: CustomObjective | None = None, *, is_file: bool = False
    ) -> None:
        if is_file:  # as in LightGBM, its parameters win
            self.params = saved_params(self.params, model)
        self._trained = model
        self._resolved = None
        if not self.params:
            self.params = dict(model.params)
        if objective is not None:
            self.set_objective(objective)
        elif isinstance(model.objective, CustomWithLink) and model.objective.link is None:
            warn(NO_LINK)

    def set_objective(self, objective: CustomObjective) -> Booster:
        """Set the custom objective of a loaded model, which a file cannot store.

        Args:
            objective: The objective that the model was trained with. Predictions use its link from
                now on.

        Raises:
            DataError: If the model is still in training, or has a built-in objective.
            ParameterError: If this is not a `CustomObjective`, or has another number of outputs.
        """
        if self.training is not None:
            raise not_a_loaded_custom("a model in training")
        self.model = with_objective(self.model, objective)
        return self

    def _curve_html(self) -> str:
        return first_curves(self.eval_history, self.best_iteration)

    @property
    def resolved_params(self) -> Params:
        """All parameters, checked and including defaults."""
        training = self.training
        if training is not None:
            return training.params
        if self._resolved is None:
            self._resolved = resolve(self.params, context="predict")
        return self._resolved

    def num_trees(self) -> int:
        """Return the number of trees in the model."""
        training = self.training
        if training is not None:
            return training.n_base_trees + len(training.trees)
        return self.model.forest.n_trees

    def num_passes(self) -> int:
        """Return how often the training data was read from disk; 0 if its bins are in memory."""
        return training_of(self, "num_passes()").n_passes()

    def _held_memory(self) -> int:
        training = self.training
        return 0 if training is None else training.prepared.grower.memory_between_rounds()

    def num_model_per_iteration(self) -> int:
        """Return the number of trees per round: the number of outputs, or 1 with vector leaves."""
        training = self.training
        if training is not None:
            return training.trees_per_round
        return self.model.forest.trees_per_round

    @property
    def model(self) -> Model:
        """The current trees, names, objective and everything else that predictions need.

        Once the data is released, another model may be assigned.

        Example:
            >>> booster = Booster({}, Dataset([[1.0], [2.0]], label=[0, 1]))
            >>> booster.model.names, booster.model.forest.n_trees
            (['Column_0'], 0)
        """
        training = self.training
        if training is not None:
            return training.to_model()
        assert self._trained is not None
        return self._trained

    @model.setter
    def model(self, model: Model) -> None:
        if self.training is not None:
            raise DataError.because(
                "the model of a training cannot be replaced",
                hint="Call free_dataset() first.",
            )
        self._trained = model

    # ---- training ----

    def update(self, train_set: Dataset | None = None, fobj: CustomFunction | None = None) -> bool:
        """Train one round.

        Args:
            train_set: Other data to train on from now on. It must have the same bins as the current
                data: `Dataset(..., reference=train_set)`, or a `subset()`. None means the same
                data; fields that were set in the meantime (`set_label()` and others) are used.
            fobj: Custom objective: (raw scores, training data) -> (gradients, hessians).

        Returns:
            Whether training is finished because no leaf could be split.
        """
        training = training_of(self, "update()")
        if train_set is not None:
            check_dataset(train_set)
        with training.lock:
            before = training.train.given
            data = before if train_set is None else train_set
            if data is not before or data.version != self.train_set_version:
                table = None if training.base is None else given_rows(data)
                params = None if data is before else training.params
                built = built_data(data, params, before, for_training=True)
                training.use_data(built, data, table)
                self.train_set, self.train_set_version = data, data.version
            if fobj is not None:
                if not callable(fobj):
                    raise ParameterTypeError.because("fobj must be a function", got=fobj)
                training.use_function(fobj)
            return training.train_round()

    refit = refit_booster.refit

    def rollback_one_iter(self) -> Booster:
        """Remove the last round."""
        training_of(self, "rollback_one_iter()").rollback()
        return self

    def reset_parameter(self, params: Mapping[str, Any]) -> Booster:
        """Change parameters for the rounds to come."""
        training = training_of(self, "reset_parameter()")
        if not isinstance(params, Mapping):
            raise ParameterTypeError.because("params must be a dict", got=params)
        if not all(isinstance(name, str) for name in params):
            raise ParameterTypeError.because("a parameter's name must be text", got=params)
        with training.lock:
            training.reset_params(training.params.replace(**params))
            self.params.update(params)
        return self

    def add_valid(self, data: Dataset, name: str) -> Booster:
        """Add a validation set."""
        check_dataset(data, "validation data", "train_set.create_valid(data, label)")
        if not isinstance(name, str):
            raise ParameterTypeError.because("a data set's name must be text", got=type(name))
        training = training_of(self, "add_valid()")
        with training.lock:
            table = None if training.base is None else given_rows(data)
            built = built_data(data, training.params, training.train.given)
            training.add_valid(built, data, name, table)
            self.name_valid_sets.append(name)
        return self

    def eval(self, data: Dataset, name: str, feval: Feval = None) -> list[EvalResult]:
        """Evaluate the metrics on a data set. A new data set is added to the validation sets."""
        training = training_of(self, "eval()")
        with training.lock:
            for scored in (training.train, *training.valid):
                if scored.given is data:
                    return evaluate(training, scored, name, feval)
            self.add_valid(data, name)
            return evaluate(training, training.valid[-1], name, feval)

    def eval_train(self, feval: Feval = None) -> list[EvalResult]:
        """Evaluate the metrics on the training data."""
        training = training_of(self, "eval_train()")
        with training.lock:
            return evaluate(training, training.train, self._train_data_name, feval)

    def eval_valid(self, feval: Feval = None) -> list[EvalResult]:
        """Evaluate the metrics on every validation set."""
        training = training_of(self, "eval_valid()")
        with training.lock:
            return [
                result
                for scored in training.valid
                for result in evaluate(training, scored, scored.name, feval)
            ]

    @property
    def train_data_name(self) -> str:
        """The name under which the training data is evaluated."""
        return self._train_data_name

    def set_train_data_name(self, name: str) -> Booster:
        """Set the name under which the training data is evaluated."""
        self._train_data_name = name
        return self

    def free_dataset(self) -> Booster:
        """Release the data. The model remains, but can no longer be trained."""
        training = self.training
        if training is not None:
            with training.lock:
                self._trained = training.to_model()
                self._resolved = training.params
                self.training = None
        self.train_set = None
        self.name_valid_sets = []
        return self

    def set_class_names(self, names: Sequence[Level]) -> Booster:
        """Set the names of classes 0, 1, ... Gossamer's model files store them.

        Predictions are still probabilities, in the order of the classes.

        Args:
            names: Text, numbers or booleans, one for each class.

        Raises:
            DataError: If the names do not fit the model, or the model is still in training.

        Example:
            >>> import numpy as np
            >>> data = Dataset(np.arange(100.0).reshape(-1, 1), label=np.arange(100) > 50)
            >>> booster = Booster({"objective": "binary"}, data)
            >>> booster.free_dataset().set_class_names(["early", "late"]).class_names
            ['early', 'late']
        """
        if self.training is not None:
            raise DataError.because(
                "names of classes belong to a finished model",
                hint="Call free_dataset() first, or leave keep_training_booster out.",
            )
        model = self.model
        self._trained = replace(model, class_names=check_class_names(names, model.objective))
        return self

    def set_leaf_output(self, tree_id: int, leaf_id: int, value: Any) -> Booster:
        """Change the value of a leaf. During training, the scores are updated.

        Args:
            tree_id: Number of the tree, from 0.
            leaf_id: Number of the leaf in the tree, from 0.
            value: The value, including shrinkage; with vector leaves, one value per output.

        Raises:
            ParameterError: If there is no such leaf, or the value does not fit.

        Example:
            >>> import numpy as np
            >>> data = Dataset(np.arange(100.0).reshape(-1, 1), label=np.arange(100) > 50)
            >>> booster = Booster({"objective": "binary", "num_leaves": 2}, data)
            >>> booster.update()
            False
            >>> booster.set_leaf_output(0, 1, 0.5).get_leaf_output(0, 1)
            0.5
        """
        training = self.training
        if training is not None:
            change_leaf(training, tree_id, leaf_id, value)
        else:
            self.model = change_leaf_of(self.model, tree_id, leaf_id, value)
        return self

    def shuffle_models(self, start_iteration: int = 0, end_iteration: int = -1) -> Booster:
        """Reorder the rounds at random, always in the same way.

        Predictions change only by rounding, unless you use some of the rounds.

        Args:
            start_iteration: First round to move.
            end_iteration: One after the last; 0 or less means all that follow.

        Raises:
            ParameterError: If there are no such rounds.
        """
        training = self.training
        if training is not None:
            shuffle_rounds(training, start_iteration, end_iteration)
        else:
            self.model = shuffle_rounds_of(self.model, start_iteration, end_iteration)
        return self

    # ---- machines ----

    def set_network(
        self,
        machines: Any,
        local_listen_port: int = 12400,
        listen_time_out: int = 120,
        num_machines: int = 1,
    ) -> Booster:
        """Do nothing: a `Booster` trains on one machine. For compatibility with LightGBM.

        Raises:
            NotSupportedError: If `num_machines` is more than 1.
        """
        if num_machines > 1:
            raise NotSupportedError.because(
                "set_network() cannot be used: a Booster trains on one machine",
                got=num_machines,
                hint="Use gossamer.distributed.train, or gossamer.dask.",
            )
        return self

    def free_network(self) -> Booster:
        """Do nothing: there is no network. For compatibility with LightGBM."""
        return self

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
        return without_unpicklable_link(self._state())

    def _state(self) -> dict[str, Any]:
        kept = (
            "params",
            "best_iteration",
            "best_score",
            "eval_history",
            "_train_data_name",
            "was_interrupted",
        )
        state = {name: getattr(self, name) for name in kept}
        state["params"] = {
            name: "custom" if callable(value) else value for name, value in self.params.items()
        }
        return {**state, **model_to_state(self.model)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        model, state = model_from_state(state)
        self._clear()
        self._trained = model
        self.__dict__.update(state)

    def __copy__(self) -> Booster:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Booster:
        booster = type(self).__new__(type(self))  # without the data
        booster.__setstate__(copy.deepcopy(self._state(), memo))
        return booster
