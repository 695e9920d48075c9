"""The training loop: rounds, validation, callbacks, early stopping."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer import Booster, CallbackEnv, DataError, Dataset, train

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(600, 4))
LABEL = TABLE[:, 0] + 0.5 * RNG.normal(size=600)
VALID_TABLE = RNG.normal(size=(200, 4))
VALID_LABEL = VALID_TABLE[:, 0] + 0.5 * RNG.normal(size=200)
QUIET = {"verbosity": -1}


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def make_train() -> Dataset:
    return Dataset(TABLE, LABEL)


def make_valid(train_set: Dataset | None = None) -> Dataset:
    return Dataset(VALID_TABLE, VALID_LABEL, reference=train_set)


class TestRounds:
    """How many rounds there are."""

    @pytest.mark.parametrize("alias", ["num_iterations", "n_estimators", "num_boost_round"])
    def test_parameters_win_over_the_argument(self, alias: str) -> None:
        assert train({alias: 3}, make_train(), 7).num_trees() == 3

    @pytest.mark.parametrize("n_rounds", [-1, 2.5, "many"])
    def test_bad_numbers(self, n_rounds: Any) -> None:
        with pytest.raises(gossamer.ParameterError, match="num_iterations"):
            train({}, make_train(), n_rounds)

    def test_no_rounds(self) -> None:
        model = train({}, make_train(), 0)
        assert model.num_trees() == 0
        assert model.predict(TABLE[:2]).tolist() == [0, 0]

    def test_training_ends_when_nothing_can_be_split(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, logger="gossamer"):
            model = train({}, Dataset(TABLE, np.full(600, 2.5)), 10)
        assert model.num_trees() == 1
        assert model.predict(TABLE[:2]).tolist() == [2.5, 2.5]
        assert len(caplog.records) == 1
        assert "no leaf can be split" in caplog.records[0].message

    def test_quiet_training_logs_nothing(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.DEBUG, logger="gossamer"):
            train(QUIET, Dataset(TABLE, np.ones(600)), 10)
        assert not caplog.records

    def test_a_round_without_splits_does_not_end_random_training(self) -> None:
        # Column 0 tells the labels apart, the others cannot split: some rounds draw only those.
        table = np.column_stack([np.arange(100) % 2, np.arange(100) >= 99, np.arange(100) >= 99])
        params = {"feature_fraction": 0.3, "min_data_in_leaf": 10, "learning_rate": 0.5}
        model = train(params, Dataset(table, table[:, 0]), 12)
        n_leaves = np.diff(model.model.forest.leaf_begin)
        assert model.num_trees() == 12
        assert set(n_leaves) == {1, 2}
        for t in np.flatnonzero(n_leaves == 1):
            assert model.model.forest.tree(t).leaf_value.tolist() == [0]

    def test_a_class_that_cannot_be_split_keeps_its_place(self) -> None:
        label = np.r_[np.zeros(298), np.ones(300), 2, 2]
        params = {"objective": "multiclass", "num_class": 3, "min_sum_hessian_in_leaf": 3}
        table = label.reshape(-1, 1).copy()
        model = train(params, Dataset(table, label), 5)
        n_leaves = np.diff(model.model.forest.leaf_begin).reshape(-1, 3)
        assert model.num_trees() == 15
        assert (n_leaves[:, 2] == 1).all()
        assert (n_leaves[:, :2] == 2).all()
        score = model.predict(table, raw_score=True)
        assert np.unique(score[:, 2]) == pytest.approx([np.log(2 / 600)])

    def test_divergence_is_an_error(self) -> None:
        with pytest.raises(gossamer.GossamerError, match=r"training diverged in round \d+"):
            train({"learning_rate": 50}, make_train(), 200)


class TestValidation:
    """Validation sets and their names."""

    def history(self, **arguments: Any) -> dict[str, dict[str, list[float]]]:
        history: dict[str, dict[str, list[float]]] = {}
        train({}, callbacks=[gossamer.record_evaluation(history)], num_boost_round=4, **arguments)
        return history

    def test_metrics_are_those_of_the_predictions(self) -> None:
        history: dict[str, Any] = {}
        model = train(
            {"metric": "rmse"},
            make_train(),
            4,
            [make_valid()],
            callbacks=[gossamer.record_evaluation(history)],
        )
        for i in range(4):
            error = model.predict(VALID_TABLE, num_iteration=i + 1) - VALID_LABEL
            expected = np.sqrt(np.mean(error**2))
            assert history["valid_0"]["rmse"][i] == pytest.approx(expected, rel=1e-6)

    def test_names(self) -> None:
        train_set = make_train()
        sets = [make_valid(), train_set, make_valid()]
        assert list(self.history(train_set=train_set, valid_sets=sets)) == [
            "training",
            "valid_0",
            "valid_2",
        ]
        train_set = make_train()
        sets = [make_valid(), train_set]
        names = ["a", "b"]
        found = self.history(train_set=train_set, valid_sets=sets, valid_names=names)
        assert list(found) == ["b", "a"]

    def test_one_set_and_one_name_need_no_list(self) -> None:
        history = self.history(train_set=make_train(), valid_sets=make_valid(), valid_names="test")
        assert list(history) == ["test"]
        assert len(history["test"]["l2"]) == 4

    def test_the_training_set_is_only_itself(self) -> None:
        train_set = make_train()
        history = self.history(train_set=train_set, valid_sets=[train_set])
        assert list(history) == ["training"]
        error = np.diff(history["training"]["l2"])
        assert (error < 0).all()

    def test_training_metric_as_a_parameter(self) -> None:
        history: dict[str, Any] = {}
        record = gossamer.record_evaluation(history)
        train({"is_provide_training_metric": True}, make_train(), 2, callbacks=[record])
        assert list(history) == ["training"]

    def test_initial_scores_count_in_training_but_not_in_the_model(self) -> None:
        history: dict[str, Any] = {}
        start = np.full(600, 10.0)
        data = Dataset(TABLE, LABEL + 10, init_score=start)
        valid = Dataset(VALID_TABLE, VALID_LABEL + 10, init_score=np.full(200, 10.0))
        record = gossamer.record_evaluation(history)
        model = train({}, data, 20, [valid], callbacks=[record])
        error = model.predict(VALID_TABLE) - VALID_LABEL
        assert history["valid_0"]["l2"][-1] == pytest.approx(np.mean(error**2), rel=1e-5)
        assert abs(model.predict(TABLE).mean()) < 1

    def test_initial_scores_of_the_wrong_size(self) -> None:
        data = Dataset(TABLE, LABEL, init_score=np.zeros((600, 2)))
        with pytest.raises(DataError, match="init_score of the data set 'training' does not fit"):
            train({}, data, 1)

    def test_functions(self) -> None:
        def bias(predictions: np.ndarray, data: Dataset) -> tuple[str, float, bool]:
            return "bias", float(np.mean(predictions - data.get_label())), False

        model = train({}, make_train(), 3, [make_valid()], feval=bias)
        expected = np.mean(model.predict(VALID_TABLE) - VALID_LABEL)
        assert list(model.best_score["valid_0"]) == ["l2", "bias"]
        assert model.best_score["valid_0"]["bias"] == pytest.approx(expected, rel=1e-4)

    def test_metric_freq(self) -> None:
        seen = []

        def look(env: CallbackEnv) -> None:
            if env.evaluation_result_list:
                seen.append(env.iteration)

        train({"metric_freq": 3}, make_train(), 8, [make_valid()], callbacks=[look])
        assert seen == [0, 2, 5, 7]

    def test_no_datasets(self) -> None:
        with pytest.raises(DataError, match="train_set must be a Dataset"):
            train({}, TABLE)
        with pytest.raises(DataError, match="validation data must be a Dataset"):
            train({}, make_train(), 1, [VALID_TABLE])


class TestCallbacks:
    """When callbacks run, and with what."""

    def test_order_and_environment(self) -> None:
        events = []

        def make(name: str, order: int, before: bool) -> Any:
            def callback(env: CallbackEnv) -> None:
                events.append((name, env.iteration, env.evaluation_result_list is None))
                assert isinstance(env.model, Booster)
                assert (env.begin_iteration, env.end_iteration) == (0, 2)
                assert env.params["eta"] == 0.2

            callback.order = order
            callback.before_iteration = before
            return callback

        callbacks = [make("c", 9, False), make("b", 1, False), make("a", 5, True)]
        train({"eta": 0.2}, make_train(), 2, callbacks=callbacks)
        assert events == [
            ("a", 0, True),
            ("b", 0, False),
            ("c", 0, False),
            ("a", 1, True),
            ("b", 1, False),
            ("c", 1, False),
        ]

    def test_a_callback_given_twice_runs_once(self) -> None:
        class Callback(list):  # type: ignore[type-arg]  # equal to others, and not hashable
            def __call__(self, env: CallbackEnv) -> None:
                rounds.append(env.iteration)

        rounds: list[int] = []
        one, other = Callback(), Callback()
        train({}, make_train(), 2, callbacks=[one, other, one])
        assert rounds == [0, 0, 1, 1]

    def test_learning_rates(self) -> None:
        rates = [0.5, 0.1, 0.01]
        model = train(
            {}, make_train(), 3, callbacks=[gossamer.reset_parameter(learning_rate=rates)]
        )
        sizes = [np.abs(model.model.forest.tree(t).leaf_value).max() for t in range(3)]
        assert sizes[0] > 2 * sizes[1] > 10 * sizes[2]

    @pytest.mark.parametrize("error", [None, SystemExit, RuntimeError])
    def test_callbacks_are_closed_however_training_ends(self, error: Any) -> None:
        closed = []

        class Callback:
            def __call__(self, env: CallbackEnv) -> None:
                if error and env.iteration == 1:
                    raise error

            def close(self) -> None:
                closed.append(True)

        if error is None:
            train({}, make_train(), 3, callbacks=[Callback()])
        else:
            with pytest.raises(error):
                train({}, make_train(), 3, callbacks=[Callback()])
        assert closed == [True]

    def test_the_users_parameters_stay_as_they_were(self) -> None:
        params = {"learning_rate": 0.1, "n_estimators": 2}
        train(params, make_train(), callbacks=[gossamer.reset_parameter(learning_rate=[0.1, 0.2])])
        assert params == {"learning_rate": 0.1, "n_estimators": 2}


class TestEarlyStopping:
    """Stopping when validation gets no better."""

    params: dict[str, Any] = {"learning_rate": 0.5, **QUIET}  # noqa: RUF012

    def check(self, model: Booster, history: list[float], patience: int) -> None:
        best = int(np.argmin(history))
        assert model.best_iteration == best + 1
        assert len(history) == best + 1 + patience
        assert model.best_score["valid_0"]["l2"] == history[best]
        np.testing.assert_array_equal(
            model.predict(TABLE), model.predict(TABLE, num_iteration=best + 1)
        )
        assert model.current_iteration() == best + 1  # later rounds are dropped, as by LightGBM

    @pytest.mark.parametrize("how", ["callback", "parameter"])
    def test_the_best_round_is_kept(self, how: str) -> None:
        history: dict[str, Any] = {}
        callbacks: list[Any] = [gossamer.record_evaluation(history)]
        params = dict(self.params)
        if how == "callback":
            callbacks.append(gossamer.early_stopping(3, verbose=False))
        else:
            params["early_stopping_round"] = 3
        model = train(params, make_train(), 200, [make_valid()], callbacks=callbacks)
        assert len(history["valid_0"]["l2"]) < 200
        self.check(model, history["valid_0"]["l2"], 3)

    def test_also_when_training_reaches_its_end(self) -> None:
        stop = gossamer.early_stopping(100, verbose=False)
        model = train(self.params, make_train(), 30, [make_valid()], callbacks=[stop])
        assert 0 < model.best_iteration == model.num_trees() < 30

    def test_a_booster_that_is_kept_has_all_rounds(self) -> None:
        stop = gossamer.early_stopping(3, verbose=False)
        model = train(
            self.params,
            make_train(),
            200,
            [make_valid()],
            callbacks=[stop],
            keep_training_booster=True,
        )
        assert model.num_trees() == model.best_iteration + 3

    def test_also_when_nothing_can_be_split_any_more(self) -> None:
        table = np.arange(60.0).reshape(-1, 1)
        label = np.r_[np.zeros(30), np.ones(30)]
        valid = Dataset(table, 0.5 + 0.1 * (label - 0.5))  # soon overshot
        params = {"learning_rate": 0.9, "num_leaves": 2, "min_gain_to_split": 0.01, **QUIET}
        stop = gossamer.early_stopping(100, verbose=False)
        data = Dataset(table, label)
        model = train(params, data, 50, [valid], callbacks=[stop], keep_training_booster=True)
        assert 1 < model.num_trees() < 50
        assert model.best_iteration == 1

    def test_with_metric_freq(self) -> None:
        history: dict[str, Any] = {}
        callbacks = [gossamer.record_evaluation(history), gossamer.early_stopping(4, verbose=False)]
        params = {**self.params, "metric_freq": 2}
        model = train(params, make_train(), 200, [make_valid()], callbacks=callbacks)
        rounds = [0, *range(1, 200, 2)]
        best = rounds[int(np.argmin(history["valid_0"]["l2"]))]
        assert model.best_iteration == best + 1

    def test_without_early_stopping_there_is_no_best_round(self) -> None:
        model = train(self.params, make_train(), 5, [make_valid()])
        assert model.best_iteration == 0
        error = model.predict(VALID_TABLE) - VALID_LABEL
        assert model.best_score["valid_0"]["l2"] == pytest.approx(np.mean(error**2), rel=1e-6)

    def test_nothing_to_watch(self) -> None:
        with pytest.raises(gossamer.ParameterError, match="early_stopping has nothing to evaluate"):
            train({"early_stopping_round": 3, **QUIET}, make_train(), 5)


class TestOptions:
    """What is left."""

    def test_data_is_let_go_unless_kept(self) -> None:
        assert train({}, make_train(), 1).train_set is None
        kept = train({}, make_train(), 1, keep_training_booster=True)
        kept.update()
        assert kept.num_trees() == 2

    def test_one_data_set_serves_several_trainings(self) -> None:
        data = make_train()
        first = train({"num_leaves": 5}, data, 3)
        train({"num_leaves": 9}, data, 3)
        again = train({"num_leaves": 5}, data, 3)
        assert first.model_to_string() == again.model_to_string()

    def test_training_on_a_subset(self) -> None:
        data = make_train()
        rows = np.arange(0, 600, 2)
        part = train({}, data.subset(rows), 3, [data.subset(rows + 1)])
        assert part.model.forest.tree(0).leaf_count.sum() == 300
        assert "valid_0" in part.best_score

    def test_bad_parameters_before_anything_else(self) -> None:
        with pytest.raises(gossamer.ParameterError, match="Did you mean num_leaf"):
            train({"num_leafs": 3}, Dataset("no such file"))

    def test_weights_are_repetitions(self) -> None:
        weight = RNG.integers(1, 4, 600)
        params = {"min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 20, "min_data_in_bin": 1}
        params["max_bin"] = 2000
        weighted = train(params, Dataset(TABLE, LABEL, weight=weight), 5)
        rows = np.repeat(np.arange(600), weight)
        repeated = train(params, Dataset(TABLE[rows], LABEL[rows]), 5)
        np.testing.assert_allclose(
            weighted.predict(TABLE), repeated.predict(TABLE), rtol=1e-3, atol=1e-3
        )

    def test_rows_of_weight_zero_do_not_matter(self) -> None:
        weight = np.r_[np.ones(500), np.zeros(100)]
        other = LABEL.copy()
        other[500:] = 1e6
        params = {"min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 20}
        first = train(params, Dataset(TABLE, LABEL, weight=weight), 5)
        second = train(params, Dataset(TABLE, other, weight=weight), 5)
        np.testing.assert_array_equal(first.predict(TABLE), second.predict(TABLE))
