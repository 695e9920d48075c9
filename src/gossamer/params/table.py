"""The parameter table: checks, documentation and signatures are all made from it.

The rows are in `table_*.py`, by subject; this file puts them together.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gossamer.params.param import Param
from gossamer.params.table_core import CORE, RUN
from gossamer.params.table_data import CONVERT, DATASET, FILES, PREDICT
from gossamer.params.table_machines import GPU, NETWORK
from gossamer.params.table_objective import METRIC, OBJECTIVE
from gossamer.params.table_sampling import DART, SAMPLING
from gossamer.params.table_tree import CATEGORICAL, CONSTRAINTS, TREE

_ROWS: Final = (
    *CORE,
    *TREE,
    *SAMPLING,
    *OBJECTIVE,
    *METRIC,
    *RUN,
    *DATASET,
    *PREDICT,
    *CATEGORICAL,
    *CONSTRAINTS,
    *DART,
    *FILES,
    *CONVERT,
    *NETWORK,
    *GPU,
)

# Every parameter by its canonical name, in the order of the documentation.
TABLE: Final[Mapping[str, Param]] = MappingProxyType({row.name: row for row in _ROWS})

# Every accepted name, canonical ones included, to the canonical name.
CANONICAL: Final[Mapping[str, str]] = MappingProxyType(
    {name: row.name for row in _ROWS for name in (row.name, *row.aliases)}
)

# What a data set is built with: once it is, a training cannot ask for other values.
BINNING_PARAMS: Final = tuple(row.name for row in _ROWS if row.bins or row.raw_values)

# The seeds that follow from `seed`, in the order of their numbers.
DERIVED_SEEDS: Final = tuple(
    name
    for _, name in sorted(
        (row.seed_number, row.name) for row in _ROWS if row.seed_number is not None
    )
)
