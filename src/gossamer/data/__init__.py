"""From the user's table to a binned data set."""

from gossamer.data.chunks.program_source import Sequence
from gossamer.data.dataset import Dataset
from gossamer.data.labels.fields import Targets
from gossamer.data.table.matrix import Table, as_table

__all__ = ["Dataset", "Sequence", "Table", "Targets", "as_table"]
