"""The same script, run with both libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import gossamer.compat.xgboost as ours

theirs = pytest.importorskip("xgboost")


def both(script: Any) -> tuple[Any, Any]:
    found = []
    for module in (ours, theirs):
        with module.config_context(nthread=1):
            found.append(script(module))
    return found[0], found[1]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_depth": 3, "eta": 0.1, "lambda": 5, "alpha": 2, "gamma": 20},
        {"min_child_weight": 30},
        {"grow_policy": "lossguide", "max_leaves": 6, "max_depth": 0},
        {"base_score": 20, "max_delta_step": 9},
        {"monotone_constraints": "(1,-1,0,0)"},
        {"interaction_constraints": "[[0, 1]]"},
    ],
    ids=str,
)
def test_trees_are_the_same_where_bins_are(few_values: Any, params: dict[str, Any]) -> None:
    def script(xgb: Any) -> Any:
        data = xgb.DMatrix(few_values.x, label=few_values.y)
        model = xgb.train(params, data, 5)
        kinds = ("weight", "gain", "cover", "total_gain", "total_cover")
        return model.predict(data), {kind: model.get_score(importance_type=kind) for kind in kinds}

    (mine, my_scores), (other, their_scores) = both(script)
    np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)
    assert my_scores["weight"] == their_scores["weight"]
    for kind, scores in their_scores.items():
        assert my_scores[kind] == pytest.approx(scores, rel=2e-3), kind


def test_trees_are_the_same_with_weights_and_margins(few_values: Any) -> None:
    def script(xgb: Any) -> Any:
        weight = np.arange(500) % 4 + 1
        data = xgb.DMatrix(few_values.x, few_values.y, weight=weight, base_margin=few_values.y / 2)
        other = xgb.DMatrix(few_values.x, few_values.y, base_margin=np.ones(500))
        model = xgb.train({"max_depth": 3}, data, 5)
        return model.predict(data), model.predict(other)

    mine, other = both(script)
    np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)


def test_absent_entries_are_missing(few_values: Any) -> None:
    def script(xgb: Any) -> Any:
        sparse = scipy.sparse.csr_matrix(np.where(few_values.x < 10, 0, few_values.x))
        data = xgb.DMatrix(sparse, few_values.y)
        return xgb.train({"max_depth": 3}, data, 5).predict(data)

    mine, other = both(script)
    np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)


def test_a_sparse_table_for_a_model_of_a_dense_one(few_values: Any) -> None:
    known = np.where(np.arange(2000).reshape(500, 4) % 11 == 0, np.nan, few_values.x)

    def script(xgb: Any) -> Any:
        data = xgb.DMatrix(known, few_values.y)
        sparse = xgb.DMatrix(
            scipy.sparse.csr_matrix(np.where(few_values.x < 10, 0, few_values.x)), few_values.y
        )
        found: dict[str, Any] = {}
        model = xgb.train(
            {"max_depth": 3}, data, 5, evals=[(sparse, "s")], evals_result=found, verbose_eval=False
        )
        return model.predict(sparse), found["s"]["rmse"]

    (mine, my_errors), (other, their_errors) = both(script)
    np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(my_errors, their_errors, rtol=1e-4)


@pytest.mark.parametrize("limit", [{"max_delta_step": 0.3}, {"monotone_constraints": "(1,0,0,0)"}])
@pytest.mark.parametrize("method", ["exact", "hist", "approx"])
def test_gains_of_limited_values_do_not_count_alpha(
    numbers: Any, limit: dict[str, Any], method: str
) -> None:
    table = np.round(numbers.x[:, :4], 1)
    params = {"alpha": 20.0, "max_depth": 4, "tree_method": method, "base_score": 0.5, **limit}

    def script(xgb: Any) -> Any:
        model = xgb.train(params, xgb.DMatrix(table, numbers.y), 5)
        return model.trees_to_dataframe()

    mine, other = both(script)
    assert len(other) > 50
    assert mine["Feature"].tolist() == other["Feature"].tolist()
    np.testing.assert_allclose(mine["Gain"], other["Gain"], rtol=1e-4, atol=1e-4)
    is_split = mine["Feature"] != "Leaf"
    left = [np.nan_to_num(frame["Cover"][is_split]) for frame in (mine, other)]
    np.testing.assert_allclose(*left, rtol=1e-5)


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("n_parallel", [1, 2])
@pytest.mark.parametrize("normalize_type", ["tree", "forest"])
def test_dart_weighs_single_trees(
    few_values: Any, n_targets: int, n_parallel: int, normalize_type: str
) -> None:
    """All trees are dropped in each round, so nothing is random."""
    label = np.stack([few_values.y, few_values.x[:, 1], few_values.x[:, 2]], axis=1)[:, :n_targets]
    params = {"booster": "dart", "rate_drop": 1.0, "normalize_type": normalize_type, "max_depth": 3}
    params |= {"num_parallel_tree": n_parallel, "base_score": 0.5}

    def script(xgb: Any) -> Any:
        data = xgb.DMatrix(few_values.x, label)
        return xgb.train(params, data, 6).predict(data)

    mine, other = both(script)
    np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logistic"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_exact_trees_are_the_same(numbers: Any, objective: str, is_sparse: bool) -> None:
    label = numbers.y if objective.startswith("reg") else (numbers.y > 1).astype(np.float32)
    table = numbers.x
    if is_sparse:
        table = scipy.sparse.csr_matrix(np.nan_to_num(np.maximum(table, 0)))

    def script(xgb: Any) -> Any:
        data = xgb.DMatrix(table, label)
        model = xgb.train({"tree_method": "exact", "objective": objective}, data, 10)
        return model.predict(data), model.get_fscore()

    (mine, my_counts), (other, their_counts) = both(script)
    np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)
    assert my_counts == their_counts


def test_rounds_by_range_and_by_slice(few_values: Any) -> None:
    def script(xgb: Any) -> Any:
        data = xgb.DMatrix(few_values.x, few_values.y)
        model = xgb.train({"max_depth": 3}, data, 6)
        parts = [model[2:4], model[0:6:2], model[3]]
        return [
            model.predict(data, iteration_range=(0, 2)),
            model.predict(data, iteration_range=(2, 5)),
            *(part.predict(data) for part in parts),
            [part.num_boosted_rounds() for part in parts],
        ]

    for mine, other in zip(*both(script), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)


def test_a_loss_and_a_metric_of_ones_own(few_values: Any) -> None:
    def script(xgb: Any) -> Any:
        seen = []

        def loss(score: Any, data: Any) -> Any:
            seen.append((score.shape, score.dtype.name, type(data).__name__, float(score[0])))
            return score - data.get_label(), np.ones_like(score)

        def worst(score: Any, data: Any) -> Any:
            return "worst", abs(score - data.get_label()).max()

        data, found = xgb.DMatrix(few_values.x, few_values.y), {}
        xgb.train(
            {"max_depth": 3},
            data,
            3,
            obj=loss,
            custom_metric=worst,
            evals=[(data, "train")],
            evals_result=found,
            verbose_eval=False,
        )
        return seen, found

    (my_calls, mine), (their_calls, other) = both(script)
    assert [call[:3] for call in my_calls] == [call[:3] for call in their_calls]
    np.testing.assert_allclose([c[3] for c in my_calls], [c[3] for c in their_calls], rtol=1e-4)
    assert list(mine["train"]) == list(other["train"]) == ["rmse", "worst"]
    for name, values in other["train"].items():
        np.testing.assert_allclose(mine["train"][name], values, rtol=1e-4)


def test_a_loss_of_ones_own_predicts_as_the_objective_says(few_values: Any) -> None:
    label = (few_values.y > 10).astype(np.float32)

    def script(xgb: Any) -> Any:
        def loss(score: Any, data: Any) -> Any:
            p = 1 / (1 + np.exp(-score))
            return p - data.get_label(), p * (1 - p)

        def above(score: Any, data: Any) -> Any:
            return "above", (score > 0).mean()

        data, found = xgb.DMatrix(few_values.x, label), {}
        model = xgb.train(
            {"objective": "binary:logistic", "max_depth": 3},
            data,
            3,
            obj=loss,
            custom_metric=above,
            evals=[(data, "train")],
            evals_result=found,
            verbose_eval=False,
        )
        return model.predict(data), *found["train"].values()

    for mine, other in zip(*both(script), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-3)


# The objective, its parameters, and by how much the metric may differ.
OBJECTIVES: list[tuple[str, dict[str, Any], float]] = [
    ("reg:squarederror", {}, 0.02),
    ("reg:absoluteerror", {}, 0.1),
    ("reg:quantileerror", {"quantile_alpha": 0.3}, 0.1),
    ("reg:quantileerror", {"quantile_alpha": [0.3, 0.7]}, 0.1),
    ("count:poisson", {}, 0.05),
    ("reg:gamma", {}, 0.3),
    ("reg:tweedie", {"tweedie_variance_power": 1.3}, 0.05),
    ("reg:logistic", {}, 0.05),
    ("binary:logistic", {}, 0.05),
    ("binary:logistic", {"scale_pos_weight": 3, "eval_metric": ["auc", "error", "aucpr"]}, 0.05),
    ("binary:hinge", {}, 0.05),
    ("multi:softprob", {"num_class": 3}, 0.5),
    ("multi:softmax", {"num_class": 3, "eval_metric": ["merror", "mlogloss"]}, 0.5),
    ("survival:cox", {}, 0.1),
    ("survival:aft", {"aft_loss_distribution": "logistic"}, 0.2),
    ("rank:ndcg", {}, 0.1),
    ("rank:pairwise", {"eval_metric": ["ndcg@5", "ndcg", "ndcg-"]}, 0.1),
    ("rank:map", {"lambdarank_pair_method": "mean"}, 0.1),
]


@pytest.mark.parametrize(("objective", "params", "tolerance"), OBJECTIVES, ids=str)
def test_objectives(
    few_values: Any, objective: str, params: dict[str, Any], tolerance: float
) -> None:
    label = np.abs(few_values.y) + 1
    if objective.startswith(("binary", "reg:logistic")) or objective == "rank:map":
        label = (label > 20).astype(np.float32)
    elif objective.startswith("multi"):
        label = np.digitize(label, [10, 30])
    elif objective.startswith("rank"):
        label = np.digitize(label, [10, 20, 40])

    def script(xgb: Any) -> Any:
        more: dict[str, Any] = {}
        if objective.startswith("rank"):
            more["qid"] = np.arange(500) // 10
        if objective == "survival:aft":
            more = {"label_lower_bound": label, "label_upper_bound": label}
        data, found = xgb.DMatrix(few_values.x, label, **more), {}
        model = xgb.train(
            {"objective": objective, "max_depth": 4, **params},
            data,
            20,
            evals=[(data, "train")],
            evals_result=found,
            verbose_eval=False,
        )
        return model.predict(data), model.predict(data, output_margin=True), found["train"]

    mine, other = both(script)
    assert list(mine[2]) == list(other[2])
    for name, values in other[2].items():
        assert len(mine[2][name]) == 20
        last, theirs_last = mine[2][name][-1], values[-1]
        assert last == pytest.approx(theirs_last, rel=tolerance, abs=0.02), name
    for i in range(2):
        assert mine[i].shape == other[i].shape and mine[i].dtype == other[i].dtype


def test_cross_validation(few_values: Any) -> None:
    def script(xgb: Any) -> Any:
        data = xgb.DMatrix(few_values.x, few_values.y)
        return xgb.cv({"max_depth": 3}, data, 5, nfold=4, metrics=["rmse", "mae"], seed=3)

    mine, other = both(script)
    assert list(mine.columns) == list(other.columns) and len(mine) == len(other)
    np.testing.assert_allclose(mine.to_numpy(), other.to_numpy(), rtol=5e-3)


def test_cross_validation_in_stratified_folds(few_values: Any) -> None:
    label = (few_values.y > 10).astype(np.float32)

    def script(xgb: Any) -> Any:
        params = {"max_depth": 3, "objective": "binary:logistic"}
        data = xgb.DMatrix(few_values.x, label)
        return xgb.cv(params, data, 5, stratified=True, as_pandas=False)

    mine, other = both(script)
    assert list(mine) == list(other)
    for name, values in other.items():
        np.testing.assert_allclose(mine[name], values, rtol=0.03, atol=1e-3)


def test_signatures_are_the_same() -> None:
    import inspect

    for name in ("train", "cv"):
        mine, other = (inspect.signature(getattr(module, name)) for module in (ours, theirs))
        for mine_one, other_one in zip(
            mine.parameters.values(), other.parameters.values(), strict=True
        ):
            assert (mine_one.name, mine_one.kind) == (other_one.name, other_one.kind)
            assert mine_one.default == other_one.default
    for method in ("predict", "inplace_predict", "get_score", "update", "eval_set", "save_model"):
        mine, other = (
            inspect.signature(getattr(module.Booster, method)) for module in (ours, theirs)
        )
        assert list(mine.parameters) == list(other.parameters)
    mine, other = (inspect.signature(module.DMatrix.__init__) for module in (ours, theirs))
    assert list(mine.parameters) == list(other.parameters)


def test_stored_zeros_are_values_to_their_models(few_values: Any, tmp_path: Any) -> None:
    positive = np.maximum(few_values.x - 8, 0)  # many zeros, and some missing values
    model = theirs.train({"max_depth": 4}, theirs.DMatrix(positive, few_values.y), 5)
    model.save_model(tmp_path / "model.json")
    known = ~np.isnan(positive)
    rows, columns = np.nonzero(known)
    stored = scipy.sparse.csr_matrix((positive[known], (rows, columns)), shape=positive.shape)
    mine = ours.Booster(model_file=tmp_path / "model.json")
    expected = model.predict(theirs.DMatrix(stored))
    np.testing.assert_allclose(mine.predict(ours.DMatrix(stored)), expected, rtol=1e-5)
    np.testing.assert_allclose(expected, model.predict(theirs.DMatrix(positive)), rtol=1e-5)


def test_rounds_without_a_split_count(few_values: Any) -> None:
    def script(xgb: Any) -> Any:
        data = xgb.DMatrix(few_values.x, few_values.y)
        params = {"gamma": 1e9, "base_score": 3.0}
        found: dict[str, Any] = {}
        model = xgb.train(
            params, data, 7, evals=[(data, "train")], evals_result=found, verbose_eval=False
        )
        folds = [(np.arange(250), np.arange(250, 500)), (np.arange(250, 500), np.arange(250))]
        table = xgb.cv(params, data, 7, folds=folds, as_pandas=False)
        return [
            [model.num_boosted_rounds(), len(model.get_fscore())],
            model.predict(data),
            found["train"]["rmse"],
            table["test-rmse-mean"],
        ]

    for mine, other in zip(*both(script), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4)
