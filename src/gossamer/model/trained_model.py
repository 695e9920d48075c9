"""`TrainedModel`: what a model can do, whether or not it is still in training."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from gossamer.arguments import check_flag, check_flags
from gossamer.cuda.arrays import DeviceArray, find_device_array, to_host
from gossamer.data import Table
from gossamer.data.categories.levels import Levels
from gossamer.data.summary import shorten, to_html, to_line
from gossamer.data.table.columns import Level
from gossamer.errors import ParameterError
from gossamer.model import formats
from gossamer.model.change.edit import leaf_values
from gossamer.model.change.join import join_models, take_rounds
from gossamer.model.ensemble import intervals
from gossamer.model.ensemble.average import member_model
from gossamer.model.ensemble.out_of_fold import OutOfFold
from gossamer.model.files import export
from gossamer.model.formats.objects import model_of
from gossamer.model.given_params import given_params
from gossamer.model.inspection import explain
from gossamer.model.inspection.importance import feature_importance
from gossamer.model.inspection.shap_values import shap_values
from gossamer.model.inspection.split_values import split_value_histogram
from gossamer.model.model import Model
from gossamer.model.prediction.arguments import check_kinds, n_rounds_of, predict_options
from gossamer.model.prediction.on_device import refusal, upload_like
from gossamer.model.prediction.one_row import OneRow, is_one_row, says_nothing_of_one_row
from gossamer.model.prediction.predict import PredictOptions, as_number, predict
from gossamer.model.prediction.predict_chunks import find_chunks_of, leave_memory, predict_source
from gossamer.model.prediction.predictor import Predictor
from gossamer.notebook import bars, side_by_side
from gossamer.params import Params

Self = TypeVar("Self", bound="TrainedModel")


class TrainedModel(OutOfFold):
    """A model: predictions, facts and importance of its trees; what it was trained on is gone.

    Attributes:
        params: The parameters, as given.
        best_iteration: Best number of rounds found by early stopping; 0 or less: none was looked
            for.
        best_score: Metrics at that round, or after the last one: data set -> metric -> value.
        text_format: The format of `model_to_string`, and of files whose ending says none.
    """

    params: dict[str, Any]
    best_iteration: int
    best_score: dict[str, dict[str, float]]
    text_format: ClassVar[str] = "gossamer"

    @property
    @abstractmethod
    def model(self) -> Model:
        """Trees, names, objective and all else that predictions need."""

    @property
    @abstractmethod
    def resolved_params(self) -> Params:
        """The parameters, checked and complete."""

    @abstractmethod
    def _become(self, model: Model) -> None:
        """Release the data, and become this model."""

    @classmethod
    @abstractmethod
    def _of(cls: type[Self], model: Model) -> Self:
        """Make a booster of a model."""

    @abstractmethod
    def _with(self: Self, model: Model) -> Self:
        """Make a booster of a model that was made of this one: with the same parameters."""

    def _held_memory(self) -> int:
        """Return the bytes of `max_memory` that a training takes."""
        return 0

    # ---- facts ----

    def current_iteration(self) -> int:
        """Return the number of rounds in the model."""
        return self.num_trees() // self.num_model_per_iteration()

    def num_trees(self) -> int:
        """Return the number of trees in the model."""
        return self.model.forest.n_trees

    def num_model_per_iteration(self) -> int:
        """Return the number of trees per round: the number of outputs, or 1 with vector leaves."""
        return self.model.forest.trees_per_round

    def num_feature(self) -> int:
        """Return the number of columns."""
        return self.model.n_columns

    def feature_name(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.model.names)

    def _facts(self) -> dict[str, object]:
        """What to show of it."""
        model = self.model
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
        return to_line(type(self).__name__, self._facts())

    def _repr_html_(self) -> str:
        facts = {**self._facts(), "trees": self.num_trees(), "names": shorten(self.feature_name())}
        given = (f"{name}={value!r}" for name, value in given_params(self.params).items())
        shown = {**facts, "parameters": shorten(list(given), most=20)}
        return side_by_side(
            to_html(type(self).__name__, shown), self._importance_html(), self._curve_html()
        )

    def _importance_html(self) -> str:
        gain = self.feature_importance("gain")
        whole = float(gain.sum())
        if not whole > 0:
            return ""
        names = self.feature_name()
        return bars("gain", {name: value / whole for name, value in zip(names, gain, strict=True)})

    def _curve_html(self) -> str:
        """The first metric, round by round; nothing where none was evaluated."""
        return ""

    @property
    def levels(self) -> Levels | None:
        """What the codes of text and categories stand for; None: all columns are numbers."""
        return self.model.levels

    @property
    def class_names(self) -> list[Level] | None:
        """What classes 0, 1, ... stand for; None: `set_class_names` was not called."""
        names = self.model.class_names
        return None if names is None else list(names)

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
        model = self.used_model(iteration)
        return feature_importance(model.forest, importance_type, model.derived)

    def lower_bound(self) -> float:
        """Return the lowest raw score that any row could get."""
        return self._bound(np.minimum)

    def upper_bound(self) -> float:
        """Return the highest raw score that any row could get."""
        return self._bound(np.maximum)

    def _bound(self, choose: np.ufunc) -> float:
        model = self.model
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
        """Return the value of one leaf of one tree; with vector leaves, one value for each output.

        With `linear_tree` it is what rows get in which a value is missing.
        """
        values = leaf_values(self.model.forest, tree_id, leaf_id)
        return values[leaf_id].copy() if values.shape[1] > 1 else float(values[leaf_id, 0])

    @check_flags
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
            >>> from gossamer import Booster, Dataset
            >>> data = Dataset(np.arange(100.0).reshape(-1, 1), label=np.arange(100) > 50)
            >>> booster = Booster({"objective": "binary", "num_leaves": 2}, data)
            >>> booster.update()
            False
            >>> counts, edges = booster.get_split_value_histogram("Column_0")
            >>> counts
            array([1])
        """
        return split_value_histogram(self.used_model(None), feature, bins, xgboost_style)

    def used_model(self, num_iteration: int | None = None, start_iteration: int = 0) -> Model:
        """Return the rounds of the model that predictions use.

        Args:
            num_iteration: Number of rounds, as for `predict`.
            start_iteration: First round.

        Example:
            >>> from gossamer import Booster, Dataset
            >>> x = np.arange(100.0).reshape(-1, 1)
            >>> booster = Booster({}, Dataset(x, label=x[:, 0]))
            >>> booster.update(), booster.update()
            (False, False)
            >>> booster.best_iteration = 1
            >>> booster.used_model().forest.n_trees, booster.used_model(0).forest.n_trees
            (1, 2)
        """
        model = self.model
        n_rounds, wanted = model.forest.n_rounds, n_rounds_of(self, num_iteration)
        first = min(max(as_number("start_iteration", start_iteration), 0), n_rounds)
        last = min(first + wanted, n_rounds) if wanted > 0 else n_rounds
        return model.rounds(first, last)

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
                column adds, and last the expected value over all rows. Their sum is the raw score.
            data_has_header: Whether the first line of a CSV file has names; False: unless all
                values in it are numbers.
            validate_features: What happens to the columns of a frame where the model has names too.
                None: they are found by name, in any order. True: they must be in the order of the
                training data as well. False: they are taken by position, whatever their names.
            **kwargs: Parameters: `num_threads`, `predict_disable_shape_check`, ...
                `device="cuda"` predicts on a GPU; arrays that are on one are predicted there.

        Returns:
            (rows,); (rows, classes) with several classes; (rows, trees) with `pred_leaf`; with
            `pred_contrib` (rows, columns + 1), class after class where there are several, and of
            a sparse table a compressed-row matrix (compressed columns of such a table), or a list
            with one for each class.
        """
        if not (raw_score is pred_leaf is pred_contrib is data_has_header is False):
            check_kinds(raw_score, pred_leaf, pred_contrib, data_has_header)
        n_rounds = n_rounds_of(self, num_iteration)
        model = self.model
        if not (pred_leaf or pred_contrib) and says_nothing_of_one_row(kwargs) and is_one_row(data):
            wanted = (start_iteration, n_rounds, raw_score, self.resolved_params)
            if (found := self._one_row.predict(model, wanted, data)) is not None:
                return found
        options = predict_options(
            self, start_iteration, num_iteration, kwargs, raw_score, pred_leaf
        )
        check_flag("validate_features", validate_features)
        options = replace(options, validate_features=validate_features)
        array = find_device_array(data)
        source = find_chunks_of(model, data, data_has_header or None) if array is None else None
        wants = pred_contrib or options.pred_contrib
        if source is not None:
            row_bytes = replace(options, pred_contrib=wants).row_bytes(model)
            leave_memory(model, source, row_bytes, options.max_memory, self._held_memory())

            def predict_part(table: Table) -> Any:
                return self._predict_table(table, options, pred_contrib=wants)

            return predict_source(model, source, predict_part, options.disable_shape_check)
        return self._predict_table(data if array is None else array, options, pred_contrib=wants)

    def _predict_table(self, data: Any, options: PredictOptions, *, pred_contrib: bool) -> Any:
        model = self.model
        if not pred_contrib:
            return predict(model, data, options)
        if options.device_type == "cuda":
            raise refusal("pred_contrib")
        if isinstance(data, DeviceArray):
            found = self._predict_table(to_host(data), options, pred_contrib=True)
            return upload_like(data, found)
        values = shap_values(model, data, options)
        if isinstance(values, list):
            if getattr(data, "format", None) == "csc":  # as it came
                values = [part.tocsc() for part in values]
            return values[0] if len(values) == 1 else values
        return values.reshape(len(values), values.shape[1] * values.shape[2])

    @cached_property
    def _one_row(self) -> OneRow:
        return OneRow()

    @check_flags
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
            >>> from gossamer import Booster, Dataset
            >>> table = np.arange(100.0).reshape(-1, 1)
            >>> booster = Booster({"objective": "binary"}, Dataset(table, label=table[:, 0] > 50))
            >>> is_finished = booster.update()
            >>> predict_row = booster.predictor()
            >>> predict_row([90.0]) > predict_row([10.0])
            True
        """
        options = predict_options(self, start_iteration, num_iteration, {}, raw_score)
        return Predictor(self.model, options)

    # ---- explanations and files: functions of a trained model, with modules of their own ----

    shap_values = explain.shap_values
    shap_interactions = explain.shap_interactions
    to_shap = explain.to_shap
    to_explanation = explain.to_explanation
    permutation_importance = explain.permutation_importance
    partial_dependence = explain.partial_dependence
    report = explain.report
    predict_interval = intervals.predict_interval
    predict_set = intervals.predict_set
    save_model = export.save_model
    model_to_string = export.model_to_string
    to_c = export.to_c
    compile = export.compile
    to_onnx = export.to_onnx
    to_treelite = export.to_treelite
    dump_model = export.dump_model
    trees_to_dataframe = export.trees_to_dataframe

    @classmethod
    def from_model(cls: type[Self], model: Any) -> Self:
        """Take over a trained model of another library (docs/interchange.md).

        Args:
            model: The other library's model or estimator.

        Raises:
            ParameterError: If it is of no library that is known.
            NotSupportedError: If it has something that trees here do not have.
        """
        return cls._of(model_of(model))

    def model_from_string(self: Self, model_str: str) -> Self:
        """Become the model that `model_to_string` wrote, or another library's text."""
        self._become(formats.from_text(model_str))
        return self

    def fold_member(self: Self, member: int) -> Self:
        """Return one member of an ensemble over folds, from 0, as a model of its own.

        Raises:
            IndexError: If there is no such member.
            NotSupportedError: If the model was not trained by `train_folds`.
        """
        return self._with(member_model(self.model, member))

    # ---- parts and sums ----

    def __getitem__(self: Self, rounds: int | slice) -> Self:
        """Return a model of some rounds: `booster[:50]`, `booster[10:20]`, `booster[-1]`.

        What scores start from belongs to the first round: parts of a model add up to the whole.
        The part keeps the parameters; it cannot be trained.

        Raises:
            IndexError: If there is no such round.
            TypeError, ValueError: If this is neither a number nor a slice without a step.
        """
        return self._with(take_rounds(self.used_model(-1), rounds))

    def __iter__(self: Self) -> Iterator[Self]:
        """Return the rounds one by one, each as a model; together they add up to this one."""
        whole = self.used_model(-1)
        return (self._with(whole.rounds(i, i + 1)) for i in range(whole.forest.n_rounds))

    def __add__(self: Self, other: object) -> Self:
        """Return a model whose raw scores are the sum of both models' scores.

        Raises:
            DataError: If the other's columns, or levels of text and categories, differ.
            NotSupportedError: If scores of one are means (`boosting=rf`).
            ParameterError: If the other's outputs, objective or trees of a round differ.
        """
        if not isinstance(other, TrainedModel):
            return NotImplemented
        return self._with(join_models(self.used_model(-1), other.used_model(-1)))


def model_to_continue(init_model: object) -> Model:
    """Return the model to continue from: a booster's, up to its best round, or a file's.

    Raises:
        ParameterError: If it is neither.
    """
    if isinstance(init_model, TrainedModel):
        return init_model.used_model()
    if isinstance(init_model, (str, os.PathLike)):
        return formats.load(init_model)
    raise ParameterError.because(
        "init_model cannot be used",
        got=type(init_model).__name__,
        expected="a Booster, or the path of a saved one",
    )
