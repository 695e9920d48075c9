"""`DeviceTrainer`: the rounds of a training on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.cuda.device import Buffer, Device, Launch
from gossamer.cuda.grower import STATISTICS_BYTES, DeviceGrower
from gossamer.cuda.records import GRADIENT_ARGS
from gossamer.cuda.refit import Refit
from gossamer.cuda.sampler import DeviceSampler
from gossamer.cuda.scores import DeviceScores
from gossamer.cuda.table import DeviceTable

if TYPE_CHECKING:
    from gossamer.data import Targets
    from gossamer.objectives import DeviceLoss, Gradients

Rows = npt.NDArray[np.uint32] | None
Draw = Callable[[DeviceSampler], int | None]

# Trees are added to the scores of fewer rows on the host: that is faster than reading the scores.
_LEAST_ROWS: Final = 50_000


class DeviceTrainer:
    """A table on a device, and what its trees are grown from."""

    def __init__(
        self,
        device: Device,
        bins: _native.BinMatrix,
        settings: Sequence[_native.GrowParams],
        n_threads: int,
    ) -> None:
        """Copy the table to the device, and allocate gradients.

        Args:
            device: The device.
            bins: The table.
            settings: Of the tree of each output.
            n_threads: Threads that copy.
        """
        self._device = device
        self._n_rows, self._n_outputs = bins.n_rows, len(settings)
        self._table = DeviceTable(device, bins, n_threads)
        self._bins = bins
        self._grower = DeviceGrower(device, self._table, bins, settings[0])
        self._own_gradient: Buffer | None = None
        self._own_hessian: Buffer | None = None
        self._targets: Targets | None = None
        self._label: Buffer | None = None
        self._weight: Buffer | None = None
        self._sampler: DeviceSampler | None = None
        self._n_threads = n_threads
        self._other_tables: list[tuple[_native.BinMatrix, DeviceTable | None]] = []

    def grow(
        self,
        gradients: Gradients,
        rows: Rows,
        settings: Sequence[_native.GrowParams],
        refit: Refit | None = None,
    ) -> list[_native.Tree]:
        """Grow the trees of a round from gradients of the host.

        Args:
            gradients: Where the loss falls.
            rows: Rows to grow on; None: all.
            settings: Of the tree of each output.
            refit: What leaf values are found from; None: they are Newton's steps.
        """
        self._use(settings, rows)
        self._grower.drop_started()
        gradient, hessian = self._gradient, None
        gradient.write(gradients.gradient)
        if gradients.hessian is not None:
            hessian = self._hessian
            hessian.write(gradients.hessian)
        return self._grower.grow(gradient, hessian, settings, (), refit)

    def train(
        self,
        loss: DeviceLoss,
        targets: Targets,
        scores: DeviceScores,
        host: npt.NDArray[np.float64],
        draw: Draw | None,
        settings: Sequence[_native.GrowParams],
        *,
        has_hessian: bool,
        weighs_rows: bool = False,
    ) -> list[_native.Tree]:
        """Do a round: gradients, trees, scores.

        Args:
            loss: The loss.
            targets: Labels as the loss sees them.
            scores: The scores of all rows.
            host: The same on the host, which are not up to date afterwards.
            draw: Draws the rows to grow on, and returns their number (None: all of them); None:
                all rows, in every round.
            settings: Of the tree of each output.
            has_hessian: Whether the loss has hessians; they are 1 otherwise.
            weighs_rows: Whether gradients and hessians of drawn rows are weighted.
        """
        self._use(settings, None)
        if targets is not self._targets or not scores.is_current:
            self._grower.drop_started()
        self._use_targets(targets)
        score = scores.to_device(self._device, host)
        hessian = self._hessian if has_hessian else None
        # With one output and all rows, these statistics are also the tree's.
        is_whole = draw is None and self._n_outputs == 1
        before = [self._gradients_of(loss, score, hessian, finds_statistics=is_whole)]
        if draw is not None:
            self._device.run(before)
            if weighs_rows and hessian is None:
                hessian = self._hessian
                self._device.fill_ones(hessian.address, self._n_rows * self._n_outputs)
            self._draw_rows(draw, hessian)
            before = []
        scores.change()
        return self._grower.grow(self._gradient, hessian, settings, before, None, score.address)

    def _draw_rows(self, draw: Draw, hessian: Buffer | None) -> None:
        """Draw the rows of the next trees."""
        if self._sampler is None:
            self._sampler = DeviceSampler(self._device, self._n_rows, self._n_outputs)
        self._sampler.use(self._gradient, hessian, self._label)
        n_drawn = draw(self._sampler)
        if n_drawn is not None:
            self._grower.use_drawn(self._sampler.rows, n_drawn)

    def add_tree(
        self,
        bins: _native.BinMatrix,
        scores: DeviceScores,
        host: npt.NDArray[np.float64],
        tree: _native.Tree,
        output: int,
    ) -> bool:
        """Add a tree to the scores of a table, the training data or validation data.

        Args:
            bins: The table.
            scores: The scores of its rows.
            host: The same on the host, which are not up to date afterwards.
            tree: A tree with at least one split.
            output: Whose scores it adds to.

        Returns:
            Whether that was done; if not, there are few rows, or not enough memory for them.
        """
        table = self._table_of(bins) if bins.n_rows >= _LEAST_ROWS else None
        if table is None:
            return False
        if table is self._table:
            self._grower.drop_started()
        score = scores.to_device(self._device, host)
        scores.change()
        self._grower.add_scores(tree, score.address + 8 * bins.n_rows * output, table)
        return True

    def _table_of(self, bins: _native.BinMatrix) -> DeviceTable | None:
        """Return a table on the device; None: there is not enough memory."""
        if bins is self._bins:
            return self._table
        for other, table in self._other_tables:
            if other is bins:
                return table
        needed = bins.n_rows * (DeviceTable.bytes_per_row(bins) + 8 * self._n_outputs)
        found = None
        if needed < self._device.free_bytes() // 2:
            found = DeviceTable(self._device, bins, self._n_threads, grows_trees=False)
        self._other_tables.append((bins, found))
        return found

    def _use(self, settings: Sequence[_native.GrowParams], rows: Rows) -> None:
        if settings[0].num_leaves != self._grower.num_leaves:  # changed during the training
            self._grower = DeviceGrower(self._device, self._table, self._bins, settings[0])
        self._grower.use_rows(rows)

    # A tree has no rows by node before its gradients are integers: they share their memory. With
    # several outputs, the gradients of the others are needed longer.

    @property
    def _gradient(self) -> Buffer:
        if self._n_outputs == 1:
            return self._grower.lists[0]
        if self._own_gradient is None:
            self._own_gradient = Buffer(self._device, 4 * self._n_rows * self._n_outputs)
        return self._own_gradient

    @property
    def _hessian(self) -> Buffer:
        if self._n_outputs == 1:
            return self._grower.lists[1]
        if self._own_hessian is None:
            self._own_hessian = Buffer(self._device, 4 * self._n_rows * self._n_outputs)
        return self._own_hessian

    def _use_targets(self, targets: Targets) -> None:
        if targets is self._targets:
            return
        self._label = Buffer.holding(self._device, targets.label)
        self._weight = None
        if targets.weight is not None:
            self._weight = Buffer.holding(self._device, targets.weight)
        self._targets = targets

    def _gradients_of(
        self, loss: DeviceLoss, score: Buffer, hessian: Buffer | None, *, finds_statistics: bool
    ) -> Launch:
        assert self._label is not None
        args = np.zeros((), GRADIENT_ARGS)
        args["n_rows"] = self._n_rows
        args["score"] = score.address
        args["label"] = self._label.address
        args["weight"] = 0 if self._weight is None else self._weight.address
        args["gradient"] = self._gradient.address
        args["hessian"] = 0 if hessian is None else hessian.address
        args["kind"] = int(loss.kind)
        for name in ("n_classes", "sigmoid", "weight_negative", "weight_positive"):
            args[name] = getattr(loss, name)
        if loss.loss is not None:
            args["loss"]["kind"] = int(loss.loss.kind.value)
            for name in "abc":
                args["loss"][name] = getattr(loss.loss, name)
        n_blocks = min(-(-self._n_rows // 256), 16 * self._device.n_processors)
        if not finds_statistics:
            return Launch("fill_gradients", n_blocks, 256, args)
        args["state"] = self._grower.state
        return Launch("fill_gradients", n_blocks, 256, args, STATISTICS_BYTES)

    @property
    def n_batches(self) -> int:
        """Batches of nodes of all trees so far."""
        return self._grower.n_batches
