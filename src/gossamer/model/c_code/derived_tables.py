"""Target statistics as tables of `model.c`."""

from __future__ import annotations

import numpy as np

from gossamer.model.c_code.operands import Operands
from gossamer.model.c_code.text import integers, number, table, words
from gossamer.model.derived import Derived


def derived_sizes(derived: Derived | None) -> dict[str, int]:
    """Return the numbers that `model.c` knows about derived columns."""
    if derived is None:
        return {"N_DERIVED": 0}
    statistics = derived.statistics
    return {
        "N_DERIVED": derived.n_columns,
        "N_SOURCES": len(statistics.sources),
        "N_STATISTICS": statistics.n_statistics,
    }


def write_derived(derived: Derived | None, operands: Operands) -> list[str]:
    """Write categories, what each source is made of, and the statistics of its keys."""
    if derived is None:
        return []
    statistics = derived.statistics
    categories = np.concatenate([np.empty(0, np.int32), *derived.categories])
    sizes = np.cumsum([0, *map(len, derived.categories)])
    columns = [column for source in statistics.sources for column in source]
    sources = np.cumsum([0, *map(len, statistics.sources)])
    place = np.searchsorted(operands.used, derived.columns)
    values = [*statistics.values.ravel().tolist()]
    prior = statistics.prior_by_source().astype(np.float32).ravel().tolist()
    return [
        integers("int64_t", "MODEL_category_place", place.tolist()),
        integers("int64_t", "MODEL_category_begin", sizes.tolist()),
        words("MODEL_categories", categories.tolist()),
        integers("int64_t", "MODEL_source_begin", sources.tolist()),
        integers("int32_t", "MODEL_source_column", columns),
        integers("int64_t", "MODEL_entry_begin", statistics.offsets.tolist()),
        words("MODEL_entry_keys", statistics.keys.tolist()),
        table("float", "MODEL_entry_values", (f"{number(value)}f" for value in values)),
        table("float", "MODEL_prior", (f"{number(value)}f" for value in prior)),
    ]
