"""Threads that do random things with one model at once: every result is that of whole rounds."""

from __future__ import annotations

import random
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack.children import in_child
from attack.conftest import Tally
from attack.random_trainings import draw_training
from attack.scale import share

from gossamer import Booster, Dataset, threads

N_PARTS = share(1, 16)  # that run side by side
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(500, 5))
LABEL = (TABLE[:, 0] * TABLE[:, 1] > 0.1).astype(float)
BOOSTINGS: tuple[dict[str, Any], ...] = (
    *({}, {"boosting": "dart", "drop_rate": 0.5}, {"data_sample_strategy": "goss"}),
    *(
        {"linear_tree": True},
        {"tree_method": "exact"},
        {"bagging_fraction": 0.5, "bagging_freq": 1},
    ),
)


def act(booster: Booster, draw: random.Random, path: Path) -> int:
    """Do one thing; return how many rounds it added."""
    what = draw.randrange(9)
    if what <= 2:
        booster.update()
        return 1
    if what == 3 and booster.current_iteration() > 6:
        booster.rollback_one_iter()
        return -1
    if what == 4:
        assert len(booster.eval_train() + booster.eval_valid()) == 2
    elif what == 5:
        assert np.isfinite(booster.predict(TABLE[: draw.choice([1, 100])])).all()
    elif what == 6:
        loaded = Booster(model_str=booster.model_to_string())
        assert np.isfinite(loaded.predict(TABLE[:9])).all()
    elif what == 7:
        booster.save_model(path)
        assert np.isfinite(Booster(model_file=path).predict(TABLE[:9])).all()
    elif what == 8:
        booster.feature_importance("gain")
    return 0


def run(seed: int, folder: Path) -> None:
    """One schedule."""
    warnings.simplefilter("ignore")
    threads.CELLS_PER_THREAD = 1
    draw = random.Random(seed)
    params = {"objective": "binary", "num_leaves": 7, "verbosity": -1, "metric": "auc"}
    params |= {"num_threads": draw.choice([1, 2, 3]), **draw.choice(BOOSTINGS)}
    data = Dataset(TABLE, LABEL, params=params)
    booster = Booster(params, data)
    booster.add_valid(data.create_valid(TABLE[::3], LABEL[::3]), "valid")
    for _ in range(10):
        booster.update()
    n_threads = draw.choice([2, 3, 5])
    start = threading.Barrier(n_threads)

    def work(number: int) -> int:
        mine = random.Random(1000 * seed + number)
        start.wait(60)
        path = folder / f"model-{seed}-{number % 2}"
        return sum(act(booster, mine, path) for _ in range(6))

    with ThreadPoolExecutor(n_threads) as pool:
        added = sum(pool.map(work, range(n_threads)))
    assert booster.current_iteration() == 10 + added, "rounds were lost"
    assert booster.training is not None
    data_sets = (booster.training.train, TABLE), (booster.training.valid[0], TABLE[::3])
    for data_set, rows in data_sets:
        raw = booster.predict(rows, raw_score=True)
        np.testing.assert_allclose(data_set.score, raw, atol=1e-9)


def train_at_once(seed: int) -> None:
    """A random training by several threads at once, on one data set that is not built yet."""
    warnings.simplefilter("ignore")
    threads.CELLS_PER_THREAD = 1
    training = draw_training(seed)
    expected = training.train().model_to_string()
    data = training.data(params=training.bin_params())
    start = threading.Barrier(3)

    def work(n_threads: int) -> str:
        start.wait(60)
        booster = training.train(data, n_threads)
        booster.predict(training.rows(), num_threads=n_threads)
        return booster.model_to_string()

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(work, (1, 2, 3)))
    assert found == [expected] * 3, f"another model: {training}"


@pytest.mark.parametrize("part", range(N_PARTS))
def test_random_trainings_at_once(part: int, tally: Tally) -> None:
    for seed in range(part, share(8, 1_000), N_PARTS):
        with tally.run(f"train_at_once({seed})"):
            found = in_child(lambda seed=seed: train_at_once(seed))
            assert "wrong" not in found, found


@pytest.mark.parametrize("part", range(N_PARTS))
def test_random_schedules(part: int, tally: Tally, tmp_path: Path) -> None:
    for seed in range(part, share(8, 1_000), N_PARTS):
        with tally.run(f"run({seed})"):
            found = in_child(lambda seed=seed: run(seed, tmp_path))
            assert "wrong" not in found, found
