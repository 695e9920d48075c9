"""Small things that scripts written for XGBoost expect; the expectations are checked on XGBoost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost
from scipy import sparse

import gossamer.compat.xgboost as xgb
from gossamer.compat.xgboost import training

RNG = np.random.default_rng(4)
X = RNG.normal(size=(200, 3)).astype(np.float32)
Y = X[:, 0] + X[:, 1] ** 2
BOTH = pytest.mark.parametrize("library", [xgb, xgboost])


@BOTH
def test_a_learning_rate_of_zero_changes_nothing(library: Any) -> None:
    data = library.DMatrix(X, label=Y)
    model = library.train({"eta": 0, "base_score": 0.25}, data, 3)
    assert model.num_boosted_rounds() == 3
    np.testing.assert_allclose(model.predict(data), 0.25, atol=1e-6)


@BOTH
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sparse.csr_matrix])
@pytest.mark.parametrize("matrix", ["DMatrix", "QuantileDMatrix"])
def test_infinite_values_are_refused(library: Any, kind: Any, matrix: str) -> None:
    x = X.copy()
    x[5, 1] = np.inf
    with pytest.raises(ValueError, match="Input data contains `inf`"):
        getattr(library, matrix)(kind(x), Y)
    assert getattr(library, matrix)(kind(x), Y, missing=np.inf).num_row() == 200


@BOTH
def test_a_margin_that_does_not_fit_is_named(library: Any) -> None:
    data = library.DMatrix(X, label=Y, base_margin=X[:, :2])
    with pytest.raises(ValueError, match="base_margin"):
        library.train({}, data, 2)


@BOTH
def test_leaves_of_no_rows(library: Any) -> None:
    model = library.train({"num_class": 3, "num_parallel_tree": 2}, library.DMatrix(X, Y > 0), 4)
    empty = library.DMatrix(np.ones((0, 3)))
    assert model.predict(empty, pred_leaf=True).shape[0] == 0


@BOTH
def test_types_of_a_frames_columns(library: Any) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.0], "c": ["x", "y"], "d": [True, False]})
    frame = frame.astype({"c": "category"})
    data = library.DMatrix(frame, enable_categorical=True)
    assert data.feature_types == ["int", "float", "c", "i"]
    assert library.DMatrix(frame.to_numpy()[:, :2].astype(float)).feature_types is None


@BOTH
def test_categories_may_be_given_by_their_codes(library: Any) -> None:
    frame = pd.DataFrame({"c": pd.Categorical(np.array(["u", "v", "w"])[np.arange(60) % 3])})
    label = np.arange(60) % 3
    model = library.train({}, library.DMatrix(frame, label, enable_categorical=True), 4)
    expected = model.predict(library.DMatrix(frame, enable_categorical=True))
    codes = frame["c"].cat.codes.to_numpy().astype(float)
    np.testing.assert_array_equal(model.inplace_predict(codes), expected)
    np.testing.assert_array_equal(model.inplace_predict(codes.reshape(-1, 1)), expected)
    types = model.get_categories()
    again = library.DMatrix(frame[::-1], feature_types=types, enable_categorical=True)
    np.testing.assert_array_equal(model.predict(again), expected[::-1])


@BOTH
def test_a_quantile_as_a_metric_of_another_objective(library: Any) -> None:
    data, found = library.DMatrix(X, label=Y), {}
    params = {"eval_metric": "quantile", "quantile_alpha": 0.3}
    model = library.train(
        params, data, 3, evals=[(data, "t")], evals_result=found, verbose_eval=False
    )
    error = Y - model.predict(data)
    expected = np.mean(np.maximum(0.3 * error, (0.3 - 1) * error))
    assert found["t"]["quantile"][-1] == pytest.approx(expected, rel=1e-5)


@BOTH
def test_feature_weights_in_a_column(library: Any) -> None:
    weights = np.array([[1.0], [0.0], [0.0]])
    data = library.DMatrix(X, label=Y, feature_weights=weights)
    model = library.train({"colsample_bytree": 0.3}, data, 5)
    assert set(model.get_score()) <= {"f0"}


@BOTH
def test_one_base_score_for_all_classes(library: Any) -> None:
    labels = np.digitize(Y, [0.0, 1.0])
    model = library.XGBClassifier(n_estimators=2, base_score=np.array([0.5], dtype=np.float32))
    assert model.fit(X, labels).predict_proba(X).shape == (200, 3)


class _Batches(xgb.DataIter):
    def __init__(self) -> None:
        super().__init__()
        self.is_done = False

    def next(self, input_data: Any) -> bool:
        if self.is_done:
            return False
        with pytest.raises(TypeError, match="Keyword argument"):
            input_data(X, Y)
        input_data(data=X, label=Y)
        self.is_done = True
        return True

    def reset(self) -> None:
        self.is_done = False


def test_batches_are_given_by_name() -> None:
    assert xgb.DMatrix(_Batches()).num_row() == 200


def test_cv_is_in_the_module_of_train_too() -> None:
    assert training.cv is xgb.cv


@BOTH
def test_a_ranker_scores_with_a_function(library: Any) -> None:
    def spread(y_true: Any, y_pred: Any, **kwargs: Any) -> float:
        return float(np.mean(np.abs(y_true - y_pred)))

    frame = pd.DataFrame(X, columns=list("abc")).assign(qid=np.arange(200) // 20)
    label = (Y > 0).astype(int)
    ranker = library.XGBRanker(
        n_estimators=3, eval_metric=spread, disable_default_eval_metric=True, tree_method="hist"
    )
    ranker.fit(frame, label, eval_set=[(frame, label)], verbose=False)
    last = ranker.evals_result()["validation_0"]["spread"][-1]
    assert ranker.score(frame, label) == pytest.approx(last, rel=1e-5)


@BOTH
@pytest.mark.parametrize("objective", ["binary:logistic", "count:poisson"])
def test_cv_with_a_loss_and_a_metric_next_to_the_usual_ones(library: Any, objective: str) -> None:
    def loss(score: Any, data: Any) -> Any:
        p = 1 / (1 + np.exp(-score))
        return p - data.get_label(), np.maximum(p * (1 - p), 1e-6)

    def largest(score: Any, data: Any) -> Any:
        return "largest", float(np.max(np.abs(score)))

    label = (Y > 0).astype(float)
    data = library.DMatrix(X, label)
    params = {"objective": objective, "max_depth": 2, "base_score": 0.5}
    found = library.cv(
        params, data, 4, nfold=2, obj=loss, custom_metric=largest, as_pandas=False, seed=1
    )
    rows = [library.train(params, data, n, obj=loss) for n in (1, 4)]
    high, low = (np.abs(m.predict(data, output_margin=True)).max() for m in rows[::-1])
    assert found["test-largest-mean"][-1] == pytest.approx(high, rel=0.3)
    assert found["test-largest-mean"][0] == pytest.approx(low, rel=0.3)


@BOTH
def test_files_that_are_not_there(library: Any) -> None:
    with pytest.raises(library.core.XGBoostError):
        library.Booster(model_file="no such file.json")
    with pytest.raises(ValueError):
        library.train({}, library.DMatrix(X, Y), 1).get_dump(fmap="no such file")


@BOTH
def test_the_log_as_an_annotation(library: Any) -> None:
    class Callback(library.callback.TrainingCallback):
        def after_iteration(
            self, model: Any, epoch: int, evals_log: library.callback.TrainingCallback.EvalsLog
        ) -> bool:
            return epoch == 1

    model = library.train({}, library.DMatrix(X, Y), 5, callbacks=[Callback()])
    assert model.num_boosted_rounds() == 2


@BOTH
def test_settings_that_are_none_stay(library: Any) -> None:
    with library.config_context(verbosity=3), library.config_context(verbosity=None):
        assert library.get_config()["verbosity"] == 3


@BOTH
def test_trees_of_sparse_rows_as_a_frame(library: Any) -> None:
    data = library.DMatrix(sparse.csr_matrix(np.where(X > 0.5, X, 0)), label=Y)
    model = library.train({"max_depth": 2}, data, 2)
    frame = model.trees_to_dataframe()
    assert (frame["Feature"] == "Leaf").sum() >= 4
    assert len(model.get_split_value_histogram(frame["Feature"][0])) > 0


@BOTH
def test_a_reference_has_the_same_columns(library: Any) -> None:
    data = library.QuantileDMatrix(X, Y)
    with pytest.raises(ValueError, match="features"):
        library.QuantileDMatrix(X[:, :2], Y, ref=data)


@BOTH
def test_margins_in_any_shape(library: Any) -> None:
    data = library.DMatrix(X, label=Y)
    margin = RNG.normal(size=(200, 2)).astype(np.float32)
    data.set_info(base_margin=margin.T)
    np.testing.assert_array_equal(data.get_base_margin().reshape(2, 200), margin.T)
    data.set_base_margin(Y.reshape(1, 200))
    np.testing.assert_array_equal(data.get_base_margin().ravel(), Y)
    with pytest.raises(ValueError, match="base_margin"):
        data.set_base_margin(margin.reshape(2, 10, 2, 10))


@BOTH
def test_no_feature_weights(library: Any) -> None:
    data = library.DMatrix(X, label=Y, feature_weights=[1.0, 2.0, 3.0])
    data.set_info(feature_weights=np.empty(0))
    assert library.train({"colsample_bytree": 0.5}, data, 2).num_boosted_rounds() == 2
