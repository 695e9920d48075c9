"""Bins on disk: the same bytes as in memory, within the limit, and clear errors."""

from __future__ import annotations

import errno
import gc
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
from scipy.sparse import csr_matrix
from train.test_determinism import CASES, TABLE

from gossamer import Booster, Dataset, Sequence, _native, cv, files, train
from gossamer.data.builders import from_subset
from gossamer.data.dataset import built_data
from gossamer.data.request import Request
from gossamer.data.storage.budget import Budget, row_needs, sample_need
from gossamer.data.storage.page_cache import PageStore
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.model.files import model_file
from gossamer.model.training.memory import (
    Placement,
    may_be_in_files,
    place_rows,
    training_needs,
)
from gossamer.model.training.pass_report import PassReport
from gossamer.model.training.training import Training
from gossamer.objectives import make_objective
from gossamer.params import resolve
from gossamer.params.memory import machine_memory, parse_memory, write_memory

RNG = np.random.default_rng(5)
N_ROWS = 30_000
X = RNG.normal(size=(N_ROWS, 6))
X[RNG.random(X.shape) < 0.05] = np.nan
Y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) ** 2 + RNG.normal(size=N_ROWS)

PagesOf = Callable[[int], None]


@pytest.fixture
def pages_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[PagesOf]:
    """Have every table on disk, in pages of so many rows, however little memory it takes."""

    def choose(page_rows: int) -> None:
        monkeypatch.setattr(Budget, "holds_table", lambda *_: False)
        monkeypatch.setattr(Budget, "holds_validation", lambda *_: False)
        monkeypatch.setattr(Budget, "page_rows", lambda *_: page_rows)
        monkeypatch.setattr(Budget, "kept_bytes", lambda *_: 0)  # each pass reads all of them
        monkeypatch.setattr(Budget, "loaded_bytes", lambda *_: 0)

    yield choose


def on_disk(data: Dataset) -> Any:
    return _native.on_disk(built_data(data).table.bins)


# ---- the same bytes ----

NOT_ON_DISK = ("vector leaves", "bundles with conflicts", "symmetric")
SUPPORTED = [name for name in CASES if not name.startswith(NOT_ON_DISK)]


def bytes_of(case: dict[str, Any], num_threads: int, **params: Any) -> bytes:
    case = dict(case)
    fields = {name: case.pop(name, None) for name in ("weight", "group", "position")}
    data = Dataset(case.pop("table", TABLE), case.pop("label"), **fields)
    settings = {**case, "num_threads": num_threads, "verbosity": -1, **params}
    booster = train(settings, data, 3)
    assert (on_disk(data) is not None) == bool(params)
    model = booster.model
    kept = {name: value for name, value in model.params.items() if name != "num_threads"}
    return model_file.to_bytes(replace(model, params=kept))


@pytest.mark.parametrize("name", SUPPORTED)
def test_bytes_are_those_of_memory(name: str, pages_of: PagesOf) -> None:
    expected = bytes_of(CASES[name], 1)
    for num_threads, page_rows in ((1, 8192), (2, 3 * 8192), (3, 1 << 16)):
        pages_of(page_rows)
        assert bytes_of(CASES[name], num_threads, max_memory="1GB") == expected, page_rows


@pytest.fixture(params=[False, True], ids=["scores and gradients", "scores"])
def rows_in_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Have scores in files wherever they may be; the list says where they were."""
    were: list[bool] = []

    def place(params: Any, objective: Any, data: Any, *rest: Any, **options: Any) -> Placement:
        placed = place_rows(params, objective, data, *rest, **options)
        were.append(may_be_in_files(params, objective, data))
        in_files = placed.in_files or were[-1]
        return replace(placed, in_files=in_files, holds_gradients=request.param)

    monkeypatch.setattr("gossamer.model.training.prepared.place_rows", place)
    return were


@pytest.mark.parametrize("name", SUPPORTED)
def test_bytes_with_scores_in_files(
    name: str, pages_of: PagesOf, rows_in_files: list[bool]
) -> None:
    expected = bytes_of(CASES[name], 1)
    assert not any(rows_in_files)  # bins in memory
    pages_of(8192)
    assert bytes_of(CASES[name], 2, max_memory="1GB") == expected


def test_most_objectives_may_have_scores_in_files(
    pages_of: PagesOf, rows_in_files: list[bool]
) -> None:
    pages_of(8192)
    for objective, may in {
        **dict.fromkeys(("l2", "binary", "poisson", "gamma", "cross_entropy"), True),
        **dict.fromkeys(("l1", "quantile", "huber"), False),  # values of leaves from residuals
    }.items():
        label = (Y > 0) + 0.5 * (objective in ("gamma", "poisson"))
        train({"objective": objective, "max_memory": "1GB", "verbosity": -1}, Dataset(X, label), 1)
        assert rows_in_files[-1] == may, objective
    classes = Dataset(X, Y > 0)
    params = {"objective": "multiclass", "num_class": 2, "max_memory": "1GB", "verbosity": -1}
    train(params, classes, 1)
    assert rows_in_files[-1]
    for boosting in ("dart", "rf"):
        more = {"boosting": boosting, "bagging_fraction": 0.5, "num_class": 1}
        train({**params, **more, "objective": "binary"}, classes, 1)
        assert not rows_in_files[-1]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"bagging_fraction": 0.3, "objective": "binary"},
        {"data_sample_strategy": "goss", "learning_rate": 1.0},
        {"data_sample_strategy": "mvs", "bagging_fraction": 0.3},
    ],
    ids=str,
)
def test_a_training_with_scores_in_files(
    params: dict[str, Any], pages_of: PagesOf, rows_in_files: list[bool]
) -> None:
    """Validation sets, rounds taken back, other parameters, evaluation, other data."""

    def run(**more: Any) -> tuple[Any, ...]:
        settings = {"num_leaves": 15, "verbosity": -1, **params, **more}
        data = Dataset(X[:20_000], Y[:20_000] > 0, params=more, free_raw_data=False)
        booster = Booster(settings, data)
        booster.update()
        booster.add_valid(data.create_valid(X[20_000:], Y[20_000:] > 0), "other")
        booster.update()
        booster.rollback_one_iter()
        booster.update()
        booster.reset_parameter({"learning_rate": 0.3, "lambda_l2": 2.0})
        booster.update()
        scores = booster.eval_train(), booster.eval_valid()
        booster.update(Dataset(X[5000:], Y[5000:] > 0, reference=data, params=more))
        return booster.model_to_string(), *scores

    expected = run()
    pages_of(8192)
    assert run(max_memory="1GB") == expected
    assert rows_in_files[-1]


def test_a_training_goes_on_with_scores_in_files(
    pages_of: PagesOf, rows_in_files: list[bool]
) -> None:
    first = train({"verbosity": -1}, Dataset(X, Y), 2)

    def run(**more: Any) -> str:
        data = Dataset(X, Y, init_score=Y / 2, params=more, free_raw_data=False)
        alone = train({"verbosity": -1, **more}, data, 2).model_to_string()
        data = Dataset(X, Y, params=more, free_raw_data=False)
        return alone + train({"verbosity": -1, **more}, data, 2, init_model=first).model_to_string()

    expected = run()
    pages_of(8192)
    assert run(max_memory="1GB") == expected
    assert rows_in_files[-1]


def test_gradients_move_to_files_when_memory_gets_short(
    pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when validation data comes later."""

    def run(**more: Any) -> tuple[Any, ...]:
        data = Dataset(X, Y > 0, params=more, free_raw_data=False)
        booster = Booster({"objective": "binary", "verbosity": -1, **more}, data)
        booster.update()
        booster.add_valid(data.create_valid(X[:5000], Y[:5000] > 0), "other")
        booster.update()
        moved.append(booster.training.prepared.holds_gradients)
        return booster.model_to_string(), *booster.eval_valid()

    def place(params: Any, objective: Any, data: Any, valid: Any, *rest: Any, **more: Any) -> Any:
        placed = place_rows(params, objective, data, valid, *rest, **more)
        return replace(placed, in_files=on_pages, holds_gradients=len(valid) == 0)

    moved: list[bool] = []
    on_pages = False
    monkeypatch.setattr("gossamer.model.training.prepared.place_rows", place)
    expected = run()
    on_pages = True
    pages_of(8192)
    assert run(max_memory="1GB") == expected
    assert moved[-1] is False


