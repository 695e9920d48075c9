"""Many rows: bins once, files of bins, samples of rows, predictions in pieces."""

import tempfile
import time
from pathlib import Path

import numpy as np

import gossamer as gs

# %% A table, binned once
rng = np.random.default_rng(0)
x = rng.normal(size=(100_000, 15)).astype(np.float32)
y = (x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=100_000) > 0).astype(np.float32)
x_test = rng.normal(size=(20_000, 15)).astype(np.float32)
y_test = x_test[:, 0] + x_test[:, 1] * x_test[:, 2] + rng.normal(size=20_000) > 0
data = gs.Dataset(x, y).construct()
print(data.describe())

# %% All rows, and samples of them
for name, sample in (
    ("all rows", {}),
    ("bagging 20 %", {"bagging_fraction": 0.2}),
    ("GOSS 20 %", {"boosting": "goss", "top_rate": 0.1, "other_rate": 0.1}),
    ("MVS 20 %", {"data_sample_strategy": "mvs", "bagging_fraction": 0.2}),
):
    start = time.perf_counter()
    model = gs.train({"objective": "binary", "verbose": -1, **sample}, data, 60)
    seconds = time.perf_counter() - start
    error = np.mean((model.predict(x_test) > 0.5) != y_test)
    print(f"{name:<13} {seconds:5.2f} s   error {error:.3f}")

# %% Keep the bins
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "train.bin")
    data.save_binary(path)
    print(f"\ntable {x.nbytes / 2**20:.1f} MiB, file of bins {path.stat().st_size / 2**20:.1f} MiB")
    again = gs.train({"objective": "binary", "verbose": -1, **sample}, gs.Dataset(path), 60)
print("same model from the file:", again.model_to_string() == model.model_to_string())

# %% Predict in pieces
pieces = [model.predict(x_test[i : i + 5000]) for i in range(0, 20_000, 5000)]
print("same predictions in pieces:", (np.concatenate(pieces) == model.predict(x_test)).all())
