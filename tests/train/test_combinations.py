"""Every pair of options: training works in every respect, or is refused by name."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gossamer import Booster, Dataset, GossamerError, ParameterError, checkpoint, cv, threads, train
from gossamer.callbacks import CallbackEnv

pd = pytest.importorskip("pandas")

N_ROWS = 300  # more than bins: values share them
N_ROUNDS = 4
RNG = np.random.default_rng(5)
NUMBERS = RNG.normal(size=(N_ROWS, 3)).round(3)
CODES = RNG.integers(0, 9, N_ROWS)
CITIES = np.array(["Bern", "Köln", "Oslo", "", "Rome", "Wien"], dtype=object)
CITY = RNG.integers(0, len(CITIES), N_ROWS)
SIGNAL = NUMBERS[:, 0] + NUMBERS[:, 1] * NUMBERS[:, 2] + np.sin(CODES * 3) + np.cos(CITY * 5)
LABEL = SIGNAL + 0.2 * RNG.normal(size=N_ROWS)
HOLES = RNG.random((N_ROWS, 4)) < 0.1
BASE: dict[str, Any] = {
    "num_leaves": 5,
    "min_data_in_leaf": 5,
    "min_data_per_group": 5,
    "learning_rate": 0.5,
    "verbosity": -1,
}


@dataclass(frozen=True)
class Option:
    """What an option changes in a training."""

    params: dict[str, Any] = field(default_factory=dict)
    kind: str = ""  # of the label
    table: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # what errors may call it


def option(kind: str = "", table: str = "", names: str = "", **params: Any) -> Option:
    return Option(params, kind, tuple(table.split()), (*names.split(), *params))


# Columns 0, 1 and 2 hold numbers, 3 codes of categories or numbers, 4 (if there) text.
OPTIONS = {
    "levels": option(table="levels", names="categor"),
    "codes": option(table="codes", names="categor"),
    "statistics": option(table="codes", cat_target_statistics="on"),
    "basic": option(monotone_constraints=[1, -1, 0, 0]),
    "intermediate": option(
        monotone_constraints={"0": 1}, monotone_constraints_method="intermediate"
    ),
    "advanced": option(monotone_constraints={"1": -1}, monotone_constraints_method="advanced"),
    "interaction": option(interaction_constraints=[[0, 1], [1, 2, 3]]),
    "forced": option(
        names="forcedsplits_filename",
        forced_splits={"feature": 0, "threshold": 0.1, "left": {"feature": 1, "threshold": 0.0}},
    ),
    "cegb": option(
        cegb_penalty_feature_coupled=[0.1, 0.2, 0.1, 0.3],
        cegb_penalty_feature_lazy=[0.001, 0.0, 0.002, 0.001],
    ),
    "contri": option(feature_contri=[0.5, 1.0, 0.9, 1.0]),
    "weights": option(feature_weights=[1, 2, 3, 4], feature_fraction=0.6),
    "linear": option(linear_tree=True),
    "dart": option(boosting="dart", drop_rate=0.5, skip_drop=0.0),
    "rf": option(boosting="rf", feature_fraction=0.7),
    "bagging": option(bagging_fraction=0.6, bagging_freq=2),
    "goss": option(data_sample_strategy="goss", learning_rate=0.7),
    "extra": option(extra_trees=True),
    "prune": option(prune=True, min_gain_to_split=0.8),
    "parallel": option(num_parallel_tree=3, feature_fraction=0.6),
    "multiclass": option("classes", objective="multiclass", num_class=3),
    "targets": option("two", names="targets"),
    "vectors": option("two", names="targets", multi_strategy="multi_output_tree"),
    "quantile": option(names="quantile", objective="quantile", alpha=0.7),
    "sparse": option(table="sparse", names="sparse"),
    "bins": option(max_bin_by_feature=[20, 30, 40, 50], forced_bins={"0": [-0.5, 0.5]}),
    "missing": option(table="missing", names="missing"),
    "exact": option(tree_method="exact"),
    "global": option(tree_method="approx", sketch_eps=0.1, max_bin=9),
    "local": option(tree_method="approx", sketch_eps=0.1, proposal="local", max_bin=9),
}
# Not two options, but one and another value of it, or a table that does not exist.
NO_PAIRS = {
    frozenset(pair)
    for pair in (
        *itertools.combinations(("basic", "intermediate", "advanced"), 2),
        ("dart", "rf"),
        ("multiclass", "quantile"),
        ("multiclass", "targets"),
        ("levels", "sparse"),
        *itertools.combinations(("exact", "global", "local"), 2),
    )
}


@dataclass(frozen=True)
class Case:
    """A training that can be repeated."""

    params: dict[str, Any]
    table: Any
    label: Any
    categorical: Any

    def data(self) -> Dataset:
        return Dataset(self.table, self.label, categorical_feature=self.categorical)

    def train(self, n_rounds: int = N_ROUNDS, n_threads: int = 1, **arguments: Any) -> Booster:
        params = {**self.params, "num_threads": n_threads}
        return train(params, self.data(), n_rounds, **arguments)


def make_case(*chosen: Option) -> Case:
    params, table = dict(BASE), {word for one in chosen for word in one.table}
    for one in chosen:
        params |= one.params
    kinds = [one.kind for one in chosen if one.kind]
    kind = "classes" if "classes" in kinds else kinds[0] if kinds else "number"
    if "two" in kinds and "classes" not in kinds:
        kind = "two"
    label = {
        "number": LABEL,
        "classes": np.digitize(LABEL, [-0.7, 0.7]),
        "two": np.column_stack([LABEL, np.abs(LABEL)]),
    }[kind]
    values: Any = np.column_stack([NUMBERS, CODES])
    if "missing" in table:
        values[HOLES] = np.nan
    if "sparse" in table:
        values = csr_array(np.where(np.isnan(values) | (values > 0), values, 0.0))
    categorical: Any = ["3"] if "codes" in table else "auto"
    if "levels" in table:
        values = pd.DataFrame(values, columns=list("0123"))
        values["4"] = CITIES[CITY]
        if "missing" in table:
            values.loc[HOLES[:, 0], "4"] = None
        categorical = ["3", "4"] if "codes" in table else "auto"
        for name in ("monotone_constraints", "feature_contri", "feature_weights"):
            if isinstance(params.get(name), list):
                params[name] = {str(i): v for i, v in enumerate(params[name])}
        for name in (
            "cegb_penalty_feature_coupled",
            "cegb_penalty_feature_lazy",
            "max_bin_by_feature",
        ):
            if name in params:
                params[name] = {str(i): v for i, v in enumerate(params[name])}
    elif not isinstance(values, csr_array):
        values = pd.DataFrame(values, columns=list("0123"))
    if isinstance(values, csr_array):
        for name, value in params.items():
            if isinstance(value, dict) and name != "forced_splits":
                params[name] = {int(k): v for k, v in value.items()}
        categorical = [3] if "codes" in table else "auto"
    return Case(params, values, label, categorical)


class Stop(Exception):
    """Ends a training half-way."""


class Stopper:
    """A callback that ends the training after two rounds, if it is to."""

    def __init__(self, is_on: bool) -> None:
        self.is_on = is_on

    def __call__(self, env: CallbackEnv) -> None:
        if self.is_on and env.iteration == 2:
            raise Stop


# Pairs that are refused; all others work.
REFUSED = {
    "vectors": "levels codes statistics basic intermediate advanced forced cegb contri linear",
    "statistics": "basic intermediate advanced interaction forced cegb contri weights targets",
    "linear": "basic intermediate advanced dart quantile",
    "cegb": "intermediate advanced",
    "goss": "bagging",
    "prune": "cegb",
    "exact": "levels codes statistics intermediate advanced forced cegb extra vectors bins",
    "global": "statistics intermediate advanced forced cegb extra vectors",
    "local": "statistics intermediate advanced forced cegb extra vectors",
}
REFUSED_PAIRS = {frozenset((one, other)) for one in REFUSED for other in REFUSED[one].split()}
PAIRS = [
    *((name,) for name in OPTIONS),
    *(pair for pair in itertools.combinations(OPTIONS, 2) if frozenset(pair) not in NO_PAIRS),
]
THREADS = ((1, 2), (2, 3), (3, 8), (8, 1))


def check_refused(case: Case, chosen: list[Option]) -> None:
    with pytest.raises(GossamerError) as caught:
        case.train()
    for one in chosen:
        assert any(name in str(caught.value) for name in one.names), str(caught.value)


@pytest.mark.parametrize("number", range(len(PAIRS)), ids=["+".join(pair) for pair in PAIRS])
def test_pair(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = PAIRS[number]
    chosen = [OPTIONS[name] for name in pair]
    case = make_case(*chosen)
    if frozenset(pair) in REFUSED_PAIRS:
        check_refused(case, chosen)
        return
    with monkeypatch.context() as patch:
        patch.setattr(threads, "CELLS_PER_THREAD", 1)
        model, other = (case.train(n_threads=n) for n in THREADS[number % 4])
    text = model.model_to_string()
    assert other.model_to_string() == text
    check_training(case, pair, text)
    check_model(case, model)
    check_control(case, pair, text, tmp_path)


def check_training(case: Case, pair: tuple[str, ...], text: str) -> None:
    """Scores in training are what the model predicts, also after a round was taken back."""
    data = case.data()
    valid = Dataset(case.table, case.label, reference=data)
    booster = train(case.params, data, N_ROUNDS, [data, valid], keep_training_booster=True)
    assert booster.model_to_string() == text
    found = booster.eval_valid()
    if "statistics" not in pair:  # rows see the labels of rows before only
        assert [r.metric_value for r in booster.eval_train()] == [r.metric_value for r in found]
    if "rf" not in pair:  # scores are sums there
        assert booster.training is not None
        raw = booster.predict(case.table, raw_score=True)
        score = booster.training.valid[0].score
        np.testing.assert_array_equal(raw.T.reshape(-1), score)
    booster.rollback_one_iter()
    booster.update()
    assert booster.model_to_string() == text
    assert booster.eval_valid() == found


def check_model(case: Case, model: Booster) -> None:
    """A model is the same after a round trip, and knows the user's columns."""
    text, expected = model.model_to_string(), model.predict(case.table)
    for other in (Booster(model_str=text), pickle.loads(pickle.dumps(model))):
        assert other.model_to_string() == text
        np.testing.assert_array_equal(other.predict(case.table), expected)
    leaf = model.predict(case.table, pred_leaf=True)
    assert leaf.shape == (N_ROWS, model.num_trees())
    for kind in ("split", "gain"):
        assert model.feature_importance(kind).shape == (case.table.shape[1],)


