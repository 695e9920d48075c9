"""Searching for parameters with Optuna."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import gossamer as gs

optuna = pytest.importorskip("optuna")

from gossamer import tune  # noqa: E402
from gossamer.tune.prune import find_result  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
Y = (X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=600) > 0).astype(float)
FEW: dict[str, Any] = {"n_trials": 4, "num_boost_round": 20, "early_stopping_rounds": 5, "nfold": 3}


def data(**more: Any) -> gs.Dataset:
    return gs.Dataset(X, Y, **more)


class TestSearch:
    @pytest.mark.parametrize(("metric", "best"), [("auc", max), ("binary_logloss", min)])
    def test_the_best_trial_is_found(self, metric: str, best: Any) -> None:
        found = tune.search({"objective": "binary", "metric": metric}, data(), **FEW, prune=False)
        values = [trial.value for trial in found.study.trials]
        assert len(values) == 4 and found.value == best(values)
        assert found.metric == metric and 1 <= found.n_rounds <= 20
        params = {**found.params, "num_threads": 1}
        results = gs.cv(params, data(), found.n_rounds, nfold=3, seed=0)
        assert results[f"valid {metric}-mean"][-1] == found.value

    def test_a_validation_set(self) -> None:
        train = gs.Dataset(X[:400], Y[:400])
        valid = train.create_valid(X[400:], Y[400:])
        found = tune.search({"objective": "binary", "metric": "auc"}, train, valid, **FEW)
        model = found.train()
        assert model.current_iteration() == found.n_rounds
        params = found.params
        again = gs.train(params, train, found.n_rounds, [valid])
        assert again.best_score["valid_0"]["auc"] == pytest.approx(found.value, abs=1e-12)

    def test_the_same_seed_finds_the_same(self) -> None:
        first, second, other = (
            tune.search({"objective": "binary"}, data(), **{**FEW, "n_trials": 8}, seed=seed)
            for seed in (3, 3, 4)
        )
        assert first.params == second.params and first.value == second.value
        tried = [[trial.params for trial in found.study.trials] for found in (first, other)]
        assert tried[0] != tried[1] and other.value != first.value

    def test_given_parameters_win(self) -> None:
        found = tune.search({"application": "binary", "eta": 0.2, "num_leaves": 5}, data(), **FEW)
        assert found.params["learning_rate"] == 0.2 and found.params["num_leaves"] == 5
        assert found.params["objective"] == "binary"

    def test_a_space_of_ones_own(self) -> None:
        def space(trial: Any, train: gs.Dataset) -> dict[str, Any]:
            assert train.num_data() == 600
            return {"max_depth": trial.suggest_int("max_depth", 1, 2)}

        found = tune.search({"objective": "binary"}, data(), **FEW, space=space)
        assert set(found.params) == {"max_depth", "objective", "verbosity"}

    def test_categories_are_searched_too(self) -> None:
        table = {"town": RNG.choice(["a", "b", "c"], 600), "x": X[:, 0]}
        found = tune.search({"objective": "binary"}, gs.Dataset(table, Y), **FEW)
        assert "cat_smooth" in found.params

    def test_the_presets_are_tried_first(self) -> None:
        found = tune.search({"objective": "binary"}, data(), **{**FEW, "n_trials": 3}, prune=False)
        fast, good, best = (trial.params for trial in found.study.trials)
        assert fast["learning_rate"] == 0.1 and fast["feature_fraction"] == 1.0
        assert good["path_smooth"] == 10.0 and good["feature_fraction"] == 0.6
        assert best["learning_rate"] == 0.04 and best["bagging_fraction"] == 0.8

    def test_every_starting_point_is_in_the_space(self) -> None:
        table = {"town": RNG.choice(["a", "b", "c"], 600), "x": X[:, 0]}
        few = [np.arange(30), np.arange(600)]
        for rows in few:
            for columns in (X[rows], {name: column[rows] for name, column in table.items()}):
                train = gs.Dataset(columns, Y[rows]).construct()
                for point in tune.starting_points(train):
                    study = optuna.create_study()
                    study.enqueue_trial(point)
                    trial = study.ask()
                    tune.default_space(trial, train)  # warns where a value is out of its range
                    assert trial.params == point

    def test_folds_of_the_best(self) -> None:
        found = tune.search({"objective": "binary"}, data(), **FEW)
        model = found.train_folds(nfold=3, num_boost_round=5)
        assert len(model.fold_facts_) == 3
        assert model.params["num_leaves"] == found.params["num_leaves"]

    def test_it_goes_on_with_a_study(self) -> None:
        first = tune.search({"objective": "binary"}, data(), **FEW)
        more = tune.search({"objective": "binary"}, data(), **FEW, study=first.study)
        assert len(more.study.trials) == 8 and more.value <= first.value

    def test_a_few_rows(self) -> None:
        found = tune.search({}, gs.Dataset(X[:30], Y[:30]), **FEW)
        assert np.isfinite(found.value)

    def test_optuna_says_nothing(self, capfd: pytest.CaptureFixture[str]) -> None:
        tune.search({"objective": "binary"}, data(), **FEW)
        out, err = capfd.readouterr()
        assert out == "" and "Trial" not in err

    def test_bad_input(self) -> None:
        with pytest.raises(gs.DataError, match="train_set must be a Dataset"):
            tune.search({}, X)  # type: ignore[arg-type]
        with pytest.raises(gs.ParameterError, match="n_trials"):
            tune.search({}, data(), n_trials=0)
        with pytest.raises(gs.ParameterError, match="early_stopping_rounds"):
            tune.search({}, data(), early_stopping_rounds=-1)
        with pytest.raises(gs.ParameterError, match="needs a metric"):
            tune.search({"metric": "none"}, data(), **FEW)
        with pytest.raises(gs.ParameterError, match="num_leavess"):
            tune.search({"num_leavess": 3}, data(), **FEW)


class TestPruning:
    def test_a_poor_trial_is_given_up(self) -> None:
        def objective(trial: Any) -> float:
            rate = 0.3 if trial.number < 5 else 1e-6
            params = {"objective": "binary", "learning_rate": rate, "verbose": -1}
            watch = tune.PruningCallback(trial, "binary_logloss", "valid")
            train = gs.Dataset(X[:400], Y[:400])
            valid = train.create_valid(X[400:], Y[400:])
            model = gs.train(params, train, 10, [valid], ["valid"], callbacks=[watch])
            return model.best_score["valid"]["binary_logloss"]

        level = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(pruner=optuna.pruners.MedianPruner(n_startup_trials=5))
        study.optimize(objective, n_trials=6)
        optuna.logging.set_verbosity(level)
        assert study.trials[5].state == optuna.trial.TrialState.PRUNED
        assert len(study.trials[0].intermediate_values) == 10

    def test_metrics_that_are_not_there(self) -> None:
        results = [gs.EvalResult("valid", "l2", 1.0, False)]
        with pytest.raises(gs.ParameterError, match="no such metric to watch"):
            find_result(results, "auc", None)
        with pytest.raises(gs.ParameterError, match="expected one of valid l2"):
            find_result(results, None, "test")

    def test_reports_now_and_then(self) -> None:
        class Trial:
            steps: list[int] = []  # noqa: RUF012

            def report(self, value: float, step: int) -> None:
                self.steps.append(step)

            def should_prune(self) -> bool:
                return False

        gs.train(
            {"verbose": -1}, data(), 7, [data()], callbacks=[tune.PruningCallback(Trial(), every=3)]
        )
        assert Trial.steps == [0, 3, 6]


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r'pip install "gossamer\[tune\]"'):
        tune.search({}, data())
