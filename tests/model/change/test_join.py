"""Slices of models, sums of models, and copies of both."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer import Booster, CustomObjective, CVBooster, Dataset, cv, train
from gossamer.errors import DataError, NotSupportedError, ParameterError

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(300, 4))
TABLE[:, 2] = RNG.integers(0, 9, 300)
LABEL = TABLE[:, 0] + (TABLE[:, 2] % 3)
SMALL = {"num_leaves": 6, "num_threads": 1, "verbosity": -1}
KINDS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "regression": ({}, LABEL, "auto"),
    "classes": ({"objective": "multiclass", "num_class": 3}, LABEL.astype(int) % 3, "auto"),
    "categories": ({"cat_target_statistics": "off"}, LABEL, [2]),
    "statistics": ({"cat_target_statistics": "on"}, LABEL, [2]),
    "linear": ({"linear_tree": True}, np.sin(LABEL) + TABLE[:, 1], "auto"),
    "parallel": (
        {"num_parallel_tree": 2, "bagging_fraction": 0.5, "bagging_freq": 1},
        LABEL,
        "auto",
    ),
    "vectors": (
        {"multi_strategy": "multi_output_tree"},
        np.column_stack([LABEL, -LABEL]),
        "auto",
    ),
}


def make(kind: str = "regression", n_rounds: int = 6, **changes: Any) -> Booster:
    params, label, categories = KINDS[kind]
    data = Dataset(TABLE, label, categorical_feature=categories)
    return train({**SMALL, **params, **changes}, data, n_rounds)


def raw(booster: Booster) -> Any:
    return booster.predict(TABLE, raw_score=True)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_the_rounds_that_predict_uses(kind: str) -> None:
    booster = make(kind)
    for part, first, n in [
        (booster[:4], 0, 4),
        (booster[2:5], 2, 3),
        (booster[3], 3, 1),
        (booster[-1], 5, 1),
        (booster[-3:], 3, 3),
        (booster[:100], 0, 6),
        (booster[np.int64(2)], 2, 1),
    ]:
        assert part.current_iteration() == n
        expected = booster.predict(TABLE, start_iteration=first, num_iteration=n, raw_score=True)
        np.testing.assert_array_equal(raw(part), expected)
        assert part.params == booster.params and part.feature_name() == booster.feature_name()
    assert booster[:].model_to_string() == booster.model_to_string()
    assert booster[4:2].num_trees() == booster[6:].num_trees() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_parts_add_up_to_the_whole(kind: str) -> None:
    booster = make(kind)
    joined = booster[:2] + booster[2:5] + booster[5]
    assert joined.model_to_string() == booster.model_to_string()
    np.testing.assert_array_equal(joined.predict(TABLE), booster.predict(TABLE))
    rounds = list(booster)
    assert len(rounds) == 6
    np.testing.assert_allclose(sum(map(raw, rounds)), raw(booster), rtol=1e-12, atol=1e-12)
    empty = booster[:0]
    both = raw(empty) + raw(booster[0])
    np.testing.assert_allclose(raw(empty + booster[0]), both, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "statistics"])
def test_a_sum_has_both_scores(kind: str) -> None:
    one, other = make(kind), make(kind, 3, learning_rate=0.3, num_leaves=4)
    both = one + other
    assert both.current_iteration() == 9
    np.testing.assert_allclose(raw(both), raw(one) + raw(other), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(both.model.start, one.model.start + other.model.start)


def test_the_best_round_does_not_matter() -> None:
    booster = make()
    booster.best_iteration = 2
    assert booster[:].current_iteration() == 6
    assert (booster + booster).current_iteration() == 12
    assert booster[:4].best_iteration == -1


def test_a_model_in_training_is_cut_as_it_is() -> None:
    booster = Booster(SMALL, Dataset(TABLE, LABEL))
    for _ in range(3):
        booster.update()
    part = booster[:2]
    booster.update()
    assert part.num_trees() == 2
    with pytest.raises(DataError, match="needs the training data"):
        part.update()


def test_a_part_of_a_forest_is_a_mean() -> None:
    booster = make(boosting="rf", bagging_fraction=0.5, bagging_freq=1)
    for i, part in enumerate(booster):
        expected = booster.predict(TABLE, start_iteration=i, num_iteration=1)
        np.testing.assert_array_equal(part.predict(TABLE), expected)
    with pytest.raises(NotSupportedError, match="random forests cannot be added"):
        _ = booster + booster


def test_truth_and_loops() -> None:
    """A model is not a container whose emptiness counts: there is no len()."""
    booster = make()
    assert booster and booster[:0]
    with pytest.raises(TypeError):
        len(booster)  # type: ignore[arg-type]
    assert list(booster[:0]) == []


@pytest.mark.parametrize(
    ("wanted", "error", "words"),
    [
        (6, IndexError, "no such round: got 6, expected -6 to 5"),
        (-7, IndexError, "no such round"),
        ("a", TypeError, "selected by number: got 'a'"),
        (1.0, TypeError, "selected by number"),
        (True, TypeError, "selected by number"),
        ((1, 2), TypeError, "selected by number"),
        (slice(None, None, 2), ValueError, "got a step of 2, expected a step of 1"),
        (slice(None, None, -1), ValueError, "a step of -1"),
        (slice("a"), TypeError, "indices must be integers"),
    ],
)
def test_what_is_no_round(wanted: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()[wanted]


def test_an_empty_model_has_no_round() -> None:
    with pytest.raises(IndexError, match="a model with rounds"):
        make()[:0][0]


class TestWhatDoesNotFit:
    """Sums of models that mean different things."""

    def test_columns(self) -> None:
        other = train(SMALL, Dataset(TABLE[:, :3], LABEL), 1)
        with pytest.raises(DataError, match="other columns: got 3, expected 4"):
            _ = make() + other

    def test_names(self) -> None:
        one = train(SMALL, Dataset(TABLE, LABEL, feature_name=list("abcd")), 1)
        other = train(SMALL, Dataset(TABLE, LABEL, feature_name=list("abdc")), 1)
        with pytest.raises(DataError, match="first that differs is 2: got 'd', expected 'c'"):
            _ = one + other
        assert (make() + one).feature_name() == (one + make()).feature_name() == list("abcd")

    def test_levels(self) -> None:
        one, other = (
            train(SMALL, Dataset(np.array([[a], [b]] * 150, object), LABEL), 1)
            for a, b in (("x", "y"), ("x", "z"))
        )
        with pytest.raises(DataError, match="different levels"):
            _ = one + other

    def test_objectives(self) -> None:
        other = train({**SMALL, "objective": "binary"}, Dataset(TABLE, LABEL > 1), 1)
        with pytest.raises(ParameterError, match="scores mean something else"):
            _ = make() + other
        with pytest.raises(ParameterError, match="another number of outputs"):
            _ = make() + make("classes")

    def test_trees_of_a_round(self) -> None:
        with pytest.raises(ParameterError, match="num_parallel_tree"):
            _ = make() + make("parallel")
        label = np.column_stack([LABEL, -LABEL])
        with pytest.raises(ParameterError, match="multi_strategy"):
            _ = make("vectors") + train(SMALL, Dataset(TABLE, label), 2)

    def test_statistics(self) -> None:
        with pytest.raises(NotSupportedError, match="target statistics"):
            _ = make("statistics") + make("categories")
        with pytest.raises(NotSupportedError, match="target statistics"):
            _ = make("statistics") + make("statistics", data_random_seed=5, cat_prior_weight=9)

    def test_something_else(self) -> None:
        with pytest.raises(TypeError, match="unsupported operand"):
            _ = make() + 1


# ---- copies ----


def _made() -> dict[str, Any]:
    booster = make("classes")
    return {"part": booster[1:4], "sum": booster + booster, "empty": booster[:0]}


@pytest.mark.parametrize("name", ["part", "sum", "empty"])
def test_copies_of_parts_and_sums(name: str, tmp_path: Path) -> None:
    model = _made()[name]
    model.save_model(tmp_path / "model")
    for other in (
        pickle.loads(pickle.dumps(model)),
        copy.copy(model),
        copy.deepcopy(model),
        Booster(model_file=tmp_path / "model"),
        Booster(model_str=model.model_to_string(format="json")),
    ):
        assert other.model_to_string() == model.model_to_string()
        np.testing.assert_array_equal(other.predict(TABLE), model.predict(TABLE))


def test_copies_of_the_models_of_cv() -> None:
    found = cv(SMALL, Dataset(TABLE, LABEL), 3, nfold=3, return_cvbooster=True)["cvbooster"]
    for other in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert isinstance(other, CVBooster) and len(other.boosters) == 3
        np.testing.assert_array_equal(other.predict(TABLE), found.predict(TABLE))
        assert other.boosters[0] is not found.boosters[0]


def _cube(score: Any) -> Any:
    return score.ravel() ** 3


def _squares(score: Any, data: Any) -> Any:
    return score - data.get_label(), np.ones_like(score)


def test_copies_of_predictors() -> None:
    for kind in KINDS:
        for raw_score in (False, True):
            predict = make(kind).predictor(start_iteration=1, num_iteration=3, raw_score=raw_score)
            other = pickle.loads(pickle.dumps(predict))
            for row in TABLE[:5].tolist():
                np.testing.assert_array_equal(other(row), predict(row))
            assert copy.copy(predict) is predict and copy.deepcopy(predict) is predict


def test_copies_of_predictors_keep_the_link() -> None:
    objective = CustomObjective(_squares, link=_cube)
    predict = train({**SMALL, "objective": objective}, Dataset(TABLE, LABEL), 3).predictor()
    again = pickle.loads(pickle.dumps(predict))
    assert again(TABLE[0].tolist()) == predict(TABLE[0].tolist())
    unnamed = CustomObjective(_squares, link=lambda score: score.ravel())
    predict = train({**SMALL, "objective": unnamed}, Dataset(TABLE, LABEL), 3).predictor()
    with pytest.raises((pickle.PicklingError, AttributeError), match="pickle"):
        pickle.dumps(predict)


def test_copies_of_estimators() -> None:
    pytest.importorskip("sklearn")
    from gossamer import GossamerClassifier

    estimator = GossamerClassifier(n_estimators=4, num_leaves=4, n_jobs=1)
    estimator.fit(TABLE, LABEL.astype(int) % 3)
    for other in (pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator)):
        np.testing.assert_array_equal(other.predict_proba(TABLE), estimator.predict_proba(TABLE))
        assert (other.booster_[:2] + other.booster_[2:]).model_to_string() == (
            estimator.booster_.model_to_string()
        )
