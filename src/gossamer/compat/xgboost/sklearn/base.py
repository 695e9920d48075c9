"""`XGBModel`: what the estimators have in common."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from gossamer.arguments import check_flags
from gossamer.compat.xgboost.booster import Booster
from gossamer.compat.xgboost.callback import EvalsLog
from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.importance import importance
from gossamer.compat.xgboost.params import KNOWN, metric_list
from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.sklearn.functions import as_metric, as_objective
from gossamer.compat.xgboost.sklearn.parameters import XGBParameters
from gossamer.compat.xgboost.table import check_numeric, read_table, take_rows
from gossamer.compat.xgboost.training import train
from gossamer.data import Table
from gossamer.errors import DataError, ParameterTypeError
from gossamer.sklearn.arguments import to_threads
from gossamer.sklearn.fit_options import takes
from gossamer.sklearn.inputs import (
    _per_set,
    _read_pairs,
    check_eval_labels,
    check_rows,
    check_training,
    check_weight,
)

if TYPE_CHECKING:
    from typing_extensions import Self

Array = npt.NDArray[Any]


class XGBModel(XGBParameters):
    """Base of the estimators, and an estimator itself where `objective` is given.

    The arguments are XGBoost's; None stands for XGBoost's default. They are checked in `fit`.

    Args:
        max_depth: Most splits between root and leaf; 0: no limit. 6 by default.
        max_leaves: Most leaves of a tree; 0: no limit.
        max_bin: Most bins of a column, 256 by default.
        grow_policy: "depthwise" or "lossguide".
        learning_rate: Factor by which leaf values are shrunk, 0.3 by default.
        n_estimators: Number of rounds, 100 by default.
        verbosity: 0 is silent.
        objective: The loss by name, or a function (y_true, y_pred[, sample_weight]) ->
            (gradients, hessians).
        booster: "gbtree" or "dart".
        tree_method: How splits are found.
        n_jobs: Number of threads; the model does not depend on it.
        gamma: Smallest gain worth a split.
        min_child_weight: Smallest sum of hessians in a leaf, 1 by default.
        max_delta_step: Largest leaf value before shrinking; 0: no limit.
        subsample: Share of the rows used for a round.
        sampling_method: How these are drawn.
        colsample_bytree: Share of the columns drawn for each tree.
        colsample_bylevel: Share of these drawn for each level.
        colsample_bynode: Share of these drawn for each node.
        reg_alpha: L1 penalty on leaf values.
        reg_lambda: L2 penalty on leaf values, 1 by default.
        scale_pos_weight: Weight of positive rows.
        base_score: Prediction to start from; None: the best constant.
        random_state: Seed, or a NumPy random generator to draw it from.
        missing: A number that means missing, in addition to NaN.
        num_parallel_tree: Trees of a round.
        monotone_constraints: Per column 1, -1 or 0; a tuple, a string, or a dict by name.
        interaction_constraints: Groups of columns that may be split together.
        importance_type: What `feature_importances_` holds: "gain" (by default), "weight", "cover",
            "total_gain" or "total_cover".
        device: "cpu".
        validate_parameters: Has no effect.
        enable_categorical: Whether columns of categories are welcome.
        feature_types: Per column "c" (codes of categories), or "q", "float", "int", "i".
        feature_weights: Per column how likely it is to be drawn when columns are sampled.
        max_cat_to_onehot: Columns of at most so many categories are split one against the rest.
        max_cat_threshold: Most categories on the smaller side of a split.
        multi_strategy: With several outputs: trees for each, or one for all.
        eval_metric: Metrics: names, functions (y_true, y_pred[, sample_weight]) -> number, or a
            list of these.
        early_stopping_rounds: Stop when the last metric on the last of `eval_set` has not improved
            for this many rounds. `predict` then uses the rounds up to the best one.
        callbacks: Callbacks, see `gossamer.compat.xgboost.callback`.
        **kwargs: Any other parameter, XGBoost's or Gossamer's.

    Example:
        >>> x = np.arange(200.0).reshape(-1, 1)
        >>> model = XGBModel(objective="reg:squarederror", n_estimators=20).fit(x, x[:, 0] > 99)
        >>> model.predict([[10.0], [190.0]]) > 0.5
        array([False,  True])
    """

    def _takes_categories(self) -> bool:
        return self.enable_categorical

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator, and of its model if it is fitted."""
        super().set_params(**params)
        if self.__sklearn_is_fitted__():
            told = {name: value for name, value in params.items() if name in KNOWN}
            booster = self.get_booster()
            booster.set_param({n: v for n, v in told.items() if v is not None and not callable(v)})
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model."""
        return "_Booster" in vars(self)

    # ---- fitting ----

    @warn_of_positions
    @takes(
        "",
        "sample_weight base_margin eval_set verbose xgb_model sample_weight_eval_set "
        "base_margin_eval_set feature_weights",
        verbose=True,
    )
    def fit(self, X: Any, y: Any, **options: Any) -> XGBModel:
        """Train the model.

        Args:
            X: Rows x columns: an array, one of scipy's sparse matrices or arrays, or a data frame.
            y: One label per row, or with several targets rows x targets.
            **options: `sample_weight`: one number >= 0 per row. `base_margin`: scores to start
                from, one per row or rows x classes. `eval_set`: data sets to evaluate after each
                round, [(X, y), ...], which are called validation_0, validation_1, ...; `verbose`:
                whether to show their metrics, or every how many rounds. `xgb_model`: a model to
                continue from: an estimator, a `Booster`, or a path. `sample_weight_eval_set` and
                `base_margin_eval_set`: weights and scores to start from of the data sets, a list
                with one item each. `feature_weights`: per column how likely it is to be drawn when
                columns are sampled.

        Returns:
            The estimator itself.
        """
        return self._fit(X, y, **options)

    def _fit(self, x: Any, y: Any, **given: Any) -> XGBModel:
        """Train the model; `given` has the other arguments of `fit`, and `qid` and `eval_qid`."""
        xgb_model, eval_set = given["xgb_model"], given["eval_set"]
        sample_weight, base_margin = given["sample_weight"], given["base_margin"]
        qid = given.get("qid")
        base = xgb_model.get_booster() if isinstance(xgb_model, XGBModel) else xgb_model
        self.__dict__.pop("_Booster", None)  # should this fail half-way, nothing old is left over
        values, target = check_training(self, self._read(x), y, y_numeric=self._y_numeric)
        label = self._learn_labels(target)
        weights = given["feature_weights"]
        weights = self.feature_weights if weights is None else weights
        dtrain = self._rows(values, label, sample_weight, base_margin, qid, weights)
        pairs = _read_pairs(eval_set, None, None)
        each = tuple(
            _per_set(name, given.get(name), len(pairs))
            for name in ("sample_weight_eval_set", "base_margin_eval_set", "eval_qid")
        )
        levels = values.levels if isinstance(values, Table) else None
        evals: list[tuple[DMatrix, str]] = []
        for i, (valid_x, valid_y) in enumerate(pairs):
            name = f"validation_{i}"
            is_train = valid_x is x and valid_y is y and each[0][i] is sample_weight
            data = dtrain
            if not is_train or each[2][i] is not qid or base_margin is not each[1][i]:
                rows = check_rows(self, self._read(valid_x), levels, validate_features=True)
                labels = self._encode_labels(check_eval_labels(valid_y), name)
                data = self._rows(rows, labels, *(given[i] for given in each))
            evals.append((data, name))
        history: EvalsLog = {}
        params, functions = self._training_params()
        metrics = [metric for metric in metric_list(self.eval_metric) if callable(metric)]
        self._Booster = train(
            params,
            dtrain,
            self.get_num_boosting_rounds(),
            evals=evals,
            obj=functions,
            early_stopping_rounds=self.early_stopping_rounds,
            evals_result=history,
            verbose_eval=given["verbose"],
            xgb_model=base,
            callbacks=self.callbacks,
            custom_metric=as_metric(metrics) if metrics else None,
        )
        self.evals_result_ = history
        return self

    def _read(self, x: Any) -> Any:
        """Return a table with NaN for what is missing; a series is a table of one column."""
        if hasattr(x, "to_frame") and getattr(x, "ndim", 2) == 1:
            x = x.to_frame()
        if not self.enable_categorical:
            check_numeric(x)
        is_plain = self.missing is None or np.isnan(self.missing)
        return x if is_plain else read_table(x, self.missing)

    def _rows(
        self,
        values: Any,
        label: Any,
        weight: Any = None,
        margin: Any = None,
        qid: Any = None,
        feature_weights: Any = None,
    ) -> DMatrix:
        """Return a `DMatrix`, without rows that do not count unless they belong to queries."""
        if weight is not None and qid is None:
            weight = check_weight(weight, None, label, values)
            keep = np.flatnonzero(weight)
            if 0 < len(keep) < len(label):
                values, label, weight = take_rows(values, keep), label[keep], weight[keep]
                margin = None if margin is None else np.asarray(margin)[keep]
        return DMatrix(
            values,
            label,
            weight=weight,
            base_margin=margin,
            feature_names=getattr(self, "feature_names_in_", None),
            feature_types=self.feature_types,
            qid=qid,
            feature_weights=feature_weights,
            enable_categorical=True,
        )

    def _training_params(self) -> tuple[dict[str, Any], Any]:
        """Return the parameters, and the objective if it is a function."""
        params = {name: v for name, v in self.get_xgb_params().items() if v is not None}
        if "nthread" not in params:
            params["n_jobs"] = to_threads(self.n_jobs)
        names = [metric for metric in metric_list(self.eval_metric) if not callable(metric)]
        params["eval_metric"] = names or None
        params["objective"] = self._choose_objective(params)
        function = as_objective(self.objective) if callable(self.objective) else None
        return params, function

    def _choose_objective(self, params: dict[str, Any]) -> str | None:
        """Return the name of the objective; for a function, one with the same predictions."""
        return None if callable(self.objective) else params.get("objective")

    # ---- prediction ----

    @warn_of_positions
    @check_flags
    def predict(
        self,
        X: Any,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> Array:
        """Predict rows; a classifier returns the class of each.

        Args:
            X: Rows x columns, as in `fit`.
            output_margin: Whether to return raw scores.
            validate_features: Names are always checked where both sides have some.
            base_margin: Scores to start from.
            iteration_range: First round to use, and one after the last; None: up to the best one
                where early stopping found one, else all.
        """
        return self._predict_values(
            X,
            base_margin=base_margin,
            iteration_range=iteration_range,
            output_margin=output_margin,
        )

    def _predict_values(self, x: Any, *, output_margin: bool, **options: Any) -> Array:
        """Return what `predict` returns."""
        return self._predict(x, output_margin=output_margin, **options)

    def apply(self, X: Any, iteration_range: tuple[int, int] | None = None) -> Array:
        """Return the leaf of each row in each tree; see `predict` for the arguments."""
        return self._predict(X, iteration_range=iteration_range, pred_leaf=True)

    def _predict(
        self,
        x: Any,
        *,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
        **options: Any,
    ) -> Array:
        check_is_fitted(self)
        booster = self._Booster
        levels = booster.fitted.levels
        values = check_rows(self, self._read(x), levels, validate_features=True)
        rows = DMatrix(values, base_margin=base_margin, enable_categorical=True)
        if iteration_range is None:
            best = booster.attr("best_iteration")
            iteration_range = (0, 0 if best is None else int(best) + 1)
        return booster.predict(
            rows, validate_features=False, iteration_range=iteration_range, **options
        )

    # ---- facts ----

    def get_booster(self) -> Booster:
        """Return the model itself."""
        check_is_fitted(self)
        return self._Booster

    def evals_result(self) -> EvalsLog:
        """Return the metrics of every round: data set -> metric -> values.

        Raises:
            DataError: If there was nothing to evaluate.
        """
        check_is_fitted(self)
        found: EvalsLog = getattr(self, "evals_result_", {})
        if not found:
            raise DataError.because("there are no results", hint="Pass eval_set to fit.")
        return found

    @property
    def best_iteration(self) -> int:
        """The best round that early stopping found, from 0."""
        return self.get_booster().best_iteration

    @property
    def best_score(self) -> float:
        """The metric at that round."""
        return self.get_booster().best_score

    @property
    def feature_importances_(self) -> npt.NDArray[np.float32]:
        """How much each column matters, see `importance_type`; they add up to 1."""
        found = importance(self.get_booster().model, self.importance_type or "gain")
        total = found.sum()
        return (found / total if total > 0 else found).astype(np.float32)

    @property
    def intercept_(self) -> npt.NDArray[np.float32]:
        """The prediction before the first tree, of each output."""
        booster = self.get_booster()
        start = booster.model.start
        raw = start.reshape(1, -1) if len(start) > 1 else start
        return np.asarray(booster.to_predictions(raw), dtype=np.float32).reshape(-1)

    # ---- files ----

    def save_model(self, fname: str | os.PathLike[str]) -> None:
        """Write the model to a file; see `Booster.save_model`."""
        booster = self.get_booster()
        booster.set_attr(scikit_learn=json.dumps(self._facts_for_file()))
        booster.save_model(fname)
        booster.set_attr(scikit_learn=None)

    def _facts_for_file(self) -> dict[str, Any]:
        """Return what files keep of the estimator in addition to the model."""
        kind = self._kind()
        return {} if kind is None else {"_estimator_type": kind}

    def _kind(self) -> str | None:
        """Return what XGBoost's files call this kind of estimator; None: nothing."""
        kind: str | None = get_tags(self).estimator_type
        return kind

    def load_model(self, fname: str | os.PathLike[str] | bytearray) -> None:
        """Take a model that `save_model` wrote, or XGBoost."""
        booster = Booster(model_file=fname)
        kept = json.loads(booster.attr("scikit_learn") or "{}")
        kind, own = kept.get("_estimator_type"), self._kind()
        if kind is not None and kind != own:
            raise ParameterTypeError.because(
                f"the file holds a model of another kind than {type(self).__name__}",
                got=kind,
                expected=own or "a model of any kind",
            )
        booster.set_attr(scikit_learn=None)
        self._Booster = booster
        self.feature_types = booster.feature_types
        self.enable_categorical = "c" in (booster.feature_types or ())
        self._use_facts(kept)
        self.n_features_in_ = self._Booster.num_features()
        names = self._Booster.feature_names
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _use_facts(self, kept: dict[str, Any]) -> None:
        """Take over what `_facts_for_file` kept."""
