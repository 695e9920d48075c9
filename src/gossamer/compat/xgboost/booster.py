"""`Booster`: a model, by XGBoost's names."""

from __future__ import annotations

import copy
import json
import operator
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.compat.xgboost import model_file
from gossamer.compat.xgboost.categories import Categories
from gossamer.compat.xgboost.contributions import contributions, interactions
from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.dump import Columns, dump_trees, trees_to_frame
from gossamer.compat.xgboost.evaluation import Score, evaluate_scores, format_scores
from gossamer.compat.xgboost.importance import importance
from gossamer.compat.xgboost.metrics import their_metric
from gossamer.compat.xgboost.objective import (
    Faces,
    MetricFunction,
    ObjectiveFunction,
    as_objective,
    call_metric,
)
from gossamer.compat.xgboost.params import params_for, read_params, take_start
from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.prediction import leaf_numbers, raw_scores, to_predictions
from gossamer.compat.xgboost.rounds import begin_training
from gossamer.compat.xgboost.saved_config import read_config, write_config
from gossamer.data import Dataset
from gossamer.data.dataset import built_data, given_rows
from gossamer.errors import DataError, NotSupportedError, ParameterError, message
from gossamer.files import write_atomically
from gossamer.model import Booster as CoreBooster
from gossamer.model.edit import permute_rounds
from gossamer.model.evaluate import evaluate
from gossamer.model.formats.xgboost_objective import to_base_score
from gossamer.model.model import Model

Array = npt.NDArray[Any]

# The score of a model without rounds.
NO_ROUNDS_SCORE: Final = 0.5
# Objectives for classes that predict something else than probabilities.
_LINKS_OF_CLASSES: Final = {"multi:softmax": "softmax", "binary:logitraw": "sigmoid"}


