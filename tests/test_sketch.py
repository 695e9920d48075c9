"""Quantile sketches: always within the bound they state, against sorted arrays."""

from __future__ import annotations

import copy
import math
import pickle
import struct
import threading
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import DataError, ParameterError, QuantileSketch

Array = npt.NDArray[Any]
ORDERS = ("random", "sorted", "reversed", "zigzag", "duplicates", "two_values", "infinities")
WEIGHTS = ("ones", "decades", "giant", "zeros", "growing", "shrinking", "tiny")
ROUNDING = 1e-11

orders = st.sampled_from(ORDERS)
kinds = st.sampled_from(WEIGHTS)
seeds = st.integers(0, 2**32 - 1)


def make_values(order: str, n: int, rng: np.random.Generator) -> Array:
    values = rng.normal(size=n)
    if order == "sorted":
        return np.sort(values)
    if order == "reversed":
        return np.sort(values)[::-1]
    if order == "zigzag":  # from both ends to the middle
        ordered = np.sort(values)
        ordered[1::2] = ordered[1::2][::-1]
        return ordered
    if order == "duplicates":
        return np.round(values * 5)
    if order == "two_values":
        return np.sign(values)
    if order == "infinities":
        values[rng.random(n) < 0.2] = np.inf
        values[rng.random(n) < 0.2] = -np.inf
    return values


def make_weights(kind: str, n: int, rng: np.random.Generator) -> Array:
    weights = np.ones(n)
    if kind == "decades":
        return 10.0 ** rng.uniform(-150, 150, n)
    if kind == "giant":
        weights[rng.integers(n)] = 1e12
    if kind == "zeros":
        weights[rng.random(n) < 0.95] = 0.0
        weights[rng.integers(n)] = 1.0
    if kind == "growing":
        return np.exp(np.linspace(0, 200, n))
    if kind == "shrinking":
        return np.exp(np.linspace(0, -200, n))
    if kind == "tiny":
        return 1e-300 * rng.random(n)
    return weights


class Truth:
    """Ranks from a sorted array."""

    def __init__(self, values: Array, weights: Array) -> None:
        counts = ~np.isnan(values) & (weights > 0)
        self.values, inverse = np.unique(values[counts], return_inverse=True)
        self.weight = np.bincount(inverse, weights[counts])
        self.total = math.fsum(weights[counts])
        self.through = np.cumsum(self.weight)
        self.missing = math.fsum(weights[np.isnan(values)])

    def ranks(self, y: Array) -> tuple[Array, Array]:
        """Weight below y, and at and below it."""
        through = np.concatenate([[0.0], self.through])
        below = through[np.searchsorted(self.values, y, side="left")]
        return below, through[np.searchsorted(self.values, y, side="right")]


def check(sketch: QuantileSketch, values: Array, weights: Array) -> None:
    """Every promise of the sketch about the data."""
    truth = Truth(values, weights)
    slack = ROUNDING * truth.total
    assert sketch.total_weight == pytest.approx(truth.total, rel=ROUNDING)
    assert sketch.missing_weight == pytest.approx(truth.missing, rel=ROUNDING)
    assert 0 <= sketch.error_bound <= sketch.eps
    error = sketch.error_bound * truth.total

    finite = truth.values[np.isfinite(truth.values)]
    between = (finite[1:] + finite[:-1]) / 2
    asked = np.concatenate([truth.values, between, [-np.inf, np.inf]])
    low, high = sketch.rank(asked)
    below, through = truth.ranks(asked)
    assert (low <= below + slack).all()
    assert (high >= through - slack).all()
    assert (high - low <= through - below + error + slack).all()

    shares = np.linspace(0, 1, 101)
    found = sketch.quantile(shares)
    below, through = truth.ranks(found)
    assert np.isin(found, truth.values).all()
    assert (below <= shares * truth.total + error / 2 + slack).all()
    assert (through >= shares * truth.total - error / 2 - slack).all()
    assert found[0] == truth.values[0] and found[-1] == truth.values[-1]

    for eps in (sketch.eps, 0.3):
        if eps >= sketch.error_bound:
            check_cuts(sketch.cuts(eps), truth, eps, error)


