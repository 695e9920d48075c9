"""Parameters by hand, by search, and metrics for an experiment tracker.

The search needs Optuna: pip install "gossamer[tune]"; without it that part is left out.
"""

from importlib.util import find_spec

import numpy as np

import gossamer as gs

# %% Data
rng = np.random.default_rng(0)
x = rng.normal(size=(2000, 8))
y = (x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=2000) > 0).astype(int)
data = gs.Dataset(x, y)
shared = {"objective": "binary", "metric": "auc", "verbose": -1}

# %% By hand: rounds come from early stopping
for leaves in (4, 15, 63):
    stop = gs.early_stopping(20, verbose=False)
    found = gs.cv({**shared, "num_leaves": leaves}, data, 500, nfold=3, callbacks=[stop])
    auc = found["valid auc-mean"]
    print(f"num_leaves {leaves:<3} AUC {auc[-1]:.3f} after {len(auc)} rounds")

# %% By search
if find_spec("optuna"):
    from gossamer.tune import search

    result = search(shared, data, n_trials=8, nfold=3, num_boost_round=150)
    print(f"search: AUC {result.value:.3f} after {result.n_rounds} rounds")
    print(f"  num_leaves {result.params['num_leaves']}, lambda_l2 {result.params['lambda_l2']:.2g}")
    model = result.train()

# %% Tell a tracker
gs.train(
    shared,
    data,
    20,
    valid_sets=[data],
    callbacks=[
        gs.report_metrics(lambda name, value, step: print(f"{step:>3} {name} {value:.3f}"), 10)
    ],
)
