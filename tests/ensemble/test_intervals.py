"""Intervals and sets: as many labels are inside as was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import gossamer as gs
from gossamer.errors import DataError, NotSupportedError, ParameterError
from gossamer.model.ensemble.conformal import Misfits

FAST = {"verbose": -1, "num_leaves": 4, "learning_rate": 0.3, "min_data_in_leaf": 5}


def _numbers(n: int, seed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Noise that grows with the first column."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, size=(n, 2))
    return x, 3 * x[:, 1] + (0.2 + 2 * x[:, 0]) * rng.normal(size=n)


def _classes(n: int, seed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, np.argmax(x + rng.normal(size=(n, 3)), axis=1)


def _fit(x: Any, y: Any, **params: Any) -> gs.Booster:
    data = gs.Dataset(x, y)
    return gs.train_folds({**FAST, **params}, data, 15, nfold=5)


def _share(model: gs.Booster, x: Any, y: Any, coverage: float, **options: Any) -> Any:
    low, high = model.predict_interval(x, coverage, **options).T
    assert (low <= high).all()
    return (low <= y) & (y <= high)


def test_bounds_are_order_statistics() -> None:
    """The bisection finds what sorting all values finds."""
    rng = np.random.default_rng(0)
    misfit, member = rng.exponential(size=200), rng.integers(0, 4, 200)
    centre, scale = rng.normal(size=(4, 30)), rng.uniform(0.5, 2, size=(4, 30))
    misfits = Misfits.of(misfit, np.ones(200), member, 4)
    found = misfits.upper_bounds(centre, scale, 0.9, np.ones(30))
    values = np.sort(centre[member] + scale[member] * misfit[:, None], axis=0)
    expected = values[int(np.ceil(0.9 * 201)) - 1]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_tight_intervals_are_about_the_average() -> None:
    """CV+ covers more than it is asked for where members differ; tight intervals do not."""
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(6000, 6))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 8 * x[:, 2] + rng.normal(size=6000)
    params = {"verbose": -1, "learning_rate": 0.2, "min_data_in_leaf": 5}
    model = gs.train_folds(params, gs.Dataset(x[:2000], y[:2000]), 60, nfold=8)
    plain = model.predict_interval(x[2000:], 0.8)
    tight = model.predict_interval(x[2000:], 0.8, tight=True)
    assert (tight[:, 0] >= plain[:, 0]).all() and (tight[:, 1] <= plain[:, 1]).all()
    above = _share(model, x[2000:], y[2000:], 0.8).mean()
    near = _share(model, x[2000:], y[2000:], 0.8, tight=True).mean()
    assert above > 0.815 and abs(near - 0.8) < 0.015
    few = gs.train_folds(FAST, gs.Dataset(x[:40], y[:40]), 3, nfold=4)
    assert np.isinf(few.predict_interval(x[:3], 0.99, tight=True)).all()
    quantiles = _fit(x[:300], y[:300], objective="quantile", quantile_alpha=[0.1, 0.9])
    with pytest.raises(NotSupportedError, match="tight=True does not fit"):
        quantiles.predict_interval(x, tight=True)


def test_too_few_rows_give_infinite_intervals() -> None:
    misfits = Misfits.of(np.ones(5), np.ones(5), np.zeros(5, np.int64), 1)
    one = np.ones((1, 1))
    assert np.isinf(misfits.upper_bounds(one, one, 0.95, np.ones(1))).all()


@pytest.mark.parametrize("coverage", [0.8, 0.95])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"objective": "quantile", "quantile_alpha": [0.05, 0.5, 0.95]},
        {"objective": "gaussian"},
    ],
    ids=["regression", "quantiles", "gaussian"],
)
def test_coverage_over_many_data_sets(params: dict[str, Any], coverage: float) -> None:
    """In the mean over training sets: at least what is promised, and not much more."""
    inside = []
    for seed in range(12):
        model = _fit(*_numbers(150, seed), **params)
        inside.append(_share(model, *_numbers(200, 1000 + seed), coverage).mean())
    assert coverage - 0.02 <= np.mean(inside) <= coverage + 0.045


@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_sets_over_many_data_sets(coverage: float) -> None:
    inside, sizes = [], []
    for seed in range(8):
        model = _fit(*_classes(200, seed), objective="multiclass", num_class=3)
        x, y = _classes(200, 1000 + seed)
        sets = model.predict_set(x, coverage)
        inside.append(sets[np.arange(200), y].mean())
        sizes.append(sets.sum(axis=1).mean())
    assert coverage - 0.02 <= np.mean(inside) <= coverage + 0.06
    assert 1 <= np.mean(sizes) < 3


def test_groups_are_covered_each() -> None:
    """Mondrian: the calm half is no longer covered too often, the noisy one too rarely."""
    x, y = _numbers(3000, 0)
    x_new, y_new = _numbers(3000, 1)
    model = _fit(x, y)
    noisy, noisy_new = x[:, 0] > 0.5, x_new[:, 0] > 0.5
    plain = _share(model, x_new, y_new, 0.9)
    grouped = _share(model, x_new, y_new, 0.9, groups=noisy_new, train_groups=noisy)
    assert plain[~noisy_new].mean() > 0.95
    for part in (noisy_new, ~noisy_new):
        assert abs(grouped[part].mean() - 0.9) < 0.03


def test_classes_are_covered_each() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 2))
    y = (x[:, 0] + rng.normal(size=3000) > 1.5).astype(int)  # class 1 is rare
    model = _fit(x[:2000], y[:2000], objective="binary")
    plain = model.predict_set(x[2000:], 0.9)[np.arange(1000), y[2000:]]
    by_class = model.predict_set(x[2000:], 0.9, by_class=True)[np.arange(1000), y[2000:]]
    rare = y[2000:] == 1
    assert plain[rare].mean() < 0.8
    assert by_class[rare].mean() > 0.83


def test_classes_may_be_minus_one_and_one() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(400, 2))
    y = (x[:, 0] + rng.normal(size=400) > 0).astype(int)
    params = {"objective": "binary", "verbosity": -1, "num_threads": 1}
    plain, signed = (
        gs.train_folds(params, gs.Dataset(x, label), 20, nfold=3, calibration="sigmoid")
        for label in (y, 2 * y - 1)
    )
    np.testing.assert_array_equal(signed.predict_set(x, 0.8), plain.predict_set(x, 0.8))
    np.testing.assert_array_equal(signed.predict(x), plain.predict(x))
    assert gs.Booster(model_str=signed.model_to_string()).num_trees() == signed.num_trees()


@pytest.mark.parametrize(
    "other",
    [{"predict_leaf_index": True}, {"predict_contrib": True}, {"start_iteration_predict": 3}],
)
def test_parameters_of_other_predictions_change_nothing(other: dict[str, Any]) -> None:
    """A member's scores are compared with its out-of-fold scores: both are of all its rounds."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(200, 2))
    data = {"verbosity": -1, "num_threads": 1}, gs.Dataset(x, x[:, 0] + rng.normal(size=200))
    model = gs.train_folds(*data, 10, nfold=2)
    expected = model.predict_interval(x)
    np.testing.assert_array_equal(model.predict_interval(x, **other), expected)


