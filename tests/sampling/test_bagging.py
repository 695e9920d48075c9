"""Bagging."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import _native
from gossamer.data import Targets
from gossamer.params import resolve
from gossamer.sampling import Bag, Bagging, make_key
from gossamer.sampling.keys import Stream

N_ROWS = 20_000
LABEL = (np.random.default_rng(0).random(N_ROWS) < 0.3).astype(np.float32)


def draw(n_round: int, **params: Any) -> Bag:
    bag = Bagging(resolve(params), Targets(LABEL)).draw(n_round)
    assert bag is not None
    return bag


def test_every_row_is_inside_or_outside() -> None:
    bag = draw(0, bagging_fraction=0.4)
    assert bag.inside.dtype == bag.outside.dtype == np.uint32
    rows = np.concatenate([bag.inside, bag.outside])
    np.testing.assert_array_equal(np.sort(rows), np.arange(N_ROWS))
    for part in (bag.inside, bag.outside):
        assert np.all(np.diff(part.astype(np.int64)) > 0)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_the_share_is_about_right(fraction: float) -> None:
    share = len(draw(0, bagging_fraction=fraction).inside) / N_ROWS
    assert share == pytest.approx(fraction, abs=0.02)


def test_classes_have_their_own_shares() -> None:
    params = {"pos_bagging_fraction": 0.8, "neg_bagging_fraction": 0.2, "bagging_freq": 1}
    inside = draw(0, objective="binary", **params).inside
    assert LABEL[inside].sum() / LABEL.sum() == pytest.approx(0.8, abs=0.03)
    assert (LABEL[inside] == 0).sum() / (LABEL == 0).sum() == pytest.approx(0.2, abs=0.03)


def test_new_rows_every_bagging_freq_rounds() -> None:
    sampler = Bagging(resolve({"bagging_fraction": 0.5, "bagging_freq": 3}), Targets(LABEL))
    bags = [sampler.draw(i) for i in range(7)]
    changes = [bags[i] is not bags[i + 1] for i in range(6)]
    assert changes == [False, False, True, False, False, True]
    assert not np.array_equal(bags[0].inside, bags[3].inside)


def test_a_round_is_the_same_whichever_rounds_came_before() -> None:
    sampler = Bagging(resolve({"bagging_fraction": 0.5}), Targets(LABEL))
    for n_round in (5, 0, 3):
        found = sampler.draw(n_round)
        assert found is not None
        expected = draw(n_round, bagging_fraction=0.5)
        np.testing.assert_array_equal(found.inside, expected.inside)


def test_any_number_of_threads_draws_the_same_rows() -> None:
    params = resolve({"bagging_fraction": 0.5})
    first, *others = (Bagging(params, Targets(LABEL)).draw(0, n_threads=t) for t in (1, 2, 5))
    assert first is not None
    for other in others:
        assert other is not None
        np.testing.assert_array_equal(other.inside, first.inside)
        np.testing.assert_array_equal(other.outside, first.outside)


def test_seeds_matter() -> None:
    first, second = (draw(0, bagging_fraction=0.5, bagging_seed=s).inside for s in (1, 2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    "params", [{}, {"bagging_freq": 5}, {"bagging_fraction": 0.5, "bagging_freq": 0}], ids=str
)
def test_off(params: dict[str, Any]) -> None:
    sampler = Bagging(resolve(params), Targets(LABEL))
    assert not sampler.is_on
    assert sampler.draw(0) is None


def test_there_is_always_a_row() -> None:
    targets = Targets(np.zeros(3, dtype=np.float32))
    sampler = Bagging(resolve({"bagging_fraction": 1e-9}), targets)
    bag = sampler.draw(0)
    assert bag is not None
    assert (len(bag.inside), len(bag.outside)) == (1, 2)


def test_bad_arguments() -> None:
    rows = np.empty(9, dtype=np.uint32)
    with pytest.raises(ValueError, match="rows has length 9"):
        _native.sample_rows(10, 0.5, 0.5, None, 1, rows, 1)
    with pytest.raises(ValueError, match="label has length 3"):
        _native.sample_rows(9, 0.5, 0.5, LABEL[:3].copy(), 1, rows, 1)


def test_keys_differ_in_every_part() -> None:
    keys = {
        make_key(seed, stream, n_round, tree)
        for seed in (-1, 0, 1)
        for stream in Stream
        for n_round in range(5)
        for tree in range(5)
    }
    assert len(keys) == 3 * len(Stream) * 25
    assert all(0 <= key < 2**64 for key in keys)
