"""`GossamerRanker`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import gossamer
from gossamer import DataError, GossamerModel, GossamerRanker, ParameterError

RNG = np.random.default_rng(0)
SIZES = RNG.integers(5, 25, 60)
N_ROWS = int(SIZES.sum())
TABLE = RNG.normal(size=(N_ROWS, 4))
LABEL = np.digitize(TABLE[:, 0] + 0.5 * RNG.normal(size=N_ROWS), [0.0, 1.0])
QUERY = np.repeat(np.arange(len(SIZES)), SIZES)
HALF = int(SIZES[:30].sum())


def test_group_query_and_qid_are_the_same() -> None:
    expected = GossamerRanker(n_estimators=5).fit(TABLE, LABEL, group=SIZES).predict(TABLE)
    for fields in ({"query": QUERY}, {"qid": QUERY}, {"group": list(SIZES)}):
        found = GossamerRanker(n_estimators=5).fit(TABLE, LABEL, **fields).predict(TABLE)
        np.testing.assert_array_equal(found, expected)
    model = GossamerModel(objective="lambdarank", n_estimators=5).fit(TABLE, LABEL, group=SIZES)
    np.testing.assert_array_equal(model.predict(TABLE), expected)


def test_it_ranks() -> None:
    model = GossamerRanker().fit(TABLE, LABEL, group=SIZES, eval_set=[(TABLE, LABEL)])
    assert model.objective_ == "lambdarank"
    assert list(model.evals_result_["training"]) == [f"ndcg@{k}" for k in range(1, 6)]
    assert model.best_score_["training"]["ndcg@5"] > 0.9
    again = clone(model)
    assert isinstance(again, GossamerRanker)


@pytest.mark.parametrize(
    "fields",
    [
        {"eval_group": [SIZES[30:]]},
        {"eval_query": [QUERY[HALF:]]},
        {"eval_qid": [QUERY[HALF:]]},
        {"eval_group": {0: SIZES[30:]}},
    ],
    ids=["group", "query", "qid", "dict"],
)
def test_evaluation(fields: dict[str, Any]) -> None:
    model = GossamerRanker(n_estimators=200).fit(
        TABLE[:HALF],
        LABEL[:HALF],
        group=SIZES[:30],
        eval_set=[(TABLE[HALF:], LABEL[HALF:])],
        eval_metric="map",
        eval_at=[3],
        callbacks=[gossamer.early_stopping(5, verbose=False)],
        **fields,
    )
    assert set(model.evals_result_["valid_0"]) == {"ndcg@3", "map@3"}
    assert 0 < model.best_iteration_ < 200


def test_eval_at_of_the_estimator() -> None:
    fit = {"group": SIZES, "eval_set": [(TABLE, LABEL)]}
    model = GossamerRanker(n_estimators=1, eval_at=[7]).fit(TABLE, LABEL, **fit)
    assert list(model.best_score_["training"]) == ["ndcg@7"]
    model = GossamerRanker(n_estimators=1, ndcg_at=[7]).fit(TABLE, LABEL, **fit, eval_at=2)
    assert list(model.best_score_["training"]) == ["ndcg@2"]


def test_rows_of_weight_zero_stay_in_their_query() -> None:
    weight = (np.arange(N_ROWS) % 3 > 0).astype(float)
    model = GossamerRanker(n_estimators=3).fit(TABLE, LABEL, sample_weight=weight, group=SIZES)
    assert model.predict(TABLE).std() > 0


def test_functions_get_the_group() -> None:
    seen: list[Any] = []

    def objective(y_true: Any, y_pred: Any, weight: Any, group: Any) -> Any:
        seen.append(group)
        return y_pred - y_true, np.ones_like(y_pred)

    def metric(y_true: Any, y_pred: Any, weight: Any, group: Any) -> Any:
        seen.append(group)
        return "queries", len(group), True

    model = GossamerRanker(objective=objective, n_estimators=1)
    model.fit(TABLE, LABEL, group=SIZES, eval_set=[(TABLE, LABEL)], eval_metric=metric)
    assert model.best_score_["training"]["queries"] == len(SIZES)
    assert "ndcg@1" in model.best_score_["training"]
    assert len(seen) == 2
    for group in seen:
        np.testing.assert_array_equal(group, SIZES)


def test_bad_input() -> None:
    with pytest.raises(DataError, match=r"ranking needs queries.*group.*query"):
        GossamerRanker().fit(TABLE, LABEL)
    with pytest.raises(ParameterError, match="query is given twice"):
        GossamerRanker().fit(TABLE, LABEL, query=QUERY, qid=QUERY)
    with pytest.raises(DataError, match="queries are given twice"):
        GossamerRanker().fit(TABLE, LABEL, query=QUERY, group=SIZES)
    with pytest.raises(DataError, match="do not add up"):
        GossamerRanker().fit(TABLE, LABEL, group=SIZES[:-1])
    with pytest.raises(DataError, match="does not fit objective=lambdarank"):
        GossamerRanker().fit(TABLE, LABEL - 5, group=SIZES)
    with pytest.raises(DataError, match="needs queries"):
        other = TABLE.copy()
        GossamerRanker().fit(TABLE, LABEL, group=SIZES, eval_set=[(other, LABEL)])
    with pytest.raises(ParameterError, match="eval_group is not one per evaluation set"):
        GossamerRanker().fit(TABLE, LABEL, group=SIZES, eval_group=[SIZES])


class OneQuery(GossamerRanker):
    """All rows are one query, and labels start at 0: what scikit-learn's checks can do with."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OneQuery:  # type: ignore[override]
        y = None if y is None else np.asarray(y)
        if y is not None and y.dtype.kind in "biuf" and y.size and np.isfinite(y).all():
            y = y - y.min()
        super().fit(X, y, sample_weight=sample_weight, group=[1 if y is None else len(y)])
        return self


@pytest.mark.filterwarnings("ignore:no split is possible:UserWarning")
def test_scikit_learns_checks() -> None:
    """Those that know nothing of ranking: of weights only that they are heard."""
    n_checks = 0
    for model, check in estimator_checks_generator(OneQuery(objective="rank:pairwise")):
        if check.func.__name__ in (
            # Rows of weight 0 are still in their query.
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
            "check_array_api_input",
        ):
            continue
        check(model)
        n_checks += 1
    assert n_checks > 40
