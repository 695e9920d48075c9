"""Collectives and bytes of a tree: few, and as the model of `predict_tree_bytes` has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer.distributed import (
    Group,
    ShardData,
    Traffic,
    balanced_tree,
    predict_tree_bytes,
    run_group,
    train,
)

N, N_COLUMNS, ROUNDS = 65_536, 28, 3
MOST_COLLECTIVES = 80

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N, N_COLUMNS)).astype(np.float32)
SIGNAL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] + np.abs(TABLE[:, 3]) + RNG.normal(size=N)
# A few columns matter, or all of them.
LABELS = {
    "few": (SIGNAL > 0.8).astype(float),
    "all": (TABLE @ RNG.normal(size=N_COLUMNS) + RNG.normal(scale=2, size=N) > 0).astype(float),
}


def train_on(
    n_workers: int, params: dict[str, Any], label: np.ndarray
) -> tuple[gossamer.Booster, list[Traffic]]:
    def work(group: Group) -> tuple[gossamer.Booster, Traffic]:
        rows = np.array_split(np.arange(N), group.size)[group.rank]
        shard = ShardData([TABLE[rows]], label=label[rows])
        given = {"num_leaves": 255, "verbosity": -1, "num_threads": 1, **params}
        return train(group, given, shard, ROUNDS), group.traffic

    found = run_group(n_workers, work)
    return found[0][0], [traffic for _, traffic in found]


def smaller_children(tree: dict[str, Any]) -> list[int]:
    """The rows of the smaller child of each split."""
    found: list[int] = []

    def visit(node: dict[str, Any]) -> int:
        if "leaf_count" in node:
            return int(node["leaf_count"])
        counts = visit(node["left_child"]), visit(node["right_child"])
        found.append(min(counts))
        return sum(counts)

    visit(tree["tree_structure"])
    return found


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("n_workers", [2, 4])
def test_bytes_of_a_tree_are_those_of_the_model(n_workers: int, label: str) -> None:
    model, traffics = train_on(n_workers, {"objective": "binary"}, LABELS[label])
    trees = model.dump_model()["tree_info"]
    expected = np.mean(
        [predict_tree_bytes(smaller_children(t), N, [255] * N_COLUMNS, n_workers) for t in trees]
    )
    measured = np.mean([traffic.bytes_per_tree for traffic in traffics])
    assert measured == pytest.approx(expected, rel=0.1)
    for traffic in traffics:
        assert traffic.n_trees == ROUNDS
        assert traffic.collectives_per_tree <= MOST_COLLECTIVES
        assert traffic.n_bytes > traffic.tree_bytes


@pytest.mark.parametrize("objective", ["l2", "l1", "quantile"])
def test_a_tree_takes_few_collectives(objective: str) -> None:
    _, traffics = train_on(2, {"objective": objective}, SIGNAL)
    for traffic in traffics:
        assert traffic.collectives_per_tree <= MOST_COLLECTIVES


def test_a_balanced_tree_halves_the_largest_leaf() -> None:
    children = balanced_tree(1 << 20, 256)
    assert len(children) == 255
    assert children[0] == 1 << 19
    assert sorted(set(children.tolist())) == [1 << k for k in range(12, 20)]
