"""`GossamerRanker`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from gossamer.errors import DataError, ParameterError
from gossamer.sklearn.base import GossamerModel
from gossamer.sklearn.fit_options import FitOptions, RankerOptions, takes

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EVAL_AT: Final = (1, 2, 3, 4, 5)


class GossamerRanker(GossamerModel):
    """Gradient boosted trees that order the rows of a query.

    It accepts the arguments of `GossamerModel`. The default objective is "lambdarank". Labels are
    degrees of relevance, 0 or more. `predict` returns scores: within a query, rows with higher
    scores come first.

    Example:
        >>> import numpy as np
        >>> x = np.arange(200.0).reshape(-1, 1) % 20
        >>> model = GossamerRanker(n_estimators=10).fit(x, x[:, 0] // 5, group=[20] * 10)
        >>> model.predict([[19.0]]) > model.predict([[2.0]])
        array([ True])
    """

    def _default_objective(self) -> str:
        return "lambdarank"

    def _metric_of_function(self) -> str | None:
        return "ndcg"

    @takes(
        "sample_weight init_score group eval_set eval_names eval_sample_weight eval_init_score "
        "eval_group eval_metric eval_at feature_name categorical_feature callbacks init_model",
        "eval_X eval_y query eval_query qid eval_qid",
        eval_at=_EVAL_AT,
    )
    def fit(self, X: Any, y: Any, *args: Any, **options: Unpack[RankerOptions]) -> GossamerRanker:
        """Train the model; see `GossamerModel.fit` for the other arguments.

        Args:
            X: Rows x columns.
            y: Relevance of each row, 0 or more.
            *args: The options, in the order of the signature.
            **options: Either `group`, the number of rows of each query, or `query` (XGBoost's name
                is `qid`), the query of each row, is required. The rows of a query must be
                contiguous. The default of `eval_at` is the one given to the constructor.

        Returns:
            The estimator itself.
        """
        query = _one_of("query", options["query"], options.pop("qid"))
        eval_query = _one_of("eval_query", options["eval_query"], options.pop("eval_qid"))
        options["query"], options["eval_query"] = query, eval_query
        if options["group"] is None and query is None:
            raise DataError.because(
                "ranking needs queries",
                found="neither group nor query",
                hint="Pass group (rows of each query) or query (one id per row) to fit.",
            )
        if options["eval_at"] is _EVAL_AT:
            options["eval_at"] = None
        super().fit(X, y, **cast("FitOptions", options))
        return self


def _one_of(name: str, value: Any, xgboosts: Any) -> Any:
    if value is not None and xgboosts is not None:
        raise ParameterError.because(
            f"{name} is given twice", found="also as qid", expected="one of the two"
        )
    return xgboosts if value is None else value
