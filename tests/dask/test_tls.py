"""A cluster whose connections are encrypted."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography", reason="certificates are made by it")

import dask.array as da
from distributed import Client, LocalCluster
from distributed.security import Security

import gossamer
from gossamer.dask import DaskDataset, train

PARAMS = {"num_leaves": 31, "verbosity": -1}


def test_the_bytes_of_one_machine_over_tls() -> None:
    table = np.random.default_rng(0).normal(size=(40_000, 12))
    label = table[:, 0] - np.abs(table[:, 1]) * table[:, 2]
    expected = gossamer.train(PARAMS, gossamer.Dataset(table, label=label), 5)
    security = Security.temporary()
    cluster = LocalCluster(
        n_workers=3,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        security=security,
    )
    with cluster, Client(cluster, security=security) as client:
        addresses = list(client.nthreads())
        assert len(addresses) == 3
        assert all(address.startswith("tls://") for address in addresses)
        data = DaskDataset(
            da.from_array(table, chunks=(9_000, 12)), label=da.from_array(label, chunks=9_000)
        )
        traffic: dict[str, float] = {}
        model = train(client, PARAMS, data, 5, traffic=traffic, time_out=60.0)
    assert model.model_to_string() == expected.model_to_string()
    assert traffic["n_bytes"] > 1_000_000  # more than the system keeps for a receiver at once
