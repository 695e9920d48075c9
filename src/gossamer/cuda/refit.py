"""`Refit`: what the host refits the leaf values of a device's trees from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Refit(NamedTuple):
    """What leaf values are found from on the host, and the scores that they are added to.

    Attributes:
        hessian: Weights of the rows, output by output; None: all 1.
        label: Labels, the same for all outputs or output by output.
        score: Scores, output by output.
        n_threads: Threads to use.
    """

    hessian: npt.NDArray[np.float32] | None
    label: npt.NDArray[np.float32]
    score: npt.NDArray[np.float64]
    n_threads: int

    def of_output(self, k: int, n_outputs: int) -> dict[str, Any]:
        """Return the arguments that finish the tree of one output."""
        one_label = n_outputs * len(self.label) == len(self.score)
        return {
            "hessian": None if self.hessian is None else np.split(self.hessian, n_outputs)[k],
            "label": self.label if one_label else np.split(self.label, n_outputs)[k],
            "score": np.split(self.score, n_outputs)[k],
            "n_threads": self.n_threads,
        }
