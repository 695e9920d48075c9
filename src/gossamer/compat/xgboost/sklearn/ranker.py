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
from gossamer.errors import DataError, ParameterError
from gossamer.sklearn.fit_options import takes
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

    def _kind(self) -> str:
        return "ranker"

    @warn_of_positions
    def __init__(self, *, objective: str = "rank:ndcg", **kwargs: Any) -> None:
        super().__init__(objective=objective, **kwargs)

    @warn_of_positions
    @takes(
        "",
        "group qid sample_weight base_margin eval_set eval_group eval_qid verbose xgb_model "
        "sample_weight_eval_set base_margin_eval_set feature_weights",
        verbose=False,
    )
    def fit(self, X: Any, y: Any, **options: Any) -> XGBRanker:
        """Train the model; see `XGBModel.fit` for the other arguments.

        Args:
            X: Rows x columns.
            y: Relevance of each row.
            **options: `group`, the rows of each query, or `qid`, the query of each row, is needed;
                rows of a query are contiguous. `sample_weight`: one number >= 0 per query, or per
                row. `eval_group` or `eval_qid`: the queries of the data sets, a list with one item
                each.

        Returns:
            The estimator itself.

        Raises:
            DataError: If the queries are not given.
        """
        if callable(self.objective):
            raise ParameterError.because(
                "XGBRanker does not accept a function as objective", expected="rank:ndcg, ..."
            )
        X, qid = _take_queries(X, options.pop("group"), options.pop("qid"))
        groups, ids = options.pop("eval_group"), options.pop("eval_qid")
        if qid is None:
            raise DataError.because(
                "ranking needs queries",
                found="neither group nor qid",
                hint="Pass group (rows of each query) or qid (one id per row) to fit.",
            )
        if options["eval_set"] is not None:
            none = [None] * len(options["eval_set"])
            found = [
                (*_take_queries(pair[0], *queries), pair[1])
                for pair, *queries in zip(
                    options["eval_set"], groups or none, ids or none, strict=True
                )
            ]
            options["eval_set"] = [(x, label) for x, _, label in found]
            ids = [queries for _, queries, _ in found]
            if any(queries is None for queries in ids):
                raise DataError.because(
                    "Either `group` or `qid` is needed for every evaluation set of a ranking",
                    hint="Pass eval_group or eval_qid.",
                )
        self._fit(X, y, qid=qid, eval_qid=ids, **options)
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
            raise DataError.because(
                "queries are given twice", found="group and qid", expected="one of the two"
            )
        qid = np.repeat(np.arange(len(group)), group)
    return x, qid