def check_control(case: Case, pair: tuple[str, ...], text: str, folder: Path) -> None:
    """Checkpoints, `init_model`, `refit` and `cv`."""
    path = folder / "checkpoint"
    with pytest.raises(Stop):
        case.train(callbacks=[Stopper(True), checkpoint(path, every_rounds=1)])
    assert path.exists()
    again = case.train(callbacks=[Stopper(False), checkpoint(path, every_rounds=1)])
    assert again.model_to_string() == text

    half = case.train(2)
    if "rf" in pair or "statistics" in pair:
        words = "random forest" if "rf" in pair else "target statistics"
        with pytest.raises(GossamerError, match=f"init_model .*{words}"):
            case.train(init_model=half)
    else:
        both = case.train(N_ROUNDS - 2, init_model=half)
        assert both.num_trees() == again.num_trees()
        if "dart" not in pair:  # which leaves out no tree of the model before
            assert both.model_to_string() == text

    if {"rf", "statistics", "basic", "intermediate", "advanced"} & set(pair):
        with pytest.raises(GossamerError, match=r"refit\(\) does not"):
            again.refit(case.table, case.label)
    else:
        assert np.isfinite(again.refit(case.table, case.label).predict(case.table)).all()
    found = cv(case.params, case.data(), 2, nfold=2, stratified=False)
    assert all(len(values) == 2 and np.isfinite(values).all() for values in found.values())


