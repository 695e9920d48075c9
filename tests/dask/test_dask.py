"""Training on a Dask cluster whose workers are threads of this process."""

from __future__ import annotations

import itertools
import pickle
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da
import dask.dataframe as dd
import pandas as pd
from dask.delayed import delayed
from distributed import Client, LocalCluster, get_worker

import gossamer
from gossamer.dask import (
    DaskDataset,
    DaskGossamerClassifier,
    DaskGossamerRanker,
    DaskGossamerRegressor,
    DaskLGBMClassifier,
    WorkerError,
    predict,
    train,
    workers,
)

N = 20_000
PARAMS = {"num_leaves": 4, "verbosity": -1}
ROUNDS = 2

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N, 4))
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
LABEL = np.nan_to_num(TABLE[:, 0]) - np.abs(np.nan_to_num(TABLE[:, 1]))
WEIGHT = RNG.random(N) + 0.5


def chunked(values: np.ndarray, sizes: tuple[int, ...]) -> da.Array:
    chunks = (sizes, values.shape[1:]) if values.ndim == 2 else (sizes,)
    return da.from_array(values, chunks=chunks)


def one_machine(params: dict[str, Any] | None = None, **fields: Any) -> gossamer.Booster:
    label = fields.pop("label", LABEL)
    data = gossamer.Dataset(fields.pop("table", TABLE), label=label, **fields)
    return gossamer.train({**PARAMS, **(params or {})}, data, ROUNDS)


@pytest.mark.parametrize("sizes", [(7_001, 2_999, 10_000), (8_191, 2, 11_807), (N,)])
def test_arrays_in_any_partitions(client: Client, sizes: tuple[int, ...]) -> None:
    data = DaskDataset(
        chunked(TABLE, sizes), label=chunked(LABEL, sizes), weight=chunked(WEIGHT, sizes)
    )
    model = train(client, PARAMS, data, ROUNDS)
    assert model.model_to_string() == one_machine(weight=WEIGHT).model_to_string()


def make_frame() -> pd.DataFrame:
    frame = pd.DataFrame(TABLE, columns=list("abcd"))
    frame["city"] = np.array(["Bern", "Oslo", "Rome"])[np.arange(N) // 8_000]
    return frame


def test_frames_with_text_and_empty_partitions(client: Client) -> None:
    frame = make_frame()
    parts = [frame[:9_000], frame[9_000:9_000], frame[9_000:]]
    together = [part.assign(y=LABEL[part.index]) for part in parts]
    meta = together[0].iloc[:0]
    data = dd.from_delayed([delayed(part) for part in together], meta=meta, verify_meta=False)
    model = train(client, PARAMS, DaskDataset(data, label="y"), ROUNDS)
    expected = one_machine(table=frame)
    assert model.model_to_string() == expected.model_to_string()
    for table in (dd.from_pandas(frame, npartitions=3), data.drop(columns="y")):
        found = predict(model, table)
        np.testing.assert_array_equal(found.compute(), expected.predict(frame))


def test_predict_of_a_frame_from_delayed_tables(client: Client) -> None:
    frame = make_frame()
    model = one_machine(table=frame)
    parts = [delayed(frame[:9_000]), delayed(frame[9_000:])]
    data = dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)
    np.testing.assert_array_equal(predict(model, data).compute(), model.predict(frame))
    given = predict(model, data, pred_contrib=True)
    np.testing.assert_array_equal(given.compute(), model.predict(frame, pred_contrib=True))


def test_a_list_of_delayed_parts(client: Client) -> None:
    parts = [slice(0, 9_500), slice(9_500, N)]
    data = DaskDataset(
        [delayed(TABLE[rows]) for rows in parts], label=[delayed(LABEL[rows]) for rows in parts]
    )
    found = train(client, PARAMS, data, ROUNDS)
    assert found.model_to_string() == one_machine().model_to_string()


