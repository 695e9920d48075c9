"""Rounds that were finished before a worker failed are not trained again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer.distributed import Group, SavedRounds, ShardData, WorkerError, run_group, train

N = 17_000
TABLE = np.random.default_rng(0).normal(size=(N, 3))
LABEL = TABLE[:, 0] - TABLE[:, 1] ** 2
ROUNDS = 6


class Visit:
    """A callback that writes down the rounds, and may fail in one of them."""

    before_iteration = True

    def __init__(self, fails_at: int = -1) -> None:
        self.rounds: list[int] = []
        self._fails_at = fails_at

    def __call__(self, env: Any) -> None:
        self.rounds.append(env.iteration)
        if env.iteration == self._fails_at:
            raise ConnectionError("as if the worker were gone")


def work_on(
    group: Group, params: dict[str, Any], visit: Visit, rounds: SavedRounds
) -> tuple[str, Any]:
    rows = np.array_split(np.arange(N), group.size)[group.rank]
    shard = ShardData([TABLE[rows]], label=LABEL[rows])
    history: dict[str, Any] = {}
    model = train(
        group,
        params,
        shard,
        ROUNDS,
        [shard],
        ["t"],
        callbacks=[visit, gossamer.record_evaluation(history)],
        resume=rounds,
    )
    return model.model_to_string(), history


@pytest.mark.parametrize("params", [{}, {"boosting": "dart"}, {"bagging_fraction": 0.5}])
@pytest.mark.parametrize("n_after", [1, 3])
def test_a_training_resumes_on_other_workers(params: dict[str, Any], n_after: int) -> None:
    params = {"num_leaves": 5, "verbosity": -1, **params}
    expected = run_group(1, lambda group: work_on(group, params, Visit(), SavedRounds()))
    kept = [SavedRounds(), SavedRounds()]
    errors: list[BaseException] = []

    def fail(group: Group) -> None:
        try:
            work_on(group, params, Visit(3 if group.rank == 1 else -1), kept[group.rank])
        except WorkerError as error:
            errors.append(error)
            raise

    with pytest.raises(ConnectionError):
        run_group(2, fail)
    assert len(errors) == 1
    content = kept[0].content
    assert content is not None

    def resume(group: Group) -> tuple[Any, list[int]]:
        visit = Visit()
        return work_on(group, params, visit, SavedRounds(content)), visit.rounds

    assert run_group(n_after, resume) == [(expected[0], [3, 4, 5])] * n_after
