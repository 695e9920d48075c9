"""Shapley values: against their definition, and against the raw scores they explain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gossamer import (
    Booster,
    DataError,
    Dataset,
    GossamerError,
    NotSupportedError,
    early_stopping,
    train,
)
from gossamer.model.files import model_file
from gossamer.model.inspection import shap_values
from gossamer.model.model import Model
from gossamer.model.prediction.predict import with_derived
from gossamer.objectives import objective_from_config
from gossamer.tree import Forest, Tree
from tests.oracle.shapley import forest_shapley, shapley

N_ROWS, N_COLUMNS = 300, 4
KINDS: dict[str, dict[str, Any]] = {
    "regression": {},
    "binary": {"objective": "binary"},
    "multiclass": {"objective": "multiclass", "num_class": 3},
    "vector leaves": {
        "objective": "multiclass",
        "num_class": 3,
        "multi_strategy": "multi_output_tree",
    },
    "rf": {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1},
    "rf of classes": {
        "boosting": "rf",
        "bagging_fraction": 0.6,
        "bagging_freq": 1,
        "objective": "multiclass",
        "num_class": 3,
    },
    "dart": {"boosting": "dart", "drop_rate": 0.5},
    "goss": {"data_sample_strategy": "goss"},
    "use_missing=False": {"use_missing": False},
    "zero_as_missing": {"zero_as_missing": True},
    "categories": {"categorical_feature": [2, 3], "cat_target_statistics": "off"},
    "target statistics": {"categorical_feature": [2, 3], "cat_target_statistics": "on"},
    "deep": {"num_leaves": 31, "min_data_in_leaf": 1},
    "a monotone column": {"monotone_constraints": [1, 0, 0, 0]},
    "no start": {"boost_from_average": False},
    "parallel trees": {
        "num_parallel_tree": 2,
        "bagging_fraction": 0.6,
        "bagging_freq": 1,
        "objective": "multiclass",
        "num_class": 3,
    },
}


def make_table(seed: int, n_rows: int = N_ROWS) -> Any:
    """Two columns of numbers, two of small whole ones; gaps in all of them."""
    rng = np.random.default_rng(seed)
    table = np.column_stack(
        [rng.normal(size=(n_rows, 2)), rng.integers(0, 6, (n_rows, 2)).astype(float)]
    )
    table[rng.random(table.shape) < 0.1] = np.nan
    table[rng.random(table.shape) < 0.1] = 0.0
    return table


def make_label(table: Any, seed: int) -> Any:
    filled = np.nan_to_num(table, nan=1.5)
    rng = np.random.default_rng(seed)
    steps = filled[:, 1] * (filled[:, 2] % 2) + filled[:, 2] % 3
    return filled[:, 0] + steps + rng.normal(0, 0.2, len(table))


def fit(kind: str, seed: int = 0, n_rounds: int = 4, **more: Any) -> Booster:
    params = {"num_leaves": 7, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1}
    params |= KINDS[kind] | more
    table = make_table(seed)
    label = make_label(table, seed)
    if params.get("objective") == "binary":
        label = label > 1
    elif params.get("objective") == "multiclass":
        label = np.digitize(label, [0.5, 2])
    categories = params.pop("categorical_feature", "auto")
    return train(params, Dataset(table, label, categorical_feature=categories), n_rounds)


def raw_scores(booster: Booster, rows: Any, **arguments: Any) -> Any:
    """(rows, outputs)."""
    return booster.predict(rows, raw_score=True, **arguments).reshape(len(rows), -1)


def by_output(booster: Booster, values: Any) -> Any:
    """(rows, outputs, columns + 1 ...)."""
    k = booster.model.objective.n_outputs
    return values[:, None] if k == 1 else values


def oracle(booster: Booster, row: Any) -> Any:
    """Interactions by definition: (outputs, columns + 1, columns + 1), derived columns as well."""
    model = booster.model
    ((wide, _),) = with_derived(model, row[None], 1)
    found = forest_shapley(model.forest, wide[0])
    if model.average_output:
        found /= model.forest.n_rounds
    found[:, -1, -1] += model.start
    return found


@pytest.fixture(scope="module", params=list(KINDS))
def model(request: Any) -> Booster:
    return fit(request.param)


@pytest.fixture(scope="module")
def plain() -> Booster:
    return fit("regression")


NEW = make_table(99, 40)


class TestDefinition:
    """Sums over all sets of columns."""

    @settings(max_examples=40)
    @given(st.sampled_from([k for k in KINDS if k != "target statistics"]), st.integers(0, 10**6))
    def test_values_and_interactions(self, kind: str, seed: int) -> None:
        booster = fit(kind, seed % 7, n_rounds=2)
        rows = make_table(seed, 3)
        values = by_output(booster, booster.shap_values(rows))
        pairs = by_output(booster, booster.shap_interactions(rows))
        for r, row in enumerate(rows):
            expected = oracle(booster, row)
            np.testing.assert_allclose(pairs[r], expected, rtol=0, atol=1e-10)
            np.testing.assert_allclose(values[r], expected.sum(axis=-1), rtol=0, atol=1e-10)

    @pytest.mark.parametrize("seed", range(3))
    def test_derived_columns_count_for_their_sources(self, seed: int) -> None:
        booster = fit("target statistics", seed, n_rounds=3)
        derived = booster.model.derived
        assert derived is not None
        rows = make_table(seed + 50, 4)
        values = booster.shap_values(rows)
        assert np.abs(values[:, 2]).max() > 0
        for r, row in enumerate(rows):
            wide = oracle(booster, row).sum(axis=-1)[0]
            expected = np.append(wide[:N_COLUMNS], wide[-1])
            for i in range(derived.n_columns):
                for source in derived.sources_of(i):
                    expected[source] += wide[N_COLUMNS + i] / len(derived.sources_of(i))
            np.testing.assert_allclose(values[r], expected, rtol=0, atol=1e-10)

    def test_interactions_of_derived_columns(self) -> None:
        booster = fit("target statistics", 1, n_rounds=3)
        derived = booster.model.derived
        assert derived is not None
        rows = make_table(51, 4)
        pairs = booster.shap_interactions(rows)
        np.testing.assert_allclose(pairs.sum(axis=2), booster.shap_values(rows), atol=1e-10)
        share = np.zeros((N_COLUMNS + 1, N_COLUMNS + derived.n_columns + 1))
        share[range(N_COLUMNS), range(N_COLUMNS)] = share[-1, -1] = 1
        for i in range(derived.n_columns):
            sources = list(derived.sources_of(i))
            share[sources, N_COLUMNS + i] = 1 / len(sources)
        for row, found in zip(rows, pairs, strict=True):
            expected = share @ oracle(booster, row)[0] @ share.T
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)

    @settings(max_examples=40)
    @given(st.sampled_from([k for k in KINDS if k != "target statistics"]), st.integers(0, 10**6))
    def test_values_against_a_background(self, kind: str, seed: int) -> None:
        booster = fit(kind, seed % 7, n_rounds=3)
        rows, background = make_table(seed, 2), make_table(seed + 1, 5)
        values = by_output(booster, booster.shap_values(rows, background=background))
        for r, row in enumerate(rows):

            def game(known: frozenset[int], row: Any = row) -> Any:
                mixed = background.copy()
                mixed[:, list(known)] = row[list(known)]
                return raw_scores(booster, mixed).mean(axis=0)

            expected = shapley(game, list(range(N_COLUMNS)), N_COLUMNS).sum(axis=1).T
            np.testing.assert_allclose(values[r], expected, rtol=0, atol=1e-10)

    def test_a_background_with_target_statistics(self) -> None:
        booster = fit("target statistics")
        rows, background = NEW, make_table(5, 80)
        values = booster.shap_values(rows, background=background)
        assert values.shape == (len(rows), N_COLUMNS + 1)
        np.testing.assert_allclose(values.sum(axis=1), raw_scores(booster, rows)[:, 0], atol=1e-9)
        np.testing.assert_allclose(values[:, -1], raw_scores(booster, background).mean())

    @pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 200])
    def test_many_background_rows(self, plain: Booster, n_rows: int) -> None:
        background = make_table(3, n_rows)
        values = plain.shap_values(NEW, background=background)
        one_by_one = [
            plain.shap_values(NEW, background=background[i : i + 1]) for i in range(n_rows)
        ]
        np.testing.assert_allclose(values, np.mean(one_by_one, axis=0), atol=1e-12)
        assert np.all(one_by_one[0][:, -1] == one_by_one[0][0, -1])

    def test_a_linear_leaf(self) -> None:
        rng = np.random.default_rng(0)
        x = rng.normal(size=(200, 3))
        params = {"linear_tree": True, "num_leaves": 4, "verbose": -1, "num_threads": 1}
        booster = train(params, Dataset(x, x[:, 0] + x[:, 1] * (x[:, 2] > 0)), 2)
        row, tree = x[7], booster.model.forest.tree(1)  # the first one is not linear
        linear = tree.linear
        assert linear is not None and len(linear["linear_column"]) > 2

        def game(known: frozenset[int]) -> float:
            def leaf(place: int) -> float:
                terms = slice(linear["linear_begin"][place], linear["linear_begin"][place + 1])
                value = linear["linear_constant"][place]
                for c, b, m in zip(
                    linear["linear_column"][terms],
                    linear["linear_coefficient"][terms],
                    linear["linear_centre"][terms],
                    strict=True,
                ):
                    value += b * (row[c] - m) * (int(c) in known)
                return float(value)

            def walk(place: int) -> float:
                if place < 0:
                    return leaf(~place)
                left, right = int(tree.left[place]), int(tree.right[place])
                if int(tree.column[place]) in known:
                    return walk(left if row[tree.column[place]] <= tree.threshold[place] else right)
                counts = [
                    int(tree.node_count[p] if p >= 0 else tree.leaf_count[~p])
                    for p in (left, right)
                ]
                return float(np.average([walk(left), walk(right)], weights=counts))

            return walk(0)

        pairs = shapley(game, [0, 1, 2], 3)
        np.testing.assert_allclose(
            booster.shap_interactions(row[None], start_iteration=1)[0], pairs, atol=1e-10
        )
        expected = pairs.sum(axis=1)
        found = booster.shap_values(row[None], start_iteration=1)[0]
        score = raw_scores(booster, row[None], start_iteration=1)[0, 0]
        np.testing.assert_allclose([found.sum(), game(frozenset(range(3)))], score, atol=1e-12)
        np.testing.assert_allclose(found, expected, atol=1e-10)


def linear_model(table: Any, **more: Any) -> Booster:
    label = np.nan_to_num(table) @ [1.0, 2.0, 0.5, 0.0] + np.nan_to_num(table[:, 0] * table[:, 1])
    params = {"linear_tree": True, "num_leaves": 8, "verbose": -1, "num_threads": 1} | more
    return train(params, Dataset(table, label), 8)


class TestSums:
    """They add up to what they explain."""

    def check(self, booster: Booster, rows: Any, **arguments: Any) -> Any:
        values = booster.predict(rows, pred_contrib=True, **arguments)
        scores = raw_scores(booster, rows, **arguments)
        assert values.shape == (len(rows), scores.shape[1] * (N_COLUMNS + 1))
        whole = values.reshape(*scores.shape, N_COLUMNS + 1)
        np.testing.assert_allclose(whole.sum(axis=-1), scores, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(
            whole, by_output(booster, booster.shap_values(rows, **arguments))
        )
        return whole

    def test_kinds(self, model: Booster) -> None:
        whole = self.check(model, NEW)
        assert np.all(whole[:, :, -1] == whole[0, :, -1])
        if model.model.derived is None:
            pairs = by_output(model, model.shap_interactions(NEW))
            np.testing.assert_allclose(pairs.sum(axis=-1), whole, rtol=0, atol=1e-9)
            np.testing.assert_allclose(pairs, np.swapaxes(pairs, -1, -2), rtol=0, atol=1e-12)
        against = by_output(model, model.shap_values(NEW, background=NEW[:9]))
        np.testing.assert_allclose(against.sum(axis=-1), whole.sum(axis=-1), rtol=0, atol=1e-9)
        assert np.abs(against - whole).max() > 1e-3

    def test_some_rounds(self, model: Booster) -> None:
        all_rounds = [(0, 1), (1, 2), (2, None), (3, 1), (4, 1), (0, 0), (0, -1), (0, 99)]
        for start, number in all_rounds:
            self.check(model, NEW, start_iteration=start, num_iteration=number)

    def test_parts_of_a_model_add_up(self) -> None:
        booster = fit("multiclass")
        whole = booster.shap_values(NEW)
        first = booster.shap_values(NEW, num_iteration=1)
        rest = booster.shap_values(NEW, start_iteration=1)
        np.testing.assert_allclose(first + rest, whole, atol=1e-12)
        pairs = booster.shap_interactions(NEW, start_iteration=1)
        np.testing.assert_allclose(pairs.sum(axis=-1), rest, atol=1e-12)
        background = NEW[:4]
        parts = [
            booster.shap_values(NEW, background=background, **some)
            for some in ({"num_iteration": 1}, {"start_iteration": 1})
        ]
        whole = booster.shap_values(NEW, background=background)
        np.testing.assert_allclose(sum(parts), whole, atol=1e-12)

    def test_the_best_round(self) -> None:
        table = make_table(0)
        label = np.random.default_rng(0).normal(size=N_ROWS)
        data = Dataset(table[:200], label[:200])
        valid = Dataset(table[200:], label[200:], reference=data)
        booster = train(
            {"verbose": -1},
            data,
            30,
            [valid],
            callbacks=[early_stopping(3, verbose=False)],
            keep_training_booster=True,
        )
        assert 0 < booster.best_iteration < booster.current_iteration()
        self.check(booster, NEW)
        best = booster.shap_values(NEW, num_iteration=booster.best_iteration)
        np.testing.assert_array_equal(booster.shap_values(NEW), best)
        assert np.abs(booster.shap_values(NEW, num_iteration=0) - best).max() > 0

    def test_init_scores_are_not_part_of_the_model(self) -> None:
        table = make_table(0)
        data = Dataset(table, make_label(table, 0), init_score=np.full(N_ROWS, 10.0))
        self.check(train({"verbose": -1}, data, 3), NEW)

    def test_a_model_without_splits(self) -> None:
        booster = train({"verbose": -1, "min_data_in_leaf": 500}, Dataset(NEW, NEW[:, 2] == 1), 2)
        values = self.check(booster, NEW)
        assert not values[..., :-1].any()
        assert not booster.shap_interactions(NEW)[:, :-1].any()
        np.testing.assert_allclose(booster.shap_values(NEW, background=NEW), values[:, 0])

    def test_after_refit_save_and_load(self, plain: Booster, tmp_path: Any) -> None:
        table = make_table(1, 12)  # fewer rows than leaves
        self.check(plain.refit(table, table[:, 2] % 2), NEW)
        plain.save_model(tmp_path / "model")
        again = Booster(model_file=tmp_path / "model")
        np.testing.assert_array_equal(again.shap_values(NEW), plain.shap_values(NEW))

    def test_no_rows(self, model: Booster) -> None:
        k = model.model.objective.n_outputs
        nothing = NEW[:0]
        assert model.predict(nothing, pred_contrib=True).shape == (0, k * (N_COLUMNS + 1))
        assert by_output(model, model.shap_values(nothing)).shape == (0, k, N_COLUMNS + 1)
        against = model.shap_values(nothing, background=NEW)
        assert by_output(model, against).shape == (0, k, N_COLUMNS + 1)


class TestLinearLeaves:
    """Values of `linear_tree` models."""

    @pytest.mark.parametrize("gaps", [False, True])
    @pytest.mark.parametrize("scale", [1.0, 30.0, 1e300])
    def test_sums(self, gaps: bool, scale: float) -> None:
        table = make_table(0) if gaps else np.nan_to_num(make_table(0))
        booster = linear_model(table)
        assert booster.model.forest.linear is not None
        rows = np.vstack([NEW, np.nan_to_num(NEW)]) * scale
        rows[::7, 1] = np.inf
        values = booster.shap_values(rows)
        assert np.isfinite(values).all()
        np.testing.assert_allclose(
            values.sum(axis=1), raw_scores(booster, rows)[:, 0], rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(values[:, -1], values[0, -1], rtol=1e-15)

    def test_a_missing_value_is_what_changes(self) -> None:
        """The difference between the leaf's line and its plain value is due to the gap."""
        rng = np.random.default_rng(1)
        x = rng.normal(size=(400, 4))
        x[::3, 0] = np.nan
        params = {"num_leaves": 2, "interaction_constraints": [[0]], "learning_rate": 1.0}
        booster = linear_model(x, **params)
        row = np.array([[np.nan, 0.0, 0.0, 0.0]])
        values = booster.shap_values(row)[0]
        assert values[0] != 0 and not values[1:4].any()
        np.testing.assert_allclose(values.sum(), raw_scores(booster, row)[0, 0], atol=1e-12)

    @pytest.mark.parametrize("scale", [1.0, 30.0])
    def test_interactions_sum_up_to_values(self, scale: float) -> None:
        booster = linear_model(make_table(0))
        rows = make_table(3, 70) * scale
        rows[::7, 1] = np.inf
        pairs = booster.shap_interactions(rows)
        np.testing.assert_allclose(pairs, pairs.swapaxes(1, 2), atol=1e-12)
        np.testing.assert_allclose(pairs.sum(axis=2), booster.shap_values(rows), atol=1e-9)

    @pytest.mark.parametrize("gaps", [False, True])
    @pytest.mark.parametrize("scale", [1.0, 3.0, 1e300])
    def test_against_a_background(self, gaps: bool, scale: float) -> None:
        """Also where values reach the bounds of leaves, or are missing."""
        booster = linear_model(make_table(0) if gaps else np.nan_to_num(make_table(0)))
        rows, background = make_table(11, 6) * scale, make_table(12, 70)
        if not gaps:
            rows, background = np.nan_to_num(rows), np.nan_to_num(background)
        rows[0, 1] = np.inf
        values = booster.shap_values(rows, background=background)
        for r, row in enumerate(rows):

            def game(known: frozenset[int], row: Any = row) -> Any:
                mixed = background.copy()
                mixed[:, list(known)] = row[list(known)]
                return raw_scores(booster, mixed).mean(axis=0)

            expected = shapley(game, list(range(N_COLUMNS)), N_COLUMNS).sum(axis=1)[:, 0]
            np.testing.assert_allclose(values[r], expected, rtol=0, atol=1e-10)

    def test_a_term_of_a_column_that_is_not_on_the_way(self) -> None:
        """Trees of other libraries may have some."""
        tree = Tree(
            column=np.array([0, 1], np.int32),
            threshold=np.zeros(2),
            missing_kind=np.zeros(2, np.int8),
            default_left=np.zeros(2, np.int8),
            left=np.array([~0, ~1], np.int32),
            right=np.array([1, ~2], np.int32),
            gain=np.ones(2),
            node_value=np.zeros(2),
            node_weight=np.array([9.0, 6.0]),
            node_count=np.array([9, 6]),
            leaf_value=np.array([1.0, 2.0, 3.0]),
            leaf_weight=np.array([3.0, 4.0, 2.0]),
            leaf_count=np.array([3, 4, 2]),
            linear={
                "linear_begin": np.array([0, 1, 1, 1]),
                "linear_constant": np.array([1.0, 2.0, 3.0]),
                "linear_low": np.array([-9.0, 2.0, 3.0]),
                "linear_high": np.array([9.0, 2.0, 3.0]),
                "linear_column": np.array([1], np.int32),
                "linear_coefficient": np.array([0.5]),
                "linear_centre": np.zeros(1),
            },
        )
        plain = train({"verbose": -1}, Dataset(np.zeros((9, 2)), np.zeros(9)), 1)
        model = replace(plain.model, forest=Forest.from_trees([tree], 1, 2))
        booster = Booster.from_model(model)
        rows = np.array([[-1.0, 4.0], [1.0, 2.0], [1.0, -3.0]])
        scores = raw_scores(booster, rows)[:, 0]
        np.testing.assert_allclose(booster.shap_values(rows).sum(axis=1), scores)
        np.testing.assert_allclose(booster.shap_interactions(rows).sum(axis=(1, 2)), scores)
        against = booster.shap_values(rows, background=rows[::-1])
        np.testing.assert_allclose(against.sum(axis=1), scores)
        assert against[0, 1] != 0

    @pytest.mark.parametrize("n_terms", [20, 21])
    def test_many_terms_at_their_bounds(self, n_terms: int) -> None:
        """Every set of them counts, so there is a limit."""
        booster = chain_model(n_terms)
        forest = booster.model.forest
        begin = np.zeros(n_terms + 2, np.int64)
        begin[-1] = n_terms  # only the last leaf is linear
        plain = forest.arrays["leaf_value"]
        linear = {
            "linear_begin": begin,
            "linear_constant": plain,
            "linear_low": plain - 0.1,
            "linear_high": plain + 0.1,
            "linear_column": np.arange(n_terms, dtype=np.int32),
            "linear_coefficient": np.ones(n_terms),
            "linear_centre": np.ones(n_terms),
        }
        booster = Booster.from_model(replace(booster.model, forest=replace(forest, linear=linear)))
        rows, background = np.ones((1, n_terms)), np.full((1, n_terms), 2.0)
        if n_terms > 20:
            with pytest.raises(NotSupportedError, match="21 terms that reach its bounds"):
                booster.shap_values(rows, background=background)
            return
        values = booster.shap_values(rows, background=background)
        np.testing.assert_allclose(values[0, :-1], -0.1 / n_terms)
        np.testing.assert_allclose(values.sum(), raw_scores(booster, rows)[0, 0])