def test_early_stopping_and_metrics_are_global(client: Client) -> None:
    params = {**PARAMS, "learning_rate": 0.9, "early_stopping_round": 2, "metric": ["l2", "l1"]}
    sizes, rest = (6_000, 8_000), (1_000, 5_000)
    n = sum(sizes)
    whole = gossamer.Dataset(TABLE[:n], label=LABEL[:n])
    valid = whole.create_valid(TABLE[n:], LABEL[n:])
    history: dict[str, Any] = {}
    one = gossamer.train(
        params, whole, 30, valid_sets=[valid], callbacks=[gossamer.record_evaluation(history)]
    )
    found: dict[str, Any] = {}
    model = train(
        client,
        params,
        DaskDataset(chunked(TABLE[:n], sizes), label=chunked(LABEL[:n], sizes)),
        30,
        DaskDataset(chunked(TABLE[n:], rest), label=chunked(LABEL[n:], rest)),
        evals_result=found,
    )
    assert model.model_to_string() == one.model_to_string()
    assert (model.best_iteration, model.best_score) == (one.best_iteration, one.best_score)
    assert found == history


@pytest.mark.parametrize("kind", [DaskGossamerClassifier, DaskLGBMClassifier])
def test_classifier(client: Client, kind: type[DaskGossamerClassifier]) -> None:
    sizes = (9_000, 11_000)
    classes = np.array(["no", "maybe", "yes"])[np.digitize(LABEL, [-1.0, 0.0])]
    options: dict[str, Any] = {"n_estimators": ROUNDS, "num_leaves": 4}
    x, y = chunked(TABLE, sizes), chunked(classes, sizes)
    model = kind(client=client, class_weight="balanced", **options).fit(x, y, eval_set=[(x, y)])
    local = gossamer.GossamerClassifier(class_weight="balanced", **options)
    local.fit(TABLE, classes, eval_set=[(TABLE, classes)])
    assert model.booster_.model_to_string() == local.booster_.model_to_string()
    assert model.evals_result_ == local.evals_result_
    assert list(model.classes_) == list(local.classes_)
    np.testing.assert_array_equal(model.predict(x).compute(), local.predict(TABLE))
    proba = model.predict_proba(x)
    assert proba.shape == (N, 3)
    np.testing.assert_array_equal(proba.compute(), local.predict_proba(TABLE))
    here = model.to_local()
    assert type(here) is gossamer.GossamerClassifier
    np.testing.assert_array_equal(here.predict(TABLE), local.predict(TABLE))
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    np.testing.assert_array_equal(again.to_local().predict(TABLE), local.predict(TABLE))


def test_regressor_leaves_out_rows_without_weight(client: Client) -> None:
    sizes = (9_000, 11_000)
    weight = np.where(np.arange(N) % 5 == 0, 0.0, WEIGHT)
    options: dict[str, Any] = {"n_estimators": ROUNDS, "num_leaves": 4}
    model = DaskGossamerRegressor(client=client, **options).fit(
        chunked(TABLE, sizes), chunked(LABEL, sizes), sample_weight=chunked(weight, sizes)
    )
    local = gossamer.GossamerRegressor(**options).fit(TABLE, LABEL, sample_weight=weight)
    assert model.booster_.model_to_string() == local.booster_.model_to_string()
    leaves = model.predict(chunked(TABLE, sizes), pred_leaf=True)
    np.testing.assert_array_equal(leaves.compute(), local.predict(TABLE, pred_leaf=True))
    given = model.predict(chunked(TABLE, sizes), pred_contrib=True)
    np.testing.assert_array_equal(given.compute(), local.predict(TABLE, pred_contrib=True))


def test_ranker_with_queries_that_span_partitions(client: Client) -> None:
    sizes = (9_005, 10_995)
    grades = np.digitize(LABEL, [-1.0, 0.0, 0.5])
    query = np.arange(N) // 20
    options: dict[str, Any] = {"n_estimators": ROUNDS, "num_leaves": 4}
    model = DaskGossamerRanker(client=client, **options).fit(
        chunked(TABLE, sizes), chunked(grades, sizes), query=chunked(query, sizes)
    )
    local = gossamer.GossamerRanker(**options).fit(TABLE, grades, query=query)
    assert model.booster_.model_to_string() == local.booster_.model_to_string()


