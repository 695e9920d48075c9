"""`update()` after fields of the training data were set: a round of the new data, or no change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Booster, DataError, Dataset, GossamerError, NotSupportedError, train
from gossamer.tree import TreeGrower

RNG = np.random.default_rng(3)
N_ROWS = 400
TABLE = np.column_stack([RNG.normal(size=(N_ROWS, 3)), RNG.integers(0, 40, N_ROWS)])
OLD = TABLE[:, 0] - TABLE[:, 1]
NEW = TABLE[:, 1] * TABLE[:, 2] + np.sin(TABLE[:, 3])
WEIGHT = RNG.random(N_ROWS) + 0.1
BASE: dict[str, Any] = {"num_leaves": 6, "min_data_in_leaf": 5, "verbosity": -1}
METHODS: dict[str, dict[str, Any]] = {
    "hist": {},
    "linear": {"linear_tree": True},
    "exact": {"tree_method": "exact"},
    "global": {"tree_method": "approx", "sketch_eps": 0.1},
    "local": {"tree_method": "approx", "sketch_eps": 0.1, "proposal": "local"},
    "linear exact": {"linear_tree": True, "tree_method": "exact"},
    "dart": {"boosting": "dart", "drop_rate": 0.5},
    "forest": {"boosting": "rf", "feature_fraction": 0.7},
    "costs": {"cegb_penalty_feature_coupled": [0.1, 5, 0.1, 0.2]},
    "residuals": {"objective": "quantile"},
    "goss": {"data_sample_strategy": "goss"},
}
FIELDS: dict[str, dict[str, Any]] = {
    "label": {"label": NEW},
    "weight": {"weight": WEIGHT},
    "label and weight": {"label": NEW, "weight": WEIGHT},
    "init_score": {"init_score": NEW / 3},
    "feature_weights": {"feature_weights": [1.0, 0.0, 1.0, 2.0]},
}


def start(params: dict[str, Any], n_rounds: int, **arguments: Any) -> tuple[Booster, Dataset]:
    data = Dataset(TABLE, OLD, **arguments)
    booster = Booster({**BASE, **params}, data)
    for _ in range(n_rounds):
        booster.update()
    return booster, data


def set_fields(data: Dataset, fields: dict[str, Any]) -> Dataset:
    for name, values in fields.items():
        data.set_field(name, values)
    return data


@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("method", METHODS)
def test_fields_set_before_the_first_round_are_those_of_the_training(
    method: str, fields: str
) -> None:
    if method == "forest" and fields == "init_score":
        booster, data = start(METHODS[method], 0)
        with pytest.raises(DataError, match="cannot start from the init_score"):
            set_fields(data, FIELDS[fields]) and booster.update()
        return
    params = {"feature_fraction_bynode": 0.6, **METHODS[method]}
    booster, data = start(params, 0)
    set_fields(data, FIELDS[fields])
    for _ in range(4):
        booster.update()
    expected = train({**BASE, **params}, set_fields(Dataset(TABLE, OLD), FIELDS[fields]), 4)
    assert booster.model_to_string() == expected.model_to_string()
    assert booster.eval_train()


@pytest.mark.parametrize("method", [name for name in METHODS if name != "dart"])
def test_fields_set_later_leave_the_trees_and_are_those_of_the_next_round(method: str) -> None:
    booster, data = start(METHODS[method], 3)
    before = booster.predict(TABLE, raw_score=True)
    set_fields(data, {"label": NEW, "weight": WEIGHT})
    booster.update()
    np.testing.assert_array_equal(booster.predict(TABLE, raw_score=True, num_iteration=3), before)
    after = booster.predict(TABLE, raw_score=True)
    assert np.ptp(after - before) > 0
    if method == "forest":  # cannot be continued
        return
    first = start(METHODS[method], 3)[0]
    again = Booster(booster.params, Dataset(TABLE, NEW, weight=WEIGHT), init_model=first)
    again.update()
    np.testing.assert_array_equal(again.predict(TABLE, raw_score=True), after)


@pytest.mark.parametrize("method", ["linear", "linear exact"])
def test_leaves_stay_linear(method: str) -> None:
    booster, data = start(METHODS[method], 2)
    data.set_label(NEW)
    booster.update()
    last = booster.dump_model()["tree_info"][-1]["tree_structure"]

    def leaves(node: dict[str, Any]) -> list[dict[str, Any]]:
        if "leaf_value" in node:
            return [node]
        return leaves(node["left_child"]) + leaves(node["right_child"])

    assert any(leaf["leaf_coeff"] for leaf in leaves(last))


@pytest.mark.parametrize("method", METHODS)
def test_the_same_fields_set_again_change_nothing(method: str) -> None:
    booster, data = start(METHODS[method], 2)
    data.set_label(OLD)
    booster.update()
    assert booster.model_to_string() == start(METHODS[method], 3)[0].model_to_string()


BAD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a label for the objective": ({"objective": "binary"}, {"label": np.arange(N_ROWS)}),
    "targets": ({}, {"label": np.column_stack([NEW, NEW])}),
    "weights of no use": ({"objective": "cross_entropy_lambda"}, {"weight": np.eye(N_ROWS)[0]}),
    "scores of other classes": ({}, {"init_score": np.zeros((N_ROWS, 2))}),
    "scores of a forest": ({"boosting": "rf", "feature_fraction": 0.7}, {"init_score": NEW}),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("method", ["hist", "linear", "exact", "local"])
def test_fields_that_do_not_fit_leave_the_training_as_it_was(name: str, method: str) -> None:
    params, fields = BAD[name]
    params = {**METHODS[method], **params}
    label = (OLD > 0).astype(float)
    good = {"label": label, "weight": None, "init_score": None}

    def begin() -> tuple[Booster, Dataset]:
        data = Dataset(TABLE, label)
        booster = Booster({**BASE, **params}, data)
        booster.update()
        booster.update()
        return booster, data

    booster, data = begin()
    text, found = booster.model_to_string(), booster.eval_train()
    set_fields(data, fields)
    for _ in range(2):
        with pytest.raises(GossamerError):
            booster.update()
    assert booster.model_to_string() == text
    set_fields(data, good)
    assert booster.eval_train() == found
    expected = begin()[0]
    for model in (booster, expected):
        model.rollback_one_iter()
        model.update()
        model.update()
    assert booster.model_to_string() == expected.model_to_string()
    assert booster.eval_train() == expected.eval_train()


def test_failing_memory_leaves_the_training_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever step of the change fails."""
    expected = start(METHODS["exact"], 3)[0].model_to_string()
    for step in (
        "prepared.make_row_sampler",
        "training.make_objective",
        "prepared.Gradients.empty",
    ):
        booster, data = start(METHODS["exact"], 2)
        data.set_label(NEW)

        def fail(*_: object, **__: object) -> None:
            raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr(f"gossamer.model.training.{step}", fail)
            with pytest.raises(MemoryError):
                booster.update()
        data.set_label(OLD)
        booster.update()
        assert booster.model_to_string() == expected, step


