from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gossamer.compat.xgboost as ours
from gossamer.errors import DataError, NotSupportedError, ParameterError


def split(xgb: Any, rows: Any) -> tuple[Any, Any]:
    """Training and validation data."""
    return xgb.DMatrix(rows.x[:300], rows.y[:300]), xgb.DMatrix(rows.x[300:], rows.y[300:])


def test_results_of_every_round(xgb: Any, numbers: Any, capsys: Any) -> None:
    train, valid = split(xgb, numbers)
    found: dict[str, Any] = {}
    params = {"eval_metric": ["mae", "rmse"], "nthread": 1}
    xgb.train(params, train, evals=[(train, "train"), (valid, "valid")], evals_result=found)
    assert list(found) == ["train", "valid"]
    assert list(found["valid"]) == ["mae", "rmse"] and len(found["valid"]["rmse"]) == 10
    assert found["train"]["rmse"] == sorted(found["train"]["rmse"], reverse=True)
    lines = capsys.readouterr().out.splitlines()
    number = r"\d+\.\d{5}"
    for i, line in enumerate(lines):
        names = ("train-mae", "train-rmse", "valid-mae", "valid-rmse")
        assert re.fullmatch(rf"\[{i}\]" + "".join(rf"\t{name}:{number}" for name in names), line)
    assert len(lines) == 10


@pytest.mark.parametrize(("verbose", "shown"), [(False, []), (4, [0, 4, 8, 9]), (True, range(10))])
def test_lines_are_shown_as_asked(
    xgb: Any, numbers: Any, capsys: Any, verbose: Any, shown: Any
) -> None:
    train, _ = split(xgb, numbers)
    xgb.train({"nthread": 1}, train, evals=[(train, "train")], verbose_eval=verbose)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [f"[{i}]" for i in shown]


def test_early_stopping(xgb: Any, numbers: Any) -> None:
    train, valid = split(xgb, numbers)
    found: dict[str, Any] = {}
    model = xgb.train(
        {"eta": 1.0, "nthread": 1},
        train,
        200,
        evals=[(train, "train"), (valid, "valid")],
        evals_result=found,
        early_stopping_rounds=5,
        verbose_eval=False,
    )
    errors = found["valid"]["rmse"]
    best = int(np.argmin(errors))
    assert len(errors) == best + 6 == model.num_boosted_rounds() < 200
    assert model.best_iteration == best and model.best_score == pytest.approx(errors[best])
    assert model.attributes()["best_iteration"] == str(best)
    # All rounds predict unless asked otherwise.
    whole = model.predict(valid)
    np.testing.assert_array_equal(whole, model.predict(valid, iteration_range=(0, best + 6)))
    part = model.predict(valid, iteration_range=(0, best + 1))
    assert np.sqrt(np.mean((part - valid.get_label()) ** 2)) == pytest.approx(errors[best], 1e-4)


def test_early_stopping_needs_data(xgb: Any, numbers: Any) -> None:
    train, _ = split(xgb, numbers)
    with pytest.raises(ValueError, match="early stopping"):
        xgb.train({}, train, early_stopping_rounds=3)
    model = xgb.train({}, train, 2)
    with pytest.raises(AttributeError, match="best_iteration"):
        model.best_iteration  # noqa: B018


def test_continued_training(xgb: Any, few_values: Any, tmp_path: Any) -> None:
    data = xgb.DMatrix(few_values.x, few_values.y)
    params = {"max_depth": 3, "nthread": 1}
    whole = xgb.train(params, data, 6)
    half = xgb.train(params, data, 3)
    path = str(tmp_path / "half.ubj")
    half.save_model(path)
    for base in (half, path, half.save_raw()):
        more = xgb.train(params, data, 3, xgb_model=base)
        assert more.num_boosted_rounds() == 6 and half.num_boosted_rounds() == 3
        np.testing.assert_allclose(more.predict(data), whole.predict(data), rtol=1e-4)


def test_the_same_rows_may_be_evaluated_twice(numbers: Any) -> None:
    train, valid = split(ours, numbers)
    found: dict[str, Any] = {}
    ours.train(
        {},
        train,
        3,
        evals=[(valid, "a"), (valid, "b"), (train, "c")],
        evals_result=found,
        verbose_eval=False,
    )
    assert found["a"] == found["b"] != found["c"]


def test_rounds_go_on_when_nothing_can_be_split(xgb: Any) -> None:
    data, found = xgb.DMatrix(np.zeros((20, 1)), label=np.ones(20)), {}
    xgb.train({}, data, 5, evals=[(data, "train")], evals_result=found, verbose_eval=False)
    assert len(found["train"]["rmse"]) == 5


def test_margins_of_some_data(few_values: Any) -> None:
    x, y = few_values
    plain = ours.DMatrix(x, y)
    with_margin = ours.DMatrix(x, y, base_margin=np.full(500, 7.0))
    found: dict[str, Any] = {}
    model = ours.train(
        {}, plain, 3, evals=[(with_margin, "m")], evals_result=found, verbose_eval=False
    )
    error = np.sqrt(np.mean((model.predict(with_margin) - y) ** 2))
    assert found["m"]["rmse"][-1] == pytest.approx(error, rel=1e-5)
    assert model.eval(with_margin).startswith(f"[0]\teval-rmse:{error:.3f}"[:-2])
    with pytest.raises(NotSupportedError, match="base_margin"):
        ours.train({}, with_margin, 3, evals=[(plain, "p")])
    wrong = ours.DMatrix(x, base_margin=np.zeros((500, 2)))
    with pytest.raises(DataError, match="base_margin does not fit"):
        model.predict(wrong)


