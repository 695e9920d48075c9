"""Checks of what ranking needs: queries, and labels that have a gain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import DataError, ParameterError
from gossamer.params import Params

# float32 holds no whole numbers without gaps beyond this.
_LARGEST_LABEL = 2**24


class Gains(NamedTuple):
    """What a row of some label is worth: by a rule, or from a table."""

    kind: _native.GainKind = _native.GainKind.exponential
    table: tuple[float, ...] = ()

    @classmethod
    def from_params(cls, params: Params) -> Gains:
        """Return `label_gain` where it is given, else 2^label - 1, whatever the labels are.

        Raises:
            ParameterError: If a gain is negative, or less than the gain of a smaller label.
        """
        if "label_gain" not in params.given:
            return cls()
        table = params.label_gain
        if not table or min(table) < 0 or sorted(table) != list(table):
            raise ParameterError.because(
                "label_gain cannot be used", got=table, expected="numbers >= 0 that increase"
            )
        return cls(_native.GainKind.table, table)


def check_queries(targets: Targets, what: str, name: str) -> npt.NDArray[np.int64]:
    """Return where queries begin.

    Raises:
        DataError: If rows are not grouped.
    """
    if targets.queries is None:
        raise DataError.because(
            f"{what} needs queries, and the {name} data has none",
            hint="Pass group (rows of each query) or query (one id per row) to Dataset.",
        )
    return targets.queries


def check_labels(targets: Targets, what: str, name: str, gains: Gains | None = None) -> None:
    """Check that labels are >= 0, and whole numbers with a gain where gains are grades'.

    As in LightGBM and XGBoost, 2^label - 1 is meant for grades: a fraction there is more likely a
    score that was not graded than a grade.

    Raises:
        DataError: If one is not so.
    """
    label = targets.label
    is_bad = ~((label >= 0) & (label <= _LARGEST_LABEL))
    expected, hint = f"numbers from 0 to {_LARGEST_LABEL}", ""
    if gains is not None and gains.kind != _native.GainKind.linear:
        is_bad |= label != np.floor(label)
        expected = f"whole numbers from 0 to {_LARGEST_LABEL}"
        if (label != np.floor(label)).any():
            hint = "For relevance in fractions use rank:pairwise, rank_xendcg, or rank:ndcg with "
            hint += "ndcg_exp_gain=False."
        if gains.table and not is_bad.any():
            is_bad = label >= len(gains.table)
            expected = f"less than {len(gains.table)}, the length of label_gain"
            hint = "Give a gain for every label, or leave label_gain out."
    if is_bad.any():
        row = int(np.argmax(is_bad))
        raise DataError.because(
            f"label of row {row} of the {name} data does not fit {what}",
            got=float(label[row]),
            expected=expected,
            hint=hint,
        )
