"""`QuantileSketch`: quantiles of weighted values that come in chunks or from several workers."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.labels.fields import as_numbers, check_not_negative
from gossamer.errors import DataError, ParameterError

Floats = npt.NDArray[np.float64]

# Bytes of a sketch, all little-endian: _MAGIC; CRC-32 of all that follows; _HEADER; int64: how many
# entries each level has; float64: (value, weight) of the buffer; float64: (value, rank_low,
# rank_high, weight) of the entries, level by level.
_MAGIC: Final = b"gsketch\x01"
_CHECKSUM: Final = struct.Struct("<I")
_HEADER: Final = struct.Struct("<ddqq")  # eps, missing_weight, values in the buffer, levels
_BUFFER_BYTES: Final = 16
_ENTRY_BYTES: Final = 32
_SIZE_BYTES: Final = 8


class QuantileSketch:
    """Quantiles of weighted values, with little memory and a known error.

    This is the weighted quantile sketch of the XGBoost paper (section 3.3). Values arrive in chunks
    of any size and order, and sketches of parts of the data can be merged. The result depends only
    on the order of updates and merges.

    Args:
        eps: The error as a share of the total weight, between 0 and 1. It holds for any weights,
            any order and any number of merges. Memory grows with log(rows)^2 / eps.

    Raises:
        ParameterError: If `eps` is not a number between 0 and 1.

    Example:
        >>> monday, tuesday = QuantileSketch(eps=0.01), QuantileSketch(eps=0.01)
        >>> for chunk in np.array_split(np.arange(50_000), 7):
        ...     _ = monday.update(chunk)
        >>> _ = tuesday.update(np.arange(50_000, 100_001), weights=np.ones(50_001))
        >>> both = monday.merge(tuesday)
        >>> both.total_weight
        100001.0
        >>> bool(abs(both.quantile(0.25) - 25_000) <= 0.01 * both.total_weight)
        True
        >>> both.error_bound <= 0.01
        True
    """

    _sketch: _native.QuantileSketch

    def __init__(self, eps: float = 0.01) -> None:
        self._sketch = _native.QuantileSketch(_check_eps(eps))

    @property
    def eps(self) -> float:
        """The maximum error, as a share of the total weight."""
        return self._sketch.eps

    @property
    def total_weight(self) -> float:
        """Total weight of all values so far, without NaN."""
        return self._sketch.total_weight

    @property
    def missing_weight(self) -> float:
        """Total weight of all NaN so far."""
        return self._sketch.missing_weight

    @property
    def n_entries(self) -> int:
        """The number of stored entries: entries of summaries, and buffered values."""
        return self._sketch.n_entries

    @property
    def error_bound(self) -> float:
        """The error that is currently guaranteed, as a share of the total weight; at most `eps`.

        It is 0 (up to rounding) while every distinct value is stored.
        """
        return self._sketch.error_bound

    def update(self, values: object, weights: object = None) -> QuantileSketch:
        """Add values.

        Args:
            values: Numbers in one dimension. NaN counts as missing; infinite values are allowed.
            weights: As many numbers >= 0; None gives each value the weight 1. Values of weight 0
                are skipped.

        Returns:
            The sketch itself.

        Raises:
            DataError: If these are not numbers, the lengths differ, a weight is negative or not
                finite, or the total weight becomes too large. The sketch does not change then.

        Example:
            >>> QuantileSketch().update([3, 1, np.nan], weights=[1, 2, 4])
            QuantileSketch(eps=0.01, total_weight=3.0, missing_weight=4.0, n_entries=2)
        """
        numbers = _as_floats(values, "values")
        checked = None if weights is None else _check_weights(weights, len(numbers))
        _translated(lambda: self._sketch.update(numbers, checked))
        return self

    def merge(self, other: QuantileSketch) -> QuantileSketch:
        """Add everything that another sketch has seen. The other sketch does not change.

        The error of the result is within the larger `eps` of the two, which becomes the `eps` of
        this sketch.

        Returns:
            The sketch itself.

        Raises:
            DataError: If the total weight, or the number of rows, becomes too large.

        Example:
            >>> a, b = QuantileSketch(0.01).update([1, 2]), QuantileSketch(0.05).update([3, 4])
            >>> a.merge(b)
            QuantileSketch(eps=0.05, total_weight=4.0, missing_weight=0.0, n_entries=4)
        """
        if not isinstance(other, QuantileSketch):
            raise DataError.because(
                "merge takes a sketch", got=other, expected="a gossamer.QuantileSketch"
            )
        _translated(lambda: self._sketch.merge(other._sketch))
        return self

    def quantile(self, q: object) -> Any:
        """Return the values at the given shares of the total weight.

        Each result is a value x that has occurred: at most `q + error_bound / 2` of the weight is
        below x, and at least `q - error_bound / 2` is at or below x.

        Args:
            q: A number from 0 (the smallest value) to 1 (the largest), or an array of such numbers.

        Returns:
            A float, or an array with the shape of `q`.

        Raises:
            ParameterError: If a share is not between 0 and 1.
            DataError: If the sketch is empty.

        Example:
            >>> sketch = QuantileSketch().update([10, 20, 30], weights=[1, 1, 8])
            >>> sketch.quantile(0.5)
            30.0
            >>> sketch.quantile([0, 0.15, 1])
            array([10., 20., 30.])
        """
        self._check_not_empty()
        shares = _as_floats(q, "q", most_dims=None)
        is_bad = ~((shares >= 0) & (shares <= 1))
        if is_bad.any():
            raise ParameterError.because(
                "q is out of range", got=float(shares[is_bad][0]), expected="0 <= q <= 1"
            )
        found = self._sketch.query(shares.ravel()).reshape(shares.shape)
        return found if found.ndim else float(found)

    def rank(self, value: object) -> tuple[Any, Any]:
        """Return bounds for the rank of values, in units of weight.

        Args:
            value: A number, or an array of numbers; they need not have occurred.

        Returns:
            (low, high): the weight below the value is at least `low`, and the weight at or below it
            is at most `high`. They differ by at most the weight of the value plus `error_bound *
            total_weight`. Both are floats, or arrays with the shape of `value`.

        Raises:
            DataError: If the sketch is empty or a value is NaN.

        Example:
            >>> sketch = QuantileSketch().update([10, 20, 30], weights=[1, 1, 8])
            >>> sketch.rank(20), sketch.rank(25)
            ((1.0, 2.0), (2.0, 2.0))
        """
        self._check_not_empty()
        values = _as_floats(value, "value", most_dims=None)
        if np.isnan(values).any():
            raise DataError.because("the rank of NaN is not known", expected="numbers")
        low, high = (bound.reshape(values.shape) for bound in self._sketch.rank(values.ravel()))
        return (low, high) if values.ndim else (float(low), float(high))

    def cuts(self, eps: float | None = None) -> Floats:
        """Return values that divide the distribution into buckets of small weight.

        A bucket holds the values above one cut and up to the next. Its weight is at most `eps` of
        the total, unless its last value alone weighs more than `eps - error_bound`, because a value
        is never divided.

        Args:
            eps: Share of the total weight, at least `error_bound`. None uses the `eps` of the
                sketch.

        Returns:
            Values that have occurred, increasing. The last one is the largest value.

        Raises:
            ParameterError: If `eps` is not between 0 and 1, or is finer than the sketch.
            DataError: If the sketch is empty.

        Example:
            >>> QuantileSketch().update(np.arange(1, 101)).cuts(0.2)
            array([ 20.,  40.,  60.,  80., 100.])
        """
        self._check_not_empty()
        share = self.eps if eps is None else _check_eps(eps)
        error = self.error_bound
        if share < error:
            raise ParameterError.because(
                "eps is finer than the sketch",
                got=share,
                expected=f"at least its error_bound, {error:.3g}",
                hint="Make the sketch with a smaller eps.",
            )
        return self._sketch.propose(share)

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes, the same on every machine.

        Example:
            >>> sketch = QuantileSketch().update([1, 2, 3])
            >>> QuantileSketch.from_bytes(sketch.to_bytes()).quantile(1)
            3.0
        """
        eps, missing_weight, buffer, sizes, entries = self._sketch.state()
        header = _HEADER.pack(eps, missing_weight, len(buffer) // 2, len(sizes))
        arrays = [sizes.astype("<i8"), buffer.astype("<f8"), entries.astype("<f8")]
        body = b"".join([header, *(array.tobytes() for array in arrays)])
        return b"".join([_MAGIC, _CHECKSUM.pack(zlib.crc32(body)), body])

    @classmethod
    def from_bytes(cls, data: bytes) -> QuantileSketch:
        """Return the sketch that `to_bytes` wrote.

        Raises:
            DataError: If the bytes are incomplete, changed, or not a sketch.
        """
        body = _check_bytes(data)
        eps, missing_weight, n_buffer, n_levels = _HEADER.unpack_from(body)
        buffer_at = _HEADER.size + n_levels * _SIZE_BYTES
        entries_at = buffer_at + n_buffer * _BUFFER_BYTES
        if n_buffer < 0 or n_levels < 0 or entries_at > len(body):
            raise _damaged("it is cut off")
        if (len(body) - entries_at) % _ENTRY_BYTES:
            raise _damaged("its length does not fit")
        # Copies: parts of a byte string need not be aligned.
        sizes = np.frombuffer(body[_HEADER.size : buffer_at], "<i8").astype(np.int64)
        buffer = np.frombuffer(body[buffer_at:entries_at], "<f8").astype(np.float64)
        entries = np.frombuffer(body[entries_at:], "<f8").astype(np.float64)
        sketch = cls.__new__(cls)
        try:
            sketch._sketch = _native.QuantileSketch.from_state(
                eps, missing_weight, buffer, sizes, entries
            )
        except ValueError as error:
            raise _damaged(str(error)) from None
        return sketch

    def __reduce__(self) -> tuple[Callable[[bytes], QuantileSketch], tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(eps={self.eps}, total_weight={self.total_weight}, "
            f"missing_weight={self.missing_weight}, n_entries={self.n_entries})"
        )

    def _check_not_empty(self) -> None:
        if self._sketch.n_entries == 0:
            raise DataError.because(
                "the sketch is empty",
                expected="at least one value of positive weight",
                hint="Call update first.",
            )


def _check_eps(eps: object) -> float:
    try:
        number = float(eps)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not 0 < number < 1:
        raise ParameterError.because("eps is out of range", got=eps, expected="0 < eps < 1")
    return number


def _as_floats(numbers: object, name: str, most_dims: int | None = 1) -> Floats:
    """A contiguous array; one-dimensional, or of any shape with `most_dims` None."""
    array = as_numbers(numbers, name)
    if most_dims is not None and array.ndim != most_dims:
        raise DataError.because(f"{name} has shape {array.shape}", expected="one dimension")
    with np.errstate(over="ignore"):  # a long double may become infinite
        return np.asarray(array, dtype=np.float64, order="C")


def _check_weights(weights: object, n_values: int) -> Floats:
    checked = _as_floats(weights, "weights")
    if len(checked) != n_values:
        raise DataError.because(
            "weights and values differ in length",
            got=len(checked),
            expected=f"{n_values}, one per value",
        )
    return check_not_negative(checked, "weights[{}]")


def _translated(work: Callable[[], None]) -> None:
    """Do native work; what is too much for a sketch becomes an error of ours."""
    try:
        work()
    except OverflowError:
        raise DataError.because(
            "the total weight is too large",
            expected="a sum of weights below 4e307",
            hint="Scale the weights down.",
        ) from None
    except ValueError as error:
        raise DataError.because(str(error)) from None


def _check_bytes(data: object) -> bytes:
    """All that follows the checksum, which is right."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise DataError.because("a sketch is read from bytes", got=data, expected="bytes")
    read = bytes(data)
    if not read.startswith(_MAGIC):
        raise DataError.because(
            "these bytes are not a sketch", got=read[:8], expected=f"{_MAGIC!r} first"
        )
    body = read[len(_MAGIC) + _CHECKSUM.size :]
    if len(body) < _HEADER.size:
        raise _damaged("it is cut off")
    if _CHECKSUM.unpack_from(read, len(_MAGIC))[0] != zlib.crc32(body):
        raise _damaged("its checksum is wrong")
    return body


def _damaged(reason: str) -> DataError:
    return DataError.because(
        f"the bytes of a sketch are damaged ({reason})", hint="Write them again."
    )
