"""`DeviceSampler`: draws the rows of trees on a device."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.cuda.device import Buffer, Device, Launch
from gossamer.cuda.record import record

SAMPLE_ARGS: Final = record(
    "i8 n_rows n_values",
    "p gradient hessian label rows digits counts ties draws places sums",
    "u8 key",
    "f8 reg mu weight fraction_negative fraction_positive",
    "i4 n_outputs kind",
    "u4 border prefix",
    "i4 shift n_digits",
)

_THREADS: Final = 256
# `SampleKind` and `SumKind` of native/cuda/sample.h.
_BAGGING: Final = 0
_MVS: Final = 1
_BELOW_MU: Final = 0
_GRADIENTS: Final = 1
_HESSIANS: Final = 2
# The digits of a score from the top: bits below it, how many digits there are.
_DIGITS: Final = ((19, 4096), (7, 4096), (0, 128))
# Shared memory of the kernels: sums over a block's threads; those and numbers of a block of rows.
_SUMS_BYTES: Final = 8 * 33
_SUM_BYTES: Final = _SUMS_BYTES + 8 * 8 + 4 * _native.SAMPLE_BLOCK
_DRAW_BYTES: Final = _SUMS_BYTES + 3 * _native.SAMPLE_BLOCK


class DeviceSampler:
    """Draws the rows that the CPU would draw, and weights gradients as it does."""

    def __init__(self, device: Device, n_rows: int, n_outputs: int) -> None:
        """Allocate what blocks of rows count.

        Args:
            device: Where gradients are.
            n_rows: Number of rows.
            n_outputs: Gradients per row.
        """
        self._device = device
        self._n_blocks = -(-n_rows // _native.SAMPLE_BLOCK)
        n_values = n_rows * n_outputs
        most_blocks = -(-n_values // _native.SAMPLE_BLOCK)
        self._args = np.zeros((), SAMPLE_ARGS)
        self._args["n_rows"], self._args["n_outputs"] = n_rows, n_outputs
        self._args["n_values"] = n_rows
        sizes = {name: 8 * most_blocks for name in ("counts", "ties", "draws", "places", "sums")}
        sizes["digits"] = 4 * _DIGITS[0][1]
        sizes["rows"] = 4 * n_rows
        self._buffers = {name: Buffer(device, size) for name, size in sizes.items()}
        for name, buffer in self._buffers.items():
            self._args[name] = buffer.address
        self.rows = self._buffers["rows"]
        self._bag: tuple[Any, int] | None = None  # what was drawn last, and how many rows it has
        self._label: Buffer | None = None

    def use(self, gradient: Buffer, hessian: Buffer | None, label: Buffer | None) -> None:
        """Draw from these gradients, and by these labels."""
        self._args["gradient"] = gradient.address
        self._args["hessian"] = 0 if hessian is None else hessian.address
        if label is not self._label:  # classes may have changed
            self._bag = None
        self._label = label

    def sample_rows(self, fractions: tuple[float, float], by_class: bool, key: int) -> int:
        """Draw rows with the chances of negative and of positive ones; return how many.

        They are kept as long as the same is asked for.
        """
        asked = (fractions, by_class, key)
        if self._bag is not None and self._bag[0] == asked:
            return self._bag[1]
        label = 0
        if by_class:
            assert self._label is not None
            label = self._label.address
        self._args["label"], self._args["key"] = label, key
        self._args["fraction_negative"], self._args["fraction_positive"] = fractions
        n_rows = self._draw(_BAGGING, key)
        self._bag = asked, n_rows
        return n_rows

    def score(self, reg: float) -> None:
        """Score rows by sqrt(sum over outputs of gradient^2 + reg x hessian^2)."""
        self._args["reg"] = reg
        self._histogram = self._count_digits(0, 0)

    def histogram(self) -> npt.NDArray[np.uint32]:
        """Return rows by the leading bits of their score, as `_native.GradientSampler` does."""
        return self._histogram

    def mean_step(self) -> float:
        """Return the sum of |gradient| over the sum of hessian."""
        gradients, hessians = (self._sum(kind)[0] for kind in (_GRADIENTS, _HESSIANS))
        return gradients / hessians if hessians > 0 else 0.0

    def sample_goss(self, n_top: int, n_other: int, key: int) -> int:
        """Keep the rows of largest score and draw others, whose gradients are weighted."""
        self._bag = None
        n_rows = int(self._args["n_rows"])
        prefix, rank = 0, n_top  # of the smallest score in the top: its digits, its rank from above
        for level, (_, n_digits) in enumerate(_DIGITS):
            counts = self._histogram if level == 0 else self._count_digits(level, prefix)
            above = np.cumsum(counts[::-1], dtype=np.int64)
            place = int(np.searchsorted(above, rank))
            rank -= int(above[place - 1]) if place > 0 else 0
            prefix = prefix * n_digits + n_digits - 1 - place
        self._args["border"] = prefix
        self._run("count_tops", _SUMS_BYTES)
        n_above, n_ties = self._read("counts"), self._read("ties")
        before = np.cumsum(n_ties) - n_ties
        n_ties = np.clip(rank - before, 0, n_ties)  # of equal scores, the first are in the top
        draws = _native.share_draws(n_rows, n_above + n_ties, n_other, key)
        self._write(ties=n_ties, draws=draws, places=_places(n_above + n_ties + draws))
        self._args["key"], self._args["weight"] = key, (n_rows - n_top) / max(n_other, 1)
        self._run("list_goss", _DRAW_BYTES)
        return n_top + n_other

    def sample_mvs(self, n_expected: float, key: int) -> int:
        """Keep rows with chances that grow with their scores; divide gradients by them."""
        self._bag = None

        def sums_at(mu: float) -> tuple[float, int]:
            self._args["mu"] = mu
            return self._sum(_BELOW_MU)

        self._args["mu"] = _native.find_mu(n_expected, self._histogram, sums_at)
        self._args["key"] = key
        return self._draw(_MVS, key)

    def _draw(self, kind: int, key: int) -> int:
        """List the rows whose random number is small enough; at least one."""
        self._args["kind"] = kind
        self._run("count_drawn", _SUMS_BYTES)
        counts = self._read("counts")
        n_inside = int(counts.sum())
        if n_inside == 0:
            row = _native.random_bits(key, 2**64 - 1) % int(self._args["n_rows"])
            self.rows.write(np.array([row], np.uint32))
            return 1
        self._write(places=_places(counts))
        self._run("list_drawn", _SUMS_BYTES)
        return n_inside

    def _count_digits(self, level: int, prefix: int) -> npt.NDArray[np.uint32]:
        shift, n_digits = _DIGITS[level]
        digits = self._buffers["digits"]
        self._device.clear(digits.address, digits.n_bytes)
        self._args["shift"], self._args["n_digits"] = shift, n_digits
        self._args["prefix"] = prefix
        n_blocks = min(self._n_blocks, 8 * self._device.n_processors)
        self._device.run([Launch("count_digits", n_blocks, _THREADS, self._args, 4 * n_digits)])
        found = np.empty(n_digits, np.uint32)
        digits.read(found)
        return found

    def _sum(self, kind: int) -> tuple[float, int]:
        """Return a sum, in the order of the CPU's, and what was counted."""
        args = self._args.copy()
        args["kind"] = kind
        if kind != _BELOW_MU:
            args["n_values"] = args["n_rows"] * args["n_outputs"]
        n_blocks = -(-int(args["n_values"]) // _native.SAMPLE_BLOCK)
        self._device.run([Launch("sum_blocks", n_blocks, _THREADS, args, _SUM_BYTES)])
        sums, counts = np.empty(n_blocks), np.empty(n_blocks, np.int64)
        self._buffers["sums"].read(sums)
        self._buffers["counts"].read(counts)
        return float(np.cumsum(sums)[-1]), int(counts.sum())  # cumsum adds one by one

    def _run(self, name: str, shared_bytes: int) -> None:
        self._device.run([Launch(name, self._n_blocks, _THREADS, self._args, shared_bytes)])

    def _read(self, name: str) -> npt.NDArray[np.int64]:
        found = np.empty(self._n_blocks, np.int64)
        self._buffers[name].read(found)
        return found

    def _write(self, **arrays: npt.NDArray[np.int64]) -> None:
        for name, values in arrays.items():
            self._buffers[name].write(values)


def _places(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The first place of each block, from how many rows blocks have."""
    found: npt.NDArray[np.int64] = np.cumsum(counts) - counts
    return found
