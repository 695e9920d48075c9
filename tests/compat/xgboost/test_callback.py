from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import gossamer.compat.xgboost as ours
from gossamer.errors import DataError, ParameterError


@pytest.fixture
def data(xgb: Any, few_values: Any) -> Any:
    return xgb.DMatrix(few_values.x, few_values.y)


def train(xgb: Any, data: Any, n_rounds: int, *callbacks: Any, **params: Any) -> Any:
    return xgb.train(
        {"max_depth": 3, "nthread": 1, **params},
        data,
        n_rounds,
        evals=[(data, "train")],
        verbose_eval=False,
        callbacks=callbacks,
    )


def test_the_order_of_calls(xgb: Any, data: Any) -> None:
    calls: list[Any] = []

    class Spy(xgb.callback.TrainingCallback):  # type: ignore[name-defined,misc]
        def before_training(self, model: Any) -> Any:
            calls.append(("begin", model.num_boosted_rounds()))
            return model

        def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            calls.append(("before", epoch, {k: list(v) for k, v in evals_log.items()}))
            return False

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            calls.append(("after", epoch, len(evals_log["train"]["rmse"])))
            return epoch == 1

        def after_training(self, model: Any) -> Any:
            calls.append(("end", model.num_boosted_rounds()))
            return model

    assert train(xgb, data, 5, Spy()).num_boosted_rounds() == 2
    assert calls == [
        ("begin", 0),
        ("before", 0, {}),
        ("after", 0, 1),
        ("before", 1, {"train": ["rmse"]}),
        ("after", 1, 2),
        ("end", 2),
    ]


def test_learning_rates(xgb: Any, data: Any) -> None:
    scheduler = xgb.callback.LearningRateScheduler
    by_list = train(xgb, data, 3, scheduler([0.5, 0.25, 0.1]), eta=1.0)
    by_function = train(xgb, data, 3, scheduler(lambda i: [0.5, 0.25, 0.1][i]), eta=1.0)
    np.testing.assert_array_equal(by_list.predict(data), by_function.predict(data))
    steps = [
        np.abs(by_list.predict(data, iteration_range=(i, i + 1)) - data.get_label().mean()).max()
        for i in range(3)
    ]
    assert steps[0] > 1.5 * steps[1] > 1.5 * steps[2]
    with pytest.raises(TypeError):
        scheduler(0.5)


def test_early_stopping_keeps_the_best(xgb: Any, numbers: Any) -> None:
    data = xgb.DMatrix(numbers.x[:300], numbers.y[:300])
    valid = xgb.DMatrix(numbers.x[300:], numbers.y[300:])
    found: dict[str, Any] = {}
    model = xgb.train(
        {"eta": 1.0, "nthread": 1, "eval_metric": ["mae", "rmse"]},
        data,
        100,
        evals=[(valid, "valid"), (data, "train")],
        evals_result=found,
        verbose_eval=False,
        callbacks=[
            xgb.callback.EarlyStopping(
                rounds=3, save_best=True, data_name="valid", metric_name="mae", min_delta=0.001
            )
        ],
    )
    assert model.num_boosted_rounds() == model.best_iteration + 1
    assert model.best_score == pytest.approx(found["valid"]["mae"][model.best_iteration])
    assert len(found["valid"]["mae"]) == model.best_iteration + 4


def test_metrics_that_rise(xgb: Any, few_values: Any) -> None:
    label = (few_values.y > 15).astype(np.float32)
    data = xgb.DMatrix(few_values.x[:, 1:], label)
    model = xgb.train(
        {"objective": "binary:logistic", "eval_metric": "auc", "nthread": 1},
        data,
        12,
        evals=[(data, "train")],
        early_stopping_rounds=4,
        verbose_eval=False,
    )
    assert model.best_iteration > 4 and model.best_score > 0.9
    reverse = xgb.train(
        {"objective": "binary:logistic", "eval_metric": "auc", "nthread": 1},
        data,
        12,
        evals=[(data, "train")],
        early_stopping_rounds=4,
        maximize=False,
        verbose_eval=False,
    )
    assert reverse.best_iteration == 0 and reverse.num_boosted_rounds() == 5


@pytest.mark.parametrize("name", [{"data_name": "nowhere"}, {"metric_name": "nothing"}])
def test_names_that_are_not_there(xgb: Any, data: Any, name: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"nowhere|nothing"):
        train(xgb, data, 3, xgb.callback.EarlyStopping(rounds=2, **name))


def test_lines_go_to_a_logger(xgb: Any, data: Any) -> None:
    lines: list[str] = []
    train(xgb, data, 4, xgb.callback.EvaluationMonitor(period=2, logger=lines.append))
    assert [line.split("\t")[0] for line in lines] == ["[0]", "[2]", "[3]"]
    assert all(line.endswith("\n") and "\ttrain-rmse:" in line for line in lines)


def test_files_while_training(few_values: Any, tmp_path: Any) -> None:
    data = ours.DMatrix(few_values.x, few_values.y)
    callback = ours.callback.TrainingCheckPoint
    train(ours, data, 6, callback(tmp_path, interval=2), callback(tmp_path, "p", True, 4))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["model_2.ubj", "model_4.ubj", "p_4.pkl"]
    assert ours.Booster(model_file=tmp_path / "model_4.ubj").num_boosted_rounds() == 5
    assert pickle.loads((tmp_path / "p_4.pkl").read_bytes()).num_boosted_rounds() == 5


def test_what_is_no_callback(few_values: Any) -> None:
    data = ours.DMatrix(few_values.x, few_values.y)

    class Forgetful(ours.callback.TrainingCallback):
        def before_training(self, model: Any) -> Any:
            return None

    with pytest.raises(TypeError, match="not a callback"):
        train(ours, data, 3, print)
    with pytest.raises(TypeError, match="must return the model"):
        train(ours, data, 3, Forgetful())
    with pytest.raises(ParameterError, match="period"):
        ours.callback.EvaluationMonitor(period=0)
    with pytest.raises(DataError, match="evals"):
        ours.train({}, data, 3, callbacks=[ours.callback.EarlyStopping(rounds=2)])
