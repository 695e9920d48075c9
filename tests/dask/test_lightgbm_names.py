"""LightGBM's names on a Dask cluster: what they return is LightGBM's too."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client

import gossamer.compat.lightgbm as lgb

N = 9_000
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N, 4))
LABEL = TABLE[:, 0] - np.abs(TABLE[:, 1])
CHUNKS = (5_000, 4_000)
ARGUMENTS = {"n_estimators": 2, "num_leaves": 4, "verbose": -1}


def as_dask(values: np.ndarray) -> da.Array:
    return da.from_array(values, chunks=(CHUNKS, *values.shape[1:]))


@pytest.mark.parametrize("kind", ["Classifier", "Regressor", "Ranker"])
def test_models_are_those_of_one_machine(client: Client, kind: str) -> None:
    label = LABEL if kind == "Regressor" else (LABEL > 0).astype(int)
    group = {"group": np.full(N // 100, 100)} if kind == "Ranker" else {}
    parts = {"group": da.from_array(group["group"], chunks=((50, 40),))} if group else {}
    named, local = getattr(lgb, f"DaskLGBM{kind}"), getattr(lgb, f"LGBM{kind}")
    model = named(client=client, **ARGUMENTS).fit(as_dask(TABLE), as_dask(label), **parts)
    expected = local(**ARGUMENTS).fit(TABLE, label, **group)
    assert model.client_ is client
    assert type(model.booster_) is lgb.Booster
    assert model.booster_.model_to_string() == expected.booster_.model_to_string()
    found = model.to_local()
    assert type(found) is local
    assert found.get_params() == expected.get_params()
    for each in (found, pickle.loads(pickle.dumps(model)).to_local()):
        np.testing.assert_array_equal(each.predict(TABLE), expected.predict(TABLE))
    np.testing.assert_array_equal(model.predict(as_dask(TABLE)).compute(), expected.predict(TABLE))
    assert not hasattr(model, "feature_names_in_")


def test_the_current_client_and_frames(client: Client) -> None:
    frame = pd.DataFrame(TABLE, columns=list("abcd"))
    table = dd.from_pandas(frame, npartitions=2)
    model = lgb.DaskLGBMRegressor(nonsense=1, **ARGUMENTS)
    assert model.client_ is client
    with pytest.warns(UserWarning, match="Unknown parameter: nonsense"):
        model.fit(table, dd.from_pandas(pd.Series(LABEL), npartitions=2))
    assert list(model.feature_names_in_) == list("abcd")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        local = model.to_local()
        np.testing.assert_array_equal(model.predict(table).compute(), local.predict(frame))
