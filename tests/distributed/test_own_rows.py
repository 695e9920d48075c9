"""A worker holds the bins, labels and scores of its own rows; chunks are freed once binned."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer.distributed import Group, ShardData, chunked_shards, run_group, train

N = 3 * 8192
TABLE = np.random.default_rng(0).normal(size=(N, 3))
LABEL = TABLE[:, 0] - TABLE[:, 1] ** 2
QUIET = {"num_leaves": 5, "verbosity": -1, "num_threads": 1}


def rows_of(group: Group) -> np.ndarray:
    return np.array_split(np.arange(N), group.size)[group.rank]


class LookAtRows:
    """A callback that notes how many scores, labels and gradients there are."""

    def __init__(self) -> None:
        self.sizes: set[int] = set()

    def __call__(self, env: Any) -> None:
        training = env.model.training
        self.sizes |= {
            len(training.train.score),
            len(training.prepared.targets.label),
            len(training.prepared.gradients.gradient),
            len(training.train.given.get_label()),
        }


@pytest.mark.parametrize(
    ("params", "keeps_own"),
    [
        ({}, True),
        ({"objective": "l1"}, True),
        ({"bagging_fraction": 0.5, "bagging_freq": 1}, True),
        ({"data_sample_strategy": "goss"}, False),
        ({"boosting": "dart"}, False),
    ],
)
def test_a_worker_has_the_state_of_its_own_rows(params: dict[str, Any], keeps_own: bool) -> None:
    def work(group: Group) -> set[int]:
        look, rows = LookAtRows(), rows_of(group)
        shard = ShardData([TABLE[rows]], label=LABEL[rows])
        train(group, {**QUIET, **params}, shard, 2, callbacks=[look])
        return look.sizes

    assert run_group(3, work) == [{N // 3 if keeps_own else N}] * 3


def test_metrics_of_the_training_data_are_about_all_rows() -> None:
    one: dict[str, Any] = {}
    whole = gossamer.Dataset(TABLE, label=LABEL)
    record = gossamer.record_evaluation(one)
    gossamer.train(QUIET, whole, 3, valid_sets=[whole], callbacks=[record])

    def work(group: Group) -> dict[str, Any]:
        history: dict[str, Any] = {}
        rows = rows_of(group)
        shard = ShardData([TABLE[rows]], label=LABEL[rows])
        record = gossamer.record_evaluation(history)
        train(group, QUIET, shard, 3, [shard], callbacks=[record])
        return history

    assert run_group(3, work) == [one] * 3


class CountChunks:
    """Counts the chunks that are still there when the table is read for the last time."""

    def __init__(self, chunks: list[np.ndarray]) -> None:
        self._left = [weakref.ref(chunk) for chunk in chunks]
        self.most = [0, 0]  # before and in the first round

    def n_left(self) -> int:
        return sum(left() is not None for left in self._left)

    def __call__(self, env: Any) -> None:
        self.most[1] = max(self.most[1], self.n_left())


def test_chunks_are_freed_as_they_are_binned(monkeypatch: pytest.MonkeyPatch) -> None:

    n_chunks = 6
    left_while_binning: list[int] = []
    count: CountChunks | None = None

    class Binner:
        def __init__(self, *args: Any) -> None:
            self._native = gossamer._native.PieceBinner(*args)

        def add(self, piece: Any, n_threads: int) -> None:
            assert count is not None
            left_while_binning.append(count.n_left())
            self._native.add(piece, n_threads)

        def finish(self) -> Any:
            return self._native.finish()

    class Native:
        PieceBinner = Binner

        def __getattr__(self, name: str) -> Any:
            return getattr(gossamer._native, name)

    monkeypatch.setattr(chunked_shards, "_native", Native())

    def work(group: Group) -> None:
        nonlocal count
        chunks = [np.array(chunk) for chunk in np.array_split(TABLE, n_chunks)]
        count = CountChunks(chunks)
        shard = ShardData(chunks, label=LABEL)
        del chunks
        train(group, QUIET, shard, 1, callbacks=[count])

    run_group(1, work)
    assert left_while_binning == list(range(n_chunks, 0, -1))
    assert count is not None
    assert count.most[1] == 0