def test_what_does_not_fit_goes_to_files() -> None:
    table, label = many_rows(3_000_000)
    data = built_data(Dataset(table, label, params={"max_memory": "100MB"}))
    assert _native.on_disk(data.table.bins) is not None
    ways = []
    for n in range(100, 40, -2):
        params = resolve({"max_memory": f"{n}MB", "num_leaves": 4})
        objective = make_objective(params, data.targets)
        try:
            placed = place_rows(params, objective, data, (), None)
        except ParameterError:
            break
        assert placed.held <= n * 10**6
        ways.append((placed.in_files, placed.in_files and not placed.holds_gradients))
    assert ways == sorted(ways)
    assert set(ways) == {(False, False), (True, False), (True, True)}


@pytest.mark.parametrize("n_kept", [1, 2, 100])
@pytest.mark.parametrize("name", SUPPORTED[::6])
def test_bytes_with_pages_kept_in_memory(
    n_kept: int, name: str, pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = bytes_of(CASES[name], 1)
    pages_of(8192)
    page_bytes = 8192 * built_data(Dataset(CASES[name].get("table", TABLE))).table.bins.row_bytes
    monkeypatch.setattr(Budget, "kept_bytes", lambda *_: n_kept * 2 * page_bytes)
    assert bytes_of(CASES[name], 2, max_memory="1GB") == expected


def test_kept_pages_are_read_once(
    pages_of: PagesOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that changes is not noticed until their memory is needed for something else."""
    kept_bytes = Budget.kept_bytes
    pages_of(8192)
    monkeypatch.setattr(Budget, "kept_bytes", kept_bytes)
    table = pyarrow.table({**{f"x{i}": X[:, i] for i in range(6)}, "y": Y})
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table, path)
    params = {"max_memory": "1GB", "cache_dir": str(tmp_path / "cache"), "verbosity": -1}
    data = Dataset(path, label="y", params=params)
    booster = Booster(params, data)
    booster.update()
    figures = on_disk(data)
    assert figures["kept_bytes"] == figures["bytes"]
    (pages,) = (tmp_path / "cache").iterdir()
    with open(pages, "r+b") as file:
        file.write(b"\xff")
    booster.update()
    booster.predict(path)
    assert on_disk(data)["kept_bytes"] == 0
    with pytest.raises(OSError, match="changed since it was written"):
        booster.update()
    del booster
    gc.collect()
    assert on_disk(data)["kept_bytes"] == 0


def test_memory_that_is_left_keeps_pages() -> None:
    assert Budget(10**9).kept_bytes(4 * 10**8, 10**8, 0) == 375 * 10**6
    assert Budget(10**9).kept_bytes(10**9, 10**8, 0) == 0
    assert Budget(10**9).kept_bytes(4 * 10**8, 10**8, 3 * 10**8) == 150 * 10**6


def test_memory_of_samples() -> None:
    bins = built_data(Dataset(X, Y)).table.bins
    n_sampled = int(0.2 * N_ROWS + 8 * N_ROWS**0.5) + 1
    need = n_sampled * (8 + 4 + 4 + 16)  # six lanes take eight bytes

    def reserved(left: int, **params: Any) -> int:
        return Budget(10**6 + left).reserved_for_sample(bins, resolve(params), 1, 10**6)

    assert reserved(10**9) == reserved(10**9, bagging_fraction=0.2, bagging_freq=0) == 0
    assert reserved(10**9, bagging_fraction=0.2) == need
    by_class = {"neg_bagging_fraction": 0.2, "pos_bagging_fraction": 0.1}
    assert reserved(10**9, objective="binary", **by_class) == need
    assert reserved(need, bagging_fraction=0.2) == 0
    assert reserved(need * 4 // 3 + 2, bagging_fraction=0.2) == need
    # How many rows these take is known when they have been drawn.
    for params in (
        {"data_sample_strategy": "goss"},
        {"data_sample_strategy": "mvs", "bagging_fraction": 0.2},
        {"bagging_by_query": True, "bagging_fraction": 0.2},
    ):
        assert reserved(10**8, **params) == 75 * 10**6


@pytest.mark.parametrize("name", SUPPORTED[::4])
def test_bins_that_fit_after_all_are_loaded(
    name: str, pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = bytes_of(CASES[name], 1)
    loaded_bytes = Budget.loaded_bytes
    pages_of(8192)
    monkeypatch.setattr(Budget, "loaded_bytes", loaded_bytes)
    assert bytes_of(CASES[name], 2, max_memory="1GB") == expected


def test_loaded_bins_make_way_for_validation_data(
    pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []

    def run(**params: Any) -> tuple[str, list[Any]]:
        data = Dataset(X, Y, params=params, free_raw_data=False)
        booster = Booster({"verbosity": -1, "num_leaves": 7, **params}, data)
        for i in range(4):
            if i == 2:
                booster.add_valid(data.create_valid(X, Y), "other")
            booster.update()
            passes.append(booster.num_passes())
        return booster.model_to_string(), booster.eval_valid()

    expected = run()
    assert passes == [0] * 4
    passes.clear()
    held = []

    def loaded_bytes(_: Budget, __: Any, held_now: int) -> int:
        held.append(held_now)
        return 600_000 if held_now == held[0] else 0

    pages_of(8192)
    monkeypatch.setattr(Budget, "loaded_bytes", loaded_bytes)
    assert run(max_memory="1GB") == expected
    assert held[-1] > held[0]
    assert passes[:2] == [1, 1]
    assert passes[1] < passes[2] < passes[3]


def test_what_is_loaded(pages_of: PagesOf) -> None:
    loaded_bytes = Budget.loaded_bytes
    pages_of(8192)
    data = Dataset(X, Y, params={"max_memory": "1GB"}).construct()
    bins = built_data(data).table.bins
    need = N_ROWS * (2 * 8 + 4)
    least = 10**6 + need + 6 * 20 * bins.n_cells
    assert loaded_bytes(Budget(least), bins, 10**6) == need
    assert loaded_bytes(Budget(least - 1), bins, 10**6) == 0
    assert loaded_bytes(Budget(0), bins, 10**6) == 0
    in_memory = built_data(Dataset(X, Y)).table.bins
    assert loaded_bytes(Budget(10**9), in_memory, 10**6) == 0


def test_a_sample_of_a_fifth_fits_at_five_times_the_limit() -> None:
    """A file of 1 GB with 100 columns of float32 under a limit of 200 MB."""
    params = resolve({"max_memory": "200MB", "bagging_fraction": 0.2})
    n_rows, few = 2_475_000, np.random.default_rng(0).normal(size=(2000, 100))
    data = built_data(Dataset(few, few[:, 0]))
    objective = make_objective(params, data.targets)
    rows = row_needs(n_rows, 1, sample_bytes=5, share=0.2, has_weight=False, in_files=True)
    held = sum(rows.values()) + training_needs(params, objective, data)["small buffers"] + 2**23
    need = sample_need(data.table.bins, int(0.2 * n_rows), 1)
    assert need < Budget.of(params).most_for_sample(held)


def test_samples_that_do_not_fit_are_read_page_by_page(
    pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES["binary bagging by class"]
    expected = bytes_of(case, 1)
    pages_of(8192)
    monkeypatch.setattr(Budget, "reserved_for_sample", lambda *_: 0)
    assert bytes_of(case, 2, max_memory="1GB") == expected


def test_validation_early_stopping_and_predictions(pages_of: PagesOf) -> None:
    def run(**params: Any) -> tuple[Any, Any, Any]:
        data = Dataset(X[:20_000], Y[:20_000])
        valid = data.create_valid(X[20_000:], Y[20_000:])
        settings = {"early_stopping_round": 3, "num_leaves": 15, "verbosity": -1, **params}
        booster = train({"learning_rate": 0.5, **settings}, data, 40, [valid])
        assert (on_disk(valid) is not None) == bool(params)
        return booster.best_iteration, booster.best_score, booster.predict(X)

    expected = run()
    pages_of(8192)
    found = run(max_memory="1GB")
    assert found[:2] == expected[:2]
    np.testing.assert_array_equal(found[2], expected[2])


@pytest.mark.parametrize("boosting", ["dart", "rf"])
def test_other_boosting_modes(boosting: str, pages_of: PagesOf) -> None:
    case = {"label": Y, "table": X, "boosting": boosting, "bagging_fraction": 0.5}
    expected = bytes_of(case, 2)
    pages_of(8192)
    assert bytes_of(case, 2, max_memory="1GB") == expected


@pytest.mark.parametrize(
    "params",
    [
        {"monotone_constraints": [1, 0, 0, -1, 0, 0], "monotone_constraints_method": "advanced"},
        {"interaction_constraints": [[0, 1], [2, 3, 4, 5]]},
        {"cegb_penalty_feature_lazy": [0.001] * 6, "cegb_tradeoff": 0.5},
        {"forcedsplits_filename": {"feature": 2, "threshold": 0.0}},
    ],
    ids=lambda params: next(iter(params)),
)
def test_constraints_and_costs(params: dict[str, Any], pages_of: PagesOf) -> None:
    case = {"label": Y, "table": X, **params}
    expected = bytes_of(case, 2)
    pages_of(8192)
    assert bytes_of(case, 2, max_memory="1GB") == expected


def test_categories_and_rollback(pages_of: PagesOf) -> None:
    codes = np.column_stack([RNG.integers(0, 40, N_ROWS), RNG.integers(0, 3, N_ROWS)])
    params = {"categorical_feature": [0, 1], "cat_target_statistics": "off", "verbosity": -1}

    def run(**more: Any) -> Any:
        data = Dataset(np.hstack([codes, X]), Y)
        booster = train({**params, **more}, data, 4, keep_training_booster=True)
        booster.rollback_one_iter()
        booster.update()
        return booster.predict(np.hstack([codes, X]))

    expected = run()
    pages_of(16384)
    np.testing.assert_array_equal(run(max_memory="1GB"), expected)


# ---- target statistics ----

TOWNS = np.array([f"town {i}" for i in range(250)])
TOWN = RNG.integers(0, 250, N_ROWS)
CITY = RNG.integers(0, 4, N_ROWS)


def frame_of(rows: slice = slice(None)) -> pandas.DataFrame:
    frame = pandas.DataFrame(X[rows], columns=list("abcdef"))
    return frame.assign(town=TOWNS[TOWN[rows]], city=TOWNS[CITY[rows]])


def statistics_bytes(params: dict[str, Any], **more: Any) -> tuple[bytes, Any]:
    """The model's bytes, and the last values of metrics on validation data."""
    label = Y + np.sin(TOWN)
    if "objective" in params:
        label = np.digitize(label, [-1, 1])
    head, tail = slice(20_000), slice(20_000, None)
    weight = 0.1 + np.abs(np.nan_to_num(X[head, 5]))
    data = Dataset(frame_of(head), label[head], weight=weight)
    valid = data.create_valid(frame_of(tail), label[tail])
    settings = {"num_leaves": 15, "verbosity": -1, "num_threads": 2, **params, **more}
    booster = train(settings, data, 3, [valid])
    assert (on_disk(data) is not None) == (on_disk(valid) is not None) == bool(more)
    assert booster.model.derived is not None
    return model_file.to_bytes(booster.model), booster.best_score


@pytest.mark.parametrize(
    "params",
    [
        {"cat_target_statistics": "on"},
        {"cat_target_statistics": "auto"},
        {"cat_target_statistics": "on", "cat_combinations": 2, "bagging_fraction": 0.4},
        {"cat_target_statistics": "on", "objective": "multiclass", "num_class": 3},
    ],
    ids=str,
)
def test_target_statistics_on_pages(params: dict[str, Any], pages_of: PagesOf) -> None:
    expected = statistics_bytes(params)
    for page_rows in (8192, 3 * 8192):
        pages_of(page_rows)
        assert statistics_bytes(params, max_memory="1GB") == expected


def test_columns_of_few_levels_have_no_statistics(parquet: Path, pages_of: PagesOf) -> None:
    def run(**params: Any) -> str:
        data = Dataset(parquet, label="y", params=params)
        booster = train({"verbosity": -1, **params}, data, 2)
        assert (on_disk(data) is not None) == bool(params)
        assert booster.model.derived is None
        return booster.model_to_string()

    expected = run()
    pages_of(8192)
    assert run(max_memory="1GB") == expected


def test_statistics_on_pages_that_do_not_fit(pages_of: PagesOf) -> None:
    pages_of(8192)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 900, (1_000_000, 2))
    label = codes[:, 0] % 7 + codes[:, 1] % 5
    data = Dataset(codes, label, categorical_feature=[0, 1], params={"max_memory": "80MB"})
    data.construct()

    def run(max_memory: str) -> Any:
        params = {"max_memory": max_memory, "verbosity": -1, "cat_target_statistics": "on"}
        return train(params, data, 1)

    text = smallest(run, "60MB")
    assert "for target statistics" in text
    assert "cat_target_statistics=off" in text


def test_a_full_disk_while_statistics_are_written(
    pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages_of(8192)

    class FullDisk:
        def __init__(self, *_: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    params = {"cat_target_statistics": "on", "max_memory": "1GB", "verbosity": -1}
    data = Dataset(frame_of(), Y, params=params).construct()
    monkeypatch.setattr(_native, "BesideWriter", FullDisk)
    with pytest.raises(OSError, match="the disk is full"):
        train(params, data, 1)


# ---- passes ----


def passes_per_tree(skipped: int = 0, **params: Any) -> list[float]:
    """The passes of each tree in some rounds, on average over the trees of a round."""
    data = Dataset(X, params.pop("label", Y))
    settings = {"num_leaves": 255, "min_data_in_leaf": 5, "max_memory": "1GB", "verbosity": -1}
    booster = Booster({**settings, **params}, data)
    passes = [booster.num_passes()]
    for _ in range(skipped + 5):
        booster.update()
        passes.append(booster.num_passes())
    assert data.describe().passes == booster.num_passes()
    per_round = np.diff(passes)[skipped:] / booster.num_model_per_iteration()
    return [float(n) for n in per_round]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"objective": "binary", "label": Y > 0},
        {"extra_trees": True},
        {"feature_fraction": 0.5},
        {"feature_fraction_bynode": 0.5},
        {"boosting": "dart", "drop_rate": 0.0},
        {"min_data_in_leaf": 50},
    ],
    ids=str,
)
def test_few_passes_over_the_data(params: dict[str, Any], pages_of: PagesOf) -> None:
    pages_of(8192)
    assert max(passes_per_tree(**params)) <= 40


