"""What ordinary scripts of LightGBM's users do, under `import gossamer as lgb`."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import gossamer as lgb

PARAMS: dict[str, Any] = {"verbose": -1, "num_leaves": 7, "min_data_in_leaf": 5}
RNG = np.random.default_rng(7)
TABLE = RNG.normal(size=(300, 3))
LABEL = TABLE[:, 0] - 2 * (TABLE[:, 1] > 0) + 0.1 * RNG.normal(size=300)
FRAME = pd.DataFrame(TABLE, columns=["x", "y", "z"])


class TestNamesOfTheDataSet:
    """`Dataset(frame, feature_name=...)`: the frame keeps its own names."""

    NAMES = ("p", "q", "r")

    def _train(self, frame: Any = FRAME, **options: Any) -> lgb.Booster:
        data = lgb.Dataset(frame, LABEL, feature_name=list(self.NAMES))
        return lgb.train(PARAMS, data, 5, **options)

    def test_the_frame_of_the_training_is_predicted(self) -> None:
        model = self._train()
        expected = model.predict(TABLE)
        assert model.feature_name() == list(self.NAMES)
        np.testing.assert_array_equal(model.predict(FRAME), expected)
        np.testing.assert_array_equal(model.predict(FRAME[["z", "x", "y"]]), expected)
        renamed = FRAME.set_axis(list(self.NAMES), axis=1)
        np.testing.assert_array_equal(model.predict(renamed[["r", "q", "p"]]), expected)
        with pytest.raises(lgb.DataError, match="differ from the training data"):
            model.predict(FRAME.rename(columns={"x": "other"}))

    def test_a_saved_model_knows_them(self) -> None:
        model = self._train()
        again = lgb.Booster(model_str=model.model_to_string())
        np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))

    def test_categories(self) -> None:
        frame = FRAME.assign(z=pd.Categorical(np.where(TABLE[:, 2] > 0, "a", "b")))
        model = self._train(frame)
        turned = frame[["z", "y", "x"]]
        np.testing.assert_array_equal(model.predict(turned), model.predict(frame))
        assert len(np.unique(model.predict(frame))) > 2

    def test_validation_sets(self) -> None:
        data = lgb.Dataset(FRAME, LABEL, feature_name=list(self.NAMES))
        same, turned = (data.create_valid(f, LABEL) for f in (FRAME, FRAME[["z", "y", "x"]]))
        found: dict[str, Any] = {}
        lgb.train(
            PARAMS,
            data,
            5,
            valid_sets=[data, same, turned],
            valid_names=["train", "same", "turned"],
            callbacks=[lgb.record_evaluation(found)],
        )
        assert found["same"] == found["turned"]
        np.testing.assert_allclose(found["same"]["l2"], found["train"]["l2"])

    def test_refit_and_continued_training(self) -> None:
        model = self._train()
        moved = model.refit(FRAME, LABEL + 1, decay_rate=0.0)
        assert moved.predict(FRAME).mean() == pytest.approx(LABEL.mean() + 1, abs=0.1)
        longer = self._train(init_model=model)
        assert longer.num_trees() == 10
        np.testing.assert_array_equal(longer.predict(FRAME), longer.predict(TABLE))

    def test_estimators(self) -> None:
        model = lgb.LGBMRegressor(n_estimators=5).fit(FRAME, LABEL, feature_name=list(self.NAMES))
        np.testing.assert_array_equal(model.predict(FRAME), model.booster_.predict(TABLE))


class TestValidateFeatures:
    """One meaning of `validate_features` everywhere."""

    def test_boosters(self) -> None:
        model = lgb.train(PARAMS, lgb.Dataset(FRAME, LABEL), 5)
        expected = model.predict(TABLE)
        other = FRAME.rename(columns={"z": "other"})
        np.testing.assert_array_equal(model.predict(other, validate_features=False), expected)
        np.testing.assert_array_equal(model.predict(FRAME, validate_features=True), expected)
        with pytest.raises(lgb.DataError, match="Expected 'z' at position 2 but found 'other'"):
            model.predict(other, validate_features=True)
        with pytest.raises(lgb.DataError, match="Expected 'x' at position 0 but found 'z'"):
            model.predict(FRAME[["z", "y", "x"]], validate_features=True)
        model.refit(other, LABEL, validate_features=False)
        with pytest.raises(lgb.DataError, match="other"):
            model.refit(other, LABEL, validate_features=True)

    def test_estimators(self) -> None:
        model = lgb.LGBMRegressor(n_estimators=5).fit(FRAME, LABEL)
        other = FRAME.rename(columns={"z": "other"})
        found = model.predict(other, validate_features=False)
        np.testing.assert_array_equal(found, model.predict(FRAME))
        with pytest.raises(ValueError, match="other"):
            model.predict(other)


def test_alpha_does_not_change_other_objectives() -> None:
    """One dict of parameters serves several objectives."""
    plain = lgb.train(PARAMS, lgb.Dataset(TABLE, LABEL), 5).predict(TABLE)
    found = lgb.train({**PARAMS, "alpha": 0.9}, lgb.Dataset(TABLE, LABEL), 5).predict(TABLE)
    np.testing.assert_array_equal(found, plain)


def test_the_label_in_a_file_without_header_is_no_feature(tmp_path: Path) -> None:
    """As in LightGBM it is the first column, where the file has one more than the model."""
    path = tmp_path / "rows.tsv"
    np.savetxt(path, np.column_stack([LABEL, TABLE]), delimiter="\t", fmt="%.17g")
    model = lgb.train(PARAMS, lgb.Dataset(TABLE, LABEL), 5)
    np.testing.assert_array_equal(model.predict(str(path)), model.predict(TABLE))


class TestParametersWithoutEffect:
    """What does nothing in Python, or on one machine, stops no script."""

    @pytest.mark.parametrize(
        "more",
        [
            {"gpu_use_dp": True, "gpu_platform_id": 0, "gpu_device_id": 0, "num_gpu": 2},
            {"data": "train.txt", "valid": "valid.txt", "config": "train.conf"},
            {"input_model": "old.txt", "output_model": "new.txt", "output_result": "out.txt"},
            {"machine_list_file": "machines.txt", "num_machines": 1, "local_listen_port": 12345},
            {"machines": "10.0.0.1:12400", "time_out": 5, "top_k": 10, "pre_partition": True},
        ],
    )
    def test_they_are_accepted(self, more: dict[str, Any]) -> None:
        plain = lgb.train(PARAMS, lgb.Dataset(TABLE, LABEL), 3).predict(TABLE)
        params = {**PARAMS, **more}
        data = lgb.Dataset(TABLE, LABEL, params=params)
        np.testing.assert_array_equal(lgb.train(params, data, 3).predict(TABLE), plain)

    def test_a_column_of_the_label_beside_an_array(self) -> None:
        with pytest.warns(UserWarning, match="label, which has no effect"):
            model = lgb.train({**PARAMS, "label_column": 0}, lgb.Dataset(TABLE, LABEL), 3)
        assert model.num_feature() == 3


class TestTwoClasses:
    """Labels -1 and 1 are two classes."""

    SIGN = np.where(LABEL > 0, 1, -1)

    @pytest.mark.parametrize("objective", ["binary", "focal", "hinge"])
    def test_the_model_is_that_of_zero_and_one(self, objective: str) -> None:
        params = {**PARAMS, "objective": objective, "metric": ["binary_logloss", "auc"]}
        found: list[Any] = []
        for label in (self.SIGN, self.SIGN > 0):
            data, history = lgb.Dataset(TABLE, label), dict[str, Any]()
            valid = data.create_valid(TABLE, label)
            record = lgb.record_evaluation(history)
            model = lgb.train(params, data, 5, valid_sets=[valid], callbacks=[record])
            found.append((model.predict(TABLE), history))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        assert found[0][1] == found[1][1]

    def test_classes_are_weighted(self) -> None:
        params = {
            **PARAMS,
            "objective": "binary",
            "is_unbalance": True,
            "pos_bagging_fraction": 0.5,
        }
        found = [
            lgb.train(params, lgb.Dataset(TABLE, label), 5).predict(TABLE)
            for label in (self.SIGN, self.SIGN > 0)
        ]
        np.testing.assert_array_equal(*found)

    def test_refit(self) -> None:
        model = lgb.train({**PARAMS, "objective": "binary"}, lgb.Dataset(TABLE, self.SIGN), 5)
        found = [model.refit(TABLE, y).predict(TABLE) for y in (self.SIGN, self.SIGN > 0)]
        np.testing.assert_array_equal(*found)

    def test_three_values_are_refused(self) -> None:
        label = self.SIGN.copy()
        label[:10] = 0
        with pytest.raises(lgb.DataError, match=r"got 0\.0, expected -1 or 1"):
            lgb.train({**PARAMS, "objective": "binary"}, lgb.Dataset(TABLE, label), 1)


class TestEstimators:
    """Arguments of estimators."""

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_a_classifier_with_an_objective_function_stops_early(self, n_classes: int) -> None:
        label = np.digitize(LABEL, [-1.0, 0.0][: n_classes - 1])

        def squared_error(y_true: Any, y_pred: Any) -> Any:
            wanted = y_true if n_classes == 2 else np.eye(3)[y_true.astype(int)]
            return y_pred - wanted, np.ones_like(y_pred)

        model = lgb.LGBMClassifier(objective=squared_error, n_estimators=5)
        stop = lgb.early_stopping(3, verbose=False)
        model.fit(TABLE, label, eval_set=[(TABLE[:100], label[:100])], callbacks=[stop])
        metric = "binary_logloss" if n_classes == 2 else "multi_logloss"
        assert list(model.evals_result_["valid_0"]) == [metric]

    def test_sparse_frames_that_leave_out_missing_values(self) -> None:
        frame = pd.DataFrame(np.where(TABLE > 0, TABLE, np.nan), columns=list("xyz"))
        sparse = frame.astype(pd.SparseDtype("float64", np.nan))
        found = lgb.LGBMRegressor(n_estimators=5).fit(sparse, LABEL).predict(sparse)
        expected = lgb.LGBMRegressor(n_estimators=5).fit(frame, LABEL).predict(frame)
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize(
        ("metric", "eval_metric", "expected"),
        [
            (None, ["l1", None], ["l1", "l2"]),
            (None, [None], ["l2"]),
            (None, "", ["l2"]),
            ([], None, ["l2"]),
            (["l1", None], [], ["l1"]),
            ("None", None, []),
        ],
    )
    def test_metrics_that_name_nothing(
        self, metric: Any, eval_metric: Any, expected: list[str]
    ) -> None:
        model = lgb.LGBMRegressor(n_estimators=2, metric=metric)
        model.fit(TABLE, LABEL, eval_set=[(TABLE, LABEL)], eval_metric=eval_metric)
        assert list(model.evals_result_.get("training", {})) == expected

    def test_the_number_of_classes_as_text(self) -> None:
        label = np.digitize(LABEL, [-1.0, 0.0])
        model = lgb.LGBMClassifier(num_class="3", n_estimators=2).fit(TABLE, label)
        assert model.predict_proba(TABLE).shape == (300, 3)


@pytest.mark.parametrize("metric", [[], "", ["None"], ["l1", None]])
def test_metrics_of_train(metric: Any) -> None:
    history: dict[str, Any] = {}
    data = lgb.Dataset(TABLE, LABEL)
    params, record = {**PARAMS, "metric": metric}, lgb.record_evaluation(history)
    model = lgb.train(params, data, 2, valid_sets=[data], callbacks=[record])
    expected = {"": ["l2"], "[]": ["l2"], "['None']": [], "['l1', None]": ["l1"]}[str(metric)]
    assert list(history.get("training", {})) == expected
    # What a file keeps means the same.
    again = lgb.Booster(model_str=model.model_to_string())
    assert again.resolved_params.metric == model.resolved_params.metric


@pytest.mark.parametrize("start", [-3, 0, 2, 5, 7])
def test_rounds_that_the_model_does_not_have(start: int) -> None:
    """As in LightGBM: below 0 is from the first, beyond the last nothing is left."""
    model = lgb.train(PARAMS, lgb.Dataset(TABLE, LABEL), 5)
    leaves = model.predict(TABLE, start_iteration=start, pred_leaf=True)
    assert leaves.shape == (300, 5 - min(max(start, 0), 5))
    scores = model.predict(TABLE, start_iteration=start)
    if start <= 0:
        np.testing.assert_array_equal(scores, model.predict(TABLE))
    elif start >= 5:
        np.testing.assert_array_equal(scores, np.zeros(300))
    contributions = model.predict(TABLE, start_iteration=start, pred_contrib=True)
    np.testing.assert_allclose(contributions.sum(axis=1), scores, atol=1e-12)
    for _ in range(2):  # the second time from a predictor of single rows
        np.testing.assert_array_equal(model.predict(TABLE[:1], start_iteration=start), scores[:1])


@pytest.mark.parametrize("rounds", [0, -1])
def test_early_stopping_that_is_off(rounds: int, capsys: pytest.CaptureFixture[str]) -> None:
    data = lgb.Dataset(TABLE, LABEL)
    valid = data.create_valid(TABLE[:50], -LABEL[:50])
    stop = lgb.early_stopping(rounds)
    model = lgb.train(PARAMS, data, 8, valid_sets=[valid], callbacks=[stop])
    assert model.num_trees() == 8 and model.best_iteration <= 0
    assert lgb.train(PARAMS, lgb.Dataset(TABLE, LABEL), 8, callbacks=[stop]).num_trees() == 8
    assert not capsys.readouterr().out


def test_a_subset_that_takes_queries_apart() -> None:
    data = lgb.Dataset(TABLE, np.arange(300) % 3, group=[100, 100, 100]).construct()
    with pytest.warns(UserWarning, match="take 2 queries apart, the first of which is query 0"):
        part = data.subset(range(60, 180)).construct()
    np.testing.assert_array_equal(part.get_group(), [40, 80])
    assert lgb.train({**PARAMS, "objective": "lambdarank"}, part, 3).num_trees() == 3


def test_a_forced_split_without_rows_is_left_out() -> None:
    low = {"feature": 2, "threshold": 0.5}
    forced = {
        "feature": 1,
        "threshold": 0.0,
        "left": {"feature": 0, "threshold": 1e6},
        "right": low,
    }
    with pytest.warns(UserWarning, match="no row of feature 0 is above 1000000.0"):
        found = lgb.train({**PARAMS, "forced_splits": forced}, lgb.Dataset(TABLE, LABEL), 2)
    del forced["left"]
    expected = lgb.train({**PARAMS, "forced_splits": forced}, lgb.Dataset(TABLE, LABEL), 2)
    np.testing.assert_array_equal(found.predict(TABLE), expected.predict(TABLE))
    assert found.trees_to_dataframe()["split_feature"][0] == "Column_1"


class TestFacts:
    """What data sets, models and estimators say about themselves."""

    def test_integers_are_of_32_bits(self) -> None:
        position = np.arange(300) % 5
        data = lgb.Dataset(TABLE, LABEL, group=[100, 200], position=position).construct()
        by_id = lgb.Dataset(TABLE, LABEL).set_query([0] * 100 + [1] * 200).construct()
        found = [data.group, data.get_group(), data.get_field("group"), by_id.get_group()]
        found += [data.position, data.get_position(), data.get_field("position")]
        found += [data.subset(range(100)).construct().get_group()]
        assert {values.dtype for values in found} == {np.dtype(np.int32)}
        np.testing.assert_array_equal(data.get_field("group"), [0, 100, 300])

    def test_attributes_are_what_getters_say(self) -> None:
        score = RNG.normal(size=(300, 3))
        data = lgb.Dataset(FRAME, LABEL, init_score=score, weight=np.arange(300)).construct()
        assert data.feature_name == data.get_feature_name() == ["x", "y", "z"]
        assert lgb.Dataset(TABLE).construct().feature_name == [f"Column_{i}" for i in range(3)]
        np.testing.assert_array_equal(data.init_score, score)
        np.testing.assert_array_equal(data.get_init_score(), score)
        np.testing.assert_array_equal(data.subset([3, 7]).construct().init_score, score[[3, 7]])
        assert data.weight is data.get_weight() and data.weight.dtype == np.float32
        flat = lgb.Dataset(TABLE, LABEL, init_score=score.ravel(order="F")).construct()
        np.testing.assert_array_equal(flat.init_score, score)

    @pytest.mark.parametrize("kind", [csr_matrix, csc_matrix, np.asarray, pd.DataFrame])
    def test_a_subset_has_data_of_the_same_kind(self, kind: Any) -> None:
        data = lgb.Dataset(kind(TABLE), LABEL, free_raw_data=False)
        found = data.subset([1, 5]).construct().get_data()
        assert type(found) is type(kind(TABLE)) and found.shape == (2, 3)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_contributions_of_compressed_columns(self, n_classes: int) -> None:
        label = np.digitize(LABEL, [-1.0, 0.0][: n_classes - 1])
        model = lgb.LGBMClassifier(n_estimators=2).fit(TABLE, label).booster_
        expected = model.predict(TABLE, pred_contrib=True)
        for kind in (csr_matrix, csc_matrix):
            found = model.predict(kind(TABLE), pred_contrib=True)
            parts = found if isinstance(found, list) else [found]
            assert {type(part) for part in parts} == {kind}
            joined = np.hstack([part.toarray() for part in parts])
            np.testing.assert_allclose(joined, expected, atol=1e-12)

    def test_other_parameters_are_attributes(self) -> None:
        model = lgb.LGBMRegressor(max_bin=15).set_params(extra_trees=True)
        assert (model.max_bin, model.extra_trees) == (15, True)
        assert clone(model).max_bin == copy.deepcopy(model).max_bin == 15
        with pytest.raises(AttributeError, match="no attribute 'min_bin'"):
            _ = model.min_bin

    def test_attributes_of_unfitted_estimators(self) -> None:
        names = ["feature_names_in_", "n_features_in_", "classes_", "n_classes_"]
        for name in [*names, "booster_", "feature_name_", "n_iter_"]:
            with pytest.raises(NotFittedError):
                getattr(lgb.LGBMClassifier(), name)
            assert not hasattr(lgb.LGBMClassifier(), name)
        fitted = lgb.LGBMClassifier(n_estimators=1).fit(TABLE, LABEL > 0)
        with pytest.raises(AttributeError, match="feature_names_in_") as caught:
            _ = fitted.feature_names_in_
        assert not isinstance(caught.value, NotFittedError)

    def test_parameters_that_are_set_after_fit_reach_predict(self) -> None:
        params = {"pred_early_stop": True, "pred_early_stop_margin": 0.5, "pred_early_stop_freq": 1}
        model = lgb.LGBMClassifier(n_estimators=20).fit(TABLE, LABEL > 0)
        plain = model.predict(TABLE, raw_score=True)
        expected = model.predict(TABLE, raw_score=True, **params)
        assert not np.array_equal(plain, expected)
        model.set_params(**params)
        np.testing.assert_array_equal(model.predict(TABLE, raw_score=True), expected)
        found = model.predict(TABLE, raw_score=True, pred_early_stop=False)
        np.testing.assert_array_equal(found, plain)


class TestNoSplit:
    """A training in which nothing can be split has one round of constant trees."""

    @pytest.mark.filterwarnings("ignore:no split is possible")
    @pytest.mark.parametrize("boosting", ["gbdt", "dart"])
    @pytest.mark.parametrize("n_classes", [1, 3])
    def test_it_counts(self, boosting: str, n_classes: int) -> None:
        params = {**PARAMS, "min_data_in_leaf": 200, "boosting": boosting}
        label = LABEL
        if n_classes > 1:
            params |= {"objective": "multiclass", "num_class": n_classes}
            label = np.digitize(LABEL, [-1.0, 0.0])
        model = lgb.train(params, lgb.Dataset(TABLE, label), 10)
        assert (model.current_iteration(), model.num_trees()) == (1, n_classes)
        shares = np.bincount(label) / 300 if n_classes > 1 else label.mean()
        np.testing.assert_allclose(model.predict(TABLE[:1])[0], shares)
        trees = model.dump_model()["tree_info"]
        assert [tree["num_leaves"] for tree in trees] == [1] * n_classes
        assert trees[0]["tree_structure"]["leaf_count"] == 300
        again = lgb.Booster(model_str=model.model_to_string())
        np.testing.assert_array_equal(again.predict(TABLE), model.predict(TABLE))

    def test_further_rounds_add_nothing(self) -> None:
        booster = lgb.Booster({**PARAMS, "min_data_in_leaf": 200}, lgb.Dataset(TABLE, LABEL))
        assert [booster.update() for _ in range(3)] == [True] * 3
        assert booster.current_iteration() == 1
        assert booster.rollback_one_iter().current_iteration() == 0

    @pytest.mark.filterwarnings("ignore:no split is possible")
    def test_as_a_table(self) -> None:
        model = lgb.train(PARAMS, lgb.Dataset(np.ones((50, 2)), LABEL[:50]), 10)
        (line,) = model.trees_to_dataframe().to_dict("records")
        assert line["value"] == pytest.approx(LABEL[:50].mean(), rel=1e-6)
        shown = {"tree_index": 0, "node_depth": 1, "node_index": "0-L0", "value": line["value"]}
        assert {name: value for name, value in line.items() if value is not None} == shown


@pytest.mark.parametrize(
    "call",
    [
        lambda: lgb.train(PARAMS, TABLE),
        lambda: lgb.train(PARAMS, lgb.Dataset(TABLE, LABEL), 1, valid_sets=[TABLE]),
        lambda: lgb.cv(PARAMS, TABLE),
        lambda: lgb.Booster(PARAMS),
        lambda: lgb.Booster(PARAMS, TABLE),
        lambda: lgb.train(PARAMS, lgb.Dataset(TABLE, LABEL), 1).predict(lgb.Dataset(TABLE)),
        lambda: lgb.train([1], lgb.Dataset(TABLE, LABEL)),
        lambda: lgb.Dataset(5, LABEL).construct(),
        lambda: lgb.Dataset(TABLE, "label").construct(),
        lambda: lgb.early_stopping("5"),
        lambda: lgb.record_evaluation([]),
        lambda: lgb.plot_importance([]),
        lambda: lgb.plot_metric([]),
        lambda: lgb.register_logger(object()),
    ],
)
def test_wrong_types_are_type_errors(call: Any) -> None:
    """They are errors of ours as well."""
    with pytest.raises(TypeError) as caught:
        call()
    assert isinstance(caught.value, lgb.GossamerError)


class TestParameters:
    """What `params` of a model says."""

    def test_those_of_the_data_set_are_among_them(self) -> None:
        data = lgb.Dataset(TABLE, LABEL, params={"max_bins": 20, "min_data_in_bin": 5})
        model = lgb.train({**PARAMS, "min_data_in_bin": 5}, data, 1)
        assert model.params == {**PARAMS, "max_bin": 20, "min_data_in_bin": 5}

    def test_those_of_a_file_win(self) -> None:
        text = lgb.train({**PARAMS, "learning_rate": 0.3}, lgb.Dataset(TABLE, LABEL), 1)
        saved = text.model_to_string()
        with pytest.warns(
            UserWarning, match=r"saved model are used, not these: \['learning_rate'\]"
        ):
            model = lgb.Booster(model_str=saved, params={"eta": 0.5, "num_threads": 1})
        assert model.params["learning_rate"] == 0.3
        assert "eta" not in model.params and model.params["num_threads"] == 1
        same = lgb.Booster(model_str=saved, params={"eta": 0.3})
        assert same.params["learning_rate"] == 0.3
