"""Searching for good parameters with Optuna (`pip install "gossamer[tune]"`)."""

from gossamer.tune.prune import PruningCallback
from gossamer.tune.search import SearchResult, search
from gossamer.tune.space import default_space, starting_points

__all__ = ["PruningCallback", "SearchResult", "default_space", "search", "starting_points"]
