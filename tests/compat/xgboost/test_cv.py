from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer.compat.xgboost as ours
from gossamer.errors import DataError

PARAMS = {"max_depth": 3, "nthread": 1}


@pytest.fixture
def data(xgb: Any, few_values: Any) -> Any:
    return xgb.DMatrix(few_values.x, few_values.y)


def test_a_frame_of_means(xgb: Any, data: Any) -> None:
    pandas = pytest.importorskip("pandas")
    found = xgb.cv(PARAMS, data, 4, metrics=("mae", "rmse"))
    assert isinstance(found, pandas.DataFrame) and list(found.index) == [0, 1, 2, 3]
    kinds = [
        f"{d}-{m}-{k}" for d in ("train", "test") for m in ("mae", "rmse") for k in ("mean", "std")
    ]
    assert list(found.columns) == kinds
    assert (found["train-rmse-mean"].diff()[1:] < 0).all()


def test_folds_of_ones_own(xgb: Any, data: Any) -> None:
    model_selection = pytest.importorskip("sklearn.model_selection")
    rows = np.arange(500)
    folds = [(rows[rows % 2 == i], rows[rows % 2 != i]) for i in range(2)]
    found = xgb.cv(PARAMS, data, 3, folds=folds, as_pandas=False)
    assert len(found["test-rmse-mean"]) == 3
    splitter = model_selection.KFold(4, shuffle=True, random_state=0)
    assert len(xgb.cv(PARAMS, data, 3, folds=splitter)) == 3


def test_lines(xgb: Any, data: Any, capsys: Any) -> None:
    xgb.cv(PARAMS, data, 3, verbose_eval=2)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["[0]", "[2]"]
    assert "\ttrain-rmse:" in lines[0] and "\ttest-rmse:" in lines[0] and "+" in lines[0]
    xgb.cv(PARAMS, data, 3, verbose_eval=True, show_stdv=False)
    assert "+" not in capsys.readouterr().out


def test_early_stopping(xgb: Any, numbers: Any) -> None:
    data = xgb.DMatrix(numbers.x, numbers.y)
    params = {"eta": 1.0, "nthread": 1}
    whole = xgb.cv(params, data, 40)
    found = xgb.cv(params, data, 40, early_stopping_rounds=3)
    best = len(found) - 1
    assert len(found) < 40
    assert found["test-rmse-mean"].iloc[-1] == found["test-rmse-mean"].min()
    later = whole["test-rmse-mean"].iloc[best + 1 : best + 4]
    assert (later >= found["test-rmse-mean"].iloc[-1]).all()


def test_a_loss_and_a_metric_of_ones_own(xgb: Any, data: Any) -> None:
    def loss(score: Any, part: Any) -> Any:
        return score - part.get_label(), np.ones_like(score)

    def worst(score: Any, part: Any) -> Any:
        return "worst", abs(score - part.get_label()).max()

    found = xgb.cv(PARAMS, data, 4, obj=loss, custom_metric=worst)
    assert "test-worst-mean" in found.columns and "train-rmse-mean" in found.columns
    same = xgb.cv({**PARAMS, "base_score": 0.5}, data, 4)
    np.testing.assert_allclose(found["test-rmse-mean"], same["test-rmse-mean"], rtol=1e-3)


def test_preparation(xgb: Any, data: Any) -> None:
    def prepare(train: Any, test: Any, params: Any) -> Any:
        assert train.num_row() + test.num_row() == 500
        return train, test, {**params, "max_depth": 1}

    found = xgb.cv(PARAMS, data, 4, fpreproc=prepare)
    shallow = xgb.cv({**PARAMS, "max_depth": 1}, data, 4)
    np.testing.assert_allclose(found["test-rmse-mean"], shallow["test-rmse-mean"], rtol=1e-3)


def test_callbacks(xgb: Any, data: Any) -> None:
    seen: list[Any] = []

    class Spy(xgb.callback.TrainingCallback):  # type: ignore[name-defined,misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            mean, deviation = evals_log["test"]["rmse"][-1]
            seen.append((epoch, mean > deviation > 0))
            return False

    rates = xgb.callback.LearningRateScheduler(lambda epoch: 0.5**epoch)
    found = xgb.cv(PARAMS, data, 3, callbacks=[Spy(), rates])
    assert seen == [(0, True), (1, True), (2, True)]
    plain = xgb.cv(PARAMS, data, 3)
    first = "train-rmse-mean"
    assert found[first][0] == plain[first][0] and found[first][1] < plain[first][1]


def test_queries_stay_whole(queries: Any) -> None:
    data = ours.DMatrix(queries.x, queries.y, qid=np.arange(400) // 10)
    found = ours.cv({"objective": "rank:ndcg", "eval_metric": "ndcg@3", "nthread": 1}, data, 3)
    assert list(found.columns)[2] == "test-ndcg@3-mean" and found.iloc[-1, 2] > 0.8


def test_sparse_rows(few_values: Any) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = np.where(few_values.x < 10, 0, np.nan_to_num(few_values.x))
    found = ours.cv(PARAMS, ours.DMatrix(sparse.csr_matrix(x), few_values.y), 3)
    dense = ours.cv(PARAMS, ours.DMatrix(np.where(x == 0, np.nan, x), few_values.y), 3)
    np.testing.assert_allclose(found.to_numpy(), dense.to_numpy(), rtol=1e-6)


def test_what_cannot_be_used(few_values: Any) -> None:
    data = ours.DMatrix(few_values.x, (few_values.y > 10) * 1)
    with pytest.raises(TypeError, match="not a DMatrix"):
        ours.cv({}, few_values.x)
    with pytest.raises(DataError, match="fpreproc"):
        ours.cv({}, data, fpreproc=lambda train, test, params: train)

    def loss(score: Any, part: Any) -> Any:
        return score, np.ones_like(score)

    def metric(score: Any, part: Any) -> Any:
        return "lowest", score.min()

    params = {"objective": "binary:logistic", "nthread": 1}
    found = ours.cv(
        {**params, "disable_default_eval_metric": 1}, data, obj=loss, custom_metric=metric
    )
    assert list(found.columns)[:2] == ["train-lowest-mean", "train-lowest-std"]
