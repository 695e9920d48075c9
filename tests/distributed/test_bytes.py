"""Several workers train the bytes of one machine, however the rows are spread."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import gossamer
from gossamer.data.dataset import built_data
from gossamer.distributed import Group, ShardData, WorkerError, run_group
from gossamer.distributed import train as train_shard

N = 26_000
ROUNDS = 4

# Rows of each worker: even, odd, empty ones, one row each side of a boundary between shards.
SPREADS = {
    "one": [N],
    "even": [N // 2, N // 2],
    "odd": [9_001, 3, N - 9_004],
    "empty": [0, 13_000, 0, N - 13_000, 0],
    "boundary": [8_191, 2, 8_191, N - 16_384],
}


def make_table(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(N, 7))
    table[rng.random(table.shape) < 0.1] = np.nan
    table[:, 4] = rng.integers(0, 12, N)
    table[:, 5] = rng.integers(0, 3_000, N)  # many categories: target statistics
    table[:, 6] = np.where(rng.random(N) < 0.9, 0.0, rng.integers(1, 4, N))
    return table


TABLE = make_table()
RNG = np.random.default_rng(1)
SIGNAL = (
    np.nan_to_num(TABLE[:, 0]) + np.abs(np.nan_to_num(TABLE[:, 1])) + (TABLE[:, 4] % 3) - 1.5
) + RNG.normal(scale=0.3, size=N)
LABELS = {
    "number": SIGNAL,
    "class": (SIGNAL > 0).astype(float),
    "classes": np.digitize(SIGNAL, [-0.5, 0.5]).astype(float),
    "count": np.floor(np.exp(np.clip(SIGNAL, -2, 2))),
    "targets": np.stack([SIGNAL, SIGNAL**2], axis=1),
    "rank": np.clip(np.digitize(SIGNAL, [-1, 0, 1]), 0, 3).astype(float),
    "time": np.where(RNG.random(N) < 0.3, -1.0, 1.0) * np.exp(SIGNAL),
}
WEIGHT = RNG.random(N) + 0.5
QUERY = np.sort(RNG.integers(0, N // 20, N))
START = RNG.normal(size=N)


def squared(scores: np.ndarray, data: Any) -> tuple[np.ndarray, np.ndarray]:
    return scores - data.get_label(), np.ones_like(scores)


CONFIGURATIONS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "plain": ({}, "number", {}),
    "weights": ({"num_leaves": 63}, "number", {"weight": WEIGHT}),
    "binary": ({"objective": "binary"}, "class", {}),
    "unbalanced": ({"objective": "binary", "is_unbalance": True}, "class", {}),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, "classes", {}),
    "one against all": ({"objective": "multiclassova", "num_class": 3}, "classes", {}),
    "poisson": ({"objective": "poisson"}, "count", {"weight": WEIGHT}),
    "median": ({"objective": "l1"}, "number", {}),
    "quantile": ({"objective": "quantile", "alpha": 0.8}, "number", {"weight": WEIGHT}),
    "huber": ({"objective": "huber"}, "number", {}),
    "gaussian": ({"objective": "gaussian"}, "number", {}),
    "cox": ({"objective": "cox"}, "time", {}),
    "lambdarank": ({"objective": "lambdarank"}, "rank", {"query": QUERY}),
    "xendcg": ({"objective": "rank_xendcg"}, "rank", {"query": QUERY}),
    "targets": ({}, "targets", {}),
    "vector leaves": ({"multi_strategy": "multi_output_tree"}, "targets", {"columns": 4}),
    "bagging": ({"bagging_fraction": 0.5, "bagging_freq": 1}, "number", {}),
    "balanced bagging": (
        {
            "objective": "binary",
            "pos_bagging_fraction": 0.5,
            "neg_bagging_fraction": 0.8,
            "bagging_freq": 2,
        },
        "class",
        {},
    ),
    "goss": ({"data_sample_strategy": "goss", "learning_rate": 0.5}, "number", {}),
    "mvs": ({"data_sample_strategy": "mvs", "bagging_fraction": 0.5}, "number", {}),
    "dart": ({"boosting": "dart", "drop_rate": 0.7}, "number", {}),
    "forest": ({"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}, "number", {}),
    "parallel trees": ({"num_parallel_tree": 2, "bagging_fraction": 0.5}, "number", {}),
    "columns": ({"feature_fraction": 0.6, "feature_fraction_bynode": 0.7}, "number", {}),
    "extra trees": ({"extra_trees": True}, "number", {}),
    "depthwise": ({"grow_policy": "depthwise", "max_depth": 4}, "number", {}),
    "symmetric": ({"grow_policy": "symmetric", "max_depth": 4}, "number", {}),
    "symmetric, categories": (
        {"grow_policy": "symmetric", "cat_target_statistics": "off", "extra_trees": True},
        "class",
        {"categorical_feature": [4, 5]},
    ),
    "monotone": (
        {
            "monotone_constraints": [1, -1, 0, 0, 0, 0, 0],
            "monotone_constraints_method": "advanced",
        },
        "number",
        {},
    ),
    "interactions": ({"interaction_constraints": [[0, 1], [2, 3, 6]]}, "number", {}),
    "costs": (
        {"cegb_penalty_feature_coupled": [5.0] * 7, "cegb_penalty_feature_lazy": [0.001] * 7},
        "number",
        {},
    ),
    "categories": (
        {"cat_target_statistics": "off"},
        "number",
        {"categorical_feature": [4, 5]},
    ),
    "target statistics": ({}, "class", {"categorical_feature": [4, 5]}),
    "starting scores": ({}, "number", {"init_score": START}),
    "few sampled rows": ({"bin_construct_sample_cnt": 500}, "number", {}),
    "weighted bins": ({"weighted_bins": True}, "number", {"weight": WEIGHT}),
    "zero as missing": ({"zero_as_missing": True}, "number", {}),
    "custom": ({"objective": squared}, "number", {}),
    "path smoothing": ({"path_smooth": 5.0, "lambda_l1": 0.5, "lambda_l2": 2.0}, "number", {}),
}


def quiet(params: dict[str, Any]) -> dict[str, Any]:
    return {"num_leaves": 12, "verbosity": -1, "num_threads": 1, **params}


def split_rows(spread: list[int]) -> list[slice]:
    ends = np.cumsum([0, *spread])
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]


def shard_of(table: Any, label: Any, fields: dict[str, Any], rows: slice) -> ShardData:
    part = table.iloc[rows] if hasattr(table, "iloc") else table[rows]
    middle = part.shape[0] // 2
    chunks = [part.iloc[:middle], part.iloc[middle:]] if hasattr(part, "iloc") else [part]
    own = {
        name: values[rows] if isinstance(values, np.ndarray) else values
        for name, values in fields.items()
    }
    return ShardData(chunks, label=label[rows], **own)


def train_all(
    params: dict[str, Any], table: Any, label: Any, fields: dict[str, Any], spread: list[int]
) -> list[str]:
    rows = split_rows(spread)

    def work(group: Group) -> str:
        shard = shard_of(table, label, fields, rows[group.rank])
        return train_shard(group, quiet(params), shard, ROUNDS).model_to_string()

    return run_group(len(spread), work)


def train_one(params: dict[str, Any], table: Any, label: Any, fields: dict[str, Any]) -> str:
    data = gossamer.Dataset(table, label=label, **fields)
    return gossamer.train(quiet(params), data, ROUNDS).model_to_string()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_workers_train_the_bytes_of_one_machine(name: str) -> None:
    params, target, fields = CONFIGURATIONS[name]
    fields = dict(fields)
    table = TABLE[:, : fields.pop("columns", 7)]
    expected = train_one(params, table, LABELS[target], fields)
    for spread in SPREADS.values():
        found = train_all(params, table, LABELS[target], fields, spread)
        assert found == [expected] * len(spread)


# Where partitions begin: even ones, odd ones, some of them empty, and one row each side of a
# multiple of 8,192, which is where shards begin.
PARTITIONS = {
    "even": [2_600 * i for i in range(10)],
    "odd": [0, 1, 4, 2_501, 9_002, 9_333, 17_017, 25_999],
    "empty": [0, 0, 0, 5_000, 5_000, 13_000, 13_000, 20_000, N],
    "boundary": [0, 8_191, 8_193, 16_383, 16_384, 16_385, 24_575, 24_577],
}
SOME = ("targets", "bagging", "goss", "dart", "columns", "monotone", "categories", "custom")
GRID = [*list(CONFIGURATIONS)[:12], *SOME]


@pytest.mark.slow
@pytest.mark.parametrize("name", GRID)
def test_the_grid_of_workers_and_partitions(name: str) -> None:
    params, target, fields = CONFIGURATIONS[name]
    label, n_rounds = LABELS[target], 2
    data = gossamer.Dataset(TABLE, label=label, **fields)
    expected = gossamer.train(quiet(params), data, n_rounds).model_to_string()

    def work(begins: list[int], group: Group) -> str:
        parts = list(itertools.pairwise([*begins, N]))
        own = [parts[i] for i in np.array_split(np.arange(len(parts)), group.size)[group.rank]]
        rows = slice(own[0][0], own[-1][1])
        chunks = [TABLE[begin:end] for begin, end in own]
        by_row = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in fields.items()}
        shard = ShardData(chunks, label=label[rows], **by_row)
        return train_shard(group, quiet(params), shard, n_rounds).model_to_string()

    for begins, n_workers in itertools.product(PARTITIONS.values(), (1, 2, 3, 5)):
        assert run_group(n_workers, partial(work, begins)) == [expected] * n_workers


def make_frame() -> pd.DataFrame:
    frame = pd.DataFrame(TABLE[:, :3], columns=["a", "b", "c"])
    frame["city"] = np.array(["Bern", "Oslo", "Rome", "Köln"])[np.arange(N) // 7_000]
    sizes = pd.CategoricalDtype(["S", "M", "L"])
    frame["size"] = pd.Categorical.from_codes(np.arange(N) % 3, dtype=sizes)
    return frame


def test_levels_are_agreed_on() -> None:
    """No worker sees all cities; one of them sees a single one."""
    frame = make_frame()
    expected = train_one({}, frame, SIGNAL, {})
    for spread in SPREADS.values():
        assert train_all({}, frame, SIGNAL, {}, spread) == [expected] * len(spread)


def test_sparse_rows_and_bundles() -> None:
    rng = np.random.default_rng(3)
    which = rng.integers(0, 30, N)
    table = np.zeros((N, 32))
    table[np.arange(N), which] = rng.integers(1, 5, N)
    table[:, 30:] = np.where(rng.random((N, 2)) < 0.2, rng.normal(size=(N, 2)), 0.0)
    label = (which % 5) + table[:, 30]
    for rows in (table, csr_array(table)):
        expected = train_one({}, rows, label, {})
        for spread in SPREADS.values():
            assert train_all({}, rows, label, {}, spread) == [expected] * len(spread)


def test_bundles_that_fit_on_some_workers_only() -> None:
    """The sample shows columns that exclude each other; the last rows do not."""
    rng = np.random.default_rng(4)
    table = np.zeros((N, 6))
    which = rng.integers(0, 6, N)
    table[np.arange(N), which] = rng.integers(1, 5, N)
    table[-3:, :] = 1.0
    params = {"bin_construct_sample_cnt": 200}
    expected = train_one(params, table, which * 1.0, {})
    for spread in SPREADS.values():
        assert train_all(params, table, which * 1.0, {}, spread) == [expected] * len(spread)


@pytest.mark.parametrize("with_bundles", [False, True])
def test_missing_values_that_the_sample_does_not_show(with_bundles: bool) -> None:
    """Some rows of one worker have missing values in sparse columns, and in bundles."""
    rng = np.random.default_rng(5)
    table = np.where(rng.random((N, 60)) < 0.15, rng.integers(1, 5, (N, 60)), 0.0)
    if with_bundles:
        table[:, :12] = 0.0
        table[np.arange(N), rng.integers(0, 12, N)] = rng.integers(1, 5, N)
    label = table @ rng.normal(size=60)
    table[-40:-20, [1, 15]], table[-20:, [2, 16]] = np.nan, 1.0
    label[-40:-20] += 99.0
    params = {"bin_construct_sample_cnt": 200, "min_data_in_leaf": 5}
    sample = gossamer.Dataset(table[:200], label=label[:200], params=params).construct()
    stored = built_data(sample).table.bins.storage()
    assert len(stored["loose"]) > 0 and (len(stored["bundled"]) > 0) == with_bundles
    expected = train_one(params, table, label, {})
    for spread in SPREADS.values():
        assert train_all(params, table, label, {}, spread) == [expected] * len(spread)


def test_early_stopping_is_that_of_one_machine() -> None:
    params = {"metric": ["l2", "l1"], "early_stopping_round": 3, "learning_rate": 0.6}
    train_rows, valid_rows = slice(0, 20_000), slice(20_000, N)
    whole = gossamer.Dataset(TABLE[train_rows], label=SIGNAL[train_rows])
    valid = whole.create_valid(TABLE[valid_rows], SIGNAL[valid_rows], weight=WEIGHT[valid_rows])
    one = gossamer.train(quiet(params), whole, 100, valid_sets=[valid], valid_names=["v"])

    def work(group: Group) -> tuple[str, int, Any]:
        def part(rows: slice) -> np.ndarray:
            return np.array_split(np.arange(rows.start, rows.stop), group.size)[group.rank]

        own, other = part(train_rows), part(valid_rows)
        model = train_shard(
            group,
            quiet(params),
            ShardData([TABLE[own]], label=SIGNAL[own]),
            100,
            [ShardData([TABLE[other]], label=SIGNAL[other], weight=WEIGHT[other])],
            ["v"],
        )
        return model.model_to_string(), model.best_iteration, model.best_score

    assert one.best_iteration < 100
    expected = (one.model_to_string(), one.best_iteration, one.best_score)
    assert run_group(3, work) == [expected] * 3


def test_training_continues_from_a_model() -> None:
    base = gossamer.train(quiet({}), gossamer.Dataset(TABLE, label=SIGNAL), 3)
    one = gossamer.train(quiet({}), gossamer.Dataset(TABLE, label=SIGNAL), 3, init_model=base)

    def work(group: Group) -> str:
        rows = split_rows(SPREADS["odd"])[group.rank]
        shard = ShardData([TABLE[rows]], label=SIGNAL[rows])
        return train_shard(group, quiet({}), shard, 3, init_model=base).model_to_string()

    assert run_group(3, work) == [one.model_to_string()] * 3


@pytest.mark.parametrize(
    "params",
    [
        {"linear_tree": True},
        {"tree_method": "exact"},
        {"max_memory": "1GB"},
        {"max_conflict_rate": 0.05},  # other bytes than one machine, and no word of it
    ],
)
def test_what_is_not_supported_is_refused_by_name(params: dict[str, Any]) -> None:
    def work(group: Group) -> None:
        train_shard(group, params, ShardData([TABLE], label=SIGNAL), 1)

    with pytest.raises(gossamer.NotSupportedError, match=next(iter(params))):
        run_group(2, work)


@pytest.mark.parametrize("chunks", [[[[1.0, 2.0]]], [TABLE[0]], TABLE, make_frame(), ["rows"]])
def test_chunks_that_are_not_tables_are_refused(chunks: Any) -> None:
    """Their rows were left out before, or nothing said what was wrong."""
    with pytest.raises(gossamer.DataError, match=r"chunk 0 of a ShardData .*ShardData\(\[table\]"):
        ShardData(chunks, label=[1.0])


def test_an_error_in_an_objective_reaches_all_workers() -> None:
    def broken(scores: np.ndarray, data: Any) -> Any:
        raise ZeroDivisionError("in round one")

    errors: list[BaseException] = []

    def work(group: Group) -> None:
        objective = broken if group.rank == 1 else squared
        rows = split_rows(SPREADS["even"])[group.rank]
        shard = ShardData([TABLE[rows]], label=SIGNAL[rows])
        try:
            train_shard(group, quiet({"objective": objective}), shard, 2)
        except BaseException as error:
            errors.append(error)
            raise

    with pytest.raises(ZeroDivisionError, match="in round one"):
        run_group(2, work, time_out=20)
    (other,) = (error for error in errors if isinstance(error, WorkerError))
    assert "thread 1 failed: ZeroDivisionError: in round one" in str(other)
    assert not other.is_lost


def test_an_objective_that_differs_among_workers_is_an_error() -> None:
    def work(group: Group) -> None:
        def noisy(scores: np.ndarray, data: Any) -> tuple[np.ndarray, np.ndarray]:
            return scores - data.get_label() + group.rank * 1e-3, np.ones_like(scores)

        rows = split_rows(SPREADS["even"])[group.rank]
        shard = ShardData([TABLE[rows]], label=SIGNAL[rows])
        train_shard(group, quiet({"objective": noisy}), shard, 1)

    with pytest.raises(gossamer.GossamerError, match="different gradients on different workers"):
        run_group(2, work)


def test_no_rows_at_all_is_an_error() -> None:
    def work(group: Group) -> None:
        train_shard(group, {}, ShardData([TABLE[:0]], label=SIGNAL[:0]), 1)

    with pytest.raises(gossamer.DataError, match="no rows on any worker"):
        run_group(2, work)


@pytest.mark.parametrize(
    "name",
    ["plain", "multiclass", "median", "bagging", "goss", "costs", "monotone", "vector leaves"],
)
def test_workers_that_have_all_rows_share_the_search(name: str) -> None:
    params, target, fields = CONFIGURATIONS[name]
    fields = dict(fields)
    table = TABLE[:, : fields.pop("columns", 7)]
    expected = train_one(params, table, LABELS[target], fields)

    def work(group: Group) -> tuple[str, float]:
        given = quiet({**params, "tree_learner": "feature"})
        shard = ShardData([table[:9_000], table[9_000:]], label=LABELS[target], **fields)
        model = train_shard(group, given, shard, ROUNDS)
        return model.model_to_string(), group.traffic.bytes_per_tree

    for model, n_bytes in run_group(3, work):
        assert model == expected
        assert n_bytes < 30_000  # splits, no cells


def test_groups_of_lanes_are_built_by_their_owners() -> None:
    wide = np.random.default_rng(9).normal(size=(9_000, 70))
    label = wide[:, 3] + wide[:, 40] * wide[:, 69]
    expected = train_one({}, wide, label, {})

    def work(group: Group) -> str:
        given = quiet({"tree_learner": "feature"})
        return train_shard(group, given, ShardData([wide], label=label), ROUNDS).model_to_string()

    for n_workers in (2, 5):
        assert run_group(n_workers, work) == [expected] * n_workers


def test_workers_with_different_rows_cannot_share_the_search() -> None:
    def work(group: Group) -> None:
        rows = split_rows(SPREADS["even"])[group.rank]
        shard = ShardData([TABLE[rows]], label=SIGNAL[rows])
        train_shard(group, quiet({"tree_learner": "feature"}), shard, 1)

    with pytest.raises(gossamer.DataError, match="workers have different gradients"):
        run_group(2, work)