class TestThreads:
    """The same bits on any number of threads."""

    @pytest.mark.parametrize("kind", ["regression", "multiclass", "vector leaves", "categories"])
    def test_dense(self, kind: str) -> None:
        booster, rows = fit(kind, n_rounds=6), make_table(7, 1100)
        for method, some in (
            (booster.shap_values, {}),
            (booster.shap_values, {"background": NEW}),
            (booster.shap_interactions, {}),
        ):
            one = method(rows, num_threads=1, **some)
            for n_threads in (2, 3, 8):
                assert method(rows, num_threads=n_threads, **some).tobytes() == one.tobytes()

    def test_linear_and_sparse(self) -> None:
        booster = linear_model(make_table(0))
        rows = make_table(7, 1100)
        for method, some in (
            (booster.shap_values, {"background": NEW}),
            (booster.shap_interactions, {}),
        ):
            alone = method(rows[:200], num_threads=1, **some)
            for n_threads in (2, 3, 8):
                assert method(rows[:200], num_threads=n_threads, **some).tobytes() == (
                    alone.tobytes()
                )
        for table in (rows, sparse.csr_matrix(rows)):
            one, *more = (
                booster.predict(table, pred_contrib=True, num_threads=n) for n in (1, 2, 3, 8)
            )
            for other in more:
                assert (other != one).sum() == 0


