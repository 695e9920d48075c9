"""Random trainings: a table, fields of its rows, and options, drawn from a seed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csc_array, csr_array

from gossamer import Booster, Dataset, GossamerError, train

Rng = np.random.Generator
CITIES = np.array(["Bern", "Köln", "Oslo", "", "Rome", "Wien", "São Tomé", "x,y"], dtype=object)


@dataclass(frozen=True)
class Training:
    """A training that can be repeated, on the table as it is or stored in another way.

    Attributes:
        seed: All of it follows from this number.
        params: Without `num_threads`.
        table: Numbers, dense; text is in `text`.
        text: A column of text behind the others; None: there is none.
        label: One number per row, or several.
        fields: Weights, queries, ... by name.
        categorical: Categorical columns among the numbers.
        n_rounds: Rounds to train.
        storage: How the table is handed over.
    """

    seed: int
    params: dict[str, Any]
    table: np.ndarray
    text: np.ndarray | None
    label: np.ndarray
    fields: dict[str, Any]
    categorical: list[int]
    n_rounds: int
    storage: str

    def __repr__(self) -> str:
        fields = [name for name, value in self.fields.items() if value is not None]
        return (
            f"seed {self.seed}: {self.table.shape} as {self.storage}, "
            f"{'text, ' if self.text is not None else ''}categorical {self.categorical}, "
            f"fields {fields}, {self.n_rounds} rounds, {self.params}"
        )

    def rows(self, storage: str | None = None) -> Any:
        """The table as the user has it."""
        storage = storage or self.storage
        if self.text is not None:
            frame = pd.DataFrame(self.table, columns=[f"c{i}" for i in range(self.table.shape[1])])
            frame["city"] = pd.Series(self.text, dtype=object)
            return frame
        return STORAGES[storage](self.table)

    def data(self, storage: str | None = None, **changes: Any) -> Dataset:
        """A data set that is not constructed yet."""
        categorical: Any = self.categorical
        if self.text is not None:  # of which all must be named
            categorical = [f"c{i}" for i in categorical] + ["city"] if categorical else "auto"
        arguments = {"label": self.label, **self.fields, **changes}
        weights = arguments.pop("feature_weights", None)
        found = Dataset(self.rows(storage), categorical_feature=categorical, **arguments)
        return found if weights is None else found.set_field("feature_weights", weights)

    def all_params(self, n_threads: int = 1) -> dict[str, Any]:
        """The parameters of the training."""
        return {**self.params, "num_threads": n_threads, "verbosity": -1}

    def bin_params(self) -> dict[str, Any]:
        """Parameters for a data set that is binned before it is trained on."""
        return {name: value for name, value in self.params.items() if name != "objective"}

    @property
    def reads_values(self) -> bool:
        """Whether bins are not enough."""
        return "linear_tree" in self.params or "tree_method" in self.params

    def train(self, data: Dataset | None = None, n_threads: int = 1) -> Booster:
        """Train on the table, or on a data set that should be the same."""
        rows = self.data() if data is None else data
        return train(self.all_params(n_threads), rows, self.n_rounds)

    def halves(self) -> list[np.ndarray]:
        """The rows in two parts; queries stay whole."""
        n_rows, sizes = len(self.table), self.fields.get("group")
        query = np.arange(n_rows) if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
        return [np.flatnonzero(query % 2 == part) for part in (0, 1)]


STORAGES: dict[str, Callable[[np.ndarray], Any]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "frame": lambda table: pd.DataFrame(table, columns=[f"c{i}" for i in range(table.shape[1])]),
    "compressed rows": csr_array,
    "compressed columns": csc_array,
}


def draw_training(seed: int) -> Training:
    """Draw a training that is not refused: options that do not fit the others are left out."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([40, 150, 400, 1200]))
    table, codes = _draw_table(rng, n_rows)
    text = CITIES[rng.integers(0, len(CITIES), n_rows)] if rng.random() < 0.15 else None
    if text is not None and rng.random() < 0.4:
        text = text.copy()
        text[rng.random(n_rows) < 0.1] = None
    signal = _draw_signal(rng, table, text)
    label, fields, objective = _draw_objective(rng, signal)
    known = [c for c in codes if rng.random() < 0.7]
    storage = str(rng.choice(list(STORAGES)))
    base = Training(
        seed,
        {
            "num_leaves": int(rng.choice([2, 5, 15, 40])),
            "min_data_in_leaf": int(rng.choice([1, 3, 10])),
            "min_data_per_group": int(rng.choice([1, 10])),
            "learning_rate": float(rng.choice([0.1, 0.5, 1.0])),
            **objective,
        },
        table,
        text,
        label,
        fields,
        known,
        int(rng.integers(1, 6)),
        "frame" if text is not None else storage,
    )
    options = [draw(rng, base) for draw in OPTIONS if rng.random() < 0.22]
    for i in rng.permutation(len(options)):
        params = {**base.params, **options[i][0]}
        changed = replace(base, params=params, fields={**base.fields, **options[i][1]})
        if is_accepted(changed):
            base = changed
    # By the number, not by chance: other trainings stay what they are.
    symmetric = replace(base, params={**base.params, "grow_policy": "symmetric"})
    return symmetric if seed % 8 == 3 and is_accepted(symmetric) else base


