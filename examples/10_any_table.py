"""Tables as people have them: text, dates, truth values, holes; from dicts to data frames.

Needs pandas and polars for the second part; without them it is left out.
"""

from importlib.util import find_spec

import numpy as np

import gossamer as gs

# %% A dict of columns
rng = np.random.default_rng(0)
n = 3000
table = {
    "size": rng.gamma(8, 10, n).round(),
    "town": rng.choice(["Bern", "Graz", "Oslo", "Rome"], n),
    "sold": np.datetime64("2024-01-01") + rng.integers(0, 700, n).astype("timedelta64[D]"),
    "garden": rng.random(n) < 0.3,
}
table["size"][rng.random(n) < 0.1] = np.nan  # not known
days = (table["sold"] - np.datetime64("2024-01-01")).astype(float)
price = (
    3 * np.nan_to_num(table["size"], nan=80)
    + 100 * (table["town"] == "Oslo")
    + 40 * table["garden"]
    + 0.1 * days
    + rng.normal(0, 10, n)
)
model = gs.train({"metric": "l1", "verbose": -1}, gs.Dataset(table, price), 100)
print("columns:", ", ".join(model.feature_name()))
error = np.abs(model.predict(table) - price).mean()
print(f"mean error {error:.1f}, of the mean {np.abs(price - price.mean()).mean():.1f}")

# %% One row, by name
predict_row = model.predictor()
row = {"size": 90.0, "town": "Oslo", "sold": np.datetime64("2025-06-01"), "garden": True}
print(f"a flat in Oslo: {predict_row(row):.0f}")
print(f"size not known: {predict_row({**row, 'size': None}):.0f}")

# %% The same columns from other libraries, in another order
if find_spec("pandas") and find_spec("polars"):
    import pandas as pd
    import polars as pl

    expected = model.predict(table)
    frame = pd.DataFrame(table)[["garden", "sold", "town", "size"]]
    print("pandas, other order: the same", (model.predict(frame) == expected).all())
    lazy = pl.LazyFrame(table)
    print("polars, lazy: the same", (model.predict(lazy) == expected).all())