class Booster:
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
        for data in cache or ():
            _check_data(data)
        self._params = read_params(params)
        self._core: CoreBooster | None = None
        self._attributes: dict[str, str] = {}
        self._names: list[str] | None = None
        self._types: list[str] | None = None
        self._predicts_classes = False  # though the objective gives probabilities
        self._forget()
        if isinstance(model_file, Booster):
            self._take(model_file)
        elif model_file is not None:
            self.load_model(model_file)

    def _forget(self) -> None:
        """Forget everything about the training."""
        self._train_data: DMatrix | None = None
        self._valid_sets: list[tuple[DMatrix, Dataset]] = []
        self._faces = Faces()
        self._function: ObjectiveFunction | None = None
        self._has_function = False

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
        self._begin(dtrain, has_function=fobj is not None)
        if fobj is not None:
            self._function = fobj
        assert self._core is not None
        self._core.update()

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
        self.update(dtrain, iteration, fobj or (lambda score, data: (grad, hess)))

    def _begin(self, data: DMatrix, has_function: bool) -> None:
        """Start a training, or resume from the model so far with other data."""
        _check_data(data)
        core = self._core
        if core is not None and core.training is not None and data is self._train_data:
            if has_function != self._has_function:
                raise NotSupportedError(
                    message(
                        "a training has one loss from its first round on",
                        got="fobj" if has_function else "no fobj",
                        expected="no fobj" if has_function else "fobj in every round",
                    )
                )
            return
        base = None if core is None or core.num_trees() == 0 else core
        self._forget()
        params = params_for(self._params, data)
        start = take_start(params)
        train_set = data.as_train_set(params)
        self._train_data, self._has_function = data, has_function
        self._faces.known.append((train_set, data))
        if has_function:
            self._predicts_classes = params["objective"] == "multi:softmax"
            params["objective"] = as_objective(self._call_function, params, self._faces)
        self._core = CoreBooster(params, train_set, init_model=base)
        begin_training(self._core, start if base is None else None)
        self._names, self._types = data.feature_names, data.feature_types

    def start_without_rounds(self, data: DMatrix, has_function: bool = False) -> None:
        """Become a model of no rounds; as in XGBoost, its scores are `base_score` as it is.

        Args:
            data: Training data.
            has_function: Whether the loss is a function.
        """
        base_score = self._params.get("base_score", NO_ROUNDS_SCORE)
        self._begin(data, has_function)
        start = np.zeros_like(self.model.start) + np.asarray(base_score, dtype=np.float64)
        self._core = CoreBooster.from_model(replace(self.model, start=start))
        self._forget()

    def _call_function(self, score: npt.NDArray[np.float32], data: DMatrix) -> tuple[Any, Any]:
        assert self._function is not None
        return self._function(score, data)

    def set_param(self, params: Any, value: Any = None) -> None:
        """Change parameters, for the rounds to come if some are done.

        Args:
            params: Parameters by name; or one name.
            value: Its value.
        """
        data, core = self._train_data, self._core
        before = {} if data is None else params_for(self._params, data)
        self._params |= read_params({params: value} if isinstance(params, str) else params)
        if data is None or core is None:
            return
        after = params_for(self._params, data)
        changed = {name: new for name, new in after.items() if new != before.get(name)}
        if self._has_function:
            changed.pop("objective", None)
        core.reset_parameter(changed)

    def reset(self) -> Booster:
        """Release the data; the model stays."""
        if self._core is not None:
            self._core.free_dataset()
        self._forget()
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
        for data, name in evals:
            _check_data(data)
            found += self._evaluate_one(data, name)
        for data, name in evals if feval is not None else ():
            assert feval is not None
            predictions = self._scores_of(data)
            if not output_margin:
                predictions = self.to_predictions(predictions)
            found += [Score(name, *each) for each in call_metric(feval, predictions, data)]
        return found

    def _evaluate_one(self, data: DMatrix, name: str) -> list[Score]:
        core = self.fitted
        training = core.training
        if training is None:
            return evaluate_scores(core, data, name, self._raw(data))
        results = evaluate(training, self._scored(data), name)
        return [Score(name, their_metric(each.metric_name), each.metric_value) for each in results]

    def _scored(self, data: DMatrix) -> Any:
        """Return a data set of the training with its scores; a new one is added to it."""
        core = self.fitted
        training = core.training
        assert training is not None and self._train_data is not None
        if data is self._train_data:
            return training.train
        for known, valid_set in self._valid_sets:
            if known is data:
                return next(each for each in training.valid if each.given is valid_set)
        margin = data.fields.get("base_margin")
        has_margin = "base_margin" in self._train_data.fields
        if has_margin != (margin is not None) and (has_margin or training.base is not None):
            raise NotSupportedError(
                message(
                    "base_margin must be given for all data of this training, or for none",
                    got=f"a base_margin of the {'training' if has_margin else 'other'} data only",
                )
            )
        has_zeros = not self._train_data.is_sparse
        valid_set = data.as_valid_set(training.train.given, has_zeros)
        if margin is not None and not has_margin:  # it takes the place of what training starts from
            valid_set.set_init_score(margin.reshape(data.num_row(), -1) - training.start)
        table = None if training.base is None else given_rows(valid_set)
        built = built_data(valid_set, training.params, training.train.given)
        scored = training.add_valid(built, valid_set, f"valid_{len(self._valid_sets)}", table)
        self._valid_sets.append((data, valid_set))
        return scored

    def _scores_of(self, data: DMatrix) -> npt.NDArray[np.float64]:
        """Raw scores, (rows,) or (rows, outputs)."""
        training = self.fitted.training
        if training is None:
            return self._raw(data)
        training.refresh()
        score: npt.NDArray[np.float64] = training.boosting.current(training, self._scored(data))
        k = training.n_outputs
        return score.reshape(k, -1).T.copy() if k > 1 else score.copy()

    # ---- prediction ----

    @warn_of_positions
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
            approx_contribs: Whether only the splits on a row's path contribute.
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
        _check_kinds(pred_leaf, pred_contribs, pred_interactions)
        if validate_features:
            self._check_names(data.feature_names)
        if pred_leaf:
            leaves = leaf_numbers(self.fitted, data, *self._range(iteration_range))
            flat = leaves.reshape(len(leaves), -1)
            return leaves if strict_shape else flat[:, 0] if flat.shape[1] == 1 else flat
        if pred_contribs or pred_interactions:
            values = self._contributions(data, iteration_range, pred_interactions, approx_contribs)
            is_one = values.shape[1] == 1 and not strict_shape
            return (values[:, 0] if is_one else values).astype(np.float32)
        score = self._raw(data, iteration_range)
        found = (score if output_margin else self.to_predictions(score)).astype(np.float32)
        return found.reshape(len(found), -1) if strict_shape else found

    @warn_of_positions
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
            validate_features: Whether names of columns must be the same as in training.
            base_margin: Scores to start from.
            strict_shape: As for `predict`.
        """
        if predict_type not in ("value", "margin"):
            raise ParameterError(
                message(
                    "predict_type is not known", got=predict_type, expected="'value' or 'margin'"
                )
            )
        rows = DMatrix(data, missing=missing, base_margin=base_margin, enable_categorical=True)
        return self.predict(
            rows,
            output_margin=predict_type == "margin",
            validate_features=validate_features,
            iteration_range=iteration_range,
            strict_shape=strict_shape,
        )

    def _raw(self, data: DMatrix, iteration_range: Any = (0, 0)) -> npt.NDArray[np.float64]:
        return raw_scores(self.fitted, data, *self._range(iteration_range))

    def _contributions(
        self, data: DMatrix, iteration_range: Any, of_pairs: bool, approximate: bool
    ) -> npt.NDArray[np.float64]:
        """Contributions of columns, or pairs of them: (rows, outputs, columns + 1, ...)."""
        first, last = self._range(iteration_range)
        if first > 0:
            raise NotSupportedError(
                message(
                    "contributions can only be computed from the first round on",
                    got=iteration_range,
                    expected="(0, one after the last)",
                    hint="Take a slice of the model: booster[first:last].",
                )
            )
        if not of_pairs:
            return contributions(self.fitted, data, last, approximate=approximate)
        if approximate:
            raise NotSupportedError(
                message("interactions are exact", got="approx_contribs", hint="Leave it out.")
            )
        return interactions(self.fitted, data, last)

    def _range(self, iteration_range: Any) -> tuple[int, int]:
        try:
            first, last = (int(each) for each in iteration_range)
        except (TypeError, ValueError):
            first, last = -1, -1
        n_rounds = self.num_boosted_rounds()
        last = n_rounds if last == 0 else last
        if not 0 <= first <= last <= n_rounds:
            raise ParameterError(
                message(
                    "iteration_range cannot be used",
                    got=iteration_range,
                    expected=f"(first, one after the last) within 0..{n_rounds}",
                )
            )
        return first, last

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

    def _check_names(self, names: list[str] | None) -> None:
        if self._names is not None and names is not None and names != self._names:
            raise DataError(
                message(
                    "feature names differ from the training data's",
                    got=names,
                    expected=f"{self._names}",
                    hint="Put the columns into that order, or pass validate_features=False.",
                )
            )

    # ---- facts ----

    @property
    def fitted(self) -> CoreBooster:
        """Gossamer's own booster of this model."""
        if self._core is None:
            raise DataError(
                message("the Booster has no model yet", hint="Train it, or load a model first.")
            )
        return self._core

    @property
    def model(self) -> Model:
        """Gossamer's own model: trees, start, names."""
        return self.fitted.model

    def num_boosted_rounds(self) -> int:
        """Return the number of rounds."""
        return 0 if self._core is None else self._core.current_iteration()

    @property
    def levels(self) -> Any:
        """Values of the columns of categories; None: there are no such columns."""
        return self.fitted.levels

    def get_categories(self, export_to_arrow: bool = False) -> Categories:
        """Return the categories of each column that the model was trained on.

        Args:
            export_to_arrow: Whether they are wanted as arrays of pyarrow.
        """
        return Categories.of(self.levels, self._names, self.num_features(), export_to_arrow)

    def num_features(self) -> int:
        """Return the number of columns."""
        return self.fitted.num_feature()

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns; None: they have none."""
        return None if self._names is None else list(self._names)

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        self._names = None if names is None else self._one_per_column("feature_names", names)

    @property
    def feature_types(self) -> list[str] | None:
        """Types of the columns, as they were given to the `DMatrix`."""
        return None if self._types is None else list(self._types)

    @feature_types.setter
    def feature_types(self, types: Sequence[str] | None) -> None:
        self._types = None if types is None else self._one_per_column("feature_types", types)

    def _one_per_column(self, name: str, values: Sequence[str]) -> list[str]:
        found = [str(value) for value in values]
        if self._core is not None and len(found) != self.num_features():
            raise DataError(
                message(
                    f"{name} do not fit the model", got=found, expected=f"{self.num_features()}"
                )
            )
        return found

    @property
    def best_iteration(self) -> int:
        """The best round that early stopping found, from 0."""
        return int(self._found_by_stopping("best_iteration"))

    @best_iteration.setter
    def best_iteration(self, iteration: int) -> None:
        self.set_attr(best_iteration=iteration)

    @property
    def best_score(self) -> float:
        """The metric at that round."""
        return float(self._found_by_stopping("best_score"))

    @best_score.setter
    def best_score(self, score: float) -> None:
        self.set_attr(best_score=score)

    def _found_by_stopping(self, name: str) -> str:
        found = self.attr(name)
        if found is None:
            raise AttributeError(f"there is no {name}: it takes early stopping to find it")
        return found

    def attr(self, key: str) -> str | None:
        """Return an attribute; None: there is none."""
        return self._attributes.get(key)

    def attributes(self) -> dict[str, str]:
        """Return all attributes."""
        return dict(self._attributes)

    def set_attr(self, **kwargs: Any) -> None:
        """Set attributes, which are text; None takes one away."""
        for key, value in kwargs.items():
            if value is None:
                self._attributes.pop(key, None)
            else:
                self._attributes[key] = str(value)

    def get_score(self, fmap: Any = "", importance_type: str = "weight") -> dict[str, float]:
        """Return how much each column matters that splits somewhere.

        Args:
            fmap: A feature map: a file with number, name and type of each column.
            importance_type: "weight" counts splits, "gain" is their mean gain, "cover" the mean of
                the hessians they split; "total_gain" and "total_cover" are sums.
        """
        counts = importance(self.model, "weight")
        values = importance(self.model, importance_type)
        found = zip(self._columns(fmap).names, values.tolist(), counts, strict=True)
        return {name: value for name, value, count in found if count > 0}

    def get_fscore(self, fmap: Any = "") -> dict[str, float]:
        """Return the number of splits of each column that splits somewhere."""
        return self.get_score(fmap, "weight")

    def get_split_value_histogram(
        self, feature: str, fmap: Any = "", bins: int | None = None, as_pandas: bool = True
    ) -> Any:
        """Count the thresholds at which a column is split."""
        names = list(self._columns(fmap).names)
        column: int | str = names.index(feature) if feature in names else feature
        found = self.fitted.get_split_value_histogram(column, bins, xgboost_style=True)
        return found if as_pandas or not hasattr(found, "to_numpy") else found.to_numpy()

    def _columns(self, fmap: str | os.PathLike[str]) -> Columns:
        path = os.path.expanduser(os.fspath(fmap))
        n_columns = self.num_features()
        return (
            Columns.read(path, n_columns)
            if path
            else Columns.of(n_columns, self._names, self._types)
        )

    def get_dump(
        self,
        fmap: str | os.PathLike[str] = "",
        with_stats: bool = False,
        dump_format: str = "text",
    ) -> list[str]:
        """Return each tree as text.

        Args:
            fmap: A feature map: a file with number, name and type of each column.
            with_stats: Whether to add gains and covers.
            dump_format: "text", "json" or "dot".

        Example:
            >>> data = DMatrix([[1.0], [2.0]], label=[0, 1])
            >>> booster = Booster({"min_child_weight": 0, "eta": 1, "base_score": 0.5})
            >>> booster.update(data, 0)
            >>> booster.get_dump()[0].splitlines()[0]
            '0:[f0<1.50000012] yes=1,no=2,missing=1'
        """
        return dump_trees(
            self.model, self._columns(fmap), with_stats=with_stats, dump_format=dump_format
        )

    def dump_model(
        self,
        fout: str | os.PathLike[str],
        fmap: str | os.PathLike[str] = "",
        with_stats: bool = False,
        dump_format: str = "text",
    ) -> None:
        """Write what `get_dump` returns to a file.

        Args:
            fout: Path of the file.
            fmap: As for `get_dump`.
            with_stats: As for `get_dump`.
            dump_format: As for `get_dump`.
        """
        trees = self.get_dump(fmap, with_stats, dump_format)
        if dump_format == "json":
            text = "[\n" + ",\n".join(trees) + "\n]"
        else:
            text = "".join(f"booster[{i}]:\n{tree}" for i, tree in enumerate(trees))
        write_atomically(Path(os.path.expanduser(os.fspath(fout))), text.encode())

    def trees_to_dataframe(self, fmap: str | os.PathLike[str] = "") -> Any:
        """Return all nodes as a pandas data frame, a row for each.

        Args:
            fmap: As for `get_dump`.
        """
        return trees_to_frame(self.model, self._columns(fmap))

    def save_config(self) -> str:
        """Return the parameters as JSON, in XGBoost's sections."""
        facts = {"boost_from_average": "1", "num_class": str(self._params.get("num_class", 0))}
        if self._core is not None:
            start = self.model.start
            base_score = to_base_score(str(self._params.get("objective")), start)
            is_classes = int(facts["num_class"]) > 1
            facts |= {
                "base_score": json.dumps((start if base_score is None else base_score).tolist()),
                "num_feature": str(self.num_features()),
                "num_target": str(1 if is_classes else len(start)),
            }
        return write_config(self._params, facts)

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
        n_rounds = self.num_boosted_rounds()
        if isinstance(rounds, tuple):
            raise ValueError("rounds have one dimension")
        if isinstance(rounds, slice):
            if rounds.stop == 0:  # as in XGBoost: up to the last
                rounds = slice(rounds.start, None, rounds.step)
            if max(rounds.start or 0, rounds.stop or 0) > n_rounds:
                raise IndexError(f"there are no such rounds among {n_rounds}: {rounds}")
        else:
            rounds = operator.index(rounds)
            if not -n_rounds <= rounds < n_rounds:
                raise IndexError(f"there is no round {rounds} among {n_rounds}")
            rounds = slice(rounds % n_rounds, rounds % n_rounds + 1)
        order = range(*rounds.indices(n_rounds))
        if len(order) == 0:
            raise IndexError(f"there are no such rounds among {n_rounds}: {rounds}")
        if order.step < 0:
            raise ValueError("rounds are taken in their own order")
        model = self.model
        found = self._of(replace(model, forest=permute_rounds(model.forest, list(order))))
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
        self._forget()
        self.__dict__.update(state)

    def save_model(self, fname: str | os.PathLike[str]) -> None:
        """Write the model to a file.

        Args:
            fname: Path; ".json" and ".ubj" are XGBoost's formats, in which it keeps thresholds and
                leaf values as float32; everything else is ours, which keeps all of them.
        """
        write_atomically(Path(fname), bytes(self.save_raw(model_file.format_of(fname))))

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
        self._core = CoreBooster.from_model(model)
        self._forget()
        self._names = list(model.names) if model.has_own_names else None
        self._types = facts.get("feature_types")
        self._predicts_classes = facts.get("predicts_classes") is True
        self._attributes = {str(k): str(v) for k, v in facts.get("attributes", {}).items()}


def _check_data(data: Any) -> None:
    if not isinstance(data, DMatrix):
        raise TypeError(
            message("this is not a DMatrix", got=type(data).__name__, expected="DMatrix(data, ...)")
        )


def _check_kinds(leaf: bool, contributions: bool, interactions: bool) -> None:
    if leaf + contributions + interactions > 1:
        raise ParameterError(
            message(
                "a prediction is of one kind",
                expected="one of pred_leaf, pred_contribs and pred_interactions",
            )
        )
