"""`GossamerModel`: what the estimators have in common."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from gossamer.arguments import as_list, check_flags
from gossamer.callbacks import record_evaluation
from gossamer.cuda.arrays import to_host
from gossamer.data import Dataset
from gossamer.errors import DataError, ParameterError
from gossamer.model import Booster
from gossamer.objectives import Custom, CustomObjective, objective_class
from gossamer.params import CANONICAL, TABLE, resolve
from gossamer.sklearn.arguments import take_out, to_threads
from gossamer.sklearn.ensembles import Ensembles
from gossamer.sklearn.fields_in_table import Parts, take_columns
from gossamer.sklearn.fit_options import FitOptions, takes
from gossamer.sklearn.functions import LabelsFirst, read_metrics, split_names
from gossamer.sklearn.inputs import (
    EvalSets,
    TrainingRows,
    check_rows,
    check_training,
    check_weight,
)

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class GossamerModel(Ensembles):
    """Base class of the estimators. It can be used directly if `objective` is given.

    An argument that is left at its default counts as not given. For example, `max_depth` without
    `num_leaves` also limits the number of leaves, and `subsample` below 1 turns on bagging even
    though `subsample_freq` is 0; `bagging_freq=0` turns it off. Arguments are checked in `fit`.

    Args:
        boosting_type: How trees are added to the model.
        num_leaves: Maximum number of leaves of a tree.
        max_depth: Maximum number of splits between the root and a leaf; 0 or less means no limit.
        learning_rate: Factor that multiplies every leaf value.
        n_estimators: Number of rounds.
        subsample_for_bin: Number of rows that the bins are computed from.
        objective: The name of a loss, a function (y_true, y_pred[, weight[, group]]) -> (gradients,
            hessians), or a `CustomObjective`. None chooses the default of the estimator.
        class_weight: Weight of each class, "balanced", or None.
        min_split_gain: Minimum gain of a split.
        min_child_weight: Minimum sum of hessians in a leaf.
        min_child_samples: Minimum number of rows in a leaf. With fewer than twice as many rows, no
            split is possible, so use a smaller number for small data.
        subsample: Share of the rows used in a round.
        subsample_freq: Number of rounds after which new rows are drawn; 0 means every round if
            `subsample` is below 1.
        colsample_bytree: Share of the columns used for each tree.
        reg_alpha: L1 penalty on leaf values.
        reg_lambda: L2 penalty on leaf values.
        random_state: Seed, or a NumPy random generator to draw it from; None always uses the same
            seed.
        n_jobs: Number of threads. Negative numbers count down from the number of CPUs: -1 means all
            of them. None means all CPUs, or OMP_NUM_THREADS if it is set, as joblib does in its
            worker processes. The model does not depend on it.
        importance_type: Type of `feature_importances_`: "split", "gain" or another type of
            `Booster.feature_importance`.
        **kwargs: Any other parameter, under any of its names (see the page on parameters). These
            arguments select how to train: `folds`, a number, pairs of rows or a splitter, see
            `train_folds`; `calibration`; `early_stopping="auto"`, see `train_refit`; `quality`
            ("fast", "good", "best"), see `train_quality`; and `time_limit` in seconds.
            `n_estimators` is then the maximum number of rounds (by default 1,000, or the setting of
            the quality).

    Example:
        >>> import numpy as np
        >>> x = np.arange(200.0).reshape(-1, 1)
        >>> model = GossamerModel(objective="regression", max_bin=15).fit(x, x[:, 0] > 99)
        >>> model.predict([[10.0], [190.0]]) > 0.5
        array([False,  True])
    """

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has been called."""
        return "_booster" in vars(self)

    # ---- fitting ----

    @takes(
        "sample_weight init_score group eval_set eval_names eval_sample_weight eval_class_weight "
        "eval_init_score eval_group eval_metric feature_name categorical_feature callbacks "
        "init_model",
        "eval_X eval_y query eval_query eval_at",
    )
    def fit(self, X: Any, y: Any, *args: Any, **options: Unpack[FitOptions]) -> GossamerModel:
        """Train the model.

        Args:
            X: Rows x columns: an array of numbers, a SciPy sparse matrix or array, or a data frame,
                list or object array, in which columns may be text or categories. NaN and None are
                missing.
            y: One label per row, or rows x targets with several targets. For `cox`, times, which
                are negative if censored; for `aft`, times; for both, two columns of bounds, or the
                records of (event, time) of scikit-survival are accepted too. For a table with
                names, it can be the name of a column or, if labels are numbers, a list of names.
                The same holds for `sample_weight`, `init_score`, and `group` or `query` (a column
                with the query of each row). Such columns are not features, neither here nor in
                tables to predict or evaluate.
            sample_weight: One number >= 0 per row; rows of weight 0 are left out.
            init_score: Scores to start from: one per row, or rows x classes or targets.
            group: For ranking: the number of rows of each query.
            eval_set: Data sets to evaluate after each round: [(X, y), ...].
            eval_names: Their names; by default valid_0, valid_1, ...
            eval_sample_weight: Their weights, a list with one item for each set.
            eval_class_weight: Their class weights, a list with one item for each set.
            eval_init_score: Their scores to start from, a list with one item for each set.
            eval_group: Their numbers of rows of each query, a list with one item for each set.
            eval_metric: Metrics in addition to the default of the objective: a name, a function
                (y_true, y_pred[, weight[, group]]) -> (name, value, whether higher is better), or a
                list of these.
            feature_name: Names of the columns; "auto" uses the names of a data frame.
            categorical_feature: Names or positions of the categorical columns; "auto" uses columns
                of text and of categories, see `Dataset`.
            callbacks: Functions called before or after each round, such as `early_stopping(20)`.
            init_model: A fitted estimator, its `Booster`, or the path of a saved one, to continue
                from. The new trees follow its trees.
            eval_X: Instead of `eval_set`: a table, or a tuple of tables.
            eval_y: Their labels.
            query: Instead of `group`: the query of each row. The rows of a query must be
                contiguous.
            eval_query: Instead of `eval_group`: a list with one such item for each set.
            eval_at: For ranking: the ranks at which metrics are evaluated.

        Returns:
            The estimator itself.

        Raises:
            KeyboardInterrupt: After Ctrl-C. The estimator is then fitted with the rounds so far.
        """
        params = self._checked_params()
        # Looked up now: this very estimator may be the one to continue from.
        init_model = options["init_model"]
        base = init_model.booster_ if isinstance(init_model, GossamerModel) else init_model
        known_classes = getattr(init_model, "classes_", None)
        if options["eval_at"] is not None:
            take_out(params, "eval_at")
            params["eval_at"] = options["eval_at"]
        self.__dict__.pop("_booster", None)  # should this fail half-way, nothing old is left over
        parts = self._take_columns(
            X,
            y=y,
            sample_weight=options["sample_weight"],
            init_score=options["init_score"],
            group=options["group"],
            query=options["query"],
        )
        self._named_columns = parts.taken
        given = parts.fields
        values, target = check_training(
            self, parts.table, given["y"], y_numeric=self._y_numeric, survival=self._learns_times()
        )
        label = self._learn_labels(target)
        self._check_same_classes(known_classes)
        self._choose_objective(params)
        metrics = self._choose_metrics(params, options["eval_metric"])
        classes = None if self.class_weight is None else np.unique(target)
        weight = check_weight(given["sample_weight"], self.class_weight, target, values, classes)
        rows = TrainingRows(values, label, weight, given["init_score"])
        has_queries = given["group"] is not None or given["query"] is not None
        if not (has_queries or self._keeps_rows):  # the rows of a query are counted
            rows = rows.that_count()
        train_set = Dataset(
            rows.values,
            rows.label,
            weight=rows.weight,
            group=given["group"],
            query=given["query"],
            init_score=rows.init_score,
            feature_name=self._column_names(parts.table, options["feature_name"]),
            categorical_feature=options["categorical_feature"],
        )
        valid_sets, names = EvalSets.read(options).build(
            self,
            (X, y),
            train_set,
            self._encode_labels,
            self._take_columns,
            self._learns_times(),
        )
        history: dict[str, dict[str, list[float]]] = {}
        rest = (
            metrics,
            base,
            as_list("callbacks", options["callbacks"]),
            record_evaluation(history),
        )
        booster = self._train(params, train_set, valid_sets, names, *rest)
        self._name_classes(booster)
        self._booster = booster
        self._history = history
        if booster.was_interrupted:  # a search over many fits must not take this for a result
            raise KeyboardInterrupt
        return self

    def _take_columns(self, x: Any, **fields: Any) -> Parts:
        """Take out the columns of a table that are given by name; copy fields that are on a GPU."""
        fields = {name: to_host(values) for name, values in fields.items()}
        if isinstance(fields.get("group"), str):  # a column has ids, not the rows of each query
            fields["query"] = fields["group"] if fields["query"] is None else fields["query"]
            fields["group"] = None
        return take_columns(x, fields, several=self._y_numeric)

    def _check_same_classes(self, known: Any) -> None:
        """Refuse an estimator to continue from that has learned other classes."""

    def _name_classes(self, booster: Booster) -> None:
        """Let the model know what its classes are called."""

    def _learns_times(self) -> bool:
        """Whether the objective is one of survival: labels are times, or bounds of them."""
        named = [self.objective, *(self._others.get(name) for name in TABLE["objective"].aliases)]
        names = TABLE["objective"].choices
        known = {name for key in ("cox", "aft") for name in (key, *names[key])}
        return any(isinstance(name, str) and name.strip().lower() in known for name in named)

    def _default_objective(self) -> str:
        raise ParameterError.because(
            "GossamerModel needs an objective",
            hint="Pass objective, or use GossamerClassifier, GossamerRegressor or GossamerRanker.",
        )

    def _choose_objective(self, params: dict[str, Any]) -> None:
        """Put the objective into the parameters."""
        objective = take_out(params, "objective")
        if objective is None:
            objective = self._default_objective()
        self._objective = objective
        is_function = callable(objective) and not isinstance(objective, CustomObjective)
        params["objective"] = LabelsFirst.wrap(objective, "objective") if is_function else objective

    def _rename_metric(self, name: str) -> str:
        """Return the metric that fits the number of classes."""
        return name

    def _choose_metrics(self, params: dict[str, Any], eval_metric: Any) -> list[LabelsFirst]:
        """Put names of metrics into the parameters, `eval_metric` first; return the functions."""
        names, functions = read_metrics(eval_metric)
        own = split_names(take_out(params, "metric"))
        if not own:
            own = split_names(self._own_metric(params)) or ["None"]
        params["metric"] = [*map(self._rename_metric, names), *own]
        return functions

    def _own_metric(self, params: dict[str, Any]) -> Any:
        """Return the metric that goes with the objective."""
        resolved = resolve(params, context="dataset")
        if isinstance(resolved.objective, CustomObjective):
            return resolved.metric
        if callable(resolved.objective):
            return self._metric_of_function()
        return resolved.metric or objective_class(resolved).default_metric

    def _metric_of_function(self) -> str | None:
        """Return the metric of a model whose objective is a function, as LightGBM has it."""
        return None

    def _column_names(self, x: Any, given: Any) -> Sequence[str] | Literal["auto"]:
        """Return the names given, or the names of a data frame's columns."""
        if isinstance(given, str):
            given = getattr(self, "feature_names_in_", None) if given == "auto" else [given]
            if given is None and hasattr(x, "dtypes"):  # names that are numbers
                given = getattr(x, "columns", None)
        return "auto" if given is None else [str(name) for name in as_list("feature_name", given)]

    # ---- prediction ----

    @check_flags
    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> npt.NDArray[Any]:
        """Predict rows.

        Args:
            X: Rows x columns, as in `fit`.
            raw_score: Whether to return raw scores.
            start_iteration: First round to use.
            num_iteration: Number of rounds; None means up to the best one if early stopping found
                one, otherwise all; 0 or less means all.
            pred_leaf: Whether to return the leaf of each row in each tree.
            pred_contrib: Whether to return Shapley values, see `Booster.predict`.
            validate_features: None takes the columns of a frame by name, in any order, as
                `Booster.predict` does. True also requires the same order as in `fit`. False takes
                them by position.
            **kwargs: Parameters, such as `n_jobs` and `predict_disable_shape_check`.

        Returns:
            One number per row; rows x classes or targets if there are several; mean and standard
            deviation with `gaussian`; increasing quantiles if there are several; rows x trees for
            leaves.
        """
        check_is_fitted(self)
        kwargs = {**self._prediction_params(kwargs, self._booster.resolved_params), **kwargs}
        n_jobs = take_out(kwargs, "num_threads")
        own = [name for name in self._others if CANONICAL.get(name) == "num_threads"]
        if n_jobs is not None or not own:
            n_threads = to_threads(self.n_jobs if n_jobs is None else n_jobs)
            if n_threads != self._booster.resolved_params.num_threads:
                kwargs["num_threads"] = n_threads
        found: npt.NDArray[Any] = self._booster.predict(
            self._check_rows(X, validate_features),
            start_iteration=start_iteration,
            num_iteration=num_iteration,
            raw_score=raw_score,
            pred_leaf=pred_leaf,
            pred_contrib=pred_contrib,
            **kwargs,
        )
        return found

    def _check_rows(self, x: Any, validate_features: bool | None) -> Any:
        """Check rows to predict against those the model was fitted on."""
        return check_rows(self, x, self._booster.levels, validate_features)

    # ---- files ----

    def save_model(
        self,
        filename: str | os.PathLike[str],
        num_iteration: int | None = None,
        start_iteration: int = 0,
        format: str | None = None,
    ) -> Self:
        """Write the model to a file; see `Booster.save_model`.

        Args:
            filename: Path; its extension determines the format.
            num_iteration: Number of rounds; None means up to the best one, or all if there is none;
                0 or less means all.
            start_iteration: First round to save.
            format: The format by name, whatever the extension.

        Returns:
            The estimator itself.

        Example:
            >>> import tempfile
            >>> x = np.arange(200.0).reshape(-1, 1)
            >>> model = GossamerModel(objective="regression").fit(x, x[:, 0])
            >>> path = f"{tempfile.mkdtemp()}/model.gsm"
            >>> again = GossamerModel().load_model(model.save_model(path) and path)
            >>> bool((again.predict(x) == model.predict(x)).all())
            True
        """
        self.booster_.save_model(filename, num_iteration, start_iteration, format=format)
        return self

    def load_model(self, filename: str | os.PathLike[str]) -> Self:
        """Load a model from a file in any format that `Booster` reads; it is then fitted.

        The parameters of the estimator do not change. Recorded metrics are not part of a file.

        Args:
            filename: Path of the model.

        Returns:
            The estimator itself.

        Raises:
            DataError: If the estimator cannot predict with this model.
            ModelFileError: If the file is damaged, or not a model.
        """
        booster = Booster(model_file=filename)
        model = booster.model
        if isinstance(model.objective, Custom):
            if not callable(self.objective):
                raise DataError.because(
                    "the model was trained with an objective function, which a file does not keep",
                    got=f"objective={self.objective!r}",
                    hint=f"Make the estimator with it: {type(self).__name__}(objective=...).",
                )
            if isinstance(self.objective, CustomObjective):
                booster.set_objective(self.objective)
            self._objective = self.objective
        else:
            self._objective = model.objective.name
        self._learn_classes(booster)
        self.n_features_in_ = model.n_columns
        self.__dict__.pop("feature_names_in_", None)
        if model.has_own_names:
            self.feature_names_in_ = np.array(model.names, dtype=object)
        self._booster, self._history, self._named_columns = booster, {}, ()
        return self

    def _learn_classes(self, booster: Booster) -> None:
        """Take over the classes of a model that was loaded."""

    # ---- facts ----

    @property
    def best_iteration_(self) -> int:
        """Best number of rounds found by early stopping; 0 if there was none."""
        return self.booster_.best_iteration

    @property
    def best_score_(self) -> dict[str, dict[str, float]]:
        """Metrics of the best round, or of the last one: data set -> metric -> value."""
        return self.booster_.best_score

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """Metrics of every round: data set -> metric -> values."""
        check_is_fitted(self)
        return self._history

    @property
    def objective_(self) -> Any:
        """The objective, by name or as a function."""
        check_is_fitted(self)
        return self._objective

    @property
    def n_estimators_(self) -> int:
        """Number of rounds in the model."""
        return self.booster_.current_iteration()

    @property
    def n_iter_(self) -> int:
        """Number of rounds in the model."""
        return self.n_estimators_

    @property
    def n_features_(self) -> int:
        """Number of columns."""
        return self.booster_.num_feature()

    @property
    def feature_name_(self) -> list[str]:
        """Names of the columns; Column_0, Column_1, ... if they had none."""
        return self.booster_.feature_name()

    @property
    def feature_importances_(self) -> npt.NDArray[Any]:
        """How much each column matters, see `importance_type`."""
        return self.booster_.feature_importance(self.importance_type)