@pytest.mark.parametrize(
    "params",
    [
        {"monotone_constraints": {"3": 1}},
        {"monotone_constraints": [0, 0, 0, -1], "monotone_constraints_method": "advanced"},
        {"forced_splits": {"feature": 3, "threshold": 2.0}},
        {"forced_bins": {"3": [2.5]}},
    ],
)
def test_what_needs_an_order_refuses_categories(params: dict[str, Any]) -> None:
    case = make_case(OPTIONS["codes"], Option(params))
    with pytest.raises(ParameterError, match=f"{next(iter(params))}.*categorical"):
        case.train()


def booster_after_two_rounds(*names: str) -> Booster:
    case = make_case(*(OPTIONS[name] for name in names))
    booster = Booster(case.params, case.data())
    booster.update()
    booster.update()
    return booster


@pytest.mark.parametrize("names", [("codes",), ("statistics",), ("linear",), ("dart",)])
@pytest.mark.parametrize(
    "changes",
    [
        {"interaction_constraints": [["nope"]]},
        {"bagging_fraction": 0.5, "forced_splits": {"feature": "nope", "threshold": 0}},
        {"cegb_penalty_feature_coupled": {"0": 1}, "feature_contri": [1, 2]},
        {"cat_target_statistics": "off"},
        {"cat_prior_weight": 1},
        {"categorical_feature": [0]},
    ],
)
def test_a_refused_change_changes_nothing(names: tuple[str, ...], changes: dict[str, Any]) -> None:
    expected, booster = booster_after_two_rounds(*names), booster_after_two_rounds(*names)
    if changes == {"cat_target_statistics": "off"} and names != ("statistics",):
        changes = {"cat_target_statistics": "on"}
    with pytest.raises(GossamerError):
        booster.reset_parameter(changes)
    expected.update()
    booster.update()
    assert booster.model_to_string() == expected.model_to_string()