class TestInputs:
    """What the table may be."""

    ROWS = make_table(4, 150).astype(np.float32).astype(np.float64)

    def layouts(self) -> Iterator[Any]:
        rows = self.ROWS
        yield rows.astype(np.float32)
        yield np.asfortranarray(rows)
        wide = np.repeat(np.repeat(rows, 2, axis=0), 3, axis=1)
        yield wide[::2, ::3]
        yield rows[::-1][::-1]
        yield rows.tolist()
        kept = rows.copy()
        kept.flags.writeable = False
        yield kept

    def test_layouts(self, plain: Booster) -> None:
        expected = plain.shap_values(self.ROWS)
        background = plain.shap_values(self.ROWS[:5], background=self.ROWS)
        pairs = plain.shap_interactions(self.ROWS)
        for rows in self.layouts():
            np.testing.assert_array_equal(plain.shap_values(rows), expected)
            np.testing.assert_array_equal(plain.shap_interactions(rows), pairs)
            found = plain.shap_values(self.ROWS[:5], background=rows)
            np.testing.assert_array_equal(found, background)

    def test_whole_numbers(self, plain: Booster) -> None:
        rows = np.arange(-12, 12).reshape(6, 4)
        expected = plain.shap_values(rows.astype(float))
        for dtype in (np.int8, np.int64):
            np.testing.assert_array_equal(plain.shap_values(rows.astype(dtype)), expected)

    def test_named_columns_in_any_order(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(make_table(0), columns=list("abcd"))
        booster = train({"verbose": -1}, Dataset(frame, make_label(make_table(0), 0)), 3)
        expected = booster.shap_values(frame)
        moved = frame[["d", "b", "a", "c"]]
        np.testing.assert_array_equal(booster.shap_values(moved), expected)
        with pytest.raises(DataError, match="missing 'b'"):
            booster.shap_values(frame.drop(columns="b"))
        with pytest.raises(DataError, match="missing 'b'"):
            booster.shap_values(frame, background=frame.drop(columns="b"))

    def test_other_widths_if_asked_for(self, plain: Booster) -> None:
        more = np.column_stack([NEW, NEW])
        found = plain.shap_values(more, predict_disable_shape_check=True)
        np.testing.assert_array_equal(found, plain.shap_values(NEW))


class TestSparse:
    """Sparse rows give sparse values, the same ones."""

    TABLE = np.nan_to_num(make_table(11, 500)) * (np.random.default_rng(0).random((500, 4)) < 0.4)

    @pytest.mark.parametrize("kind", ["regression", "multiclass", "vector leaves", "rf", "dart"])
    def test_as_dense(self, kind: str) -> None:
        booster = fit(kind)
        dense = booster.predict(self.TABLE, pred_contrib=True)
        for form in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array):
            found = booster.predict(form(self.TABLE), pred_contrib=True)
            parts = found if isinstance(found, list) else [found]
            assert len(parts) == booster.model.objective.n_outputs
            expected = "csc" if form is sparse.csc_matrix else "csr"
            assert all(sparse.issparse(part) and part.format == expected for part in parts)
            assert all(part.shape == (500, N_COLUMNS + 1) for part in parts)
            np.testing.assert_array_equal(np.hstack([part.toarray() for part in parts]), dense)
        values = booster.shap_values(sparse.csr_matrix(self.TABLE))
        np.testing.assert_array_equal(values, booster.shap_values(self.TABLE))

    def test_nothing_is_kept_for_columns_without_splits(self) -> None:
        rng = np.random.default_rng(0)
        table = sparse.random_array((300, 1000), density=0.02, rng=rng, format="csr")
        label = table[:, [3]].toarray()[:, 0] + rng.normal(0, 1e-3, 300)
        params = {"min_data_in_leaf": 2, "min_data_in_bin": 1, "num_leaves": 3, "verbose": -1}
        booster = train(params, Dataset(table, label), 2)
        n_used = np.count_nonzero(booster.feature_importance())
        found = booster.predict(table, pred_contrib=True)
        assert found.shape == (300, 1001) and found.nnz <= 300 * (n_used + 1)
        sums = np.asarray(found.sum(axis=1)).ravel()
        np.testing.assert_allclose(sums, raw_scores(booster, table.toarray())[:, 0])

    def test_many_blocks_of_rows(self) -> None:
        booster = fit("regression")
        table = np.vstack([self.TABLE] * 18)
        found = booster.predict(sparse.csr_matrix(table), pred_contrib=True)
        np.testing.assert_array_equal(found.toarray(), booster.predict(table, pred_contrib=True))

    def test_small_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        booster, table = fit("multiclass"), sparse.csr_matrix(self.TABLE)
        whole = booster.predict(table, pred_contrib=True)
        monkeypatch.setattr(shap_values, "_DENSE_VALUES", 100)  # six rows
        for part, expected in zip(booster.predict(table, pred_contrib=True), whole, strict=True):
            np.testing.assert_array_equal(part.toarray(), expected.toarray())

    def test_no_rows(self) -> None:
        found = fit("regression").predict(sparse.csr_matrix((0, 4)), pred_contrib=True)
        assert found.shape == (0, N_COLUMNS + 1)

    def test_target_statistics(self) -> None:
        booster = fit("target statistics")
        found = booster.predict(sparse.csr_matrix(self.TABLE), pred_contrib=True)
        expected = booster.predict(self.TABLE, pred_contrib=True)
        assert sparse.issparse(found) and found.format == "csr"
        np.testing.assert_array_equal(found.toarray(), expected)

    def test_pairs_and_backgrounds_are_those_of_the_dense_table(self, plain: Booster) -> None:
        rows = sparse.csr_matrix(self.TABLE)
        expected = plain.shap_interactions(self.TABLE)
        np.testing.assert_array_equal(plain.shap_interactions(rows), expected)
        for data, background in ((rows, NEW), (NEW, rows), (rows, rows)):
            some, others = (t.toarray() if sparse.issparse(t) else t for t in (data, background))
            np.testing.assert_array_equal(
                plain.shap_values(data, background=background),
                plain.shap_values(some, background=others),
            )