def is_accepted(training: Training) -> bool:
    """Whether one round can be trained, without a warning about something that is left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            replace(training, n_rounds=1).train()
        except (GossamerError, UserWarning):
            return False
    return True


# ---- the table ----


def _draw_table(rng: Rng, n_rows: int) -> tuple[np.ndarray, list[int]]:
    """Numbers, and which columns hold codes."""
    kinds = list(COLUMNS)
    drawn = rng.choice(kinds, size=int(rng.integers(1, 7)))
    if rng.random() < 0.3:
        drawn = np.repeat(drawn[:1], len(drawn))
    blocks, codes, n_columns = [], [], 0
    missing = float(rng.choice([0.0, 0.0, 0.1, 0.6]))
    for kind in drawn:
        block = COLUMNS[kind](rng, n_rows).reshape(n_rows, -1).astype(np.float64)
        if kind.startswith("code"):
            codes.append(n_columns)
        if rng.random() < 0.5:
            block[rng.random(block.shape) < missing] = np.nan
        n_columns += block.shape[1]
        blocks.append(block)
    return np.hstack(blocks), codes


def _wide(rng: Rng, n_rows: int) -> np.ndarray:
    """Many columns, nearly always zero and now and then missing: bundles with conflicts."""
    shape = (n_rows, int(rng.choice([20, 50])))
    block = rng.normal(size=shape).round(1) * (rng.random(shape) < rng.choice([0.01, 0.03]))
    block[rng.random(shape) < rng.choice([0.0, 0.002])] = np.nan
    return block


COLUMNS: dict[str, Callable[[Rng, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "rounded": lambda rng, n: rng.normal(size=n).round(1),
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "small integers": lambda rng, n: rng.integers(-3, 4, n),
    "heavy tail": lambda rng, n: np.exp(5 * rng.normal(size=n)) * rng.choice([-1, 1], n),
    "few values": lambda rng, n: rng.choice([0.0, 1e-300, 0.1 + 0.2, 0.3], n),
    "constant": lambda rng, n: np.full(n, 3.0),
    "mostly zero": lambda rng, n: rng.normal(size=n) * (rng.random(n) < 0.05),
    "mostly missing": lambda rng, n: np.where(rng.random(n) < 0.9, np.nan, rng.normal(size=n)),
    "one-hot": lambda rng, n: np.eye(6)[rng.integers(0, 6, n)],
    "sparse block": lambda rng, n: rng.normal(size=(n, 8)).round(1) * (rng.random((n, 8)) < 0.04),
    "wide": lambda rng, n: _wide(rng, n),
    "exclusive": lambda rng, n: np.eye(5)[rng.integers(0, 5, n)] * rng.integers(1, 9, (n, 1)),
    "infinite": lambda rng, n: rng.choice([-np.inf, -1.0, 0.0, 2.5, np.inf], n),
    "code": lambda rng, n: rng.integers(0, 5, n),
    "code of many": lambda rng, n: rng.integers(0, 90, n),
    "code with gaps": lambda rng, n: rng.choice([0, 3, 17, 1000, 99_999], n),
    "code below zero": lambda rng, n: rng.integers(-2, 6, n),
}


def _draw_signal(rng: Rng, table: np.ndarray, text: np.ndarray | None) -> np.ndarray:
    values = np.arctan(np.nan_to_num(table, nan=0.7))
    signal = values @ rng.normal(size=values.shape[1]) + 0.3 * rng.normal(size=len(values))
    signal += np.sin(7 * values[:, 0]) * np.cos(5 * values[:, -1])
    if text is not None:
        signal += np.array([len(word or "") for word in text]) % 3
    return signal


# ---- the objective ----

PLAIN = (
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape", "pseudo_huber"),
    *("log_cosh", "expectile", "gaussian"),
)
COUNTS = ("poisson", "tweedie", "squared_log_error")
BINARY = ("binary", "hinge", "focal", "cross_entropy", "cross_entropy_lambda")
CLASSES = ("multiclass", "multiclassova", "multi:softmax")
RANKING = ("lambdarank", "rank_xendcg", "rank:ndcg", "rank:pairwise", "rank:map")


def _draw_objective(
    rng: Rng, signal: np.ndarray
) -> tuple[np.ndarray, dict[str, Any], dict[str, Any]]:
    n_rows, kind = len(signal), rng.random()
    if kind < 0.35:
        params: dict[str, Any] = {"objective": str(rng.choice(PLAIN))}
        if params["objective"] == "quantile" and rng.random() < 0.4:
            params["quantile_alpha"] = [0.2, 0.5, 0.9]
        return signal, {}, params
    if kind < 0.45:
        counts = np.floor(np.exp(np.clip(signal, -3, 3)))
        counts[:2] += 1  # some objectives cannot start from zeros alone
        name = str(rng.choice([*COUNTS, "gamma"]))
        return counts + (0.5 if name == "gamma" else 0.0), {}, {"objective": name}
    if kind < 0.65:
        return _both_classes(signal > np.median(signal)), {}, {"objective": str(rng.choice(BINARY))}
    if kind < 0.78:
        classes = np.argsort(np.argsort(signal)) * 3 // n_rows
        return classes, {}, {"objective": str(rng.choice(CLASSES)), "num_class": 3}
    if kind < 0.88:
        sizes = _draw_sizes(rng, n_rows)
        name = str(rng.choice(RANKING))
        label = np.digitize(signal, np.quantile(signal, [0.5, 0.8]))
        fields: dict[str, Any] = {"group": sizes}
        if name == "lambdarank" and rng.random() < 0.4:
            fields["position"] = rng.choice(["top", "middle", "end"], n_rows)
        return np.minimum(label, 1) if name == "rank:map" else label, fields, {"objective": name}
    if kind < 0.94:
        targets = np.column_stack([signal, np.abs(signal), signal**2])
        return targets, {}, {"objective": "regression"}
    if kind < 0.97:
        times = np.exp(np.clip(signal, -3, 3))
        return np.where(rng.random(n_rows) < 0.3, -times, times), {}, {"objective": "cox"}
    low = np.exp(np.clip(signal, -3, 3))
    high = np.where(rng.random(n_rows) < 0.3, np.inf, low * rng.choice([1, 2], n_rows))
    return np.column_stack([low, high]), {}, {"objective": "aft"}


def _both_classes(label: np.ndarray) -> np.ndarray:
    label = label.astype(np.float64)
    label[:2] = [0, 1]
    return label


def _draw_sizes(rng: Rng, n_rows: int) -> np.ndarray:
    ends = np.unique(rng.integers(1, n_rows, n_rows // 8))
    return np.diff(np.concatenate([[0], ends, [n_rows]]))


# ---- options: parameters, and fields of the data set ----

Option = tuple[dict[str, Any], dict[str, Any]]


def _one_of(*choices: dict[str, Any]) -> Callable[[Rng, Training], Option]:
    return lambda rng, _: (choices[rng.integers(len(choices))], {})


def _by_column(name: str, values: list[Any]) -> Callable[[Rng, Training], Option]:
    def draw(rng: Rng, training: Training) -> Option:
        n_columns = training.table.shape[1] + (training.text is not None)
        drawn = rng.choice(values, n_columns).tolist()
        if name == "monotone_constraints":
            for column in (*training.categorical, *([n_columns - 1] if n_columns > 1 else [])):
                drawn[column] = 0
        return {name: drawn}, {}

    return draw


def _weight(rng: Rng, training: Training) -> Option:
    n_rows = len(training.table)
    if rng.random() < 0.3:
        return {}, {"weight": rng.integers(1, 4, n_rows)}
    return {}, {"weight": rng.random(n_rows) + 0.01}


def _init_score(rng: Rng, training: Training) -> Option:
    n_rows, n_outputs = len(training.table), training.params.get("num_class", 1)
    if training.label.ndim == 2 and training.params["objective"] == "regression":
        n_outputs = training.label.shape[1]
    if "quantile_alpha" in training.params:
        n_outputs = 3
    if training.params["objective"] == "gaussian":
        n_outputs = 2
    shape = (n_rows,) if n_outputs == 1 else (n_rows, n_outputs)
    return {}, {"init_score": 0.3 * rng.normal(size=shape)}


def _weighted_bins(rng: Rng, training: Training) -> Option:
    return {"weighted_bins": True, "max_bin": 7}, _weight(rng, training)[1]


def _feature_weights(rng: Rng, training: Training) -> Option:
    n_columns = training.table.shape[1] + (training.text is not None)
    weights = rng.random(n_columns) + 0.1
    return {"feature_fraction_bynode": 0.6}, {"feature_weights": weights}


def _forced_splits(rng: Rng, training: Training) -> Option:
    column = int(rng.integers(training.table.shape[1]))
    threshold = float(rng.choice(np.nan_to_num(training.table[:, column])))
    return {"forced_splits": {"feature": column, "threshold": threshold}}, {}


def _forced_bins(rng: Rng, training: Training) -> Option:
    column = int(rng.integers(training.table.shape[1]))
    return {"forced_bins": {column: [-0.5, 0.25]}}, {}


def _groups(rng: Rng, training: Training) -> Option:
    n_columns = training.table.shape[1]
    groups = [
        sorted(set(rng.integers(0, n_columns, int(rng.integers(1, 5))).tolist())) for _ in range(3)
    ]
    return {"interaction_constraints": groups}, {}


OPTIONS: list[Callable[[Rng, Training], Option]] = [
    _weight,
    _init_score,
    _weighted_bins,
    _feature_weights,
    _forced_splits,
    _forced_bins,
    _groups,
    _one_of({"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.2}, {"boosting": "dart"}),
    _one_of({"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}),
    _one_of(
        {"bagging_fraction": 0.6, "bagging_freq": 1},
        {"bagging_fraction": 0.4, "bagging_freq": 2},
        {"bagging_fraction": 0.5, "bagging_freq": 1, "bagging_by_query": True},
        {"pos_bagging_fraction": 0.4, "neg_bagging_fraction": 0.9, "bagging_freq": 1},
    ),
    _one_of({"data_sample_strategy": "goss", "top_rate": 0.3, "other_rate": 0.2}),
    _one_of({"data_sample_strategy": "mvs", "bagging_fraction": 0.5}),
    _one_of(
        {"feature_fraction": 0.6},
        {"feature_fraction_bylevel": 0.6},
        {"feature_fraction_bynode": 0.6},
    ),
    _one_of({"extra_trees": True}),
    _one_of({"linear_tree": True}, {"linear_tree": True, "linear_lambda": 0.1}),
    _one_of(
        {"tree_method": "exact"},
        {"tree_method": "approx", "sketch_eps": 0.1},
        {"tree_method": "approx", "sketch_eps": 0.1, "proposal": "local"},
    ),
    _by_column("monotone_constraints", [-1, 0, 0, 1]),
    _one_of(
        {"monotone_constraints_method": "intermediate"},
        {"monotone_constraints_method": "advanced"},
        {"monotone_penalty": 1.5},
    ),
    _by_column("feature_contri", [0.3, 0.9, 1.0]),
    _by_column("cegb_penalty_feature_coupled", [0.0, 0.1, 1.0]),
    _by_column("cegb_penalty_feature_lazy", [0.0, 0.001, 0.01]),
    _one_of({"cegb_penalty_split": 0.001}),
    _by_column("max_bin_by_feature", [2, 3, 12, 255, 300]),
    _one_of({"max_bin": 2}, {"max_bin": 15}, {"max_bin": 1000}, {"max_bin": 255}),
    _one_of({"min_data_in_bin": 1}, {"min_data_in_bin": 20}),
    _one_of({"bin_construct_sample_cnt": 30}),
    _one_of({"enable_bundle": False}, {"max_conflict_rate": 0.05}, {"bundle_order": "count"}),
    _one_of({"is_enable_sparse": False}),
    _one_of({"zero_as_missing": True}, {"use_missing": False}),
    _one_of({"grow_policy": "depthwise"}, {"max_depth": 2}),
    _one_of({"prune": True, "min_gain_to_split": 0.5}, {"min_gain_to_split": 0.2}),
    _one_of({"lambda_l1": 0.3}, {"lambda_l2": 5.0}, {"max_delta_step": 0.3}, {"path_smooth": 2.0}),
    _one_of({"num_parallel_tree": 2, "feature_fraction": 0.7}),
    _one_of({"multi_strategy": "multi_output_tree"}),
    _one_of({"cat_target_statistics": "on"}, {"cat_target_statistics": "off"}),
    _one_of({"max_cat_to_onehot": 1}, {"max_cat_threshold": 2}, {"cat_smooth": 0.0, "cat_l2": 0.0}),
    _one_of({"boost_from_average": False}, {"base_score": 0.4}),
    _one_of({"is_unbalance": True}, {"scale_pos_weight": 2.5}, {"sigmoid": 2.0}),
    _one_of({"reg_sqrt": True}),
    _one_of({"histogram_pool_size": 0.01}),
    _one_of({"seed": 11}),
]
