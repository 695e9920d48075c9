"""Bins on disk: the same bytes as in memory, within the limit, and clear errors."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from train.test_determinism import CASES, TABLE

from gossamer import Dataset, _native, files, train
from gossamer.data.budget import Budget
from gossamer.data.dataset import built_data
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.model import model_file
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

    yield choose


def on_disk(data: Dataset) -> Any:
    return _native.on_disk(built_data(data).table.bins)


# ---- the same bytes ----

NOT_ON_DISK = ("vector leaves", "bundles with conflicts")
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


def test_samples_that_do_not_fit_are_read_page_by_page(
    pages_of: PagesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES["binary bagging by class"]
    expected = bytes_of(case, 1)
    pages_of(8192)
    monkeypatch.setattr(Budget, "holds_sample", lambda *_: False)
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


# ---- passes ----


def test_few_passes_over_the_data(pages_of: PagesOf) -> None:
    pages_of(8192)
    params = {"num_leaves": 255, "min_data_in_leaf": 5, "max_memory": "1GB", "verbosity": -1}
    n_rounds, passes = 3, {}
    for name, more in {"all": {}, "sample": {"bagging_fraction": 0.2}}.items():
        data = Dataset(X, Y, params=params)
        before = on_disk(data)["passes"]
        train({**params, **more}, data, n_rounds)
        passes[name] = (on_disk(data)["passes"] - before) / n_rounds
    assert passes["all"] <= 40
    assert passes["sample"] <= 2


def test_depthwise_growth_takes_a_pass_per_level(pages_of: PagesOf) -> None:
    pages_of(8192)
    params = {"grow_policy": "depthwise", "max_depth": 5, "num_leaves": 32, "verbosity": -1}
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


KILLED = """
import os, signal, sys
from gossamer import Dataset, _native
from gossamer.data.budget import Budget
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


def test_target_statistics_of_validation_data_on_disk_are_refused(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Budget, "holds_validation", lambda *_: False)
    params = {"cat_target_statistics": "on", "max_memory": "1GB", "verbosity": -1}
    data = from_file(parquet, **params)
    valid = Dataset(parquet, label="y", reference=data)
    with pytest.raises(NotSupportedError, match="cat_target_statistics"):
        train(params, data, 1, valid_sets=[valid])


def test_target_statistics_are_refused(parquet: Path, pages_of: PagesOf) -> None:
    pages_of(8192)
    with pytest.raises(NotSupportedError, match="cat_target_statistics=off"):
        Dataset(parquet, label="y", params={"max_memory": "1GB"}).construct()
    data = from_file(parquet, max_memory="1GB").construct()
    with pytest.raises(NotSupportedError, match="cat_target_statistics"):
        train({"cat_target_statistics": "on", "max_memory": "1GB"}, data, 1)


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


def test_without_need_nothing_is_on_disk() -> None:
    data = Dataset(X, Y, params={"max_memory": "1GB"}).construct()
    assert on_disk(data) is None


def test_the_model_says_nothing_about_the_machine(pages_of: PagesOf, tmp_path: Path) -> None:
    pages_of(8192)
    params = {"max_memory": "1GB", "cache_dir": str(tmp_path), "verbosity": -1}
    model = train(params, Dataset(X, Y), 1).model_to_string()
    assert "max_memory" not in model
    assert "cache_dir" not in model


def test_describe_says_what_is_on_disk(pages_of: PagesOf) -> None:
    pages_of(8192)
    summary = Dataset(X, Y, params={"max_memory": "1GB"}).describe()
    assert summary.pages == 4
    assert summary.bytes_in_buffers == 2 * 8192 * 8
    assert "on disk: 4 pages, a pass reads 0.2 MB" in str(summary)
