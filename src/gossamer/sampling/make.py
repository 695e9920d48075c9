"""From parameters to a row sampler."""

from __future__ import annotations

from gossamer.data import Targets
from gossamer.data.storage.binned import RowWindow
from gossamer.params import Params
from gossamer.sampling.bagging import Bagging
from gossamer.sampling.base import RowSampler
from gossamer.sampling.goss import Goss
from gossamer.sampling.mvs import Mvs


def make_row_sampler(
    params: Params, targets: Targets, n_outputs: int, window: RowWindow | None = None
) -> RowSampler:
    """Make the sampler that `data_sample_strategy` names.

    Args:
        params: Checked parameters.
        targets: Labels of the rows.
        n_outputs: Scores per row.
        window: Which of all workers' rows these are; None: all of them.

    Example:
        >>> import numpy as np
        >>> from gossamer.params import resolve
        >>> targets = Targets(np.zeros(10, dtype=np.float32))
        >>> type(make_row_sampler(resolve({"boosting": "goss"}), targets, 1)).__name__
        'Goss'
    """
    match params.data_sample_strategy:
        case "goss":
            return Goss(params, targets.n_rows, n_outputs)
        case "mvs":
            return Mvs(params, targets.n_rows, n_outputs)
        case _:
            return Bagging(params, targets, window)
