"""A page on which one watches boosting learn (docs/playground.md)."""

from gossamer.playground.answers import Playground
from gossamer.playground.columns import ColumnTable
from gossamer.playground.server import make_server, page_address

__all__ = ["ColumnTable", "Playground", "make_server", "page_address"]
