"""`ShardMatrix`: a `DMatrix` of which every worker has some of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.table import check_numeric, names_of, read_table, shape_of
from gossamer.data import Dataset
from gossamer.distributed import Group
from gossamer.distributed.chunked_shards import ChunkedShards
from gossamer.distributed.messages import gather_facts, gather_rows
from gossamer.errors import DataError, NotSupportedError


class ShardMatrix(DMatrix):
    """The rows of all workers, in their order; every worker makes it with its own chunks.

    Args:
        group: The workers.
        chunks: The tables of this worker, which follow each other.
        fields: What belongs to their rows, by XGBoost's names: label, weight, base_margin, qid, ...
        missing: See `DMatrix`.
        feature_names: See `DMatrix`.
        feature_types: See `DMatrix`.
        feature_weights: See `DMatrix`.
        enable_categorical: See `DMatrix`.
        max_bin: See `QuantileDMatrix`.
    """

    def __init__(
        self,
        group: Group,
        chunks: Sequence[Any],
        fields: dict[str, Any],
        *,
        missing: float | None = None,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        feature_weights: Any = None,
        enable_categorical: bool = False,
        max_bin: int | None = None,
    ) -> None:
        self._group = group
        self._chunks = [read_table(chunk, missing) for chunk in chunks]
        if not enable_categorical:
            for chunk in self._chunks:
                check_numeric(chunk)
        facts = [fact for fact in gather_facts(group, self._describe()) if fact is not None]
        if not facts:
            raise DataError.because("there are no rows on any worker", hint="Pass data with rows.")
        self._start(None, sum(fact["n_rows"] for fact in facts), facts[0]["n_columns"])
        self._is_sparse = bool(facts[0]["is_sparse"])
        self._enable_categorical, self.max_bin = enable_categorical, max_bin
        self.feature_names = feature_names if feature_names is not None else facts[0]["names"]
        self.feature_types = None if feature_types is None else list(feature_types)
        names = sorted(set().union(*gather_facts(group, sorted(fields))))
        gathered: dict[str, Any] = {name: gather_rows(group, fields.get(name)) for name in names}
        self.set_info(**gathered, feature_weights=feature_weights)

    def _describe(self) -> dict[str, Any] | None:
        if not self._chunks:
            return None
        shapes = [shape_of(chunk) for chunk in self._chunks]
        return {
            "n_rows": sum(n_rows for n_rows, _ in shapes),
            "n_columns": shapes[0][1],
            "names": names_of(self._chunks[0]),
            "is_sparse": hasattr(self._chunks[0], "tocsr"),
        }

    @property
    def is_sparse(self) -> bool:
        """Whether absent entries are missing."""
        return self._is_sparse

    def user_table(self) -> Any:
        """No worker has all rows."""
        return None

    def as_valid_set(self, train_set: Dataset, has_zeros: bool) -> Dataset:
        """Return the data set to evaluate on; see `DMatrix.as_valid_set`."""
        if has_zeros and self.is_sparse:
            raise NotSupportedError.because(
                "training data has zeros, and validation data is sparse",
                expected="both dense, or both sparse",
            )
        return super().as_valid_set(train_set, has_zeros)

    def _make(self, table: Any, reference: Dataset | None, params: dict[str, Any]) -> Dataset:
        like = None
        if reference is not None:
            like = (reference.get_feature_name(), reference.levels)
        return super()._make(ChunkedShards(self._group, self._chunks, like), reference, params)


def to_shard_matrix(
    group: Group, parts: Sequence[dict[str, Any]], options: dict[str, Any]
) -> ShardMatrix:
    """Make the matrix of one worker's parts: tables under "data", and fields of their rows."""
    names = sorted({name for part in parts for name in part} - {"data"})
    fields = {name: np.concatenate([part[name] for part in parts]) for name in names}
    return ShardMatrix(group, [part["data"] for part in parts], fields, **options)