def test_loss_of_classes(xgb: Any, few_values: Any) -> None:
    label = np.digitize(few_values.y, [10, 30])

    def softmax(score: Any, data: Any) -> Any:
        p = np.exp(score - score.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        truth = np.eye(3)[data.get_label().astype(int)]
        return p - truth, np.maximum(2 * p * (1 - p), 1e-6)

    def error(score: Any, data: Any) -> Any:
        return "wrong", (score.argmax(axis=1) != data.get_label()).mean()

    data, found = xgb.DMatrix(few_values.x, label), {}
    params = {"num_class": 3, "disable_default_eval_metric": True, "max_depth": 3}
    model = xgb.train(
        params,
        data,
        5,
        obj=softmax,
        custom_metric=error,
        evals=[(data, "train")],
        evals_result=found,
        verbose_eval=False,
    )
    assert list(found["train"]) == ["wrong"] and found["train"]["wrong"][-1] < 0.1
    classes = model.predict(data)
    assert classes.shape == (500,) and (classes != label).mean() < 0.1
    assert model.predict(data, output_margin=True).shape == (500, 3)
    again = xgb.Booster(model_file=model.save_raw())
    np.testing.assert_array_equal(again.predict(data), classes)


def test_what_cannot_be_used(numbers: Any) -> None:
    train, _ = split(ours, numbers)
    with pytest.raises(TypeError, match="not a DMatrix"):
        ours.train({}, numbers.x)
    with pytest.raises(TypeError, match="evals"):
        ours.train({}, train, evals=[train])
    with pytest.raises(TypeError, match="not a DMatrix"):
        ours.train({}, train, evals=[(numbers.x, "x")])
    with pytest.raises(DataError, match="no label"):
        ours.train({}, ours.DMatrix(numbers.x))
    with pytest.raises(NotSupportedError, match="binary:hinge"):
        ours.train({"objective": "binary:hinge"}, train, obj=lambda s, d: (s, s))
    with pytest.raises(DataError, match="metric function"):
        ours.train({}, train, evals=[(train, "t")], custom_metric=lambda p, d: 3)


def test_any_number_of_threads_gives_the_same_model(numbers: Any) -> None:
    models = [
        ours.train({"nthread": n, "subsample": 0.7}, split(ours, numbers)[0], 5).save_raw()
        for n in (1, 2, 3, 8)
    ]
    assert all(model == models[0] for model in models)


def test_sampling_and_dart(xgb: Any, numbers: Any) -> None:
    train, valid = split(xgb, numbers)
    params = {"subsample": 0.8, "colsample_bytree": 0.8, "seed": 3, "nthread": 1}
    for more in ({}, {"booster": "dart", "rate_drop": 0.2, "skip_drop": 0.3}):
        model = xgb.train(params | more, train, 30)
        error = np.sqrt(np.mean((model.predict(valid) - valid.get_label()) ** 2))
        assert error < 0.5 * np.std(valid.get_label())


def test_no_rounds(xgb: Any, numbers: Any) -> None:
    data = xgb.DMatrix(numbers.x, numbers.y > 0)
    for params, expected in (
        ({"nthread": 1}, 0.5),
        ({"nthread": 1, "base_score": 3.0}, 3.0),
        ({"nthread": 1, "objective": "binary:logistic"}, 1 / (1 + np.exp(-0.5))),
    ):
        model = xgb.train(params, data, 0)
        assert model.num_boosted_rounds() == 0 and model.num_features() == 5
        np.testing.assert_allclose(model.predict(data), expected, rtol=1e-6)
        assert xgb.train(params, data, 2, xgb_model=model).num_boosted_rounds() == 2
    estimator = xgb.XGBRegressor(n_estimators=0, n_jobs=1).fit(*numbers)
    np.testing.assert_allclose(estimator.predict(numbers.x), 0.5)


def test_starts_that_differ(xgb: Any, few_values: Any) -> None:
    x, y = few_values
    data = xgb.DMatrix(x, np.column_stack([y, -y]))
    model = xgb.train({"base_score": [10.0, -4.0], "eta": 1e-6, "nthread": 1}, data, 1)
    np.testing.assert_allclose(model.predict(data), [[10.0, -4.0]] * 500, atol=1e-3)
    data = xgb.DMatrix(x, np.digitize(y, [10, 30]))
    params = {"objective": "multi:softprob", "num_class": 3, "eta": 1e-6, "nthread": 1}
    for start in ([0.5, 2.0, 1.0], np.array([0.5, 2.0, 1.0])):
        model = xgb.train({**params, "base_score": start}, data, 1)
        margins = model.predict(data, output_margin=True)
        np.testing.assert_allclose(margins, [[0.5, 2.0, 1.0]] * 500, atol=1e-3)
    if xgb is ours:
        with pytest.raises(ParameterError, match="score to start from for each output"):
            xgb.train({**params, "base_score": [0.5, 2.0]}, data, 1)


def test_ranking_without_queries(xgb: Any, queries: Any) -> None:
    data, other = xgb.DMatrix(*queries), xgb.DMatrix(queries.x[:50], queries.y[:50])
    found: dict[str, Any] = {}
    model = xgb.train(
        {"objective": "rank:ndcg", "nthread": 1},
        data,
        5,
        evals=[(data, "train"), (other, "other")],
        evals_result=found,
        verbose_eval=False,
    )
    assert found["train"]["ndcg@32"][-1] > 0.9
    assert len(data.get_group()) == 0
    grouped = xgb.DMatrix(*queries, group=[400])
    one = xgb.train({"objective": "rank:ndcg", "nthread": 1}, grouped, 5)
    np.testing.assert_array_equal(one.predict(data), model.predict(data))
    last = float(model.eval(other).rpartition(":")[2])
    assert last == pytest.approx(found["other"]["ndcg@32"][-1])