class TestBadInput:
    """What cannot be explained is said, not guessed."""

    @pytest.mark.parametrize("rows", [NEW[:, :3], np.column_stack([NEW, NEW])])
    def test_widths(self, plain: Booster, rows: Any) -> None:
        words = f"number of columns .*got {rows.shape[1]}, expected 4"
        for ask in (
            lambda: plain.predict(rows, pred_contrib=True),
            lambda: plain.predict(sparse.csr_matrix(rows), pred_contrib=True),
            lambda: plain.shap_values(rows),
            lambda: plain.shap_values(NEW, background=rows),
            lambda: plain.shap_interactions(rows),
        ):
            with pytest.raises(DataError, match=words):
                ask()

    def test_background(self, plain: Booster) -> None:
        with pytest.raises(DataError, match="background data has no rows"):
            plain.shap_values(NEW, background=NEW[:0])
        with pytest.raises(DataError, match="expected 2 dimensions"):
            plain.shap_values(NEW, background=NEW[0])
        with pytest.raises(DataError, match="Dataset"):
            plain.shap_values(NEW, background=Dataset(NEW))

    def test_rounds(self, plain: Booster) -> None:
        for ask in (plain.shap_values, plain.shap_interactions):
            np.testing.assert_array_equal(ask(NEW, start_iteration=-1), ask(NEW))
            assert not ask(NEW, start_iteration=plain.num_trees() + 1).any()

    @pytest.mark.parametrize("n_columns", [66, 520])
    def test_ways_of_too_many_columns(self, n_columns: int) -> None:
        booster = chain_model(n_columns)
        rows = np.ones((3, n_columns))
        if n_columns <= 512:
            values = booster.shap_values(rows)
            np.testing.assert_allclose(values.sum(axis=1), raw_scores(booster, rows)[:, 0])
        else:
            for ask in (booster.shap_values, booster.shap_interactions):
                with pytest.raises(GossamerError, match=f"tests {n_columns} columns"):
                    ask(rows)
        with pytest.raises(GossamerError, match="more than 64 columns"):
            booster.shap_values(rows, background=rows)


