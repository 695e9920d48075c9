"""Ordered target statistics against a plain loop; no leak; files."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import DataError
from gossamer.data.categories.target_statistics import TargetStatistics
from gossamer.data.categories.target_sums import class_targets
from gossamer.data.random_order import random_order

SOURCES = [(0,), (2,), (0, 1), (1, 0, 2)]
N_CODES = [5, 40, 3]


def _data(n_rows: int = 300, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    dtypes = (np.uint16, np.int32, np.uint8)
    codes = [
        rng.integers(0, n, n_rows).astype(dtype) for n, dtype in zip(N_CODES, dtypes, strict=True)
    ]
    return codes, rng.integers(0, 2, n_rows)


def _plain(
    codes: list[np.ndarray],
    targets: np.ndarray,
    weight: np.ndarray,
    source: tuple[int, ...],
    prior_weight: float,
    seed: int,
) -> tuple[np.ndarray, dict[tuple[int, ...], float]]:
    """What the module says it does, row after row."""
    prior = (targets * weight).sum() / weight.sum()
    prior_weight = prior_weight * weight.mean()
    sums: dict[Any, float] = defaultdict(float)
    totals: dict[Any, float] = defaultdict(float)
    encoded = np.empty(len(targets))
    for row in random_order(len(targets), seed):
        key = tuple(int(codes[column][row]) for column in source)
        encoded[row] = (sums[key] + prior_weight * prior) / (totals[key] + prior_weight)
        sums[key] += targets[row] * weight[row]
        totals[key] += weight[row]
    table = {key: (sums[key] + prior_weight * prior) / (totals[key] + prior_weight) for key in sums}
    return encoded, table


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("real", [False, True])
def test_same_as_a_plain_loop(weighted: bool, real: bool) -> None:
    codes, label = _data()
    rng = np.random.default_rng(1)
    targets = np.stack([label, rng.normal(size=300) if real else rng.integers(0, 9, 300)])
    weight = rng.choice([0, 0.3, 2], 300) if weighted else None
    learned, encoded = TargetStatistics.fit(
        codes, N_CODES, targets, weight, sources=SOURCES, prior_weight=3, seed=5
    )
    assert encoded.shape == (300, 8)
    assert encoded.dtype == np.float32
    again = learned.transform(codes)
    plain_weight = np.ones(300) if weight is None else weight
    for s, source in enumerate(SOURCES):
        for t in range(2):
            expected, table = _plain(codes, targets[t], plain_weight, source, 3, 5)
            np.testing.assert_allclose(encoded[:, 2 * s + t], expected, rtol=1e-6, atol=1e-6)
            full = [table[key] for key in zip(*(codes[c].tolist() for c in source), strict=True)]
            np.testing.assert_allclose(again[:, 2 * s + t], full, rtol=1e-6, atol=1e-6)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 59), st.sampled_from([None, 1.0, 0.25]))
def test_no_row_knows_its_own_label_or_later_ones(
    seed: int, place: int, weight: float | None
) -> None:
    """Labels of a row and of those behind it change, their mean does not: its values stay."""
    rng = np.random.default_rng(seed)
    n_rows = 60
    codes = [rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)]
    label = rng.normal(size=n_rows).astype(np.float32)
    weights = None if weight is None else np.full(n_rows, weight)
    order = random_order(n_rows, seed)
    other = label.copy()
    # Shuffled rather than drawn again: the prior is the mean of all labels, the same for all rows.
    other[order[place:]] = rng.permutation(label[order[place:]])
    encoded = [
        TargetStatistics.fit(codes, [3, 2], y, weights, sources=[(0,), (0, 1)], seed=seed)[1]
        for y in (label, other)
    ]
    known = order[: place + 1]
    np.testing.assert_array_equal(encoded[0][known], encoded[1][known])


def test_first_rows_of_a_category_get_the_prior() -> None:
    label = np.array([1, 0, 1, 1, 0, 1.0])
    _, encoded = TargetStatistics.fit([np.arange(6)], [6], label, sources=[(0,)])
    np.testing.assert_array_equal(encoded[:, 0], np.float32(4 / 6))


def test_labels_of_noise_stay_noise() -> None:
    """Every category once or twice: a leak would show as a correlation with the label."""
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 4000, 8000)]
    label = rng.integers(0, 2, 8000)
    learned, encoded = TargetStatistics.fit(codes, [4000], label, sources=[(0,)])
    assert abs(np.corrcoef(encoded[:, 0], label)[0, 1]) < 0.04
    assert np.corrcoef(learned.transform(codes)[:, 0], label)[0, 1] > 0.5


def test_threads_make_no_difference() -> None:
    rng = np.random.default_rng(0)
    n_rows = 40_000  # x 20 sources: work for 8 threads
    codes = [rng.integers(0, 2000, n_rows).astype(np.int32) for _ in range(4)]
    label, weight = rng.normal(size=n_rows), rng.random(n_rows)
    sources = [(i,) for i in range(4)] + [(i, j) for i in range(4) for j in range(4) if i != j]
    sources += [(0, 1, 2), (3, 2, 1), (0, 2, 3), (1, 3, 0)]
    results = []
    for n in (1, 2, 3, 8):
        learned, encoded = TargetStatistics.fit(
            codes, [2000] * 4, label, weight, sources=sources, num_threads=n
        )
        results.append((encoded, learned.transform(codes, n), *learned.to_arrays().values()))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_weights_repeat_rows_and_scale_away() -> None:
    """The full statistics of weight 3 are those of three rows; the unit of weights is free."""
    codes, label = _data()
    weight = np.random.default_rng(3).integers(0, 4, 300)
    repeated = [np.repeat(column, weight) for column in codes]
    fit = TargetStatistics.fit
    # The prior counts as rows of average weight, so that it must be told the same weight here.
    mean = weight.mean()
    weighted, _ = fit(codes, N_CODES, label, weight, sources=SOURCES, prior_weight=6 / mean)
    plain, _ = fit(repeated, N_CODES, np.repeat(label, weight), sources=SOURCES, prior_weight=6)
    np.testing.assert_allclose(weighted.transform(codes), plain.transform(codes), rtol=1e-6)
    a = fit(codes, N_CODES, label, weight, sources=SOURCES)[1]
    b = fit(codes, N_CODES, label, weight * 1024.0, sources=SOURCES)[1]
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_size_of_labels_is_free(scale: float) -> None:
    codes, _ = _data()
    label = np.random.default_rng(2).normal(size=300)
    a, b = (TargetStatistics.fit(codes, N_CODES, label * s, sources=SOURCES)[1] for s in (1, scale))
    np.testing.assert_allclose(b.astype(np.float64) / scale, a, rtol=1e-5, atol=1e-9)


def test_unseen_categories_get_the_prior() -> None:
    codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    for n in (3, 2_000_000):  # a table of places, a search
        learned, _ = TargetStatistics.fit(
            codes, [3, n], np.array([0, 0, 0, 1]), sources=[(0,), (0, 1)], prior_weight=1
        )
        got = learned.transform([np.array([2, 2, 1]), np.array([2, 0, 1])])
        np.testing.assert_allclose(got, [[0.25, 0.25], [0.25, 0.25], [1.25 / 3, 0.625]])
        assert learned.transform([np.empty(0, np.int64)] * 2).shape == (0, 2)


def test_search_and_table_agree() -> None:
    codes, label = _data(5000)
    wide = [5, 400_000, 3]
    for source in ((0, 1), (1, 2), (0, 1, 2)):
        narrow_one, a = TargetStatistics.fit(codes, N_CODES, label, sources=[source])
        wide_one, b = TargetStatistics.fit(codes, wide, label, sources=[source])
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(narrow_one.transform(codes), wide_one.transform(codes))


def test_blocks_of_rows() -> None:
    codes, label = _data(200_000)
    learned, _ = TargetStatistics.fit(codes, N_CODES, label, sources=SOURCES)
    some = np.array([0, 65_535, 65_536, 131_071, 131_072, 199_999])
    np.testing.assert_array_equal(
        learned.transform(codes)[some], learned.transform([column[some] for column in codes])
    )


def test_counts() -> None:
    """The rows of a category in training, whatever they weigh; 0 where there were none."""
    codes, label = _data()
    fit = TargetStatistics.fit
    weight = np.random.default_rng(0).random(300)
    plain, a = fit(codes, N_CODES, label, weight, sources=SOURCES)
    counted, b = fit(codes, N_CODES, label, weight, sources=SOURCES, counts=True)
    np.testing.assert_array_equal(a, b[:, ::2])
    np.testing.assert_array_equal(plain.transform(codes), counted.transform(codes)[:, ::2])
    for s, source in enumerate(SOURCES):
        keys = list(zip(*(codes[c].tolist() for c in source), strict=True))
        expected = [keys.count(key) for key in keys]
        np.testing.assert_array_equal(b[:, 2 * s + 1], expected)
        np.testing.assert_array_equal(counted.transform(codes)[:, 2 * s + 1], expected)
    learned, _ = fit([np.zeros(3, int)], [2], np.ones(3), sources=[(0,)], counts=True)
    np.testing.assert_array_equal(learned.transform([np.array([1, 0])]), [[1, 0], [1, 3]])
    back = TargetStatistics.from_arrays(counted.to_arrays())
    np.testing.assert_array_equal(back.transform(codes), counted.transform(codes))


def test_class_targets() -> None:
    np.testing.assert_array_equal(class_targets(np.array([0, 1, 1]), 2), [[0, 1, 1]])
    got = class_targets(np.array([3, 1, 1, 0]), 4)  # class 1 is the most common, 2 is not there
    np.testing.assert_array_equal(got, [[0, 0, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]])
    assert got.dtype == np.float32


def test_keep() -> None:
    codes, label = _data()
    targets = np.stack([label, 1 - label])
    learned, _ = TargetStatistics.fit(codes, N_CODES, targets, sources=SOURCES)
    kept, numbers = learned.keep([7, 2])
    np.testing.assert_array_equal(numbers, [-1, -1, 0, 1, -1, -1, 2, 3])
    assert kept.sources == ((2,), (1, 0, 2))
    expected = learned.transform(codes)[:, [2, 3, 6, 7]]
    np.testing.assert_array_equal(kept.transform(codes), expected)
    nothing, numbers = learned.keep([])
    assert nothing.transform(codes).shape == (300, 0)
    assert (numbers == -1).all()
    TargetStatistics.from_arrays(nothing.to_arrays())


class TestArrays:
    """What a file keeps, whole or broken."""

    @staticmethod
    def _learned() -> tuple[TargetStatistics, list[np.ndarray]]:
        codes, label = _data()
        fit = TargetStatistics.fit
        return fit(codes, N_CODES, class_targets(label * 2, 3), sources=SOURCES)[0], codes

    def test_there_and_back(self) -> None:
        learned, codes = self._learned()
        back = TargetStatistics.from_arrays(learned.to_arrays())
        assert back.sources == learned.sources
        np.testing.assert_array_equal(back.transform(codes), learned.transform(codes))

    @pytest.mark.parametrize("name", TargetStatistics.__dataclass_fields__)
    def test_missing_or_of_another_type(self, name: str) -> None:
        arrays = self._learned()[0].to_arrays()
        with pytest.raises(DataError, match=f"{name} has a wrong type or shape"):
            TargetStatistics.from_arrays(arrays | {name: arrays[name].astype(np.int16)})
        with pytest.raises(DataError, match=f"{name} has a wrong type or shape"):
            TargetStatistics.from_arrays(arrays | {name: arrays[name][None]})
        del arrays[name]
        with pytest.raises(DataError, match=f"{name} is not there"):
            TargetStatistics.from_arrays(arrays)

    @pytest.mark.parametrize(
        ("name", "change", "match"),
        [
            ("n_codes", lambda a: a * 0, "a column has no codes"),
            ("n_codes", lambda a: a[:1], "a column that does not exist"),
            ("n_codes", lambda a: a * 0 + 2**40, "more combinations than fit"),
            ("n_codes", lambda a: a * 0 + 2, "a key is not a combination of codes"),
            ("sources", lambda a: a * 0, "one of them twice"),
            ("sources", lambda a: a - 1, "a column that does not exist"),
            ("sources", lambda a: a[:-1], "source_offsets do not cover"),
            ("source_offsets", lambda a: a[::-1], "source_offsets do not cover"),
            ("source_offsets", lambda a: a[[0, 2, 1, 3, 4]], "source_offsets go back"),
            ("source_offsets", lambda a: a[:0], "source_offsets do not cover"),
            ("source_offsets", lambda a: np.append(a, a[-1]), "a source has no columns"),
            ("source_offsets", lambda a: a[[0, 2, 3, 4]], "offsets and sources differ"),
            ("offsets", lambda a: a[:-1], "offsets do not cover"),
            ("offsets", lambda a: a[[0, 2, 1, 3, 4]], "offsets go back"),
            ("offsets", lambda a: a[[0, 1, 1, 3, 4]], "keys are not increasing"),
            ("keys", lambda a: a[::-1], "keys are not increasing"),
            ("keys", lambda a: a * 0, "keys are not increasing"),
            ("keys", lambda a: a[:-1], "offsets do not cover"),
            ("values", lambda a: a[:-1], "keys, values and prior differ"),
            ("values", lambda a: a + np.float32(np.nan), "a value is not finite"),
            ("prior", lambda a: a + np.inf, "a value is not finite"),
            ("prior", lambda a: a[:1], "keys, values and prior differ"),
        ],
    )
    def test_broken(self, name: str, change: Any, match: str) -> None:
        arrays = self._learned()[0].to_arrays()
        with pytest.raises(DataError, match=match):
            TargetStatistics.from_arrays(arrays | {name: change(arrays[name])})


class TestBadInput:
    """Arguments that do not fit together."""

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"n_codes": [5, 40]}, "columns of codes differ: got 3, expected 2"),
            ({"n_codes": [5, 0, 3]}, "n_codes cannot be used"),
            ({"n_codes": [5, 40, 2]}, r"codes of column 2 are out of range: got \(0, 2\), exp"),
            ({"sources": [()]}, "a source has no columns"),
            ({"sources": [(1, 1)]}, "one of them twice"),
            ({"sources": [(3,)]}, "does not exist"),
            ({"sources": [(-1,)]}, "does not exist"),
            ({"targets": np.zeros(299)}, "labels and codes differ in rows"),
            ({"targets": np.full(300, np.nan)}, "a label is not finite"),
            ({"weight": np.zeros(300)}, "weight is 0 for every row"),
            ({"weight": -np.ones(300)}, "weights cannot be used"),
            ({"weight": np.ones(299)}, "weights cannot be used"),
            ({"prior_weight": 0}, "prior_weight is out of range"),
            ({"prior_weight": np.nan}, "prior_weight is out of range"),
        ],
    )
    def test_fit(self, changes: dict[str, Any], match: str) -> None:
        codes, label = _data()
        arguments = {"codes": codes, "n_codes": N_CODES, "targets": label, "sources": SOURCES}
        with pytest.raises(DataError, match=match):
            TargetStatistics.fit(**(arguments | changes))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            (lambda codes: codes[:2], "columns of codes differ: got 2, expected 3"),
            (lambda codes: [codes[0], codes[1], codes[2][:9]], "codes of column 2 cannot be used"),
            (lambda codes: [codes[0] * 1.0, *codes[1:]], "codes of column 0 cannot be used"),
            (lambda codes: [codes[0], codes[1] - 1, codes[2]], r"out of range: got \(-1, 38\)"),
        ],
    )
    def test_codes(self, change: Any, match: str) -> None:
        codes, label = _data()
        learned, _ = TargetStatistics.fit(codes, N_CODES, label, sources=SOURCES)
        for call in (
            learned.transform,
            lambda c: TargetStatistics.fit(c, N_CODES, label, sources=SOURCES),
        ):
            with pytest.raises(DataError, match=match):
                call(change(codes))
