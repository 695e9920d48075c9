"""Several rounds of small tables in one native call: the same model as round after round."""

import numpy as np
import pytest

import gossamer
from gossamer.errors import GossamerError
from gossamer.model.training import rounds


def _table(n_rows=300, n_columns=5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, n_columns))
    x[rng.random(x.shape) < 0.05] = np.nan
    signal = np.nansum(x[:, :3], axis=1) + rng.normal(size=n_rows)
    return x, signal


def _label(objective, signal):
    if objective == "binary":
        return (signal > 0).astype(float)
    if objective == "multiclass":
        return np.digitize(signal, [-1.0, 1.0]).astype(float)
    return signal


def _round_after_round(params, data, n_rounds, **options):
    booster = gossamer.Booster(params, data, **options)
    for _ in range(n_rounds):
        if booster.update():
            break
    return booster


@pytest.fixture
def calls(monkeypatch):
    """How many rounds were asked for in each native call of several."""
    asked = []
    native = gossamer.tree.TreeGrower.grow_rounds

    def grow_rounds(self, n_rounds, *args):
        trees = native(self, n_rounds, *args)
        if n_rounds > 1:
            asked.append(None if trees is None else n_rounds)
        return trees

    monkeypatch.setattr(gossamer.tree.TreeGrower, "grow_rounds", grow_rounds)
    return asked


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("objective", ["regression", "binary", "multiclass"])
def test_same_model(calls, objective, weighted, n_threads):
    x, signal = _table()
    weight = np.random.default_rng(1).random(len(x)) if weighted else None
    data = gossamer.Dataset(x, _label(objective, signal), weight=weight)
    params = {"objective": objective, "num_leaves": 7, "num_threads": n_threads, "verbosity": -1}
    if objective == "multiclass":
        params["num_class"] = 3
    model = gossamer.train(params, data, 140)
    expected = _round_after_round(params, data, 140)
    assert calls == [128, 11]
    assert model.model_to_string() == expected.model_to_string()
    assert np.array_equal(model.predict(x), expected.predict(x))


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "binary", "scale_pos_weight": 3.0, "sigmoid": 2.0},
        {"objective": "regression", "reg_sqrt": True},
        {"objective": "squared_log_error"},
        {"monotone_constraints": [1, -1, 0, 0, 0]},
        {"interaction_constraints": [[0, 1], [2, 3, 4]]},
        {"max_depth": 3, "lambda_l1": 0.5, "lambda_l2": 2.0, "path_smooth": 3.0},
        {"grow_policy": "depthwise"},
        {"grow_policy": "symmetric"},
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"cegb_penalty_feature_coupled": [1.0] * 5},
        {"multi_strategy": "multi_output_tree", "objective": "multiclass", "num_class": 3},
    ],
    ids=str,
)
def test_same_model_with_options(calls, options):
    x, signal = _table()
    label = _label(options.get("objective"), signal)
    if options.get("objective") == "squared_log_error":
        label = np.abs(signal)
    params = {"num_leaves": 7, "verbosity": -1, **options}
    model = gossamer.train(params, gossamer.Dataset(x, label), 20)
    assert calls == [19]
    expected = _round_after_round(params, gossamer.Dataset(x, label), 20)
    assert model.model_to_string() == expected.model_to_string()


@pytest.mark.parametrize(
    "options",
    [
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"data_sample_strategy": "goss"},
        {"feature_fraction": 0.5},
        {"extra_trees": True},
        {"objective": "l1"},
        {"linear_tree": True},
        {"boosting": "dart"},
        {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
        {"num_parallel_tree": 2},
    ],
    ids=str,
)
def test_options_that_need_python(calls, options):
    x, signal = _table()
    params = {"num_leaves": 7, "verbosity": -1, **options}
    model = gossamer.train(params, gossamer.Dataset(x, signal), 12)
    assert all(asked is None for asked in calls)
    expected = _round_after_round(params, gossamer.Dataset(x, signal), 12)
    assert model.model_to_string() == expected.model_to_string()


def test_callbacks_and_validation_see_every_round(calls):
    x, signal = _table()
    data, seen = gossamer.Dataset(x, signal), []
    gossamer.train({"verbosity": -1}, data, 10, callbacks=[lambda env: seen.append(env.iteration)])
    assert seen == list(range(10))
    model = gossamer.train({"verbosity": -1}, data, 10, valid_sets=[data], valid_names=["own"])
    assert len(model.eval_history["own"]["l2"]) == 10
    assert calls == []


def test_large_tables_go_round_by_round(calls):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60_000, 10))
    gossamer.train({"verbosity": -1, "num_leaves": 4}, gossamer.Dataset(x, x[:, 0]), 3)
    assert calls == []


def test_continues_and_starts_from_scores(calls):
    x, signal = _table()
    params = {"num_leaves": 7, "verbosity": -1}
    first = gossamer.train(params, gossamer.Dataset(x, signal), 5)
    model = gossamer.train(params, gossamer.Dataset(x, signal), 10, init_model=first)
    expected = _round_after_round(params, gossamer.Dataset(x, signal), 10, init_model=first)
    assert calls == [4, 9]
    assert model.num_trees() == 15
    assert model.model_to_string() == expected.model_to_string()
    data = gossamer.Dataset(x, signal, init_score=signal / 2)
    model, expected = gossamer.train(params, data, 10), _round_after_round(params, data, 10)
    assert model.model_to_string() == expected.model_to_string()


def test_ends_where_no_leaf_can_be_split(calls):
    x = np.repeat([[0.0], [1.0]], 30, axis=0)
    params = {"learning_rate": 1.0, "verbosity": -1}
    model = gossamer.train(params, gossamer.Dataset(x, x[:, 0]), 30)
    expected = _round_after_round(params, gossamer.Dataset(x, x[:, 0]), 30)
    assert calls == [29]
    assert model.num_trees() == expected.num_trees() < 30
    assert model.model_to_string() == expected.model_to_string()


def test_rounds_before_a_divergence_are_kept():
    x, signal = _table()
    data = gossamer.Dataset(x, signal * 1e3)
    params = {"learning_rate": 1e6, "num_leaves": 4, "verbosity": -1}
    booster = gossamer.Booster(params, data)
    while True:  # as many rounds as there are before the divergence
        try:
            booster.update()
        except GossamerError as error:
            message = str(error)
            break
    again = gossamer.Booster(params, data)
    again.update()
    with pytest.raises(GossamerError, match="diverged") as raised:
        again.training.train_rounds(30)
    assert str(raised.value) == message
    assert again.num_trees() == booster.num_trees() > 1
    assert again.model_to_string() == booster.model_to_string()


def test_an_interrupt_leaves_no_trace(monkeypatch):
    x, signal = _table()
    data = gossamer.Dataset(x, signal)
    params = {"num_leaves": 7, "verbosity": -1}
    booster = gossamer.Booster(params, data)
    booster.update()
    before = booster.model_to_string()

    def interrupted(training, trees, state):
        assert len(trees) == 1  # the last round's, whose trees are in the scores already
        raise KeyboardInterrupt

    monkeypatch.setattr(rounds, "end_round", interrupted)
    with pytest.raises(KeyboardInterrupt):
        booster.training.train_rounds(10)
    monkeypatch.undo()
    assert booster.num_trees() == 1 + 9
    booster.training.train_rounds(4)
    assert booster.num_trees() == 14
    expected = _round_after_round(params, data, 14)
    assert booster.model_to_string() == expected.model_to_string()
    assert before != booster.model_to_string()