@pytest.mark.parametrize(
    "name", ["interaction", "forced", "cegb", "contri", "weights", "basic", "linear"]
)
def test_target_statistics_refuse_later_options_as_well(name: str) -> None:
    booster = booster_after_two_rounds("statistics")
    with pytest.raises(ParameterError, match=r"target statistics|cannot change"):
        booster.reset_parameter(OPTIONS[name].params)


def test_target_statistics_cannot_begin_behind_a_model() -> None:
    plain, case = make_case(OPTIONS["codes"]), make_case(OPTIONS["statistics"])
    with pytest.raises(ParameterError, match=r"init_model .*target statistics"):
        case.train(init_model=plain.train())


@pytest.mark.parametrize("statistics", ["on", "off"])
@pytest.mark.parametrize("params", [{"zero_as_missing": True}, {"use_missing": False}])
@pytest.mark.parametrize("holes", [False, True])
def test_categories_with_other_missing_values(
    params: dict[str, Any], statistics: str, holes: bool
) -> None:
    chosen = [OPTIONS["codes"], Option({**params, "cat_target_statistics": statistics})]
    case = make_case(*chosen, *([OPTIONS["missing"]] if holes else []))
    if statistics == "on" and "use_missing" in params:
        with pytest.raises(ParameterError, match=r"cat_target_statistics=on .*use_missing"):
            case.train()
        return
    data = case.data()
    valid = Dataset(case.table, case.label, reference=data)
    booster = train(case.params, data, N_ROUNDS, valid, keep_training_booster=True)
    assert booster.training is not None
    np.testing.assert_array_equal(
        booster.predict(case.table, raw_score=True), booster.training.valid[0].score
    )
    if "zero_as_missing" in params:
        table = case.table.copy()
        table["3"] = table["3"].replace(0, np.nan)
        np.testing.assert_array_equal(booster.predict(table), booster.predict(case.table))


def test_levels_have_no_zero() -> None:
    case = make_case(OPTIONS["levels"], Option({"zero_as_missing": True}))
    with pytest.raises(ParameterError, match="zero_as_missing cannot be combined with text"):
        case.train()


@pytest.mark.parametrize("objective", ["cox", "aft"])
def test_times_have_no_mean(objective: str) -> None:
    case = make_case(OPTIONS["codes"], Option({"objective": objective}))
    data = Dataset(case.table, np.abs(case.label) + 0.1, categorical_feature=["3"])
    with pytest.raises(ParameterError, match=f"cat_target_statistics=on .*objective={objective}"):
        train({**case.params, "cat_target_statistics": "on"}, data, 2)
