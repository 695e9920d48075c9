"""Columns that are zero nearly everywhere, with missing values that the sampled rows lack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gossamer as gs
from gossamer.distributed import Group, ShardData, run_group
from gossamer.distributed import train as train_shard

N = 4000
PARAMS: dict[str, Any] = {"bin_construct_sample_cnt": 50, "verbosity": -1, "num_threads": 1}


def make_frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    numbers, some, more = (rng.normal(size=N) * (rng.random(N) < share) for share in (1, 0.2, 0.25))
    table = np.column_stack([numbers, some, more])
    table[N - 5 :, 1] = table[N - 9 :, 2] = np.nan
    return pd.DataFrame(table, columns=["a", "b", "c"])


@pytest.mark.parametrize("options", [{}, {"enable_bundle": False}, {"is_enable_sparse": False}])
def test_files_and_shards_train_the_bytes_of_a_table(
    options: dict[str, Any], tmp_path: Path
) -> None:
    params, frame = {**PARAMS, **options}, make_frame()
    label = frame["a"].to_numpy()
    expected = gs.train(params, gs.Dataset(frame, label, params=params), 3).model_to_string()
    frame.assign(y=label).to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    frame.assign(y=label).to_csv(tmp_path / "rows.csv", index=False)
    for path in tmp_path.iterdir():
        data = gs.Dataset(path, label="y", params=params)
        assert gs.train(params, data, 3).model_to_string() == expected

    def work(group: Group) -> str:
        rows = slice(group.rank * N // 2, (group.rank + 1) * N // 2)
        shard = ShardData([frame.iloc[rows]], label=label[rows])
        return train_shard(group, params, shard, 3).model_to_string()

    assert run_group(2, work) == [expected] * 2
