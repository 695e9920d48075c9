"""A slow, plain NumPy GBDT: what the fast engine is compared with.

Naive loops in float64, written for reading. It shares no code with the package.
Read in this order: ``bins``, ``histogram``, ``split``, ``tree``, ``boosting``.

Sums are exact, and ties therefore real ties, when gradients are dyadic (say, multiples of 1/1024).
"""

from .bins import ColumnBins, bin_table, find_bins, find_cuts, midpoint
from .boosting import OBJECTIVES, Model, fit
from .histogram import build_histogram
from .split import Split, SplitParams, Sums, find_best_split, leaf_output, leaf_score
from .tree import Node, grow_tree, leaves, predict_tree

__all__ = [
    "OBJECTIVES",
    "ColumnBins",
    "Model",
    "Node",
    "Split",
    "SplitParams",
    "Sums",
    "bin_table",
    "build_histogram",
    "find_best_split",
    "find_bins",
    "find_cuts",
    "fit",
    "grow_tree",
    "leaf_output",
    "leaf_score",
    "leaves",
    "midpoint",
    "predict_tree",
]
