"""From training to a server: a file, single rows, and LightGBM's format."""

import tempfile
import time
from pathlib import Path

import numpy as np

import gossamer as gs

# %% Train and save
rng = np.random.default_rng(0)
x = rng.normal(size=(3000, 4))
y = (x[:, 0] > x[:, 1]).astype(int)
data = gs.Dataset(x, y, feature_name=["length", "width", "depth", "mass"])
model = gs.train({"objective": "binary", "verbose": -1}, data, 100)
folder = Path(tempfile.mkdtemp())
model.save_model(folder / "model.gsm")

# %% On the server: load once, make a predictor, call it from any thread
served = gs.Booster(model_file=folder / "model.gsm")
predict_row = served.predictor()
row = {"length": 0.3, "width": None, "depth": 1.0, "mass": 0.1}
print(f"probability {predict_row(row):.3f}")
start = time.perf_counter()
for _ in range(2000):
    predict_row([0.3, None, 1.0, 0.1])
print(f"about {(time.perf_counter() - start) / 2000 * 1e6:.0f} µs a row")
assert predict_row(list(x[0])) == model.predict(x[:1])[0]  # the same bits

# %% For programs that read LightGBM's models
served.save_model(folder / "model.txt", format="lightgbm")
back = gs.Booster(model_file=folder / "model.txt")
same = (back.predict(x, raw_score=True) == model.predict(x, raw_score=True)).all()
print("the same raw scores in LightGBM's format:", same)

# %% A new model beside the old one
more = gs.train({"objective": "binary", "verbose": -1}, gs.Dataset(x, y), 20, init_model=model)
predict_new = more.predictor()
print(f"old {predict_row(row):.3f}, new {predict_new(row):.3f}")