@pytest.mark.parametrize(
    "params",
    [
        {"bagging_fraction": 0.2},
        {"bagging_fraction": 0.2, "bagging_freq": 3},
        # (GOSS takes all rows in the first 1 / learning_rate rounds)
        {"data_sample_strategy": "goss", "learning_rate": 0.5, "skipped": 2},
        {"data_sample_strategy": "mvs", "bagging_fraction": 0.2},
        {
            "bagging_fraction": 0.2,
            "objective": "multiclass",
            "num_class": 3,
            "label": Y.round() % 3,
        },
        {"bagging_fraction": 0.2, "objective": "mae"},
        {"bagging_fraction": 0.2, "num_parallel_tree": 4},
        {"bagging_fraction": 0.2, "boosting": "rf"},
    ],
    ids=str,
)
def test_two_passes_for_a_tree_of_a_sample(params: dict[str, Any], pages_of: PagesOf) -> None:
    pages_of(8192)
    passes = passes_per_tree(**params)
    assert min(passes) > 0
    assert max(passes) <= 2


def test_in_memory_there_are_no_passes() -> None:
    assert passes_per_tree() == [0.0] * 5


@pytest.mark.parametrize("pool", [-1.0, 0.5])
def test_depthwise_growth_takes_a_pass_per_level(pool: float, pages_of: PagesOf) -> None:
    """Also with a pool for 8 nodes: the 16 of the last level need no histograms."""
    pages_of(8192)
    params = {"grow_policy": "depthwise", "max_depth": 5, "num_leaves": 32, "verbosity": -1}
    params |= {"histogram_pool_size": pool}
    data = Dataset(X, Y, params={"max_memory": "1GB"})
    before = on_disk(data)["passes"]
    train({**params, "max_memory": "1GB"}, data, 1)
    assert on_disk(data)["passes"] - before <= 6


