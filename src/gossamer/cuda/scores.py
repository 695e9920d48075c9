"""`DeviceScores`: raw scores that stay on a device until the host reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gossamer.cuda.device import Buffer, Device


class DeviceScores:
    """The copy of an array of scores on a device, and which of the two is up to date."""

    def __init__(self) -> None:
        """There is no copy yet."""
        self._buffer: Buffer | None = None
        self._is_ahead = False  # the device has newer scores than the host
        self._is_current = False  # the device has the scores of the host, or newer ones

    def to_device(self, device: Device, host: npt.NDArray[np.float64]) -> Buffer:
        """Return the scores on the device."""
        from gossamer.cuda.device import Buffer  # only trainings on a GPU wait for it

        if not self._is_current:
            if self._buffer is None or self._buffer.n_bytes != host.nbytes:
                self._buffer = Buffer(device, host.nbytes)
            self._buffer.write(host)
            self._is_current = True
        assert self._buffer is not None
        return self._buffer

    @property
    def is_current(self) -> bool:
        """Whether the device has the scores of the host, or newer ones."""
        return self._is_current

    def change(self) -> None:
        """The device is about to change the scores."""
        self._is_ahead = True

    def to_host(self, host: npt.NDArray[np.float64], *, changes: bool) -> None:
        """Bring the host's scores up to date.

        Args:
            host: The scores of the host.
            changes: Whether the host may change them.
        """
        if self._is_ahead:
            assert self._buffer is not None
            self._buffer.read(host)
            self._is_ahead = False
        if changes:
            self._is_current = False
