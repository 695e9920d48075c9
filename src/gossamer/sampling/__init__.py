"""Which rows and columns a tree sees."""

from gossamer.sampling.bagging import Bagging
from gossamer.sampling.base import Bag, RowSampler
from gossamer.sampling.goss import Goss
from gossamer.sampling.keys import make_key
from gossamer.sampling.make import make_row_sampler
from gossamer.sampling.mvs import Mvs

__all__ = ["Bag", "Bagging", "Goss", "Mvs", "RowSampler", "make_key", "make_row_sampler"]
