"""Problems of the task benchmarks: parts, splits, generators, tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.real import CaseUnavailableError
from benchmarks.tasks import generators, tables
from benchmarks.tasks.problem import LEAST_ROWS, Part, Problem, divide, load_part


def rows(n_rows: int, n_queries: int = 0) -> Part:
    x = np.arange(n_rows, dtype=np.float32)[:, None]
    query = np.sort(np.arange(n_rows) % n_queries) if n_queries else None
    return Part(x, np.arange(n_rows, dtype=float), np.ones(n_rows), query)


def test_divide_keeps_every_row_once() -> None:
    problem = divide(rows(100), 3)
    assert len(problem.test.y) == 25
    assert sorted([*problem.train.y, *problem.test.y]) == list(range(100))
    assert np.array_equal(problem.train.x[:, 0], problem.train.y)
    assert not np.array_equal(problem.test.y, divide(rows(100), 4).test.y)


def test_divide_and_shrink_keep_queries_whole() -> None:
    problem = divide(rows(4_000, 40), 0)
    train, test = problem.train.query, problem.test.query
    assert train is not None and test is not None
    assert not set(train) & set(test)
    small = problem.shrink(0.11).train  # 330 rows would end within a query of 100
    assert np.array_equal(small.group(), [100] * 4)
    assert len(divide(rows(4_000), 0).shrink(1e-6).train.y) == LEAST_ROWS


def test_save_and_load(tmp_path: Path) -> None:
    problem = Problem(rows(10, 2), rows(6, 3))
    problem.save(tmp_path)
    train = load_part(tmp_path, "train")
    assert train is not None and train.query is not None and train.weight is not None
    assert np.array_equal(train.y, problem.train.y)
    assert np.array_equal(train.query, [0] * 5 + [1] * 5)
    assert load_part(tmp_path, "valid") is None


def test_sort_by_query() -> None:
    part = Part(np.zeros((4, 1)), np.arange(4.0), query=np.array([2, 1, 2, 1])).sort_by_query()
    assert list(part.y) == [1.0, 3.0, 0.0, 2.0]
    assert np.array_equal(part.group(), [2, 2])


def test_survival() -> None:
    right = generators.right_censored(0).train.y
    assert 0.2 < np.mean(right < 0.0) < 0.8
    low, high = generators.interval_censored(0).train.y.T
    kinds = [
        low == high,
        np.isinf(high),
        (low > 0.0) & np.isfinite(high) & (low < high),
        low == 0.0,
    ]
    assert all(0.01 < kind.mean() < 0.9 for kind in kinds)
    assert np.sum(kinds) == len(low)
    assert np.array_equal(right, generators.right_censored(0).train.y)


def test_horizons_share_structure() -> None:
    problem = generators.horizons(0, n_rows=2_000)
    assert problem.valid is not None
    shapes = [part.y.shape for part in (problem.train, problem.test, problem.valid)]
    assert shapes == [(2_000, 20), (1_000, 20), (1_000, 20)]
    near, far = np.corrcoef(problem.train.y.T)[0, [1, 19]]
    assert 0.1 < far < 0.6 < near < 1.0  # level first, mean last


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GOSSAMER_DATA", str(tmp_path))
    return tmp_path


def write(folder: Path, name: str, meta: dict[str, object], columns: dict[str, object]) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (folder / name).mkdir()
    (folder / name / "meta.json").write_text(json.dumps({"group": None, **meta}))
    parquet.write_table(arrow.table(columns), folder / name / "data.parquet")


def test_absent_data(data_folder: Path) -> None:
    with pytest.raises(CaseUnavailableError, match=r"no letter/meta\.json"):
        tables.one_hot_letter()


def test_texts_become_codes_and_leaks_go(data_folder: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    color = arrow.array(["red", "blue", "red"]).dictionary_encode()
    target = arrow.array(["b", "a", "c"]).dictionary_encode()
    meta = {"task": "multiclass 3", "target": "target", "leaky": ["told"]}
    columns = {"color": color, "told": [1, 2, 3], "size": [5, 6, 7], "target": target}
    write(data_folder, "letter", meta, columns)
    part = tables.plain("letter")
    assert part.x.tolist() == [[1.0, 5.0], [0.0, 6.0], [1.0, 7.0]]
    assert part.y.tolist() == [1.0, 0.0, 2.0]
    assert tables.one_hot_letter().y.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_claim_rate(data_folder: Path) -> None:
    meta = {"task": "Poisson", "target": "nclaims", "leaky": ["amount"]}
    columns = {"expo": [0.5, 1.0], "nclaims": [1, 0], "amount": [9.0, 0.0], "age": [30, 40]}
    write(data_folder, "be_mtpl97", meta, columns)
    part = tables.claim_rate()
    assert part.weight is not None
    assert part.x.tolist() == [[30.0], [40.0]]  # exposure is not a feature
    assert part.y.tolist() == [2.0, 0.0]
    assert part.weight.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("fold", "train", "valid", "test"), [(0, {1, 2, 3}, {4}, {5}), (3, {4, 5, 1}, {2}, {3})]
)
def test_folds(
    data_folder: Path, fold: int, train: set[int], valid: set[int], test: set[int]
) -> None:
    part = [5, 1, 2, 3, 4, 1]
    meta = {"task": "ranking", "target": "label", "group": "qid"}
    columns = {
        "label": [0, 1, 2, 0, 1, 2],
        "qid": [6, 5, 4, 3, 2, 1],
        "fold_part": part,
        "f1": part,
    }
    write(data_folder, "mq2008", meta, columns)
    problem = tables.ranked("mq2008", 0, fold)
    assert problem.valid is not None
    found = [set(p.x[:, 0].astype(int)) for p in (problem.train, problem.valid, problem.test)]
    assert found == [train, valid, test]
