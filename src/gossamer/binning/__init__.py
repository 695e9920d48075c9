"""Columns to bins: where the boundaries are."""

from gossamer.binning.bins import Binning, MissingKind
from gossamer.binning.find import find_bins

__all__ = ["Binning", "MissingKind", "find_bins"]