def test_two_trainings_at_once(client: Client) -> None:
    sizes = (7_000, 6_000, 7_000)
    found: dict[int, str] = {}

    def run(leaves: int) -> None:
        data = DaskDataset(chunked(TABLE, sizes), label=chunked(LABEL, sizes))
        model = train(client, {**PARAMS, "num_leaves": leaves}, data, ROUNDS)
        found[leaves] = model.model_to_string()

    threads = [threading.Thread(target=run, args=(leaves,)) for leaves in (5, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for leaves in (5, 6):
        assert found[leaves] == one_machine({"num_leaves": leaves}).model_to_string()


def broken(scores: np.ndarray, data: Any) -> Any:
    raise ZeroDivisionError("in the objective")


def test_an_exception_of_the_user_names_the_worker(client: Client) -> None:
    sizes = (10_000, 10_000)
    data = DaskDataset(chunked(TABLE, sizes), label=chunked(LABEL, sizes))
    with pytest.raises(WorkerError, match=r"worker inproc.*ZeroDivisionError: in the objective"):
        train(client, {**PARAMS, "objective": broken}, data, ROUNDS)


def test_workers_that_vote(client: Client) -> None:
    data = DaskDataset(chunked(TABLE, (9_000, 11_000)), label=chunked(LABEL, (9_000, 11_000)))
    traffic: list[dict[str, float]] = [{}, {}]
    models = [
        train(client, {**PARAMS, "tree_learner": "voting", "top_k": k}, data, ROUNDS, traffic=sent)
        for k, sent in zip((1, 4), traffic, strict=True)
    ]
    assert models[1].model_to_string() == one_machine().model_to_string()  # there are 4 features
    assert traffic[0]["bytes_per_tree"] < traffic[1]["bytes_per_tree"]


def test_what_cannot_be_used_is_refused(client: Client) -> None:
    data = DaskDataset(chunked(TABLE, (10_000, 10_000)), label=chunked(LABEL, (N,)))
    with pytest.raises(gossamer.DataError, match="label and the table differ in partitions"):
        train(client, PARAMS, data, 1)
    with pytest.raises(gossamer.NotSupportedError, match="linear_tree"):
        train(client, {"linear_tree": True}, data, 1)
    with pytest.raises(gossamer.DataError, match="data is not in partitions"):
        DaskDataset(TABLE, label=LABEL).to_parts()
    with pytest.raises(gossamer.DataError, match="must be a DaskDataset"):
        train(client, PARAMS, gossamer.Dataset(TABLE, label=LABEL), 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"params": -1}, {"params": np.zeros(3)}, {"valid_sets": -1}, {"valid_sets": "x"}),
        *({"callbacks": -1}, {"callbacks": np.zeros(3)}, {"client": "x"}, {"data": -1}),
        *({"max_restarts": "x"}, {"num_boost_round": "x"}),
    ],
    ids=lambda wrong: "-".join(wrong),
)
def test_odd_arguments(client: Client, wrong: dict[str, Any]) -> None:
    data = DaskDataset(chunked(TABLE[:60], (60,)), label=chunked(LABEL[:60], (60,)))
    good = {"client": client, "params": PARAMS, "data": data, "num_boost_round": 1}
    with pytest.raises(gossamer.GossamerError):
        train(**{**good, **wrong})


@pytest.mark.parametrize("model", [None, -1, "x", np.zeros(3)])
def test_predictions_need_a_model(model: object) -> None:
    with pytest.raises(gossamer.GossamerError, match="model cannot be used"):
        predict(model, chunked(TABLE, (N,)))


def test_predictions_need_rows(client: Client) -> None:
    with pytest.raises(gossamer.GossamerError):
        predict(one_machine(), chunked(LABEL, (N,)))


def test_partitions_that_are_not_tables(client: Client) -> None:
    text = da.from_delayed(delayed(str)("x"), (60, 4), float)
    with pytest.raises(gossamer.GossamerError, match="a partition is not a table"):
        train(client, PARAMS, DaskDataset(text, label=chunked(LABEL[:60], (60,))), 1)
    with pytest.raises(gossamer.GossamerError, match="a partition is not a table"):
        predict(one_machine(), text).compute()


