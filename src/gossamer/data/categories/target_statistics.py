"""Ordered target statistics: numeric features from categories, without a leak.

A category becomes the mean label of its rows, shrunk to the mean of all rows. A row that saw its
own label in that mean would betray it, so the training rows are put in a random order and each sees
only the rows before it (as CatBoost does). Rows to be predicted see all training rows.

Words: a *source* is the tuple of categorical columns that one statistic is about: one column, or
several whose combination is taken as one category. The *key* of a row is the number of its
category: of the codes (c0, c1, ...) it is c0 + n_codes[0] * (c1 + n_codes[1] * (...)).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.categories.target_sums import TargetSums, encode_in_order
from gossamer.data.random_order import random_order, stable_order
from gossamer.errors import DataError
from gossamer.threads import map_on_threads, resolve_threads

Codes = Sequence[npt.NDArray[np.integer[Any]]]
Source = tuple[int, ...]

# Keys of a combination must fit 63 bits, so that sums of keys cannot wrap around.
MAX_KEYS: Final = 2**63
# A lookup goes through a table with a place for each possible key up to this many of them, or this
# many for each key that was seen.
_MAX_PLACES: Final = 2**16
_PLACES_PER_KEY: Final = 16
# ... but no more than this in all, however many sources there are.
_MAX_ALL_PLACES: Final = 2**24
# Rows that are transformed at a time: their keys stay in the cache.
_BLOCK: Final = 2**16


@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """What was learned about the categories of the training rows.

    A source has one statistic for each target, and where asked for the number of its rows. Each is
    a derived feature, source after source: statistic k of source s is derived feature
    `s * n_statistics + k`.

    Attributes:
        n_codes: int64, codes of each categorical column; its codes are 0 to before `n_codes`.
        sources: The columns of each source.
        offsets: int64; source s has the entries `offsets[s]` to before `offsets[s + 1]`.
        keys: uint64, the categories seen in training, increasing within a source.
        values: float32 (entries, statistics), the statistics of each.
        prior: float64 (statistics), the statistics of every other category; of statistics that were
            joined (sources, statistics).
    """

    n_codes: npt.NDArray[np.int64]
    sources: tuple[Source, ...]
    offsets: npt.NDArray[np.int64]
    keys: npt.NDArray[np.uint64]
    values: npt.NDArray[np.float32]
    prior: npt.NDArray[np.float64]

    @property
    def n_statistics(self) -> int:
        """Statistics per source."""
        return int(self.prior.shape[-1])

    @property
    def n_features(self) -> int:
        """Derived features."""
        return len(self.sources) * self.n_statistics

    @classmethod
    def fit(
        cls,
        codes: Codes,
        n_codes: Sequence[int],
        targets: npt.NDArray[Any],
        weight: npt.NDArray[Any] | None = None,
        *,
        sources: Sequence[Source],
        counts: bool = False,
        prior_weight: float | Sequence[float] = 5.0,
        seed: int = 1,
        num_threads: int = 0,
    ) -> tuple[TargetStatistics, npt.NDArray[np.float32]]:
        """Learn the statistics, and encode the training rows.

        Args:
            codes: For each categorical column the category of every row.
            n_codes: Codes of each column.
            targets: What is averaged: one number per row, or targets x rows.
            weight: How much each row counts; None: 1.
            sources: Columns, and combinations of columns, to be encoded.
            counts: Whether the number of rows of a category is a statistic too, the last one of
                each source. It knows no labels, so it is the same for all training rows.
            prior_weight: Rows of average weight that the mean of all rows counts for; or one number
                for each source.
            seed: Of the order of the rows.
            num_threads: 0 or less: all.

        Returns:
            The statistics, and the encoded rows (float32, rows x derived features, column-major).

        Raises:
            DataError: If the arrays do not fit together.

        Example:
            >>> city, label = np.array([0, 0, 0, 1]), np.array([1, 1, 1, 0])
            >>> fit = TargetStatistics.fit
            >>> learned, encoded = fit([city], [2], label, sources=[(0,)], prior_weight=1)
            >>> learned.transform([np.array([0, 1])]).round(3).ravel()  # (3 + .75) / 4, .75 / 2
            array([0.938, 0.375], dtype=float32)
            >>> encoded.round(3).ravel()  # each row knows the rows before it in a random order
            array([0.75 , 0.875, 0.917, 0.75 ], dtype=float32)
        """
        places = _check_n_codes(n_codes)
        sources = tuple(tuple(int(column) for column in source) for source in sources)
        n_rows = _check_codes(codes, places)
        _check_sources(sources, places, _bad_data)
        sums = TargetSums.of(targets, weight, n_rows)
        shrunk = (
            [sums.shrink(rows) for rows in prior_weight]
            if isinstance(prior_weight, Sequence)
            else [sums.shrink(prior_weight)] * len(sources)
        )
        order = random_order(n_rows, seed)
        prior = np.append(sums.prior, 0.0) if counts else sums.prior
        encoded = np.empty((len(sources) * len(prior), n_rows), dtype=np.float32)

        def learn(s: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
            keys = source_keys(codes, places, sources[s])
            rows = order[stable_order(keys[order], _n_keys(places, sources[s]))]
            out = encoded[s * len(prior) : (s + 1) * len(prior)]
            return encode_in_order(keys[rows], rows, shrunk[s], out)

        n_threads = resolve_threads(num_threads, n_rows, len(sources))
        tables = map_on_threads(learn, len(sources), n_threads)
        learned = cls(
            places,
            sources,
            np.cumsum([0, *(len(keys) for keys, _ in tables)], dtype=np.int64),
            np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in tables)]),
            np.concatenate([np.empty((0, len(prior)), np.float32), *(v for _, v in tables)]),
            prior,
        )
        return learned, encoded.T

    def transform(self, codes: Codes, num_threads: int = 0) -> npt.NDArray[np.float32]:
        """Encode rows that were not trained on: each sees all training rows.

        Args:
            codes: For each categorical column the category of every row.
            num_threads: 0 or less: all.

        Returns:
            float32, rows x derived features, column-major.

        Raises:
            DataError: If the codes do not come from the training columns.
        """
        n_rows = _check_codes(codes, self.n_codes)
        encoded = np.empty((self.n_features, n_rows), dtype=np.float32)
        n_threads = resolve_threads(num_threads, n_rows, len(self.sources))
        lookups = self._lookups

        def encode(s: int) -> None:
            out = encoded[s * self.n_statistics : (s + 1) * self.n_statistics]
            look_up = lookups[s]
            for begin in range(0, n_rows, _BLOCK):
                block = slice(begin, begin + _BLOCK)
                keys = source_keys(
                    [column[block] for column in codes], self.n_codes, self.sources[s]
                )
                out[:, block] = look_up(keys)

        map_on_threads(encode, len(self.sources), n_threads)
        return encoded.T

    @classmethod
    def join(cls, parts: Sequence[TargetStatistics]) -> TargetStatistics:
        """Put statistics of the same columns, learned from different rows, one after another.

        Args:
            parts: At least one; all have the same columns, codes and number of statistics.

        Example:
            >>> fit = TargetStatistics.fit
            >>> city = np.array([0, 0, 1, 1])
            >>> low, _ = fit([city], [2], np.array([0, 0, 0, 1]), sources=[(0,)])
            >>> high, _ = fit([city], [2], np.array([1, 1, 0, 1]), sources=[(0,)])
            >>> TargetStatistics.join([low, high]).prior.ravel()
            array([0.25, 0.75])
        """
        first = np.cumsum([0, *(len(part.keys) for part in parts)])
        ends = [part.offsets[1:] + begin for part, begin in zip(parts, first, strict=False)]
        return cls(
            parts[0].n_codes,
            tuple(source for part in parts for source in part.sources),
            np.concatenate([np.zeros(1, np.int64), *ends]),
            np.concatenate([part.keys for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.prior_by_source() for part in parts]),
        )

    def prior_by_source(self) -> npt.NDArray[np.float64]:
        """Return the statistics of other categories for each source: (sources, statistics)."""
        return np.broadcast_to(self.prior, (len(self.sources), self.n_statistics))

    def keep(self, features: Sequence[int]) -> tuple[TargetStatistics, npt.NDArray[np.int64]]:
        """Return the statistics of those sources alone that derived features are in use of.

        Args:
            features: The derived features in use.

        Returns:
            The statistics, and for each derived feature of `self` its number there, -1 if gone.
        """
        used = sorted({int(feature) // self.n_statistics for feature in features})
        numbers = np.full((len(self.sources), self.n_statistics), -1, dtype=np.int64)
        for new, old in enumerate(used):
            numbers[old] = np.arange(new * self.n_statistics, (new + 1) * self.n_statistics)
        entries = [np.arange(self.offsets[s], self.offsets[s + 1]) for s in used]
        kept = np.concatenate([np.empty(0, np.int64), *entries])
        offsets = np.cumsum([0, *map(len, entries)], dtype=np.int64)
        sources = tuple(self.sources[s] for s in used)
        prior = self.prior if self.prior.ndim == 1 else self.prior[used]
        statistics = TargetStatistics(
            self.n_codes, sources, offsets, self.keys[kept], self.values[kept], prior
        )
        return statistics, numbers.ravel()

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that a file keeps; `from_arrays` is the way back."""
        lengths = [0, *map(len, self.sources)]
        return {
            "n_codes": self.n_codes,
            "sources": np.array([c for source in self.sources for c in source], dtype=np.int32),
            "source_offsets": np.cumsum(lengths, dtype=np.int64),
            "offsets": self.offsets,
            "keys": self.keys,
            "values": self.values,
            "prior": self.prior,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> TargetStatistics:
        """Make the statistics from what a file keeps, and check them.

        Raises:
            DataError: If the arrays are no such statistics.
        """
        for name, (dtype, *n_dims) in _ARRAYS.items():
            if name not in arrays:
                raise _broken(f"{name} is not there")
            if arrays[name].dtype != dtype or arrays[name].ndim not in n_dims:
                raise _broken(f"{name} has a wrong type or shape")
        flat, ends = arrays["sources"], arrays["source_offsets"]
        _check_offsets(ends, len(flat), "source_offsets")
        sources = tuple(tuple(flat[a:b].tolist()) for a, b in pairwise(ends))
        statistics = cls(
            *(arrays["n_codes"], sources, arrays["offsets"]),
            *(arrays["keys"], arrays["values"], arrays["prior"]),
        )
        statistics._check()
        return statistics

    @cached_property
    def _lookups(self) -> list[Callable[[npt.NDArray[Any]], npt.NDArray[np.float32]]]:
        """For each source a function from keys to statistics (statistics x keys)."""
        return [self._lookup(s) for s in range(len(self.sources))]

    def _lookup(self, s: int) -> Callable[[npt.NDArray[Any]], npt.NDArray[np.float32]]:
        entries = slice(self.offsets[s], self.offsets[s + 1])
        keys = self.keys[entries]
        prior = self.prior_by_source()[s].astype(np.float32)
        # The last place is for everything that was never seen.
        values = np.concatenate([self.values[entries], prior[None]]).T.copy()
        n_keys = _n_keys(self.n_codes, self.sources[s])
        most = min(_MAX_PLACES, _MAX_ALL_PLACES // len(self.sources))
        if n_keys <= max(most, _PLACES_PER_KEY * len(keys)):
            places = np.full(n_keys, len(keys), dtype=np.int32)
            places[keys.astype(np.int64)] = np.arange(len(keys), dtype=np.int32)
            return lambda wanted: values[:, places[wanted]]

        def search(wanted: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
            places = np.searchsorted(keys, wanted)
            found = keys[np.minimum(places, len(keys) - 1)] == wanted
            return values[:, np.where(found, places, len(keys))]

        return search if len(keys) else lambda wanted: values[:, np.zeros(len(wanted), np.int64)]

    def _check(self) -> None:
        if np.any(self.n_codes < 1):
            raise _broken("a column has no codes")
        _check_sources(self.sources, self.n_codes, _broken)
        _check_offsets(self.offsets, len(self.keys), "offsets")
        if len(self.offsets) != len(self.sources) + 1:
            raise _broken("offsets and sources differ in length")
        if self.values.shape != (len(self.keys), self.n_statistics) or not self.n_statistics:
            raise _broken("keys, values and prior differ in length")
        if self.prior.ndim == 2 and len(self.prior) != len(self.sources):
            raise _broken("prior has a wrong type or shape: sources differ in number")
        largest = np.finfo(np.float32).max  # what the prior is read as
        if not (np.isfinite(self.values).all() and np.all(np.abs(self.prior) <= largest)):
            raise _broken("a value is not finite")
        for s, source in enumerate(self.sources):
            keys = self.keys[self.offsets[s] : self.offsets[s + 1]]
            if np.any(keys[1:] <= keys[:-1]):
                raise _broken("keys are not increasing")
            if len(keys) and int(keys[-1]) >= _n_keys(self.n_codes, source):
                raise _broken("a key is not a combination of codes")


def _n_keys(n_codes: npt.NDArray[np.int64], source: Source) -> int:
    """Possible keys of a source."""
    n_keys = 1
    for column in source:
        n_keys *= int(n_codes[column])
    return n_keys


def source_keys(codes: Codes, n_codes: npt.NDArray[np.int64], source: Source) -> npt.NDArray[Any]:
    """Keys of all rows; for one column its codes as they are."""
    if len(source) == 1:
        return codes[source[0]]
    dtype = np.uint32 if _n_keys(n_codes, source) <= 2**32 else np.uint64
    keys: npt.NDArray[Any] = codes[source[-1]].astype(dtype)
    for column in source[-2::-1]:
        keys = keys * dtype(n_codes[column]) + codes[column].astype(dtype)
    return keys


def _check_n_codes(n_codes: Sequence[int]) -> npt.NDArray[np.int64]:
    counts = np.asarray(n_codes, dtype=np.int64)
    if counts.ndim != 1 or np.any(counts < 1):
        raise _bad_data("n_codes cannot be used", got=n_codes, expected="numbers >= 1")
    return counts


def _check_codes(codes: Codes, n_codes: npt.NDArray[np.int64]) -> int:
    """Check codes against how many there may be, and return the number of rows."""
    if len(codes) != len(n_codes):
        raise _bad_data("columns of codes differ", got=len(codes), expected=str(len(n_codes)))
    n_rows = len(codes[0]) if len(codes) else 0
    for i, column in enumerate(codes):
        if column.ndim != 1 or len(column) != n_rows or column.dtype.kind not in "iu":
            got = f"{column.dtype} of shape {column.shape}"
            raise _bad_data(
                f"codes of column {i} cannot be used", got=got, expected=f"{n_rows} integers"
            )
        if n_rows and (column.min() < 0 or column.max() >= n_codes[i]):
            raise _bad_data(
                f"codes of column {i} are out of range",
                got=(int(column.min()), int(column.max())),
                expected=f"0 to {n_codes[i] - 1}",
            )
    return n_rows


def _check_sources(
    sources: Sequence[Source], n_codes: npt.NDArray[np.int64], error: Callable[[str], DataError]
) -> None:
    for source in sources:
        if not source or len(set(source)) < len(source):
            raise error("a source has no columns, or one of them twice")
        if min(source) < 0 or max(source) >= len(n_codes):
            raise error("a source names a column that does not exist")
        if _n_keys(n_codes, source) >= MAX_KEYS:
            raise error("a source has more combinations than fit 63 bits")


def _check_offsets(offsets: npt.NDArray[np.int64], n_items: int, name: str) -> None:
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != n_items:
        raise _broken(f"{name} do not cover what they number")
    if np.any(offsets[1:] < offsets[:-1]):
        raise _broken(f"{name} go back")


def _bad_data(what: str, **details: Any) -> DataError:
    return DataError.because(f"target statistics: {what}", **details)


def _broken(what: str) -> DataError:
    return DataError.because(f"the target statistics cannot be used: {what}")


# What a file keeps: the type of each array, and how many dimensions it may have.
_ARRAYS: Final[Mapping[str, tuple[Any, ...]]] = {
    "n_codes": (np.int64, 1),
    "sources": (np.int32, 1),
    "source_offsets": (np.int64, 1),
    "offsets": (np.int64, 1),
    "keys": (np.uint64, 1),
    "values": (np.float32, 2),
    "prior": (np.float64, 1, 2),
}