def test_costs_that_could_not_be_counted_are_counted_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Taking a round back counts again which features are paid for."""
    params = {"cegb_penalty_feature_coupled": [5.0] * 4, "cegb_penalty_feature_lazy": [0.01] * 4}
    booster, expected = (start(params, 2)[0] for _ in range(2))

    def fail(grower: TreeGrower, *_: object) -> None:
        grower._costs.clear()  # type: ignore[union-attr]
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("gossamer.tree.grower.TreeGrower.recount", fail)
        with pytest.raises(MemoryError):
            booster.rollback_one_iter()
    expected.rollback_one_iter()
    for model in (booster, expected):
        while model.current_iteration() < 4:
            model.update()
    assert booster.model_to_string() == expected.model_to_string()


def test_a_custom_objective_that_did_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The training goes on with the objective it had."""
    expected = start({}, 3)[0].model_to_string()
    booster, _ = start({}, 2)

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("gossamer.model.training.prepared.Gradients.empty", fail)
        with pytest.raises(MemoryError):
            booster.update(fobj=lambda score, _: (score, np.ones_like(score)))
    booster.update()
    assert booster.model_to_string() == expected


def test_sorted_columns_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    booster, data = start(METHODS["exact"], 1)
    data.set_label(NEW)
    monkeypatch.setattr("gossamer.tree.grower.TreeGrower._sort_columns", None)
    booster.update()


