"""Continued training: the old trees, then the new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from gossamer import Booster, DataError, Dataset, ParameterError, threads, train
from gossamer.callbacks import CallbackEnv, early_stopping, reset_parameter

RNG = np.random.default_rng(3)
TABLE = RNG.normal(size=(600, 5))
TABLE[RNG.random(TABLE.shape) < 0.05] = np.nan
FILLED = np.nan_to_num(TABLE)
LABEL = FILLED[:, 0] + FILLED[:, 1] * FILLED[:, 2] + 0.1 * RNG.normal(size=600)
CLASSES = np.digitize(LABEL, [-0.7, 0.7])
OTHER = RNG.normal(size=(400, 5))
OTHER_LABEL = OTHER[:, 0] - OTHER[:, 3]
QUIET = {"num_leaves": 7, "verbosity": -1}
MULTI = {"objective": "multiclass", "num_class": 3, **QUIET}
CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "regression": (QUIET, LABEL),
    "binary": ({"objective": "binary", **QUIET}, LABEL > 0),
    "l1": ({"objective": "l1", **QUIET}, LABEL),
    "multiclass": (MULTI, CLASSES),
    "vector leaves": ({**MULTI, "multi_strategy": "multi_output_tree"}, CLASSES),
    "targets": (QUIET, np.column_stack([LABEL, -LABEL])),
    "bagging": ({**QUIET, "bagging_fraction": 0.5, "bagging_freq": 3}, LABEL),
    "goss": ({**QUIET, "data_sample_strategy": "goss", "learning_rate": 0.5}, LABEL),
    "mvs": ({**QUIET, "data_sample_strategy": "mvs", "bagging_fraction": 0.5}, LABEL),
    "columns": ({**QUIET, "feature_fraction": 0.6, "extra_trees": True}, LABEL),
}


@pytest.mark.parametrize("case", CASES)
def test_two_halves_make_the_whole(case: str) -> None:
    params, label = CASES[case]
    whole = train(params, Dataset(TABLE, label), 12)
    half = train(params, Dataset(TABLE, label), 5)
    both = train(params, Dataset(TABLE, label), 7, init_model=half)
    assert both.num_trees() == whole.num_trees()
    assert both.current_iteration() == 12
    assert both.model_to_string() == whole.model_to_string()


@pytest.mark.parametrize("case", ["regression", "multiclass", "vector leaves"])
def test_bins_serve_as_well_as_the_table(case: str) -> None:
    params, label = CASES[case]
    data = Dataset(TABLE, label)
    half = train(params, data, 5)
    assert data.data is None
    both = train(params, data, 7, init_model=half)
    assert both.model_to_string() == train(params, Dataset(TABLE, label), 12).model_to_string()


def test_from_a_file(tmp_path: Path) -> None:
    half = train(QUIET, Dataset(TABLE, LABEL), 5)
    half.save_model(tmp_path / "half")
    expected = train(QUIET, Dataset(TABLE, LABEL), 3, init_model=half).model_to_string()
    for path in (tmp_path / "half", str(tmp_path / "half")):
        both = train(QUIET, Dataset(TABLE, LABEL), 3, init_model=path)
        assert both.model_to_string() == expected


@pytest.mark.parametrize("form", [np.asfortranarray, csr_array, csc_array, list])
def test_predictions_are_old_plus_new(form: Any) -> None:
    old = train(QUIET, Dataset(TABLE, LABEL), 5)
    table = form(OTHER.tolist() if form is list else OTHER)
    both = train(QUIET, Dataset(table, OTHER_LABEL), 6, init_model=old)
    parts = old.predict(OTHER) + both.predict(OTHER, start_iteration=5, raw_score=True)
    np.testing.assert_allclose(both.predict(OTHER), parts, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(both.predict(OTHER, num_iteration=5), old.predict(OTHER))
    assert np.mean((both.predict(OTHER) - OTHER_LABEL) ** 2) < np.mean(
        (old.predict(OTHER) - OTHER_LABEL) ** 2
    )


@pytest.mark.parametrize("case", ["regression", "multiclass", "vector leaves"])
def test_scores_of_all_data_sets(case: str) -> None:
    params, label = CASES[case]
    old = train(params, Dataset(TABLE[:300], label[:300]), 4)
    data = Dataset(TABLE[:300], label[:300])
    booster = train(
        params,
        data,
        4,
        [data, data.create_valid(TABLE[300:], label[300:])],
        init_model=old,
        keep_training_booster=True,
    )
    training = booster.training
    assert training is not None
    for scored, rows in ((training.train, TABLE[:300]), (training.valid[0], TABLE[300:])):
        expected = np.atleast_2d(booster.predict(rows, raw_score=True).T).ravel()
        np.testing.assert_allclose(scored.score, expected, rtol=1e-12, atol=1e-12)
    # More rounds, and back.
    before = booster.model_to_string(num_iteration=-1), training.train.score.copy()
    booster.update()
    assert booster.current_iteration() == 9
    booster.rollback_one_iter()
    assert booster.model_to_string(num_iteration=-1) == before[0]
    np.testing.assert_array_equal(training.train.score, before[1])
    for _ in range(6):  # the old rounds stay
        booster.rollback_one_iter()
    assert booster.current_iteration() == 4


def test_a_validation_set_added_later_knows_the_old_trees() -> None:
    old = train(QUIET, Dataset(TABLE, LABEL), 4)
    data = Dataset(TABLE, LABEL)
    booster = Booster(QUIET, data, init_model=old)
    booster.update()
    booster.add_valid(data.create_valid(OTHER, OTHER_LABEL), "later")
    (result,) = booster.eval_valid()
    expected = np.mean((booster.predict(OTHER) - OTHER_LABEL.astype(np.float32)) ** 2)
    assert result.metric_value == pytest.approx(expected)


def test_rounds_are_counted_on() -> None:
    seen: list[CallbackEnv] = []
    old = train(QUIET, Dataset(TABLE, LABEL), 4)
    train(QUIET, Dataset(TABLE, LABEL), 3, init_model=old, callbacks=[seen.append])
    assert [env.iteration for env in seen] == [4, 5, 6]
    assert {(env.begin_iteration, env.end_iteration) for env in seen} == {(4, 7)}


def test_early_stopping_counts_the_old_rounds() -> None:
    data = Dataset(TABLE, LABEL)
    old = train(QUIET, data, 4)
    noise = data.create_valid(TABLE[:50], RNG.normal(size=50))
    model = train(
        QUIET,
        data,
        40,
        noise,
        init_model=old,
        callbacks=[early_stopping(3, verbose=False)],
    )
    assert 5 <= model.best_iteration < 44
    assert model.current_iteration() == model.best_iteration
    # A booster to continue from counts up to its best round.
    more = train(QUIET, data, 2, init_model=model)
    assert more.current_iteration() == model.best_iteration + 2
    kept = train(
        QUIET,
        data,
        40,
        noise,
        init_model=old,
        keep_training_booster=True,
        callbacks=[early_stopping(3, verbose=False)],
    )
    assert kept.current_iteration() > kept.best_iteration
    more = train(QUIET, data, 2, init_model=kept)
    assert more.current_iteration() == kept.best_iteration + 2


def test_schedules_count_the_new_rounds() -> None:
    old = train(QUIET, Dataset(TABLE, LABEL), 4)
    rates: list[float] = []
    train(
        QUIET,
        Dataset(TABLE, LABEL),
        3,
        init_model=old,
        callbacks=[
            reset_parameter(learning_rate=[0.3, 0.2, 0.1]),
            lambda env: rates.append(env.model.resolved_params.learning_rate),
        ],
    )
    assert rates == [0.3, 0.2, 0.1]


@pytest.mark.parametrize("case", ["regression", "multiclass", "bagging"])
def test_same_bytes_on_any_number_of_threads(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
    params, label = CASES[case]
    models = set()
    for n_threads in (1, 2, 3, 8):
        own = {**params, "num_threads": n_threads}
        old = train(own, Dataset(TABLE, label), 3)
        new = train(own, Dataset(OTHER, label[:400]), 3, init_model=old)
        models.add(new.model_to_string())
    assert len(models) == 1


@pytest.mark.parametrize("form", [np.asarray, csr_array, csc_array])
def test_subsets(form: Any) -> None:
    data = Dataset(form(TABLE), LABEL, free_raw_data=False)
    old = train(QUIET, Dataset(OTHER, OTHER_LABEL), 3)
    rows = np.arange(0, 600, 2)
    part = train(QUIET, data.subset(rows), 3, init_model=old)
    alone = train(QUIET, Dataset(form(TABLE[rows]), LABEL[rows], reference=data), 3, init_model=old)
    assert part.model_to_string() == alone.model_to_string()


def test_names_of_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    names = list("abcde")
    frame = pandas.DataFrame(TABLE, columns=names)
    old = train(QUIET, Dataset(frame, LABEL), 3)
    both = train(QUIET, Dataset(frame, LABEL), 3, init_model=old)
    assert both.feature_name() == names
    # Columns without names take the model's; names given by hand are those of the data.
    assert train(QUIET, Dataset(TABLE, LABEL), 3, init_model=old).feature_name() == names
    renamed = Dataset(frame.rename(columns=str.upper), LABEL, feature_name=names)
    again = train(QUIET, renamed, 3, init_model=old)
    assert again.feature_name() == names
    np.testing.assert_array_equal(again.predict(frame), both.predict(frame))
    # A validation frame in another order.
    train_set = Dataset(frame, LABEL)
    valid = train_set.create_valid(frame[names[::-1]], LABEL)
    booster = train(QUIET, train_set, 3, [train_set, valid], init_model=old)
    assert booster.best_score["valid_1"]["l2"] == pytest.approx(
        booster.best_score["training"]["l2"]
    )


def test_objectives_of_the_same_scores_may_follow_each_other() -> None:
    old = train(QUIET, Dataset(TABLE, LABEL), 3)
    for objective in ("l1", "huber", lambda score, data: (score - data.get_label(), score * 0 + 1)):
        params = {**QUIET, "objective": objective}
        assert train(params, Dataset(TABLE, LABEL), 3, init_model=old).num_trees() == 6
    old = train({**QUIET, "objective": "binary"}, Dataset(TABLE, LABEL > 0), 3)
    params = {**QUIET, "objective": "cross_entropy"}
    both = train(params, Dataset(TABLE, LABEL > 0), 3, init_model=old)
    assert both.predict(TABLE).max() < 1


def test_init_score_is_ignored_with_a_warning() -> None:
    old = train(QUIET, Dataset(TABLE, LABEL), 3)
    expected = train(QUIET, Dataset(TABLE, LABEL), 3, init_model=old).model_to_string()
    data = Dataset(TABLE, LABEL, init_score=LABEL)
    with pytest.warns(UserWarning, match="init_score of the data set 'training' is ignored"):
        both = train(QUIET, data, 3, init_model=old)
    assert both.model_to_string() == expected


def test_the_old_model_is_not_changed() -> None:
    old = train(QUIET, Dataset(TABLE, LABEL), 3)
    text = old.model_to_string()
    booster = train(QUIET, Dataset(TABLE, LABEL), 3, init_model=old, keep_training_booster=True)
    booster.set_leaf_output(0, 0, 100.0)
    assert old.model_to_string() == text
    assert booster.get_leaf_output(0, 0) == 100.0
    score = booster.training.train.score
    np.testing.assert_allclose(score, booster.predict(TABLE), rtol=1e-12)


def test_beside_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    params = {**QUIET, "min_data_in_bin": 1, "max_bin": 700, "learning_rate": 0.2}
    old = train(params, Dataset(TABLE, LABEL), 5)
    peer_old = lightgbm.train(params, lightgbm.Dataset(TABLE, LABEL), 5)
    data, peer_data = Dataset(OTHER, OTHER_LABEL), lightgbm.Dataset(OTHER, OTHER_LABEL)
    iterations: list[list[int]] = [[], []]
    mine = train(
        params, data, 5, init_model=old, callbacks=[lambda env: iterations[0].append(env.iteration)]
    )

    def count(env: Any) -> None:
        iterations[1].append(env.iteration)

    peer = lightgbm.train(params, peer_data, 5, init_model=peer_old, callbacks=[count])
    assert iterations[0] == iterations[1]
    assert mine.current_iteration() == peer.current_iteration()
    for n_rounds in (5, 10):  # rows between two bins may go the other way
        own, theirs = (model.predict(OTHER, num_iteration=n_rounds) for model in (mine, peer))
        assert np.mean(np.abs(own - theirs)) < 0.01 * np.std(own)


class TestBadInput:
    """What does not fit is refused by name."""

    def test_no_model(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="init_model cannot be used: got 'int'"):
            train(QUIET, Dataset(TABLE, LABEL), 3, init_model=3)
        with pytest.raises(ParameterError, match="init_model is for a training"):
            Booster(init_model=train(QUIET, Dataset(TABLE, LABEL), 1))
        with pytest.raises(FileNotFoundError):
            train(QUIET, Dataset(TABLE, LABEL), 3, init_model=tmp_path / "nothing")

    def test_columns(self) -> None:
        old = train(QUIET, Dataset(TABLE[:, :4], LABEL), 3)
        with pytest.raises(DataError, match="another number of columns: got 5, expected 4"):
            train(QUIET, Dataset(TABLE, LABEL), 3, init_model=old)
        old = train(QUIET, Dataset(TABLE, LABEL, feature_name=list("abcde")), 3)
        other = Dataset(TABLE, LABEL, feature_name=list("abxde"))
        with pytest.raises(DataError, match="other columns; the first that differs is 2: got 'x'"):
            train(QUIET, other, 3, init_model=old)

    @pytest.mark.parametrize(
        ("params", "label", "words"),
        [
            (MULTI, CLASSES, "another number of outputs than the objective: got 3, expected 1"),
            ({"objective": "binary"}, LABEL > 0, "got 'binary, sigmoid=1.0', expected regression"),
            ({"objective": "poisson"}, LABEL > 0, "got 'poisson"),
            (QUIET, np.column_stack([LABEL, LABEL]), "number of outputs"),
        ],
    )
    def test_objective(self, params: dict[str, Any], label: Any, words: str) -> None:
        old = train(QUIET, Dataset(TABLE, LABEL), 3)
        with pytest.raises(ParameterError, match=words):
            train(params, Dataset(TABLE, label), 3, init_model=old)

    def test_parameters_of_the_link(self) -> None:
        old = train({**QUIET, "objective": "binary"}, Dataset(TABLE, LABEL > 0), 3)
        params = {**QUIET, "objective": "binary", "sigmoid": 2.0}
        with pytest.raises(ParameterError, match=r"got 'binary, sigmoid=2\.0'"):
            train(params, Dataset(TABLE, LABEL > 0), 3, init_model=old)
        alphas = {**QUIET, "objective": "quantile", "quantile_alpha": [0.1, 0.9]}
        old = train(alphas, Dataset(TABLE, LABEL), 3)
        with pytest.raises(ParameterError, match="scores mean something else"):
            train(
                {**alphas, "quantile_alpha": [0.2, 0.8]}, Dataset(TABLE, LABEL), 3, init_model=old
            )

    def test_vector_leaves(self) -> None:
        vector = {**MULTI, "multi_strategy": "multi_output_tree"}
        for old_params, new_params in ((MULTI, vector), (vector, MULTI)):
            old = train(old_params, Dataset(TABLE, CLASSES), 3)
            with pytest.raises(ParameterError, match="another multi_strategy"):
                train(new_params, Dataset(TABLE, CLASSES), 3, init_model=old)

    def test_other_bins_without_the_table(self) -> None:
        old = train(QUIET, Dataset(TABLE, LABEL, feature_name=list("abcde")), 3)
        data = Dataset(OTHER, OTHER_LABEL).construct()
        with pytest.raises(
            DataError, match=r"raw data is gone, and tree 0 splits '[a-e]' where no"
        ):
            train(QUIET, data, 3, init_model=old)
        kept = Dataset(OTHER, OTHER_LABEL, free_raw_data=False).construct()
        fresh = Dataset(OTHER, OTHER_LABEL)
        expected = train(QUIET, fresh, 3, init_model=old).model_to_string()
        assert train(QUIET, kept, 3, init_model=old).model_to_string() == expected

    def test_other_missing_values_without_the_table(self) -> None:
        old = train(QUIET, Dataset(TABLE, LABEL), 3)
        data = Dataset(TABLE, LABEL, params={"use_missing": False}).construct()
        with pytest.raises(DataError, match="where no bin ends"):
            train(QUIET, data, 3, init_model=old)
