"""Trees as named arrays, and the Python face of the native grower."""

from gossamer.tree.forest import Forest
from gossamer.tree.grow_settings import make_grow_params
from gossamer.tree.grower import TreeGrower
from gossamer.tree.tree import Tree

__all__ = ["Forest", "Tree", "TreeGrower", "make_grow_params"]