def test_weights_follow_a_shift() -> None:
    """Rows to predict are mostly noisy ones; with weights the coverage is right again."""
    x, y = _numbers(3000, 0)
    model = _fit(x, y)
    rng = np.random.default_rng(5)
    x_new, y_new = _numbers(9000, 1)
    kept = rng.uniform(size=9000) < x_new[:, 0] ** 3
    x_new, y_new = x_new[kept], y_new[kept]
    plain = _share(model, x_new, y_new, 0.9).mean()
    weighted = _share(
        model, x_new, y_new, 0.9, weight=x_new[:, 0] ** 3, train_weight=x[:, 0] ** 3
    ).mean()
    assert plain < 0.86
    assert abs(weighted - 0.9) < 0.03


def test_quantiles_adapt_and_repeats_work() -> None:
    x, y = _numbers(2000, 0)
    params = {"objective": "quantile", "quantile_alpha": [0.05, 0.95]}
    model = gs.train_folds({**FAST, **params}, gs.Dataset(x, y), 30, nfold=3, repeats=2)
    low, high = model.predict_interval(np.array([[0.05, 0.5], [0.95, 0.5]])).T
    assert (high - low)[1] > 2 * (high - low)[0]


def test_files_keep_what_intervals_need(tmp_path: Any) -> None:
    x, y = _numbers(300, 0)
    model = _fit(x, y)
    model.save_model(tmp_path / "model.gsm")
    again = gs.Booster(model_file=tmp_path / "model.gsm")
    assert np.array_equal(again.predict_interval(x), model.predict_interval(x))


def test_positive_labels_have_positive_ends() -> None:
    x, y = _numbers(400, 0)
    model = _fit(x, np.exp(y / 3), objective="gamma")
    assert (model.predict_interval(x) >= 0).all()


def test_estimators() -> None:
    x, y = _numbers(400, 0)
    regressor = gs.GossamerRegressor(folds=4, n_estimators=10, verbose=-1).fit(x, y)
    assert regressor.predict_interval(x, coverage=0.8).shape == (400, 2)
    x, y = _classes(300, 0)
    names = np.array(["a", "b", "c"])[y]
    classifier = gs.GossamerClassifier(folds=4, n_estimators=10, verbose=-1).fit(x, names)
    assert classifier.predict_set(x, coverage=0.8).shape == (300, 3)


def test_what_does_not_fit_is_refused() -> None:
    x, y = _numbers(200, 0)
    model = _fit(x, y)
    for coverage in (0, 1, 90, "0.9"):
        with pytest.raises(ParameterError, match="coverage"):
            model.predict_interval(x, coverage)  # type: ignore[arg-type]
    with pytest.raises(NotSupportedError, match="predict_interval"):
        model.predict_set(x)
    with pytest.raises(ParameterError, match="train_groups"):
        model.predict_interval(x, groups=np.zeros(200))
    with pytest.raises(DataError, match="weight"):
        model.predict_interval(x, weight=np.full(200, -1.0))
    with pytest.raises(NotSupportedError, match="predict_set"):
        _fit(x, y > 0, objective="binary").predict_interval(x)
    with pytest.raises(NotSupportedError, match="train_folds"):
        gs.train(FAST, gs.Dataset(x, y), 2).predict_interval(x)
    data = gs.Dataset(x, y, init_score=np.ones(200))
    with pytest.raises(NotSupportedError, match="init_score"):
        gs.train_folds(FAST, data, 3, nfold=3).predict_interval(x)
