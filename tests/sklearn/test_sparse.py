"""Estimators and sparse matrices: nothing is different but the memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from gossamer import GossamerClassifier, GossamerModel, GossamerRegressor
from gossamer.errors import DataError
from gossamer.sklearn.inputs import check_rows, check_training

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
pytestmark = pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")

RNG = np.random.default_rng(0)
TABLE = RNG.integers(1, 6, (300, 12)) * (RNG.random((300, 12)) < 0.3).astype(np.float64)
TABLE[::17, 3] = np.nan
NUMBERS = np.nan_to_num(TABLE) @ RNG.normal(size=12)
CLASSES = np.array(["low", "middle", "high"])[np.digitize(NUMBERS, [-1, 1])]


def make(form: str, kind: str = "array") -> Any:
    return getattr(sparse, f"{form}_{kind}")(TABLE)


@pytest.fixture(scope="module")
def regressor() -> GossamerRegressor:
    """Fitted on the dense array."""
    return GossamerRegressor(n_estimators=10, min_child_samples=5).fit(TABLE, NUMBERS)


@pytest.fixture(scope="module")
def classifier() -> GossamerClassifier:
    """Fitted on the dense array."""
    return GossamerClassifier(n_estimators=10, min_child_samples=5).fit(TABLE, CLASSES)


class TestPredict:
    """Models of dense arrays predict sparse rows."""

    @pytest.mark.parametrize("kind", ["matrix", "array"])
    @pytest.mark.parametrize("form", FORMATS)
    def test_formats(self, regressor: Any, classifier: Any, form: str, kind: str) -> None:
        rows = make(form, kind)
        np.testing.assert_array_equal(regressor.predict(rows), regressor.predict(TABLE))
        assert regressor.score(rows, NUMBERS) == regressor.score(TABLE, NUMBERS)
        for method in ("predict", "predict_proba", "decision_function"):
            ask = getattr(classifier, method)
            np.testing.assert_array_equal(ask(rows), ask(TABLE))
        assert classifier.score(rows, CLASSES) == classifier.score(TABLE, CLASSES)

    def test_other_numbers_of_columns(self, regressor: Any) -> None:
        with pytest.raises(ValueError, match="11 features, but GossamerRegressor is expecting 12"):
            regressor.predict(make("csr")[:, :11])

    def test_leaves(self, classifier: Any) -> None:
        np.testing.assert_array_equal(
            classifier.predict(make("csc"), pred_leaf=True),
            classifier.predict(TABLE, pred_leaf=True),
        )


class TestInputs:
    """What reaches the booster."""

    @pytest.mark.parametrize("form", ["csr", "csc"])
    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_compressed_matrices_are_passed_on(self, form: str, index: Any) -> None:
        x = make(form)
        x.indices, x.indptr = x.indices.astype(index), x.indptr.astype(index)
        estimator = GossamerRegressor()
        values, _ = check_training(estimator, x, NUMBERS, y_numeric=True)
        assert values is x
        assert check_rows(estimator, x) is x
        assert estimator.n_features_in_ == 12

    @pytest.mark.parametrize("form", ["coo", "bsr", "lil"])
    def test_damaged_matrices(self, regressor: Any, form: str) -> None:
        x = make(form)
        if form == "coo":
            x.row[3] = 10**6
        elif form == "bsr":
            x.indices[3] = 10**6
        else:
            x.data[3] = [1.0] * 1000
        with pytest.raises(DataError, match="sparse matrix"):
            regressor.predict(x)
        with pytest.raises(DataError, match="sparse matrix"):
            GossamerRegressor().fit(x, NUMBERS)

    @pytest.mark.parametrize("form", ["csr", "csc"])
    def test_damaged_indices(self, regressor: Any, form: str) -> None:
        x = make(form)
        x.indices[3] = -7
        with pytest.raises(DataError, match="outside its shape: got -7"):
            regressor.predict(x)
        with pytest.raises(DataError, match="outside its shape: got -7"):
            GossamerRegressor().fit(x, NUMBERS)

    @pytest.mark.parametrize(
        ("x", "what"),
        [
            (sparse.coo_array(np.arange(300)), "2D|dimension"),
            (sparse.csr_array((300, 2), dtype=complex), "omplex"),
            (sparse.csr_array((0, 2)), "0 sample"),
            (sparse.csr_array((300, 0)), "0 feature"),
            (sparse.csr_array((299, 2)), "inconsistent"),
        ],
    )
    def test_bad_matrices(self, x: Any, what: str) -> None:
        with pytest.raises(ValueError, match=what):
            GossamerRegressor().fit(x, NUMBERS)

    def test_tag(self) -> None:
        for estimator in (GossamerModel(), GossamerClassifier(), GossamerRegressor()):
            assert estimator.__sklearn_tags__().input_tags.sparse


class TestFit:
    """A model of a sparse matrix is the model of the same numbers written out."""

    @pytest.mark.parametrize("kind", ["matrix", "array"])
    @pytest.mark.parametrize("form", FORMATS)
    def test_formats(self, regressor: Any, classifier: Any, form: str, kind: str) -> None:
        x = make(form, kind)
        numbers = GossamerRegressor(n_estimators=10, min_child_samples=5).fit(x, NUMBERS)
        np.testing.assert_array_equal(numbers.predict(TABLE), regressor.predict(TABLE))
        classes = GossamerClassifier(n_estimators=10, min_child_samples=5).fit(x, CLASSES)
        np.testing.assert_array_equal(classes.predict_proba(x), classifier.predict_proba(TABLE))

    def test_the_matrix_stays_as_it_was(self) -> None:
        x = make("csr")
        x.indices[:2] = x.indices[1::-1]  # no longer sorted
        before = x.data.copy(), x.indices.copy(), x.indptr.copy()
        GossamerRegressor(n_estimators=2).fit(x, NUMBERS).predict(x)
        for found, expected in zip((x.data, x.indices, x.indptr), before, strict=True):
            np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize("form", ["csr", "csc"])
    def test_weights(self, form: str) -> None:
        """Rows of weight zero are left out."""
        weight = np.arange(300) % 3
        found = GossamerRegressor(min_child_samples=5).fit(make(form), NUMBERS, weight)
        expected = GossamerRegressor(min_child_samples=5).fit(TABLE, NUMBERS, weight)
        np.testing.assert_array_equal(found.predict(TABLE), expected.predict(TABLE))
        balanced = GossamerClassifier(class_weight="balanced").fit(make(form), CLASSES)
        assert balanced.score(make(form), CLASSES) > 0.5

    def test_evaluation_sets(self) -> None:
        x = make("csr")
        model = GossamerRegressor(n_estimators=5)
        model.fit(x, NUMBERS, eval_set=[(x, NUMBERS), (make("coo"), NUMBERS), (TABLE, NUMBERS)])
        curves = [curve["l2"] for curve in model.evals_result_.values()]
        assert list(model.evals_result_) == ["training", "valid_1", "valid_2"]
        assert curves[0] == curves[1] == curves[2]
        model.fit(TABLE, NUMBERS, eval_X=x, eval_y=NUMBERS)
        assert model.evals_result_["valid_0"]["l2"] == curves[0]

    def test_cross_validation(self) -> None:
        model = GossamerRegressor(n_estimators=5)
        np.testing.assert_array_equal(
            cross_val_score(model, make("csr"), NUMBERS), cross_val_score(model, TABLE, NUMBERS)
        )

    def test_text(self) -> None:
        words = ["red", "green", "blue", "black"]
        rng = np.random.default_rng(0)
        texts = [" ".join(rng.choice(words, 5)) for _ in range(200)]
        is_red = np.array(["red" in text for text in texts])
        model = make_pipeline(CountVectorizer(), GossamerClassifier(n_estimators=20))
        assert model.fit(texts, is_red).score(texts, is_red) == 1.0
        assert model.predict(["red blue", "blue black"]).tolist() == [True, False]

    def test_one_hot(self) -> None:
        rng = np.random.default_rng(0)
        codes = rng.integers(0, 8, (300, 2))
        label = codes[:, 0] == codes[:, 1]
        model = make_pipeline(OneHotEncoder(), GossamerClassifier(min_child_samples=2))
        assert model.fit(codes, label).score(codes, label) > 0.95

    def test_data_frame(self) -> None:
        pandas = pytest.importorskip("pandas")
        names = [f"c{i}" for i in range(12)]
        frame = pandas.DataFrame.sparse.from_spmatrix(make("csr"), columns=names)
        model = GossamerRegressor(n_estimators=5).fit(frame, NUMBERS)
        assert model.feature_names_in_.tolist() == model.feature_name_ == names
        expected = GossamerRegressor(n_estimators=5).fit(TABLE, NUMBERS).predict(TABLE)
        np.testing.assert_array_equal(model.predict(frame), expected)
        np.testing.assert_array_equal(model.predict(frame[names[::-1]]), expected)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[names[::-1]], validate_features=True)