def check_cuts(cuts: Array, truth: Truth, eps: float, error: float) -> None:
    slack = ROUNDING * truth.total
    assert (np.diff(cuts) > 0).all() and cuts[-1] == truth.values[-1]
    below, through = truth.ranks(cuts)
    held = np.diff(through, prepend=0.0)
    own = through - below
    is_light = held <= eps * truth.total + slack
    is_one_value = (own >= eps * truth.total - error - slack) & (held <= own + error + slack)
    assert (is_light | is_one_value).all()


def feed(sketch: QuantileSketch, values: Array, weights: Array, chunk: int) -> QuantileSketch:
    for begin in range(0, len(values), chunk):
        sketch.update(values[begin : begin + chunk], weights[begin : begin + chunk])
    return sketch


@settings(max_examples=80, deadline=None)
@given(orders, kinds, st.sampled_from([1, 7, 1024, 5000, 40_000]), st.floats(0.01, 0.9), seeds)
def test_any_order_and_any_weights(order: str, kind: str, n: int, eps: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weights = make_values(order, n, rng), make_weights(kind, n, rng)
    check(feed(QuantileSketch(eps), values, weights, 3000), values, weights)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=True, allow_infinity=True),
            st.floats(0, 1e290, allow_subnormal=False) | st.sampled_from([0.0, 1.0, 1e-300]),
        ),
        max_size=60,
    ),
    st.integers(1, 10),
)
def test_any_few_values(pairs: list[tuple[float, float]], chunk: int) -> None:
    values, weights = np.array(pairs, dtype=float).reshape(-1, 2).T
    sketch = feed(QuantileSketch(0.1), values, weights, chunk)
    if sketch.n_entries:
        with np.errstate(over="ignore"):  # halfway between huge values
            check(sketch, values, weights)
    else:
        assert not (weights[~np.isnan(values)] > 0).any()


@settings(max_examples=40, deadline=None)
@given(orders, kinds, st.lists(st.integers(1, 12_000), min_size=2, max_size=10), seeds)
def test_any_tree_of_merges(order: str, kind: str, sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    values, weights = make_values(order, n, rng), make_weights(kind, n, rng)
    all_eps = rng.choice([0.02, 0.1, 0.4], len(sizes))
    ends = np.cumsum(sizes)
    sketches = [
        feed(QuantileSketch(eps), values[end - size : end], weights[end - size : end], 1500)
        for eps, size, end in zip(all_eps, sizes, ends, strict=True)
    ]
    while len(sketches) > 1:
        first, second = rng.choice(len(sketches), 2, replace=False)
        before = sketches[second].to_bytes()
        sketches[first].merge(sketches[second])
        assert sketches[second].to_bytes() == before
        del sketches[second]
    assert sketches[0].eps == max(all_eps)
    check(sketches[0], values, weights)


@settings(max_examples=25, deadline=None)
@given(orders, kinds, st.integers(1, 9000), seeds)
def test_chunks_have_no_influence(order: str, kind: str, chunk: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weights = make_values(order, 9000, rng), make_weights(kind, 9000, rng)
    values[rng.random(9000) < 0.1] = np.nan
    whole = QuantileSketch(0.2).update(values, weights)
    assert feed(QuantileSketch(0.2), values, weights, chunk).to_bytes() == whole.to_bytes()


def test_long_streams_stay_small() -> None:
    rng = np.random.default_rng(0)
    sketch = QuantileSketch(0.05)
    for _ in range(40):
        sketch.update(rng.random(50_000))
    assert sketch.n_entries < 8_000
    assert 0 < sketch.error_bound <= 0.05
    low, high = sketch.rank(0.5)
    assert low <= 1_001_500 and high >= 998_500 and high - low <= 0.05 * sketch.total_weight


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, np.int8, np.uint64, np.bool_, np.longdouble]
)
def test_numeric_types(dtype: Any) -> None:
    values = np.array([0, 1, 1, 0, 1, 1]).astype(dtype)
    assert QuantileSketch().update(values[::2], values[1::2]).total_weight == 2.0
    assert QuantileSketch().update(values).rank(0) == (0.0, 2.0)


