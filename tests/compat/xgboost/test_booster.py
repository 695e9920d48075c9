from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import gossamer as gs
import gossamer.compat.xgboost as ours
from gossamer.errors import DataError, ModelFileError, NotSupportedError, ParameterError


@pytest.fixture
def data(xgb: Any, few_values: Any) -> Any:
    return xgb.DMatrix(few_values.x, few_values.y)


@pytest.fixture
def model(xgb: Any, data: Any) -> Any:
    return xgb.train({"max_depth": 3, "nthread": 1}, data, 4)


def test_round_by_round(xgb: Any, data: Any, model: Any) -> None:
    booster = xgb.Booster({"max_depth": 3}, [data])
    for i in range(4):
        booster.update(data, i)
    np.testing.assert_allclose(booster.predict(data), model.predict(data), rtol=1e-5)
    assert booster.num_boosted_rounds() == 4 and booster.num_features() == 4


def test_gradients_by_hand(xgb: Any, data: Any) -> None:
    booster = xgb.Booster({"max_depth": 3, "base_score": 0.5}, [data])
    for i in range(3):
        score = booster.predict(data, output_margin=True) if i else np.full(500, 0.5)
        booster.boost(data, i, grad=score - data.get_label(), hess=np.ones(500))
    same = xgb.train({"max_depth": 3, "base_score": 0.5}, data, 3)
    np.testing.assert_allclose(booster.predict(data), same.predict(data), rtol=1e-4)


def test_lines_of_metrics(data: Any, model: Any) -> None:
    line = model.eval(data, "here", 7)
    assert line.startswith("[7]\there-rmse:")
    error = np.sqrt(np.mean((model.predict(data) - data.get_label()) ** 2))
    assert float(line.split(":")[1]) == pytest.approx(error, rel=1e-5)
    both = model.eval_set([(data, "a"), (data, "b")], 2, lambda p, d: ("n", len(p)))
    assert [part.split(":")[0] for part in both.split("\t")] == [
        "[2]",
        "a-rmse",
        "b-rmse",
        "a-n",
        "b-n",
    ]


def test_shapes(xgb: Any, data: Any, model: Any) -> None:
    assert model.predict(data).shape == (500,)
    assert model.predict(data, strict_shape=True).shape == (500, 1)
    leaves = model.predict(data, pred_leaf=True)
    assert leaves.shape == (500, 4) and len(np.unique(leaves[:, 0])) <= 8
    assert model.predict(data, pred_leaf=True, strict_shape=True).shape == (500, 4, 1, 1)
    assert model.predict(data, pred_leaf=True, iteration_range=(0, 2)).shape == (500, 2)
    label = np.digitize(data.get_label(), [10, 30])
    classes = xgb.DMatrix(data.get_data(), label)
    many = xgb.train({"objective": "multi:softprob", "num_class": 3}, classes, 2)
    assert many.predict(classes).shape == (500, 3)
    assert many.predict(classes, pred_leaf=True).shape == (500, 6)


def test_attributes(model: Any) -> None:
    model.set_attr(colour="blue", size=3)
    assert model.attr("colour") == "blue" and model.attr("shape") is None
    assert model.attributes() == {"colour": "blue", "size": "3"}
    model.set_attr(colour=None)
    assert model.attributes() == {"size": "3"}


def test_files_and_copies(xgb: Any, data: Any, model: Any, tmp_path: Any) -> None:
    model.set_attr(colour="blue")
    path = tmp_path / "model.json"
    model.save_model(path)
    loaded = xgb.Booster()
    loaded.load_model(path)
    expected = model.predict(data)
    for other in (
        loaded,
        xgb.Booster(model_file=path),
        xgb.Booster(model_file=model.save_raw()),
        model.copy(),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_allclose(other.predict(data), expected, rtol=1e-6)
        assert other.attributes() == {"colour": "blue"}
        assert other.num_boosted_rounds() == 4


def test_names(xgb: Any, few_values: Any) -> None:
    names = ["a", "b", "c", "d"]
    data = xgb.DMatrix(few_values.x, few_values.y, feature_names=names)
    model = xgb.train({"max_depth": 3}, data, 3)
    assert model.feature_names == names and set(model.get_fscore()) <= set(names)
    other = xgb.DMatrix(few_values.x, feature_names=["a", "b", "d", "c"])
    with pytest.raises(ValueError, match="feature"):
        model.predict(other)
    unchecked = model.predict(other, validate_features=False)
    np.testing.assert_array_equal(unchecked, model.predict(data))
    assert xgb.train({}, xgb.DMatrix(few_values.x, few_values.y), 1).feature_names is None


def test_predictions_in_place(few_values: Any, data: Any, model: Any) -> None:
    expected = model.predict(data)
    np.testing.assert_array_equal(model.inplace_predict(few_values.x), expected)
    part = model.inplace_predict(few_values.x, iteration_range=(0, 2), predict_type="margin")
    np.testing.assert_array_equal(part, model.predict(data, iteration_range=(0, 2)))
    filled = np.where(np.isnan(few_values.x), -1, few_values.x)
    np.testing.assert_array_equal(model.inplace_predict(filled, missing=-1), expected)


def test_rounds_are_iterated(data: Any, model: Any) -> None:
    assert [part.num_boosted_rounds() for part in model] == [1, 1, 1, 1]
    with pytest.raises(IndexError):
        model[9]


def test_categories(xgb: Any) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, 600)
    label = np.isin(codes, [1, 4, 7, 9]) * 10.0 + rng.normal(size=600)
    levels = [f"level {i}" for i in range(12)]
    frame = pandas.DataFrame(
        {"c": pandas.Categorical.from_codes(codes, levels), "n": rng.random(600)}
    )
    data = xgb.DMatrix(frame, label, enable_categorical=True)
    model = xgb.train({"max_depth": 2, "nthread": 1}, data, 20)
    assert np.abs(model.predict(data) - label).mean() < 1
    table = np.column_stack([codes, frame["n"]])
    by_code = xgb.DMatrix(table, label, feature_types=["c", "q"], enable_categorical=True)
    again = xgb.train({"max_depth": 2, "nthread": 1}, by_code, 20)
    np.testing.assert_allclose(again.predict(by_code), model.predict(data), rtol=1e-3)
    assert again.feature_types == ["c", "q"]