# ---- files ----


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "rows.parquet"
    columns = {f"x{i}": X[:, i] for i in range(X.shape[1])}
    columns["town"] = RNG.choice(["Bern", "Rome", "Oslo"], N_ROWS)
    table = pyarrow.table({**columns, "y": Y})
    pyarrow.parquet.write_table(table, path, row_group_size=5000)
    return path


def from_file(path: Path, **params: Any) -> Dataset:
    return Dataset(path, label="y", params={"cat_target_statistics": "off", **params})


def trees_of(data: Dataset, **params: Any) -> np.ndarray:
    settings = {"verbosity": -1, "cat_target_statistics": "off", **params}
    booster = train(settings, data, 3)
    return booster.predict(data.data)


def test_files_give_the_same_model(parquet: Path, pages_of: PagesOf) -> None:
    expected = trees_of(from_file(parquet))
    pages_of(8192)
    data = from_file(parquet, max_memory="1GB")
    np.testing.assert_array_equal(trees_of(data, max_memory="1GB"), expected)
    assert on_disk(data) is not None


class Rows(Sequence):
    batch_size = 3000

    def __getitem__(self, index: Any) -> Any:
        return X[index]

    def __len__(self) -> int:
        return N_ROWS


def make_chunks() -> Iterator[np.ndarray]:
    for begin in range(0, N_ROWS, 7000):
        yield X[begin : begin + 7000]


def write_feather(path: Path) -> Path:
    columns = {f"x{i}": X[:, i] for i in range(X.shape[1])}
    pyarrow.feather.write_feather(pyarrow.table({**columns, "y": Y}), path)
    return path


def write_csv(path: Path) -> Path:
    np.savetxt(path, np.column_stack([Y, X]), delimiter=",", header="y,a,b,c,d,e,f", comments="")
    return path


