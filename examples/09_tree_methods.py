"""Which values a split may cut at: bins, every value, or quantiles of the hessians.

What decides lies in a narrow range of one column, far below the width of a bin.
"""

import time

import numpy as np

import gossamer as gs

# %% Data
rng = np.random.default_rng(0)
x = rng.normal(size=(15_000, 4))
logit = 2 * x[:, 1] - 3 + 6 * ((x[:, 0] > 1) & (x[:, 0] < 1.01))
y = (rng.uniform(size=15_000) < 1 / (1 + np.exp(-logit))).astype(float)
train_rows, test_rows = slice(0, 10_000), slice(10_000, 15_000)
narrow = (x[test_rows, 0] > 1) & (x[test_rows, 0] < 1.01)
print(f"{narrow.sum()} of {len(narrow)} test rows are in the narrow range")

# %% All methods
methods: dict[str, dict[str, object]] = {
    "hist, 15 bins": {"tree_method": "hist", "max_bin": 15},
    "approx, global": {"tree_method": "approx", "sketch_eps": 1 / 15},
    "approx, local": {"tree_method": "approx", "sketch_eps": 1 / 15, "proposal": "local"},
    "exact": {"tree_method": "exact"},
}
for name, chosen in methods.items():
    params = {"objective": "binary", "min_data_in_leaf": 5, "verbosity": -1, **chosen}
    start = time.perf_counter()
    model = gs.train(params, gs.Dataset(x[train_rows], y[train_rows]), 60)
    seconds = time.perf_counter() - start
    chance = np.clip(model.predict(x[test_rows]), 1e-6, 1 - 1e-6)
    loss = -np.log(np.where(y[test_rows] > 0, chance, 1 - chance))
    print(
        f"{name:<15} {seconds:5.2f} s   log loss {loss.mean():.4f}, "
        f"in the narrow range {loss[narrow].mean():.3f}"
    )