def test_lists_frames_and_masks() -> None:
    pandas = pytest.importorskip("pandas")
    assert QuantileSketch().update([]).n_entries == 0
    assert QuantileSketch().update(pandas.Series([1, 2, 3])).total_weight == 3
    masked = np.ma.masked_equal([1.0, 2.0, 3.0], 2.0)
    sketch = QuantileSketch().update(masked)
    assert (sketch.total_weight, sketch.missing_weight) == (2, 1)


def test_shapes_of_answers() -> None:
    sketch = QuantileSketch().update(np.arange(10))
    assert isinstance(sketch.quantile(0.5), float)
    assert sketch.quantile([[0, 0.5, 1]]).shape == (1, 3)
    assert sketch.quantile([]).shape == (0,)
    low, high = sketch.rank([[1], [2]])
    assert low.shape == high.shape == (2, 1)
    assert all(isinstance(bound, float) for bound in sketch.rank(3))


@pytest.mark.parametrize("eps", [0, 1, -0.1, 1.5, np.nan, np.inf, "much", None, [0.1], 10**400])
def test_eps_out_of_range(eps: Any) -> None:
    with pytest.raises(ParameterError, match=r"eps is out of range.*0 < eps < 1"):
        QuantileSketch(eps)
    if eps is not None:
        with pytest.raises(ParameterError, match="eps is out of range"):
            QuantileSketch().update([1]).cuts(eps)


@pytest.mark.parametrize(
    ("values", "weights", "match"),
    [
        ([1, 2], [1], "differ in length: got 1, expected 2"),
        ([1, 2], [1, -1], r"weights\[1\] cannot be used: got -1.0"),
        ([1, 2], [np.nan, 1], r"weights\[0\] cannot be used: got nan"),
        ([1, 2], [1, np.inf], r"weights\[1\] cannot be used: got inf"),
        ([np.nan], [-1], r"weights\[0\] cannot be used"),
        ([1, 2], [3e307, 3e307], "total weight is too large"),
        ([np.nan, np.nan], [3e307, 3e307], "total weight is too large"),
        ([1, 2], ["a", "b"], "weights must be numeric"),
        (["a"], None, "values must be numeric"),
        ([1j], None, "values must be numeric"),
        ([None], None, "values must be numeric"),
        ([[1, 2]], None, r"values has shape \(1, 2\)"),
        (3, None, r"values has shape \(\)"),
        ([[1], [1, 2]], None, "cannot be made an array"),
    ],
)
def test_bad_updates_change_nothing(values: Any, weights: Any, match: str) -> None:
    sketch = QuantileSketch().update([1, 2, np.nan])
    before = sketch.to_bytes()
    with pytest.raises(DataError, match=match):
        sketch.update(values, weights)
    assert sketch.to_bytes() == before


def test_bad_questions() -> None:
    empty = QuantileSketch().update([np.nan, 1], [1, 0])
    for ask in (lambda: empty.quantile(0.5), lambda: empty.rank(1), empty.cuts):
        with pytest.raises(DataError, match="the sketch is empty"):
            ask()
    assert empty.error_bound == 0 and empty.total_weight == 0
    sketch = QuantileSketch(0.5).update(np.arange(50_000))
    for q in (-0.1, 1.1, np.nan, [0.5, 2]):
        with pytest.raises(ParameterError, match="q is out of range"):
            sketch.quantile(q)
    with pytest.raises(DataError, match="NaN"):
        sketch.rank([1, np.nan])
    with pytest.raises(ParameterError, match="finer than the sketch"):
        sketch.cuts(0.001)
    with pytest.raises(DataError, match="merge takes a sketch"):
        sketch.merge([1, 2])  # type: ignore[arg-type]
    heavy = QuantileSketch().update([1], [4e307])
    with pytest.raises(DataError, match="total weight is too large"):
        heavy.merge(heavy)
    assert heavy.total_weight == 4e307


def test_a_sketch_merges_with_itself_until_it_is_full() -> None:
    sketch = QuantileSketch(0.5).update(np.arange(2_000))
    total = 2_000.0
    with pytest.raises(DataError, match="too many rows"):
        for _ in range(100):
            sketch.merge(sketch)
            total *= 2
    assert sketch.total_weight == total >= 2.0**62
    assert sketch.error_bound <= 0.5


