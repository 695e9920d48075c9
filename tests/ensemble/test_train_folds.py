"""`train_folds`: members over folds, averaged into one model."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import gossamer as gs
from gossamer.errors import DataError, NotSupportedError, ParameterError
from gossamer.model.files import model_file
from gossamer.side_by_side import Stretch, plan_stretches

N_ROWS = 900


def _table(seed: int = 0, n_columns: int = 5) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(N_ROWS, n_columns))


def _signal(x: npt.NDArray[np.float64], seed: int = 1) -> npt.NDArray[np.float64]:
    noise = np.random.default_rng(seed).normal(size=len(x))
    return x[:, 0] * 2 + np.sin(3 * x[:, 1]) + 0.5 * noise


def _labels(kind: str, x: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    signal = _signal(x)
    if kind == "classes":
        return np.digitize(signal, [-1.0, 1.0])
    return signal > 0 if kind == "binary" else signal


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "regression": ("numbers", {}),
    "binary": ("binary", {"objective": "binary", "metric": "auc"}),
    "multiclass": ("classes", {"objective": "multiclass", "num_class": 3}),
    "vector leaves": (
        "classes",
        {"objective": "multiclass", "num_class": 3, "multi_strategy": "multi_output_tree"},
    ),
    "quantiles": ("numbers", {"objective": "quantile", "quantile_alpha": [0.1, 0.5, 0.9]}),
    "gaussian": ("numbers", {"objective": "gaussian"}),
    "l1": ("numbers", {"objective": "l1"}),
    "dart": ("numbers", {"boosting": "dart"}),
    "random forest": ("numbers", {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}),
    "linear": ("numbers", {"linear_tree": True}),
    "parallel": ("numbers", {"num_parallel_tree": 2, "bagging_fraction": 0.7}),
    "sampled": ("binary", {"objective": "binary", "bagging_fraction": 0.6, "extra_trees": True}),
    "goss": ("binary", {"objective": "binary", "data_sample_strategy": "goss"}),
}


def _train(case: str, **options: Any) -> tuple[gs.Booster, npt.NDArray[np.float64]]:
    kind, params = CASES[case]
    x = _table()
    data = gs.Dataset(x, _labels(kind, x))
    params = {"verbose": -1, "num_leaves": 8, **params, **options.pop("params", {})}
    return gs.train_folds(params, data, 30, **{"nfold": 3, **options}), x


@pytest.mark.parametrize("case", CASES)
def test_the_model_is_the_average_of_its_members(case: str, tmp_path: Path) -> None:
    model, x = _train(case)
    members = [model.fold_member(i) for i in range(3)]
    raw = np.mean([member.predict(x, raw_score=True) for member in members], axis=0)
    np.testing.assert_allclose(model.predict(x, raw_score=True), raw, rtol=1e-9, atol=1e-9)
    # What a member says about its own rows is what was kept of them.
    oof = model.oof_prediction(raw_score=True)
    for member, facts in zip(members, model.fold_facts_, strict=True):
        rows = facts["held_out"]
        found = member.predict(x[rows], raw_score=True)
        np.testing.assert_allclose(found, oof[rows], rtol=1e-9, atol=1e-9)
        assert facts["rounds"] == member.current_iteration()
    for name in ("model.gsm", "model.json"):
        model.save_model(tmp_path / name)
        again = gs.Booster(model_file=tmp_path / name)
        assert np.array_equal(again.predict(x), model.predict(x))
        assert np.array_equal(again.oof_prediction(), model.oof_prediction())
        assert again.oof_score_ == model.oof_score_
        assert again.oof_score_by_fold_ == model.oof_score_by_fold_
        assert model_file.to_bytes(again.model) == model_file.to_bytes(model.model)


@pytest.mark.parametrize("case", ["binary", "multiclass", "sampled"])
def test_members_are_what_train_gives(case: str) -> None:
    """A member is the model that `train` finds on the rows of its fold."""
    model, x = _train(case, params={"early_stopping_round": 5})
    kind, params = CASES[case]
    y = _labels(kind, x)
    whole = gs.Dataset(x, y).construct()
    facts = model.fold_facts_[1]
    rows = np.setdiff1d(np.arange(N_ROWS), facts["held_out"])
    alone = gs.train(
        {"verbose": -1, "num_leaves": 8, **params, "early_stopping_round": 5, **facts["params"]},
        whole.subset(rows),
        30,
        valid_sets=[whole.subset(facts["held_out"])],
    )
    assert alone.current_iteration() == facts["rounds"]
    found = model.fold_member(1).predict(x, raw_score=True)
    np.testing.assert_allclose(found, alone.predict(x, raw_score=True), rtol=1e-12, atol=1e-12)
    (name,) = model.oof_score_by_fold_
    assert model.oof_score_by_fold_[name][1] == alone.best_score["valid_0"][name]


@pytest.mark.parametrize("case", ["binary", "multiclass", "sampled", "dart"])
def test_bytes_do_not_depend_on_threads(case: str) -> None:
    kind, params = CASES[case]
    x = np.random.default_rng(0).normal(size=(20_000, 12))
    y = _labels(kind, x)
    found = set()
    for n_threads in (1, 2, 3, 5, 8):
        data = gs.Dataset(x, y)
        given = {"verbose": -1, "num_leaves": 8, **params, "num_threads": n_threads}
        model = gs.train_folds(given, data, 6, nfold=4)
        found.add(model_file.to_bytes(model.model))
    assert len(found) == 1


def test_folds_of_a_small_table_have_a_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []

    def plan(n_jobs: int, n_threads: int) -> list[Stretch]:
        planned.append(n_threads)
        return plan_stretches(n_jobs, n_threads)

    module = sys.modules["gossamer.ensemble.train_folds"]  # the package has a function of that name
    monkeypatch.setattr(module, "plan_stretches", plan)
    x = _table()
    gs.train_folds({"verbose": -1, "num_threads": 4}, gs.Dataset(x, _signal(x)), 100, nfold=4)
    # Two rounds of them are not worth starting a thread.
    gs.train_folds({"verbose": -1, "num_threads": 4}, gs.Dataset(x, _signal(x)), 2, nfold=4)
    assert planned == [4, 1]


def test_scores_are_those_of_the_out_of_fold_predictions() -> None:
    model, x = _train("binary", params={"metric": ["auc", "binary_logloss"]})
    y = _labels("binary", x)
    p = model.oof_prediction()
    loss = -np.mean(np.where(y, np.log(p), np.log(1 - p)))
    assert model.oof_score_["binary_logloss"] == pytest.approx(loss)
    order = np.sign(p[y][:, None] - p[~y][None, :])
    assert model.oof_score_["auc"] == pytest.approx(0.5 + order.mean() / 2)
    assert "oof auc" in repr(model)
    for metric, values in model.oof_score_by_fold_.items():
        assert len(values) == 3
        assert min(values) <= model.oof_score_[metric] + 0.02


def test_early_stopping_is_each_members_own() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 10))
    y = x[:, 0] + 2 * rng.normal(size=400)
    model = gs.train_folds({"verbose": -1}, gs.Dataset(x, y), 300, nfold=5)
    rounds = [facts["rounds"] for facts in model.fold_facts_]
    assert len(set(rounds)) > 1
    assert max(rounds) < 300
    assert model.current_iteration() == sum(rounds)
    full = gs.train_folds({"verbose": -1, "early_stopping_round": 0}, gs.Dataset(x, y), 7, nfold=5)
    assert [facts["rounds"] for facts in full.fold_facts_] == [7] * 5


def test_a_second_metric_may_find_the_best_round() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 6))
    y = x[:, 0] + rng.normal(size=300) > 0
    params = {"objective": "binary", "metric": ["auc", "binary_logloss"], "verbose": -1}
    params |= {"early_stopping_round": 4, "learning_rate": 0.3}
    model = gs.train_folds(params, gs.Dataset(x, y), 100, nfold=4)
    oof = model.oof_prediction(raw_score=True)
    for i, facts in enumerate(model.fold_facts_):
        rows = facts["held_out"]
        found = model.fold_member(i).predict(x[rows], raw_score=True)
        np.testing.assert_allclose(found, oof[rows], rtol=1e-9)


def test_target_statistics_of_every_member_are_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 1200
    city = rng.integers(0, 60, n)
    effect = rng.normal(size=60)
    x = np.column_stack([city.astype(float), rng.normal(size=n), rng.integers(0, 4, n)])
    y = effect[city] + x[:, 1] + 0.3 * rng.normal(size=n) > 0
    params = {"objective": "binary", "verbose": -1, "cat_target_statistics": "on"}
    params |= {"min_data_per_group": 5, "cat_combinations": 2}
    data = gs.Dataset(x, y, categorical_feature=[0, 2])
    model = gs.train_folds(params, data, 20, nfold=3)
    assert model.model.derived is not None
    members = [model.fold_member(i) for i in range(3)]
    unseen = np.vstack([x, [[77.0, 0.0, np.nan], [np.nan, 0.0, 9.0]]])
    raw = np.mean([member.predict(unseen, raw_score=True) for member in members], axis=0)
    np.testing.assert_allclose(model.predict(unseen, raw_score=True), raw, atol=1e-12)
    oof = model.oof_prediction(raw_score=True)
    for member, facts in zip(members, model.fold_facts_, strict=True):
        rows = facts["held_out"]
        found = member.predict(x[rows], raw_score=True)
        np.testing.assert_allclose(found, oof[rows], rtol=1e-9, atol=1e-12)
    # As `train` learns them from the rows of the fold.
    rows = np.setdiff1d(np.arange(n), model.fold_facts_[0]["held_out"])
    whole = gs.Dataset(x, y, categorical_feature=[0, 2]).construct()
    n_rounds = model.fold_facts_[0]["rounds"]
    alone = gs.train(params, whole.subset(rows), n_rounds)
    np.testing.assert_allclose(
        members[0].predict(unseen, raw_score=True), alone.predict(unseen, raw_score=True), rtol=1e-9
    )
    for name in ("model.gsm", "model.json"):
        model.save_model(tmp_path / name)
        again = gs.Booster(model_file=tmp_path / name)
        assert np.array_equal(again.predict(unseen), model.predict(unseen))
        assert model_file.to_bytes(again.model) == model_file.to_bytes(model.model)
    shap = model.predict(x[:20], pred_contrib=True)
    np.testing.assert_allclose(shap.sum(axis=1), model.predict(x[:20], raw_score=True), rtol=1e-6)
    assert len(model.feature_importance()) == 3


def test_groups_stay_together() -> None:
    x = _table()
    patient = np.random.default_rng(3).integers(0, 40, N_ROWS)
    data = gs.Dataset(x, _signal(x))
    model = gs.train_folds({"verbose": -1}, data, 5, nfold=4, groups=patient)
    held = [set(patient[facts["held_out"]]) for facts in model.fold_facts_]
    assert sum(map(len, held)) == len(set(patient))
    names = np.array([f"p{p}" for p in patient])
    again = gs.train_folds({"verbose": -1}, data, 5, nfold=4, groups=names, repeats=2)
    for facts in again.fold_facts_:
        own = set(names[facts["held_out"]])
        others = np.setdiff1d(np.arange(N_ROWS), facts["held_out"])
        assert not own & set(names[others])


def test_time_order() -> None:
    x = _table()
    when = np.random.default_rng(3).permutation(N_ROWS) // 3
    model = gs.train_folds({"verbose": -1}, gs.Dataset(x, _signal(x)), 5, nfold=4, time=when)
    late = -1
    for facts in model.fold_facts_:
        first = when[facts["held_out"]].min()
        assert first > late
        late = when[facts["held_out"]].max()
        assert first >= when.max() // 2
    oof = model.oof_prediction()
    assert np.isnan(oof).sum() == N_ROWS // 2
    known = np.isfinite(oof)
    error = np.mean((oof[known] - _signal(x)[known].astype(np.float32)) ** 2)
    assert model.oof_score_["l2"] == pytest.approx(error)
    ordered = gs.train_folds({"verbose": -1}, gs.Dataset(x, _signal(x)), 5, nfold=2, time=True)
    assert [facts["held_out"][0] for facts in ordered.fold_facts_] == [450, 675]


def test_repeats_average_the_scores_of_a_row() -> None:
    model, x = _train("regression", repeats=2)
    assert len(model.fold_facts_) == 6
    oof = model.oof_prediction()
    seen = np.zeros(N_ROWS)
    total = np.zeros(N_ROWS)
    for i, facts in enumerate(model.fold_facts_):
        rows = facts["held_out"]
        seen[rows] += 1
        total[rows] += model.fold_member(i).predict(x[rows])
    assert (seen == 2).all()
    np.testing.assert_allclose(oof, total / 2, rtol=1e-9)


def test_ranking_holds_out_whole_queries() -> None:
    x = _table()
    relevance = np.clip(np.round(_signal(x)), 0, 3)
    group = [30] * 30
    data = gs.Dataset(x, relevance, group=group)
    params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "verbose": -1}
    model = gs.train_folds(params, data, 10, nfold=3, repeats=2)
    query = np.repeat(np.arange(30), 30)
    for facts in model.fold_facts_:
        own = query[facts["held_out"]]
        assert len(facts["held_out"]) == 30 * len(set(own))
    assert 0.5 < model.oof_score_["ndcg@5"] <= 1


def test_weights_count() -> None:
    x = _table()
    y = _signal(x)
    weight = np.random.default_rng(5).uniform(0.1, 3, N_ROWS)
    model = gs.train_folds({"verbose": -1}, gs.Dataset(x, y, weight=weight), 10, nfold=3)
    error = np.average((model.oof_prediction() - y) ** 2, weights=weight)
    assert model.oof_score_["l2"] == pytest.approx(error, rel=1e-5)


def test_folds_of_ones_own() -> None:
    from sklearn.model_selection import KFold

    x = _table()
    data = gs.Dataset(x, _signal(x))
    pairs = [(np.arange(300, 900), np.arange(300)), (np.arange(300), np.arange(300, 600))]
    model = gs.train_folds({"verbose": -1}, data, 5, folds=pairs)
    assert np.isnan(model.oof_prediction()).sum() == 300
    split = gs.train_folds({"verbose": -1}, data, 5, folds=KFold(4))
    assert len(split.fold_facts_) == 4


def test_mixed_members() -> None:
    model, _ = _train("regression", nfold=4, members=[{"num_leaves": 4}, {"max_depth": 2}])
    leaves = [int(model.fold_member(i).model.forest.leaf_begin[1]) for i in range(4)]
    assert leaves == [4, 4, 4, 4]
    assert [facts["params"] for facts in model.fold_facts_] == [
        {"num_leaves": 4},
        {"max_depth": 2},
        {"num_leaves": 4},
        {"max_depth": 2},
    ]


def test_metric_functions() -> None:
    def bias(predictions: Any, data: gs.Dataset) -> tuple[str, float, bool]:
        return "bias", abs(float(np.mean(predictions - data.get_label()))), False

    model, x = _train("regression", feval=bias)
    assert model.oof_score_["bias"] == pytest.approx(
        abs(np.mean(model.oof_prediction() - _signal(x))), abs=1e-6
    )


def test_metric_functions_that_see_other_classes_in_each_fold() -> None:
    """Values belong to the metric of their name; rows that no fold holds out are not evaluated."""

    def recalls(predictions: Any, data: gs.Dataset) -> list[tuple[str, float, bool]]:
        label, chosen = data.get_label(), np.argmax(predictions, axis=1)
        return [
            (f"recall of {k:.0f}", float(np.mean(chosen[label == k] == k)), True)
            for k in np.unique(label)
        ]

    x, label = _table()[:90], np.repeat([0, 1, 2], 30)
    x[:, 0] += label
    held_out = [np.r_[20:30], np.r_[50:60, 80:90]]
    folds = [(np.delete(np.arange(90), rows), rows) for rows in held_out]
    params = {"objective": "multiclass", "num_class": 3, "metric": "none", "verbose": -1}
    model = gs.train_folds(params, gs.Dataset(x, label), 4, folds=folds, feval=recalls)
    nan = math.nan
    by_fold, overall = model.oof_score_by_fold_, model.oof_score_
    assert list(by_fold) == list(overall) == ["recall of 0", "recall of 1", "recall of 2"]
    expected = [[overall["recall of 0"], nan], *([nan, overall[f"recall of {k}"]] for k in (1, 2))]
    np.testing.assert_array_equal(list(by_fold.values()), expected)
    assert len(set(overall.values())) == 3
    again = gs.Booster(model_str=model.model_to_string())
    np.testing.assert_array_equal(list(again.oof_score_by_fold_.values()), expected)


def test_objective_of_ones_own() -> None:
    def squared(scores: Any, data: gs.Dataset) -> tuple[Any, Any]:
        return scores - data.get_label(), np.ones_like(scores)

    x = _table()
    params = {"objective": squared, "metric": "l2", "verbose": -1}
    model = gs.train_folds(params, gs.Dataset(x, _signal(x)), 20, nfold=3)
    assert model.oof_score_["l2"] < np.var(_signal(x))


def test_initial_scores_are_part_of_the_out_of_fold_scores() -> None:
    x = _table()
    y = _signal(x)
    data = gs.Dataset(x, y + 100, init_score=np.full(N_ROWS, 100.0))
    model = gs.train_folds({"verbose": -1}, data, 20, nfold=3)
    assert abs(model.oof_prediction().mean() - 100) < 1
    assert abs(model.predict(x).mean()) < 1


def test_callbacks_are_told_of_folds() -> None:
    seen: list[tuple[int, int, str]] = []

    def look(env: gs.CallbackEnv) -> None:
        assert env.evaluation_result_list is not None
        seen.append((env.iteration, env.end_iteration, env.evaluation_result_list[0].metric_name))

    _train("regression", callbacks=[look])
    assert seen == [(0, 3, "l2"), (1, 3, "l2"), (2, 3, "l2")]


def test_an_error_in_one_fold_ends_all() -> None:
    x = _table()

    def fails(env: gs.CallbackEnv) -> None:
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        gs.train_folds({"verbose": -1}, gs.Dataset(x, _signal(x)), 10, callbacks=[fails])


def test_time_limit() -> None:
    import time

    x = np.random.default_rng(0).normal(size=(5000, 20))
    data = gs.Dataset(x, x[:, 0])
    params = {"verbose": -1, "learning_rate": 0.001, "num_threads": 1}
    began = time.monotonic()
    model = gs.train_folds(params, data, 100_000, nfold=2, time_limit=1.0)
    assert time.monotonic() - began < 20
    assert model.current_iteration() > 1
    with pytest.raises(ParameterError, match="time_limit"):
        gs.train_folds(params, data, 10, time_limit=-1)


def test_what_changes_a_model_forgets_its_folds() -> None:
    model, x = _train("regression")
    part = model[:3]
    with pytest.raises(NotSupportedError, match="oof_prediction"):
        part.oof_prediction()
    again = model[:3] + model[3:]
    np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-12)
    with pytest.raises(NotSupportedError, match="train_folds"):
        _ = gs.train({"verbose": -1}, gs.Dataset(x, _signal(x)), 2).oof_score_
    with pytest.raises(IndexError, match="0 to 2"):
        model.fold_member(3)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"repeats": 0}, "repeats"),
        ({"repeats": 2, "time": True}, "time"),
        ({"time": True, "groups": np.zeros(N_ROWS)}, "time cannot be combined"),
        ({"groups": np.zeros(3)}, "groups cannot be used"),
        ({"groups": np.zeros(N_ROWS)}, "not enough groups"),
        ({"time": np.zeros(N_ROWS)}, "different times"),
        ({"nfold": 1}, "nfold"),
        ({"members": [{"max_bin": 7}]}, "max_bin"),
        ({"members": [{"nonsense": 7}]}, "nonsense"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], text: str) -> None:
    x = _table()
    with pytest.raises((DataError, ParameterError), match=text):
        gs.train_folds({"verbose": -1}, gs.Dataset(x, _signal(x)), 3, **options)


def test_a_plain_training_gives_the_bytes_it_gave_before() -> None:
    x = _table()
    model = gs.train({"verbose": -1}, gs.Dataset(x, _signal(x)), 3)
    arrays, facts = model_file.to_parts(model.model)
    assert facts["version"] == 1
    assert not [name for name in arrays if name.startswith("folds")]
    assert "folds" not in facts
