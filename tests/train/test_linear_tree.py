"""Trees whose leaves are linear models."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gossamer as gs
from gossamer import _native
from gossamer.data.dataset import built_data
from gossamer.errors import DataError, ParameterError
from gossamer.tree import Tree

Array = npt.NDArray[Any]
CHECKED = {"linear_tree": True, "num_leaves": 8, "num_threads": 1, "verbosity": -1}
# What follows is about the fit of leaves: all that can be linear are.
LINEAR = {**CHECKED, "linear_check": False}


def _rows(n: int = 600, seed: int = 0, n_columns: int = 4) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, n_columns))
    y = 2 * x[:, 0] + np.abs(x[:, 1]) + x[:, 0] * x[:, 2] + 0.1 * rng.normal(size=n)
    return x, y


def _path_columns(tree: Tree) -> list[list[int]]:
    """Of each leaf the columns on its path."""
    found: list[list[int]] = [[] for _ in range(tree.n_leaves)]

    def walk(at: int, above: list[int]) -> None:
        if at < 0:
            found[~at] = sorted(set(above))
            return
        above = [*above, int(tree.column[at])]
        walk(int(tree.left[at]), above)
        walk(int(tree.right[at]), above)

    walk(0 if len(tree.column) else ~0, [])
    return found


def _fit_leaf(x: Array, g: Array, h: Array, penalty: float) -> tuple[Array, float, Array]:
    """Coefficients, the value at the weighted mean, and that mean: by least squares in NumPy."""
    mean = np.average(x, axis=0, weights=h)
    deviation = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=h))
    z = (x - mean) / np.where(deviation > 0, deviation, 1)
    rows = np.concatenate([z * np.sqrt(h)[:, None], np.sqrt(penalty) * np.eye(x.shape[1])])
    wanted = np.concatenate([-g / np.sqrt(h), np.zeros(x.shape[1])])
    effects = np.linalg.lstsq(rows, wanted, rcond=1e-9)[0]
    return effects / np.where(deviation > 0, deviation, 1), -g.sum() / h.sum(), mean


def _check_against_numpy(
    model: gs.Booster,
    x: Array,
    gradients: Any,
    penalty: float = 0.0,
    learning_rate: float = 0.1,
    tolerance: float = 1e-4,
) -> int:
    """Fit every leaf of every tree again, on complete rows; returns how many leaves are linear."""
    leaves = model.predict(x, pred_leaf=True)
    forest, n_linear = model.model.forest, 0
    for t in range(1, forest.n_trees):
        before = model.predict(x, num_iteration=t, raw_score=True)
        added = model.predict(x, start_iteration=t, num_iteration=1, raw_score=True)
        g, h = (np.asarray(part, dtype=np.float64) for part in gradients(before))
        tree = forest.tree(t)
        for leaf, columns in enumerate(_path_columns(tree)):
            mine = leaves[:, t] == leaf
            complete = mine & np.isfinite(x[:, columns]).all(axis=1)
            part = x[complete][:, columns]
            np.testing.assert_array_equal(added[mine & ~complete], tree.leaf_value[leaf])
            if complete.sum() < len(columns) + 1:
                continue
            slopes, constant, mean = _fit_leaf(part, g[complete], h[complete], penalty)
            expected = learning_rate * (constant + (part - mean) @ slopes)
            np.testing.assert_allclose(
                added[complete], expected, rtol=tolerance, atol=tolerance * np.abs(expected).max()
            )
            n_linear += 1
    return n_linear


class TestFit:
    @pytest.mark.parametrize("penalty", [0.0, 0.5, 20.0])
    def test_every_leaf_is_a_least_squares_fit(self, penalty: float) -> None:
        x, y = _rows()
        data = gs.Dataset(x, label=y)
        model = gs.train({**LINEAR, "linear_lambda": penalty}, data, 8)
        label = y.astype(np.float32)
        n = _check_against_numpy(model, x, lambda s: (s - label, np.ones_like(s)), penalty)
        assert n == 7 * 8

    def test_weights_and_a_log_loss(self) -> None:
        x, y = _rows()
        label = (y > 0).astype(np.float64)
        weight = np.random.default_rng(1).uniform(0.5, 2, len(y)).astype(np.float32)
        data = gs.Dataset(x, label=label, weight=weight)
        model = gs.train({**LINEAR, "objective": "binary"}, data, 6)

        def gradients(score: Array) -> tuple[Array, Array]:
            p = 1 / (1 + np.exp(-score))
            return (p - label) * weight, p * (1 - p) * weight

        assert _check_against_numpy(model, x, gradients, tolerance=1e-3) == 5 * 8

    def test_missing_values_take_the_constant(self) -> None:
        x, y = _rows(2000)
        x[np.random.default_rng(3).random(x.shape) < 0.1] = np.nan
        x[:20, 0] = np.inf
        model = gs.train(LINEAR, gs.Dataset(x, label=y), 6)
        label = y.astype(np.float32)
        assert _check_against_numpy(model, x, lambda s: (s - label, np.ones_like(s))) > 30

    def test_constants_of_the_first_tree(self) -> None:
        x, y = _rows()
        model = gs.train(LINEAR, gs.Dataset(x, label=y), 3)
        plain = gs.train({**LINEAR, "linear_tree": False}, gs.Dataset(x, label=y), 1)
        first = model.predict(x, num_iteration=1)
        np.testing.assert_array_equal(first, plain.predict(x))
        forest = model.model.forest
        assert forest.tree(0).linear is None
        assert forest.tree(1).linear is not None

    def test_a_line_within_two_leaves(self) -> None:
        """Steps of as many plain leaves are off by 3 / 4."""
        x = np.linspace(-1, 1, 400)[:, None]
        params = {**LINEAR, "num_leaves": 2, "learning_rate": 0.5, "max_bin": 2}
        model = gs.train(params, gs.Dataset(x, label=3 * x[:, 0] - 1), 30)
        np.testing.assert_allclose(model.predict(x), 3 * x[:, 0] - 1, atol=1e-5)

    @pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
    @pytest.mark.parametrize("shift", [0.0, 1e6])
    def test_units_do_not_matter(self, scale: float, shift: float) -> None:
        """Not to the fit, nor to what `linear_lambda` does."""
        x, y = _rows()
        grid = np.round(x * 64) / 64  # so that shifting loses nothing
        moved = (grid + shift) * scale
        params = {**LINEAR, "linear_lambda": 1.0}
        ours = gs.train(params, gs.Dataset(moved, label=y), 10).predict(moved)
        plain = gs.train(params, gs.Dataset(grid, label=y), 10).predict(grid)
        np.testing.assert_allclose(ours, plain, rtol=1e-6, atol=1e-6)

    def test_collinear_and_constant_columns(self) -> None:
        x, y = _rows()
        wide = np.column_stack([x, x[:, 0] * 3 + 1, np.full(len(x), 7.0), x[:, 1] - x[:, 0]])
        model = gs.train(LINEAR, gs.Dataset(wide, label=y), 30)
        prediction = model.predict(wide)
        assert np.mean((prediction - y) ** 2) < 0.1
        assert np.abs(prediction).max() < 2 * np.abs(y).max()

    def test_tiny_leaves(self) -> None:
        x, y = _rows(40)
        params = {**LINEAR, "min_data_in_leaf": 1, "num_leaves": 31}
        model = gs.train(params, gs.Dataset(x, label=y, params={"min_data_in_bin": 1}), 30)
        assert np.isfinite(model.predict(_rows(1000, 5)[0] * 100)).all()

    def test_less_loss_than_plain_leaves(self) -> None:
        (x, y), (x_new, y_new) = _rows(3000), _rows(1000, 7)
        loss = {}
        for linear in (True, False):
            params = {**LINEAR, "linear_tree": linear}
            model = gs.train(params, gs.Dataset(x, label=y), 50)
            loss[linear] = np.mean((model.predict(x_new) - y_new) ** 2)
        assert loss[True] < 0.6 * loss[False]

    def test_not_worse_than_lightgbm(self) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        params = {**LINEAR, "num_leaves": 31}
        losses = []
        for seed in range(8):
            (x, y), (x_new, y_new) = _rows(4000, seed), _rows(5000, seed + 100)
            ours = gs.train(params, gs.Dataset(x, label=y), 60).predict(x_new)
            data = lightgbm.Dataset(x, label=y, params={"linear_tree": True, "verbosity": -1})
            theirs = lightgbm.train(params, data, 60).predict(x_new)
            losses.append([np.mean((p - y_new) ** 2) for p in (ours, theirs)])
        mean = np.mean(losses, axis=0)
        assert mean[0] < 1.02 * mean[1], losses  # at random either way; on real data see the docs


class TestBounds:
    def test_far_away_nothing_explodes(self) -> None:
        x, y = _rows(2000)
        model = gs.train(LINEAR, gs.Dataset(x, label=y), 50)
        inside = model.predict(x)
        for factor in (1e3, 1e9, 1e300, -1e300):
            far = model.predict(x * factor)
            assert np.isfinite(far).all()
            assert far.min() >= model.lower_bound()
            assert far.max() <= model.upper_bound()
        assert model.lower_bound() <= inside.min()
        assert model.upper_bound() >= inside.max()

    def test_extrapolation_on_request(self) -> None:
        x = np.linspace(0, 1, 500)[:, None]
        y = 3 * x[:, 0]
        far = np.array([[1.5]])
        params = {**LINEAR, "learning_rate": 0.5, "num_leaves": 4}
        near = {**params, "linear_extrapolation": 0.0}
        stays = gs.train(near, gs.Dataset(x, label=y), 40).predict(far)[0]
        goes = gs.train({**params, "linear_extrapolation": 1e6}, gs.Dataset(x, label=y), 40)
        assert stays == pytest.approx(3, abs=0.1)
        # The first tree has constants: what it lacks beyond the data stays lacking.
        assert goes.predict(far)[0] == pytest.approx(4.5, abs=0.5)

    def test_max_delta_step_holds_for_rows(self) -> None:
        x, y = _rows()
        params = {**LINEAR, "max_delta_step": 0.2, "learning_rate": 0.5}
        model = gs.train(params, gs.Dataset(x, label=y), 5)
        for t in range(5):
            step = model.predict(x, start_iteration=t, num_iteration=1, raw_score=True)
            assert np.abs(step - (t == 0) * model.model.start[0]).max() <= 0.1 + 1e-12

    def test_log_loss_of_separable_rows(self) -> None:
        """Confident rows have next to no hessian: an unbounded step would be without measure."""
        x, _ = _rows(1000)
        data = gs.Dataset(x, label=x[:, 0] > 0)
        model = gs.train({**LINEAR, "objective": "binary", "learning_rate": 0.5}, data, 60)
        scores = model.predict(x, raw_score=True)
        assert np.isfinite(scores).all()
        assert ((scores > 0) == (x[:, 0] > 0)).all()

    def test_bounds_of_huge_values_are_finite(self) -> None:
        x, y = _rows()
        params = {**LINEAR, "linear_extrapolation": 1e9}
        model = gs.train(params, gs.Dataset(x, label=1e25 * y), 5)
        again = gs.Booster(model_str=model.model_to_string())
        assert np.isfinite(again.predict(x * 1e300)).all()


class TestTraining:
    @pytest.mark.parametrize(
        "more",
        [
            {},
            {"bagging_fraction": 0.5, "bagging_freq": 1},
            {"data_sample_strategy": "goss", "top_rate": 0.2, "other_rate": 0.2},
            {"data_sample_strategy": "mvs", "bagging_fraction": 0.5},
            {"feature_fraction": 0.5},
            {"extra_trees": True},
            {"path_smooth": 5.0},
            {"lambda_l1": 0.5, "lambda_l2": 3.0},
            {"objective": "huber", "alpha": 0.5},
            {"objective": "poisson"},
            {"objective": "multiclass", "num_class": 3},
        ],
    )
    def test_scores_are_the_predictions_to_the_bit(self, more: dict[str, Any]) -> None:
        """Of training rows, inside and outside the sample, and of validation rows."""
        x, y = _rows(900)
        x[::7, 1] = np.nan
        y = np.digitize(y, [-1, 1]).astype(float) if "objective" in more else y
        data = gs.Dataset(x[:600], label=y[:600])
        valid = data.create_valid(x[600:], y[600:])
        model = gs.Booster({**LINEAR, **more}, data).add_valid(valid, "valid")
        for _ in range(8):
            model.update()
        training = model.training
        assert training is not None
        for scored, part in ((training.train, x[:600]), (training.valid[0], x[600:])):
            expected = model.predict(part, raw_score=True)
            np.testing.assert_array_equal(scored.score, expected.T.ravel())

    def test_rollback(self) -> None:
        x, y = _rows()
        model = gs.Booster({**LINEAR, "bagging_fraction": 0.5}, gs.Dataset(x, label=y))
        for _ in range(4):
            model.update()
        before = model.model_to_string()
        training = model.training
        assert training is not None
        score = training.train.score.copy()
        model.update()
        model.rollback_one_iter()
        np.testing.assert_array_equal(training.train.score, score)
        assert model.model_to_string() == before

    def test_a_validation_set_added_late(self) -> None:
        x, y = _rows()
        data = gs.Dataset(x, label=y)
        model = gs.Booster(LINEAR, data)
        for _ in range(4):
            model.update()
        model.add_valid(data.create_valid(x[:50], y[:50]), "late")
        training = model.training
        assert training is not None
        np.testing.assert_array_equal(training.valid[0].score, model.predict(x[:50]))

    @pytest.mark.parametrize("objective", ["huber", "fair", "pseudo_huber", "log_cosh"])
    def test_robust_losses(self, objective: str) -> None:
        x, y = _rows(2000)
        y[::20] += 100
        loss = {}
        for linear in (True, False):
            params = {**LINEAR, "linear_tree": linear, "objective": objective}
            prediction = gs.train(params, gs.Dataset(x, label=y), 40).predict(x)
            loss[linear] = np.median(np.abs(prediction - y))
        assert loss[True] < loss[False]

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
    def test_any_kind_of_matrix(self, order: Any, dtype: Any) -> None:
        x = np.random.default_rng(0).integers(0, 100, size=(500, 3))
        y = x[:, 0] * 0.5 + (x[:, 1] > 50)
        table = np.asarray(x, dtype=dtype, order=order)
        ours = gs.train(LINEAR, gs.Dataset(table, label=y), 10).model_to_string()
        assert ours == gs.train(LINEAR, gs.Dataset(x.astype(float), label=y), 10).model_to_string()

    def test_the_table_is_not_copied(self) -> None:
        x, y = _rows()
        data = gs.Dataset(x, label=y, params={"linear_tree": True}).construct()
        assert data.data is None
        assert built_data(data).raw.get("linear_tree") is x


class TestSparse:
    @pytest.mark.parametrize("kind", ["csr_array", "csc_array", "coo_array"])
    def test_the_same_model_as_from_a_dense_table(self, kind: str) -> None:
        sparse = pytest.importorskip("scipy.sparse")
        x, y = _rows(700)
        x[np.random.default_rng(1).random(x.shape) < 0.6] = 0
        table = getattr(sparse, kind)(x)
        dense_data = gs.Dataset(x[:500], label=y[:500])
        dense = gs.train(LINEAR, dense_data, 10, dense_data.create_valid(x[500:], y[500:]))
        data = gs.Dataset(table.tocsr()[:500].asformat(table.format), label=y[:500])
        model = gs.train(LINEAR, data, 10, data.create_valid(table.tocsr()[500:], y[500:]))
        assert model.model_to_string() == dense.model_to_string()
        assert model.best_score == dense.best_score
        np.testing.assert_array_equal(model.predict(table), dense.predict(x))
        leaves = dense.predict(x, pred_leaf=True)
        np.testing.assert_array_equal(model.predict(table, pred_leaf=True), leaves)


class TestDataset:
    def test_freed_data(self) -> None:
        x, y = _rows()
        data = gs.Dataset(x, label=y).construct()
        with pytest.raises(DataError, match=r"linear_tree.*free_raw_data=False"):
            gs.train(LINEAR, data, 2)

    def test_freed_validation_data(self) -> None:
        x, y = _rows()
        data = gs.Dataset(x, label=y, params={"linear_tree": True})
        valid = data.create_valid(x, y).construct()
        with pytest.raises(DataError, match=r"linear_tree needs raw values.*freed"):
            gs.train(LINEAR, data, 2, valid)

    def test_a_parameter_of_the_data_set(self) -> None:
        """It turns linear leaves on, as in LightGBM, unless the training says otherwise."""
        x, y = _rows()
        plain = {name: value for name, value in LINEAR.items() if name != "linear_tree"}
        data = gs.Dataset(x, label=y, params={"linear_trees": True}).construct()
        expected = gs.train(LINEAR, data, 4).predict(x)
        np.testing.assert_array_equal(gs.train(plain, data, 4).predict(x), expected)
        off = gs.train({**plain, "linear_tree": False}, data, 4)
        other = gs.Dataset(x, label=y, free_raw_data=False)
        np.testing.assert_array_equal(off.predict(x), gs.train(plain, other, 4).predict(x))
        gs.train(LINEAR, other, 4)
        np.testing.assert_array_equal(off.predict(x), gs.train(plain, other, 4).predict(x))

    def test_kept_data(self) -> None:
        x, y = _rows()
        kept = gs.Dataset(x, label=y, free_raw_data=False).construct()
        fresh = gs.Dataset(x, label=y)
        ours, theirs = (gs.train(LINEAR, data, 5).model_to_string() for data in (kept, fresh))
        assert ours == theirs

    def test_binary_files_have_no_raw_values(self, tmp_path: Any) -> None:
        x, y = _rows()
        gs.Dataset(x, label=y).save_binary(tmp_path / "rows.bin")
        data = gs.Dataset(tmp_path / "rows.bin", params={"linear_tree": True})
        with pytest.raises(DataError, match="save_binary"):
            gs.train(LINEAR, data, 2)

    def test_subsets(self) -> None:
        x, y = _rows()
        rows = np.arange(0, 600, 2)
        whole = gs.Dataset(x, label=y, params={"linear_tree": True})
        model = gs.train(LINEAR, whole.subset(rows), 5, keep_training_booster=True)
        assert model.training is not None
        np.testing.assert_array_equal(model.training.train.score, model.predict(x[rows]))

    def test_frames_in_another_order(self) -> None:
        pandas = pytest.importorskip("pandas")
        x, y = _rows()
        frame = pandas.DataFrame(x, columns=list("abcd"))
        data = gs.Dataset(frame, label=y)
        valid = data.create_valid(frame[list("dcba")], y)
        params = {**LINEAR, "metric": "l2", "is_provide_training_metric": True}
        scores = gs.train(params, data, 5, valid).best_score
        assert scores["training"] == scores["valid_0"]


class TestRefused:
    @pytest.mark.parametrize("objective", ["regression_l1", "quantile", "mape"])
    def test_objectives_of_signs(self, objective: str) -> None:
        x, y = _rows()
        with pytest.raises(ParameterError, match=f"linear_tree.*{objective}.*huber"):
            gs.train({**LINEAR, "objective": objective}, gs.Dataset(x, label=y), 2)

    def test_zero_as_missing(self) -> None:
        x, y = _rows()
        with pytest.raises(ParameterError, match="zero_as_missing"):
            gs.train({**LINEAR, "zero_as_missing": True}, gs.Dataset(x, label=y), 2)

    def test_vector_leaves(self) -> None:
        x, y = _rows()
        data = gs.Dataset(x, label=np.column_stack([y, y]))
        with pytest.raises(ParameterError, match=r"linear_tree.*multi_output_tree"):
            gs.train({**LINEAR, "multi_strategy": "multi_output_tree"}, data, 2)

    def test_halfway(self) -> None:
        x, y = _rows()
        model = gs.Booster({"verbosity": -1}, gs.Dataset(x, label=y))
        with pytest.raises(ParameterError, match="linear_tree cannot change"):
            model.reset_parameter({"linear_tree": True})

    def test_native_calls_check_the_raw_table(self) -> None:
        x, y = _rows()
        data = gs.Dataset(x, label=y, params={"linear_tree": True})
        model = gs.train(LINEAR, data, 3, keep_training_booster=True)
        assert model.training is not None
        tree, bins, score = model.training.trees[-1], built_data(data).table.bins, np.zeros(600)
        rows = "raw must have the rows"
        for raw, what in ((None, "need the raw"), (x[:5], rows), (x[:, :2], rows), (7, "raw")):
            with pytest.raises(ValueError, match=what):
                _native.add_tree_to_scores(bins, tree, None, score, 1, raw=raw)
        assert not score.any()


class TestModels:
    def test_files_pickles_and_parts(self, tmp_path: Any) -> None:
        x, y = _rows()
        model = gs.train(LINEAR, gs.Dataset(x, label=y), 9)
        expected = model.predict(x)
        model.save_model(tmp_path / "model")
        for copy in (
            gs.Booster(model_file=tmp_path / "model"),
            gs.Booster(model_str=model.model_to_string()),
            pickle.loads(pickle.dumps(model)),
        ):
            np.testing.assert_array_equal(copy.predict(x), expected)
            assert copy.model_to_string() == model.model_to_string()
        first = gs.Booster(model_str=model.model_to_string(num_iteration=4))
        rest = gs.Booster(model_str=model.model_to_string(start_iteration=4))
        np.testing.assert_array_equal(first.predict(x), model.predict(x, num_iteration=4))
        np.testing.assert_allclose(first.predict(x) + rest.predict(x), expected, atol=1e-12)

    def test_plain_models_have_the_plain_format(self) -> None:
        x, y = _rows()
        model = gs.train(LINEAR, gs.Dataset(x, label=y), 3)
        assert model.model_to_string().startswith("gossamer model 2\n")
        assert model.model_to_string(num_iteration=1).startswith("gossamer model 1\n")

    def test_importance_and_leaves(self) -> None:
        x, y = _rows()
        model = gs.train(LINEAR, gs.Dataset(x, label=y), 4)
        assert model.feature_importance().sum() == 4 * 7
        leaves = model.predict(x, pred_leaf=True)
        assert leaves.shape == (600, 4)
        assert leaves.max() == 7
        assert isinstance(model.get_leaf_output(2, 3), float)

    def test_sklearn(self) -> None:
        pytest.importorskip("sklearn")
        x, y = _rows()
        model = gs.GossamerRegressor(n_estimators=10, linear_tree=True, verbosity=-1)
        model.fit(x, y, eval_set=[(x, y)])
        np.testing.assert_array_equal(model.predict(x), model.booster_.predict(x))


def _left_out(x: Array, g: Array, h: Array, least_noise: float) -> tuple[float, float]:
    """How the loss of left-out rows changes with the share s of the slopes: by a s + b s^2 / 2.

    Every fourth row is left out, and the leaf fitted again without them.
    """
    a = b = 0.0
    for fold in range(4):
        out = np.arange(len(x)) % 4 == fold
        own_g, own_h = g[~out], h[~out]
        if not _is_tried(x[~out], own_g, own_h, least_noise):
            continue
        slopes, plain, mean = _fit_leaf(x[~out], own_g, own_h, 0.0)
        u = (x - mean) @ slopes
        own_b = np.sum(h[out] * u[out] ** 2)
        most = 4 * np.average(u[~out] ** 2, weights=own_h) * h[out].sum()
        shorter = min(most / own_b, 1.0)
        a += np.sum((g + h * plain)[out] * u[out]) * np.sqrt(shorter)
        b += own_b * shorter
    return a, b


def _is_tried(x: Array, g: Array, h: Array, least_noise: float) -> bool:
    """Whether the only column gains more than twice what noise would."""
    slopes, _, mean = _fit_leaf(x, g, h, 0.0)
    noise = max((np.sum(g**2) - np.sum(g) ** 2 / np.sum(h)) / np.sum(h), least_noise)
    return bool(np.sum(h * (x[:, 0] - mean[0]) ** 2) * slopes[0] ** 2 > 2 * noise)


class TestCheck:
    """Leaves are linear where that helps rows which are left out of the fit."""

    @pytest.mark.parametrize(("objective", "seed"), [("regression", 4), ("binary", 5)])
    def test_the_share_of_slopes_comes_from_left_out_rows(self, objective: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(400, 1))
        signal = np.sin(3 * x[:, 0]) + 0.5 * x[:, 0]
        y = signal + 2.5 * rng.normal(size=400)
        params = {**CHECKED, "objective": objective, "num_leaves": 5}
        label = y.astype(np.float32)
        if objective == "binary":
            label = (rng.random(400) < 1 / (1 + np.exp(-signal))).astype(np.float32)
        model = gs.train(params, gs.Dataset(x, label=label), 2)
        before = model.predict(x, num_iteration=1, raw_score=True)
        p = 1 / (1 + np.exp(-before))
        g, h = (
            (before - label, np.ones(400)) if objective == "regression" else (p - label, p - p * p)
        )
        leaves = model.predict(x, pred_leaf=True)[:, 1]
        rows = [np.flatnonzero(leaves == leaf) for leaf in range(5)]
        fits = [_fit_leaf(x[r], g[r], h[r], 0.0) for r in rows]
        least_noise = 1.0 if objective == "binary" else 0.0
        tried = [_is_tried(x[r], g[r], h[r], least_noise) for r in rows]
        changes = [_left_out(x[r], g[r], h[r], least_noise) for r in rows]
        mean_a, mean_b = np.mean([c for c in changes if c[1] > 0], axis=0)
        tree = model.model.forest.tree(1)
        begin, coefficient = tree.linear["linear_begin"], tree.linear["linear_coefficient"]
        shares = []
        for leaf, (a, b) in enumerate(changes):
            best = -(a + 6 * mean_a) / (b + 6 * mean_b)
            share = np.clip(1.9 * best, 0.0, 1.0) * tried[leaf]
            own = coefficient[begin[leaf] : begin[leaf + 1]]
            assert len(own) == (share > 0)
            if share:
                assert own[0] == pytest.approx(0.1 * share * fits[leaf][0][0], rel=1e-3)
            shares.append(share)
        assert any(0 < share < 1 for share in shares)

    def test_log_losses_need_slopes_that_gain_a_share_of_the_splits(self) -> None:
        """Left-out rows would take slopes in each of these trees."""
        is_linear = []
        for slope in (0.3, 0.6, 1.2, 2.4):
            rng = np.random.default_rng(1)
            x = rng.normal(size=(4000, 1))
            chance = 1 / (1 + np.exp(-np.where(x[:, 0] > 0, 0.8, -0.8) - slope * x[:, 0]))
            label = (rng.random(4000) < chance).astype(np.float32)
            params = {**CHECKED, "objective": "binary", "num_leaves": 2}
            model = gs.train(params, gs.Dataset(x, label=label), 2)
            p = 1 / (1 + np.exp(-model.predict(x, num_iteration=1, raw_score=True)))
            g, h = p - label, p - p * p
            leaves = model.predict(x, pred_leaf=True)[:, 1]
            rows = [np.flatnonzero(leaves == leaf) for leaf in range(2)]
            assert all(_is_tried(x[r], g[r], h[r], 1.0) for r in rows)
            a, b = np.sum([_left_out(x[r], g[r], h[r], 1.0) for r in rows], axis=0)
            by_splits = 0.5 * sum(g[r].sum() ** 2 / h[r].sum() for r in rows)
            by_splits -= 0.5 * g.sum() ** 2 / h.sum()
            assert a < 0
            tree = model.model.forest.tree(1)
            is_linear.append(len((tree.linear or {}).get("linear_column", ())) > 0)
            assert is_linear[-1] == (a**2 / (2 * b) > 0.03 * by_splits)
        assert is_linear == [False, True, True, True]

    def test_steps_and_noise_stay_constant(self) -> None:
        """Slopes that fit noise cost nearly nothing; unchecked ones do."""
        rng = np.random.default_rng(0)
        x, other = rng.standard_cauchy(size=(2, 3000, 4))
        step = [2.0 * (t[:, 0] > 0) + (t[:, 1] > 1) for t in (x, other)]
        y = step[0] + 2 * rng.normal(size=3000)
        loss = {}
        for name, more in {
            "plain": {"linear_tree": False},
            "checked": {},
            "unchecked": {"linear_check": False},
        }.items():
            params = {**CHECKED, "num_leaves": 31, **more}
            model = gs.train(params, gs.Dataset(x, label=y), 60)
            loss[name] = np.mean((model.predict(other) - step[1]) ** 2)
        extra = {name: loss[name] - loss["plain"] for name in ("checked", "unchecked")}
        assert extra["checked"] < 0.005 * (loss["plain"] + 4.0)  # 4: the variance of the noise
        assert extra["unchecked"] > 5 * max(extra["checked"], 0.01)

    def test_chosen_terms_are_judged_by_rows_that_did_not_choose_them(self) -> None:
        """With many columns on a path, some fit the noise of a small leaf."""
        extra = []
        for seed in range(3):
            rng = np.random.default_rng(seed)
            x, other = rng.normal(size=(2, 3000, 10))
            step = [2.0 * (t[:, 0] > 0) + (t[:, 1] > 1) for t in (x, other)]
            y = step[0] + 2 * rng.normal(size=3000)
            loss = []
            for linear in (False, True):
                params = {**CHECKED, "num_leaves": 31, "linear_tree": linear}
                model = gs.train(params, gs.Dataset(x, label=y), 60)
                loss.append(np.mean((model.predict(other) - step[1]) ** 2))
            extra.append(loss[1] / loss[0] - 1)
        assert np.mean(extra) < 0.05

    @pytest.mark.parametrize("weight", [None, 1e-3, 1e3])
    def test_rows_that_are_fitted_too_closely_get_no_slopes(self, weight: float | None) -> None:
        """Their gradients are much smaller than those of a model that is right."""
        rng = np.random.default_rng(0)
        x = rng.normal(size=(2000, 5))
        y = x[:, 0] + x[:, 1] * x[:, 2] > 0
        data = gs.Dataset(x, label=y, weight=None if weight is None else np.full(2000, weight))
        params = {**CHECKED, "num_leaves": 31, "objective": "binary", "min_sum_hessian": 1e-9}
        forest = gs.train(params, data, 250).model.forest
        n_terms = [len((forest.tree(t).linear or {}).get("linear_column", ())) for t in range(250)]
        assert sum(n_terms[:20]) > 50
        assert sum(n_terms[200:]) == 0

    def test_slopes_that_help_are_kept(self) -> None:
        x, y = _rows(2000)
        other, z = _rows(2000, seed=1)
        loss = {}
        for linear in (False, True):
            params = {**CHECKED, "linear_tree": linear}
            model = gs.train(params, gs.Dataset(x, label=y), 60)
            loss[linear] = np.mean((model.predict(other) - z) ** 2)
        assert loss[True] < 0.6 * loss[False]

    def test_a_row_that_decides_its_own_value(self) -> None:
        x = np.zeros((60, 2))
        x[:30, 0] = 1
        x[0, 1], x[30, 1] = 1e6, -1e6  # leverage 1
        y = np.r_[np.full(30, 5.0), np.full(30, -5.0)]
        y[0], y[30] = 100.0, -100.0
        params = {**CHECKED, "min_data_in_leaf": 5, "min_data_in_bin": 1, "num_leaves": 2}
        forest = gs.train(params, gs.Dataset(x, label=y), 5).model.forest
        assert forest.linear is None or len(forest.linear["linear_column"]) == 0


class TestDeterminism:
    @pytest.mark.parametrize("check", [True, False])
    def test_threads_and_levels(self, check: bool) -> None:
        x, y = _rows(5000, n_columns=6)
        x[::11, 2] = np.nan
        found = set()
        before = _native.kernel_level()
        try:
            for level in _native.kernel_levels():
                _native.set_kernel_level(level)
                for n_threads in (1, 2, 3, 8):
                    params = {**CHECKED, "linear_check": check, "bagging_fraction": 0.8}
                    params["num_threads"] = n_threads
                    model = gs.train(params, gs.Dataset(x, label=y), 6)
                    found.add(model.model_to_string())
                    found.add(str(model.predict(x, num_threads=n_threads).tobytes()))
        finally:
            _native.set_kernel_level(before)
        assert len(found) == 2

    @settings(max_examples=40, deadline=None)
    @given(
        x=hnp.arrays(
            np.float64,
            st.tuples(st.integers(4, 60), st.integers(1, 4)),
            elements=st.one_of(
                st.floats(-3, 3), st.floats(allow_nan=True, allow_infinity=True, width=64)
            ),
        ),
        penalty=st.sampled_from([0.0, 1.0]),
        seed=st.integers(0, 5),
        check=st.booleans(),
    )
    def test_any_table(self, x: Array, penalty: float, seed: int, check: bool) -> None:
        """Scores are finite, predictions to the bit, and within the model's bounds."""
        y = np.random.default_rng(seed).normal(size=len(x))
        params = {**LINEAR, "min_data_in_leaf": 2, "linear_lambda": penalty, "min_data_in_bin": 1}
        params["linear_check"] = check
        model = gs.train(params, gs.Dataset(x, label=y), 5, keep_training_booster=True)
        assert model.training is not None
        prediction = model.predict(x)
        np.testing.assert_array_equal(prediction, model.training.train.score)
        assert np.isfinite(prediction).all()
        assert (prediction >= model.lower_bound()).all()
        assert (prediction <= model.upper_bound()).all()
        again = gs.Booster(model_str=model.model_to_string())
        np.testing.assert_array_equal(again.predict(x), prediction)
