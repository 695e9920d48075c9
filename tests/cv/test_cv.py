"""Cross-validation: against a loop by hand, against LightGBM's keys and folds, and bad input."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gossamer import (
    Booster,
    CallbackEnv,
    CustomObjective,
    CVBooster,
    DataError,
    Dataset,
    EarlyStopException,
    EvalResult,
    GossamerError,
    NotSupportedError,
    ParameterError,
    cv,
    early_stopping,
    log_evaluation,
    progress_bar,
    record_evaluation,
    register_logger,
    reset_parameter,
    threads,
    train,
)
from gossamer.cv import average
from gossamer.data.folds import Fold, split_classes, split_queries, split_rows

N_ROWS = 600
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N_ROWS, 5))
LABEL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] + RNG.normal(size=N_ROWS)
BINARY = (LABEL > 0.3).astype(float)
CLASSES = np.digitize(LABEL, [-0.5, 0.5]).astype(float)
SIZES = np.tile([5, 10, 15], 20)
GRADES = np.clip(np.round(LABEL + 1), 0, 4)
PARAMS: dict[str, Any] = {"num_leaves": 7, "min_data_in_leaf": 5, "verbosity": -1}
BINARY_PARAMS = PARAMS | {"objective": "binary"}


def make_data(label: Any = LABEL, **arguments: Any) -> Dataset:
    return Dataset(TABLE, label, **arguments)


def two_metrics(predictions: Any, data: Any) -> Any:
    return [("mean", float(np.mean(predictions)), True), ("one", 1.0, False)]


def squared_error(score: Any, data: Any) -> Any:
    return score - data.get_label(), np.ones(len(score))


def halves() -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    rows = np.arange(N_ROWS)
    return [(rows[::2], rows[1::2]), (rows[1::2], rows[::2])]


def train_by_hand(
    params: dict[str, Any], data: Dataset, fold: Fold, n_rounds: int, **arguments: Any
) -> tuple[Booster, dict[str, Any]]:
    history: dict[str, Any] = {}
    record = record_evaluation(history)
    train_set, valid_set = data.subset(fold.train), data.subset(fold.test)
    model = train(
        params,
        train_set,
        n_rounds,
        [train_set, valid_set],
        ["train", "valid"],
        callbacks=[record],
        **arguments,
    )
    return model, history


def check_against_loop(
    params: dict[str, Any],
    make: Callable[[], Dataset],
    folds: list[Fold],
    n_rounds: int = 12,
    feval: Any = None,
    **arguments: Any,
) -> None:
    """Models and metrics of cv are those of a plain loop over the folds, bit for bit."""
    result = cv(
        params,
        make(),
        n_rounds,
        feval=feval,
        eval_train_metric=True,
        return_cvbooster=True,
        **arguments,
    )
    models = result.pop("cvbooster")
    data = make()
    by_hand = [train_by_hand(params, data, fold, n_rounds, feval=feval) for fold in folds]
    assert len(models.boosters) == len(folds)
    for booster, (expected, _) in zip(models.boosters, by_hand, strict=True):
        assert booster.model_to_string() == expected.model_to_string()
    names = [(d, m) for d, metrics in by_hand[0][1].items() for m in metrics]
    assert list(result) == [f"{d} {m}-{what}" for d, m in names for what in ("mean", "stdv")]
    for d, m in names:
        values = np.array([history[d][m] for _, history in by_hand])
        np.testing.assert_array_equal(result[f"{d} {m}-mean"], values.mean(axis=0))
        np.testing.assert_allclose(result[f"{d} {m}-stdv"], values.std(axis=0), rtol=1e-12)


class TestAgainstALoop:
    """The same bytes as training on subsets by hand."""

    def test_regression(self) -> None:
        check_against_loop(PARAMS, make_data, split_rows(N_ROWS, 5))

    def test_binary_is_stratified(self) -> None:
        params = BINARY_PARAMS | {"metric": ["auc", "binary_logloss"]}
        folds = split_classes(BINARY.astype(np.float32), 4, seed=3)
        check_against_loop(params, lambda: make_data(BINARY), folds, nfold=4, seed=3)

    def test_several_classes_with_weights_and_sampling(self) -> None:
        weight = RNG.uniform(0.5, 2, size=N_ROWS)
        params = PARAMS | {"objective": "multiclass", "num_class": 3, "bagging_fraction": 0.7}
        folds = split_classes(CLASSES.astype(np.float32), 3)
        check_against_loop(params, lambda: make_data(CLASSES, weight=weight), folds, nfold=3)

    def test_ranking_keeps_queries_whole(self) -> None:
        params = PARAMS | {"objective": "lambdarank", "eval_at": [3]}
        folds = split_queries(SIZES, 3)
        check_against_loop(params, lambda: make_data(GRADES, group=SIZES), folds, nfold=3)

    def test_several_targets(self) -> None:
        both = np.column_stack([LABEL, GRADES])
        check_against_loop(PARAMS, lambda: make_data(both), split_rows(N_ROWS, 3), nfold=3)

    def test_survival_is_not_stratified(self) -> None:
        time = np.round(np.exp(LABEL) * 2) + 1  # whole numbers, but no classes
        params = PARAMS | {"objective": "cox"}
        folds = split_rows(N_ROWS, 3, seed=1)
        check_against_loop(params, lambda: make_data(time), folds, nfold=3, seed=1)

    def test_initial_scores(self) -> None:
        check_against_loop(PARAMS, lambda: make_data(init_score=TABLE[:, 0]), split_rows(N_ROWS, 5))

    def test_sparse_table(self) -> None:
        sparse = pytest.importorskip("scipy.sparse")
        one_hot = np.eye(40)[RNG.integers(0, 40, size=N_ROWS)]
        table = sparse.csr_matrix(np.hstack([one_hot, TABLE]))
        check_against_loop(PARAMS, lambda: Dataset(table, LABEL), split_rows(N_ROWS, 5))

    def test_objective_of_ones_own(self) -> None:
        params = PARAMS | {"objective": squared_error, "metric": "l2"}
        check_against_loop(params, make_data, split_rows(N_ROWS, 5))

    def test_custom_objective_with_a_link(self) -> None:
        def gradients(score: Any, data: Dataset) -> Any:
            p = 1 / (1 + np.exp(-score))
            return p - data.get_label(), p * (1 - p)

        objective = CustomObjective(gradients, link="sigmoid", metric="auc")
        params = PARAMS | {"objective": objective}
        folds = split_classes(BINARY.astype(np.float32), 5)
        check_against_loop(params, lambda: make_data(BINARY), folds)

    def test_metric_function(self) -> None:
        def bias(predictions: Any, data: Dataset) -> Any:
            return "bias", float(np.mean(predictions - data.get_label())), False

        check_against_loop(PARAMS, make_data, split_rows(N_ROWS, 5), feval=bias)

    @pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
    def test_any_number_of_threads(self, n_threads: int, monkeypatch: Any) -> None:
        expected = cv(PARAMS | {"num_threads": 1}, make_data(), 8, return_cvbooster=True)
        monkeypatch.setattr(threads, "CELLS_PER_THREAD", 100)
        found = cv(PARAMS | {"num_threads": n_threads}, make_data(), 8, return_cvbooster=True)
        models = found.pop("cvbooster")
        assert models.model_to_string() == expected.pop("cvbooster").model_to_string()
        assert found == expected


class TestContinued:
    """Training that continues from a model in every fold."""

    @pytest.mark.parametrize("kept", [False, True])
    def test_against_a_loop(self, kept: bool, tmp_path: Path) -> None:
        base = train(PARAMS, Dataset(TABLE + 0.01, LABEL), 4)  # other bins than the data's
        base.save_model(tmp_path / "base")
        expected = [
            train_by_hand(PARAMS, make_data(free_raw_data=False), fold, 5, init_model=base)
            for fold in split_rows(N_ROWS, 3)
        ]
        for init_model in (base, tmp_path / "base", str(tmp_path / "base")):
            data = make_data(free_raw_data=not kept)
            result = cv(PARAMS, data, 5, nfold=3, init_model=init_model, return_cvbooster=True)
            assert (data.data is not None) == kept
            models = result["cvbooster"]
            assert models.current_iteration() == [9] * 3
            for booster, (model, _) in zip(models.boosters, expected, strict=True):
                assert booster.model_to_string() == model.model_to_string()
            means = np.mean([history["valid"]["l2"] for _, history in expected], axis=0)
            np.testing.assert_array_equal(result["valid l2-mean"], means)

    def test_rounds_are_counted_on(self) -> None:
        base = train(PARAMS, make_data(), 4)
        seen: list[tuple[int, int, int]] = []

        def look(env: CallbackEnv) -> None:
            seen.append((env.iteration, env.begin_iteration, env.end_iteration))
            if env.iteration == 6:
                raise EarlyStopException(5, env.evaluation_result_list or [])

        result = cv(
            PARAMS, make_data(), 10, init_model=base, callbacks=[look], return_cvbooster=True
        )
        assert seen == [(4, 4, 14), (5, 4, 14), (6, 4, 14)]
        assert len(result["valid l2-mean"]) == 2
        assert result["cvbooster"].best_iteration == 6

    def test_failed_construction_can_be_put_right(self) -> None:
        base = train(PARAMS, make_data(), 4)
        data = make_data(LABEL[:-1])
        with pytest.raises(DataError, match="differ in length"):
            cv(PARAMS, data, 2, init_model=base)
        found = cv(PARAMS, data.set_label(LABEL), 2, init_model=base)
        assert found == cv(PARAMS, make_data(), 2, init_model=base)

    def test_a_model_that_does_not_fit(self) -> None:
        other = train(PARAMS, Dataset(TABLE[:, :3], LABEL), 2)
        with pytest.raises(DataError, match="In fold 0: init_model was trained on another number"):
            cv(PARAMS, make_data(), 2, init_model=other)


class TestFolds:
    """Where folds come from."""

    def test_pairs_and_generators(self) -> None:
        expected = cv(PARAMS, make_data(), 5, folds=halves())
        found = cv(PARAMS, make_data(), 5, folds=(pair for pair in halves()))
        assert found == expected

    def test_order_of_rows_does_not_matter(self) -> None:
        backwards = [(train[::-1], test[::-1]) for train, test in halves()]
        assert cv(PARAMS, make_data(), 5, folds=backwards) == cv(
            PARAMS, make_data(), 5, folds=halves()
        )

    def test_one_fold_is_enough(self) -> None:
        result = cv(PARAMS, make_data(), 5, folds=halves()[:1])
        assert result["valid l2-stdv"] == [0.0] * 5

    def test_shuffle_and_seed(self) -> None:
        results = [
            cv(PARAMS, make_data(), 3, shuffle=shuffle, seed=seed)["valid l2-mean"]
            for shuffle, seed in ((True, 0), (True, 0), (True, 1), (False, 0), (False, 1))
        ]
        assert results[0] == results[1]
        assert results[0] != results[2]
        assert results[3] == results[4]
        assert results[0] != results[3]

    def test_splitters_of_scikit_learn(self) -> None:
        model_selection = pytest.importorskip("sklearn.model_selection")
        for splitter, label in (
            (model_selection.KFold(3, shuffle=True, random_state=1), LABEL),
            (model_selection.StratifiedKFold(3), BINARY),
            (model_selection.TimeSeriesSplit(3), LABEL),
        ):
            found = cv(PARAMS, make_data(label), 3, folds=splitter)
            pairs = list(splitter.split(TABLE, label))
            assert found == cv(PARAMS, make_data(label), 3, folds=pairs)

    def test_group_splitter_gets_the_queries(self) -> None:
        model_selection = pytest.importorskip("sklearn.model_selection")
        splitter = model_selection.GroupKFold(3)
        params = PARAMS | {"objective": "lambdarank", "eval_at": [3]}
        found = cv(params, make_data(GRADES, group=SIZES), 3, folds=splitter)
        groups = np.repeat(np.arange(len(SIZES)), SIZES)
        pairs = list(splitter.split(TABLE, GRADES, groups))
        assert found == cv(params, make_data(GRADES, group=SIZES), 3, folds=pairs)

    def test_stratification_needs_no_scikit_learn(self, monkeypatch: Any) -> None:
        import sys

        monkeypatch.setitem(sys.modules, "sklearn", None)
        assert len(cv(BINARY_PARAMS, make_data(BINARY), 2)["valid binary_logloss-mean"]) == 2

    def test_labels_that_are_no_classes_are_not_stratified(self) -> None:
        class Notes(list[str]):
            info = warning = list.append

        notes = Notes()
        register_logger(notes)
        try:
            stratified = cv(PARAMS | {"verbosity": 1}, make_data(), 2)
            cv(PARAMS, make_data(), 2)  # silent
        finally:
            register_logger(None)
        assert notes[0] == "The labels are not classes: folds are not stratified."
        assert len(notes) == 3  # and the metrics of two rounds
        assert stratified == cv(PARAMS, make_data(), 2, stratified=False)

    def test_the_table_is_binned_once(self, monkeypatch: Any) -> None:
        from gossamer import _native

        calls: list[str] = []
        for name in ("find_bounds", "bin_dense", "bin_like"):
            original = getattr(_native, name)

            def counted(*args: Any, _n: str = name, _f: Any = original, **kwargs: Any) -> Any:
                calls.append(_n)
                return _f(*args, **kwargs)

            monkeypatch.setattr(_native, name, counted)
        cv(PARAMS, make_data(), 2)
        assert calls == ["find_bounds", "bin_dense"]

    def test_raw_data_may_be_gone(self) -> None:
        data = make_data().construct()
        assert data.data is None
        assert cv(PARAMS, data, 2) == cv(PARAMS, make_data(free_raw_data=False), 2)

    def test_a_rare_class(self) -> None:
        label = np.zeros(N_ROWS)
        label[:2] = 1
        rare = np.where(np.arange(N_ROWS) == 5, 2, CLASSES % 2)  # class 2 occurs once
        result = cv(BINARY_PARAMS, make_data(label), 2, nfold=2)
        assert np.isfinite(result["valid binary_logloss-mean"]).all()
        params = PARAMS | {"objective": "multiclass", "num_class": 3}
        with pytest.raises(DataError, match=r"In fold \d: class 2 occurs in the data set 'valid'"):
            cv(params, make_data(rare), 2)

    def test_preparation_of_each_fold(self) -> None:
        seen: list[tuple[int, int]] = []

        def prepare(train_set: Dataset, test_set: Dataset, params: dict[str, Any]) -> Any:
            seen.append((train_set.num_data(), test_set.num_data()))
            train_set.set_weight(np.linspace(1, 2, train_set.num_data()))
            return train_set, test_set, params | {"learning_rate": 0.3}

        found = cv(PARAMS, make_data(), 4, nfold=3, fpreproc=prepare, return_cvbooster=True)
        assert seen == [(400, 200)] * 3
        data = make_data()
        for fold, booster in zip(split_rows(N_ROWS, 3), found["cvbooster"].boosters, strict=True):
            part = data.subset(fold.train).construct().set_weight(np.linspace(1, 2, 400))
            expected = train(PARAMS | {"learning_rate": 0.3}, part, 4)
            np.testing.assert_array_equal(booster.predict(TABLE), expected.predict(TABLE))


class TestCallbacks:
    """Callbacks see means over the folds."""

    def test_early_stopping_on_the_mean(self) -> None:
        params = PARAMS | {"learning_rate": 0.5}
        full = cv(params, make_data(), 60)
        best = int(np.argmin(full["valid l2-mean"])) + 1
        assert best < 50
        stopped = cv(
            params,
            make_data(),
            60,
            callbacks=[early_stopping(10, verbose=False)],
            return_cvbooster=True,
        )
        models = stopped.pop("cvbooster")
        assert {name: values[:best] for name, values in full.items()} == stopped
        assert models.best_iteration == best
        assert [b.best_iteration for b in models.boosters] == [best] * 5
        assert models.current_iteration() == [best + 10] * 5
        np.testing.assert_array_equal(
            models.boosters[0].predict(TABLE),
            models.boosters[0].predict(TABLE, num_iteration=best),
        )

    def test_early_stopping_as_a_parameter(self) -> None:
        params = PARAMS | {"learning_rate": 0.5}
        by_callback = cv(
            params, make_data(), 60, callbacks=[early_stopping(10, verbose=False, min_delta=0.01)]
        )
        both = {"early_stopping_round": 10, "early_stopping_min_delta": 0.01}
        assert cv(params | both, make_data(), 60) == by_callback

    def test_first_metric_only(self) -> None:
        params = PARAMS | {"learning_rate": 0.5, "metric": ["l2", "mape"]}
        only = params | {"early_stopping_round": 5, "first_metric_only": True}
        full = cv(params, make_data(), 60)
        result = cv(only, make_data(), 60)
        assert len(result["valid l2-mean"]) == int(np.argmin(full["valid l2-mean"])) + 1

    def test_training_metric_does_not_stop(self) -> None:
        result = cv(
            PARAMS | {"learning_rate": 0.5},
            make_data(),
            60,
            eval_train_metric=True,
            callbacks=[early_stopping(5, verbose=False)],
        )
        best = len(result["valid l2-mean"])
        assert best < 55
        assert result["train l2-mean"] == sorted(result["train l2-mean"], reverse=True)

    def test_record_log_and_progress(self, capsys: Any) -> None:
        pytest.importorskip("tqdm")
        history: dict[str, Any] = {}
        result = cv(
            PARAMS,
            make_data(),
            3,
            callbacks=[
                record_evaluation(history),
                log_evaluation(2),
                progress_bar(disable=True),
            ],
        )
        assert history == {
            "valid": {
                "l2-mean": result["valid l2-mean"],
                "l2-stdv": result["valid l2-stdv"],
            }
        }
        mean, deviation = result["valid l2-mean"][1], result["valid l2-stdv"][1]
        assert capsys.readouterr().out == f"[2]\tvalid's l2: {mean:g} + {deviation:g}\n"
        cv(PARAMS, make_data(), 2, callbacks=[log_evaluation(2, show_stdv=False)])
        assert capsys.readouterr().out == f"[2]\tvalid's l2: {mean:g}\n"

    def test_results_have_a_standard_deviation(self) -> None:
        seen: list[EvalResult] = []

        def look(env: CallbackEnv) -> None:
            assert isinstance(env.model, CVBooster)
            assert (env.begin_iteration, env.end_iteration) == (0, 2)
            assert env.evaluation_result_list is not None
            seen.extend(env.evaluation_result_list)

        cv(PARAMS, make_data(), 2, callbacks=[look])
        assert [len(result) for result in seen] == [5, 5]
        assert all(result.is_cv_result() for result in seen)

    def test_learning_rate_schedule(self) -> None:
        schedule = [0.5, 0.3, 0.1]
        result = cv(
            PARAMS,
            make_data(),
            3,
            callbacks=[reset_parameter(learning_rate=schedule)],
            return_cvbooster=True,
        )
        data = make_data()
        for fold, booster in zip(split_rows(N_ROWS, 5), result["cvbooster"].boosters, strict=True):
            expected = train(
                PARAMS,
                data.subset(fold.train),
                3,
                callbacks=[reset_parameter(learning_rate=schedule)],
            )
            np.testing.assert_array_equal(booster.predict(TABLE), expected.predict(TABLE))

    def test_stopping_by_hand(self) -> None:
        def stop(env: CallbackEnv) -> None:
            if env.iteration == 4:
                raise EarlyStopException(2, env.evaluation_result_list or [])

        result = cv(PARAMS, make_data(), 20, callbacks=[stop], return_cvbooster=True)
        assert len(result["valid l2-mean"]) == 3
        assert result["cvbooster"].best_iteration == 3

    def test_what_a_callback_raises_comes_through(self) -> None:
        class Oops(Exception):
            pass

        closed: list[bool] = []

        class Holds:
            def __call__(self, env: CallbackEnv) -> None:
                if env.iteration == 1:
                    raise Oops("in round 1")

            def close(self) -> None:
                closed.append(True)

        with pytest.raises(Oops, match="in round 1"):
            cv(PARAMS, make_data(), 5, callbacks=[Holds()])
        assert closed == [True]

    def test_a_callback_that_frees_the_data(self) -> None:
        def free(env: CallbackEnv) -> None:
            if env.iteration == env.end_iteration - 1:
                env.model.free_dataset()

        result = cv(PARAMS, make_data(), 3, callbacks=[free], return_cvbooster=True)
        assert result["cvbooster"].num_trees() == [3] * 5

    def test_what_an_objective_raises_comes_through(self) -> None:
        def broken(score: Any, data: Dataset) -> Any:
            raise ZeroDivisionError("mine")

        with pytest.raises(ZeroDivisionError, match="mine"):
            cv(PARAMS | {"objective": broken}, make_data(), 5)

    def test_metric_freq(self) -> None:
        full = cv(PARAMS, make_data(), 10)["valid l2-mean"]
        some = cv(PARAMS | {"metric_freq": 4}, make_data(), 10)["valid l2-mean"]
        assert some == [full[i] for i in (0, 3, 7, 9)]

    def test_nothing_left_to_split(self) -> None:
        few = Dataset(np.arange(40.0).reshape(-1, 1) % 2, np.arange(40.0) % 2)
        result = cv({"min_data_in_leaf": 30}, few, 50, stratified=False)
        assert len(result["valid l2-mean"]) < 50
        assert len(set(result["valid l2-mean"])) == 1


class TestMetrics:
    """Which metrics are evaluated."""

    @pytest.mark.parametrize("alias", ["metric", "metrics", "eval_metric"])
    def test_argument_wins(self, alias: str) -> None:
        result = cv(PARAMS | {alias: "l1"}, make_data(), 2, metrics=["l2", "mape"])
        assert [name for name in result if "mean" in name] == ["valid l2-mean", "valid mape-mean"]

    def test_none_with_a_function(self) -> None:
        result = cv(
            PARAMS, make_data(), 2, metrics="None", feval=lambda scores, data: ("mine", 1.5, True)
        )
        assert result == {"valid mine-mean": [1.5, 1.5], "valid mine-stdv": [0.0, 0.0]}

    def test_none_at_all(self) -> None:
        assert cv(PARAMS, make_data(), 2, metrics="None") == {}

    def test_training_metric_by_parameter(self) -> None:
        result = cv(PARAMS | {"is_provide_training_metric": True}, make_data(), 1)
        assert next(iter(result)) == "train l2-mean"

    def test_average(self) -> None:
        folds = [[EvalResult("valid", "auc", value, True)] for value in (0.5, math.nan)]
        assert math.isnan(average(folds)[0].metric_value)
        with pytest.raises(DataError, match="fold 1 has other metrics than fold 0"):
            average([folds[0], []])


class TestBadInput:
    """Every mistake is named."""

    @pytest.mark.parametrize(
        ("arguments", "error", "text"),
        [
            ({"nfold": 1}, ParameterError, "nfold cannot be used: got 1, expected an integer >= 2"),
            ({"nfold": 2.5}, ParameterError, "nfold cannot be used: got 2.5"),
            ({"nfold": 601}, ParameterError, "not enough rows for nfold=601: got 600"),
            ({"seed": -1}, ParameterError, "seed cannot be used: got -1"),
            ({"num_boost_round": 0}, ParameterError, "num_boost_round is out of range: got 0"),
            ({"metrics": "no_such"}, ParameterError, "no_such"),
            ({"init_model": TABLE}, ParameterError, "init_model cannot be used"),
            ({"folds": []}, DataError, "folds are empty"),
            ({"folds": 5}, ParameterError, "folds cannot be used: got 5"),
            ({"folds": "stratified"}, ParameterError, "folds cannot be used"),
            ({"folds": [[1, 2, 3]]}, ParameterError, "fold 0 is not a pair"),
            ({"folds": [([0, 1], [2]), ([0], [])]}, DataError, "test rows of fold 1 cannot be us"),
            ({"folds": [([], [1])]}, DataError, "training rows of fold 0 cannot be used"),
            ({"folds": [([0, 600], [1])]}, DataError, "got 600, expected numbers from 0 to 599"),
            ({"folds": [([0, -1], [1])]}, DataError, "training rows of fold 0 are not all in"),
            ({"folds": [([0, 1], [1, 2])]}, DataError, r"evaluates on: got \[1\]"),
            ({"folds": [([0.5], [1])]}, DataError, "got 'float64', expected numbers of rows"),
            ({"folds": [([True, False], [1])]}, DataError, "np.flatnonzero"),
            ({"feval": "l2"}, ParameterError, "feval must be a function"),
            (
                {"fpreproc": lambda a, b, p: (a, b)},
                DataError,
                "fpreproc returned an unexpected value",
            ),
        ],
    )
    def test_arguments(
        self, arguments: dict[str, Any], error: type[GossamerError], text: str
    ) -> None:
        with pytest.raises(error, match=text):
            cv(PARAMS, make_data(), **{"num_boost_round": 2} | arguments)

    def test_no_data_set(self) -> None:
        with pytest.raises(DataError, match="train_set must be a Dataset: got 'ndarray'"):
            cv(PARAMS, TABLE)  # type: ignore[arg-type]
        with pytest.raises(DataError, match="no label"):
            cv(PARAMS, Dataset(TABLE))

    def test_unknown_parameter(self) -> None:
        with pytest.raises(ParameterError, match="unknown parameter"):
            cv({"no_such": 1}, make_data())
        with pytest.raises(ParameterError, match="parameters cannot be used"):
            cv([("num_leaves", 3)], make_data())  # type: ignore[arg-type]

    def test_callbacks_that_resume_a_training(self) -> None:
        class Resumes:
            def attach(self, run: Any) -> None: ...
            def __call__(self, env: CallbackEnv) -> None: ...

        with pytest.raises(NotSupportedError, match="cannot be resumed from a checkpoint"):
            cv(PARAMS, make_data(), 2, callbacks=[Resumes()])

    def test_cut_queries(self) -> None:
        params = PARAMS | {"objective": "lambdarank"}
        with pytest.warns(UserWarning, match="queries apart, the first of which is query 0"):
            cv(params, make_data(GRADES, group=SIZES), 2, folds=halves())
        with pytest.raises(ParameterError, match="not enough queries for nfold=61"):
            cv(params, make_data(GRADES, group=SIZES), 2, nfold=61)


class TestAgainstLightGBM:
    """Keys, shapes and folds of LightGBM's cv."""

    @pytest.mark.parametrize("eval_train_metric", [False, True])
    def test_keys_shapes_and_values(self, eval_train_metric: bool) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        params = BINARY_PARAMS | {"metric": ["auc", "binary_logloss"], "num_threads": 1}
        options: dict[str, Any] = {"eval_train_metric": eval_train_metric, "seed": 7, "nfold": 3}
        expected = lightgbm.cv(params, lightgbm.Dataset(TABLE, BINARY), 10, **options)
        found = cv(params, make_data(BINARY), 10, **options)
        assert list(found) == list(expected)
        for name, values in expected.items():
            assert len(found[name]) == len(values)
            assert found[name][0] == pytest.approx(values[0], abs=0.02)

    @pytest.mark.filterwarnings("ignore::UserWarning")  # LightGBM's
    @pytest.mark.parametrize(
        ("params", "label", "data", "options"),
        [
            ({"objective": "lambdarank", "eval_at": [1, 3]}, GRADES, {"group": SIZES}, {}),
            ({"objective": "multiclass", "num_class": 3}, CLASSES, {}, {}),
            ({"metric": ["l1", "l2"]}, LABEL, {}, {"feval": two_metrics}),
            ({"objective": squared_error, "metric": "l2"}, LABEL, {}, {"feval": [two_metrics]}),
            ({"objective": "binary"}, BINARY, {}, {"metrics": ("auc", "binary_error")}),
            ({"metric": "None"}, LABEL, {}, {}),
        ],
        ids=["ranking", "classes", "functions", "objective", "metrics", "none"],
    )
    def test_keys_of_tasks(
        self, params: dict[str, Any], label: Any, data: dict[str, Any], options: dict[str, Any]
    ) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        options = {"nfold": 3, "stratified": False, "eval_train_metric": True} | options
        params = PARAMS | {"num_threads": 1} | params
        expected = lightgbm.cv(params, lightgbm.Dataset(TABLE, label, **data), 2, **options)
        found = cv(params, make_data(label, **data), 2, **options)
        assert [(name, len(values)) for name, values in found.items()] == [
            (name, len(values)) for name, values in expected.items()
        ]

    def test_the_same_folds(self) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        seen: dict[str, list[tuple[bytes, bytes]]] = {"ours": [], "theirs": []}

        def look(name: str) -> Callable[..., Any]:
            def prepare(train_set: Any, test_set: Any, params: Any) -> Any:
                rows = [np.asarray(d.used_indices, dtype=np.int64) for d in (train_set, test_set)]
                seen[name].append((rows[0].tobytes(), rows[1].tobytes()))
                return train_set, test_set, params

            return prepare

        for label, stratified in ((BINARY, True), (CLASSES, True), (LABEL, False)):
            options: dict[str, Any] = {"stratified": stratified, "seed": 5, "num_boost_round": 1}
            theirs = lightgbm.Dataset(TABLE, label, free_raw_data=False)
            lightgbm.cv(PARAMS, theirs, fpreproc=look("theirs"), **options)
            cv(PARAMS, make_data(label), fpreproc=look("ours"), **options)
        assert len(seen["ours"]) == 15
        assert seen["ours"] == seen["theirs"]

    def test_early_stopping(self) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        params = PARAMS | {"learning_rate": 0.5, "early_stopping_round": 5, "num_threads": 1}
        options: dict[str, Any] = {"stratified": False, "return_cvbooster": True}
        expected = lightgbm.cv(params, lightgbm.Dataset(TABLE, LABEL), 100, **options)
        found = cv(params, make_data(), 100, **options)
        for result in (expected, found):
            models = result["cvbooster"]
            assert len(result["valid l2-mean"]) == models.best_iteration
            assert [b.best_iteration for b in models.boosters] == [models.best_iteration] * 5
            assert models.boosters[0].current_iteration() == models.best_iteration + 5
        assert list(expected) == list(found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_can_cross_validate_after_its_parent(monkeypatch: Any) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 100)
    params = PARAMS | {"num_threads": 3}
    expected = cv(params, make_data(), 3)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        found = cv(params, make_data(), 3)
        os.write(writer, b"same" if found == expected else b"other")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"same"