def test_the_client_sees_rounds_and_traffic(client: Client) -> None:
    sizes = (9_000, 11_000)
    data = DaskDataset(chunked(TABLE, sizes), label=chunked(LABEL, sizes))
    rounds: list[tuple[int, int, float]] = []
    history: dict[str, Any] = {}
    traffic: dict[str, float] = {}

    def show(env: gossamer.CallbackEnv) -> None:
        (result,) = env.evaluation_result_list or ()
        rounds.append((env.iteration, env.end_iteration, result.metric_value))

    train(client, PARAMS, data, 3, data, progress=show, evals_result=history, traffic=traffic)
    deadline = time.monotonic() + 10
    while len(rounds) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    ((metrics,),) = (found.values() for found in history.values())
    assert rounds == [(i, 3, metrics[i]) for i in range(3)]
    assert traffic["n_trees"] == 3
    assert 0 < traffic["collectives_per_tree"] <= 80
    assert 0 < traffic["tree_bytes"] < traffic["n_bytes"]


MADE: list[weakref.ref[np.ndarray]] = []


def make_rows(begin: int, end: int) -> np.ndarray:
    rows = np.array(TABLE[begin:end])
    MADE.append(weakref.ref(rows))
    return rows


class SeeFreed:
    """A callback that waits until the tables of all partitions are freed."""

    before_iteration = True

    def __call__(self, env: Any) -> None:
        deadline = time.monotonic() + 10
        while any(rows() is not None for rows in MADE):
            assert time.monotonic() < deadline, "partitions are still in memory"
            time.sleep(0.05)


def test_partitions_are_freed_before_the_first_round(client: Client) -> None:
    MADE.clear()
    ends = [0, 5_000, 12_000, N]
    parts = list(itertools.pairwise(ends))
    data = DaskDataset(
        [delayed(make_rows, pure=False)(*part) for part in parts],
        label=[delayed(LABEL[begin:end]) for begin, end in parts],
    )
    found = train(client, PARAMS, data, ROUNDS, callbacks=[SeeFreed()])
    assert len(MADE) == len(parts)
    assert found.model_to_string() == one_machine().model_to_string()


class CloseWorker:
    """A callback that closes one worker in the third round."""

    before_iteration = True

    def __init__(self, address: str) -> None:
        self.address = address

    def __call__(self, env: Any) -> None:
        worker = get_worker()
        if env.iteration == 2 and worker.address == self.address:
            worker.loop.add_callback(worker.close, reason="test")
            while worker.status.name != "closed":
                time.sleep(0.05)


def test_training_goes_on_without_a_worker_that_left() -> None:
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    sizes = (7_000, 6_000, 7_000)
    data = DaskDataset(chunked(TABLE, sizes), label=chunked(LABEL, sizes))
    whole = gossamer.Dataset(TABLE, label=LABEL)
    expected = gossamer.train(PARAMS, whole, 4).model_to_string()
    with cluster, Client(cluster) as client:
        leaves = sorted(client.nthreads())[1]
        with pytest.warns(UserWarning, match=r"is lost: .*Training continues without it"):
            model = train(client, PARAMS, data, 4, callbacks=[CloseWorker(leaves)], time_out=30.0)
    assert model.model_to_string() == expected


def test_parts_of_a_training_that_never_begins_are_forgotten(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_LOOK", 0.05)
    future = client.submit(workers.hold_parts, "never", 0, [{"data": TABLE}], [], pure=False)
    future.result()
    assert ("never", 0) in workers._held
    del future  # as if the client had gone
    deadline = time.monotonic() + 20
    while ("never", 0) in workers._held or ("never", 0) in workers._arrivals:
        assert time.monotonic() < deadline, "the parts are still in memory"
        time.sleep(0.05)


def test_strangers_are_turned_away(client: Client) -> None:
    """A worker that knows nothing of a training closes the connection at once."""

    async def call(dask_worker: Any = None) -> str:
        try:
            await workers._call(dask_worker, dask_worker.address, ("unknown", 1), 0, 20.0)
        except OSError as error:
            return str(error)
        return "connected"

    halves = (N // 2, N // 2)
    data = DaskDataset(chunked(TABLE, halves), label=chunked(LABEL, halves))
    train(client, PARAMS, data, 1)  # the workers now know the operation
    assert set(client.run(call).values()) == {"it does not work on this training"}