def chain_model(n_columns: int) -> Booster:
    """A tree in which every node tests another column, and one child is a leaf."""
    places = np.arange(n_columns, dtype=np.int32)
    n_rows = np.arange(n_columns + 1, 0, -1)
    tree = Tree(
        column=places,
        threshold=np.full(n_columns, 0.5),
        missing_kind=np.zeros(n_columns, np.int8),
        default_left=np.zeros(n_columns, np.int8),
        left=~places,
        right=np.append(places[1:], ~n_columns).astype(np.int32),
        gain=np.ones(n_columns),
        node_value=np.zeros(n_columns),
        node_weight=n_rows[:-1].astype(float),
        node_count=n_rows[:-1],
        leaf_value=np.linspace(-1, 1, n_columns + 1),
        leaf_weight=np.ones(n_columns + 1),
        leaf_count=np.ones(n_columns + 1, np.int64),
    )
    forest = Forest.from_trees([tree], 1, n_columns)
    names = [f"Column_{i}" for i in range(n_columns)]
    model = Model(objective_from_config({"name": "regression"}), names, np.zeros(1), forest, {})
    return Booster(model_str=model_file.to_text(model))


class TestEstimators:
    """`predict(pred_contrib=True)` of the estimators."""

    def test_values_are_those_of_the_booster(self) -> None:
        sklearn = pytest.importorskip("gossamer.sklearn")
        table = make_table(0)
        label = make_label(table, 0)
        for estimator, target in (
            (sklearn.GossamerRegressor(n_estimators=3), label),
            (sklearn.GossamerClassifier(n_estimators=3), label > 1),
            (sklearn.GossamerClassifier(n_estimators=3), np.digitize(label, [0.5, 2])),
        ):
            estimator.set_params(verbose=-1).fit(table, target)
            values = estimator.predict(NEW, pred_contrib=True)
            expected = estimator.booster_.predict(NEW, pred_contrib=True)
            np.testing.assert_array_equal(values, expected)
            rows = sparse.csr_matrix(np.nan_to_num(NEW))
            found = estimator.predict(rows, pred_contrib=True)
            parts = found if isinstance(found, list) else [found]
            assert [part.shape for part in parts] == [(40, 5)] * len(parts)
            if hasattr(estimator, "predict_proba"):
                values = estimator.predict_proba(NEW, pred_contrib=True)
                np.testing.assert_array_equal(values, expected)
