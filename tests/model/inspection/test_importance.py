"""Importance from the trees, and from shuffled columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from gossamer import Booster, CustomObjective, DataError, Dataset, ParameterError, train
from gossamer.model.inspection import permutation
from gossamer.model.inspection.changed_columns import change_columns
from gossamer.model.inspection.importance import IMPORTANCE_TYPES
from tests.model.inspection.test_shap_values import KINDS, fit, make_label, make_table

TABLE = make_table(3, 200)
LABEL = make_label(TABLE, 3)


@pytest.fixture(scope="module")
def plain() -> Booster:
    return fit("regression")


class TestTrees:
    """Sums over the nodes."""

    @pytest.mark.parametrize("kind", [k for k in KINDS if k != "target statistics"])
    def test_types(self, kind: str) -> None:
        booster = fit(kind)
        arrays = booster.model.forest.arrays
        found = {name: booster.feature_importance(name) for name in IMPORTANCE_TYPES}
        for column in range(4):
            own = arrays["column"] == column
            n = own.sum()
            gain, cover = arrays["gain"][own].sum(), arrays["node_weight"][own].sum()
            expected = {
                "split": n,
                "gain": gain,
                "total_gain": gain,
                "mean_gain": gain / max(n, 1),
                "cover": cover,
                "total_cover": cover,
                "mean_cover": cover / max(n, 1),
            }
            for name, value in expected.items():
                assert found[name][column] == pytest.approx(value), name
        assert {name: str(values.dtype) for name, values in found.items()} == {
            name: "int32" if name == "split" else "float64" for name in IMPORTANCE_TYPES
        }

    def test_cover_is_the_weight_of_rows(self) -> None:
        params = {"num_leaves": 2, "verbose": -1}
        booster = train(params, Dataset(TABLE, LABEL, weight=np.full(200, 2.5)), 3)
        assert booster.feature_importance("cover").sum() == pytest.approx(3 * 200 * 2.5)
        assert booster.feature_importance("mean_cover").max() == pytest.approx(200 * 2.5)

    def test_derived_columns_count_for_their_sources(self) -> None:
        booster = fit("target statistics")
        forest = booster.model.forest
        for name in ("gain", "cover"):
            array = forest.arrays["gain" if name == "gain" else "node_weight"]
            total = booster.feature_importance(name)
            assert total.shape == (4,) and total.sum() == pytest.approx(array.sum())
            means = total / np.maximum(booster.feature_importance(), 1)
            np.testing.assert_allclose(booster.feature_importance(f"mean_{name}"), means)

    @pytest.mark.parametrize("name", ["weight", "Gain", "", None, 1])
    def test_unknown_types(self, plain: Booster, name: Any) -> None:
        words = r"importance_type is not known.*'split', 'gain'.*'mean_cover'"
        with pytest.raises(ParameterError, match=words):
            plain.feature_importance(name)

    def test_estimators(self) -> None:
        sklearn = pytest.importorskip("gossamer.sklearn")
        model = sklearn.GossamerRegressor(n_estimators=3, importance_type="mean_gain", verbose=-1)
        found = model.fit(TABLE, LABEL).feature_importances_
        np.testing.assert_array_equal(found, model.booster_.feature_importance("mean_gain"))


def naive(booster: Booster, table: Any, loss: Any, n_repeats: int, seed: int) -> Any:
    """Shuffle in a copy of the whole."""
    values = np.zeros((table.shape[1], n_repeats))
    for column in range(table.shape[1]):
        for repeat in range(n_repeats):
            order = np.random.default_rng([seed, column, repeat]).permutation(len(table))
            changed = table.copy()
            changed[:, column] = table[order, column]
            values[column, repeat] = loss(booster.predict(changed)) - loss(booster.predict(table))
    return values


class TestPermutation:
    """Columns that are shuffled, one at a time."""

    def test_against_a_copy(self, plain: Booster) -> None:
        found = plain.permutation_importance(TABLE, LABEL, metric="l1", n_repeats=3, seed=4)
        label = LABEL.astype(np.float32)
        expected = naive(plain, TABLE, lambda p: np.abs(p - label).mean(), 3, 4)
        np.testing.assert_allclose(found.values, expected, atol=1e-12)
        np.testing.assert_allclose(found.mean, expected.mean(axis=1), atol=1e-12)
        np.testing.assert_allclose(found.std, expected.std(axis=1), atol=1e-12)
        assert found.score == pytest.approx(np.abs(plain.predict(TABLE) - label).mean())
        assert (found.metric, found.names) == ("l1", plain.feature_name())
        assert found.mean[0] > 0.1

    def test_more_rows_than_a_block(self, plain: Booster, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = plain.permutation_importance(TABLE, LABEL)
        sizes = []

        def small(n_rows: int) -> Any:
            return (slice(i, min(i + 33, n_rows)) for i in range(0, n_rows, 33))

        def watch(matrix: Any, rows: slice, columns: Any) -> Any:
            sizes.append(rows.stop - rows.start)
            return change_columns(matrix, rows, columns)

        monkeypatch.setattr(permutation, "row_blocks", small)
        monkeypatch.setattr(permutation, "change_columns", watch)
        parts = plain.permutation_importance(TABLE, LABEL)
        np.testing.assert_array_equal(parts.values, whole.values)
        assert max(sizes) == 33

    def test_higher_is_better(self) -> None:
        booster = fit("binary")
        for metric in ("auc", "binary_logloss"):
            found = booster.permutation_importance(TABLE, LABEL > 1, metric=metric)
            assert found.mean[0] > 0.02, metric

    @pytest.mark.parametrize("kind", list(KINDS))
    def test_kinds(self, kind: str) -> None:
        booster = fit(kind)
        objective = KINDS[kind].get("objective")
        label = {"binary": LABEL > 1, "multiclass": np.digitize(LABEL, [0.5, 2])}.get(
            objective, LABEL
        )
        found = booster.permutation_importance(TABLE, label, n_repeats=2)
        own = {"binary": "binary_logloss", "multiclass": "multi_logloss"}.get(objective, "l2")
        assert found.metric == own and found.values.shape == (4, 2)
        used = booster.feature_importance() > 0
        assert not found.values[~used].any() and found.mean.max() > 0

    def test_only_the_seed_decides(self, plain: Booster) -> None:
        one = plain.permutation_importance(TABLE, LABEL, num_threads=1)
        for n_threads in (2, 3, 8):
            again = plain.permutation_importance(TABLE, LABEL, num_threads=n_threads)
            assert again.values.tobytes() == one.values.tobytes()
        other = plain.permutation_importance(TABLE, LABEL, seed=1)
        assert (other.values != one.values).any()
        more = plain.permutation_importance(TABLE, LABEL, n_repeats=7)
        np.testing.assert_array_equal(more.values[:, :5], one.values)

    def test_the_table_stays_as_it_is(self, plain: Booster) -> None:
        table = TABLE.copy()
        table.flags.writeable = False
        expected = plain.permutation_importance(TABLE, LABEL).values
        for rows in (table, np.asfortranarray(TABLE), TABLE.astype(np.float32)):
            before = rows.copy()
            found = plain.permutation_importance(rows, LABEL).values
            np.testing.assert_array_equal(rows, before)
            np.testing.assert_allclose(found, expected, atol=1e-3)

    def test_sparse(self, plain: Booster) -> None:
        dense = np.nan_to_num(TABLE)
        expected = plain.permutation_importance(dense, LABEL)
        for form in (sparse.csr_matrix, sparse.csc_array):
            found = plain.permutation_importance(form(dense), LABEL)
            np.testing.assert_array_equal(found.values, expected.values)

    def test_frames_with_text(self) -> None:
        pandas = pytest.importorskip("pandas")
        rng = np.random.default_rng(0)
        frame = pandas.DataFrame({"v": rng.normal(size=200), "city": rng.choice(["a", "b"], 200)})
        label = frame["v"] + 3 * (frame["city"] == "b")
        booster = train({"verbose": -1}, Dataset(frame, label), 20)
        found = booster.permutation_importance(frame[["city", "v"]], label)
        assert found.names == ["v", "city"] and (found.mean > 0.5).all()

    def test_ranking_and_weights(self) -> None:
        params = {"objective": "lambdarank", "verbose": -1, "eval_at": [5]}
        relevance, group = np.digitize(LABEL, [0, 1, 2]), [20] * 10
        booster = train(params, Dataset(TABLE, relevance, group=group), 5)
        found = booster.permutation_importance(TABLE, relevance, group=group)
        assert found.metric == "ndcg@5" and found.mean.max() > 0
        model = fit("regression")
        weight = np.append(np.ones(100), np.zeros(100))
        first = model.permutation_importance(TABLE, LABEL, weight=weight)
        label = LABEL[:100].astype(np.float32)
        expected = np.mean((model.predict(TABLE[:100]) - label) ** 2)
        assert first.score == pytest.approx(expected)

    def test_several_targets(self) -> None:
        label = np.column_stack([LABEL, -LABEL])
        booster = train({"verbose": -1}, Dataset(TABLE, label), 3)
        found = booster.permutation_importance(TABLE, label, metric="l2")
        assert found.mean[0] > 0

    def test_an_objective_of_ones_own(self) -> None:
        objective = CustomObjective(lambda s, data: (s - data.get_label(), np.ones(len(s))))
        booster = train({"objective": objective, "verbose": -1}, Dataset(TABLE, LABEL), 3)
        found = booster.permutation_importance(TABLE, LABEL, metric="rmse")
        assert found.mean[0] > 0
        with pytest.raises(ParameterError, match=r"one metric: got \[\].*Pass its name"):
            booster.permutation_importance(TABLE, LABEL)

    def test_some_rounds(self, plain: Booster) -> None:
        some = plain.permutation_importance(TABLE, LABEL, num_iteration=1)
        alone = Booster(model_str=plain.model_to_string(num_iteration=1))
        expected = alone.permutation_importance(TABLE, LABEL)
        np.testing.assert_array_equal(some.values, expected.values)

    @pytest.mark.parametrize(
        ("some", "error", "words"),
        [
            ({"n_repeats": 0}, ParameterError, "n_repeats .*>= 1"),
            ({"n_repeats": 2.5}, ParameterError, "n_repeats .*>= 1"),
            ({"seed": -1}, ParameterError, "seed .*>= 0"),
            ({"metric": "rmsee"}, ParameterError, "Did you mean"),
            ({"metric": "multi_error"}, ParameterError, "multi_error"),
            ({"metric": "l1,l2"}, ParameterError, "one metric"),
            ({"label": LABEL[:-1]}, DataError, "label and data differ in length"),
            ({"label": LABEL * np.nan}, DataError, "label of row 0"),
            ({"data": TABLE[:, :2]}, DataError, "number of columns"),
            ({"weight": -LABEL}, DataError, "weight"),
        ],
    )
    def test_bad_input(
        self, plain: Booster, some: dict[str, Any], error: type[Exception], words: str
    ) -> None:
        with pytest.raises(error, match=words):
            plain.permutation_importance(**{"data": TABLE, "label": LABEL, **some})

    def test_labels_that_are_no_classes(self) -> None:
        with pytest.raises(DataError, match="label"):
            fit("multiclass").permutation_importance(TABLE, np.arange(200) % 4)
