"""Which rows and columns a tree sees."""

from gossamer.sampling.keys import make_key
from gossamer.sampling.rows import Bag, RowSampler

__all__ = ["Bag", "RowSampler", "make_key"]