def write_svm(path: Path) -> Path:
    lines = [
        " ".join([repr(float(y)), *(f"{i}:{float(v)!r}" for i, v in enumerate(row) if v == v)])
        for y, row in zip(Y[:9000], X[:9000], strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


SOURCES: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "Feather": lambda path: (write_feather(path / "rows.feather"), "y"),
    "CSV": lambda path: (write_csv(path / "rows.csv"), "y"),
    "LibSVM": lambda path: (write_svm(path / "rows.svm"), None),
    "two files": lambda path: (
        [write_feather(path / "a.arrow"), write_feather(path / "b.arrow")],
        "y",
    ),
    "Arrow data set": lambda path: (
        pyarrow.dataset.dataset(write_feather(path / "a.arrow"), format="feather"),
        "y",
    ),
    "Sequence": lambda _: (Rows(), Y),
    "Sequences": lambda _: ([Rows(), Rows()], np.concatenate([Y, Y])),
    "generator function": lambda _: (make_chunks, Y),
    "chunks": lambda _: (list(make_chunks()), Y),
    "sparse chunks": lambda _: ([csr_matrix(np.nan_to_num(x)) for x in make_chunks()], Y),
    "Arrow batches": lambda _: (
        lambda: pyarrow.table({"a": X[:, 0], "b": X[:, 1]}).to_batches(4000),
        Y,
    ),
    "frame": lambda _: (pandas.DataFrame(X), Y),
    "sparse": lambda _: (csr_matrix(np.nan_to_num(X)), Y),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_model(name: str, pages_of: PagesOf, tmp_path: Path) -> None:
    table, label = SOURCES[name](tmp_path)

    def run(**params: Any) -> str:
        data = Dataset(table, label)
        settings = {"num_leaves": 15, "verbosity": -1, **params}
        text = train(settings, data, 3).model_to_string()
        assert (on_disk(data) is not None) == bool(params)
        return text

    expected = run()
    pages_of(8192)
    assert run(max_memory="1GB") == expected


def test_a_cache_is_used_again_until_something_changes(
    parquet: Path, pages_of: PagesOf, tmp_path: Path
) -> None:
    pages_of(8192)
    cache = tmp_path / "cache"
    params = {"max_memory": "1GB", "cache_dir": str(cache)}
    expected = trees_of(from_file(parquet, **params), **params)
    (first,) = cache.iterdir()
    status = first.stat()
    np.testing.assert_array_equal(trees_of(from_file(parquet, **params), **params), expected)
    assert [path.stat().st_ino for path in cache.iterdir()] == [status.st_ino]
    from_file(parquet, **params, max_bin=63).construct()
    assert len(list(cache.iterdir())) == 2
    os.utime(parquet, ns=(0, 1))
    from_file(parquet, **params).construct()
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("damage", ["cut off", "footer", "empty"])
def test_a_broken_cache_is_written_again(
    damage: str, parquet: Path, pages_of: PagesOf, tmp_path: Path
) -> None:
    pages_of(8192)
    params = {"max_memory": "1GB", "cache_dir": str(tmp_path / "cache")}
    expected = trees_of(from_file(parquet, **params), **params)
    (path,) = (tmp_path / "cache").iterdir()
    content = path.read_bytes()
    broken = {"cut off": content[1000:], "footer": content[:-300] + b"x" * 300, "empty": b""}
    path.write_bytes(broken[damage])
    np.testing.assert_array_equal(trees_of(from_file(parquet, **params), **params), expected)
    assert path.read_bytes() == content


def test_nothing_is_left_of_temporary_pages(
    parquet: Path, pages_of: PagesOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages_of(8192)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    data = from_file(parquet, max_memory="1GB").construct()
    assert on_disk(data) is not None
    assert list((tmp_path / "temporary").iterdir()) == []


# ---- faults ----


def cached(parquet: Path, tmp_path: Path) -> tuple[Dataset, Path]:
    data = from_file(parquet, max_memory="1GB", cache_dir=str(tmp_path / "cache")).construct()
    (path,) = (tmp_path / "cache").iterdir()
    return data, path


@pytest.mark.parametrize("fault", ["changed", "cut off"])
def test_a_page_that_changes_ends_the_round_without_a_trace(
    fault: str, parquet: Path, pages_of: PagesOf, tmp_path: Path
) -> None:
    pages_of(8192)
    data, path = cached(parquet, tmp_path)
    params = {"max_memory": "1GB", "cat_target_statistics": "off", "verbosity": -1}
    booster = train(params, data, 3, keep_training_booster=True)
    expected = booster.model_to_string()
    content = path.read_bytes()
    with open(path, "r+b") as file:
        if fault == "changed":
            file.seek(9000)
            file.write(bytes([content[9000] ^ 1]))
        else:
            file.truncate(20_000)
    with pytest.raises(OSError, match=r"changed since it was written|is cut off") as error:
        booster.update()
    assert str(path) in str(error.value)
    assert booster.num_trees() == 3
    assert booster.model_to_string() == expected
    with open(path, "r+b") as file:  # the same file, whole again
        file.write(content)
    booster.update()
    assert booster.num_trees() == 4
    undisturbed = train(params, from_file(parquet), 4)
    np.testing.assert_array_equal(booster.predict(parquet), undisturbed.predict(parquet))


def test_no_file_stays_open(parquet: Path, pages_of: PagesOf, tmp_path: Path) -> None:
    pages_of(8192)
    path = cached(parquet, tmp_path)[1]
    content = path.read_bytes()

    def n_open() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    length = int.from_bytes(content[-16:-8], "little")
    arrays, facts = files.from_bytes(content[-16 - length : -16])
    arrays["checksums"] = arrays["checksums"][:-1]  # one page has none
    footer = files.to_bytes(arrays, facts)
    broken = content[: -16 - length] + footer + len(footer).to_bytes(8, "little") + content[-8:]
    before = n_open()
    for _ in range(3):
        path.write_bytes(broken)
        cached(parquet, tmp_path)
        assert path.read_bytes() == content
    assert n_open() == before


def test_a_deleted_file_is_still_read(parquet: Path, pages_of: PagesOf, tmp_path: Path) -> None:
    expected = trees_of(from_file(parquet))
    pages_of(8192)
    data, path = cached(parquet, tmp_path)
    path.unlink()
    np.testing.assert_array_equal(trees_of(data, max_memory="1GB"), expected)


def test_a_full_disk_leaves_nothing(
    parquet: Path, pages_of: PagesOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages_of(8192)

    class FullDisk:
        def __init__(self, *_: Any) -> None: ...

        def add(self, *_: Any) -> bool:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_native, "PageWriter", FullDisk)
    data = from_file(parquet, max_memory="1GB", cache_dir=str(tmp_path / "cache"))
    with pytest.raises(OSError, match="the disk is full") as error:
        data.construct()
    assert error.value.errno == errno.ENOSPC
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_native_writer_reports_what_the_system_says(pages_of: PagesOf) -> None:
    """/dev/full answers every write as a full disk does."""
    plan = built_data(Dataset(X, Y)).table.bins
    layout = _native.page_layout(plan, np.empty(0, np.int32))
    with open("/dev/full", "wb") as file:
        writer = _native.PageWriter(layout, N_ROWS, 8192, file.fileno())
        with pytest.raises(OSError, match="a page could not be written") as error:
            writer.add(X, 1)
    assert error.value.errno == errno.ENOSPC


def test_a_folder_without_permission(
    parquet: Path, pages_of: PagesOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root the tests may write anywhere, so the system's answer is made up."""
    pages_of(8192)

    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("gossamer.files.PartFile", refuse)
    with pytest.raises(PermissionError, match="cache_dir cannot be written to") as error:
        from_file(parquet, max_memory="1GB", cache_dir=str(tmp_path / "closed")).construct()
    assert error.value.filename == str(tmp_path / "closed")


def test_a_cache_dir_that_is_a_file(parquet: Path, pages_of: PagesOf, tmp_path: Path) -> None:
    pages_of(8192)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        from_file(parquet, max_memory="1GB", cache_dir=str(tmp_path / "file")).construct()


def test_a_disk_without_space_for_scores(
    pages_of: PagesOf, rows_in_files: list[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The system's answer is made up for the second file; nothing is left of the first."""
    pages_of(8192)
    row_file, made = _native.RowFile, []

    def fill(descriptor: int, n_bytes: int) -> Any:
        if made:
            raise OSError(errno.ENOSPC, "No space left on device")
        made.append(n_bytes)
        return row_file(descriptor, n_bytes)

    params = {"max_memory": "1GB", "cache_dir": str(tmp_path / "cache"), "verbosity": -1}
    data = Dataset(X, Y, params=params).construct()
    monkeypatch.setattr(_native, "RowFile", fill)
    with pytest.raises(OSError, match="the disk is full") as error:
        train(params, data, 1)
    assert error.value.errno == errno.ENOSPC
    assert made and list((tmp_path / "cache").iterdir()) == []
    monkeypatch.undo()
    train(params, data, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_leaves_scores_alone(pages_of: PagesOf, rows_in_files: list[bool]) -> None:
    pages_of(8192)
    params = {"max_memory": "1GB", "verbosity": -1, "num_threads": 1}
    booster = Booster(params, Dataset(X, Y, params=params))
    booster.update()
    child = os.fork()
    if child == 0:
        try:
            booster.update()
        except NotSupportedError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    booster.update()
    expected = train({"verbosity": -1}, Dataset(X, Y), 2)
    np.testing.assert_array_equal(booster.predict(X), expected.predict(X))


def test_the_system_refuses_space_for_scores() -> None:
    what = "scores and gradients could not be put on disk"
    with open("/dev/full", "r+b", buffering=0) as file, pytest.raises(OSError, match=what):
        _native.RowFile(file.fileno(), 1000)
    with pytest.raises(ValueError, match="at least one byte"):
        _native.RowFile(0, 0)


LOST_SCORES = """
import os, sys
import numpy as np
from gossamer import Booster, Dataset, _native, train
from gossamer.data.storage.budget import Budget, row_needs, sample_need
from gossamer.model.training import prepared
from gossamer.model.training.memory import Placement

Budget.holds_table = lambda *_: False
Budget.page_rows = lambda *_: 8192
place_rows, row_file, opened = prepared.place_rows, _native.RowFile, []
prepared.place_rows = lambda *a, **b: Placement(place_rows(*a, **b).held, True)

def open_row_file(descriptor, n_bytes):
    opened.append(os.dup(descriptor))
    return row_file(descriptor, n_bytes)

_native.RowFile = open_row_file
X = np.random.default_rng(0).normal(size=(100_000, 4))
data = Dataset(X, X[:, 0] * X[:, 1] > 0)
params = {"objective": "binary", "max_memory": "1GB", "verbosity": -1, **eval(sys.argv[2])}
booster = Booster(params, data)
booster.update()
text = booster.model_to_string()
os.ftruncate(opened[int(sys.argv[1])], 100_000)
for call in (booster.update, booster.eval_train, booster.update):
    try:
        call()
    except OSError as error:
        print(error)
assert booster.model_to_string() == text
again = Booster(params, data)
again.update()
assert again.model_to_string() == text
print(len(opened))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="cuts off a file that is mapped")
@pytest.mark.parametrize("params", [{}, {"bagging_fraction": 0.3}], ids=str)
@pytest.mark.parametrize("n_file", range(4))
def test_files_of_scores_that_are_lost(n_file: int, params: dict[str, Any]) -> None:
    """Scores, rounded gradients, gradients and hessians: an error, and the process lives on."""
    command = [sys.executable, "-c", LOST_SCORES, str(n_file), str(params)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *errors, n_opened = done.stdout.splitlines()
    assert len(errors) == 3
    assert n_opened == "8"
    for error in errors:
        assert "was cut off during training" in error
        assert "continue it with init_model" in error


PARTS_OF_FILES = """
import re, threading, time
from pathlib import Path
import numpy as np
from gossamer import Booster, Dataset
from gossamer.data.storage.budget import Budget, row_needs, sample_need
from gossamer.model.training import prepared
from gossamer.model.training.memory import Placement

Budget.holds_table = lambda *_: False
place_rows = prepared.place_rows
prepared.place_rows = lambda *a, **b: Placement(place_rows(*a, **b).held, True)

def mapped():
    return int(re.search(r"RssFile:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

X = np.random.default_rng(0).normal(size=(4_000_000, 2)).astype(np.float32)
params = {"max_memory": "400MB", "num_leaves": 63, "verbosity": -1, "num_threads": 2}
booster = Booster(params, Dataset(X, X[:, 0] * X[:, 1], params=params))
base, most = mapped(), 0

def watch():
    global most
    while True:
        most = max(most, mapped())
        time.sleep(0.001)

threading.Thread(target=watch, daemon=True).start()
for _ in range(3):
    booster.update()
print(most - base)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_parts_of_files_in_memory() -> None:
    """The scores have 32 MB. Nodes that are expanded but not used leave rows of leaves unsorted."""
    command = [sys.executable, "-c", PARTS_OF_FILES]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert 0 < int(done.stdout) <= 16e6


SMALL_DISK = """
import resource, sys
import numpy as np
from gossamer import Dataset
from gossamer.data.storage.budget import Budget, row_needs, sample_need
Budget.holds_table = lambda *_: False
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
params = {"max_memory": "1GB", "cache_dir": sys.argv[2], "cat_target_statistics": "off"}
source = sys.argv[1] or np.random.default_rng(0).normal(size=(30_000, 8))
try:
    Dataset(source, label="y" if sys.argv[1] else None, params=params).construct()
except OSError as error:
    print(error.errno, error)
"""


@pytest.mark.parametrize("is_file", [True, False])
def test_a_disk_that_is_full_half_way(is_file: bool, parquet: Path, tmp_path: Path) -> None:
    """Files of this process may have 100 KB; the pages have 240 KB."""
    folder = tmp_path / "cache"
    command = [sys.executable, "-c", SMALL_DISK, str(parquet) if is_file else "", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.startswith(f"{errno.EFBIG} [Errno {errno.EFBIG}] the disk is full: ")
    assert "choose another folder with cache_dir" in done.stdout
    assert list(folder.iterdir()) == []


NO_PERMISSION = """
import os, sys
import numpy as np
from gossamer import Dataset
from gossamer.data.storage.budget import Budget, row_needs, sample_need
Budget.holds_table = lambda *_: False
params = {"max_memory": "1GB", "cache_dir": sys.argv[1]}
data = Dataset(np.zeros((9, 2)) + np.arange(9)[:, None], params=params)
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    data.construct()
except PermissionError as error:
    print(error)
"""


@pytest.mark.parametrize("is_there", [True, False])
def test_a_folder_that_may_not_be_written_to(is_there: bool, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    folder = closed if is_there else closed / "cache"
    command = [sys.executable, "-c", NO_PERMISSION, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "cache_dir cannot be written to; choose another folder" in done.stdout
    assert str(folder) in done.stdout


def test_a_page_that_cannot_be_read(tmp_path: Path) -> None:
    """A file that is open for writing only answers every read with an error."""
    plan = built_data(Dataset(X, Y)).table.bins
    layout = _native.page_layout(plan, np.empty(0, np.int32))
    descriptor = os.open(tmp_path / "pages", os.O_WRONLY | os.O_CREAT)
    writer = _native.PageWriter(layout, N_ROWS, 8192, descriptor)
    assert writer.add(X, 1)
    found = writer.finish(), writer.has_missing()
    bins = _native.open_pages(layout, N_ROWS, 8192, *found, descriptor, "the file")
    with pytest.raises(OSError, match="page 0 of the file could not be read") as error:
        bins.copy_column(0)
    assert error.value.errno == errno.EBADF


def test_a_file_that_is_replaced_during_training(
    parquet: Path, pages_of: PagesOf, tmp_path: Path
) -> None:
    """Another process may write the same cache at any time: a training keeps its own file."""
    expected = trees_of(from_file(parquet))
    pages_of(8192)
    data, path = cached(parquet, tmp_path)
    other = path.with_suffix(".other")
    other.write_bytes(b"something else")
    other.replace(path)
    np.testing.assert_array_equal(trees_of(data, max_memory="1GB"), expected)


KILLED = """
import os, signal, sys
from gossamer import Dataset, _native
from gossamer.data.storage.budget import Budget, row_needs, sample_need
Budget.holds_table = lambda *_: False
Budget.page_rows = lambda *_: 8192
finish = _native.PageWriter.finish
class Killed(_native.PageWriter):
    def finish(self):
        os.kill(os.getpid(), signal.SIGKILL)
_native.PageWriter = Killed
params = {"max_memory": "1GB", "cache_dir": sys.argv[2], "cat_target_statistics": "off"}
Dataset(sys.argv[1], label="y", params=params).construct()
"""


def test_a_process_that_is_killed_between_two_pages(
    parquet: Path, pages_of: PagesOf, tmp_path: Path
) -> None:
    script = KILLED.replace(
        "def finish(self):", "def has_missing(self): ...\n    def add(self, rows, n):"
    )
    script = script.replace("os.kill(", "super().add(rows, n)\n        os.kill(")
    command = [sys.executable, "-c", script, parquet, tmp_path / "cache"]
    assert subprocess.run(command, check=False).returncode == -9
    (left,) = (tmp_path / "cache").iterdir()
    assert left.stat().st_size > 0
    pages_of(8192)
    data, _ = cached(parquet, tmp_path)
    np.testing.assert_array_equal(
        trees_of(data, max_memory="1GB"), trees_of(from_file(parquet, max_memory="1GB"))
    )


def test_a_killed_process_leaves_no_cache(parquet: Path, pages_of: PagesOf, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = subprocess.run([sys.executable, "-c", KILLED, parquet, cache], check=False)
    assert done.returncode == -9
    (left,) = cache.iterdir()
    assert left.name.endswith(".part")
    pages_of(8192)
    data, path = cached(parquet, tmp_path)  # what was left is deleted
    assert path.suffix == ".pages"
    assert on_disk(data) is not None


def test_two_processes_may_share_a_cache(parquet: Path, pages_of: PagesOf, tmp_path: Path) -> None:
    pages_of(8192)
    expected = trees_of(from_file(parquet))
    script = KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", "return finish(self)")
    command = [sys.executable, "-c", script, str(parquet), str(tmp_path / "cache")]
    running = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    data, _ = cached(parquet, tmp_path)
    np.testing.assert_array_equal(trees_of(data, max_memory="1GB"), expected)


# ---- what cannot be had ----


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linear_tree", True),
        ("tree_method", "exact"),
        ("tree_method", "approx"),
        ("multi_strategy", "multi_output_tree"),
        ("max_conflict_rate", 0.1),
    ],
)
def test_what_needs_memory_is_refused_by_name(name: str, value: Any, pages_of: PagesOf) -> None:
    pages_of(8192)
    data = Dataset(X, np.column_stack([Y, Y]) if name == "multi_strategy" else Y)
    with pytest.raises(NotSupportedError, match=name):
        train({name: value, "max_memory": "1GB"}, data, 1)


@pytest.mark.parametrize(
    ("name", "value"), [("multi_strategy", "multi_output_tree"), ("max_conflict_rate", 0.1)]
)
def test_what_needs_memory_is_refused_before_any_row_is_read(
    name: str, value: Any, parquet: Path, pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: Any) -> None:
        raise AssertionError("rows were read")

    pages_of(8192)
    monkeypatch.setattr("gossamer.data.files.columnar.ColumnarFiles.read", read)
    with pytest.raises(NotSupportedError, match=name):
        train({name: value, "max_memory": "1GB"}, Dataset(parquet, label="y"), 1)
    monkeypatch.setattr("gossamer.data.storage.on_disk.find_bins_of", read)
    with pytest.raises(NotSupportedError, match=name):
        train({name: value, "max_memory": "1GB"}, Dataset(X, Y), 1)


def test_a_table_that_fits_for_certain_may_use_everything() -> None:
    """100 bytes of bins and state for each row, and 48 MB for reading."""
    params = resolve({"max_memory": "60MB"})
    assert not Budget.of(params).may_need_pages(100_000, 32, params)
    assert Budget.of(params).may_need_pages(130_000, 32, params)
    data = Dataset(X, np.column_stack([Y, Y]))
    train({"multi_strategy": "multi_output_tree", "max_memory": "70MB", "verbosity": -1}, data, 1)


def test_a_training_on_pages_refuses_before_it_makes_scores(
    pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages_of(8192)
    data = Dataset(X, Y, params={"max_memory": "1GB"}, free_raw_data=False).construct()

    def make_scored(*_: Any) -> None:
        raise AssertionError("scores were made")

    monkeypatch.setattr("gossamer.model.training.training.make_scored", make_scored)
    with pytest.raises(NotSupportedError, match="multi_strategy"):
        train({"multi_strategy": "multi_output_tree"}, data, 1)


def test_methods_that_need_memory_say_so(pages_of: PagesOf, tmp_path: Path) -> None:
    pages_of(8192)
    data = Dataset(X, Y, params={"max_memory": "1GB"}).construct()
    with pytest.raises(NotSupportedError, match="save_binary"):
        data.save_binary(tmp_path / "data.bin")
    with pytest.raises(NotSupportedError, match="add_features_from"):
        data.add_features_from(Dataset(X, feature_name=list("abcdef")).construct())


# ---- the limit ----


def test_sizes_of_memory() -> None:
    assert parse_memory("4GB") == 4 * 10**9
    assert parse_memory(" 1.5 gib") == 3 * 2**29
    assert parse_memory("123") == parse_memory(123) == 123
    assert parse_memory("50%") == machine_memory() // 2
    assert parse_memory(write_memory(10**9)) == 10**9
    assert resolve({"max_memory": "500MB"}).max_memory == 5 * 10**8


@pytest.mark.parametrize("value", ["4 apples", "-1", "", "150%", True, "0%", [1]])
def test_sizes_that_are_none(value: Any) -> None:
    with pytest.raises(ParameterError, match="max_memory"):
        resolve({"max_memory": value})


def test_a_limit_that_is_too_small_names_the_smallest_that_works() -> None:
    data = Dataset(X, Y, params={"max_memory": "10MB"})
    with pytest.raises(ParameterError, match=r"expected at least (\d+MB)") as error:
        train({"max_memory": "10MB", "verbosity": -1}, data, 1)
    smallest = str(error.value).partition("at least ")[2].partition(".")[0]
    train({"max_memory": smallest, "verbosity": -1}, Dataset(X, Y), 1)


SMALLEST = re.compile(r"expected at least (\d+MB)")


def smallest(run: Callable[[str], Any], too_small: str = "10MB") -> str:
    """Return the limit that the error of a limit names, and use it; one less is too small."""
    with pytest.raises(ParameterError, match=SMALLEST) as error:
        run(too_small)
    found = SMALLEST.search(str(error.value))
    assert found is not None
    run(found[1])
    with pytest.raises(ParameterError, match=SMALLEST):
        run(f"{int(found[1][:-2]) - 2}MB")
    return str(error.value)


def many_rows(n_rows: int = 1_000_000) -> tuple[np.ndarray, np.ndarray]:
    table = np.arange(n_rows, dtype=np.float32).reshape(-1, 1) % 1000
    return table, table[:, 0] % 7


def test_the_error_names_the_largest_terms() -> None:
    table, label = many_rows(2_000_000)
    on_pages = Dataset(table, label, params={"max_memory": "76MB"}).construct()
    assert on_disk(on_pages) is not None

    def run(max_memory: str) -> Any:
        params = {"max_memory": max_memory, "verbosity": -1, "num_leaves": 4}
        return train(params, on_pages, 1, keep_training_booster=True)

    text = smallest(run, "40MB")
    assert "to train on 2,000,000 rows" in text
    assert "rows of leaves (16MB), small buffers (12MB), gradients (8MB), labels (8MB)" in text
    assert "parts of files (8MB)" in text
    # Scores and gradients of other boosting modes are in memory; binary log loss has hessians.
    binary = Dataset(table, label > 3, params={"max_memory": "76MB"}).construct()
    params = {"objective": "binary", "boosting": "dart", "num_leaves": 4, "verbosity": -1}

    def run_dart(max_memory: str) -> Any:
        return train({**params, "max_memory": max_memory}, binary, 1)

    text = smallest(run_dart, "90MB")
    assert "scores (48MB), rows of leaves (24MB), gradients (16MB)" in text


def test_reading_is_refused_before_any_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    table, label = many_rows()

    def plan(*_: Any) -> None:
        raise AssertionError("rows were read")

    monkeypatch.setattr("gossamer.data.storage.on_disk.find_bins_of", plan)
    with pytest.raises(ParameterError, match="to read 1,000,000 rows"):
        Dataset(table, label, params={"max_memory": "50MB"}).construct()


def test_validation_data_counts() -> None:
    table, label = many_rows()

    def run(max_memory: str) -> Any:
        params = {"max_memory": max_memory, "verbosity": -1, "num_leaves": 4}
        data = Dataset(table, label, params={"max_memory": "66MB"})
        valid = data.create_valid(table, label)
        return train(params, data, 1, [valid])

    train({"max_memory": "66MB", "verbosity": -1, "num_leaves": 4}, Dataset(table, label), 1)
    text = smallest(run, "57MB")
    assert "validation data" in text


def test_target_statistics_count() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 900, (1_000_000, 2))
    label = codes[:, 0] % 7 + codes[:, 1] % 5

    def run(max_memory: str) -> Any:
        data = Dataset(codes, label, categorical_feature=[0, 1])
        params = {"max_memory": max_memory, "verbosity": -1, "cat_target_statistics": "on"}
        return train(params, data, 1)

    with pytest.raises(ParameterError, match="for target statistics") as error:
        run("97MB")
    found = SMALLEST.search(str(error.value))
    assert found is not None
    run(found[1])


def test_predictions_of_files_count(parquet: Path) -> None:
    booster = train({"cat_target_statistics": "off", "verbosity": -1}, from_file(parquet), 2)
    expected = booster.predict(parquet)
    text = smallest(lambda limit: booster.predict(parquet, pred_contrib=True, max_memory=limit))
    assert f"to predict {N_ROWS:,} rows" in text
    np.testing.assert_array_equal(booster.predict(parquet, max_memory="1GB"), expected)


def test_predictions_leave_memory_to_a_training(parquet: Path, pages_of: PagesOf) -> None:
    pages_of(8192)
    params = {"max_memory": "200MB", "verbosity": -1, "num_leaves": 7}
    booster = Booster(params, Dataset(parquet, label="y", params=params))
    booster.update()
    text = smallest(lambda limit: booster.predict(parquet, max_memory=limit))
    assert "the training (" in text
    assert "free_dataset()" in text
    alone = smallest(lambda limit: booster.free_dataset().predict(parquet, max_memory=limit))
    assert "the training" not in alone


def test_folds_and_subsets_count(pages_of: PagesOf) -> None:
    table, label = many_rows(400_000)
    pages_of(8192)
    data = Dataset(table, label, params={"max_memory": "60MB"}).construct()
    assert on_disk(data) is not None

    def run(max_memory: str) -> Any:
        params = {"max_memory": max_memory, "verbosity": -1, "num_leaves": 4}
        return cv(params, data, 1, nfold=3, stratified=False)

    assert "for 3 folds" in smallest(run, "60MB")


def test_folds_on_pages_have_the_same_results(pages_of: PagesOf) -> None:
    def run(**params: Any) -> Any:
        data = Dataset(X, Y, params=params, free_raw_data=False)
        settings = {"verbosity": -1, "num_leaves": 7, **params}
        found = cv(settings, data, 3, nfold=3, stratified=False, return_cvbooster=True)
        boosters = found.pop("cvbooster").boosters
        return {**found}, [booster.model_to_string() for booster in boosters]

    expected = run()
    pages_of(8192)
    assert run(max_memory="1GB") == expected


def test_a_copy_in_memory_counts() -> None:
    built = built_data(Dataset(X, Y))
    few = replace(built, source=replace(built.source, params=resolve({"max_memory": 500_000})))
    request = Request(None, {}, "auto", None, resolve({}), resolve({}))
    with pytest.raises(ParameterError, match="to copy 30,000 rows"):
        from_subset.build(request, few, np.arange(N_ROWS))


@pytest.mark.parametrize("n_taken", [1, 100, 17_000, N_ROWS])
def test_rows_of_pages_become_pages(n_taken: int, pages_of: PagesOf, tmp_path: Path) -> None:
    rows = np.sort(np.random.default_rng(n_taken).choice(N_ROWS, n_taken, replace=False))
    table = X.copy()
    table[rows, 2] = 1.0  # missing elsewhere only
    table[:, 5] = np.digitize(table[:, 5], [0.0, 1.0])  # shares a lane

    def run(**params: Any) -> Any:
        data = Dataset(table, Y, weight=np.abs(Y) + 1, params=params, free_raw_data=False)
        part = data.subset(rows).construct()
        assert (on_disk(part) is not None) == bool(params)
        settings = {"verbosity": -1, "min_data_in_leaf": 5, **params}
        valid = data.subset(np.arange(0, N_ROWS, 3))
        booster = train(settings, part, 3, [valid])
        return booster.model_to_string(), booster.best_score, built_data(part).table.bins

    *expected, bins = run()
    for page_rows in (8192, 3 * 8192):
        pages_of(page_rows)
        *found, pages = run(max_memory="1GB", cache_dir=str(tmp_path))
        assert found == expected
        np.testing.assert_array_equal(pages.has_missing(), bins.has_missing())
    assert list(tmp_path.iterdir()) == []


def test_rows_that_fit_are_copied_into_memory(
    pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    holds_table = Budget.holds_table
    pages_of(8192)
    data = Dataset(X, Y, params={"max_memory": "60MB"}).construct()
    assert on_disk(data) is not None
    monkeypatch.setattr(Budget, "holds_table", holds_table)
    assert on_disk(data.subset(np.arange(5000)).construct()) is None


def test_histograms_leave_memory_to_validation_data(pages_of: PagesOf) -> None:
    """With less memory more histograms are built again; the model is the same."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(20_000, 60))
    label = wide[:, :9].sum(axis=1)

    def run(**params: Any) -> str:
        data = Dataset(wide, label)
        settings = {"num_leaves": 63, "verbosity": -1, **params}
        return train(settings, data, 2, [data.create_valid(wide, label)]).model_to_string()

    expected = run()
    pages_of(8192)
    assert run(max_memory="49MB") == expected


def test_without_need_nothing_is_on_disk() -> None:
    data = Dataset(X, Y, params={"max_memory": "1GB"}).construct()
    assert on_disk(data) is None


def test_the_model_says_nothing_about_the_machine(pages_of: PagesOf, tmp_path: Path) -> None:
    pages_of(8192)
    params = {"max_memory": "1GB", "cache_dir": str(tmp_path), "verbosity": -1}
    model = train(params, Dataset(X, Y), 1).model_to_string()
    assert "max_memory" not in model
    assert "cache_dir" not in model


def test_training_reports_passes_and_hints_at_samples(
    pages_of: PagesOf, caplog: pytest.LogCaptureFixture
) -> None:
    pages_of(8192)
    params = {"num_leaves": 255, "min_data_in_leaf": 5, "max_memory": "1GB", "verbosity": -1}
    hard = np.sin(37 * np.nan_to_num(X[:, 0])) + np.cos(23 * np.nan_to_num(X[:, 1]))
    with caplog.at_level("INFO", logger="gossamer"):
        train({**params, "max_depth": 0}, Dataset(X, hard), 3)
    (told,) = [text for text in caplog.messages if "passes over" in text]
    assert re.search(r"^\d+ passes over 30,000 rows in 1 rounds, [\d,]+ rows per second", told)
    n_passes = int(told.split()[0])
    hints = [text for text in caplog.messages if "bagging_fraction=0.2" in text]
    assert len(hints) == (1 if n_passes >= 20 else 0)
    caplog.clear()
    with caplog.at_level("INFO", logger="gossamer"):
        train({**params, "bagging_fraction": 0.2}, Dataset(X, hard), 1)
        train({"verbosity": -1}, Dataset(X, hard), 1)
    assert not [text for text in caplog.messages if "bagging_fraction" in text]


def test_the_hint_comes_where_a_sample_is_ten_times_as_fast(
    pages_of: PagesOf, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages_of(8192)
    data = Dataset(X, Y, params={"max_memory": "1GB"})
    booster = Booster({"max_memory": "1GB", "verbosity": -1}, data)
    assert booster.training is not None
    for n_passes, has_hint in ((19, False), (21, True)):
        caplog.clear()
        report = PassReport(booster.training)
        monkeypatch.setattr(Training, "n_passes", lambda _, n=n_passes: n)
        with caplog.at_level("INFO", logger="gossamer"):
            report.after_round()
        monkeypatch.undo()
        pages_of(8192)
        assert ("bagging_fraction=0.2" in caplog.text) == has_hint


def test_binning_reports_rows_per_second(
    parquet: Path,
    pages_of: PagesOf,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages_of(8192)
    monkeypatch.setattr("gossamer.data.storage.on_disk.REPORT_SECONDS", 0.0)
    with caplog.at_level("INFO", logger="gossamer"):
        from_file(parquet, max_memory="1GB").construct()
    first = caplog.messages[0]
    assert re.search(r"of 30,000 rows are in bins on disk, [\d,]+ rows per second, \d+ sec", first)
    assert "rows per second" in caplog.messages[-1]


def test_describe_says_what_is_on_disk(pages_of: PagesOf) -> None:
    pages_of(8192)
    summary = Dataset(X, Y, params={"max_memory": "1GB"}).describe()
    assert summary.pages == 4
    assert summary.bytes_in_buffers == 2 * 8192 * 8
    assert "on disk: 4 pages, a pass reads 0.2 MB" in str(summary)
    assert "2 with bagging_fraction" in str(summary)
    assert summary.passes == 0
    data = Dataset(X, Y)
    train({"max_memory": "1GB", "verbosity": -1}, data, 1)
    after = data.describe()
    assert after.passes > 0
    assert after.seconds_per_pass > after.seconds_waited > 0
    assert f"{after.passes} passes so far: " in str(after)


UNDER_A_LIMIT = """
import re, sys
from pathlib import Path
import numpy as np
import gossamer as gs

def memory(field):
    return int(re.search(field + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

def run(path, max_memory):
    params = {"max_memory": max_memory, "num_leaves": 63, "verbosity": -1, "num_threads": 2,
              "early_stopping_round": 2}
    data = gs.Dataset(path, label="y", params=params)
    booster = gs.train(params, data, 3, [data.create_valid(path, label="y")])
    assert len(booster.predict(path)) == data.num_data()
    return data.describe().pages

run(sys.argv[1], "1GB")  # what is loaded when it is first used does not count
Path("/proc/self/clear_refs").write_text("5")
base = memory("VmRSS")
pages = run(sys.argv[2], sys.argv[3])
print(pages, memory("VmHWM") - base)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("n_columns", "n_large", "limit"), [(28, 12, 120), (3, 30, 150)])
def test_the_limit_holds(n_columns: int, n_large: int, limit: int, tmp_path: Path) -> None:
    """With validation, early stopping and prediction.

    The first file has 140 MB. The second has 3,000,000 rows, whose bins and scores would take
    180 MB with those of the validation data: bins, scores and gradients are on disk.
    """
    rng = np.random.default_rng(0)
    paths = [tmp_path / "small.parquet", tmp_path / "large.parquet"]
    for path, n_groups in zip(paths, (1, n_large), strict=True):
        n_rows = 2000 if n_groups == 1 else 100_000
        names = [*(f"x{i}" for i in range(n_columns)), "y"]
        schema = pyarrow.schema([(name, pyarrow.float32()) for name in names])
        with pyarrow.parquet.ParquetWriter(path, schema, compression="none") as writer:
            for _ in range(n_groups):
                x = rng.normal(size=(n_columns, n_rows)).astype(np.float32)
                writer.write_table(pyarrow.table([*x, x[0] * x[1]], schema=schema))
    command = [sys.executable, "-c", UNDER_A_LIMIT, *map(str, paths), f"{limit}MB"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    n_pages, peak = map(int, done.stdout.split())
    assert n_pages > 1
    assert peak <= 1.1e6 * limit


WIDE = """
import re, sys
from pathlib import Path
import numpy as np
import gossamer as gs

def memory(field):
    return int(re.search(field + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

rng = np.random.default_rng(0)
table = rng.normal(size=(12_000, 400)).astype(np.float32)
label = table[:, :20].sum(axis=1) + rng.normal(size=len(table))
params = {"verbosity": -1, "num_threads": 2, "num_leaves": 255, "min_data_in_leaf": 5}

def run(n_rows, max_memory, folds):
    data = gs.Dataset(table[:n_rows], label[:n_rows], params={"max_memory": max_memory})
    data.construct()
    Path("/proc/self/clear_refs").write_text("5")
    base = memory("VmRSS")
    if folds:
        gs.cv({**params, "max_memory": max_memory}, data, 2, nfold=3, stratified=False)
    else:
        gs.train({**params, "max_memory": max_memory}, data, 2)
    return memory("VmHWM") - base

folds = sys.argv[1] == "folds"
run(500, "1GB", folds)
print(run(len(table), sys.argv[2], folds))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("what", "limit"), [("one", 60), ("folds", 140)])
def test_the_limit_holds_for_wide_tables_on_two_threads(what: str, limit: int) -> None:
    """A histogram has 2 MB, and a tree 255 leaves."""
    command = [sys.executable, "-c", WIDE, what, f"{limit}MB"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < limit * 10**6


def test_a_folder_that_no_file_can_be_in() -> None:
    with pytest.raises(ParameterError, match="no file can have this name"):
        PageStore("a\0b", None)
