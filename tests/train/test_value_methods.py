"""What must hold for `exact` and both kinds of `approx`, whatever else a training does."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from gossamer import (
    Booster,
    CallbackEnv,
    DataError,
    Dataset,
    ParameterError,
    _native,
    checkpoint,
    cv,
    early_stopping,
    threads,
    train,
)
from gossamer.params import TABLE

METHODS: dict[str, dict[str, Any]] = {
    "exact": {"tree_method": "exact"},
    "global": {"tree_method": "approx", "sketch_eps": 0.02},
    "local": {"tree_method": "approx", "sketch_eps": 0.05, "proposal": "local"},
}
N_ROWS = 700  # more than a column has bins
RNG = np.random.default_rng(17)
NUMBERS = RNG.normal(size=(N_ROWS, 5))
NUMBERS[:, 4] = np.round(NUMBERS[:, 4] * 2)  # few values: bins tell all
SIGNAL = NUMBERS[:, 0] + NUMBERS[:, 1] * NUMBERS[:, 2] + np.abs(NUMBERS[:, 4])
LABEL = SIGNAL + 0.3 * RNG.normal(size=N_ROWS)
CLASSES = np.digitize(LABEL, [0.3, 1.5])
WITH_HOLES = np.where(RNG.random(NUMBERS.shape) < 0.15, np.nan, NUMBERS)
MOSTLY_ZERO = np.where(RNG.random(NUMBERS.shape) < 0.6, 0.0, NUMBERS)
BETWEEN = RNG.normal(size=(300, 5))
SMALL: dict[str, Any] = {
    "num_leaves": 7,
    "min_data_in_leaf": 5,
    "learning_rate": 0.3,
    "num_threads": 1,
    "verbosity": -1,
}
TABLES: dict[str, Any] = {
    "dense": NUMBERS,
    "missing": WITH_HOLES,
    "zeros": MOSTLY_ZERO,
    "rows": sparse.csr_array(MOSTLY_ZERO),
    "columns": sparse.csc_array(np.where(np.isnan(WITH_HOLES), np.nan, MOSTLY_ZERO)),
}


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> dict[str, Any]:
    return METHODS[request.param]


def fit(params: dict[str, Any], n_rounds: int = 4, table: Any = NUMBERS, **more: Any) -> Booster:
    label = CLASSES if "num_class" in params else LABEL
    return train({**SMALL, **params}, Dataset(table, label), n_rounds, **more)


def check_scores(booster: Booster, tables: list[Any]) -> None:
    """Scores of training and of all validation sets are what the model predicts, bit for bit."""
    training = booster.training
    assert training is not None
    scored = [training.train, *training.valid]
    for one, table in zip(scored, tables, strict=True):
        raw = booster.predict(table, raw_score=True)
        np.testing.assert_array_equal(raw.T.reshape(-1), one.score)


# ---- scores ----


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"objective": "multiclass", "num_class": 3},
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"linear_tree": True},
        {"objective": "l1"},
    ],
    ids=str,
)
def test_scores_in_training_are_predictions(
    method: dict[str, Any], name: str, params: dict[str, Any]
) -> None:
    """Values of validation sets lie between those of the training data."""
    table = TABLES[name]
    make = {"rows": sparse.csr_array, "columns": sparse.csc_array}.get(name, np.asarray)
    others = [
        make(BETWEEN),
        make(np.where(BETWEEN > 0.5, np.nan, BETWEEN)),
        make(np.where(BETWEEN > 0, 0.0, BETWEEN).astype(np.float32)),
    ]
    label = CLASSES if "num_class" in params else LABEL
    data = Dataset(table, label)
    valid = [Dataset(other, label[:300], reference=data) for other in others]
    record = {**SMALL, **method, **params}
    booster = train(record, data, 4, valid, keep_training_booster=True)
    assert booster.num_trees() >= 4
    check_scores(booster, [table, *others])


@pytest.mark.parametrize("metric", ["l2", "l1", "rmse"])
def test_metrics_in_training_are_those_of_predictions(method: dict[str, Any], metric: str) -> None:
    found: dict[str, float] = {}

    def note(env: CallbackEnv) -> None:
        found.update({one.dataset_name: one.metric_value for one in env.evaluation_result_list})

    tables = {"between": BETWEEN, "holes": np.where(BETWEEN > 0.5, np.nan, BETWEEN)}
    data = Dataset(NUMBERS, LABEL)
    valid = [Dataset(table, LABEL[:300], reference=data) for table in tables.values()]
    params = {**SMALL, **method, "metric": metric}
    booster = train(params, data, 5, valid, list(tables), callbacks=[note])
    for name, table in tables.items():
        error = booster.predict(table) - LABEL[:300].astype(np.float32)
        power = np.mean(np.abs(error) ** (1 if metric == "l1" else 2))
        expected = np.sqrt(power) if metric == "rmse" else power
        np.testing.assert_allclose(found[name], expected, rtol=1e-12)


# ---- threads, storage ----


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("dense", {}),
        ("missing", {}),
        ("rows", {}),
        ("columns", {}),
        ("missing", {"objective": "multiclass", "num_class": 3}),
        ("missing", {"bagging_fraction": 0.6, "bagging_freq": 1, "objective": "poisson"}),
        ("zeros", {"data_sample_strategy": "goss", "grow_policy": "depthwise", "max_depth": 4}),
        ("rows", {"feature_fraction_bynode": 0.6, "zero_as_missing": True}),
        ("missing", {"monotone_constraints": [1, 0, -1, 0, 0]}),
        ("missing", {"linear_tree": True, "num_leaves": 31}),
    ],
    ids=str,
)
def test_any_number_of_threads(
    method: dict[str, Any], name: str, params: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
    label = CLASSES if "num_class" in params else np.abs(LABEL)
    texts = {
        train({**SMALL, **method, **params, "num_threads": n}, Dataset(TABLES[name], label), 3)
        .model_to_string()
        .replace(f'"num_threads":{n}', "")
        .replace(f'"num_threads": {n}', "")
        for n in (1, 2, 3, 8)
    }
    assert len(texts) == 1


@pytest.mark.parametrize("objective", ["regression", "binary"])
def test_every_kernel_level(method: dict[str, Any], objective: str) -> None:
    before, texts = _native.kernel_level(), set()
    label = LABEL if objective == "regression" else (LABEL > 0.8).astype(float)
    try:
        for level in _native.kernel_levels():
            assert _native.set_kernel_level(level)
            for table in (WITH_HOLES, TABLES["rows"]):
                data = Dataset(table, label)
                booster = train({**SMALL, **method, "objective": objective}, data, 4)
                texts.add(booster.model_to_string())
    finally:
        _native.set_kernel_level(before)
    assert len(texts) == 2  # of two tables


@pytest.mark.parametrize("params", [{}, {"zero_as_missing": True}, {"use_missing": False}], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_storage_does_not_matter(
    method: dict[str, Any], params: dict[str, Any], dtype: Any
) -> None:
    """Approximate candidates are others in sparse tables: zero is parted from its neighbours."""
    values = (MOSTLY_ZERO * (1 if dtype != np.int16 else 1000)).astype(dtype)
    every = {**method, **params}
    dense = fit(every, table=values).model_to_string()
    assert fit(every, table=np.asfortranarray(values)).model_to_string() == dense
    expected = fit(every, table=sparse.csr_array(values)).model_to_string()
    assert fit(every, table=sparse.csc_array(values)).model_to_string() == expected
    if method["tree_method"] == "exact":
        assert expected == dense


# ---- objectives, samples ----

OBJECTIVES = [name for name in TABLE["objective"].choices if name != "custom"]
RANKING = ("lambdarank", "rank_xendcg", "rank:ndcg", "rank:map", "rank:pairwise")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective(method: dict[str, Any], objective: str) -> None:
    params: dict[str, Any] = {**SMALL, **method, "objective": objective}
    label, fields = 1 / (1 + np.exp(-LABEL)), {}
    if objective in ("binary", "binary:logitraw", "hinge", "focal", "rank:map"):
        label = (LABEL > 0.8).astype(float)
    if objective in ("multiclass", "multi:softmax", "multiclassova"):
        label, params["num_class"] = CLASSES, 3
    if objective in RANKING:
        fields["group"] = [10] * (N_ROWS // 10)
        label = label if objective == "rank:map" else np.clip(np.round(LABEL + 1), 0, 4)
    data = Dataset(WITH_HOLES, label, weight=None, **fields)
    booster = train(params, data, 3, keep_training_booster=True)
    assert booster.num_trees() >= 3
    assert max(booster.model.forest.tree(t).n_leaves for t in range(3)) > 2
    check_scores(booster, [WITH_HOLES])


@pytest.mark.parametrize(
    "params",
    [
        {"bagging_fraction": 0.5, "bagging_freq": 2},
        {"data_sample_strategy": "goss", "top_rate": 0.2, "other_rate": 0.1},
        {"data_sample_strategy": "mvs", "bagging_fraction": 0.4},
        {"feature_fraction": 0.5},
        {"feature_fraction_bylevel": 0.5},
        {"feature_fraction_bynode": 0.5},
        {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0},
        {"path_smooth": 3.0},
        {"lambda_l1": 1.0, "max_delta_step": 0.5},
        {"feature_contri": [0.5, 1, 1, 1, 0.1]},
        {"cegb_penalty_split": 0.01},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["missing", "rows"])
def test_options(method: dict[str, Any], name: str, params: dict[str, Any]) -> None:
    table = TABLES[name]
    booster = fit({**method, **params}, 5, table, keep_training_booster=True)
    assert booster.num_trees() == 5
    check_scores(booster, [table])
    error = np.mean((booster.predict(table) - LABEL) ** 2)
    assert error < 0.98 * np.var(LABEL)


def test_leaves_hold_the_rows_that_reach_them(method: dict[str, Any]) -> None:
    """Also where rows are sampled: counts are those of the sample."""
    for name, table in TABLES.items():
        booster = fit(method, 3, table)
        leaf = booster.predict(table, pred_leaf=True)
        for t in range(3):
            tree = booster.model.forest.tree(t)
            counts = np.bincount(leaf[:, t], minlength=tree.n_leaves)
            np.testing.assert_array_equal(counts, tree.leaf_count, err_msg=name)
    booster = Booster({**SMALL, **method, "bagging_fraction": 0.5}, Dataset(NUMBERS, LABEL))
    assert booster.training is not None
    booster.update()
    prepared = booster.training.prepared
    inside = prepared.sampler.draw(0, prepared.gradients, 1).inside
    leaf = booster.predict(NUMBERS[inside], pred_leaf=True)[:, 0]
    counts = booster.model.forest.tree(0).leaf_count
    np.testing.assert_array_equal(np.bincount(leaf, minlength=len(counts)), counts)
    assert counts.sum() < 0.6 * N_ROWS


def test_random_forests(method: dict[str, Any]) -> None:
    params = {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}
    booster = fit({**method, **params}, 5, WITH_HOLES)
    assert booster.num_trees() == 5
    assert np.mean((booster.predict(WITH_HOLES) - LABEL) ** 2) < 0.8 * np.var(LABEL)


def test_interaction_constraints(method: dict[str, Any]) -> None:
    booster = fit({**method, "interaction_constraints": [[0, 1], [2, 3, 4]], "num_leaves": 15})
    for t in range(booster.num_trees()):
        tree = booster.model.forest.tree(t)
        first = {0, 1} if tree.column[0] < 2 else {2, 3, 4}
        assert set(tree.column.tolist()) <= first


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"num_leaves": 31, "min_data_in_leaf": 1},
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"grow_policy": "depthwise", "max_depth": 5},
        {"objective": "l1"},
        {"zero_as_missing": True},
        {"path_smooth": 2.0, "monotone_penalty": 1.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", TABLES)
def test_monotone_constraints(method: dict[str, Any], params: dict[str, Any], name: str) -> None:
    directions, table = [1, -1, 0, 0, 1], TABLES[name]
    label = np.sin(3 * NUMBERS[:, 0]) + NUMBERS[:, 1] ** 2 + LABEL
    settings = {**SMALL, **method, **params, "monotone_constraints": directions}
    booster = train(settings, Dataset(table, label), 6)
    full = table.toarray() if sparse.issparse(table) else table
    rows, used = full[:25], set()
    for t in range(booster.num_trees()):
        used |= set(booster.model.forest.tree(t).column.tolist())
    assert used & {0, 1, 4}
    for column, direction in enumerate(directions):
        if direction == 0:
            continue
        seen = np.unique(full[:, column][~np.isnan(full[:, column])])
        values = np.unique(np.concatenate([seen, (seen[1:] + seen[:-1]) / 2, [-1e9, 1e9]]))
        values = values[values != 0]  # zero may be missing
        moved = np.repeat(rows, len(values), axis=0)
        moved[:, column] = np.tile(values, len(rows))
        scores = booster.predict(moved, raw_score=True).reshape(len(rows), len(values))
        assert (np.diff(scores, axis=1) * direction >= 0).all()


# ---- control of a training ----


class Stop(Exception):
    """Ends a training half-way."""


def stop_in(n_round: int) -> Any:
    def stop(env: CallbackEnv) -> None:
        if env.iteration == n_round:
            raise Stop

    return stop


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("missing", {}),
        ("rows", {"bagging_fraction": 0.5, "bagging_freq": 1}),
        ("columns", {"objective": "multiclass", "num_class": 3}),
        ("dense", {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0}),
        ("dense", {"linear_tree": True}),
    ],
    ids=str,
)
def test_checkpoints(
    method: dict[str, Any], name: str, params: dict[str, Any], tmp_path: Path
) -> None:
    every = {**method, **params}
    expected = fit(every, 6, TABLES[name]).model_to_string()
    path = tmp_path / "checkpoint"
    with pytest.raises(Stop):
        fit(every, 6, TABLES[name], callbacks=[stop_in(3), checkpoint(path, every_rounds=1)])
    again = fit(every, 6, TABLES[name], callbacks=[stop_in(99), checkpoint(path, every_rounds=1)])
    assert again.model_to_string() == expected


def test_a_model_can_be_saved_pickled_and_continued(method: dict[str, Any], tmp_path: Path) -> None:
    whole, half = fit(method, 6, WITH_HOLES), fit(method, 3, WITH_HOLES)
    half.save_model(tmp_path / "model")
    for first in (
        Booster(model_file=tmp_path / "model"),
        Booster(model_str=half.model_to_string()),
        pickle.loads(pickle.dumps(half)),
    ):
        assert first.model_to_string() == half.model_to_string()
        np.testing.assert_array_equal(first.predict(BETWEEN), half.predict(BETWEEN))
        both = fit(method, 3, WITH_HOLES, init_model=first)
        assert both.model_to_string() == whole.model_to_string()


@pytest.mark.parametrize("other", [{"tree_method": "hist"}, *METHODS.values()], ids=str)
def test_training_goes_on_from_a_model_of_another_method(
    method: dict[str, Any], other: dict[str, Any]
) -> None:
    first = fit(other, 3, WITH_HOLES)
    data = Dataset(WITH_HOLES, LABEL)
    valid = Dataset(BETWEEN, LABEL[:300], reference=data)
    params = {**SMALL, **method}
    booster = train(params, data, 3, valid, init_model=first, keep_training_booster=True)
    assert booster.num_trees() == 6
    check_scores(booster, [WITH_HOLES, BETWEEN])


def test_rounds_are_taken_back(method: dict[str, Any]) -> None:
    params = {**SMALL, **method, "bagging_fraction": 0.7, "bagging_freq": 1}
    booster = Booster(params, Dataset(WITH_HOLES, LABEL))
    booster.add_valid(Dataset(BETWEEN, LABEL[:300], reference=booster.training.train.given), "v")  # type: ignore[union-attr]
    texts = []
    for _ in range(3):
        booster.update()
        texts.append((booster.model_to_string(), booster.eval_valid(), booster.eval_train()))
    booster.rollback_one_iter()
    assert (booster.model_to_string(), booster.eval_valid(), booster.eval_train()) == texts[1]
    booster.update()
    assert (booster.model_to_string(), booster.eval_valid(), booster.eval_train()) == texts[2]


def test_a_data_set_added_late_has_the_same_scores(method: dict[str, Any]) -> None:
    data = Dataset(WITH_HOLES, LABEL)
    booster = Booster({**SMALL, **method}, data)
    for _ in range(3):
        booster.update()
    booster.add_valid(Dataset(BETWEEN, LABEL[:300], reference=data), "late")
    check_scores(booster, [WITH_HOLES, BETWEEN])


def test_a_leaf_can_be_changed_during_a_training(method: dict[str, Any]) -> None:
    booster = fit(method, 3, WITH_HOLES, keep_training_booster=True)
    booster.set_leaf_output(1, 2, 5.0)
    assert booster.get_leaf_output(1, 2) == 5.0
    booster.eval_train()
    check_scores(booster, [WITH_HOLES])
    booster.update()
    check_scores(booster, [WITH_HOLES])


def test_parameters_can_change_during_a_training(method: dict[str, Any]) -> None:
    booster = Booster({**SMALL, **method}, Dataset(WITH_HOLES, LABEL))
    booster.update()
    booster.reset_parameter({"learning_rate": 0.1, "num_leaves": 4, "bagging_fraction": 0.5})
    booster.update()
    assert booster.model.forest.tree(1).n_leaves == 4
    for name, value in {"tree_method": "hist", "sketch_eps": 0.5, "proposal": "local"}.items():
        if {**METHODS["global"], **method}.get(name, "global") == value:
            continue
        with pytest.raises(ParameterError, match=f"{name} cannot change during a training"):
            booster.reset_parameter({name: value})
    booster.update()
    check_scores(booster, [WITH_HOLES])


def test_refit(method: dict[str, Any]) -> None:
    booster = fit(method, 4, WITH_HOLES)
    again = booster.refit(WITH_HOLES, -LABEL, decay_rate=0.0)
    assert np.corrcoef(again.predict(WITH_HOLES), booster.predict(WITH_HOLES))[0, 1] < 0
    leaf = booster.predict(WITH_HOLES, pred_leaf=True)
    np.testing.assert_array_equal(again.predict(WITH_HOLES, pred_leaf=True), leaf)


def test_cross_validation_is_training_on_folds(method: dict[str, Any]) -> None:
    rows = np.arange(N_ROWS)
    folds = [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]
    params = {**SMALL, **method, "metric": "l2"}
    found = cv(params, Dataset(WITH_HOLES, LABEL), 4, folds=folds, return_cvbooster=True)
    for (inside, outside), booster in zip(folds, found["cvbooster"].boosters, strict=True):
        alone = train(params, Dataset(WITH_HOLES[inside], LABEL[inside]), 4)
        error = np.mean((booster.predict(WITH_HOLES[outside]) - LABEL[outside]) ** 2)
        other = np.mean((alone.predict(WITH_HOLES[outside]) - LABEL[outside]) ** 2)
        assert abs(error - other) < 0.3 * other  # bins of few values come from all rows in cv
    assert len(found["valid l2-mean"]) == 4


def test_early_stopping_keeps_the_best_round(method: dict[str, Any]) -> None:
    data = Dataset(NUMBERS[:500], LABEL[:500])
    valid = Dataset(NUMBERS[500:], LABEL[500:], reference=data)
    params = {**SMALL, **method, "learning_rate": 1.0, "metric": "l2", "num_leaves": 31}
    booster = train(params, data, 60, valid, callbacks=[early_stopping(3, verbose=False)])
    assert 0 < booster.best_iteration < 57
    error = np.mean((booster.predict(NUMBERS[500:]) - LABEL[500:].astype(np.float32)) ** 2)
    np.testing.assert_allclose(booster.best_score["valid_0"]["l2"], error, rtol=1e-12)


def test_ctrl_c_leaves_a_whole_model(method: dict[str, Any]) -> None:
    def press(env: CallbackEnv) -> None:
        if env.iteration == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted after 3 rounds"):
        booster = fit(method, 6, callbacks=[press])
    assert booster.current_iteration() == 3
    assert booster.model_to_string() == fit(method, booster.current_iteration()).model_to_string()


# ---- data sets ----


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_data_sets_that_are_constructed_before(
    method: dict[str, Any], keep: bool, known: bool
) -> None:
    expected = fit(method).model_to_string()
    data = Dataset(NUMBERS, LABEL, free_raw_data=not keep, params=dict(method) if known else None)
    data.construct()
    if not keep and not known:
        with pytest.raises(DataError, match=r"tree_method cannot change .*Dataset\(params"):
            train({**SMALL, **method}, data, 4)
        return
    booster = train({**SMALL, **method}, data, 4)
    assert booster.model_to_string() == expected


def test_validation_sets_that_are_freed(method: dict[str, Any]) -> None:
    data = Dataset(NUMBERS, LABEL, params=dict(method))
    valid = Dataset(BETWEEN, LABEL[:300], reference=data)
    valid.construct()
    with pytest.raises(DataError, match=r"tree_method=.* needs raw values.*freed.*params"):
        train({**SMALL, **method}, data, 2, valid)


def test_subsets(method: dict[str, Any]) -> None:
    rows = np.arange(0, N_ROWS, 2)
    for keep in (False, True):
        whole = Dataset(WITH_HOLES, LABEL, params=dict(method), free_raw_data=not keep)
        data = whole.subset(rows)
        valid = whole.subset(rows + 1)
        booster = train({**SMALL, **method}, data, 4, valid, keep_training_booster=True)
        check_scores(booster, [WITH_HOLES[rows], WITH_HOLES[rows + 1]])


@pytest.mark.parametrize("keep", [False, True])
def test_columns_that_are_added(method: dict[str, Any], keep: bool) -> None:
    left, right = (
        Dataset(part, LABEL, params=dict(method), free_raw_data=not keep, feature_name=names)
        for part, names in ((NUMBERS[:, :2], ["a", "b"]), (NUMBERS[:, 2:], ["c", "d", "e"]))
    )
    both = left.construct().add_features_from(right.construct())
    booster = train({**SMALL, **method}, both, 4, keep_training_booster=True)
    check_scores(booster, [NUMBERS])
    np.testing.assert_array_equal(booster.predict(NUMBERS), fit(method).predict(NUMBERS))


def test_columns_without_values_that_are_added(method: dict[str, Any]) -> None:
    left = Dataset(NUMBERS[:, :2], LABEL, params=dict(method), feature_name=["a", "b"])
    right = Dataset(NUMBERS[:, 2:], feature_name=["c", "d", "e"])
    both = left.construct().add_features_from(right.construct())
    with pytest.raises(DataError, match=r"tree_method=.* needs raw values.*freed"):
        train({**SMALL, **method}, both, 2)


def test_a_file_of_bins_has_no_values(method: dict[str, Any], tmp_path: Path) -> None:
    Dataset(NUMBERS, LABEL).save_binary(tmp_path / "data.bin")
    with pytest.raises(DataError, match=r"tree_method=.*save_binary\(\) has bins only"):
        train({**SMALL, **method}, Dataset(tmp_path / "data.bin"), 2)


def test_values_are_not_copied_nor_changed(method: dict[str, Any]) -> None:
    table = WITH_HOLES.copy()
    table.flags.writeable = False
    fit(method, 2, table)
    np.testing.assert_array_equal(table, WITH_HOLES)


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows(method: dict[str, Any], n_rows: int) -> None:
    params = {**SMALL, **method, "min_data_in_leaf": 1}
    booster = train(params, Dataset(NUMBERS[:n_rows], LABEL[:n_rows]), 2)
    assert np.isfinite(booster.predict(NUMBERS)).all()


# ---- bad input ----


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"extra_trees": True}, "extra_trees cannot be combined with tree_method"),
        ({"forced_splits": {"feature": 0, "threshold": 0}}, "cannot be combined with tree_method"),
        ({"cegb_penalty_feature_lazy": [1] * 5}, "cegb_penalty_feature_lazy cannot be combined"),
        ({"cegb_penalty_feature_coupled": [1] * 5}, "cegb_penalty_feature_coupled cannot be"),
        ({"max_conflict_rate": 0.05}, "max_conflict_rate cannot be"),
        ({"multi_strategy": "multi_output_tree"}, "multi_output_tree cannot be combined with tree"),
        (
            {"monotone_constraints": [1], "monotone_constraints_method": "advanced"},
            r"monotone_constraints_method does not fit.*advanced.*basic",
        ),
        (
            {"monotone_constraints": [1], "monotone_constraints_method": "intermediate"},
            r"monotone_constraints_method does not fit",
        ),
        ({"cat_target_statistics": "on"}, "cat_target_statistics does not fit tree_method"),
    ],
    ids=str,
)
def test_what_does_not_fit(method: dict[str, Any], params: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=f"(?s){words}"):
        fit({**method, **params}, 2)


def test_unknown_words() -> None:
    with pytest.raises(ParameterError, match=r"(?s)tree_method.*exakt.*exact"):
        fit({"tree_method": "exakt"})
    with pytest.raises(ParameterError, match=r"(?s)proposal.*globl.*global"):
        fit({"tree_method": "approx", "proposal": "globl"})