def test_weights_choose_the_bins_again_only_where_no_tree_has_them() -> None:
    params = {"weighted_bins": True, "max_bin": 7}
    booster, data = start(params, 2, weight=np.ones(N_ROWS), free_raw_data=False)
    expected = start(params, 3, weight=np.ones(N_ROWS))[0]
    data.set_weight(10.0 ** (10 * WEIGHT))
    with pytest.raises(DataError, match="other bins"):
        booster.update()
    data.set_weight(np.ones(N_ROWS))
    booster.rollback_one_iter()
    booster.update()
    booster.update()
    assert booster.model_to_string() == expected.model_to_string()


def test_bins_of_another_training_do_not_reach_this_one() -> None:
    """The data set is binned again for the second training; the first one keeps its bins."""
    booster, data = start({"max_bin": 63}, 3, free_raw_data=False)
    text, found = booster.model_to_string(), booster.eval_train()
    train({**BASE, "max_bin": 3}, data, 2)
    booster.rollback_one_iter()
    booster.update()
    assert booster.model_to_string() == text
    assert booster.eval_train() == found


def test_a_round_taken_back_leaves_no_start() -> None:
    booster, data = start({}, 1)
    booster.rollback_one_iter()
    data.set_label(NEW)
    booster.update()
    assert booster.model_to_string() == train(BASE, Dataset(TABLE, NEW), 1).model_to_string()


def test_target_statistics_are_learned_again_before_the_first_round() -> None:
    params = {**BASE, "cat_target_statistics": "on"}

    def make(label: np.ndarray) -> tuple[Booster, Dataset]:
        data = Dataset(TABLE, label, categorical_feature=[3])
        booster = Booster(params, data)
        booster.add_valid(data.create_valid(TABLE[::-1], NEW[::-1]), "valid")
        return booster, data

    (booster, data), (expected, _) = make(OLD), make(NEW)
    data.set_label(NEW)
    for model in (booster, expected):
        model.update()
        model.update()
    assert booster.model_to_string() == expected.model_to_string()
    assert booster.eval_valid() == expected.eval_valid()
    data.set_label(OLD)
    with pytest.raises(NotSupportedError, match="target statistics"):
        booster.update()


WRONG: dict[str, tuple[dict[str, Any], np.ndarray]] = {
    "targets": ({}, np.column_stack([NEW, NEW])),
    "binary": ({"objective": "binary"}, np.arange(N_ROWS)),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, np.arange(N_ROWS)),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("which", ["training", "valid"])
def test_labels_that_do_not_fit_are_not_evaluated(name: str, which: str) -> None:
    params, wrong = WRONG[name]
    label = (OLD > 0).astype(float)
    data = Dataset(TABLE, label)
    valid = data.create_valid(TABLE, label)
    booster = Booster({**BASE, **params}, data).add_valid(valid, "valid")
    booster.update()
    evaluate = booster.eval_train if which == "training" else booster.eval_valid
    found = evaluate()
    changed = data if which == "training" else valid
    changed.set_label(wrong)
    with pytest.raises(DataError, match=which):
        evaluate()
    changed.set_label(label)
    assert evaluate() == found
