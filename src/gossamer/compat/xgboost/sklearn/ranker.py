"""`XGBRanker`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.compat.xgboost.params import metric_list
from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.sklearn.base import XGBModel
from gossamer.compat.xgboost.sklearn.functions import as_metric
from gossamer.data.table.frames import is_frame, is_pandas
from gossamer.errors import DataError, ParameterError, message
from gossamer.sklearn.inputs import check_rows


class XGBRanker(XGBModel):
    """Gradient boosted trees that put the rows of a query into order.

    It takes the arguments of `XGBModel`. Labels are degrees of relevance. `predict` returns
    scores: within a query, the higher the earlier. Queries may also come as a column "qid" of a
    pandas frame.

    Example:
        >>> x = np.arange(200.0).reshape(-1, 1) % 20
        >>> model = XGBRanker(n_estimators=10).fit(x, x[:, 0] // 5, group=[20] * 10)
        >>> model.predict([[19.0]]) > model.predict([[2.0]])
        array([ True])
    """

    @warn_of_positions
    def __init__(self, *, objective: str = "rank:ndcg", **kwargs: Any) -> None:
        super().__init__(objective=objective, **kwargs)

    @warn_of_positions
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        group: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Any = None,
        eval_group: Any = None,
        eval_qid: Any = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        feature_weights: Any = None,
    ) -> XGBRanker:
        """Train the model; see `XGBModel.fit` for the other arguments.

        Args:
            X: Rows x columns.
            y: Relevance of each row.
            group: Rows of each query.
            qid: Instead: the query of each row; rows of a query are contiguous.
            sample_weight: One number >= 0 per query, or per row.
            base_margin: Scores to start from.
            eval_set: Data sets to evaluate after each round: [(X, y), ...].
            eval_group: Rows of each of their queries, a list with one item each.
            eval_qid: Instead: the query of each of their rows, a list with one item each.
            verbose: Whether to show their metrics; or every how many rounds.
            xgb_model: A model to continue from.
            sample_weight_eval_set: Weights of the data sets, a list with one item each.
            base_margin_eval_set: Their scores to start from, a list with one item each.
            feature_weights: Per column how likely it is to be drawn.

        Returns:
            The estimator itself.

        Raises:
            DataError: If the queries are not given.
        """
        if callable(self.objective):
            raise ParameterError(
                message("XGBRanker takes no function as objective", expected="rank:ndcg, ...")
            )
        X, qid = _take_queries(X, group, qid)
        if qid is None:
            raise DataError(
                message(
                    "ranking needs to know the queries",
                    got="neither group nor qid",
                    hint="Pass group (rows of each query) or qid (one id per row) to fit.",
                )
            )
        if eval_set is not None:
            n_sets = len(eval_set)
            groups, ids = (values or [None] * n_sets for values in (eval_group, eval_qid))
            found = [
                _take_queries(pair[0], *queries)
                for pair, *queries in zip(eval_set, groups, ids, strict=True)
            ]
            labels = [pair[1] for pair in eval_set]
            eval_set = [(x, label) for (x, _), label in zip(found, labels, strict=True)]
            eval_qid = [queries for _, queries in found]
        self._fit(
            X,
            y,
            sample_weight=sample_weight,
            base_margin=base_margin,
            eval_set=eval_set,
            verbose=verbose,
            xgb_model=xgb_model,
            sample_weight_eval_set=sample_weight_eval_set,
            base_margin_eval_set=base_margin_eval_set,
            feature_weights=feature_weights,
            qid=qid,
            eval_qid=eval_qid,
        )
        return self

    def score(self, X: Any, y: Any) -> float:
        """Return the last metric on some rows.

        Args:
            X: Rows x columns; a pandas frame has queries in its column "qid".
            y: Relevance of each row.
        """
        X, qid = _take_queries(X, None, None)
        booster = self.get_booster()
        rows = self._rows(check_rows(self, self._read(X), booster.levels), y, qid=qid)
        functions = [metric for metric in metric_list(self.eval_metric) if callable(metric)]
        metric = as_metric(functions) if functions else None
        return float(booster.eval_set([(rows, "eval")], feval=metric).rpartition(":")[2])

    def _predict(self, x: Any, **options: Any) -> npt.NDArray[Any]:
        return super()._predict(_take_queries(x, None, None)[0], **options)


def _take_queries(x: Any, group: Any, qid: Any) -> tuple[Any, Any]:
    """Return the table without its queries, and the query of each row; None: there are none."""
    is_in_frame = is_frame(x) and is_pandas(x) and "qid" in x.columns
    if is_in_frame:
        if qid is None and group is None:
            qid = x["qid"].to_numpy()
        x = x.drop(columns="qid")
    if group is not None:
        if qid is not None:
            raise DataError(
                message("queries are given twice", got="group and qid", expected="one of the two")
            )
        qid = np.repeat(np.arange(len(group)), group)
    return x, qid