def deep_sketch(n: int = 30_000) -> QuantileSketch:
    """One with several levels, a buffer and missing values."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=n)
    values[::50] = np.nan
    return QuantileSketch(0.2).update(values, rng.random(n))


def test_bytes_and_pickle() -> None:
    more = np.random.default_rng(2).normal(size=5000)
    for sketch in (QuantileSketch(0.3), QuantileSketch().update([np.inf, -1]), deep_sketch()):
        data = sketch.to_bytes()
        copies = [
            QuantileSketch.from_bytes(data),
            QuantileSketch.from_bytes(memoryview(bytearray(data))),  # type: ignore[arg-type]
            pickle.loads(pickle.dumps(sketch)),
            copy.copy(sketch),
        ]
        assert all(other.to_bytes() == data for other in copies)
        # They go on alike, and apart from each other.
        sketch.update(more)
        for other in copies:
            assert other.update(more).to_bytes() == sketch.to_bytes() != data
    assert repr(QuantileSketch(0.3)) == (
        "QuantileSketch(eps=0.3, total_weight=0.0, missing_weight=0.0, n_entries=0)"
    )


def with_checksum(data: bytes) -> bytes:
    """The damage of someone who knows the format."""
    return data[:8] + struct.pack("<I", zlib.crc32(data[12:])) + data[12:]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_damaged_bytes_are_refused_or_sound(data: st.DataObject) -> None:
    good = deep_sketch(6_000).to_bytes() if data.draw(st.booleans()) else b""
    good = good or QuantileSketch(0.2).update([1, 2, 3, np.nan]).to_bytes()
    read = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        # The header and what follows is where damage does most.
        place = data.draw(st.integers(0, min(len(read), 90) - 1) | st.integers(0, len(read) - 1))
        action = data.draw(st.sampled_from(["byte", "number", "cut", "grow", "remove"]))
        if action == "byte":
            read[place] ^= data.draw(st.integers(1, 255))
        elif action == "number":
            place = min(12 + (place // 8) * 8, len(read) - 8)
            odd = [0.0, -1.0, math.nan, math.inf, 1e308, 5e-324]
            number = data.draw(st.sampled_from(odd))
            whole = data.draw(st.sampled_from([-1, 1, 2**31, 2**62, -(2**63)]))
            packed = struct.pack("<d", number), struct.pack("<q", whole)
            read[place : place + 8] = data.draw(st.sampled_from(packed))
        elif action == "cut":
            del read[max(place, 20) :]
        elif action == "grow":
            read += bytes(data.draw(st.sampled_from([1, 8, 16, 32])))
        else:
            del read[place : place + 8]
        if len(read) < 20:
            break
    damaged = bytes(read)
    if damaged != good:
        with pytest.raises(DataError):
            QuantileSketch.from_bytes(damaged)
    try:
        sketch = QuantileSketch.from_bytes(with_checksum(damaged))
    except DataError as error:
        assert "sketch" in str(error)
        return
    # What is let in is a sketch like others: it answers, grows and is within its bound.
    assert 0 <= sketch.error_bound <= sketch.eps + 1e-8
    sketch.merge(sketch).update(np.arange(3000))
    assert (np.diff(sketch.quantile(np.linspace(0, 1, 20))) >= 0).all()
    assert QuantileSketch.from_bytes(sketch.to_bytes()).to_bytes() == sketch.to_bytes()


@pytest.mark.parametrize("data", [b"", b"gsketch\x01", b"PK\x03\x04" + bytes(60), "text", None])
def test_something_else_is_no_sketch(data: Any) -> None:
    with pytest.raises(DataError, match="sketch"):
        QuantileSketch.from_bytes(data)


def test_threads_may_share_a_sketch() -> None:
    sketch, other = QuantileSketch(0.1), QuantileSketch(0.1)
    values = np.random.default_rng(0).normal(size=2_000)
    n_times = 30

    def work(mine: QuantileSketch, its: QuantileSketch) -> None:
        for _ in range(n_times):
            mine.update(values)
            mine.quantile(0.5)
            copy.copy(mine).merge(its)

    threads = [
        threading.Thread(target=work, args=pair)
        for pair in [(sketch, other), (other, sketch), (sketch, other)]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sketch.total_weight == 2 * n_times * len(values)
    assert other.total_weight == n_times * len(values)
