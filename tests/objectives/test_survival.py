"""Cox and accelerated failure time: derivatives, start values, labels, and XGBoost's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from gossamer import Booster, DataError, Dataset, ParameterError, train
from gossamer.data import Targets
from gossamer.metrics import make_metrics
from gossamer.metrics.survival import AFTLoss, Concordance, CoxLoss, IntervalAccuracy
from gossamer.objectives import AFT, Cox, Gradients, Objective, Regression, objective_from_config
from gossamer.params import resolve

RNG = np.random.default_rng(3)
N_ROWS = 200
DISTRIBUTIONS = {"normal": stats.norm, "logistic": stats.logistic, "extreme": stats.gumbel_l}
QUIET = {"verbosity": -1, "num_threads": 1}


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(3)


def make_cox(n_rows: int = N_ROWS, *, weighted: bool = False) -> Targets:
    """Times with many ties, about half of them censored."""
    times = np.ceil(RNG.exponential(size=n_rows) * 20) / 4
    label = np.where(RNG.random(n_rows) < 0.5, times, -times).astype(np.float32)
    return Targets(label, RNG.integers(0, 4, n_rows).astype(np.float32) if weighted else None)


def make_intervals(n_rows: int = N_ROWS, *, weighted: bool = False) -> Targets:
    """Known, right-, left- and interval-censored times."""
    times, kind = np.exp(RNG.normal(size=n_rows)), np.arange(n_rows) % 4
    lower = np.where(kind == 2, 0, times)
    upper = np.choose(kind, [times, np.full(n_rows, np.inf), times, times * 1.7])
    weight = (RNG.random(n_rows) + 0.5).astype(np.float32) if weighted else None
    return Targets(np.concatenate([lower, upper]).astype(np.float32), weight, 2)


def as_columns(targets: Targets) -> np.ndarray:
    return targets.label.reshape(targets.n_targets, -1).T


def cox_loss(score: np.ndarray, targets: Targets) -> float:
    """Pair by pair, in float64."""
    time, weight = np.abs(targets.label), np.ones(targets.n_rows)
    if targets.weight is not None:
        weight = targets.weight.astype(np.float64)
    at_risk = time[None, :] >= time[:, None]
    totals = (at_risk * (weight * np.exp(score))[None, :]).sum(axis=1)
    counts = (targets.label > 0) & (weight > 0)
    return float((weight[counts] * (np.log(totals[counts]) - score[counts])).sum())


def aft_loss(score: Any, targets: Targets, distribution: str, scale: float) -> np.ndarray:
    law = DISTRIBUTIONS[distribution]
    lower, upper = targets.label.astype(np.float64).reshape(2, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (np.log(lower) - score) / scale, (np.log(upper) - score) / scale
        known = -law.logpdf(low) + np.log(scale * lower)
        # In the tail where the difference does not cancel.
        above = law.logsf(low) + np.log1p(-np.exp(law.logsf(high) - law.logsf(low)))
        below = law.logcdf(high) + np.log1p(-np.exp(law.logcdf(low) - law.logcdf(high)))
        open_ = -np.where(low > 0, above, below)
    return np.where(lower == upper, known, open_)


def gradients_of(
    objective: Objective, score: np.ndarray, targets: Targets
) -> tuple[np.ndarray, np.ndarray]:
    out = Gradients.empty(targets.n_rows, 1, has_hessian=True)
    objective.fill_gradients(score, targets, out, 2)
    assert out.hessian is not None
    return out.gradient.astype(np.float64), out.hessian.astype(np.float64)


class TestCox:
    """Partial likelihood."""

    @pytest.mark.parametrize("weighted", [False, True])
    def test_derivatives_are_those_of_the_loss(self, weighted: bool) -> None:
        targets, step = make_cox(60, weighted=weighted), 1e-4
        score = RNG.normal(size=60)
        gradient, hessian = gradients_of(Cox(), score, targets)
        here = cox_loss(score, targets)
        for i, unit in enumerate(np.eye(60) * step):
            up, down = cox_loss(score + unit, targets), cox_loss(score - unit, targets)
            assert gradient[i] == pytest.approx((up - down) / (2 * step), abs=1e-5)
            assert hessian[i] == pytest.approx((up - 2 * here + down) / step**2, abs=1e-4)

    def test_the_loss_does_not_depend_on_a_constant(self) -> None:
        targets = make_cox()
        score = RNG.normal(size=N_ROWS)
        gradient, _ = gradients_of(Cox(), score, targets)
        assert gradient.sum() == pytest.approx(0, abs=1e-4)
        for shift in (-1e6, 700.0, 1e6):
            shifted, _ = gradients_of(Cox(), score + shift, targets)
            np.testing.assert_allclose(shifted, gradient, atol=1e-5)
        assert Cox().start_scores(targets) == [0.0]

    def test_weights_are_repeated_rows(self) -> None:
        targets = make_cox(weighted=True)
        assert targets.weight is not None
        score, times = RNG.normal(size=N_ROWS), targets.weight.astype(int)
        repeated = Targets(np.repeat(targets.label, times))
        repeated_score = np.repeat(score, times)
        metric = CoxLoss()
        assert metric.evaluate(score, targets, Cox()) == pytest.approx(
            metric.evaluate(repeated_score, repeated, Cox()), rel=1e-12
        )
        gradient, hessian = gradients_of(Cox(), score, targets)
        found = gradients_of(Cox(), repeated_score, repeated)[0]
        rows = np.repeat(np.arange(N_ROWS), times)
        summed = np.bincount(rows, found, minlength=N_ROWS)
        np.testing.assert_allclose(gradient, summed, atol=1e-5)
        assert (hessian >= 0).all()

    def test_scores_beyond_all_bounds(self) -> None:
        targets = make_cox()
        gradient, hessian = gradients_of(Cox(), RNG.normal(size=N_ROWS) * 1e6, targets)
        assert np.isfinite(gradient).all() and np.isfinite(hessian).all()
        assert (hessian >= 0).all()
        predicted = Cox().to_predictions(np.array([-1e9, 0.0, 1e9]), 1)
        assert np.isfinite(predicted).all() and predicted[1] == 1.0

    def test_intervals_and_records_say_the_same_as_signs(self) -> None:
        x, label = RNG.normal(size=(N_ROWS, 3)), make_cox().label
        time = np.abs(label).astype(np.float64)
        columns = np.column_stack([time, np.where(label > 0, time, np.inf)])
        records = np.zeros(N_ROWS, dtype=[("event", bool), ("time", float)])
        records["event"], records["time"] = label > 0, time
        params = {"objective": "survival:cox", "metric": "cox,concordance", **QUIET}
        found = []
        for y in (label, columns, records):
            data = Dataset(x, y)
            booster = train(params, data, 5, [data])
            found.append((booster.predict(x).tolist(), booster.best_score))
        assert found[0] == found[1] == found[2]

    def test_all_censored(self) -> None:
        with pytest.raises(DataError, match=r"no row .* has an event: all are censored"):
            train({"objective": "cox"}, Dataset(np.ones((5, 1)), -np.ones(5)), 1)
        with pytest.raises(DataError, match="all are censored"):  # the only event does not count
            data = Dataset(np.ones((2, 1)), [-1, 1], weight=[1, 0])
            train({"objective": "cox"}, data, 1)
        censored = Targets(np.array([-1, -2], dtype=np.float32))
        assert CoxLoss().evaluate(np.zeros(2), censored, Cox()) == 0.0
        assert Concordance().evaluate(np.zeros(2), censored, Cox()) == 0.5

    @pytest.mark.parametrize(
        ("label", "words"),
        [
            ([1, 0, -2, 3], r"row 1 of the training data does not fit objective=cox: got 0\.0"),
            ([[1, 1], [2, 3], [1, 1], [1, 1]], r"row 1 .* got \(2\.0, 3\.0\)"),
            ([[1, 1], [0, np.inf], [1, 1], [1, 1]], r"row 1 .* got \(0\.0, inf\)"),
            ([[1, 1, 1]] * 4, "got 3 columns, expected one column of times, or two"),
            ([1, np.nan, 1, 1], "label of row 1 is missing: got nan"),
        ],
    )
    def test_bad_labels(self, label: Any, words: str) -> None:
        with pytest.raises(DataError, match=words):
            train({"objective": "cox"}, Dataset(np.ones((4, 1)), label), 1)

    def test_bad_validation_labels(self) -> None:
        train_set = Dataset(np.arange(40.0).reshape(-1, 1), np.arange(1, 41))
        valid = train_set.create_valid(np.arange(40.0).reshape(-1, 1), np.arange(40))
        with pytest.raises(DataError, match="row 0 of the v data does not fit objective=cox"):
            train({"objective": "cox", **QUIET}, train_set, 1, [valid], ["v"])


class TestAFT:
    """Intervals of times."""

    @pytest.mark.parametrize("scale", [0.6, 1.0, 2.5])
    @pytest.mark.parametrize("distribution", DISTRIBUTIONS)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_loss_and_derivatives(self, distribution: str, scale: float, weighted: bool) -> None:
        targets = make_intervals(weighted=weighted)
        objective = AFT(distribution, scale)
        score, step = RNG.normal(size=N_ROWS), 1e-4
        weight = 1.0 if targets.weight is None else targets.weight.astype(np.float64)
        up, here, down = (
            aft_loss(score + d, targets, distribution, scale) for d in (step, 0.0, -step)
        )
        total = objective.total_loss(score, targets, 1, np.inf)
        assert total == pytest.approx((weight * here).sum(), rel=1e-9)
        gradient, hessian = gradients_of(objective, score, targets)
        expected = np.clip((up - down) / (2 * step), -15, 15) * weight
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)
        expected = np.clip((up - 2 * here + down) / step**2, 0, 15) * weight
        np.testing.assert_allclose(hessian, expected, rtol=1e-3, atol=1e-5)

    @pytest.mark.parametrize("distribution", DISTRIBUTIONS)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_start_is_the_minimiser(self, distribution: str, weighted: bool) -> None:
        targets = make_intervals(weighted=weighted)
        objective = AFT(distribution, 0.8)
        best = optimize.minimize_scalar(
            lambda s: objective.total_loss(np.full(N_ROWS, s), targets, 1, np.inf),
            bracket=(-1.0, 1.0),
            tol=1e-10,
        )
        assert objective.start_scores(targets) == pytest.approx([best.x], abs=1e-6)

    def test_start_of_known_normal_times_is_their_mean(self) -> None:
        label = np.exp(RNG.normal(size=N_ROWS)).astype(np.float32)
        assert AFT().start_scores(Targets(label)) == pytest.approx([np.log(label).mean()])

    @pytest.mark.parametrize("distribution", DISTRIBUTIONS)
    def test_start_is_finite_where_all_rows_are_censored_on_one_side(
        self, distribution: str
    ) -> None:
        times = np.exp(RNG.normal(size=20))
        for lower, upper, sign in ((times, np.full(20, np.inf), 1), (np.zeros(20), times, -1)):
            label = np.concatenate([lower, upper]).astype(np.float32)
            (start,) = AFT(distribution).start_scores(Targets(label, n_targets=2))
            assert 3 < sign * start < 20

    @pytest.mark.parametrize("distribution", ["logistic", "extreme"])
    def test_steps_from_far_away_do_not_overshoot(self, distribution: str) -> None:
        """Far above the times the loss is a line: Newton's step would be exp(distance)."""
        x = RNG.normal(size=(N_ROWS, 1))
        label = np.exp(0.1 * RNG.normal(size=N_ROWS))
        params = {"objective": "aft", "aft_loss_distribution": distribution, **QUIET}
        params |= {"learning_rate": 1.0, "min_sum_hessian_in_leaf": 0.0, "num_leaves": 2}
        data = Dataset(x, label, init_score=np.full(N_ROWS, 9.0))
        booster = train(params, data, 1)
        assert -20 < booster.predict(x, raw_score=True).min() < -3

    def test_one_column_is_known_times(self) -> None:
        label = np.exp(RNG.normal(size=N_ROWS)).astype(np.float32)
        one, two = Targets(label), Targets(np.concatenate([label, label]), n_targets=2)
        score = RNG.normal(size=N_ROWS)
        for found, wanted in zip(
            gradients_of(AFT(), score, one), gradients_of(AFT(), score, two), strict=True
        ):
            np.testing.assert_array_equal(found, wanted)
        assert IntervalAccuracy().evaluate(np.log(label.astype(np.float64)), two, AFT()) > 0

    @pytest.mark.parametrize("distribution", DISTRIBUTIONS)
    def test_scores_beyond_all_bounds(self, distribution: str) -> None:
        targets = make_intervals()
        score = RNG.normal(size=N_ROWS) * 10.0 ** RNG.integers(0, 9, N_ROWS)
        for scale in (1e-3, 1.0, 1e3):
            gradient, hessian = gradients_of(AFT(distribution, scale), score, targets)
            assert (np.abs(gradient) <= 15).all()
            assert ((hessian > 0) & (hessian <= 15)).all()
            assert np.isfinite(AFTLoss().evaluate(score, targets, AFT(distribution, scale)))

    def test_narrow_intervals_are_known_times_in_the_limit(self) -> None:
        time = np.exp(RNG.normal(size=N_ROWS)).astype(np.float32)
        narrow = np.concatenate([time, np.nextafter(time, np.float32(np.inf))])
        score = RNG.normal(size=N_ROWS)
        for distribution in DISTRIBUTIONS:
            found = gradients_of(AFT(distribution), score, Targets(narrow, n_targets=2))
            wanted = gradients_of(AFT(distribution), score, Targets(time))
            np.testing.assert_allclose(found[0], wanted[0], atol=1e-5)
            np.testing.assert_allclose(found[1], wanted[1], atol=1e-4)

    @pytest.mark.parametrize(
        ("label", "words"),
        [
            ([1, 0, 2, 3], r"row 1 of the training data does not fit objective=aft: got 0\.0"),
            ([1, -1, -2, 3], r"row 1 \(and of 1 more\) .* expected a time above 0"),
            ([[1, 2], [3, 2], [1, 1], [1, 1]], r"row 1 .* got \(3\.0, 2\.0\)"),
            ([[1, 2], [-1, 2], [1, 1], [1, 1]], r"row 1 .* got \(-1\.0, 2\.0\)"),
            ([[1, 2], [0, 0], [1, 1], [1, 1]], r"row 1 .* got \(0\.0, 0\.0\)"),
            ([[0, np.inf]] * 4, "nothing is known of any time"),
            ([[1, 1, 1]] * 4, "got 3 columns, expected one column of times, or two"),
            ([[1, np.nan]] * 4, "is missing: got nan"),
            ([[np.inf, np.inf]] * 4, "cannot be used: got inf"),
        ],
    )
    def test_bad_labels(self, label: Any, words: str) -> None:
        with pytest.raises(DataError, match=words):
            train({"objective": "aft"}, Dataset(np.ones((4, 1)), label), 1)

    def test_bad_parameters(self) -> None:
        with pytest.raises(ParameterError, match="aft_loss_distribution is not a known name"):
            resolve({"aft_loss_distribution": "weibull"})
        with pytest.raises(ParameterError, match="aft_loss_distribution_scale is out of range"):
            resolve({"aft_loss_distribution_scale": 0})

    def test_model_file(self, tmp_path: Any) -> None:
        targets = make_intervals()
        x = RNG.normal(size=(N_ROWS, 2))
        params = {"objective": "survival:aft", "aft_loss_distribution": "extreme", **QUIET}
        booster = train(params, Dataset(x, as_columns(targets)), 4)
        booster.save_model(tmp_path / "model")
        loaded = Booster(model_file=tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(x), booster.predict(x))
        assert (booster.predict(x) > 0).all()
        assert objective_from_config(AFT("extreme", 2.0).to_config()) == AFT("extreme", 2.0)