# ---- ours alone ----


def test_a_model_is_one_of_ours(few_values: Any, tmp_path: Any) -> None:
    data = ours.DMatrix(few_values.x, few_values.y)
    model = ours.train({"max_depth": 3}, data, 4)
    model.save_model(tmp_path / "model.safetensors")
    plain = gs.Booster(model_file=tmp_path / "model.safetensors")
    expected = plain.predict(few_values.x)
    np.testing.assert_array_equal(expected.astype(np.float32), model.predict(data))
    plain.save_model(tmp_path / "plain")
    again = ours.Booster(model_file=tmp_path / "plain")
    np.testing.assert_array_equal(again.predict(data), model.predict(data))


@pytest.mark.parametrize(
    ("content", "error", "text"),
    [
        (b'{"learner": {"attributes": {}}}', ModelFileError, "damaged XGBoost model"),
        (b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{", ModelFileError, "damaged XGBoost model"),
        (b"binf\x00\x00", NotSupportedError, "old binary format"),
        (b"nothing", ModelFileError, "cannot be read"),
        (b"", ModelFileError, "cannot be read"),
    ],
)
def test_other_files(tmp_path: Any, content: bytes, error: type[Exception], text: str) -> None:
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(error, match=text):
        ours.Booster(model_file=path)
    with pytest.raises(error, match=text):
        ours.Booster(model_file=bytearray(content))
    with pytest.raises(FileNotFoundError):
        ours.Booster(model_file=tmp_path / "nowhere")


def test_what_cannot_be_asked(few_values: Any) -> None:
    data = ours.DMatrix(few_values.x, few_values.y)
    model = ours.train({}, data, 3)
    with pytest.raises(TypeError, match="not a DMatrix"):
        model.predict(few_values.x)
    with pytest.raises(ParameterError, match="one of pred_leaf, pred_contribs"):
        model.predict(data, pred_contribs=True, pred_leaf=True)
    with pytest.raises(NotSupportedError, match="slice of the model"):
        model.predict(data, pred_contribs=True, iteration_range=(1, 2))
    with pytest.raises(ParameterError, match="models cannot be written as this"):
        model.save_raw("deprecated")
    for wrong in ((0, 4), (-1, 2), (2, 1), 3):
        with pytest.raises(ParameterError, match="iteration_range"):
            model.predict(data, iteration_range=wrong)
    with pytest.raises(ParameterError, match="importance_type"):
        model.get_score(importance_type="split")
    with pytest.raises(FileNotFoundError):
        model.get_score("names.txt")
    with pytest.raises(ParameterError, match="predict_type"):
        model.inplace_predict(few_values.x, predict_type="leaf")
    with pytest.raises(DataError, match="no model yet"):
        ours.Booster().predict(data)
    with pytest.raises(DataError, match="number of columns"):
        model.predict(ours.DMatrix(few_values.x[:, :2]))
    with pytest.raises(DataError, match="feature_names"):
        model.feature_names = ["a"]


def test_a_loss_comes_with_every_round_or_with_none(few_values: Any) -> None:
    data = ours.DMatrix(few_values.x, few_values.y)
    booster = ours.Booster({}, [data])
    booster.update(data, 0)
    with pytest.raises(NotSupportedError, match="from its first round on"):
        booster.update(data, 1, fobj=lambda s, d: (s - d.get_label(), np.ones_like(s)))


def test_other_data_goes_on_from_the_model(few_values: Any) -> None:
    first = ours.DMatrix(few_values.x[:250], few_values.y[:250])
    second = ours.DMatrix(few_values.x[250:], few_values.y[250:])
    booster = ours.Booster({"max_depth": 2}, [first])
    booster.update(first, 0)
    booster.update(second, 1)
    direct = ours.train(
        {"max_depth": 2}, second, 1, xgb_model=ours.train({"max_depth": 2}, first, 1)
    )
    np.testing.assert_array_equal(booster.predict(second), direct.predict(second))


def test_parameters_change_between_rounds(few_values: Any) -> None:
    data = ours.DMatrix(few_values.x, few_values.y)
    booster = ours.Booster({"max_depth": 1}, [data])
    booster.update(data, 0)
    booster.set_param({"max_depth": 4, "eval_metric": "mae"})
    booster.update(data, 1)
    leaves = booster.predict(data, pred_leaf=True)
    assert len(np.unique(leaves[:, 0])) == 2 and len(np.unique(leaves[:, 1])) > 4
    assert booster.eval(data).startswith("[0]\teval-mae:")
    booster.reset()
    assert booster.eval(data).startswith("[0]\teval-mae:")


def test_split_values(few_values: Any) -> None:
    model = ours.train({}, ours.DMatrix(few_values.x, few_values.y), 3)
    table = model.get_split_value_histogram("f0")
    counts = np.asarray(table)[:, 1].sum()
    assert counts == model.get_fscore()["f0"]


def test_zeros_of_sparse_rows_are_missing_for_models_of_either_kind(few_values: Any) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = np.where(few_values.x < 10, 0, np.nan_to_num(few_values.x))
    missing = np.where(x == 0, np.nan, x)
    of_sparse = ours.train({}, ours.DMatrix(sparse.csr_matrix(x), few_values.y), 4)
    of_dense = ours.train({}, ours.DMatrix(missing, few_values.y), 4)
    for model in (of_sparse, of_dense, pickle.loads(pickle.dumps(of_sparse))):
        expected = of_dense.predict(ours.DMatrix(missing))
        for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
            np.testing.assert_allclose(model.predict(ours.DMatrix(kind(x))), expected, rtol=1e-6)


def test_shapes_of_leaves(xgb: Any, few_values: Any) -> None:
    data = xgb.DMatrix(few_values.x, np.digitize(few_values.y, [10, 30]))
    classes = {"objective": "multi:softprob", "num_class": 3}
    for params, n_groups in (({}, 1), (classes, 3)):
        for n_parallel in (1, 2):
            every = {**params, "num_parallel_tree": n_parallel, "nthread": 1, "max_depth": 2}
            model = xgb.train(every, data, 4)
            plain = model.predict(data, pred_leaf=True)
            strict = model.predict(data, pred_leaf=True, strict_shape=True)
            assert strict.shape == (500, 4, n_groups, n_parallel)
            np.testing.assert_array_equal(strict.reshape(500, -1), plain)
    one = xgb.train({"nthread": 1}, data, 1)
    assert one.predict(data, pred_leaf=True).shape == (500,)


def test_slices(xgb: Any, few_values: Any) -> None:
    data = xgb.DMatrix(*few_values)
    model = xgb.train({"nthread": 1}, data, 6)
    assert [model[part].num_boosted_rounds() for part in (slice(2, 4), slice(0, 0))] == [2, 6]
    for wrong in (slice(0, 7), slice(6, 8), 6):
        with pytest.raises(IndexError):
            model[wrong]
    with pytest.raises(ValueError):
        model[1, 2]
    with pytest.raises(TypeError):
        model["a"]


def test_configurations(xgb: Any, few_values: Any) -> None:
    data = xgb.DMatrix(*few_values)
    params = {"max_depth": 3, "eta": 0.1, "eval_metric": "mae", "gamma": 0.5, "nthread": 1}
    model = xgb.train(params, data, 3)
    learner = json.loads(model.save_config())["learner"]
    trees = learner["gradient_booster"]
    assert trees["name"] == "gbtree" and trees["tree_train_param"]["max_depth"] == "3"
    assert float(trees["tree_train_param"]["learning_rate"]) == pytest.approx(0.1)
    assert float(trees["tree_train_param"]["min_split_loss"]) == 0.5
    assert learner["learner_train_param"]["objective"] == "reg:squarederror"
    assert learner["objective"]["name"] == "reg:squarederror"
    assert learner["metrics"] == [{"name": "mae"}]
    assert learner["learner_model_param"]["num_feature"] == "4"
    again = xgb.Booster({}, [data])
    again.load_config(model.save_config())
    for i in range(3):
        again.update(data, i)
    np.testing.assert_allclose(again.predict(data), model.predict(data), rtol=1e-6)
    assert "eval-mae" in again.eval(data)


def test_configurations_of_theirs(few_values: Any) -> None:
    theirs = pytest.importorskip("xgboost")
    params = {
        "objective": "multi:softprob",
        "num_class": 3,
        "max_depth": 3,
        "reg_lambda": 2.5,
        "monotone_constraints": (1, 0, 0, -1),
        "tree_method": "exact",
        "nthread": 1,
    }
    label = np.digitize(few_values.y, [10, 30])
    config = theirs.train(params, theirs.DMatrix(few_values.x, label), 1).save_config()
    data = ours.DMatrix(few_values.x, label)
    found = ours.Booster()
    found.load_config(config)
    found.update(data, 0)
    expected = ours.train(params, data, 1)
    np.testing.assert_allclose(found.predict(data), expected.predict(data), rtol=1e-6)
    with pytest.raises(ParameterError, match="configuration"):
        ours.Booster().load_config("[]")
