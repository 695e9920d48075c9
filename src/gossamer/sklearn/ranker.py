"""`GossamerRanker`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from gossamer.errors import DataError, ParameterError
from gossamer.sklearn.base import GossamerModel
from gossamer.train import Callback

_EVAL_AT: Final = (1, 2, 3, 4, 5)


class GossamerRanker(GossamerModel):
    """Gradient boosted trees that put the rows of a query into order.

    It takes the arguments of `GossamerModel`; the objective is "lambdarank" unless another is
    given. Labels are degrees of relevance, 0 or more. `predict` returns scores: within a query, the
    higher the earlier.

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

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        group: Any = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Any = None,
        eval_init_score: Any = None,
        eval_group: Any = None,
        eval_metric: Any = None,
        eval_at: Any = _EVAL_AT,
        feature_name: Sequence[str] | Literal["auto"] = "auto",
        categorical_feature: Sequence[str | int] | str | None = "auto",
        callbacks: Sequence[Callback] | None = None,
        init_model: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
        query: Any = None,
        eval_query: Any = None,
        qid: Any = None,
        eval_qid: Any = None,
    ) -> GossamerRanker:
        """Train the model; see `GossamerModel.fit` for the other arguments.

        Args:
            X: Rows x columns.
            y: Relevance of each row, 0 or more.
            sample_weight: One number >= 0 per row.
            init_score: Scores to start from, one per row.
            group: Number of rows of each query: the first ones belong to the first query, ...
            eval_set: Data sets to evaluate after each round: [(X, y), ...].
            eval_names: Their names.
            eval_sample_weight: Their weights, a list with one item each.
            eval_init_score: Their scores to start from, a list with one item each.
            eval_group: Their numbers of rows of each query, a list with one item each.
            eval_metric: Metrics in addition to the objective's.
            eval_at: The ranks that metrics are evaluated at; left at its default, those that the
                estimator was made with.
            feature_name: Names of the columns.
            categorical_feature: Names or positions of the categorical columns; "auto": columns of
                text and of categories, see `Dataset`.
            callbacks: Functions called before or after each round.
            init_model: A fitted estimator, its `Booster`, or the path of a saved one, to continue
                from: the new trees follow its trees.
            eval_X: Instead of `eval_set`: a table, or a tuple of tables.
            eval_y: Their labels.
            query: Instead of `group`: the query of each row; rows of a query are contiguous.
            eval_query: Instead of `eval_group`: a list with one such item each.
            qid: XGBoost's name for `query`.
            eval_qid: XGBoost's name for `eval_query`.

        Returns:
            The estimator itself.
        """
        query = _one_of("query", query, qid)
        eval_query = _one_of("eval_query", eval_query, eval_qid)
        if group is None and query is None:
            raise DataError.because(
                "ranking needs to know the queries",
                got="neither group nor query",
                hint="Pass group (rows of each query) or query (one id per row) to fit.",
            )
        super().fit(
            X,
            y,
            sample_weight=sample_weight,
            init_score=init_score,
            group=group,
            eval_set=eval_set,
            eval_names=eval_names,
            eval_sample_weight=eval_sample_weight,
            eval_init_score=eval_init_score,
            eval_group=eval_group,
            eval_metric=eval_metric,
            feature_name=feature_name,
            categorical_feature=categorical_feature,
            callbacks=callbacks,
            init_model=init_model,
            eval_X=eval_X,
            eval_y=eval_y,
            query=query,
            eval_query=eval_query,
            eval_at=None if eval_at is _EVAL_AT else eval_at,
        )
        return self


def _one_of(name: str, value: Any, xgboosts: Any) -> Any:
    if value is not None and xgboosts is not None:
        raise ParameterError.because(
            f"{name} is given twice", got="also as qid", expected="one of the two"
        )
    return xgboosts if value is None else value