def test_infinite_labels_are_for_intervals_alone() -> None:
    label = np.column_stack([np.ones(4), [1, np.inf, 2, 3]])
    with pytest.raises(DataError, match="row 1, target 1 of the training data is infinite"):
        train({}, Dataset(np.ones((4, 1)), label), 1)
    train_set = Dataset(np.ones((4, 1)), np.zeros((4, 2)))
    valid = train_set.create_valid(np.ones((4, 1)), label)
    with pytest.raises(DataError, match=r"is infinite.*objective=aft"):
        train(QUIET, train_set, 1, [valid])


@pytest.mark.parametrize("dtype", [[("time", float), ("event", bool)], [("a", int), ("b", float)]])
def test_records_of_unknown_meaning(dtype: Any) -> None:
    with pytest.raises(DataError, match="records of unknown meaning"):
        Dataset(np.ones((3, 1)), np.ones(3, dtype=dtype)).construct()


@pytest.mark.parametrize(
    ("objective", "metric", "words"),
    [
        (Cox(), "rmse", "metric does not fit objective=cox: got 'l?rmse'"),
        (Regression(), "cox-nloglik", r"objective=regression.* It is for objective=cox\."),
        (Regression(), "c_index", "It is for objective=cox or aft"),
        (AFT(), "cox", "expected one of aft-nloglik, interval-regression-accuracy, c_index"),
    ],
)
def test_metrics_that_do_not_fit(objective: Objective, metric: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make_metrics(resolve({"metric": metric}), objective)


class TestXGBoost:
    """The same numbers as XGBoost."""

    def test_cox_loss(self) -> None:
        xgboost = pytest.importorskip("xgboost")
        targets = make_cox()
        data = xgboost.DMatrix(np.ones((N_ROWS, 1)), targets.label)
        score = RNG.normal(size=N_ROWS).astype(np.float32)
        data.set_base_margin(score)
        booster = xgboost.train({"objective": "survival:cox", "eta": 0.0}, data, 1)
        theirs = float(booster.eval(data).split(":")[-1])
        ours = CoxLoss().evaluate(score.astype(np.float64), targets, Cox())
        assert ours == pytest.approx(theirs, rel=1e-5)

    @pytest.mark.parametrize("distribution", DISTRIBUTIONS)
    def test_aft_metrics(self, distribution: str) -> None:
        xgboost = pytest.importorskip("xgboost")
        targets = make_intervals()
        data = xgboost.DMatrix(np.ones((N_ROWS, 1)))
        data.set_float_info("label_lower_bound", targets.label[:N_ROWS])
        data.set_float_info("label_upper_bound", targets.label[N_ROWS:])
        score = RNG.normal(size=N_ROWS).astype(np.float32) * 3
        data.set_base_margin(score)
        metrics = ["aft-nloglik", "interval-regression-accuracy"]
        params = {
            "objective": "survival:aft",
            "eval_metric": metrics,
            "aft_loss_distribution": distribution,
            "aft_loss_distribution_scale": 0.7,
            "eta": 0.0,
        }
        results: dict[str, dict[str, list[float]]] = {}
        # Evaluated during the training: afterwards, XGBoost's metric has the default scale.
        xgboost.train(
            params, data, 1, evals=[(data, "x")], evals_result=results, verbose_eval=False
        )
        theirs = {name: values[0] for name, values in results["x"].items()}
        objective, raw = AFT(distribution, 0.7), score.astype(np.float64)
        found = AFTLoss().evaluate(raw, targets, objective)
        assert found == pytest.approx(theirs["aft-nloglik"], rel=1e-5)
        share = IntervalAccuracy().evaluate(raw, targets, objective)
        assert share == pytest.approx(theirs["interval-regression-accuracy"], abs=1e-6)

    @pytest.mark.parametrize("objective", ["survival:cox", "survival:aft"])
    def test_first_tree(self, objective: str) -> None:
        """From the same scores, without shrinkage: leaf values are those of XGBoost."""
        xgboost = pytest.importorskip("xgboost")
        group = RNG.integers(0, 3, N_ROWS).astype(np.float32)
        x = group.reshape(-1, 1)
        times = np.exp(RNG.normal(size=N_ROWS) + group).astype(np.float32)
        data = xgboost.DMatrix(x)
        params = {"objective": objective, "max_depth": 2, "lambda": 0.0, "eta": 1.0}
        if objective == "survival:cox":
            label: Any = np.where(RNG.random(N_ROWS) < 0.6, times, -times)
            data.set_label(label)
        else:
            label = np.column_stack([times, np.where(group == 1, np.inf, times)])
            data.set_float_info("label_lower_bound", label[:, 0])
            data.set_float_info("label_upper_bound", label[:, 1])
        data.set_base_margin(np.zeros(N_ROWS))
        theirs = xgboost.train({**params, "min_child_weight": 0}, data, 1)
        ours = train(
            {
                **params,
                **QUIET,
                "boost_from_average": False,
                "min_data_in_leaf": 1,
                "num_leaves": 4,
                "max_delta_step": 1e9,
            },
            Dataset(x, label),
            1,
        )
        np.testing.assert_allclose(
            ours.predict(x, raw_score=True), theirs.predict(data, output_margin=True), rtol=1e-3
        )
